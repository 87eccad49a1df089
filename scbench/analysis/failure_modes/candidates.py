"""Which rows are diagnosed: low scores of answers that were really given."""

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from scbench.analysis.failure_modes.labels import PASS, THRESHOLD
from scbench.analysis.results import ITEM
from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ResultsError
from scbench.base.model import Status
from scbench.grading.score_tables import RUN

COLUMNS = (
    *("line", "checks", "failed_checks", "reason", "answer", "answer_source", "finish_reason"),
    *("response_characters", "reasoning_characters", "prediction_hash"),
)
"""Columns that a diagnosis needs in addition to `scbench.analysis.results.NEEDED`."""

IDENTITY = (*RUN, "sample", *ITEM)
"""Columns that tell one score of one run from all others."""

KEY = (*RUN, "sample", "id", "task", "bucket", "subtask")
"""The same with what a score belongs to."""


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
    names = [_candidate_name(row) for row in low.select(IDENTITY).iter_rows()]
    return low.select(pl.Series("candidate", names, pl.String), pl.all())


def _is_candidate(threshold: float) -> pl.Expr:
    replied = pl.col("status").is_in([Status.ANSWERED.value, Status.REFUSED.value]) | (
        (pl.col("status") == Status.UNPARSED.value)
        & (pl.col("response_characters") != 0).fill_null(value=True)
    )
    return ((pl.col("score") < threshold) & replied).fill_null(value=False)


def _candidate_name(values: tuple[object, ...]) -> str:
    return sha256(canonical_json(list(values)))[:16]


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
