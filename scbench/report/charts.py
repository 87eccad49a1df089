"""Charts, described in Vega-Lite and drawn without a browser or network.

``vl-convert`` (extra ``report``) turns a description into SVG, PNG or a page that holds its own
scripts.
"""

from typing import TYPE_CHECKING, Any

from scbench.analysis.failure_modes.labels import MEANINGS, Mode
from scbench.base.errors import ResultsError
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
    last = {row["run"]: i for i, row in enumerate(values) if row["mean_output_tokens"]}
    for i, row in enumerate(values):
        row["label"] = row["run"] if last.get(row["run"]) == i else ""
    x: Spec = {"field": "mean_output_tokens", "type": "quantitative", "title": "mean output tokens"}
    # A power of two for each step; values of 0 have no place on it.
    x |= {"scale": {"type": "log", "base": 2, "nice": False, "padding": 24}}
    x |= {"axis": {"format": ",d", "values": _powers_of_two(points["mean_output_tokens"])}}
    colour: Spec = {"field": "run", "type": "nominal", "title": None, "legend": None}
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
    label: Spec = {"type": "text", "align": "left", "dx": 6, "dy": 11, "fontSize": 10}
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
                    {
                        "mark": {"type": "text", "align": "right", "dx": -8, "dy": -12},
                        "encoding": {"y": accuracy, "text": {"field": "label"}},
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


def _powers_of_two(tokens: "pl.Series") -> list[int]:
    """Return the powers of two from just below the least to just above the most."""
    positive = [value for value in tokens.drop_nulls().to_list() if value > 0]
    if not positive:
        return []
    first, last = int(min(positive)).bit_length() - 1, int(max(positive)).bit_length()
    return [2**i for i in range(max(first, 0), last + 1)]


def cost_chart(table: "pl.DataFrame") -> Spec:
    """Return score against cost (output tokens where no cost is given), a point for each run.

    Args:
        table: as `scbench.analysis.usage.cost_table` gives it; of each run the widest line counts.
    """
    import polars as pl  # noqa: PLC0415  (as below)

    priced = table["cost_reported"].sum() > 0
    field, title = ("cost", "US dollars") if priced else ("output_tokens", "output tokens")
    widest = table.filter(pl.col("task").is_null()).sort("answers", descending=True)
    runs = ["model", "setting", "budget"]
    values = widest.unique(runs, keep="first", maintain_order=True).with_columns(run=_run())
    values = values.filter(pl.col(field) > 0).sort(*runs)
    x: Spec = {"field": field, "type": "quantitative", "title": f"{title} per answer"}
    x |= {"scale": {"type": "log", "padding": 30}}
    y: Spec = {"field": "mean", "type": "quantitative", "title": "mean score"}
    y |= {"scale": {"domain": [0, 1]}}
    colour: Spec = {"field": "run", "type": "nominal", "legend": None}
    ends: Spec = {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": f"Mean score against {title} per answer, a point for each run.",
        "config": _CONFIG,
        "data": {"values": values.to_dicts()},
        "width": 520,
        "height": 320,
        "encoding": {"x": x, "y": y, "color": colour},
        "layer": [
            {"mark": {"type": "rule", "opacity": 0.5}, "encoding": ends},
            {"mark": {"type": "point", "size": 60, "filled": True}},
            {
                "mark": {"type": "text", "align": "left", "dx": 7, "dy": -7},
                "encoding": {"text": {"field": "run"}},
            },
        ],
    }


def item_chart(table: "pl.DataFrame") -> Spec:
    """Return means by subtask over all runs, a panel for each task, as in the paper's appendix.

    Args:
        table: as `scbench.analysis.items.item_table` gives it.
    """
    y: Spec = {"field": "mean", "type": "quantitative", "title": "mean"}
    y |= {"scale": {"domain": [0, 1]}}
    order = list(dict.fromkeys(table["task"].to_list()))
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": "Mean score by subtask over all runs, a panel for each task.",
        "config": _CONFIG,
        "data": {"values": table.to_dicts()},
        "facet": {"field": "task", "type": "nominal", "title": None, "sort": order},
        "columns": 3,
        "resolve": {"scale": {"x": "independent"}},
        "spec": {
            "width": 240,
            "height": 90,
            "mark": "bar",
            "encoding": {"x": {"field": "subtask", "type": "ordinal", "title": None}, "y": y},
        },
    }


def failure_chart(table: "pl.DataFrame") -> Spec:
    """Return shares of failure modes among what was judged, a bar for each run (paper, Figure 3).

    Args:
        table: as `scbench.analysis.failure_modes.shares.label_shares` gives it, by run.
    """
    import polars as pl  # noqa: PLC0415  (as below)

    titles = {mode.value: MEANINGS[mode].short for mode in Mode}
    judged = pl.format("{} ({} judged)", _run(), "judged")
    values = table.with_columns(
        run=judged, mode=pl.col("failure_mode").replace_strict(titles, return_dtype=pl.String)
    )
    order = [titles[mode] for mode in Mode]
    # A mode has the same colour in every chart, and is named where it occurs.
    colours = dict(zip(order, COLOURS, strict=False))
    occurring = set(values.filter(pl.col("count") > 0)["mode"])
    in_use = {mode: colour for mode, colour in colours.items() if mode in occurring}
    rank: Spec = {"calculate": f"indexof({order}, datum.mode)", "as": "rank"}
    x: Spec = {"field": "share", "type": "quantitative", "title": "share of the judged"}
    x |= {"axis": {"format": "%"}, "scale": {"domain": [0, 1]}, "stack": "zero"}
    y: Spec = {"field": "run", "type": "nominal", "title": None, "sort": None}
    y |= {"axis": {"labelLimit": 360}}
    colour: Spec = {"field": "mode", "type": "nominal", "title": None, "sort": order}
    colour |= {"scale": {"domain": list(in_use), "range": list(in_use.values())}}
    # White can be read on the first colour alone, ink on all others.
    pale: Spec = {"test": "datum.rank === 0", "value": "white"}
    count: Spec = {"field": "count", "type": "quantitative"}
    middle: Spec = {**x, "bandPosition": 0.5}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": "Shares of failure modes among the judged answers, a bar for each run.",
        "config": _CONFIG,
        # Readers' fonts may be wider than the one that the chart was measured with.
        "padding": {"left": 60, "right": 60, "top": 5, "bottom": 5},
        "data": {"values": values.to_dicts()},
        "transform": [rank, {"filter": "datum.count > 0"}],
        "width": 440,
        "height": {"step": 30},
        "encoding": {"y": y, "order": {"field": "rank", "type": "quantitative"}},
        "layer": [
            {"mark": "bar", "encoding": {"x": x, "color": colour}},
            {
                "mark": {"type": "text", "fontSize": 10},
                "encoding": {"x": middle, "detail": colour, "text": count}
                | {"color": {"condition": pale, "value": "black"}},
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
