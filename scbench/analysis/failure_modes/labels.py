"""The rows to diagnose, and judges' decisions on them."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from scbench.analysis.columns import ITEM
from scbench.analysis.failure_modes.modes import PASS, Mode
from scbench.base.canonical import content_hash
from scbench.base.errors import ResultsError
from scbench.base.model import Status
from scbench.grading.means import RUN
from scbench.schemas.base import Index, Number, Text

# Answers that score less than this are candidates.
THRESHOLD = 0.6

# Columns that a diagnosis needs in addition to `scbench.analysis.results.NEEDED`.
COLUMNS = (
    "line",
    "checks",
    "failed_checks",
    "reason",
    "answer",
    "answer_source",
    "finish_reason",
    "response_characters",
    "reasoning_characters",
    "prediction_hash",
)

# Columns that identify one score of one run.
IDENTITY = (*RUN, "sample", *ITEM)

# The same with the task and bucket of a score.
KEY = (*RUN, "sample", "id", "task", "bucket", "subtask")
# Maximum number of evidence tags in a decision.
MAX_TAGS = 8
# Columns of decisions.
DECISIONS: Mapping[str, Any] = {
    "candidate": pl.String(),
    "task": pl.String(),
    "subtask": pl.Int64(),
    "failure_mode": pl.String(),
    "confidence": pl.Float64(),
    "justification": pl.String(),
    "evidence_tags": pl.List(pl.String),
}


class Decision(BaseModel):
    """A judge's decision on one candidate."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_enum_values=True)

    candidate: Text = Field(description="name of the candidate, as in its prompt")
    task: Text = Field(description="id of its task")
    subtask: Index = Field(description="number of its subtask")
    failure_mode: Mode = Field(description="the label")
    confidence: Annotated[Number, Field(ge=0, le=1)] = Field(
        description="how clear the evidence is to the judge; low if it is ambiguous"
    )
    justification: Annotated[Text, Field(pattern=r"\S", max_length=10_000)] = Field(
        description="the reason, based on the verdict and the output"
    )
    evidence_tags: Annotated[list[Text], Field(max_length=MAX_TAGS)] = Field(
        description=f"up to {MAX_TAGS} short tags, such as ids of checks"
    )


def candidates(results: pl.DataFrame, threshold: float = THRESHOLD) -> pl.DataFrame:
    """Return the rows to diagnose.

    A candidate has a score below the threshold and a reply: its status is answered or
    refused, or unparsed with visible text. Prompts that were never sent, and replies
    that were blocked, lost, cut off or blank, do not show the model's reasoning. Grader
    failures are not the model's fault. Such rows keep their status, see `states_without_diagnosis`.

    Args:
        results: as returned by `scbench.analysis.results.read_results`, with `COLUMNS`.
        threshold: scores from this one on pass.

    Returns:
        The rows in their original order. The first column, ``candidate``, is a name
        that depends only on the run, sample, instance and subtask. If an answer has
        several scores, all of its rows contain the answer, unlike in the results.
    """
    answer = pl.col("answer").drop_nulls().first().over(*RUN, "sample", "id")
    filled = results.with_columns(answer.alias("answer"))
    rows = filled.filter(is_candidate(threshold))
    hashes = [content_hash(list(row)) for row in rows.select(IDENTITY).iter_rows()]
    names = [digest[:16] for digest in hashes]
    return rows.select(pl.Series("candidate", names, pl.String), pl.all())


def states_without_diagnosis(
    results: pl.DataFrame, threshold: float = THRESHOLD
) -> pl.DataFrame:
    """Return the state of every row as far as it is known without a diagnosis.

    Args:
        results: as for `candidates`.
        threshold: as for `candidates`.

    Returns:
        Columns `KEY` and ``state``: "pass"; null for a candidate; else the row's status, such as
        "missing", "truncated", or "unparsed" for a blank reply.
    """
    state = (
        pl.when(is_candidate(threshold))
        .then(None)
        .when(pl.col("score") >= threshold)
        .then(pl.lit(PASS))
        .otherwise("status")
    )
    return results.select(*KEY, state=state)


def is_candidate(threshold: float) -> pl.Expr:
    """Whether a row is a candidate, see `candidates`."""
    status = pl.col("status")
    has_text = (pl.col("response_characters") != 0).fill_null(value=True)
    replied = status.is_in([Status.ANSWERED.value, Status.REFUSED.value])
    replied |= (status == Status.UNPARSED.value) & has_text
    return ((pl.col("score") < threshold) & replied).fill_null(value=False)


def json_cell(row: Mapping[str, Any], column: str) -> Any:  # noqa: ANN401
    """Return the parsed JSON in a column of a row; None if it is null.

    Raises:
        ResultsError: the value is not JSON.
    """
    try:
        return None if row[column] is None else json.loads(row[column])
    except ValueError:
        raise ResultsError(
            f"{row['id']} (subtask {row['subtask']}): its {column} is not JSON; was the file "
            "written by scbench-grade?"
        ) from None
