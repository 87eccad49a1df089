"""The board as a page: one self-contained file, made from ``leaderboard.json``."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from scbench.analysis.human import human_sheet
from scbench.analysis.ladder_sheets import interval_words, level_words
from scbench.analysis.layout import Sheet
from scbench.analysis.sheets import (
    GAP,
    interval,
    mean_and_readable,
    normalized_words,
    points,
)
from scbench.base.canonical import canonical_json
from scbench.base.errors import printable
from scbench.base.model import LADDER
from scbench.catalog import MANIFOLDS, all_tasks
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.board import Record, height
from scbench.leaderboard.chart import (
    MOST_MODELS,
    NARROW,
    amount_chart,
    amount_points,
    amount_words,
    main_amount,
    score_marks,
)
from scbench.release.about import TITLE
from scbench.release.manifest import own_name
from scbench.report.charts import Spec, draw, overview_charts

_SETTING_TITLES = {"no_tools": "Without tools", "tools": "With tools"}
_LINKS = {"paper": "paper", "code": "code", "weights": "weights", "homepage": "page"}
_AMOUNT_TITLES = {"cost": "cost", "output_tokens": "output tokens"}
# Suffixes of settings in the history, by tasks.
_TASKS_WORDS = {MANIFOLDS: ", text tasks", LADDER: ", ladder"}

# Colours of the page and of full marks, in the light and the dark design; see ``page.css``.
_LIGHT = ("#ffffff", "#0072b2")
_DARK = ("#16181c", "#56b4e9")
# Number of colour steps from no marks to full marks.
_HEATS = 10
# Opacity of the colour for full marks, so that figures on it stay readable.
_FULL = 0.45

# Values of a part of the page, by name in the template.
Cell = dict[str, Any]

_NO_LEVEL = {"value": "", "text": "-", "between": ""}
_NO_CELL = _NO_LEVEL | {"details": "", "level": ""}
# Maximum length of a sampling parameter on the page.
_MOST_LETTERS = 100
# A chart of amounts with fewer models shows nothing that the table does not.
_LEAST_DOTS = 2


def render_board(board: Record) -> str:
    """Return the page of a board.

    Args:
        board: see `scbench.leaderboard.board.make_board`; may have private boards.

    Raises:
        ModuleNotFoundError: the extra ``leaderboard`` is not installed.
    """
    from scbench.report.html import asset, render_page  # noqa: PLC0415  (needs an extra)

    titles = {task.id: task.title for task in all_tasks().values()}
    releases = release_columns(board["boards"])
    return render_page(
        "board.html.j2",
        title=f"{TITLE}: leaderboard",
        styles=[asset("board.css", "scbench.leaderboard"), heat_rules()],
        scripts=[asset("sortable.js")],
        boards=[board_section(part, titles) for part in board["boards"]],
        people=people_sheet(board),
        releases=releases,
        history=[history_line(row, releases) for row in board["history"]],
    )


def people_sheet(board: Record) -> Sheet | None:
    """Return the table of people; None if the board was built without results of people."""
    rows = board.get("people")
    return human_sheet(pl.DataFrame(rows)) if rows else None


def release_columns(boards: Iterable[Record]) -> list[str]:
    """Return the releases with a column in the history, ladders last."""
    releases = []
    public_versions = []
    for part in boards:
        version = part["release"]["version"]
        if part["tasks_of"] != LADDER:
            releases.append(version)
        if not part.get("private"):
            public_versions.append(own_name(version))
    for version in public_versions:
        if version not in releases:
            releases.append(version)
    return releases


def heat_rules() -> str:
    """Return the colours of a heat map's cells: class ``hK`` for K tenths of full marks."""
    light = colour_rules(*_LIGHT)
    dark = colour_rules(*_DARK)
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"


def colour_rules(start: str, end: str) -> str:
    """Return CSS rules for a gradient between two colours such as "#ffffff"."""
    rules = []
    for heat in range(_HEATS + 1):
        colour = mixed_colour(start, end, _FULL * heat / _HEATS)
        rules.append(f"td.h{heat}{{background:{colour}}}")
    return "".join(rules)


def mixed_colour(start: str, end: str, share: float) -> str:
    """Return a colour between two others; `share` is from 0 to 1."""
    mixture = "#"
    for i in (1, 3, 5):
        first = int(start[i : i + 2], 16)
        last = int(end[i : i + 2], 16)
        mixture += f"{round(first + (last - first) * share):02x}"
    return mixture


