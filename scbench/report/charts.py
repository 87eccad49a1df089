"""Charts in Vega-Lite, drawn without a browser or network.

``vl-convert`` (extra ``report``) turns a description into SVG, PNG or a self-contained HTML page.
``assets/charts.json`` has the parts of the descriptions that do not depend on results.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from textwrap import wrap
from typing import Any, NamedTuple

import polars as pl

from scbench.analysis.curves import FIRST
from scbench.analysis.failure_modes.modes import Mode, meaning_of
from scbench.analysis.ladder_sheets import interval_words, level_words
from scbench.analysis.levels import BEYOND
from scbench.analysis.sheets import line_name, run_words, task_titles
from scbench.base.errors import ResultsError, printable
from scbench.base.wording import counted
from scbench.report.draw.colours import COLOURS, ROLES

# Charts for users; the manual has a page on them.
__all__ = [
    "Spec",
    "budget_chart",
    "cost_chart",
    "difference_chart",
    "draw",
    "failure_chart",
    "heat_chart",
    "item_chart",
    "ladder_chart",
    "overview_charts",
    "parameter_chart",
    "sample_chart",
    "score_chart",
    "turn_chart",
]

Spec = dict[str, Any]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_INK, _INK_DARK = ROLES["ink"]
_QUIET, _QUIET_DARK = ROLES["quiet"]
_FAINT, _FAINT_DARK = ROLES["faint"]
_ANSWER, _ANSWER_DARK = ROLES["answer"]
# Colours of a light page, and their replacements on a dark page.
_DARK = {
    _INK: _INK_DARK,
    _QUIET: _QUIET_DARK,
    _FAINT: _FAINT_DARK,
    _ANSWER: _ANSWER_DARK,
}
_AXIS: Spec = {
    "titleFontWeight": "normal",
    "gridColor": _FAINT,
    "gridOpacity": 0.4,
    "domainColor": _QUIET,
    "tickColor": _QUIET,
}
_LOOK: Spec = {
    "font": "sans-serif",
    "background": "transparent",
    # Readers' fonts differ, and some are wider.
    "padding": {"left": 24, "right": 12, "top": 6, "bottom": 6},
    "range": {"category": list(COLOURS[:-1])},
    "style": {
        "guide-label": {"fill": _INK},
        "guide-title": {"fill": _INK},
        "group-title": {"fill": _INK},
    },
    "text": {"color": _INK},
    "view": {"stroke": None},
}
# Vega configurations, by the name that templates use.
_CONFIGS: Spec = {
    "plain": {**_LOOK, "axis": _AXIS},
    "upright": {**_LOOK, "axis": {**_AXIS, "labelAngle": 0}},
}
# Columns of heat maps that contain shares, from 0 to 1.
_SHARES = {"accuracy", "above", "truncated", "unparsed"}
# Placeholder for "<" until a page is complete.
_LESS = "scbench-less-than-sign"
# Members of every object in JavaScript.
_MEMBER_NAMES = frozenset(
    {
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "__proto__",
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    }
)
# Pixels for each rung of a ladder.
_RUNG_WIDTH = 44
# Pixels for each mark on a line, if a line has one mark and if it has several.
_SINGLE_STEP = 18
_SHARED_STEP = 11
# Pixels for names, figures and all panels in the chart of scores, wide and narrow.
_WIDE_NAMES = 210
_NARROW_NAMES = 116
_FIGURES = 48
_WIDE_PANELS = 820
_WIDEST_PANEL = 420
_NARROW_PANEL = 140
_PANEL_STEP = 24
# Pixels of the bars of failure modes, wide and narrow, and of each of their lines.
_WIDE_BARS = 440
_NARROW_BARS = 180
_BAR_STEP = 30
# Names left of a chart are wrapped after this many letters.
_NAME_LETTERS = 26
_WIDE_NAME_LETTERS = 30
_FAILURE_NAME_LETTERS = 40
_NARROW_NAME_LETTERS = 16
# Height of a line of a wrapped name, in pixels.
_NAME_LINE = 14
# Vega's expression for the lines of a wrapped name.
_NAME_LINES = "split(datum.label, '\\n')"


class Interval(NamedTuple):
    """Columns of a table: a value, and the ends of its interval."""

    value: str
    low: str
    high: str


class ScoreMark(NamedTuple):
    """A score in the chart of scores by bucket; scores are in points.

    Attributes:
        panel: bucket of the score.
        name: run of the score.
        label: the score as it is printed.
        value: the score.
        low: lower end of its interval.
        high: upper end.
    """

    panel: str
    name: str
    label: str
    value: float
    low: float
    high: float


class PanelLayout(NamedTuple):
    """The layout of a panel in the chart of scores.

    Attributes:
        names: the names of all lines, in order.
        start: lowest score of the scale, in points.
        width: pixels of the scale.
        names_width: pixels for the names; 0 to leave them out.
        letters: letters after which a name is wrapped.
    """

    names: Sequence[str]
    start: float
    width: int
    names_width: int
    letters: int


class Rung(NamedTuple):
    """Positions of a level and its interval on the scale of rungs; None if there is no score."""

    level: float | None
    low: float | None
    high: float | None


def overview_charts(marks: Sequence[ScoreMark]) -> tuple[Spec, list[Spec]]:
    """Return the chart of scores by bucket, and its panels one by one for narrow pages.

    Names are in the order of the marks. A single run has one panel with a line for each bucket.
    """
    # Vega puts names into expressions, and some characters would end an expression early.
    marks = [mark._replace(name=printable(mark.name)) for mark in marks]
    if len({mark.name for mark in marks}) == 1:
        # The run becomes the panel, and its buckets become the lines.
        marks = [
            mark._replace(panel=mark.name, name=printable(mark.panel)) for mark in marks
        ]
    names = list(dict.fromkeys(mark.name for mark in marks))
    titles = list(dict.fromkeys(mark.panel for mark in marks))
    lowest = min(mark.low for mark in marks)
    # Scores of text tasks may be below the floor.
    start = min(0, 10 * math.floor(lowest / 10))
    width = min(_WIDE_PANELS // len(titles), _WIDEST_PANEL)
    first_wide = PanelLayout(names, start, width, _WIDE_NAMES, _WIDE_NAME_LETTERS)
    narrow = PanelLayout(
        names, start, _NARROW_PANEL, _NARROW_NAMES, _NARROW_NAME_LETTERS
    )
    wide_panels: list[Spec] = []
    narrow_charts: list[Spec] = []
    for title in titles:
        marks_of_panel = [mark for mark in marks if mark.panel == title]
        # Names are written once, at the left.
        wide = first_wide._replace(names_width=0) if wide_panels else first_wide
        wide_panels.append(overview_panel(title, marks_of_panel, wide))
        narrow_panel = overview_panel(title, marks_of_panel, narrow)
        narrow_charts.append(_overview([narrow_panel], title))
    return _overview(wide_panels, ", ".join(titles)), narrow_charts


def overview_panel(title: str, marks: Sequence[ScoreMark], layout: PanelLayout) -> Spec:
    """Return one panel of the chart of scores, with a line for each name."""
    wrapped_names = {name: wrapped(name, layout.letters) for name in layout.names}
    lines = list(wrapped_names.values())
    values = [mark_values(mark) | {"name": wrapped_names[mark.name]} for mark in marks]
    axis: Spec = {
        "ticks": False,
        "domain": False,
        "labelLimit": layout.names_width,
        "labelFontSize": 12,
        "labels": layout.names_width > 0,
        "grid": True,
        "labelPadding": 8,
    }
    return filled_spec(
        "overview panel",
        title=title,
        values=values,
        width=layout.width,
        names=lines,
        step=max(_PANEL_STEP, _NAME_LINE * most_lines(lines) + 4),
        axis=axis | lines_axis(lines),
        domain=[layout.start, 100],
        right=layout.width + _FIGURES,
    )


def _overview(panels: Sequence[Spec], titles: str) -> Spec:
    description = f"Normalized scores with 95 % intervals: {titles}."
    return chart("overview", description=description, panels=panels)


def wrapped(name: str, letters: int) -> str:
    """Return a name in lines of at most this many letters."""
    return "\n".join(wrap(name, letters))


def most_lines(names: Sequence[str]) -> int:
    """Return the number of lines of the longest of these wrapped names."""
    return max((name.count("\n") + 1 for name in names), default=1)


def lines_axis(names: Sequence[str]) -> Spec:
    """Return the part of a vertical axis that writes wrapped names, centred on their marks."""
    # The first line of a name is level with its mark; each further line moves it up by half.
    line_count = f"length({_NAME_LINES})"
    conditions = [
        {
            "test": f"{line_count} === {count}",
            "value": -_NAME_LINE * (count - 1) / 2,
        }
        for count in range(2, most_lines(names) + 1)
    ]
    axis: Spec = {"labelExpr": _NAME_LINES, "labelLineHeight": _NAME_LINE}
    if conditions:
        axis["labelOffset"] = {"condition": conditions, "value": 0}
    return axis


def mark_values(mark: ScoreMark) -> Spec:
    """Return a mark as a row of data with its tooltip."""
    words = f"{mark.name}: {mark.label} ({mark.low:.1f} to {mark.high:.1f})"
    return {**mark._asdict(), "words": words}


def score_chart(table: pl.DataFrame) -> Spec:
    """Return a chart of normalized scores by line of a `scbench.analysis.paper.paper_table`."""
    columns = Interval("normalized", "normalized_low", "normalized_high")
    axis = {"values": [0, 25, 50, 75, 100]}
    scale = {"domain": [0, 100], "padding": 6, "nice": False}
    return dot_chart(table, columns, run_words, "normalized score", scale, axis)


def difference_chart(table: pl.DataFrame) -> Spec:
    """Return a chart of differences by line of a `scbench.analysis.compare.compare_runs`."""
    columns = Interval("difference", "low", "high")

    def words(row: Mapping[str, Any]) -> str:
        return f"{row['second']} minus {row['first']}"

    title = "difference of normalized scores"
    # The line at difference 0 is dark.
    is_zero = "datum.value === 0"
    axis = {
        "gridColor": {"condition": {"test": is_zero, "value": _INK}, "value": _FAINT},
        "gridOpacity": {"condition": {"test": is_zero, "value": 1}, "value": 0.4},
        "gridWidth": {"condition": {"test": is_zero, "value": 1.5}, "value": 1},
    }
    return dot_chart(table, columns, words, title, {"zero": True, "padding": 8}, axis)


def sample_chart(table: pl.DataFrame) -> Spec:
    """Return a chart of pass@k by line of a `scbench.analysis.samples.pass_at_k`."""
    columns = Interval("pass_at_k", "pass_low", "pass_high")

    def words(row: Mapping[str, Any]) -> str:
        return f"{run_words(row)} pass@{row['k']}"

    scale = {"domain": [0, 100]}
    return dot_chart(table, columns, words, "share of items passed", scale)


def dot_chart(
    table: pl.DataFrame,
    columns: Interval,
    words: Callable[[Mapping[str, Any]], str],
    title: str,
    scale: Spec,
    axis: Spec | None = None,
) -> Spec:
    """Return a chart of values with their intervals, as wide as a column of a paper.

    Several series share a line. The legend, or the heading of a single series, names the runs.
    """
    marks = []
    for name, row in named_lines(table):
        if row[columns.value] is None:
            continue
        marks.append(
            {
                "line": wrapped(name, _NAME_LETTERS),
                "series": words(row),
                "value": row[columns.value],
                "low": row.get(columns.low),
                "high": row.get(columns.high),
            }
        )
    series = list(dict.fromkeys(mark["series"] for mark in marks))
    lines = list(dict.fromkeys(mark["line"] for mark in marks))
    legend: Spec | None = None
    heading = ""
    step = _SINGLE_STEP
    if len(series) == 1:
        heading = series[0]
    else:
        legend = {
            "orient": "bottom",
            "columns": 1,
            "labelLimit": 320,
            "symbolLimit": 99,
        }
        step = _SHARED_STEP
    if series:
        least_step = math.ceil(_NAME_LINE * most_lines(lines) / len(series))
        step = max(step, least_step)
    return chart(
        "dots",
        description=f"{title.capitalize()} with 95 % intervals.",
        values=in_points(marks, "value", "low", "high"),
        title=title,
        lines=lines,
        series=series,
        step=step,
        legend=legend,
        scale=scale,
        names_axis=lines_axis(lines)
        | {"labelLimit": 180, "ticks": False, "domain": False, "labelPadding": 6},
        heading={"text": heading, "anchor": "start", "fontSize": 12, "limit": 400},
        axis=axis or {},
    )


def turn_chart(table: pl.DataFrame) -> Spec:
    """Return a chart of the mean score after each turn of a loop, a line for each run and bucket.

    The table comes from `scbench.analysis.turns.turn_table`.
    """
    # If the table has rows for buckets, only these are drawn, not those for tasks.
    if table["task"].has_nulls():
        table = table.filter(pl.col("task").is_null())
    values = [
        row | {"run": f"{run_words(row)}, {name}"} for name, row in named_lines(table)
    ]
    return chart("turns", values=in_points(values, "mean", "low", "high"))


def budget_chart(points: pl.DataFrame) -> Spec:
    """Return the chart of a budget sweep: accuracy, and below it the truncated share, over tokens.

    The points come from `scbench.analysis.usage.budget_sweep`.
    """
    rows = points.with_columns(run=run_column()).to_dicts()
    values = in_points(rows, "accuracy", "low", "high")
    # Each run's name is written at its last visible point. The axis is logarithmic, so points at
    # 0 tokens are not visible.
    last_visible: dict[str, int] = {}
    for i, row in enumerate(values):
        if row["mean_output_tokens"]:
            last_visible[row["run"]] = i
    for i, row in enumerate(values):
        row["label"] = row["run"] if last_visible.get(row["run"]) == i else ""
    # Each step is a power of two.
    ticks = powers_of_two(points["mean_output_tokens"])
    return chart("budget", values=values, ticks=ticks)


def powers_of_two(tokens: pl.Series) -> list[int]:
    """Return the powers of two from just below the minimum to just above the maximum."""
    positive = [value for value in tokens.drop_nulls().to_list() if value > 0]
    if not positive:
        return []
    first = int(min(positive)).bit_length() - 1
    last = int(max(positive)).bit_length()
    return [2**i for i in range(max(first, 0), last + 1)]


def cost_chart(table: pl.DataFrame) -> Spec:
    """Return a chart of score against cost (or output tokens without a cost), a point per run.

    The table comes from `scbench.analysis.usage.cost_table`; for each run, the line that covers the
    most answers is drawn.
    """
    field = "output_tokens"
    title = "output tokens"
    if table["cost_reported"].sum() > 0:
        field = "cost"
        title = "US dollars"
    runs = ["model", "setting", "budget"]
    buckets = table.filter(pl.col("task").is_null())
    widest = buckets.sort("answers", descending=True).unique(
        runs, keep="first", maintain_order=True
    )
    points = widest.with_columns(run=run_column()).filter(pl.col(field) > 0).sort(*runs)
    return chart(
        "cost",
        description=f"Mean score against {title} per answer, a point for each run.",
        values=in_points(points.to_dicts(), "mean", "low", "high"),
        field=field,
        title=f"{title} per answer",
    )


def item_chart(table: pl.DataFrame) -> Spec:
    """Return a chart of means by subtask over all runs, with a panel per task (paper, appendix).

    The table comes from `scbench.analysis.items.item_table`.
    """
    values = in_points(table.to_dicts(), "mean")
    most_runs = max(table["runs"], default=1)
    title = "score"
    if most_runs > 1:
        title = f"mean of {counted(most_runs, 'run')}"
        if min(table["runs"]) < most_runs:
            title = f"mean of up to {counted(most_runs, 'run')}"
    tasks = list(dict.fromkeys(table["task"]))
    return chart("items", values=values, tasks=tasks, title=title)


def failure_chart(table: pl.DataFrame, *, narrow: bool = False) -> Spec:
    """Return a chart of the failure modes of judged answers, a bar for each run (paper, Figure 3).

    Args:
        table: `scbench.analysis.failure_modes.shares.label_shares`, by run.
        narrow: whether the chart fits a narrow page, with its legend below.
    """
    titles = {mode.value: meaning_of(mode).short for mode in Mode}
    values = table.with_columns(
        run=pl.format("{} ({} judged)", run_column(), "judged"),
        mode=pl.col("failure_mode").replace_strict(titles, return_dtype=pl.String),
    )
    modes = list(titles.values())
    # A mode has the same colour in every chart; the legend lists only modes that occur.
    # White text is readable only on the first colour, ink on all others.
    occurring = set(values.filter(pl.col("count") > 0)["mode"])
    colours = {
        mode: colour
        for mode, colour in zip(modes, COLOURS, strict=False)
        if mode in occurring
    }
    letters = _NARROW_NAME_LETTERS if narrow else _FAILURE_NAME_LETTERS
    rows = [
        row | {"run": wrapped(printable(row["run"]), letters)}
        for row in values.to_dicts()
    ]
    names = list(dict.fromkeys(row["run"] for row in rows))
    legend: Spec = {"labelFontSize": 12, "labelLimit": 320}
    if narrow:
        legend |= {"orient": "bottom", "columns": 1}
    return chart(
        "failures",
        values=rows,
        width=_NARROW_BARS if narrow else _WIDE_BARS,
        step=max(_BAR_STEP, _NAME_LINE * most_lines(names) + 4),
        names_axis=lines_axis(names) | {"labelLimit": 360, "labelFontSize": 12},
        legend=legend,
        ticks=2 if narrow else 5,
        rank=f"indexof({modes}, datum.mode)",
        modes=modes,
        occurring=list(colours),
        colours=list(colours.values()),
    )


def heat_chart(table: pl.DataFrame, column: str, title: str) -> Spec:
    """Return a heat map over manifolds of a column, with its title, for each run and task.

    The table is `scbench.analysis.manifolds.heat_table`.
    """
    rows_by_panel: dict[str, list[Spec]] = {}
    for row in table.to_dicts():
        panel = f"{row['task']} {run_words(row)}"
        rows_by_panel.setdefault(panel, []).append(row | {"panel": panel})
    form = ".0%"
    top = 1.0
    if column not in _SHARES:
        form = ",.0f"
        top = max((value or 0.0 for value in table[column]), default=0.0)
    panels = [
        filled_spec(
            "heat panel",
            panel=panel,
            values=rows,
            x=value_axis(rows, "second_value", rows[0]["second_parameter"]),
            y=value_axis(rows, "value", rows[0]["parameter"]),
            title=title,
            form=form,
            top=top,
            column=column,
            # Viridis is dark at its low end.
            pale=f"datum.{column} < {top / 2}",
        )
        for panel, rows in rows_by_panel.items()
    ]
    return chart("heat", description=f"{title} by two parameters.", panels=panels)


def parameter_chart(table: pl.DataFrame, title: str) -> Spec:
    """Return accuracy along one parameter of manifolds, above the floor, a line for each run.

    The table is `scbench.analysis.manifolds.manifold_table` for that parameter.
    """
    rows = [row | {"panel": run_words(row)} for row in table.to_dicts()]
    values = in_points(rows, "above", "above_low", "above_high")
    description = f"Accuracy above the floor, by {title}."
    x = value_axis(values, "value", title)
    return chart("parameter", description=description, values=values, x=x)


def ladder_chart(table: pl.DataFrame, rungs: pl.DataFrame) -> Spec:
    """Return the chart of levels: for each run, intervals above the mean scores of rungs.

    The tables are `scbench.analysis.ladder.ladder_table`, and `rung_table` of the same results.
    """
    rows_by_run: dict[str, list[Spec]] = {}
    for row in table.to_dicts():
        rows_by_run.setdefault(run_words(row), []).append(row)
    means: dict[tuple[str, str], list[Spec]] = {}
    for row in rungs.to_dicts():
        means.setdefault((run_words(row), row["task"]), []).append(row)
    panels = []
    for run, rows in rows_by_run.items():
        means_of_run = [means.get((run, row["task"]), []) for row in rows]
        panels.append(ladder_panel(run, rows, means_of_run))
    return chart("ladder", panels=panels)


def ladder_panel(
    run: str, rows: Sequence[Spec], means: Sequence[Sequence[Spec]]
) -> Spec:
    """Return the panel of a run: its lines, with the means of each line's rungs."""
    titles = task_titles()
    names = []
    cells = []
    levels = []
    for row, rung_means in zip(rows, means, strict=True):
        name = line_name(
            row["bucket"], row["task"], row["over"], every=True, titles=titles
        )
        names.append(name)
        levels.append(level_mark(row) | {"line": name})
        for mean in rung_means:
            if mean["above"] is not None:
                rung = mean["rung"]
                cells.append(
                    {
                        "line": name,
                        "rung": rung,
                        "above": mean["above"],
                        "left": rung - BEYOND,
                        "right": rung + BEYOND,
                    }
                )
    top = max(row["rungs"] for row in rows)
    return filled_spec(
        "ladder panel",
        panel=run,
        names=names,
        cells=cells,
        levels=levels,
        numbers=list(range(1, top + 1)),
        top=top,
        width=_RUNG_WIDTH * top,
        ends=[FIRST - BEYOND, top + BEYOND],
    )


