"""Tables laid out as people read them. Figures are rounded here, once, and nowhere before."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scbench.analysis.layout import Sheet
from scbench.analysis.paper import BASELINE, TOOLS
from scbench.base.errors import printable
from scbench.base.model import Status
from scbench.catalog import all_tasks
from scbench.grading.score_tables import OVERALL

if TYPE_CHECKING:
    import polars as pl


def points(share: float | None) -> str:
    """Return a share as points of a hundred, one decimal; a dash if it is missing."""
    return "-" if share is None else f"{100 * share:.1f}"


def signed(share: float | None) -> str:
    """Return a difference of shares in points, with its sign; ±0.0 if it rounds to nothing."""
    if share is None:
        return "-"
    text = f"{100 * share:+.1f}"
    return "±0.0" if text in {"+0.0", "-0.0"} else text


def score_sheet(title: str, frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.grading.score_tables.score_table`.

    Columns that say nothing are left out.
    """
    rows = frame.to_dicts()
    heads = ["model"]
    heads += [name for name in ("setting", "budget") if any(row[name] is not None for row in rows)]
    heads += ["task"] if "task" in frame.columns else ["bucket"]
    heads += ["N"]
    heads += ["samples"] if any(row["samples"] > 1 for row in rows) else []
    gaps = any(row["scored"] < row["n"] * row["samples"] for row in rows)
    heads += ["mean", "95 %", "missing as 0"] if gaps else ["mean", "95 %"]
    raised = any(row["floor"] for row in rows)
    heads += ["floor", "above", "above, 95 %"] if raised else []
    heads += ["coverage", "status"]
    breaks = {i for i in range(1, len(rows)) if rows[i]["model"] != rows[i - 1]["model"]}
    cells = [[_score_cell(row, head) for head in heads] for row in rows]
    return Sheet(
        title, heads, cells, notes=[ABOVE_NOTE] if raised else [], breaks=frozenset(breaks)
    )


def _score_cell(row: Mapping[str, Any], head: str) -> str:
    match head:
        case "N":
            return str(row["n"])
        case "mean":
            return points(row["mean"]) + ("*" if row["scored"] and row["coverage"] < 1 else "")
        case "95 %":
            return "-" if row["low"] is None else f"{points(row['low'])} to {points(row['high'])}"
        case "floor" | "above":
            return points(row[head])
        case "above, 95 %":
            low, high = row["above_low"], row["above_high"]
            return "-" if low is None else f"{points(low)} to {points(high)}"
        case "missing as 0":
            return points(row["mean_missing_as_zero"])
        case "coverage":
            return f"{row['scored']}/{row['n'] * row['samples']}"
        case "status":
            return ", ".join(f"{row[s.value]} {s.value}" for s in Status if row[s.value])
    return "" if row[head] is None else printable(str(row[head]))


def paper_sheet(title: str, frame: "pl.DataFrame", *, missing_as_zero: bool = False) -> Sheet:
    """Lay out a table of `scbench.analysis.paper.paper_table` as the paper does.

    A column for each model's mean (without tools, if there is such a run), one for what tools add.

    Args:
        title: what it shows.
        frame: the table.
        missing_as_zero: print the mean with missing scores as zeros below the mean.
    """
    cells = {
        (row["bucket"], row["task"], row["model"], row["budget"], row["setting"]): row
        for row in frame.to_dicts()
    }
    lines = list(dict.fromkeys((bucket, task) for bucket, task, *_ in cells))
    # The run with most scores names a line; what others lack stands below.
    widest = sorted(cells.values(), key=lambda row: row["n"])
    over = {(row["bucket"], row["task"]): row["over"] for row in widest}
    columns = _columns(sorted({key[2:] for key in cells}, key=_run_order))
    by_task = any(task for _, task in lines)
    titles = {task.id: task.title for task in all_tasks().values()}
    rows, breaks = [], set()
    for i, (bucket, task) in enumerate(lines):
        found = [cells.get((bucket, task, *run)) for _, run, _ in columns]
        n = max(row["n"] for row in found if row)
        name = line_name(bucket, task, over[bucket, task], titles, every=by_task)
        figures = [
            "" if row is None else figure(row, n, missing_as_zero=missing_as_zero, delta=delta)
            for row, (_, _, delta) in zip(found, columns, strict=True)
        ]
        rows.append([name, str(n), *figures])
        if i and lines[i - 1][1] is None and by_task:
            breaks.add(i)
    notes = ["Means in points of 100, with 95 % intervals; Δ is what tools add."]
    if any(_ABOVE in cell for row in rows for cell in row[2:]):
        notes.append(ABOVE_NOTE)
    if any(row["coverage"] < 1 for row in cells.values()):
        notes.append("* over scored rows only: coverage is below 1.")
        if missing_as_zero:
            notes.append("Below a marked mean: the mean with missing scores as zeros.")
    if any(_LESS in cell for row in rows for cell in row[2:]):
        less = {
            f"{line_name(row['bucket'], None, row['over'], titles, every=by_task)}: "
            f"{printable(row['model'])}{' ' + row['setting'] if row['setting'] else ''}": None
            for row in cells.values()
            if row["over"] and row["over"] != over[row["bucket"], row["task"]]
        }
        named = "; ".join(less)
        notes.append(f"{_LESS} over fewer scores than N: whole tasks are missing. {named}.")
    heads = ["task" if by_task else "bucket", "N", *(head for head, _, _ in columns)]
    return Sheet(title, heads, rows, notes=notes, breaks=frozenset(breaks))


