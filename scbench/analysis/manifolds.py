"""Where accuracy falls off: results over points of parameter spaces.

Every table has accuracy, plain and above what guessing gets, shares of truncated and unreadable
answers, and output tokens. It groups by task, by the values of each parameter, by what tasks
stress, or by the kind of difficulty that parameters set.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import score_matrix
from scbench.analysis.results import RUN_TYPES, counts, figures, texts
from scbench.analysis.sheets import (
    changes_of,
    interval,
    marked,
    number,
    run_words,
    share,
    task_title,
)
from scbench.analysis.usage import was_cut_off
from scbench.base.errors import ResultsError, did_you_mean
from scbench.base.intervals import LEVEL
from scbench.base.model import Status, task_of
from scbench.builders.shared.builder import KINDS, kinds_of
from scbench.catalog import get_task
from scbench.grading.means import RUN, means_of, usage
from scbench.release.load import Release

# Where a parameter's value stands among those that the release has of it.
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
_MEANS = {"accuracy": "mean"} | {name: name for name in ("low", "high", "floor")}
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
# What a heat map can show.
METRICS = {
    "accuracy": "accuracy",
    "above": "accuracy above the floor",
    "truncated": "share truncated",
    "unparsed": "share unparsed",
    "tokens": "mean output tokens",
}
_FIGURE_COLUMNS = (
    Column("N", "n"),
    Column("accuracy", marked("accuracy")),
    Column("95 %", interval),
    Column("floor", share("floor")),
    Column("above", share("above")),
    Column("95 %", partial(interval, name="above_")),
    Column("truncated", share("truncated")),
    Column("unparsed", share("unparsed")),
    Column("tokens", number("mean_output_tokens", ",.0f")),
)


@dataclass(frozen=True, slots=True)
class Group:
    """Instances that make one line of a table."""

    labels: Mapping[str, str]
    ids: frozenset[str]


class Cases:
    """The drawn instances of a release that results are about.

    Args:
        release: what was graded against.
        tasks: ids of the tasks; None for all that have drawn instances.

    Raises:
        ResultsError: a task is not in the release, or nothing in it was drawn.
    """

    def __init__(self, release: Release, tasks: Collection[str] | None = None) -> None:
        records = release.manifest.tasks
        for name in tasks or ():
            if name not in records:
                raise ResultsError(
                    f"task {name!r} is not in release {release.version}."
                    f"{did_you_mean(name, records)}"
                )
        rows = [
            row for row in release.instances(tasks).values() if row.point is not None
        ]
        if not rows:
            raise ResultsError(
                f"release {release.version} holds no drawn items"
                f"{' of these tasks' * bool(tasks)}, so there are no parameters to look along"
            )
        self.points = {row.id: row.whole_point for row in rows}
        self.hashes = {row.id: row.content_hash for row in rows}
        self.floors = release.floors()
        self.by_task: dict[str, list[str]] = {}
        for row in rows:
            self.by_task.setdefault(row.task, []).append(row.id)

    def values(self, task: str, name: str) -> dict[str, list[str]]:
        """Return a task's instances at each value of a parameter or fact, in the values' order."""
        ids: dict[str, list[str]] = {}
        originals: dict[str, Any] = {}
        for row_id in self.by_task[task]:
            if name in self.points[row_id]:
                value = self.points[row_id][name]
                text = value if isinstance(value, str) else json.dumps(value)
                originals.setdefault(text, value)
                ids.setdefault(text, []).append(row_id)
        if self.is_ordered(task, name):
            return {
                text: ids[text]
                for text in sorted(ids, key=lambda text: originals[text])
            }
        return ids

    def is_ordered(self, task: str, name: str) -> bool:
        """Whether the values of a parameter or fact are numbers or truth values."""
        points = (self.points[row_id] for row_id in self.by_task[task])
        return all(isinstance(point.get(name, 0), int | float) for point in points)

    def varied(self, task: str) -> list[str]:
        """Return the parameters that have more than one value among a task's instances."""
        space = get_task(task).builder.space
        parameters = (name for name in space.model_fields if name != "count")
        return [name for name in parameters if len(self.values(task, name)) > 1]

    def with_name(self, name: str) -> list[str]:
        """Return the tasks that have a parameter or fact.

        Raises:
            ResultsError: there is none.
        """
        tasks = [task for task in self.by_task if self.values(task, name)]
        if not tasks:
            names = {key: None for point in self.points.values() for key in point}
            raise ResultsError(
                f"no drawn item has a parameter or fact {name!r}."
                f"{did_you_mean(name, names) or ' There are ' + ', '.join(names) + '.'}"
            )
        return tasks


