"""Accuracy over the parameters of generated items.

Every table has accuracy, plain and above the floor (the score of a guess), shares of truncated and
unreadable answers, and output tokens. It groups by task, by the values of each parameter, by the
dimensions that tasks stress, or by the kind of difficulty that parameters set.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import polars as pl

from scbench.analysis.columns import RUN_TYPES, counts, figures, texts
from scbench.analysis.matrix import score_matrix
from scbench.analysis.usage import was_cut_off
from scbench.base.errors import ResultsError, did_you_mean
from scbench.base.intervals import LEVEL
from scbench.base.model import Status, task_of
from scbench.builders.shared.builder import KINDS, kinds_of
from scbench.catalog import get_task
from scbench.grading.means import RUN, means_of, usage
from scbench.release.load import Release

# Position of a parameter's value among its values in the release.
LEVELS = ("lowest", "between", "highest", "unordered")

# Columns of the results that are needed in addition to
# `scbench.analysis.results.NEEDED`.
COLUMNS = ("usage", "finish_reason")

LABELS = (
    "task",
    "dimension",
    "kind",
    "parameter",
    "value",
    "second_parameter",
    "second_value",
)
# Columns of a table, and the cells of means (`scbench.grading.means`) in them.
_MEANS = {
    "accuracy": "mean",
    "low": "low",
    "high": "high",
    "floor": "floor",
    "above": "normalized",
    "above_low": "normalized_low",
    "above_high": "normalized_high",
}
# Columns of `manifold_table` and `heat_table`.
SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | texts(*LABELS)
    | counts("n scored")
    | figures("coverage", *_MEANS, "truncated unparsed mean_output_tokens")
    | counts("token_observations")
)
_FIGURES = (
    pl.len().cast(pl.Int64).alias("n"),
    pl.col("score").count().cast(pl.Int64).alias("scored"),
    (pl.col("score").count() / pl.len()).alias("coverage"),
    was_cut_off().mean().alias("truncated"),
    (pl.col("status") == Status.UNPARSED.value).mean().alias("unparsed"),
    usage("output_tokens").mean().alias("mean_output_tokens"),
    usage("output_tokens").count().cast(pl.Int64).alias("token_observations"),
)


@dataclass(frozen=True, slots=True)
class Group:
    """The instances of one line of a table."""

    labels: Mapping[str, str]
    ids: frozenset[str]


class Cases:
    """The generated instances of a release.

    Args:
        release: the release that was graded against.
        tasks: ids of the tasks; None for all that have drawn instances.

    Raises:
        ResultsError: a task is not in the release, or no instance of the release was
            drawn.
    """

    def __init__(self, release: Release, tasks: Collection[str] | None = None) -> None:
        records = release.manifest.tasks
        for name in tasks or ():
            # A misspelled task would give an empty table.
            if name not in records:
                raise ResultsError(
                    f"task {name!r} is not in release {release.version}."
                    f"{did_you_mean(name, records)}"
                )
        # The instances of the paper were not generated and have no point.
        instances = release.instances(tasks).values()
        rows = [row for row in instances if row.point is not None]
        if not rows:
            of_tasks = " of these tasks" if tasks else ""
            raise ResultsError(
                f"release {release.version} contains no generated items{of_tasks}; only "
                "generated items have parameters"
            )
        self.points = {row.id: row.whole_point for row in rows}
        self.hashes = {row.id: row.content_hash for row in rows}
        self.floors = release.floors()
        self.by_task: dict[str, list[str]] = {}
        for row in rows:
            self.by_task.setdefault(row.task, []).append(row.id)

    def values(self, task: str, name: str) -> dict[str, list[str]]:
        """Return a task's instances at each value of a parameter or property, sorted by value."""
        ids: dict[str, list[str]] = {}
        originals: dict[str, Any] = {}
        for row_id in self.by_task[task]:
            if name not in self.points[row_id]:
                continue
            value = self.points[row_id][name]
            # Lists and numbers are shown as JSON, so they can be keys.
            text = value if isinstance(value, str) else json.dumps(value)
            originals.setdefault(text, value)
            ids.setdefault(text, []).append(row_id)
        if not self.is_ordered(task, name):
            return ids
        return {text: ids[text] for text in sorted(ids, key=originals.__getitem__)}

    def is_ordered(self, task: str, name: str) -> bool:
        """Whether the values of a parameter or property are numbers or Booleans."""
        points = (self.points[row_id] for row_id in self.by_task[task])
        return all(isinstance(point.get(name, 0), int | float) for point in points)

    def varied(self, task: str) -> list[str]:
        """Return the parameters that have more than one value among a task's instances."""
        space = get_task(task).builder.space
        # `count` is the number to draw, not a difficulty.
        parameters = (name for name in space.model_fields if name != "count")
        return [name for name in parameters if len(self.values(task, name)) > 1]

    def with_name(self, name: str) -> list[str]:
        """Return the tasks that have a parameter or property with this name.

        Raises:
            ResultsError: no task has such a parameter or property.
        """
        tasks = [task for task in self.by_task if self.values(task, name)]
        if tasks:
            return tasks
        # Each name once, in the order of the points.
        names = dict.fromkeys(chain.from_iterable(self.points.values()))
        hint = did_you_mean(name, names) or f" Available: {', '.join(names)}."
        raise ResultsError(
            f"no generated item has a parameter or property {name!r}.{hint}"
        )


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
        results: as returned by `scbench.analysis.results.read_results`, with `COLUMNS`.
        cases: generated instances of their release.
        by: see `groups_of`.
        parameter: see `groups_of`.
        level: level of the intervals.

    Returns:
        One row per run and line, with columns `SCHEMA`:

        - labels of the line; null if they do not apply;
        - n, scored, coverage: scores expected, rows with a score, and their share;
        - accuracy: mean score, with its interval low to high;
        - floor: the score of a guess, mean over the scored rows;
        - above: accuracy above the floor, see `scbench.grading.means`, with its
          interval;
        - truncated, unparsed: shares of n;
        - mean_output_tokens: over the token_observations rows that report them.

    Raises:
        ResultsError: the results are for another release, or contain none of its drawn instances.
    """
    groups = list(groups_of(cases, by, parameter))
    return measured_groups(results, cases, groups, level)


def heat_table(
    results: pl.DataFrame, cases: Cases, first: str, second: str
) -> pl.DataFrame:
    """Return the figures of `manifold_table` for each pair of values of two parameters, by task.

    Args:
        results: as for `manifold_table`.
        cases: generated instances of their release.
        first: parameter or property.
        second: another parameter or property.

    Raises:
        ResultsError: as in `manifold_table`, or no task has both parameters.
    """
    tasks = [task for task in cases.with_name(first) if task in cases.with_name(second)]
    if not tasks or first == second:
        raise ResultsError(f"no task has both {first} and {second}")
    # Single-line maps are left out if there are larger ones.
    maps = []
    for task in tasks:
        sizes = (len(cases.values(task, name)) for name in (first, second))
        if min(sizes) > 1:
            maps.append(task)
    groups: list[Group] = []
    for task in maps or tasks:
        groups += pairs_of_values(cases, task, first, second)
    return measured_groups(results, cases, groups, LEVEL)


def pairs_of_values(
    cases: Cases, task: str, first: str, second: str
) -> Iterator[Group]:
    """Yield the lines of each pair of values of two parameters of a task."""
    second_values = cases.values(task, second)
    for value, ids in cases.values(task, first).items():
        for second_value, second_ids in second_values.items():
            shared = frozenset(ids) & frozenset(second_ids)
            labels = {
                "task": task,
                "parameter": first,
                "value": value,
                "second_parameter": second,
                "second_value": second_value,
            }
            # The release may not contain every pair of values.
            if shared:
                yield Group(labels, shared)


def groups_of(cases: Cases, by: str, parameter: str | None = None) -> Iterator[Group]:
    """Yield the lines of a table.

    Args:
        cases: cases of the release.
        by: ``task``, ``parameter`` (each value of each parameter that varies),
            ``dimension`` (stressed by tasks, according to the catalogue) or ``kind``
            (of parameter, with the position of its value in the release).
        parameter: only this parameter or property.
    """
    if parameter is not None:
        for task in cases.with_name(parameter):
            yield from groups_by_value(cases, task, parameter)
    elif by == "task":
        for task, ids in cases.by_task.items():
            yield Group({"task": task}, frozenset(ids))
        # With one task, the sum would repeat its line.
        if len(cases.by_task) > 1:
            yield Group({}, frozenset(cases.points))
    elif by == "parameter":
        for task in cases.by_task:
            for name in cases.varied(task):
                yield from groups_by_value(cases, task, name)
    elif by == "dimension":
        by_dimension: dict[str, list[str]] = {}
        for task, ids in cases.by_task.items():
            for tag in get_task(task).dimensions:
                by_dimension.setdefault(tag, []).extend(ids)
        for dimension, ids in sorted(by_dimension.items()):
            yield Group({"dimension": dimension}, frozenset(ids))
    else:
        yield from groups_by_kind(cases)


def groups_by_value(cases: Cases, task: str, name: str) -> Iterator[Group]:
    """Yield the lines of each value of a task's parameter."""
    kinds = kinds_of(get_task(task).builder.space)
    labels = {"task": task, "parameter": name}
    if kinds.get(name):
        labels["kind"] = kinds[name]
    for value, ids in cases.values(task, name).items():
        yield Group(labels | {"value": value}, frozenset(ids))


