"""Charts, described in Vega-Lite and drawn without a browser or network.

``vl-convert`` (extra ``report``) turns a description into SVG, PNG or a page that holds its own
scripts. What does not depend on results stands in ``assets/charts.json``.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

import polars as pl

from scbench.analysis.curves import FIRST
from scbench.analysis.failure_modes.modes import MEANINGS, Mode
from scbench.analysis.ladder_sheets import interval_words, level_words
from scbench.analysis.levels import BEYOND
from scbench.analysis.sheets import line_name
from scbench.base.errors import ResultsError
from scbench.catalog import all_tasks
from scbench.report.draw.colours import COLOURS, ROLES

Spec = dict[str, Any]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
# Roles of colours that differ on a dark page.
_SWITCHED = ("ink", "quiet", "faint")
_INK, _QUIET, _FAINT = (ROLES[role][0] for role in _SWITCHED)
_AXIS = {
    "titleFontWeight": "normal",
    "gridColor": _FAINT,
    "gridOpacity": 0.4,
    "domainColor": _QUIET,
    "tickColor": _QUIET,
}
_LOOK: Spec = {
    "font": "sans-serif",
    "background": "transparent",
    # Fonts differ from one reader to the next, and some are wider.
    "padding": {"left": 24, "right": 12, "top": 6, "bottom": 6},
    "range": {"category": list(COLOURS[:-1])},
    "style": {
        key: {"fill": _INK} for key in ("guide-label", "guide-title", "group-title")
    },
    "text": {"color": _INK},
    "view": {"stroke": None},
}
_CONFIGS: Spec = {
    "plain": {**_LOOK, "axis": _AXIS},
    "upright": {**_LOOK, "axis": {**_AXIS, "labelAngle": 0}},
}
_SHARES = {"accuracy", "above", "truncated", "unparsed"}


_LESS = "scbench-less-than-sign"
_DARK = {ROLES[role][0]: ROLES[role][1] for role in _SWITCHED}
# Rules by which a chart follows the reader.
_FOLLOWS = (
    "@media (prefers-color-scheme:dark){"
    + "".join(
        f'.marks [{kind}="{light}"]{{{kind}:{dark}}}'
        for light, dark in _DARK.items()
        for kind in ("fill", "stroke")
    )
    + "}"
)


@cache
def _chart_templates() -> Mapping[str, Spec]:
    text = files("scbench.report").joinpath("assets", "charts.json").read_text("utf-8")
    templates: dict[str, Spec] = json.loads(text)
    return templates


def _filled_spec(name: str, **values: object) -> Spec:
    """Return a template with values for its "$NAME"s; what is shared may hold such, too."""
    names = {**_CONFIGS, **_chart_templates()["shared"]}

    def filled(node: Any) -> Any:  # noqa: ANN401
        if isinstance(node, dict):
            return {key: filled(value) for key, value in node.items()}
        if isinstance(node, list):
            return [filled(item) for item in node]
        if not isinstance(node, str) or not node.startswith("$"):
            return node
        return values[node[1:]] if node[1:] in values else filled(names[node[1:]])

    spec: Spec = filled(_chart_templates()[name])
    return spec


def _chart(name: str, **values: object) -> Spec:
    return {"$schema": _SCHEMA, **_filled_spec(name, **values)}


def _in_points(rows: list[Spec], *names: str) -> list[Spec]:
    """Return rows with shares as points of a hundred, as tables have them."""
    return [
        row | {name: 100 * row[name] for name in names if row[name] is not None}
        for row in rows
    ]


def score_chart(table: pl.DataFrame) -> Spec:
    """Return normalized scores by line of a `scbench.analysis.paper.paper_table`."""
    columns = ("normalized", "normalized_low", "normalized_high")
    return _dots(table, columns, _run_name, "normalized score", [0, 100])


def difference_chart(table: pl.DataFrame) -> Spec:
    """Return differences by line of a `scbench.analysis.compare.compare_runs`."""
    columns = ("difference", "low", "high")
    title = "difference of normalized scores"
    return _dots(
        table, columns, lambda row: f"{row['second']} minus {row['first']}", title
    )


def sample_chart(table: pl.DataFrame) -> Spec:
    """Return pass@k by line of a `scbench.analysis.samples.pass_at_k`."""
    columns = ("pass_at_k", "pass_low", "pass_high")
    words: _Words = lambda row: f"{_run_name(row)} pass@{row['k']}"  # noqa: E731
    return _dots(table, columns, words, "share of items passed", [0, 100])


def turn_chart(table: pl.DataFrame) -> Spec:
    """Return the mean score after each turn of a loop, a line for each run and bucket.

    The table is of `scbench.analysis.turns.turn_table`.
    """
    values = [
        row | {"run": f"{_run_name(row)}, {name}"}
        for name, row in _named_lines(table, sums=True)
    ]
    return _chart("turns", values=_in_points(values, "mean", "low", "high"))


def _named_lines(table: pl.DataFrame, *, sums: bool = False) -> list[tuple[str, Spec]]:
    """Return the rows of a table with what their lines are called; sums alone, if there are any."""
    titles = {task.id: task.title for task in all_tasks().values()}
    rows = table.to_dicts()
    if sums and any(row["task"] is None for row in rows):
        rows = [row for row in rows if row["task"] is None]
    every = any(row["task"] for row in rows)
    return [
        (line_name(row["bucket"], row["task"], row["over"], titles, every=every), row)
        for row in rows
    ]


_Words = Callable[[Mapping[str, Any]], str]


def _dots(
    table: pl.DataFrame,
    columns: Sequence[str],
    words: _Words,
    title: str,
    domain: list[int] | None = None,
) -> Spec:
    """Return values with their intervals, some series on a line; as wide as a paper's column."""
    marks = [
        {"line": name, "series": words(row)}
        | dict(zip(("value", "low", "high"), map(row.get, columns), strict=True))
        for name, row in _named_lines(table)
        if row[columns[0]] is not None
    ]
    series = list(dict.fromkeys(row["series"] for row in marks))
    return _chart(
        "dots",
        description=f"{title.capitalize()} with 95 % intervals.",
        values=_in_points(marks, "value", "low", "high"),
        title=title,
        lines=list(dict.fromkeys(row["line"] for row in marks)),
        series=series,
        step=18 if len(series) < 2 else 11,
        legend=None
        if len(series) < 2
        else {"orient": "bottom", "columns": 1, "labelLimit": 320},
        scale={"domain": domain} if domain else {"zero": True},
    )


