"""Charts over manifolds: a heat map of two parameters, or a line along one (see `charts`)."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scbench.report.draw.colours import COLOURS

if TYPE_CHECKING:
    import polars as pl

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
CONFIG: Spec = {
    "font": "sans-serif",
    "range": {"category": list(COLOURS)},
    "axis": {"titleFontWeight": "normal", "labelAngle": 0},
}
_COUNT: Spec = {"field": "n", "type": "quantitative", "title": "rows"}
_SHARES = {"accuracy", "above", "truncated", "unparsed"}


def heat_chart(table: "pl.DataFrame", column: str, title: str) -> Spec:
    """Return a heat map for each run and task.

    Args:
        table: as `scbench.analysis.manifolds.heat_table` gives it.
        column: of the table, to be shown by colour and figure.
        title: of that column.
    """
    share = column in _SHARES
    panels: dict[str, list[Spec]] = {}
    for row in _panel_rows(table):
        panels.setdefault(row["panel"], []).append(row)
    form = ".0%" if share else ",.0f"
    top = 1.0 if share else max((row[column] or 0.0 for row in table.to_dicts()), default=0.0)
    figure: Spec = {"field": column, "type": "quantitative", "title": title, "format": form}
    fill: Spec = {"field": column, "type": "quantitative", "title": title}
    fill |= {"scale": {"scheme": "viridis", "domain": [0, top]}, "legend": {"format": form}}
    # Viridis is dark at its low end.
    pale = {"test": f"datum.{column} < {top / 2}", "value": "white"}
    layers: list[Spec] = [
        {"mark": "rect", "encoding": {"color": fill, "tooltip": [figure, _COUNT]}},
        {
            "mark": {"type": "text", "fontSize": 11},
            "encoding": {"text": figure, "color": {"condition": pale, "value": "black"}},
        },
    ]
    return {
        "$schema": SCHEMA,
        "description": f"{title} by two parameters.",
        "config": CONFIG,
        "columns": 3,
        "concat": [
            {
                "title": panel,
                "data": {"values": rows},
                "width": {"step": 44},
                "height": {"step": 28},
                "encoding": {
                    "x": _axis(rows, "second_value", rows[0]["second_parameter"]),
                    "y": _axis(rows, "value", rows[0]["parameter"]),
                },
                "layer": layers,
            }
            for panel, rows in panels.items()
        ],
    }


def _axis(rows: list[Spec], field: str, title: str) -> Spec:
    """Return an axis of values once each: numbers by size, words as they come."""
    values = list(dict.fromkeys(row[field] for row in rows))
    with suppress(ValueError):
        values.sort(key=float)
    return {"field": field, "type": "ordinal", "title": title, "sort": values}


def parameter_chart(table: "pl.DataFrame", title: str) -> Spec:
    """Return accuracy along one parameter, above the floor, a line for each run.

    Args:
        table: as `scbench.analysis.manifolds.manifold_table` gives it for one parameter.
        title: of the parameter.
    """
    values = _panel_rows(table, with_task=False)
    x = _axis(values, "value", title)
    y: Spec = {"field": "above", "type": "quantitative"}
    y |= {"title": "accuracy above the floor"}
    colour: Spec = {"field": "panel", "type": "nominal", "title": None}
    ends: Spec = {"y": {"field": "above_low", "type": "quantitative", "title": y["title"]}}
    ends |= {"y2": {"field": "above_high"}}
    return {
        "$schema": SCHEMA,
        "description": f"Accuracy above the floor along {title}.",
        "config": CONFIG,
        "data": {"values": values},
        "facet": {"field": "task", "type": "nominal", "title": None},
        "columns": 3,
        "resolve": {"scale": {"x": "independent"}},
        "spec": {
            "width": 260,
            "height": 200,
            "encoding": {"x": x, "color": colour},
            "layer": [
                {"mark": {"type": "rule", "opacity": 0.5}, "encoding": ends},
                {
                    "mark": {"type": "line", "point": {"size": 50, "filled": True}},
                    "encoding": {"y": y},
                },
            ],
        },
    }


def _panel_rows(table: "pl.DataFrame", *, with_task: bool = True) -> list[Spec]:
    """Return the rows, each with the name of its panel."""
    rows = table.to_dicts()
    for row in rows:
        run = [row[name] for name in ("model", "setting", "budget") if row[name] is not None]
        row["panel"] = " ".join(map(str, [*([row["task"]] if with_task else []), *run]))
    return rows
