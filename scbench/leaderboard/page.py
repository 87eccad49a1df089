"""The board as a page: one file that loads nothing, made of ``leaderboard.json``.

Its chart is SVG of the page's own colours, so it needs no library and no script, and is as light or
dark as the page: score against what an answer cost, a point for each model.

The page is written with JSON, Parquet, and files for the Hub, each whole or not at all. Keys of
these ``.eval_results`` files, which make the Hub show a model's scores on a data set's board, are
those that huggingface_hub reads and writes (``EvalResultEntry``). The Hub knows the tasks by the
names in the release's ``eval.yaml``: ``default`` for all, and one for each bucket.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from scbench.analysis.ladder_sheets import interval_words, level_words
from scbench.analysis.sheets import (
    GAP,
    interval,
    mean_beside,
    normalized_words,
    points,
    rounded,
)
from scbench.base.canonical import canonical_json
from scbench.base.errors import ResultsError, printable
from scbench.base.model import LADDER
from scbench.catalog import MANIFOLDS, all_tasks
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.board import flat_rows, height
from scbench.leaderboard.collect import BoardEntry
from scbench.leaderboard.grade import REPORT, Receipt
from scbench.machine.files import write_whole
from scbench.release.about import TITLE
from scbench.release.manifest import own_name

_WIDTH, _HEIGHT = 720.0, 340.0
_LEFT_MARGIN, _RIGHT_MARGIN, _TOP_MARGIN, _BOTTOM_MARGIN = 44.0, 120.0, 14.0, 46.0
# Height of a label.
_LINE = 14.0
# How wide a letter of a label is, at most on average.
_LETTER = 7.2
_LETTERS, _MOST_LABELS = 34, 24
_LEAST, _GREATEST = 1e-6, 1e9
"""Amounts beyond are drawn there: they are reported, not measured."""
_TITLES = {"cost": "US dollars per answer", "output_tokens": "output tokens per answer"}
# What of a row is shown as it is.
_AS_IS = (
    *(
        "submission",
        "organisation",
        "date",
        "attempts",
        "model",
        "version",
        "copied",
        "receipt",
    ),
)
_HEADS = {"no_tools": "Without tools", "tools": "With tools"}
_LINKS = {"paper": "paper", "code": "code", "weights": "weights", "homepage": "page"}


# The page's colour and that of full marks, light and dark, see ``page.css``.
_PAPER = (("#ffffff", "#0072b2"), ("#16181c", "#56b4e9"))
_HEATS = 10
# How much of its colour full marks have, so that figures on it can be read.
_FULL = 0.45
_NO_CELL = dict.fromkeys(
    ("value", "zero", "between", "above", "level", "range"), ""
) | {"text": "-"}
_NO_LEVEL = {"value": "", "text": "-", "between": ""}
_DATASET = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
HUB = "eval_results"


class Point(NamedTuple):
    """A model in the chart: name, amount spent per answer, score with its interval."""

    name: str
    x: float
    mean: float
    low: float
    high: float


def scatter(dots: Sequence[Point], amount: str) -> str:
    """Return the chart of models that report what they spent, as SVG; empty without points."""
    if not dots:
        return ""
    dots = [dot._replace(x=min(max(dot.x, _LEAST), _GREATEST)) for dot in dots]
    # The ends of the scale as powers of ten, so that all values are inside.
    low, high = (math.log10(end(dot.x for dot in dots)) for end in (min, max))
    room = max(0.08 * (high - low), 0.15)
    low, high = low - room, high + room

    def x(value: float) -> float:
        share = (math.log10(value) - low) / (high - low)
        return _LEFT_MARGIN + share * (_WIDTH - _LEFT_MARGIN - _RIGHT_MARGIN)

    def y(value: float) -> float:
        return _TOP_MARGIN + (1 - value) * (_HEIGHT - _TOP_MARGIN - _BOTTOM_MARGIN)

    parts = []
    right, bottom = _WIDTH - _RIGHT_MARGIN, _HEIGHT - _BOTTOM_MARGIN
    for step in range(0, 101, 20):
        at = y(step / 100)
        parts.append(
            f'<path d="M{_LEFT_MARGIN:g} {at:.1f}H{right:g}" class="s-faint"/>'
        )
        parts.append(_svg_label(_LEFT_MARGIN - 8, at + 4, str(step), "quiet", "end"))
    for value in _log_ticks(low, high):
        at, words = x(value), amount_words(value, amount)
        parts.append(
            f'<path d="M{at:.1f} {_TOP_MARGIN:g}V{bottom:g}" class="s-faint"/>'
        )
        parts.append(_svg_label(at, bottom + 17, words, "quiet", "middle"))
    words = f"{_TITLES[amount]}, a logarithmic scale"
    parts.append(
        _svg_label((_LEFT_MARGIN + right) / 2, _HEIGHT - 8, words, "quiet", "middle")
    )
    labels: list[tuple[float, float, float]] = []
    ordered = sorted(dots, key=lambda dot: (-dot.mean, dot.x, dot.name))
    for i, dot in enumerate(ordered):
        px, py = x(dot.x), y(dot.mean)
        tooltip = f"{dot.name}: {points(dot.mean)} ({points(dot.low)} to {points(dot.high)}), "
        tooltip += f"{amount_words(dot.x, amount)} {_TITLES[amount]}"
        parts.append(
            f"<g><title>{escape(tooltip)}</title>"
            f'<path d="M{px:.1f} {y(dot.low):.1f}V{y(dot.high):.1f}" class="s-answer" '
            f'stroke-width="2" stroke-opacity=".5"/>'
            f'<circle cx="{px:.1f}" cy="{py:.1f}" r="5" class="f-answer"/></g>'
        )
        words = (
            dot.name if len(dot.name) <= _LETTERS else f"{dot.name[: _LETTERS - 1]}…"
        )
        width = _LETTER * len(words)
        before = px + 9 + width > _WIDTH
        place = (px - 9 - width if before else px + 9, py + 4, width)
        if i < _MOST_LABELS and not any(_labels_meet(place, label) for label in labels):
            labels.append(place)
            side = (px - 9, "end") if before else (px + 9, "start")
            parts.append(_svg_label(side[0], py + 4, words, "ink", side[1]))
    return (
        f'<svg class="sb" width="{_WIDTH:g}" height="{_HEIGHT:g}" '
        f'viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )


def _labels_meet(
    first: tuple[float, float, float], second: tuple[float, float, float]
) -> bool:
    earlier, later = sorted((first, second))
    return abs(earlier[1] - later[1]) < _LINE and later[0] < earlier[0] + earlier[2]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return round values between two powers of ten, at most eight."""
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [
            step * 10.0**power
            for power in range(math.floor(low), math.ceil(high) + 1)
            for step in steps
            if low <= math.log10(step) + power <= high
        ]
        if len(ticks) <= 8:
            return ticks
    return ticks[:: math.ceil(len(ticks) / 8)]


