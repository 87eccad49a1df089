"""Where accuracy falls off: results over points of parameter spaces.

Every table has accuracy, plain and above what guessing gets, shares of truncated and unreadable
answers, and output tokens. It groups by task, by the values of each parameter, by what tasks
stress, or by the kind of difficulty that parameters set.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from scbench.analysis.matrix import MEANS, means_of, score_matrix
from scbench.analysis.points import Cases, Group, groups_of
from scbench.analysis.usage import usage, was_cut_off
from scbench.base.errors import ResultsError
from scbench.base.intervals import LEVEL
from scbench.base.model import Status, task_of
from scbench.grading.score_tables import RUN

COLUMNS = ("usage", "finish_reason")
"""Columns of the results that are needed in addition to `scbench.analysis.results.NEEDED`."""

LABELS = ("task", "dimension", "kind", "parameter", "value", "second_parameter", "second_value")
_MEANS = {"accuracy": "mean"} | {name: name for name in MEANS[1:]}
SCHEMA: Mapping[str, Any] = {
    "model": pl.String,
    "setting": pl.String,
    "budget": pl.Int64,
    **dict.fromkeys(LABELS, pl.String),
    "n": pl.Int64,
    "scored": pl.Int64,
    "coverage": pl.Float64,
    **dict.fromkeys(_MEANS, pl.Float64),
    "truncated": pl.Float64,
    "unparsed": pl.Float64,
    "mean_output_tokens": pl.Float64,
    "token_observations": pl.Int64,
}
"""Columns of `manifold_table` and `heat_table`."""


def manifold_table(
    results: pl.DataFrame,
    cases: Cases,
    by: str = "task",
    *,
    parameter: str | None = None,
    level: float = LEVEL,
) -> pl.DataFrame:
    """Return accuracy, plain and above the floor, over the drawn instances of a release.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with `COLUMNS`.
        cases: of the release they belong to.
        by: see `groups_of`.
        parameter: see `groups_of`.
        level: of the intervals.

    Returns:
        One row per run and line, with columns `SCHEMA`: n (scores expected), scored, coverage;
        accuracy (mean score) with its interval low to high; floor (what guessing gets, mean over
        the scored), above (accuracy above the floor, see `scbench.analysis.matrix`) with its
        interval; shares of n that are truncated and unparsed; mean_output_tokens over the
        token_observations rows that report them. Labels that do not apply are null.

    Raises:
        ResultsError: the results are of another release, or hold none of its drawn instances.
    """
    return _measured(results, cases, list(groups_of(cases, by, parameter)), level)


def heat_table(results: pl.DataFrame, cases: Cases, first: str, second: str) -> pl.DataFrame:
    """Return the same figures for each pair of values of two parameters or facts, task by task.

    Args:
        results: as `manifold_table` takes them.
        cases: of the release they belong to.
        first: parameter or fact.
        second: another one.

    Raises:
        ResultsError: as `manifold_table`; or no task has both.
    """
    tasks = [task for task in cases.with_name(first) if task in cases.with_name(second)]
    if not tasks or first == second:
        raise ResultsError(f"no task has both {first} and {second}, so there is no map of them")
    # A map of one line says nothing, if there are better ones.
    maps = [task for task in tasks if min(len(cases.values(task, n)) for n in (first, second)) > 1]
    groups = []
    for task in maps or tasks:
        second_values = cases.values(task, second)
        for value, ids in cases.values(task, first).items():
            for second_value, its in second_values.items():
                shared = frozenset(ids) & frozenset(its)
                labels = {"task": task, "parameter": first, "value": value}
                labels |= {"second_parameter": second, "second_value": second_value}
                if shared:
                    groups.append(Group(labels, shared))
    return _measured(results, cases, groups, LEVEL)


def _measured(
    results: pl.DataFrame, cases: Cases, groups: Sequence[Group], level: float
) -> pl.DataFrame:
    rows = joined(results, cases)
    matrix = score_matrix(rows)
    lines: list[dict[str, Any]] = []
    for group in groups:
        of_group = rows.filter(pl.col("id").is_in(group.ids))
        figures = {
            tuple(row[name] for name in RUN): row
            for row in of_group.group_by(RUN).agg(*_FIGURES).iter_rows(named=True)
        }
        tasks = set(map(task_of, group.ids))
        blocks = [block.of(group.ids) for task, block in matrix.blocks.items() if task in tasks]
        if not figures:
            continue
        totals = means_of([block for block in blocks if len(block.sums)], level)
        for r, run in enumerate(matrix.runs):
            if run in figures:
                cells = totals.cells(r)
                line = dict.fromkeys(SCHEMA) | dict(group.labels) | figures[run]
                lines.append(line | {name: cells[column] for name, column in _MEANS.items()})
    order = {run: i for i, run in enumerate(matrix.runs)}
    lines.sort(key=lambda line: order[tuple(line[name] for name in RUN)])
    return pl.DataFrame(lines, schema=SCHEMA)


_FIGURES = (
    pl.len().cast(pl.Int64).alias("n"),
    pl.col("score").count().cast(pl.Int64).alias("scored"),
    (pl.col("score").count() / pl.len()).alias("coverage"),
    was_cut_off().mean().alias("truncated"),
    (pl.col("status") == Status.UNPARSED.value).mean().alias("unparsed"),
    usage("output_tokens").mean().alias("mean_output_tokens"),
    usage("output_tokens").count().cast(pl.Int64).alias("token_observations"),
)


def joined(results: pl.DataFrame, cases: Cases) -> pl.DataFrame:
    """Return the rows of drawn instances, with the floors that the release gives them."""
    rows = results.filter(pl.col("id").is_in(cases.points.keys()))
    if rows.is_empty():
        raise ResultsError(
            "the results hold no drawn instance of this release; text tasks are graded with "
            "`scbench-grade --tasks manifolds`"
        )
    expected = pl.col("id").replace_strict(cases.hashes, return_dtype=pl.String)
    if not rows.select((pl.col("instance_hash") == expected).all()).item():
        raise ResultsError(
            "the results are of other instances than those of this release; name the one they "
            "were graded against with --release"
        )
    floors = pl.col("id").replace_strict(cases.floors, default=None, return_dtype=pl.Float64)
    return rows.with_columns(floor=floors)