def budget_chart(points: pl.DataFrame) -> Spec:
    """Return the chart of a budget sweep: accuracy, and below it the truncated share, over tokens.

    The points are of `scbench.analysis.usage.budget_sweep`.
    """
    values = points.with_columns(run=_run_column()).to_dicts()
    values = _in_points(values, "accuracy", "low", "high")
    last = {row["run"]: i for i, row in enumerate(values) if row["mean_output_tokens"]}
    for i, row in enumerate(values):
        row["label"] = row["run"] if last.get(row["run"]) == i else ""
    # A power of two for each step; values of 0 have no place on it.
    return _chart(
        "budget", values=values, ticks=_powers_of_two(points["mean_output_tokens"])
    )


def _powers_of_two(tokens: pl.Series) -> list[int]:
    """Return the powers of two from just below the least to just above the most."""
    positive = [value for value in tokens.drop_nulls().to_list() if value > 0]
    if not positive:
        return []
    first, last = int(min(positive)).bit_length() - 1, int(max(positive)).bit_length()
    return [2**i for i in range(max(first, 0), last + 1)]


def cost_chart(table: pl.DataFrame) -> Spec:
    """Return score against cost (output tokens where no cost is given), a point for each run.

    Of each run in a `scbench.analysis.usage.cost_table` the widest line counts.
    """
    priced = table["cost_reported"].sum() > 0
    field, title = (
        ("cost", "US dollars") if priced else ("output_tokens", "output tokens")
    )
    widest = table.filter(pl.col("task").is_null()).sort("answers", descending=True)
    runs = ["model", "setting", "budget"]
    values = widest.unique(runs, keep="first", maintain_order=True).with_columns(
        run=_run_column()
    )
    values = values.filter(pl.col(field) > 0).sort(*runs)
    description = f"Mean score against {title} per answer, a point for each run."
    title = f"{title} per answer"
    return _chart(
        "cost",
        description=description,
        values=_in_points(values.to_dicts(), "mean", "low", "high"),
        field=field,
        title=title,
    )