def amount_words(value: float | None, amount: str) -> str:
    """Return an amount as it is shown."""
    if value is None:
        return ""
    if value > _GREATEST:
        return f"{value:.1e}"
    if amount == "output_tokens":
        return f"{value:,.0f}"
    return f"${value:,.2f}" if value >= 1 else f"${value:.2g}"


def _svg_label(x: float, y: float, words: str, role: str, anchor: str) -> str:
    at = f'x="{x:.1f}" y="{y:.1f}" font-size="12" text-anchor="{anchor}"'
    return f'<text {at} class="f-{role}">{escape(words)}</text>'


def render_board(board: Mapping[str, Any]) -> str:
    """Return the page of a board, as `scbench.leaderboard.board.make_board` gives it.

    Raises:
        ModuleNotFoundError: the extra ``leaderboard`` is not installed.
    """
    from scbench.report.html import asset, render_page  # noqa: PLC0415  (needs an extra)

    titles = {task.id: task.title for task in all_tasks().values()}
    releases = [
        part["release"]["version"]
        for part in board["boards"]
        if part["tasks_of"] != LADDER
    ]
    public = (part for part in board["boards"] if not part.get("private"))
    versions = (own_name(part["release"]["version"]) for part in public)
    releases += [
        version for version in dict.fromkeys(versions) if version not in releases
    ]
    return render_page(
        "board.html.j2",
        title=f"{TITLE}: leaderboard",
        styles=[asset("board.css", "scbench.leaderboard"), _heat_rules()],
        scripts=[asset("sortable.js")],
        boards=[_board_part(part, titles) for part in board["boards"]],
        releases=releases,
        history=[_history_line(row, releases) for row in board["history"]],
    )