def level_mark(row: Mapping[str, Any]) -> Spec:
    """Return the mark of a level and its interval, with a description."""
    place = rung_of_level(row)
    words = "no score"
    if place.level is not None:
        words = f"{level_words(dict(row))} ({interval_words(dict(row))})"
    kind = "task" if row["task"] else "mean"
    if row["beyond"]:
        # "below 0.5" gives "below".
        kind = row["beyond"].partition(" ")[0] or kind
    return {
        "level": place.level,
        "low": place.low,
        "high": place.high,
        "kind": kind,
        "said": words,
    }


def rung_of_level(row: Mapping[str, Any]) -> Rung:
    """Return a level and its interval, clipped to the ends of the scale."""
    first = FIRST - BEYOND
    last = row["rungs"] + BEYOND
    level = row["level"]
    if row["beyond"] is not None:
        level = first if row["beyond"] == f"below {FIRST:g}" else last
    if level is None:
        return Rung(None, None, None)
    low = min(max(row["low"] or first, first), last)
    high = min(max(row["high"] or last, first), last)
    return Rung(level, low, high)


def named_lines(table: pl.DataFrame) -> list[tuple[str, Spec]]:
    """Return the rows of a table with the names of their lines."""
    titles = task_titles()
    rows = table.to_dicts()
    every = any(row["task"] for row in rows)
    return [
        (
            line_name(
                row["bucket"], row["task"], row["over"], every=every, titles=titles
            ),
            row,
        )
        for row in rows
    ]