def groups_by_kind(cases: Cases) -> Iterator[Group]:
    """Yield the lines of each kind of parameter, by the position of its value."""
    groups: dict[tuple[str, str], set[str]] = {}
    for task in cases.by_task:
        kinds = kinds_of(get_task(task).builder.space)
        for name in cases.varied(task):
            # Parameters without a kind set no difficulty.
            if name not in kinds:
                continue
            for level, ids in _ids_by_level(cases, task, name):
                key = (kinds[name], level)
                groups.setdefault(key, set()).update(ids)
    # In order of kinds, not of tasks.
    for kind in KINDS:
        for level in LEVELS:
            if (kind, level) in groups:
                labels = {"kind": kind, "value": level}
                yield Group(labels, frozenset(groups[kind, level]))


def _ids_by_level(
    cases: Cases, task: str, name: str
) -> Iterator[tuple[str, list[str]]]:
    """Yield the position of each value of a parameter (one of `LEVELS`) and its instances."""
    lowest, between, highest, unordered = LEVELS
    values = cases.values(task, name)
    is_ordered = cases.is_ordered(task, name)
    for place, ids in enumerate(values.values()):
        level = between
        if not is_ordered:
            level = unordered
        elif place == 0:
            level = lowest
        elif place == len(values) - 1:
            level = highest
        yield level, ids


