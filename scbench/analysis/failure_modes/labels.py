"""The five failure modes, which rows they are asked of, and the labels that judges give.

Cards print the signals of checks and the built-in judge follows them, so the two cannot disagree.
"""

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from scbench.analysis.columns import ITEM
from scbench.base.canonical import content_hash
from scbench.base.data import packaged_toml
from scbench.base.errors import ResultsError
from scbench.base.model import Status
from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.grading.means import RUN
from scbench.machine.children import checked_parquet
from scbench.schemas.base import Index, Number, Text

# State of a score that is no candidate because it is high enough.
PASS = "pass"  # noqa: S105  (no password)

# Scores below it are candidates.
THRESHOLD = 0.6

# Places at which one failed check is still a slip.
SLIP_PLACES = 2
# What people and judges are told, worded once.
TEXTS = packaged_toml("scbench.analysis.failure_modes", "texts.toml")
# Columns that a diagnosis needs in addition to `scbench.analysis.results.NEEDED`.
COLUMNS = (
    *(
        "line",
        "checks",
        "failed_checks",
        "reason",
        "answer",
        "answer_source",
        "finish_reason",
    ),
    *("response_characters", "reasoning_characters", "prediction_hash"),
)

# Columns that tell one score of one run from all others.
IDENTITY = (*RUN, "sample", *ITEM)

# The same with what a score belongs to.
KEY = (*RUN, "sample", "id", "task", "bucket", "subtask")
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

_KINDS = {"budget": pl.Int64(), "sample": pl.Int64(), "subtask": pl.Int64()}
# Columns of a file of labels.
LABELS: Mapping[str, Any] = {
    "candidate": pl.String(),
    **{name: _KINDS.get(name, pl.String()) for name in KEY},
    "score": pl.Float64(),
    **{
        name: kind
        for name, kind in DECISIONS.items()
        if name not in {"candidate", *KEY}
    },
    "judge": pl.String(),
    "prompt_version": pl.String(),
}


class Mode(StrEnum):
    """Why an answer scored low. Exactly one holds for a candidate; in the order of the paper."""

    EVASION = "evasion_forfeit"
    TRIVIALIZED = "trivialized_misframed"
    OVERTHINKING = "runaway_overthinking"
    LOCAL_ONLY = "local_only"
    NEAR_MISS = "near_miss"


# What a diagnosed score can be, as the paper's figure lists it.
STATES: tuple[str, ...] = (
    PASS,
    *(
        Mode.EVASION,
        Mode.LOCAL_ONLY,
        Mode.NEAR_MISS,
        Mode.TRIVIALIZED,
        Mode.OVERTHINKING,
    ),
)


class Meaning(NamedTuple):
    """What a mode means, for people and judges.

    Attributes:
        title: full name.
        short: name for the heads of tables.
        applies: when it is the label.
        not_if: when it is not.
    """

    title: str
    short: str
    applies: str
    not_if: str


MEANINGS: Mapping[Mode, Meaning] = {
    mode: Meaning(**TEXTS["modes"][mode]) for mode in Mode
}


class Signal(NamedTuple):
    """A check, and what its failure means.

    Attributes:
        check: its id.
        requirement: what the answer must keep.
        likely: labels that its failure points to, likeliest first, each with the condition under
            which it does; empty for always.
    """

    check: str
    requirement: str
    likely: list[tuple[Mode, str]]


def signals(task: Task) -> list[Signal]:
    """Return a signal for every check a task can fail: its own in their order, then the common."""
    defining = task.defining_checks
    of_task = [
        Signal(
            check,
            requirement,
            _likely_labels("defining" if check in defining else "own"),
        )
        for check, requirement in task.checks.items()
    ]
    return of_task + [
        Signal(check, requirement, _likely_labels(check))
        for check, requirement in COMMON_CHECKS.items()
    ]


def _likely_labels(check: str) -> list[tuple[Mode, str]]:
    labels = TEXTS["likely"][check].items()
    return [(Mode(label), when.format(places=SLIP_PLACES)) for label, when in labels]


def candidates(results: pl.DataFrame, threshold: float = THRESHOLD) -> pl.DataFrame:
    """Return the rows to diagnose.

    A candidate has a score below the threshold, and the model said something: its status is
    answered or refused, or unparsed with visible text. What was never sent, blocked, lost, cut off
    or blank is not the model's reasoning, and a grader's failure is ours; such rows keep their
    status as `undiagnosed` shows.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with `COLUMNS`.
        threshold: scores of this and above pass.

    Returns:
        The rows, in their order, with a first column ``candidate``: a name that depends on the
        run, sample, instance and subtask alone. Where one answer has several scores, each of its
        rows holds the answer; results hold it in the first only.
    """
    filled = results.with_columns(
        pl.col("answer").drop_nulls().first().over(*RUN, "sample", "id").alias("answer")
    )
    low = filled.filter(_is_candidate(threshold))
    names = [content_hash(list(row))[:16] for row in low.select(IDENTITY).iter_rows()]
    return low.select(pl.Series("candidate", names, pl.String), pl.all())


def _is_candidate(threshold: float) -> pl.Expr:
    replied = pl.col("status").is_in([Status.ANSWERED.value, Status.REFUSED.value]) | (
        (pl.col("status") == Status.UNPARSED.value)
        & (pl.col("response_characters") != 0).fill_null(value=True)
    )
    return ((pl.col("score") < threshold) & replied).fill_null(value=False)


