"""Metrics of Inspect's logs: by bucket, with coverage, by the code of our own tables."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from scbench.base.model import Status

if TYPE_CHECKING:
    import polars as pl

UNSCORED = float("nan")


@metric(scores="unreduced")
def by_bucket(expected: Mapping[str, int] | None = None) -> Metric:
    """The mean of each bucket and its coverage, as `scbench.grading.score_tables` has them.

    Samples without a score (errors, blocked replies, what cannot be graded here) are no zeros:
    they lower the coverage. It is of all items of the tasks, however many were asked.

    Args:
        expected: scores that one try at all items of the tasks has, by bucket; None if that is not
            known, and then no coverage is given.
    """

    def measure(scores: list[SampleScore]) -> Value:
        from scbench.grading.score_tables import OVERALL, score_table  # noqa: PLC0415  (heavy)

        rows, tries = _rows(scores)
        lines = score_table(rows, "bucket").to_dicts() if len(rows) else []
        found = {line["bucket"]: line for line in lines}
        made: dict[str, str | int | float | bool | None] = {}
        for name in dict.fromkeys([*(expected or ()), *found]):
            line = found.get(name)
            made[name] = UNSCORED if line is None else line["mean"]
            if expected is not None:
                parts = found if name == OVERALL else [name]
                count = sum(expected.get(part, 0) for part in parts)
                made[f"{name} coverage"] = line["scored"] / (count * tries) if line else 0.0
        return made

    return measure


def _rows(scores: list[SampleScore]) -> "tuple[pl.DataFrame, int]":
    """Return rows of results, as far as tables need them, and how often items were tried."""
    import polars as pl  # noqa: PLC0415  (heavy)

    tries: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for one in scores:
        told, row_id = one.sample_metadata or {}, str(one.sample_id)
        tries[row_id] += 1
        rows += (
            {
                "id": row_id,
                "subtask": place,
                "sample": tries[row_id] - 1,
                "task": told["task"],
                "bucket": told["bucket"],
                "score": score,
            }
            for place, score in enumerate((one.score.metadata or {})["scores"])
        )
    frame = pl.DataFrame(rows, schema_overrides={"score": pl.Float64()}).with_columns(
        model=pl.lit("model"),
        setting=pl.lit("no_tools"),
        budget=pl.lit(None, pl.Int64),
        status=pl.lit(Status.ANSWERED.value),
        instance_hash=pl.lit(""),
        floor=pl.lit(None, pl.Float64),
    )
    return frame, max(tries.values(), default=1)
