"""Score tables from graded answers that Inspect or lm-evaluation-harness stored.

Figures are computed by `score_table`, which needs only a few facts about each answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from scbench.grading.score_tables import score_table


class StoredAnswer(NamedTuple):
    """The relevant facts of an answer.

    Attributes:
        id: id of its instance.
        sample: sample number, starting at 0.
        task: task of the instance.
        bucket: bucket of the task.
        status: see `scbench.base.model.Status`.
        floor: floor of the instance; None if it is not known.
        scores: scores of the answer; empty without a score.
    """

    id: str
    sample: int
    task: str
    bucket: str
    status: str
    floor: float | None
    scores: Sequence[float]


def bucket_lines(
    answers: Iterable[StoredAnswer], weights: Mapping[str, float] | None
) -> dict[str, dict[str, Any]]:
    """Return the rows of the table by bucket for the answers of a run, keyed by bucket.

    Args:
        answers: answers of one run; those without a score are left out.
        weights: weights of tasks in the release; missing ones are computed from the
            floors.
    """
    rows: list[dict[str, Any]] = []
    for answer in answers:
        for place, score in enumerate(answer.scores):
            row = {
                "id": answer.id,
                "subtask": place,
                "sample": answer.sample,
                "task": answer.task,
                "bucket": answer.bucket,
                "status": answer.status,
                "floor": answer.floor,
                "score": score,
            }
            rows.append(row)
    if not rows:
        return {}
    frame = pl.DataFrame(
        rows, schema_overrides={"score": pl.Float64(), "floor": pl.Float64()}
    )
    # Tables group rows by columns that are constant here.
    run = frame.with_columns(
        model=pl.lit("model"),
        setting=pl.lit(None, pl.String),
        budget=pl.lit(None, pl.Int64),
        instance_hash=pl.lit(""),
    )
    lines = score_table(run, "bucket", weights).to_dicts()
    return {line["bucket"]: line for line in lines}
