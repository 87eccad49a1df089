"""Charts, described in Vega-Lite and drawn without a browser or network.

``vl-convert`` (extra ``report``) turns a description into SVG, PNG or a page that holds its own
scripts.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scbench.analysis.failure_modes.labels import MEANINGS, Mode
from scbench.analysis.ladder import interval_words, level_words
from scbench.analysis.levels import BEYOND, FIRST
from scbench.analysis.sheets import line_name
from scbench.base.errors import ResultsError
from scbench.catalog import all_tasks
from scbench.report.draw.colours import COLOURS

if TYPE_CHECKING:
    import polars as pl

Spec = dict[str, Any]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_PLAIN: Spec = {
    "font": "sans-serif",
    "range": {"category": list(COLOURS)},
    "axis": {"gridOpacity": 0.3, "titleFontWeight": "normal"},
    "view": {"stroke": None},
}
_UPRIGHT: Spec = {
    "font": "sans-serif",
    "range": {"category": list(COLOURS)},
    "axis": {"titleFontWeight": "normal", "labelAngle": 0},
}
_SHARES = {"accuracy", "above", "truncated", "unparsed"}
_UNIT = {"domain": [0, 1]}
_LINE: Spec = {"type": "line", "point": {"size": 50, "filled": True}}
_RULE = {"type": "rule", "opacity": 0.5}
_SHAPES = {
    "task": "circle",
    "mean": "diamond",
    "below": "triangle-left",
    "above": "triangle-right",
}
_PALE, _FULL, _INK = "#ffffff", "#56B4E9", "#1d1f23"


def _chart(description: str, config: Spec, **parts: object) -> Spec:
    return {"$schema": _SCHEMA, "description": description, "config": config, **parts}


def _channel(field: str, kind: str = "quantitative", **parts: object) -> Spec:
    return {"field": field, "type": kind, **parts}


def budget_chart(points: "pl.DataFrame") -> Spec:
    """Return the chart of a budget sweep: accuracy, and below it the truncated share, over tokens.

    Args:
        points: as `scbench.analysis.usage.budget_sweep` gives them.
    """
    values = points.with_columns(run=_run_column()).to_dicts()
    last = {row["run"]: i for i, row in enumerate(values) if row["mean_output_tokens"]}
    for i, row in enumerate(values):
        row["label"] = row["run"] if last.get(row["run"]) == i else ""
    # A power of two for each step; values of 0 have no place on it.
    scale = {"type": "log", "base": 2, "nice": False, "padding": 24}
    ticks = {"format": ",d", "values": _powers_of_two(points["mean_output_tokens"])}
    x = _channel("mean_output_tokens", title="mean output tokens", scale=scale, axis=ticks)
    colour = _channel("run", "nominal", title=None, legend=None)
    formats = {"budget": "d", "accuracy": ".3f", "low": ".3f", "high": ".3f"}
    formats |= {"mean_output_tokens": ",.0f", "token_observations": "d"}
    formats |= dict.fromkeys(("truncated", "empty", "cap_hit"), ".1%")
    tips = [_channel("run", "nominal")]
    tips += [_channel(name, format=form) for name, form in formats.items()]
    label: Spec = {"type": "text", "align": "left", "dx": 6, "dy": 11, "fontSize": 10}
    run_label = {"type": "text", "align": "right", "dx": -8, "dy": -12}
    accuracy = _channel("accuracy", title="accuracy", scale=_UNIT)
    percent = {"format": "%", "tickCount": 3}
    share = _channel("truncated", title="truncated", axis=percent, scale=_UNIT)
    ends = {"y": _channel("low", title="accuracy"), "y2": {"field": "high"}}
    layers = [
        {"mark": _RULE, "encoding": ends},
        {"mark": _LINE, "encoding": {"y": accuracy, "tooltip": tips}},
        {"mark": label, "encoding": {"y": accuracy, "text": _channel("budget", format=",d")}},
        {"mark": run_label, "encoding": {"y": accuracy, "text": {"field": "label"}}},
    ]
    encoding = {"x": x, "y": share, "color": colour, "tooltip": tips}
    return _chart(
        "Accuracy against mean output tokens, a point for each budget.",
        _PLAIN,
        data={"values": values},
        vconcat=[
            {"width": 520, "height": 280, "encoding": {"x": x, "color": colour}, "layer": layers},
            {"width": 520, "height": 80, "mark": _LINE, "encoding": encoding},
        ],
    )


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
    values = widest.unique(runs, keep="first", maintain_order=True).with_columns(run=_run_column())
    values = values.filter(pl.col(field) > 0).sort(*runs)
    x = _channel(field, title=f"{title} per answer", scale={"type": "log", "padding": 30})
    y = _channel("mean", title="mean score", scale=_UNIT)
    text = {"type": "text", "align": "left", "dx": 7, "dy": -7}
    return _chart(
        f"Mean score against {title} per answer, a point for each run.",
        _PLAIN,
        data={"values": values.to_dicts()},
        width=520,
        height=320,
        encoding={"x": x, "y": y, "color": _channel("run", "nominal", legend=None)},
        layer=[
            {"mark": _RULE, "encoding": {"y": _channel("low"), "y2": {"field": "high"}}},
            {"mark": {"type": "point", "size": 60, "filled": True}},
            {"mark": text, "encoding": {"text": {"field": "run"}}},
        ],
    )


def item_chart(table: "pl.DataFrame") -> Spec:
    """Return means by subtask over all runs, a panel for each task, as in the paper's appendix.

    Args:
        table: as `scbench.analysis.items.item_table` gives it.
    """
    order = list(dict.fromkeys(table["task"].to_list()))
    x = _channel("subtask", "ordinal", title=None)
    y = _channel("mean", title="mean", scale=_UNIT)
    return _chart(
        "Mean score by subtask over all runs, a panel for each task.",
        _PLAIN,
        data={"values": table.to_dicts()},
        facet=_channel("task", "nominal", title=None, sort=order),
        columns=3,
        resolve={"scale": {"x": "independent"}},
        spec={"width": 240, "height": 90, "mark": "bar", "encoding": {"x": x, "y": y}},
    )


def failure_chart(table: "pl.DataFrame") -> Spec:
    """Return shares of failure modes among what was judged, a bar for each run (paper, Figure 3).

    Args:
        table: as `scbench.analysis.failure_modes.shares.label_shares` gives it, by run.
    """
    import polars as pl  # noqa: PLC0415  (as below)

    titles = {mode.value: MEANINGS[mode].short for mode in Mode}
    judged = pl.format("{} ({} judged)", _run_column(), "judged")
    values = table.with_columns(
        run=judged, mode=pl.col("failure_mode").replace_strict(titles, return_dtype=pl.String)
    )
    order = [titles[mode] for mode in Mode]
    # A mode has the same colour in every chart, and is named where it occurs.
    colours = dict(zip(order, COLOURS, strict=False))
    occurring = set(values.filter(pl.col("count") > 0)["mode"])
    in_use = {mode: colour for mode, colour in colours.items() if mode in occurring}
    rank: Spec = {"calculate": f"indexof({order}, datum.mode)", "as": "rank"}
    percent = {"format": "%"}
    x = _channel("share", title="share of the judged", axis=percent, scale=_UNIT, stack="zero")
    y = _channel("run", "nominal", title=None, sort=None, axis={"labelLimit": 360})
    scale = {"domain": list(in_use), "range": list(in_use.values())}
    colour = _channel("mode", "nominal", title=None, sort=order, scale=scale)
    # White can be read on the first colour alone, ink on all others.
    pale: Spec = {"test": "datum.rank === 0", "value": "white"}
    figures = {"x": {**x, "bandPosition": 0.5}, "detail": colour, "text": _channel("count")}
    figures |= {"color": {"condition": pale, "value": "black"}}
    return _chart(
        "Shares of failure modes among the judged answers, a bar for each run.",
        _PLAIN,
        # Readers' fonts may be wider than the one that the chart was measured with.
        padding={"left": 60, "right": 60, "top": 5, "bottom": 5},
        data={"values": values.to_dicts()},
        transform=[rank, {"filter": "datum.count > 0"}],
        width=440,
        height={"step": 30},
        encoding={"y": y, "order": _channel("rank")},
        layer=[
            {"mark": "bar", "encoding": {"x": x, "color": colour}},
            {"mark": {"type": "text", "fontSize": 10}, "encoding": figures},
        ],
    )


def _run_column() -> "pl.Expr":
    import polars as pl  # noqa: PLC0415  (descriptions are made where polars is loaded already)

    return pl.concat_str([pl.col("model"), pl.col("setting")], separator=" ", ignore_nulls=True)


def heat_chart(table: "pl.DataFrame", column: str, title: str) -> Spec:
    """Return a heat map over manifolds for each run and task.

    Args:
        table: as `scbench.analysis.manifolds.heat_table` gives it.
        column: of the table, to be shown by colour and figure.
        title: of that column.
    """
    share = column in _SHARES
    panels: dict[str, list[Spec]] = {}
    for row in table.to_dicts():
        panel = f"{row['task']} {_run_name(row)}"
        panels.setdefault(panel, []).append(row | {"panel": panel})
    form = ".0%" if share else ",.0f"
    top = 1.0 if share else max((row[column] or 0.0 for row in table.to_dicts()), default=0.0)
    figure = _channel(column, title=title, format=form)
    scale = {"scheme": "viridis", "domain": [0, top]}
    fill = _channel(column, title=title, scale=scale, legend={"format": form})
    tips = [figure, _channel("n", title="rows")]
    # Viridis is dark at its low end.
    pale = {"test": f"datum.{column} < {top / 2}", "value": "white"}
    ink = {"condition": pale, "value": "black"}
    layers: list[Spec] = [
        {"mark": "rect", "encoding": {"color": fill, "tooltip": tips}},
        {"mark": {"type": "text", "fontSize": 11}, "encoding": {"text": figure, "color": ink}},
    ]
    return _chart(
        f"{title} by two parameters.",
        _UPRIGHT,
        columns=3,
        concat=[
            {
                "title": panel,
                "data": {"values": rows},
                "width": {"step": 44},
                "height": {"step": 28},
                "encoding": {
                    "x": _value_axis(rows, "second_value", rows[0]["second_parameter"]),
                    "y": _value_axis(rows, "value", rows[0]["parameter"]),
                },
                "layer": layers,
            }
            for panel, rows in panels.items()
        ],
    )


def _run_name(row: Mapping[str, Any]) -> str:
    parts = (row["model"], row["setting"], row["budget"])
    return " ".join(str(part) for part in parts if part is not None)


def _value_axis(rows: list[Spec], field: str, title: str) -> Spec:
    """Return an axis of values once each: numbers by size, words as they come."""
    values = list(dict.fromkeys(row[field] for row in rows))
    with suppress(ValueError):
        values.sort(key=float)
    return _channel(field, "ordinal", title=title, sort=values)


def parameter_chart(table: "pl.DataFrame", title: str) -> Spec:
    """Return accuracy along one parameter of manifolds, above the floor, a line for each run.

    Args:
        table: as `scbench.analysis.manifolds.manifold_table` gives it for one parameter.
        title: of the parameter.
    """
    values = [row | {"panel": _run_name(row)} for row in table.to_dicts()]
    encoding = {
        "x": _value_axis(values, "value", title),
        "color": _channel("panel", "nominal", title=None),
    }
    above = "accuracy above the floor"
    ends = {"y": _channel("above_low", title=above), "y2": {"field": "above_high"}}
    layers = [
        {"mark": _RULE, "encoding": ends},
        {"mark": _LINE, "encoding": {"y": _channel("above", title=above)}},
    ]
    return _chart(
        f"Accuracy above the floor along {title}.",
        _UPRIGHT,
        data={"values": values},
        facet=_channel("task", "nominal", title=None),
        columns=3,
        resolve={"scale": {"x": "independent"}},
        spec={"width": 260, "height": 200, "encoding": encoding, "layer": layers},
    )


def ladder_chart(table: "pl.DataFrame", rungs: "pl.DataFrame") -> Spec:
    """Return the chart of levels, a panel for each run: intervals over the means of each rung.

    Args:
        table: as `scbench.analysis.ladder.ladder_table` gives it.
        rungs: of the same results, see `scbench.analysis.ladder.rung_table`.
    """
    titles = {task.id: task.title for task in all_tasks().values()}
    runs: dict[str, list[Spec]] = {}
    for row in table.to_dicts():
        runs.setdefault(_run_name(row), []).append(row)
    means: dict[tuple[str, str], list[Spec]] = {}
    for row in rungs.to_dicts():
        means.setdefault((_run_name(row), row["task"]), []).append(row)
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
        levels = [_level_mark(row) | {"line": name} for name, row in zip(names, rows, strict=True)]
        panels.append(_ladder_panel(run, names, cells, levels, max(row["rungs"] for row in rows)))
    description = "The rung at which each run scores half, by task, with its interval."
    return _chart(description, _UPRIGHT, columns=2, concat=panels)


def _level_mark(row: Mapping[str, Any]) -> Spec:
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


def _ladder_panel(
    run: str, names: list[str], cells: list[Spec], levels: list[Spec], top: int
) -> Spec:
    lines = {"labelLimit": 300, "ticks": False, "domain": False, "labelPadding": 9}
    y = _channel("line", "nominal", sort=names, title=None, axis=lines)
    scale = {"domain": [FIRST - BEYOND, top + BEYOND], "nice": False}
    axis = {"values": list(range(1, top + 1)), "format": "d", "grid": False, "tickCount": top}

    def along(field: str) -> Spec:
        return {"y": y, "x": _channel(field, title="rung", scale=scale, axis=axis)}

    above = {"domain": [0, 1], "range": [_PALE, _FULL], "interpolate": "rgb"}
    below = {"orient": "bottom", "format": ".0%", "gradientLength": 160}
    shade = _channel("above", title="mean above the floor", scale=above, legend=below)
    shapes = {"domain": list(_SHAPES), "range": list(_SHAPES.values())}
    kind = _channel("kind", "nominal", legend=None, scale=shapes)
    level_tip = _channel("said", "nominal", title="level")
    point = {"type": "point", "filled": True, "size": 70, "opacity": 1, "color": _INK}
    return {
        "title": run,
        "width": 44 * top,
        "height": {"step": 18},
        "layer": [
            {
                "data": {"values": cells},
                "mark": {"type": "rect", "stroke": "#d5d8dc", "strokeWidth": 0.5},
                "encoding": along("left") | {"x2": {"field": "right"}, "color": shade},
            },
            {
                "data": {"values": levels},
                "mark": {"type": "rule", "strokeWidth": 2, "color": _INK},
                "encoding": along("low") | {"x2": {"field": "high"}},
            },
            {
                "data": {"values": levels},
                "mark": point,
                "encoding": along("level") | {"shape": kind, "tooltip": [level_tip]},
            },
        ],
    }


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
