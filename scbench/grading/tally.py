"""Tables and counts of a results file, from the columns they need."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scbench.model import Status

if TYPE_CHECKING:
    import polars as pl

_TEXTS = ("id", "task", "bucket", "model", "setting", "status")
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Tally:
    """What a results file comes to.

    Attributes:
        rows: how many it has.
        unscored: how many of them have no score.
        tables: score tables by bucket and by task, see `scbench.analysis.tables`.
        outside: task and number of rows whose instance the release does not hold.
        grader_errors: rows that a grader failed on.
        failed: line, id and reason of the first of them.
        not_run: task, reason and number of rows with an answer that this installation cannot grade.
        tasks: tasks that have rows.
    """

    rows: int
    unscored: int
    tables: "dict[Literal['bucket', 'task'], pl.DataFrame]"
    outside: list[dict[str, Any]]
    grader_errors: int
    failed: list[dict[str, Any]]
    not_run: list[tuple[str, str, int]]
    tasks: frozenset[str]


def tally(path: Path) -> Tally:
    """Read a results file and return what it comes to; about 60 bytes a row are in memory."""
    import polars as pl  # noqa: PLC0415  (heavy; wanted once per run)

    from scbench.analysis.tables import outside_release, score_table  # noqa: PLC0415  (polars)

    lazy = pl.scan_parquet(path)
    slim = lazy.select(
        pl.col(_TEXTS).cast(pl.Categorical),
        pl.col("subtask", "sample", "budget", "score"),
        pl.when(pl.col("instance_hash").is_not_null()).then(pl.lit("")).alias("instance_hash"),
    ).collect(engine="streaming")
    failed = lazy.filter(pl.col("status") == Status.GRADER_ERROR.value)
    absent = lazy.filter(
        (pl.col("status") == Status.NOT_RUN.value) & pl.col("answer_source").is_not_null()
    )
    counts = absent.group_by("task", "reason", maintain_order=True).agg(pl.len())
    return Tally(
        slim.height,
        slim["score"].null_count(),
        {"bucket": score_table(slim, "bucket"), "task": score_table(slim, "task")},
        outside_release(slim).to_dicts(),
        slim.filter(pl.col("status") == Status.GRADER_ERROR.value).height,
        failed.select("line", "id", "reason").head(_SHOWN).collect(engine="streaming").to_dicts(),
        counts.collect(engine="streaming").rows(),
        frozenset(slim["task"].unique().cast(pl.String).to_list()),
    )