def run_column() -> pl.Expr:
    """Return the model and setting of each row in words."""
    columns = [pl.col("model"), pl.col("setting")]
    return pl.concat_str(columns, separator=" ", ignore_nulls=True)


def value_axis(rows: list[Spec], field: str, title: str) -> Spec:
    """Return an axis of distinct values: numbers sorted, words in order of appearance."""
    values = list(dict.fromkeys(row[field] for row in rows))
    # If any value is not a number, all values stay in order of appearance.
    with suppress(ValueError):
        values.sort(key=float)
    return {"field": field, "type": "ordinal", "title": title, "sort": values}


def in_points(rows: list[Spec], *names: str) -> list[Spec]:
    """Return rows with shares converted to points out of 100, as in tables."""
    scaled_rows = []
    for row in rows:
        points = {name: 100 * row[name] for name in names if row[name] is not None}
        scaled_rows.append(row | points)
    return scaled_rows


def chart(name: str, **values: object) -> Spec:
    """Return the description of a chart from its template."""
    return {"$schema": _SCHEMA, **filled_spec(name, **values)}


def filled_spec(name: str, **values: object) -> Spec:
    """Return a template with each "$NAME" replaced, including those in shared parts."""
    templates = chart_templates()
    shared = {**_CONFIGS, **templates["shared"]}

    def fill(text: str) -> Any:  # noqa: ANN401
        if not text.startswith("$"):
            return text
        value_name = text.removeprefix("$")
        if value_name in values:
            return values[value_name]
        return with_texts(shared[value_name], fill)

    spec: Spec = with_texts(templates[name], fill)
    return spec