def parsed(row: Mapping[str, Any], column: str) -> Any:  # noqa: ANN401
    """Return what a column of JSON text holds in a row; None if it is null.

    Raises:
        ResultsError: it is not JSON.
    """
    try:
        return None if row[column] is None else json.loads(row[column])
    except ValueError:
        raise ResultsError(
            f"{row['id']} (subtask {row['subtask']}): its {column} is not JSON; was the file "
            "written by scbench-grade?"
        ) from None


def undiagnosed(results: pl.DataFrame, threshold: float = THRESHOLD) -> pl.DataFrame:
    """Return the state of every row, as far as it is known without a diagnosis.

    Args:
        results: as `candidates` takes them.
        threshold: as there.

    Returns:
        Columns `KEY` and ``state``: "pass"; null for a candidate; else the row's status, such as
        "missing", "truncated", or "unparsed" for a blank reply.
    """
    state = (
        pl.when(_is_candidate(threshold))
        .then(None)
        .when(pl.col("score") >= threshold)
        .then(pl.lit(PASS))
        .otherwise("status")
    )
    return results.select(*KEY, state=state)


class Decision(BaseModel):
    """A judge's decision on one candidate."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_enum_values=True)

    candidate: Text = Field(description="name of the candidate, as in the bundle")
    task: Text = Field(description="id of its task")
    subtask: Index = Field(description="number of its subtask")
    failure_mode: Mode = Field(description="the label")
    confidence: Annotated[Number, Field(ge=0, le=1)] = Field(
        description="how plain the evidence is, by the judge's own account; low if ambiguous"
    )
    justification: Annotated[Text, Field(pattern=r"\S", max_length=10_000)] = Field(
        description="why, grounded in the verdict and the output"
    )
    evidence_tags: Annotated[list[Text], Field(max_length=MAX_TAGS)] = Field(
        description=f"up to {MAX_TAGS} short tags, such as ids of checks"
    )


def labelled(
    rows: pl.DataFrame, decisions: pl.DataFrame, judge: str, prompt_version: str
) -> pl.DataFrame:
    """Put decisions beside the candidates they are about.

    Args:
        rows: as `scbench.analysis.failure_modes.labels.candidates` gives them.
        decisions: columns `DECISIONS`, one row per candidate.
        judge: who decided.
        prompt_version: what the judge was told, by version.

    Returns:
        Columns `LABELS`, in the order of the rows.
    """
    verdicts = decisions.drop("task", "subtask")
    return rows.join(
        verdicts, on="candidate", validate="1:1", maintain_order="left"
    ).select(
        pl.col(list(LABELS)[:-2]),
        judge=pl.lit(judge),
        prompt_version=pl.lit(prompt_version),
    )


def labels_file(labels: pl.DataFrame) -> bytes:
    """Return labels as a Parquet file."""
    data = BytesIO()
    labels.select(list(LABELS)).write_parquet(data, compression="zstd")
    return data.getvalue()


def read_labels(paths: Iterable[Path]) -> pl.DataFrame:
    """Read files of labels.

    Args:
        paths: Parquet files that `labels_file` made, each of other candidates.

    Returns:
        Columns `LABELS`.

    Raises:
        ResultsError: a file cannot be read or holds no labels, or a candidate is named twice.
    """
    labels = pl.concat([_read_file_of_labels(path) for path in paths])
    if labels["candidate"].is_duplicated().any():
        raise ResultsError(
            "the labels name a candidate twice; give those of one judge, each once"
        )
    return labels


def _read_file_of_labels(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise ResultsError(
            f"no such file: {path}; `scbench failure-modes judge` or `import` writes labels"
        )
    with checked_parquet(path, ResultsError) as lazy:
        schema = lazy.collect_schema()
        lacking = [name for name in LABELS if name not in schema]
        if lacking:
            raise ResultsError(
                f"{path} holds no labels: it has no column {lacking[0]!r}"
            )
        labels = lazy.select(list(LABELS)).collect()
    for name, kind in LABELS.items():
        if labels.schema[name] not in {kind, pl.Null()}:
            raise ResultsError(
                f"{path}: column {name!r} is {labels.schema[name]}, must be {kind}"
            )
    strange = set(labels["failure_mode"]) - set(Mode)
    if strange:
        raise ResultsError(f"{path}: {min(map(str, strange))!r} is no failure mode")
    return labels.cast(dict(LABELS))  # type: ignore[arg-type]


def check_labels(labels: pl.DataFrame, rows: pl.DataFrame) -> None:
    """Refuse labels that are not of these candidates.

    Args:
        labels: columns `LABELS`.
        rows: as `scbench.analysis.failure_modes.labels.candidates` gives them.

    Raises:
        ResultsError: a candidate has no label, a label no candidate, or a score has changed.
    """
    judged, candidates = set(labels["candidate"]), set(rows["candidate"])
    strange, lacking = judged - candidates, candidates - judged
    if strange or lacking:
        raise ResultsError(
            f"the labels are not of these results: {len(lacking)} candidates have no label, "
            f"{len(strange)} labels no candidate; were other files or another threshold labelled?"
        )
    both = rows.select("candidate", "id", "score").join(
        labels.select("candidate", told="score"), on="candidate"
    )
    changed = both.filter((pl.col("score") - pl.col("told")).abs() > 1e-9)
    if changed.height:
        row = changed.row(0, named=True)
        raise ResultsError(
            f"the labels are of another grading: {changed.height} scores have changed since, the "
            f"first is of {row['id']}, {row['told']:.3f} then and {row['score']:.3f} now"
        )
