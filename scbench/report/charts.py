"""Charts, described in Vega-Lite and drawn without a browser or network.

``vl-convert`` (extra ``report``) turns a description into SVG, PNG or a page that holds its own
scripts.
"""

from typing import TYPE_CHECKING, Any

from scbench.errors import ResultsError
from scbench.report.draw.colours import COLOURS

if TYPE_CHECKING:
    import polars as pl

Spec = dict[str, Any]

_CONFIG: Spec = {
    "font": "sans-serif",
    "range": {"category": list(COLOURS)},
    "axis": {"gridOpacity": 0.3, "titleFontWeight": "normal"},
    "view": {"stroke": None},
}


def budget_chart(points: "pl.DataFrame") -> Spec:
    """Return the chart of a budget sweep: accuracy, and below it the truncated share, over tokens.

    Args:
        points: as `scbench.analysis.budget.budget_sweep` gives them.
    """
    values = points.with_columns(run=_run()).to_dicts()
    x: Spec = {"field": "mean_output_tokens", "type": "quantitative", "title": "mean output tokens"}
    colour: Spec = {"field": "run", "type": "nominal", "title": None}
    tooltip: list[Spec] = [
        {"field": "run", "type": "nominal"},
        *(
            {"field": name, "type": "quantitative", "format": form}
            for name, form in (
                ("budget", "d"),
                ("accuracy", ".3f"),
                ("low", ".3f"),
                ("high", ".3f"),
                ("mean_output_tokens", ",.0f"),
                ("token_observations", "d"),
                ("truncated", ".1%"),
                ("empty", ".1%"),
                ("cap_hit", ".1%"),
            )
        ),
    ]
    line: Spec = {"type": "line", "point": {"size": 50, "filled": True}}
    label: Spec = {"type": "text", "align": "left", "dx": 7, "dy": -7, "fontSize": 10}
    accuracy: Spec = {
        "field": "accuracy",
        "type": "quantitative",
        "title": "accuracy",
        "scale": {"domain": [0, 1]},
    }
    share: Spec = {"field": "truncated", "type": "quantitative", "title": "truncated"}
    share |= {"axis": {"format": "%", "tickCount": 3}, "scale": {"domain": [0, 1]}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": "Accuracy against mean output tokens, a point for each budget.",
        "config": _CONFIG,
        "data": {"values": values},
        "vconcat": [
            {
                "width": 520,
                "height": 280,
                "encoding": {"x": x, "color": colour},
                "layer": [
                    {
                        "mark": {"type": "rule", "opacity": 0.5},
                        "encoding": {
                            "y": {"field": "low", "type": "quantitative", "title": "accuracy"},
                            "y2": {"field": "high"},
                        },
                    },
                    {"mark": line, "encoding": {"y": accuracy, "tooltip": tooltip}},
                    {
                        "mark": label,
                        "encoding": {
                            "y": accuracy,
                            "text": {"field": "budget", "type": "quantitative", "format": ",d"},
                        },
                    },
                ],
            },
            {
                "width": 520,
                "height": 80,
                "mark": line,
                "encoding": {"x": x, "y": share, "color": colour, "tooltip": tooltip},
            },
        ],
    }


def _run() -> "pl.Expr":
    import polars as pl  # noqa: PLC0415  (descriptions are made where polars is loaded already)

    return pl.concat_str([pl.col("model"), pl.col("setting")], separator=" ", ignore_nulls=True)


def draw(spec: Spec, form: str) -> bytes:
    """Draw a chart.

    Args:
        spec: its Vega-Lite description.
        form: ``svg``, ``png``, or ``html`` for a page that works without a network.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
        ResultsError: there is no such form.
    """
    import vl_convert  # noqa: PLC0415  (an extra, and large)

    if form == "svg":
        return str(vl_convert.vegalite_to_svg(spec)).encode()
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=2))
    if form == "html":
        page = str(vl_convert.vegalite_to_html(_disarmed(spec), bundle=True))
        return page.replace(_LESS, "\\u003c").encode()
    raise ResultsError(f"charts are written as .svg, .png or .html, not as {form!r}")


_LESS = "scbench-less-than-sign"


def _disarmed(node: Any) -> Any:  # noqa: ANN401
    """Return a description without "<" in its texts: a model's name must not end the script."""
    if isinstance(node, dict):
        return {key: _disarmed(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_disarmed(item) for item in node]
    return node.replace("<", _LESS) if isinstance(node, str) else node