def board_section(part: Record, titles: Mapping[str, str]) -> Cell:
    """Return a board for the template, with the titles of tasks."""
    version = own_name(part["release"]["version"])
    buckets = {
        name: (bucket_title(name, part["over"]), n)
        for name, n in part["buckets"].items()
    }
    bucket_titles = {name: title for name, (title, _) in buckets.items()}
    settings = []
    for setting, entries in part["settings"].items():
        lines = [row_cells(row) for row in entries]
        settings.append(
            {
                "id": f"r{version}-{part['tasks_of']}-{setting}".replace(".", "-"),
                "title": _SETTING_TITLES[setting],
                "tools": setting == "tools",
                "chart": score_chart(entries, bucket_titles),
                "incomplete": any(
                    score["scored"] < score["expected"]
                    for row in entries
                    for score in row["buckets"].values()
                ),
                "more_models": max(len(entries) - MOST_MODELS, 0),
                "ranked": [line for line in lines if line["ranked"]],
                "unranked": [line for line in lines if not line["ranked"]],
            }
        )
    rows = [row for entries in part["settings"].values() for row in entries]
    amount = main_amount(rows)
    return {
        **part,
        "version": version,
        "amount": _AMOUNT_TITLES[amount],
        "amount_chart": spending_chart(part["settings"], amount),
        "texts": part["tasks_of"] == MANIFOLDS,
        "ladder": part["tasks_of"] == LADDER,
        "private": part.get("private", False),
        "gaps": any("private" in row for row in rows),
        "levels": any("levels" in row for row in rows),
        "rows_hash": part["release"]["rows_hash"],
        "buckets": buckets,
        "tasks": {
            name: (titles.get(name, name), n) for name, n in part["tasks"].items()
        },
        "settings": settings,
    }


def score_chart(rows: Sequence[Record], titles: Mapping[str, str]) -> Cell | None:
    """Return the chart of scores by bucket, wide and in narrow parts; None without scores."""
    marks = score_marks(rows, titles)
    if not marks:
        return None
    wide, narrow = overview_charts(marks)
    return {
        "wide": svg_of(wide),
        "narrow": [svg_of(spec) for spec in narrow],
        "rows": len({mark.name for mark in marks}),
    }


def spending_chart(
    settings: Mapping[str, Sequence[Record]], amount: str
) -> Cell | None:
    """Return the chart of scores against an amount; None if fewer than two models report it."""
    dots = amount_points(settings, amount)
    if len(dots) < _LEAST_DOTS:
        return None
    wide = amount_chart(dots, amount)
    narrow = amount_chart(dots, amount, NARROW)
    return {"wide": svg_of(wide), "narrow": svg_of(narrow)}


def svg_of(spec: Spec) -> str:
    """Return a chart as an SVG element."""
    return draw(spec, "svg").decode()


def bucket_title(bucket: str, buckets: Sequence[str]) -> str:
    """Return the title of a column; with a single bucket, "overall" gets its title."""
    if bucket == OVERALL and len(buckets) == 1:
        bucket = buckets[0]
    return bucket.capitalize()


def row_cells(row: Record) -> Cell:
    """Return a row for the template, with cells instead of numbers."""
    overall = row["buckets"][OVERALL]
    levels = row.get("levels", {})
    cells = {
        name: figure_cell(score, levels.get(name))
        for name, score in row["buckets"].items()
    }
    private = _NO_CELL
    if "private" in row:
        # The private score has no separate coverage.
        score = row["private"] | {"scored": 0, "expected": 0}
        private = figure_cell(score, score["level"])
    gaps = [
        f"{n} {status}" for status, n in row["statuses"].items() if status != "answered"
    ]
    sampling = [f"{key}: {short_json(part)}" for key, part in row["sampling"].items()]
    files = {file.partition(".")[0]: path for file, path in row["files"].items()}
    return {
        **row,
        "rank": overall["rank"],
        "range": rank_range(overall),
        "cells": cells,
        "level": level_cell(levels[OVERALL]) if levels else _NO_LEVEL,
        "tasks": {
            name: figure_cell(score, levels.get(name))
            for name, score in row["tasks"].items()
        },
        "spent": spent_cells(row["spent"]),
        "overlap": overlap_cell(row["overlap"]),
        "coverage": f"{overall['scored']}/{overall['expected']}",
        "covered": overall["scored"] / overall["expected"],
        "gaps": ", ".join(gaps),
        "private": private,
        "gap": gap_cell(row["gap"]) if "gap" in row else _NO_CELL,
        "report": files.pop("report", None),
        "files": files,
        "links": {_LINKS[name]: link for name, link in row["links"].items()},
        "tools": ", ".join(row["tools"]),
        "sampling": ", ".join(sampling),
        "licence": row["outputs_licence"],
        "predictions": row["predictions_sha256"],
    }