def measured_groups(
    results: pl.DataFrame, cases: Cases, groups: Sequence[Group], level: float
) -> pl.DataFrame:
    """Return the figures of each run on each group, run by run."""
    rows = joined(results, cases)
    matrix = score_matrix(rows)
    by_run: dict[Any, list[dict[str, Any]]] = {run: [] for run in matrix.runs}
    for group in groups:
        group_rows = rows.filter(pl.col("id").is_in(group.ids)).group_by(RUN)
        figures_of_runs = {}
        for row in group_rows.agg(*_FIGURES).iter_rows(named=True):
            figures_of_runs[tuple(row[name] for name in RUN)] = row
        if not figures_of_runs:
            continue
        tasks = set(map(task_of, group.ids))
        blocks = []
        for task, block in matrix.blocks.items():
            if task in tasks:
                blocks.append(block.of(group.ids))
        # A task may have no row in this group.
        totals = means_of([block for block in blocks if len(block.sums)], level)
        for r, run in enumerate(matrix.runs):
            if run in figures_of_runs:
                cells = totals.cells(r)
                line = dict.fromkeys(SCHEMA) | dict(group.labels) | figures_of_runs[run]
                line |= {name: cells[column] for name, column in _MEANS.items()}
                by_run[run].append(line)
    lines = list(chain.from_iterable(by_run.values()))
    return pl.DataFrame(lines, schema=SCHEMA)


def joined(results: pl.DataFrame, cases: Cases) -> pl.DataFrame:
    """Return the rows of drawn instances, with their floors from the release.

    Raises:
        ResultsError: the results have no such rows, or come from another release.
    """
    rows = results.filter(pl.col("id").is_in(cases.points.keys()))
    if rows.is_empty():
        raise ResultsError(
            "the results contain no generated items of this release; grade text tasks with "
            "`scbench-grade --tasks manifolds`"
        )
    row_id = pl.col("id")
    # Releases with different items may have equal ids.
    expected = row_id.replace_strict(cases.hashes, return_dtype=pl.String)
    if not rows.select((pl.col("instance_hash") == expected).all()).item():
        raise ResultsError(
            "the results are for items of another release; give that release with --release"
        )
    floors = row_id.replace_strict(cases.floors, default=None, return_dtype=pl.Float64)
    return rows.with_columns(floor=floors)
