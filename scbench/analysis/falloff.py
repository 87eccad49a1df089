"""Where along a parameter half of the ability is lost: a logistic curve above the floor.

The chance of a right answer at a value x of the parameter is taken to be
``g + (1 - g) / (1 + exp(s (x - h)))``: it falls from 1 to what guessing gets, g, and at h it is
half-way between. h and the slope s are those of the greatest likelihood; the interval of h holds
what a likelihood-ratio test does not refuse. An end that the data do not bound is not given.
"""

from collections.abc import Iterator, Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.manifolds import Cases, joined
from scbench.analysis.results import RUN_TYPES, counts, figures, texts
from scbench.analysis.sheets import number, run_words, task_title
from scbench.base.intervals import LEVEL, Floats
from scbench.base.model import Status
from scbench.grading.means import RUN, lifted

# Columns of `falloff_table`.
SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | texts("task parameter")
    | counts("n values")
    | figures("half half_low half_high")
    | texts("direction")
)

_PLACES = 401
_FINE = 41
# Slopes that are tried, per span of the values.
_SLOPES = np.concatenate([-np.geomspace(80, 0.05, 60), np.geomspace(0.05, 80, 60)])
# How far beyond the values the half-way point is looked for, in spans of them.
_REACH = 1.0
_CLEAR = 1e-9


class Half(NamedTuple):
    """The half-way point.

    Attributes:
        value: where half of what lies above the floor is lost; None if that is nowhere near.
        low: lower end of its interval; None if the data do not bound it.
        high: upper end, likewise.
        falls: whether larger values are harder.
    """

    value: float | None
    low: float | None
    high: float | None
    falls: bool


def half_point(
    values: Floats, right: Floats, n: Floats, floor: Floats, level: float = LEVEL
) -> Half | None:
    """Return the half-way point of a logistic curve; None if nothing falls or rises.

    Args:
        values: of the parameter, at least two different ones.
        right: sum of the scores at each.
        n: number of the scores.
        floor: what guessing gets there, below 1.
        level: of the interval.
    """
    span = float(np.ptp(values))
    places = np.linspace(
        values.min() - _REACH * span, values.max() + _REACH * span, _PLACES
    )

    def likelihood(places: Floats, slopes: Floats) -> Floats:
        """Return log-likelihoods, of shape (places, slopes)."""
        steps = slopes[None, :, None] * (values - places[:, None, None]) / span
        chance = floor + (1 - floor) / (1 + np.exp(np.clip(steps, -50, 50)))
        return _binomial_loglik(chance, right, n)

    surface = likelihood(places, _SLOPES)
    flat = float(_binomial_loglik((right.sum() / n.sum()) * np.ones_like(n), right, n))
    along = surface.max(axis=1)
    best = float(along.max())
    allowed = NormalDist().inv_cdf((1 + level) / 2) ** 2 / 2
    if best - flat <= allowed:
        return None
    at = np.flatnonzero(
        along >= best - _CLEAR
    )  # a plateau, where a step fits anywhere between
    falls = bool(_SLOPES[surface[at[0]].argmax()] > 0)
    inside = np.flatnonzero(along >= best - allowed)
    edge = _PLACES - 1
    value = None
    if at[0] > 0 and at[-1] < edge:
        # Between the points of the grid.
        near = np.linspace(places[at[0] - 1], places[at[-1] + 1], 4 * _FINE)
        slope = _SLOPES[surface[at[0]].argmax()]
        fine = likelihood(near, slope * np.geomspace(0.8, 1.25, _FINE)).max(axis=1)
        value = float(near[fine >= fine.max() - _CLEAR].mean())
    low = None if inside[0] == 0 else float(places[inside[0]])
    high = None if inside[-1] == edge else float(places[inside[-1]])
    return Half(value, low, high, falls)


def _binomial_loglik(chance: Floats, right: Floats, n: Floats) -> Floats:
    safe = np.clip(chance, 1e-6, 1 - 1e-6)
    summed: Floats = (right * np.log(safe) + (n - right) * np.log(1 - safe)).sum(
        axis=-1
    )
    return summed