def item_chart(table: pl.DataFrame) -> Spec:
    """Return means by subtask over all runs, a panel for each task, as in the paper's appendix.

    The table is `scbench.analysis.items.item_table`.
    """
    values = _in_points(table.to_dicts(), "mean")
    return _chart("items", values=values, tasks=list(dict.fromkeys(table["task"])))


def failure_chart(table: pl.DataFrame) -> Spec:
    """Return shares of failure modes among the judged, a bar for each run (paper, Figure 3).

    The table is `scbench.analysis.failure_modes.shares.label_shares`, by run.
    """
    titles = {mode.value: MEANINGS[mode].short for mode in Mode}
    values = table.with_columns(
        run=pl.format("{} ({} judged)", _run_column(), "judged"),
        mode=pl.col("failure_mode").replace_strict(titles, return_dtype=pl.String),
    )
    modes = list(titles.values())
    # A mode has the same colour in every chart, and is named where it occurs. White can be read on
    # the first colour alone, ink on all others.
    occurring = set(values.filter(pl.col("count") > 0)["mode"])
    in_use = {
        mode: c for mode, c in zip(modes, COLOURS, strict=False) if mode in occurring
    }
    return _chart(
        "failures",
        values=values.to_dicts(),
        rank=f"indexof({modes}, datum.mode)",
        modes=modes,
        occurring=list(in_use),
        colours=list(in_use.values()),
    )


def _run_column() -> pl.Expr:
    return pl.concat_str(
        [pl.col("model"), pl.col("setting")], separator=" ", ignore_nulls=True
    )


def heat_chart(table: pl.DataFrame, column: str, title: str) -> Spec:
    """Return a heat map over manifolds of a column, with its title, for each run and task.

    The table is `scbench.analysis.manifolds.heat_table`.
    """
    share = column in _SHARES
    rows_of: dict[str, list[Spec]] = {}
    for row in table.to_dicts():
        panel = f"{row['task']} {_run_name(row)}"
        rows_of.setdefault(panel, []).append(row | {"panel": panel})
    top = (
        1.0
        if share
        else max((row[column] or 0.0 for row in table.to_dicts()), default=0.0)
    )
    # Viridis is dark at its low end.
    look = {"title": title, "form": ".0%" if share else ",.0f", "top": top}
    look |= {"column": column, "pale": f"datum.{column} < {top / 2}"}
    panels = [
        _filled_spec(
            "heat panel",
            panel=panel,
            values=rows,
            x=_value_axis(rows, "second_value", rows[0]["second_parameter"]),
            y=_value_axis(rows, "value", rows[0]["parameter"]),
            **look,
        )
        for panel, rows in rows_of.items()
    ]
    return _chart("heat", description=f"{title} by two parameters.", panels=panels)


def _run_name(row: Mapping[str, Any]) -> str:
    parts = (row["model"], row["setting"], row["budget"])
    return " ".join(str(part) for part in parts if part is not None)


def _value_axis(rows: list[Spec], field: str, title: str) -> Spec:
    """Return an axis of values once each: numbers by size, words as they come."""
    values = list(dict.fromkeys(row[field] for row in rows))
    with suppress(ValueError):
        values.sort(key=float)
    return {"field": field, "type": "ordinal", "title": title, "sort": values}