def line_name(
    bucket: str, task: str | None, over: str | None, titles: Mapping[str, str], *, every: bool
) -> str:
    """Return how a line of a table is called.

    Args:
        bucket: that it is of.
        task: None if it adds tasks up.
        over: what it is over, if not all that its name says.
        titles: of tasks.
        every: whether tasks have lines, too.
    """
    if task:
        return titles.get(task, task)
    name = f"all {bucket}" if every and bucket != OVERALL else bucket
    return name + (f" ({over})" if over else "")


_ABOVE = "above "
ABOVE_NOTE = (
    "Above: (mean - floor) / (1 - floor), where the floor is what the best answer without insight "
    "scores; below 0 is worse than that."
)


def above_line(row: Mapping[str, Any], name: str, form: Callable[[float | None], str]) -> str:
    """Return a line for a cell with a figure above the floor and its interval.

    Under a floor of 1 it says that there is no room; where no floor is known, there is no line.
    """
    if row[name] is None:
        return "\nno room above the floor" if row.get("floor") == 1 else ""
    low, high = (form(row[f"{name}_{end}"]) for end in ("low", "high"))
    return f"\n{_ABOVE}{form(row[name])} ({low} to {high})"


Run = tuple[str, int | None, str | None]


def _run_order(run: Run) -> tuple[Any, ...]:
    """Return the sort key of a run: a run with tools follows the same without."""
    model, budget, setting = run
    return (model, budget is not None, budget or 0, setting is not None, setting or "")


def _columns(runs: Sequence[Run]) -> list[tuple[str, Run, bool]]:
    """Return heading, run, and whether it is a difference, for each column of figures."""
    columns = []
    for run in runs:
        model, budget, setting = run
        name = printable(model) + ("" if budget is None else f" @{budget}")
        delta = setting == TOOLS and (model, budget, BASELINE) in runs
        alone = setting in {None, BASELINE}
        columns.append(
            (f"{name} Δ" if delta else name if alone else f"{name} {setting}", run, delta)
        )
    return columns


_LESS = "†"
"""Marks figures over fewer scores than the line says, because whole tasks are missing."""


def figure(
    row: Mapping[str, Any], n: int, *, missing_as_zero: bool = False, delta: bool = False
) -> str:
    """Return a mean or a difference with its marks, and its interval on a line below."""
    if row["delta" if delta else "mean"] is None:
        return "-"
    less = _LESS if row["n"] < n else ""
    if delta:
        between = ""
        if row["delta_low"] is not None:
            between = f"\n{signed(row['delta_low'])} to {signed(row['delta_high'])}"
        if row.get("floor"):
            between += above_line(row, "delta_above", signed)
        gap = "*" if row["delta_n"] < row["n"] else ""
        return signed(row["delta"]) + gap + less + between
    between = "" if row["low"] is None else f"\n{points(row['low'])} to {points(row['high'])}"
    if row.get("floor"):
        between += above_line(row, "above", points)
    if row["coverage"] == 1:
        return points(row["mean"]) + less + between
    zero = f"\n({points(row['mean_missing_as_zero'])})" if missing_as_zero else ""
    return points(row["mean"]) + "*" + less + zero + between
