"""The chart of a ladder: every task at a glance, a panel for each run (see `charts`)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scbench.analysis.ladder_sheets import interval_words, level_words
from scbench.analysis.levels import BEYOND, FIRST
from scbench.analysis.sheets import line_name
from scbench.catalog import all_tasks
from scbench.report.heat import CONFIG, SCHEMA, Spec

if TYPE_CHECKING:
    import polars as pl

_SHAPES = {
    "task": "circle",
    "mean": "diamond",
    "below": "triangle-left",
    "above": "triangle-right",
}
_PALE, _FULL, _INK = "#ffffff", "#56B4E9", "#1d1f23"


def ladder_chart(table: "pl.DataFrame", rungs: "pl.DataFrame") -> Spec:
    """Return the chart of levels: intervals over the means of each rung.

    Args:
        table: as `scbench.analysis.ladder.ladder_table` gives it.
        rungs: of the same results, see `scbench.analysis.ladder.rung_table`.
    """
    titles = {task.id: task.title for task in all_tasks().values()}
    runs: dict[str, list[dict[str, Any]]] = {}
    for row in table.to_dicts():
        runs.setdefault(_run(row), []).append(row)
    means: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rungs.to_dicts():
        means.setdefault((_run(row), row["task"]), []).append(row)
    panels = []
    for run, rows in runs.items():
        names = [line_name(r["bucket"], r["task"], r["over"], titles, every=True) for r in rows]
        cells = [
            {"line": name, "rung": cell["rung"], "above": cell["above"]}
            | {"left": cell["rung"] - BEYOND, "right": cell["rung"] + BEYOND}
            for name, row in zip(names, rows, strict=True)
            for cell in means.get((run, row["task"]), ())
            if cell["above"] is not None
        ]
        levels = [_mark(row) | {"line": name} for name, row in zip(names, rows, strict=True)]
        panels.append(_panel(run, names, cells, levels, max(row["rungs"] for row in rows)))
    return {
        "$schema": SCHEMA,
        "description": "The rung at which each run scores half, by task, with its interval.",
        "config": CONFIG,
        "columns": 2,
        "concat": panels,
    }


def _run(row: Mapping[str, Any]) -> str:
    parts = (row["model"], row["setting"], row["budget"])
    return " ".join(str(part) for part in parts if part is not None)


def _mark(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a level and its interval are drawn: at an end, if they lie beyond it."""
    first, last = FIRST - BEYOND, row["rungs"] + BEYOND
    place = {None: row["level"], f"below {FIRST:g}": first}.get(row["beyond"], last)
    has_level = place is not None
    low, high = (end if has_level else None for end in (row["low"] or first, row["high"] or last))
    return {
        "level": place,
        "low": None if low is None else min(max(low, first), last),
        "high": None if high is None else min(max(high, first), last),
        "kind": (row["beyond"] or "").partition(" ")[0] or ("task" if row["task"] else "mean"),
        "said": f"{level_words(dict(row))} ({interval_words(dict(row))})"
        if has_level
        else "no score",
    }


def _panel(
    run: str,
    names: list[str],
    cells: list[dict[str, Any]],
    levels: list[dict[str, Any]],
    top: int,
) -> Spec:
    first, last = FIRST - BEYOND, top + BEYOND
    y: Spec = {"field": "line", "type": "nominal", "sort": names, "title": None}
    y |= {"axis": {"labelLimit": 300, "ticks": False, "domain": False, "labelPadding": 9}}
    scale = {"domain": [first, last], "nice": False}
    axis = {"values": list(range(1, top + 1)), "format": "d", "grid": False, "tickCount": top}

    def x(field: str) -> Spec:
        channel: Spec = {"field": field, "type": "quantitative", "title": "rung"}
        return channel | {"scale": scale, "axis": axis}

    shade: Spec = {"field": "above", "type": "quantitative", "title": "mean above the floor"}
    shade |= {"scale": {"domain": [0, 1], "range": [_PALE, _FULL], "interpolate": "rgb"}}
    shade |= {"legend": {"orient": "bottom", "format": ".0%", "gradientLength": 160}}
    kind: Spec = {"field": "kind", "type": "nominal", "legend": None}
    kind |= {"scale": {"domain": list(_SHAPES), "range": list(_SHAPES.values())}}
    level_tip: Spec = {"field": "said", "type": "nominal", "title": "level"}
    return {
        "title": run,
        "width": 44 * top,
        "height": {"step": 18},
        "layer": [
            {
                "data": {"values": cells},
                "mark": {"type": "rect", "stroke": "#d5d8dc", "strokeWidth": 0.5},
                "encoding": {"y": y, "x": x("left"), "x2": {"field": "right"}, "color": shade},
            },
            {
                "data": {"values": levels},
                "mark": {"type": "rule", "strokeWidth": 2, "color": _INK},
                "encoding": {"y": y, "x": x("low"), "x2": {"field": "high"}},
            },
            {
                "data": {"values": levels},
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "color": _INK},
                "encoding": {"y": y, "x": x("level"), "shape": kind, "tooltip": [level_tip]},
            },
        ],
    }
