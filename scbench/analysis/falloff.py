"""The value of a parameter at which half of the ability is lost, by run and task.

`scbench.analysis.half_points` defines the fitted curve.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from scbench.analysis.columns import RUN_TYPES, counts, figures, texts
from scbench.analysis.half_points import half_point
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.manifolds import Cases, joined
from scbench.analysis.sheets import number, run_words, task_cell
from scbench.base.intervals import LEVEL
from scbench.base.model import Status
from scbench.grading.means import RUN, scores_with_guesses

# Columns of `falloff_table`.
SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | texts("task parameter")
    | counts("n values")
    | figures("half half_low half_high")
    | texts("direction")
)


class OrderedParameter(NamedTuple):
    """A task parameter that takes several numeric values, and its value by instance id."""

    task: str
    name: str
    values: dict[str, float]


def falloff_table(
    results: pl.DataFrame,
    cases: Cases,
    parameter: str | None = None,
    *,
    level: float = LEVEL,
) -> pl.DataFrame:
    """Return the half-way point along each parameter with ordered values, by run and task.

    Args:
        results: as for `scbench.analysis.manifolds.manifold_table`.
        cases: generated instances of their release.
        parameter: only this parameter; None for all with ordered values.
        level: level of the intervals.

    Returns:
        Columns `SCHEMA`: n (scores), values (number of distinct values), half with its
        interval (null where the data do not bound it), and direction: "falls", "rises",
        or "level" if the slope is not significant.
    """
    rows = joined(results, cases).filter(pl.col("score").is_not_null())
    is_answered = pl.col("status") == Status.ANSWERED.value
    guessed = pl.when(is_answered).then("floor").otherwise(0.0)
    rows = rows.with_columns(guessed=guessed, raised=scores_with_guesses())
    lines: list[dict[str, Any]] = []
    for task, name, values in ordered_parameters(cases, parameter):
        value = pl.col("id").replace_strict(
            values, default=None, return_dtype=pl.Float64
        )
        task_rows = rows.filter(pl.col("task") == task).with_columns(value=value)
        with_value = task_rows.filter(pl.col("value").is_not_null())
        by_value = with_value.group_by(*RUN, "value")
        # Sums in sorted order do not depend on the order of rows.
        sums = by_value.agg(
            right=pl.col("score").sort().sum(),
            n=pl.len(),
            floor=pl.col("guessed").sort().mean(),
        )
        by_run = sums.partition_by(RUN, as_dict=True)
        for run, run_sums in sorted(by_run.items(), key=lambda pair: str(pair[0])):
            line = dict(zip(RUN, run, strict=True)) | {"task": task, "parameter": name}
            line |= {"n": run_sums["n"].sum(), "values": run_sums.height}
            lines.append(line | half_cells(run_sums.sort("value"), level))
    return pl.DataFrame(lines, schema=SCHEMA)


def ordered_parameters(
    cases: Cases, parameter: str | None
) -> Iterator[OrderedParameter]:
    """Yield the parameters that have several numbers as values."""
    tasks = cases.by_task if parameter is None else cases.with_name(parameter)
    for task in tasks:
        names = cases.varied(task) if parameter is None else [parameter]
        for name in names:
            if not cases.is_ordered(task, name) or len(cases.values(task, name)) < 2:
                continue
            values = {}
            for row_id in cases.by_task[task]:
                value = cases.points[row_id].get(name)
                if isinstance(value, int | float):
                    values[row_id] = float(value)
            yield OrderedParameter(task, name, values)


def half_cells(sums: pl.DataFrame, level: float) -> dict[str, Any]:
    """Return the half-way point of one run from its sums at each value."""
    columns = [
        sums[name].cast(pl.Float64).to_numpy()
        for name in ("value", "right", "n", "floor")
    ]
    values, right, n, floor = columns
    if len(values) < 2 or np.isnan(floor).any() or (floor >= 1).any():
        return {"direction": "level"}
    point = half_point(values, right, n, floor, level)
    if point is None:
        return {"direction": "level"}
    return {
        "half": point.value,
        "half_low": point.low,
        "half_high": point.high,
        "direction": "falls" if point.falls else "rises",
    }


def half_interval(row: Row) -> str:
    """Return the interval of the half-way point; it may be open at one end."""
    low = row["half_low"]
    high = row["half_high"]
    if low is None and high is None:
        return "-"
    if low is None:
        return f"below {high:.2f}"
    if high is None:
        return f"above {low:.2f}"
    return f"{low:.2f} to {high:.2f}"


def falloff_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `falloff_table`."""
    columns = (
        Column("model", run_words, is_words=True),
        Column("task", task_cell, is_words=True),
        Column("parameter", "parameter", is_words=True),
        Column("N", "n"),
        Column("values", "values"),
        Column("accuracy", "direction", is_words=True),
        Column("half at", number("half")),
        Column("95 %", half_interval),
    )
    return sheet_of("Halfway points", columns, frame.to_dicts(), notes_of("falloff"))