def parameter_chart(table: pl.DataFrame, title: str) -> Spec:
    """Return accuracy along one parameter of manifolds, above the floor, a line for each run.

    The table is `scbench.analysis.manifolds.manifold_table` for that one.
    """
    values = [row | {"panel": _run_name(row)} for row in table.to_dicts()]
    values = _in_points(values, "above", "above_low", "above_high")
    description = f"Accuracy above the floor along {title}."
    x = _value_axis(values, "value", title)
    return _chart("parameter", description=description, values=values, x=x)


def ladder_chart(table: pl.DataFrame, rungs: pl.DataFrame) -> Spec:
    """Return the chart of levels, a panel for each run: intervals over the means of each rung.

    The tables are `scbench.analysis.ladder.ladder_table`, and `rung_table` of the same results.
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
        names = [
            line_name(r["bucket"], r["task"], r["over"], titles, every=True)
            for r in rows
        ]
        cells = [
            {"line": name, "rung": cell["rung"], "above": cell["above"]}
            | {"left": cell["rung"] - BEYOND, "right": cell["rung"] + BEYOND}
            for name, row in zip(names, rows, strict=True)
            for cell in means.get((run, row["task"]), ())
            if cell["above"] is not None
        ]
        top = max(row["rungs"] for row in rows)
        axis = {"numbers": list(range(1, top + 1)), "top": top, "width": 44 * top}
        axis |= {"ends": [FIRST - BEYOND, top + BEYOND]}
        levels = [
            _level_mark(row) | {"line": name}
            for name, row in zip(names, rows, strict=True)
        ]
        panels.append(
            _filled_spec(
                "ladder panel",
                panel=run,
                names=names,
                cells=cells,
                levels=levels,
                **axis,
            )
        )
    return _chart("ladder", panels=panels)


def _level_mark(row: Mapping[str, Any]) -> Spec:
    """Return where a level and its interval are drawn: at an end, if they lie beyond it."""
    first, last = FIRST - BEYOND, row["rungs"] + BEYOND
    place = {None: row["level"], f"below {FIRST:g}": first}.get(row["beyond"], last)
    has_level = place is not None
    low, high = (
        end if has_level else None for end in (row["low"] or first, row["high"] or last)
    )
    return {
        "level": place,
        "low": None if low is None else min(max(low, first), last),
        "high": None if high is None else min(max(high, first), last),
        "kind": (row["beyond"] or "").partition(" ")[0]
        or ("task" if row["task"] else "mean"),
        "said": f"{level_words(dict(row))} ({interval_words(dict(row))})"
        if has_level
        else "no score",
    }


def draw(spec: Spec, form: str, *, dark: bool = False) -> bytes:
    """Draw a chart as ``svg``, ``png``, or ``html`` for a page that works without a network.

    Unless it is dark, SVG and HTML have the colours that the reader prefers.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
        ResultsError: there is no such form.
    """
    import vl_convert  # noqa: PLC0415  (an extra, and large)

    if dark or form == "png":
        spec = _replaced(spec, _DARK) if dark else spec
        spec = {**spec, "background": ROLES["paper"][dark]}
    if form == "svg":
        text = str(vl_convert.vegalite_to_svg(spec))
        head, end, rest = text.partition(">")
        return f"{head}{end}<style>{'' if dark else _FOLLOWS}</style>{rest}".encode()
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=3))
    if form == "html":
        safe = _replaced(spec, {"<": _LESS})
        page = str(vl_convert.vegalite_to_html(safe, bundle=True, renderer="svg"))
        page = page.replace(
            "</head>", f"<style>{'' if dark else _FOLLOWS}</style></head>", 1
        )
        return page.replace(_LESS, "\\u003c").encode()
    raise ResultsError(f"charts are written as .svg, .png or .html, not as {form!r}")


def _replaced(node: Any, signs: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return a description with signs replaced in its texts.

    Without "<" a model's name cannot end the script of a page.
    """
    if isinstance(node, dict):
        return {key: _replaced(value, signs) for key, value in node.items()}
    if isinstance(node, list):
        return [_replaced(item, signs) for item in node]
    if isinstance(node, str):
        for sign, other in signs.items():
            node = node.replace(sign, other)
    return node
