"""Tables over manifolds, laid out as people read them."""

from typing import TYPE_CHECKING, Any

from scbench.analysis.layout import Sheet
from scbench.analysis.sheets import points
from scbench.base.errors import printable
from scbench.catalog import all_tasks

if TYPE_CHECKING:
    import polars as pl

METRICS = {
    "accuracy": "accuracy",
    "above": "accuracy above the floor",
    "truncated": "share truncated",
    "unparsed": "share unparsed",
    "tokens": "mean output tokens",
}
"""What a heat map can show."""

_NOTES = (
    (
        "In points of 100, with 95 % intervals. Above: (accuracy - floor) / (1 - floor), where the "
        "floor is what guessing gets and who gave no answer did not guess; below 0 is worse than "
        "guessing. Truncated and unparsed: shares of all rows. "
        "Tokens: as the provider reports them, where it does."
    ),
)
_KIND_NOTE = (
    "Lowest, between, highest: the place of the case among the values that the release has of a "
    "parameter of this kind; a case counts in a line once for all such parameters. Higher is not "
    "always harder."
)


def column_of(metric: str) -> str:
    """Return the column that holds a metric."""
    return "mean_output_tokens" if metric == "tokens" else metric


def manifold_sheet(title: str, frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.analysis.manifolds.manifold_table`."""
    rows = frame.to_dicts()
    optional = ("setting", "budget", "task", "dimension", "kind", "parameter", "value")
    used = [name for name in optional if any(row[name] is not None for row in rows)]
    titles = {task.id: task.title for task in all_tasks().values()}
    cells, breaks = [], set()
    for i, row in enumerate(rows):
        if i and any(
            row[name] != rows[i - 1][name] for name in ("model", "task", "parameter", "kind")
        ):
            breaks.add(i)
        labels = [_label(row, name, titles) for name in used]
        tokens = row["mean_output_tokens"]
        mark = "*" if row["scored"] and row["coverage"] < 1 else ""
        cells.append(
            [
                printable(row["model"]),
                *labels,
                str(row["n"]),
                points(row["accuracy"]) + mark,
                _between(row, "low", "high"),
                points(row["floor"]),
                points(row["above"]),
                _between(row, "above_low", "above_high"),
                points(row["truncated"]),
                points(row["unparsed"]),
                "-" if tokens is None else f"{tokens:,.0f}",
            ]
        )
    heads = ["model", *used, "N", "accuracy", "95 %", "floor", "above", "95 %"]
    heads += ["truncated", "unparsed", "tokens"]
    notes = [*_NOTES]
    if any(row["coverage"] < 1 for row in rows):
        notes.append("* over scored rows only: coverage is below 1.")
    if "kind" in used and "parameter" not in used:
        notes.append(_KIND_NOTE)
    words = frozenset({"model", *used})
    if len(breaks) == len(rows) - 1:
        breaks = {i for i in breaks if rows[i]["model"] != rows[i - 1]["model"]}
    return Sheet(title, heads, cells, words, notes, frozenset(breaks))


def _label(row: dict[str, Any], name: str, titles: dict[str, str]) -> str:
    value = row[name]
    if name == "task":
        return "all" if value is None else titles.get(value, value)
    return "" if value is None else printable(str(value))


def _between(row: dict[str, Any], low: str, high: str) -> str:
    return "-" if row[low] is None else f"{points(row[low])} to {points(row[high])}"


def heat_sheets(frame: "pl.DataFrame", metric: str) -> list[Sheet]:
    """Lay out a table of `scbench.analysis.manifolds.heat_table`: a map for each run and task.

    Args:
        frame: the table.
        metric: one of `METRICS`.
    """
    column = column_of(metric)
    sheets = []
    names = {task.id: task.title for task in all_tasks().values()}
    keys = ["model", "setting", "budget", "task"]
    for (model, setting, budget, task), part in frame.group_by(keys, maintain_order=True):
        found = {(row["value"], row["second_value"]): row for row in part.to_dicts()}
        down = list(dict.fromkeys(value for value, _ in found))
        first, second = part["parameter"][0], part["second_parameter"][0]
        across = _ordered(dict.fromkeys(other for _, other in found))
        rows = [
            [value, *(_cell(found.get((value, other)), column) for other in across)]
            for value in down
        ]
        run = " ".join(printable(str(p)) for p in (model, setting, budget) if p is not None)
        title = f"{names.get(str(task), task)}, {run}: {METRICS[metric]}"
        heads = [f"{first} \\ {second}", *across]
        note = "Below each figure: the number of its rows."
        sheets.append(Sheet(title, heads, rows, frozenset(heads[:1]), [note]))
    return sheets


def _ordered(values: dict[str, None]) -> list[str]:
    try:
        return sorted(values, key=float)
    except ValueError:
        return list(values)


def _cell(row: dict[str, Any] | None, column: str) -> str:
    if row is None:
        return ""
    value = row[column]
    if column == "mean_output_tokens":
        text = "-" if value is None else f"{value:,.0f}"
    else:
        text = points(value)
    return f"{text}\n{row['n']}"