def groups_of(cases: Cases, by: str, parameter: str | None = None) -> Iterator[Group]:
    """Yield the lines of a table.

    Args:
        cases: of the release.
        by: ``task``, ``parameter`` (each value of each parameter that varies), ``dimension`` (what
            the catalogue says that tasks stress) or ``kind`` (of parameter, with the place of the
            value among those the release has).
        parameter: only this parameter or fact.
    """
    if parameter is not None:
        for task in cases.with_name(parameter):
            yield from _by_value(cases, task, parameter)
    elif by == "task":
        for task, ids in cases.by_task.items():
            yield Group({"task": task}, frozenset(ids))
        if len(cases.by_task) > 1:
            yield Group({}, frozenset(cases.points))
    elif by == "parameter":
        for task in cases.by_task:
            for name in cases.varied(task):
                yield from _by_value(cases, task, name)
    elif by == "dimension":
        tags: dict[str, list[str]] = {}
        for task, ids in cases.by_task.items():
            for tag in get_task(task).dimensions:
                tags.setdefault(tag, []).extend(ids)
        yield from (
            Group({"dimension": tag}, frozenset(tags[tag])) for tag in sorted(tags)
        )
    else:
        yield from _by_kind(cases)


def _by_value(cases: Cases, task: str, name: str) -> Iterator[Group]:
    kind = kinds_of(get_task(task).builder.space).get(name)
    labels = {"task": task, "parameter": name} | ({"kind": kind} if kind else {})
    for value, ids in cases.values(task, name).items():
        yield Group(labels | {"value": value}, frozenset(ids))


def _by_kind(cases: Cases) -> Iterator[Group]:
    groups: dict[tuple[str, str], set[str]] = {}
    for task in cases.by_task:
        kinds = kinds_of(get_task(task).builder.space)
        for name in cases.varied(task):
            if name not in kinds:
                continue
            values = cases.values(task, name)
            ordered = cases.is_ordered(task, name)
            for place, ids in enumerate(values.values()):
                level = (
                    LEVELS[0]
                    if not place
                    else LEVELS[2 if place == len(values) - 1 else 1]
                )
                key = (kinds[name], level if ordered else LEVELS[3])
                groups.setdefault(key, set()).update(ids)
    for kind in KINDS:
        for level in LEVELS:
            if (kind, level) in groups:
                yield Group(
                    {"kind": kind, "value": level}, frozenset(groups[kind, level])
                )