def falloff_table(
    results: pl.DataFrame,
    cases: Cases,
    parameter: str | None = None,
    *,
    level: float = LEVEL,
) -> pl.DataFrame:
    """Return the half-way point along each parameter with ordered values, for each run and task.

    Args:
        results: as `scbench.analysis.manifolds.manifold_table` takes them.
        cases: of the release they belong to.
        parameter: only this one.
        level: of the intervals.

    Returns:
        Columns `SCHEMA`: n (scores), values (how many different ones), half with its interval (null
        where the data do not say), and direction: "falls", "rises", or "level" if no slope can be
        told from none.
    """
    rows = joined(results, cases).filter(pl.col("score").is_not_null())
    guessed = (
        pl.when(pl.col("status") == Status.ANSWERED.value).then("floor").otherwise(0.0)
    )
    rows = rows.with_columns(guessed=guessed, raised=lifted())
    lines: list[dict[str, Any]] = []
    for task, name, values in _ordered_parameters(cases, parameter):
        of_task = rows.filter(pl.col("task") == task)
        value = pl.col("id").replace_strict(
            values, default=None, return_dtype=pl.Float64
        )
        with_value = of_task.with_columns(value=value).filter(
            pl.col("value").is_not_null()
        )
        cells = with_value.group_by(*RUN, "value").agg(
            right=pl.col("score").sort().sum(),
            n=pl.len(),
            floor=pl.col("guessed").sort().mean(),
        )
        for run, part in sorted(
            cells.partition_by(RUN, as_dict=True).items(), key=lambda pair: str(pair[0])
        ):
            line = dict(zip(RUN, run, strict=True)) | {"task": task, "parameter": name}
            line |= {"n": part["n"].sum(), "values": part.height, "direction": "level"}
            lines.append(line | _half(part.sort("value"), level))
    return pl.DataFrame(lines, schema=SCHEMA)


def _half(part: pl.DataFrame, level: float) -> dict[str, Any]:
    columns = (
        part[name].cast(pl.Float64).to_numpy()
        for name in ("value", "right", "n", "floor")
    )
    values, right, n, floor = columns
    if len(values) < 2 or np.isnan(floor).any() or (floor >= 1).any():
        return {}
    point = half_point(values, right, n, floor, level)
    if point is None:
        return {}
    ends = {"half": point.value, "half_low": point.low, "half_high": point.high}
    return ends | {"direction": "falls" if point.falls else "rises"}


def _ordered_parameters(
    cases: Cases, parameter: str | None
) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield task, parameter, and the value by instance id, of parameters with several numbers."""
    for task in cases.by_task if parameter is None else cases.with_name(parameter):
        for name in cases.varied(task) if parameter is None else [parameter]:
            if cases.is_ordered(task, name) and len(cases.values(task, name)) > 1:
                points = {
                    row_id: cases.points[row_id] for row_id in cases.by_task[task]
                }
                values = {row_id: point.get(name) for row_id, point in points.items()}
                numbers = {
                    i: v for i, v in values.items() if isinstance(v, int | float)
                }
                yield (
                    task,
                    name,
                    {row_id: float(value) for row_id, value in numbers.items()},
                )


def _reach(row: Row) -> str:
    """Return the interval of the half-way point; it may be open at one end."""
    low, high = row["half_low"], row["half_high"]
    if low is None and high is None:
        return "-"
    if low is None or high is None:
        return f"below {high:.2f}" if low is None else f"above {low:.2f}"
    return f"{low:.2f} to {high:.2f}"


_FALLOFF = (
    Column("model", run_words, is_words=True),
    Column("task", task_title, is_words=True),
    Column("parameter", "parameter", is_words=True),
    Column("N", "n"),
    Column("values", "values"),
    Column("accuracy", "direction", is_words=True),
    Column("half at", number("half")),
    Column("95 %", _reach),
)


def falloff_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `falloff_table`."""
    return sheet_of(
        "Where half is lost", _FALLOFF, frame.to_dicts(), notes_of("falloff")
    )