def figure_cell(score: Record, level: Record | None = None) -> Cell:
    """Return a score as a cell with its tooltip and sort value."""
    details = mean_and_readable(score)
    ranks = rank_range(score)
    if ranks:
        details.append(f"rank {ranks}")
    cell = _NO_CELL | {"heat": "", "text": normalized_words(score)}
    value = score["normalized"]
    if value is not None:
        heat = int(min(max(value, 0.0), 1.0) * _HEATS)
        cell["value"] = sort_value(value)
        cell["heat"] = f"h{heat}"
        cell["between"] = interval(score, "normalized_").replace(" ", "\u00a0")
        details.insert(0, f"95 % interval {cell['between']}")
    if score["mean"] is not None and score["scored"] < score["expected"]:
        cell["text"] += GAP
        zero = points(score["mean_missing_as_zero"])
        details.append(f"mean if missing scores count as 0: {zero}")
    if level:
        cell["level"] = f"level {level_cell(level)['text']}"
        details.append(cell["level"])
    cell["details"] = ", ".join(details)
    return cell


def sort_value(value: float) -> str:
    """Return the sort value of a cell."""
    return f"{value:.9f}"


def rank_range(score: Record) -> str:
    """Return the displayed range of a rank; empty without a rank."""
    low = score.get("rank_low")
    high = score.get("rank_high")
    if low is None:
        return ""
    return str(low) if low == high else f"{low} to {high}"


def level_cell(level: Record) -> Cell:
    """Return a level as a cell with its sort value."""
    row = {name.removeprefix("level_"): value for name, value in level.items()}
    # Levels beyond the ladder sort one rung beyond it.
    value = min(max(height(dict(level)), 0.0), row["rungs"] + 1.0)
    text = level_words(row)
    between = interval_words(row)
    return {"value": sort_value(value), "text": text, "between": between}


def spent_cells(spent: Record) -> list[Cell]:
    """Return the output tokens and the cost of an answer as cells."""
    amounts = ("output_tokens", "cost")
    answers = max(spent[f"{name}_reported"] for name in amounts)
    cells = []
    for name in amounts:
        amount = spent[name]
        reported = spent[f"{name}_reported"]
        cell = {"value": "", "text": "-", "partly": ""}
        if amount is not None:
            cell["value"] = f"{amount:.9g}"
            cell["text"] = amount_words(amount, name)
            # Some answers report only the other amount.
            if reported < answers:
                cell["partly"] = f"of {reported:,} answers"
        cells.append(cell)
    return cells


def overlap_cell(overlap: Mapping[str, int]) -> Cell:
    """Return the share of telling answers that equal the release's as a cell."""
    equal = overlap["same"]
    total = overlap["of"]
    if not total:
        return {"value": "", "text": "-", "of": ""}
    share = equal / total
    return {
        "value": sort_value(share),
        "text": f"{share:.0%}",
        "of": f"{equal} of {total}",
    }


def gap_cell(gap: Record) -> Cell:
    """Return public minus private mean as a cell with its sort value."""
    return _NO_CELL | {
        "value": sort_value(gap["difference"]),
        "text": points(gap["difference"]),
        "between": f"{points(gap['low'])} to {points(gap['high'])}",
        "details": gap["verdict"],
    }


def short_json(value: Any) -> str:  # noqa: ANN401
    """Return a parameter as JSON (text unquoted), cut to `_MOST_LETTERS`."""
    text = value if isinstance(value, str) else canonical_json(value)
    if len(text) > _MOST_LETTERS:
        text = f"{text[: _MOST_LETTERS - 3]}..."
    return printable(text)


def history_line(row: Record, releases: Sequence[str]) -> Cell:
    """Return a model's line in the history: for each release, a cell for each set of graders."""
    cells: dict[str, list[Cell]] = {release: [] for release in releases}
    for score in row["releases"]:
        value = score["normalized"]
        cells[own_name(score["release"])].append(
            {
                "value": "" if value is None else sort_value(value),
                "text": normalized_words(score),
                "rank": score["rank"],
                "ranked": score["ranked"],
            }
        )
    setting = _SETTING_TITLES[row["setting"]].lower()
    return {
        **row,
        "setting": setting + _TASKS_WORDS.get(row["tasks_of"], ""),
        "cells": [cells[release] for release in releases],
    }