def with_texts(node: Any, change: Callable[[str], Any]) -> Any:  # noqa: ANN401
    """Return a description with each of its texts, except keys, replaced by its change."""
    if isinstance(node, dict):
        return {key: with_texts(value, change) for key, value in node.items()}
    if isinstance(node, list):
        return [with_texts(item, change) for item in node]
    if isinstance(node, str):
        return change(node)
    return node


@cache
def chart_templates() -> Mapping[str, Spec]:
    """Return the templates of all charts by name."""
    text = files("scbench.report").joinpath("assets", "charts.json").read_text("utf-8")
    templates: dict[str, Spec] = json.loads(text)
    return templates


def draw(spec: Spec, form: str, *, dark: bool = False) -> bytes:
    """Draw a chart as ``svg``, ``png`` or ``html`` (a page that works offline).

    Unless ``dark`` is set, SVG and HTML follow the reader's colour scheme.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
        ResultsError: there is no such form.
    """
    import vl_convert  # noqa: PLC0415  (an extra, and large)

    spec = with_texts(spec, without_member_name)
    if dark:
        spec = with_texts(spec, in_dark_colours)
    if dark or form == "png":
        spec = {**spec, "background": ROLES["paper"][dark]}
    style = f"<style>{'' if dark else reader_rules()}</style>"
    if form == "svg":
        text = str(vl_convert.vegalite_to_svg(spec))
        # The style sheet follows the opening tag.
        return text.replace(">", f">{style}", 1).encode()
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=3))
    if form == "html":
        # Without "<", a model's name cannot end the script of a page.
        safe = with_texts(spec, lambda text: text.replace("<", _LESS))
        page = str(vl_convert.vegalite_to_html(safe, bundle=True, renderer="svg"))
        page = page.replace("</head>", f"{style}</head>", 1)
        return page.replace(_LESS, "\\u003c").encode()
    raise ResultsError(f"charts are written as .svg, .png or .html, not as {form!r}")


def reader_rules() -> str:
    """Return the CSS rules that make a chart follow the reader's colour scheme."""
    rules = ""
    for light, dark in _DARK.items():
        for kind in ("fill", "stroke"):
            rules += f'.marks [{kind}="{light}"]{{{kind}:{dark}}}'
    return f"@media (prefers-color-scheme:dark){{{rules}}}"


def without_member_name(text: str) -> str:
    """Return a text that is not the name of a member of JavaScript objects.

    Vega looks up texts of the data in such objects, and fails if it finds a member with that name.
    An invisible space at the end of the text prevents a match.
    """
    return f"{text}\u00a0" if text in _MEMBER_NAMES else text


def in_dark_colours(text: str) -> str:
    """Return a text with the colours of a light page replaced by those of a dark page."""
    for light, dark in _DARK.items():
        text = text.replace(light, dark)
    return text