_MEANS |= {f"above{end}": f"normalized{end}" for end in ("", "_low", "_high")}


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
        the scored), above (accuracy above the floor, see `scbench.grading.means`) with its
        interval; shares of n that are truncated and unparsed; mean_output_tokens over the
        token_observations rows that report them. Labels that do not apply are null.

    Raises:
        ResultsError: the results are of another release, or hold none of its drawn instances.
    """
    return _measured(results, cases, list(groups_of(cases, by, parameter)), level)


def heat_table(
    results: pl.DataFrame, cases: Cases, first: str, second: str
) -> pl.DataFrame:
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
        raise ResultsError(
            f"no task has both {first} and {second}, so there is no map of them"
        )
    # A map of one line says nothing, if there are better ones.
    maps = [
        task
        for task in tasks
        if min(len(cases.values(task, n)) for n in (first, second)) > 1
    ]
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
        blocks = [
            block.of(group.ids)
            for task, block in matrix.blocks.items()
            if task in tasks
        ]
        if not figures:
            continue
        totals = means_of([block for block in blocks if len(block.sums)], level)
        for r, run in enumerate(matrix.runs):
            if run in figures:
                cells = totals.cells(r)
                line = dict.fromkeys(SCHEMA) | dict(group.labels) | figures[run]
                lines.append(
                    line | {name: cells[column] for name, column in _MEANS.items()}
                )
    order = {run: i for i, run in enumerate(matrix.runs)}
    lines.sort(key=lambda line: order[tuple(line[name] for name in RUN)])
    return pl.DataFrame(lines, schema=SCHEMA)


def joined(results: pl.DataFrame, cases: Cases) -> pl.DataFrame:
    """Return the rows of drawn instances, with the floors that the release gives them."""
    rows = results.filter(pl.col("id").is_in(cases.points.keys()))
    if rows.is_empty():
        raise ResultsError(
            "the results hold no drawn item of this release; text tasks are graded with "
            "`scbench-grade --tasks manifolds`"
        )
    expected = pl.col("id").replace_strict(cases.hashes, return_dtype=pl.String)
    if not rows.select((pl.col("instance_hash") == expected).all()).item():
        raise ResultsError(
            "the results are of other items than those of this release; name the one they "
            "were graded against with --release"
        )
    floors = pl.col("id").replace_strict(
        cases.floors, default=None, return_dtype=pl.Float64
    )
    return rows.with_columns(floor=floors)


def column_of(metric: str) -> str:
    """Return the column that holds a metric."""
    return "mean_output_tokens" if metric == "tokens" else metric


def _task_cell(row: Row) -> str:
    return "all" if row["task"] is None else task_title(row)


_LABEL_COLUMNS = (
    Column("setting", "setting", is_words=True),
    Column("budget", "budget", is_words=True),
    Column("task", _task_cell, is_words=True),
    *(
        Column(name, name, is_words=True)
        for name in ("dimension", "kind", "parameter", "value")
    ),
)


def manifold_sheet(title: str, frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `manifold_table`."""
    rows = frame.to_dicts()
    labels = [c for c in _LABEL_COLUMNS if any(row[c.head] is not None for row in rows)]
    columns = [Column("model", "model", is_words=True), *labels, *_FIGURE_COLUMNS]
    heads = {column.head for column in labels}
    notes = notes_of("manifolds")
    if any(row["coverage"] < 1 for row in rows):
        notes.append("* over scored rows only: coverage is below 1.")
    if "kind" in heads and "parameter" not in heads:
        notes += notes_of("kinds")
    sections = [
        [row[name] for name in ("model", "task", "parameter", "kind")] for row in rows
    ]
    breaks = changes_of(sections)
    if len(breaks) == len(rows) - 1:
        breaks = changes_of([row["model"] for row in rows])
    return sheet_of(title, columns, rows, notes, breaks)


def heat_sheets(frame: pl.DataFrame, metric: str) -> list[Sheet]:
    """Lay out a table of `heat_table`: a map for each run and task.

    Args:
        frame: the table.
        metric: one of `METRICS`.
    """
    column = column_of(metric)
    form = number(column, ",.0f") if metric == "tokens" else share(column)
    sheets = []
    for part in frame.partition_by(*RUN, "task", maintain_order=True):
        rows = part.to_dicts()
        cells = {
            (row["value"], row["second_value"]): f"{form(row)}\n{row['n']}"
            for row in rows
        }
        first, second = rows[0]["parameter"], rows[0]["second_parameter"]
        across = _values_in_order(dict.fromkeys(value for _, value in cells))
        lines = [
            [value, *(cells.get((value, beside), "") for beside in across)]
            for value in dict.fromkeys(value for value, _ in cells)
        ]
        title = f"{_task_cell(rows[0])}, {run_words(rows[0])}: {METRICS[metric]}"
        heads = [f"{first} \\ {second}", *across]
        note = "Below each figure: the number of its rows."
        sheets.append(Sheet(title, heads, lines, frozenset(heads[:1]), [note]))
    return sheets


def _values_in_order(values: Mapping[str, None]) -> list[str]:
    try:
        return sorted(values, key=float)
    except ValueError:
        return list(values)