def _heat_rules() -> str:
    """Return the colours of a heat map's cells: class ``hK`` for K tenths of full marks."""
    light, dark = (
        "".join(
            f"td.h{i}{{background:{_mixed_colour(*ends, _FULL * i / _HEATS)}}}"
            for i in range(_HEATS + 1)
        )
        for ends in _PAPER
    )
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"


def _mixed_colour(start: str, end: str, share: float) -> str:
    pairs = ((int(start[i : i + 2], 16), int(end[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _board_part(part: Mapping[str, Any], titles: Mapping[str, str]) -> dict[str, Any]:
    version = own_name(part["release"]["version"])
    rows = [row for entries in part["settings"].values() for row in entries]
    buckets = {
        name: (_bucket_head(name, part["over"]), n)
        for name, n in part["buckets"].items()
    }
    # The chart is over cost, or over output tokens if no model reports a cost.
    amount = "cost" if any(row["spent"]["cost"] for row in rows) else "output_tokens"
    return {
        "version": version,
        "amount": {"cost": "cost", "output_tokens": "output tokens"}[amount],
        "chart": scatter(_chart_points(part["settings"], amount), amount),
        "texts": part["tasks_of"] == MANIFOLDS,
        "ladder": part["tasks_of"] == LADDER,
        "private": part.get("private", False),
        "gaps": any("private" in row for row in rows),
        "levels": any("levels" in row for row in rows),
        "rows_hash": part["release"]["rows_hash"],
        **{key: part[key] for key in ("graders_key", "graders", "fingerprints")},
        "buckets": buckets,
        "tasks": {
            name: (titles.get(name, name), n) for name, n in part["tasks"].items()
        },
        "settings": [
            {
                "id": f"r{version}-{part['tasks_of']}-{setting}".replace(".", "-"),
                "title": _HEADS[setting],
                "tools": setting == "tools",
                "ranked": [_board_line(row, setting) for row in rows if row["ranked"]],
                "unranked": [
                    _board_line(row, setting) for row in rows if not row["ranked"]
                ],
            }
            for setting, rows in part["settings"].items()
        ],
    }


def _chart_points(
    settings: Mapping[str, Sequence[Mapping[str, Any]]], amount: str
) -> list[Point]:
    """Return the models of a chart; with several settings, one with tools says so."""
    return [
        Point(
            row["model"]
            + (", tools" if setting == "tools" and len(settings) > 1 else ""),
            row["spent"][amount],
            score["normalized"],
            score["normalized_low"],
            score["normalized_high"],
        )
        for setting, rows in settings.items()
        for row in rows
        for score in [row["buckets"][OVERALL]]
        if row["spent"][amount] and score["normalized"] is not None
    ]


def _bucket_head(bucket: str, over: Sequence[str]) -> str:
    """Return the head of a column; what is over one bucket has its name."""
    if bucket != OVERALL:
        return bucket.capitalize()
    return "Overall" if len(over) > 1 else over[0].capitalize()


def _board_line(row: Mapping[str, Any], setting: str) -> dict[str, Any]:
    overall = row["buckets"][OVERALL]
    levels = row.get("levels", {})
    answers = max(
        row["spent"][f"{name}_reported"] for name in ("output_tokens", "cost")
    )
    gaps = [
        f"{n} {status}" for status, n in row["statuses"].items() if status != "answered"
    ]
    return {
        **{key: row[key] for key in _AS_IS},
        "rank": overall["rank"],
        "range": _rank_range(overall),
        # The rank over everything has a column of its own.
        "cells": {
            name: _figure_cell(score) | {"range": ""}
            if name == OVERALL
            else _figure_cell(score, levels.get(name))
            for name, score in row["buckets"].items()
        },
        "level": _level_figure(levels[OVERALL]) if levels else _NO_LEVEL,
        "tasks": {
            name: _figure_cell(score, levels.get(name))
            for name, score in row["tasks"].items()
        },
        "spent": [
            {
                "value": "" if amount is None else f"{amount:.9g}",
                "text": amount_words(amount, name) or "-",
                "partly": f"of {reported:,} answers"
                if amount is not None and reported < answers
                else "",
            }
            for name in ("output_tokens", "cost")
            for amount, reported in [
                (row["spent"][name], row["spent"][f"{name}_reported"])
            ]
        ],
        "overlap": _overlap_cell(row["overlap"]),
        "coverage": f"{overall['scored']}/{overall['expected']}",
        "covered": overall["scored"] / overall["expected"],
        "gaps": ", ".join(gaps),
        "setting": setting.replace("_", " "),
        "private": _private_cell(row["private"]) if "private" in row else _NO_CELL,
        "gap": _gap_cell(row["gap"]) if "gap" in row else _NO_CELL,
        "report": row["files"].get(REPORT),
        "files": {
            file.partition(".")[0]: path
            for file, path in row["files"].items()
            if file != REPORT
        },
        "links": {_LINKS[name]: link for name, link in row["links"].items()},
        "tools": ", ".join(row["tools"]),
        "sampling": ", ".join(
            f"{key}: {_short_json(value)}" for key, value in row["sampling"].items()
        ),
        "licence": row["outputs_licence"],
        "predictions": row["predictions_sha256"],
    }


def _overlap_cell(overlap: Mapping[str, int]) -> dict[str, str]:
    """Return how many answers to items with many right ones are the release's own."""
    same, of = overlap["same"], overlap["of"]
    if not of:
        return {"value": "", "text": "-", "of": ""}
    return {
        "value": f"{same / of:.9f}",
        "text": f"{same / of:.0%}",
        "of": f"{same} of {of}",
    }


def _private_cell(score: Mapping[str, Any]) -> dict[str, Any]:
    return _figure_cell({**score, "scored": 0, "expected": 0}, score["level"])


def _gap_cell(gap: Mapping[str, Any]) -> dict[str, str]:
    """Return public minus private mean as it is shown, with the value that it sorts by."""
    return _NO_CELL | {
        "value": f"{gap['difference']:.9f}",
        "text": points(gap["difference"]),
        "between": f"{points(gap['low'])} to {points(gap['high'])}",
        "above": gap["verdict"],
    }


def _level_figure(level: Mapping[str, Any]) -> dict[str, str]:
    """Return a level as it is shown, with the value that it sorts by."""
    row = {name.removeprefix("level_"): value for name, value in level.items()}
    value = min(max(height(dict(level)), 0.0), row["rungs"] + 1.0)
    return {
        "value": f"{value:.9f}",
        "text": level_words(row),
        "between": interval_words(row),
    }


def _figure_cell(
    score: Mapping[str, Any], level: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a figure as it is shown, with the value that it sorts by."""
    value = score["normalized"]
    gap = score["mean"] is not None and score["scored"] < score["expected"]
    ends = "" if value is None else interval(score, "normalized_")
    return {
        "value": "" if value is None else f"{value:.9f}",
        "heat": "" if value is None else f"h{int(min(max(value, 0.0), 1.0) * _HEATS)}",
        "text": normalized_words(score) + (GAP if gap else ""),
        "zero": points(score["mean_missing_as_zero"]) if gap else "",
        "between": ends,
        "above": ", ".join(mean_beside(score)),
        "level": "" if level is None else f"level {_level_figure(level)['text']}",
        "range": _rank_range(score),
    }


def _rank_range(score: Mapping[str, Any]) -> str:
    low, high = score.get("rank_low"), score.get("rank_high")
    if low is None:
        return ""
    return str(low) if low == high else f"{low} to {high}"


def _short_json(value: Any) -> str:  # noqa: ANN401
    text = value if isinstance(value, str) else canonical_json(value)
    return printable(text if len(text) <= 100 else f"{text[:97]}...")


def _history_line(row: Mapping[str, Any], releases: list[str]) -> dict[str, Any]:
    cells: dict[str, list[dict[str, Any]]] = {release: [] for release in releases}
    for part in row["releases"]:
        cells[own_name(part["release"])].append(
            {
                "value": ""
                if part["normalized"] is None
                else f"{part['normalized']:.9f}",
                "text": normalized_words(part),
                "rank": part["rank"],
            }
        )
    return {
        **{key: row[key] for key in ("organisation", "model", "version")},
        "setting": _HEADS[row["setting"]].lower()
        + {MANIFOLDS: ", text tasks", LADDER: ", ladder"}.get(row["tasks_of"], ""),
        "cells": [cells[release] for release in releases],
    }


PAGE, JSON, PARQUET = "index.html", "leaderboard.json", "leaderboard.parquet"


def hub_results(
    receipt: Receipt,
    dataset: str,
    *,
    revision: str | None = None,
    source: str | None = None,
) -> str:
    """Return the text of a file for ``.eval_results/`` of a model's repository.

    The data set is ORG/NAME on the Hub; the source, a page that shows the result.

    Raises:
        ResultsError: scores are missing, or are of the ladder, so that the data set's board cannot
            take the result; or ``dataset`` is no name.
    """
    if not _DATASET.fullmatch(dataset):
        raise ResultsError(
            f"{dataset!r} is not the name of a data set; name it as ORG/NAME"
        )
    if receipt.tasks_of == LADDER:
        raise ResultsError(
            "the Hub's board has means of the other configs, and no levels"
        )
    if not receipt.complete:
        overall = receipt.overall
        raise ResultsError(
            f"only {overall.scored} of {overall.expected} scores are there, and the Hub's board "
            "takes means over all of them"
        )
    notes = (
        f"mean of all scores; {receipt.setting.replace('_', '-')}; "
        f"scbench release {receipt.release.version}, "
        f"{receipt.attempts} answer(s) per instance, receipt {receipt.digest[:16]}"
    )
    entries: list[dict[str, Any]] = []
    ordered = dict(
        sorted(receipt.buckets.items(), key=lambda pair: (pair[0] != OVERALL, pair[0]))
    )
    if receipt.tasks_of == MANIFOLDS:
        del ordered[OVERALL]  # the default config has no text tasks
    for name, score in ordered.items():
        where = {"id": dataset, "task_id": "default" if name == OVERALL else name}
        entries.append(
            {
                "dataset": where | ({"revision": revision} if revision else {}),
                "value": float(rounded(100 * (score.mean or 0.0))),
                "date": receipt.date,
                **({"source": {"url": source, "name": "scbench"}} if source else {}),
                "notes": notes,
            }
        )
    return yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=100)


def write_board(
    out: Path,
    board: Mapping[str, Any],
    entries: Sequence[BoardEntry] = (),
    dataset: str | None = None,
) -> list[Path]:
    """Write a board into a folder, which is made if need be, and return the files.

    For the Hub, those of entries are written if its data set (ORG/NAME) is named.

    Raises:
        ResultsError: something cannot be written.
    """
    page = render_board(board)
    text = json.dumps(board, indent=1, ensure_ascii=False) + "\n"
    table = flat_rows(board)
    files = [out / name for name in (PAGE, JSON, PARQUET)]
    try:
        out.mkdir(parents=True, exist_ok=True)
        _write_file(files[1], text)
        write_whole(
            files[2], lambda part: table.write_parquet(part, compression="zstd")
        )
        _write_file(files[0], page)
        if dataset is not None:
            (out / HUB).mkdir(exist_ok=True)
        for entry in entries if dataset is not None else ():
            if entry.ranked and entry.receipt.tasks_of != LADDER:
                path = out / HUB / f"{entry.name}.yaml"
                files.append(path)
                _write_file(path, hub_results(entry.receipt, str(dataset)))
    except OSError as error:
        raise ResultsError(f"cannot write to {out}: {error.strerror}") from None
    return files


def _write_file(path: Path, text: str) -> None:
    write_whole(path, lambda part: part.write_text(text, "utf-8"))
