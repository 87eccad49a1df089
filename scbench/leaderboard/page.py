"""The board as a page: one file that loads nothing, made of ``leaderboard.json``."""

from collections.abc import Mapping, Sequence
from typing import Any

from scbench.analysis.ladder import interval_words, level_words
from scbench.analysis.sheets import points
from scbench.base.canonical import canonical_json
from scbench.base.errors import printable
from scbench.base.model import LADDER
from scbench.catalog import MANIFOLDS, all_tasks
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.grade import REPORT
from scbench.leaderboard.levels import height
from scbench.leaderboard.scatter import Point, amount_words, scatter, spent_on
from scbench.release.about import TITLE
from scbench.release.manifest import own_name

_TEMPLATE = "board.html.j2"
_HEADS = {"no_tools": "Without tools", "tools": "With tools"}
_LINKS = {"paper": "paper", "code": "code", "weights": "weights", "homepage": "page"}


def render_board(board: Mapping[str, Any]) -> str:
    """Return the page of a board.

    Args:
        board: as `scbench.leaderboard.board.make_board` gives it.

    Raises:
        ModuleNotFoundError: the extra ``leaderboard`` is not installed.
    """
    from scbench.report.html import asset, render_page  # noqa: PLC0415  (needs an extra)

    titles = {task.id: task.title for task in all_tasks().values()}
    releases = [
        part["release"]["version"] for part in board["boards"] if part["tasks_of"] != LADDER
    ]
    public = (part for part in board["boards"] if not part.get("private"))
    named = (own_name(part["release"]["version"]) for part in public)
    releases += [version for version in dict.fromkeys(named) if version not in releases]
    return render_page(
        _TEMPLATE,
        title=f"{TITLE}: leaderboard",
        styles=[asset("board.css", "scbench.leaderboard"), _heat_rules()],
        scripts=[asset("sortable.js")],
        boards=[_part(part, titles) for part in board["boards"]],
        releases=releases,
        history=[_past(row, releases) for row in board["history"]],
    )


_PAPER = (("#ffffff", "#0072b2"), ("#16181c", "#56b4e9"))
"""The page's colour and that of full marks, light and dark, see ``page.css``."""
_HEATS = 10
_FULL = 0.45
"""How much of its colour full marks have, so that figures on it can be read."""


def _heat_rules() -> str:
    """Return the colours of a heat map's cells: class ``hK`` for K tenths of full marks."""
    light, dark = (
        "".join(
            f"td.h{i}{{background:{_mixed(*ends, _FULL * i / _HEATS)}}}" for i in range(_HEATS + 1)
        )
        for ends in _PAPER
    )
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"


def _mixed(start: str, end: str, share: float) -> str:
    pairs = ((int(start[i : i + 2], 16), int(end[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _part(part: Mapping[str, Any], titles: Mapping[str, str]) -> dict[str, Any]:
    version = own_name(part["release"]["version"])
    rows = [row for entries in part["settings"].values() for row in entries]
    buckets = {name: (_head(name, part["over"]), n) for name, n in part["buckets"].items()}
    amount = spent_on(rows)
    return {
        "version": version,
        "amount": {"cost": "cost", "output_tokens": "output tokens"}[amount],
        "chart": scatter(_points(part["settings"], amount), amount),
        "texts": part["tasks_of"] == MANIFOLDS,
        "ladder": part["tasks_of"] == LADDER,
        "private": part.get("private", False),
        "gaps": any("private" in row for row in rows),
        "levels": any("levels" in row for row in rows),
        "rows_hash": part["release"]["rows_hash"],
        "graders_key": part["graders_key"],
        "graders": part["graders"],
        "fingerprints": part["fingerprints"],
        "buckets": buckets,
        "tasks": {name: (titles.get(name, name), n) for name, n in part["tasks"].items()},
        "settings": [
            {
                "id": f"r{version}-{part['tasks_of']}-{setting}".replace(".", "-"),
                "title": _HEADS[setting],
                "tools": setting == "tools",
                "ranked": [_line(row, setting) for row in rows if row["ranked"]],
                "unranked": [_line(row, setting) for row in rows if not row["ranked"]],
            }
            for setting, rows in part["settings"].items()
        ],
    }


def _points(settings: Mapping[str, Sequence[Mapping[str, Any]]], amount: str) -> list[Point]:
    """Return the models of a chart; with several settings, one with tools says so."""
    return [
        Point(
            row["model"] + (", tools" if setting == "tools" and len(settings) > 1 else ""),
            row["spent"][amount],
            score["mean"],
            score["low"],
            score["high"],
        )
        for setting, rows in settings.items()
        for row in rows
        for score in [row["buckets"][OVERALL]]
        if row["spent"][amount] and score["mean"] is not None and score["low"] is not None
    ]


def _head(bucket: str, over: Sequence[str]) -> str:
    """Return the head of a column; what is over one bucket has its name."""
    if bucket != OVERALL:
        return bucket.capitalize()
    return "Overall" if len(over) > 1 else over[0].capitalize()


def _line(row: Mapping[str, Any], setting: str) -> dict[str, Any]:
    overall = row["buckets"][OVERALL]
    levels = row.get("levels", {})
    asked = max(row["spent"][f"{name}_reported"] for name in ("output_tokens", "cost"))
    gaps = [f"{n} {status}" for status, n in row["statuses"].items() if status != "answered"]
    return {
        **{key: row[key] for key in ("submission", "organisation", "date", "attempts", "version")},
        "model": row["model"],
        "rank": overall["rank"],
        "range": _range(overall),
        # The rank over everything has a column of its own.
        "cells": {
            name: _cell(score) | {"range": ""}
            if name == OVERALL
            else _cell(score, levels.get(name))
            for name, score in row["buckets"].items()
        },
        "level": _level(levels[OVERALL]) if levels else _NO_LEVEL,
        "tasks": {name: _cell(score, levels.get(name)) for name, score in row["tasks"].items()},
        "spent": [
            {
                "value": "" if amount is None else f"{amount:.9g}",
                "text": amount_words(amount, name) or "-",
                "partly": f"of {told:,} answers" if amount is not None and told < asked else "",
            }
            for name in ("output_tokens", "cost")
            for amount, told in [(row["spent"][name], row["spent"][f"{name}_reported"])]
        ],
        "overlap": _overlap(row["overlap"]),
        "coverage": f"{overall['scored']}/{overall['expected']}",
        "covered": overall["scored"] / overall["expected"],
        "gaps": ", ".join(gaps),
        "copied": row["copied"],
        "setting": setting.replace("_", " "),
        "private": _cell(row["private"] | {"scored": 0, "expected": 0}, row["private"]["level"])
        if "private" in row
        else _NO_CELL,
        "gap": _gap(row["gap"]) if "gap" in row else _NO_CELL,
        "report": row["files"].get(REPORT),
        "files": {
            file.partition(".")[0]: path for file, path in row["files"].items() if file != REPORT
        },
        "links": {_LINKS[name]: link for name, link in row["links"].items()},
        "tools": ", ".join(row["tools"]),
        "sampling": ", ".join(f"{key}: {_short(value)}" for key, value in row["sampling"].items()),
        "licence": row["outputs_licence"],
        "predictions": row["predictions_sha256"],
        "receipt": row["receipt"],
    }


_NO_CELL = dict.fromkeys(("value", "zero", "between", "above", "level", "range"), "") | {
    "text": "-"
}


def _overlap(overlap: Mapping[str, int]) -> dict[str, str]:
    """Return how many of the answers that could have been others are the release's own."""
    same, of = overlap["same"], overlap["of"]
    if not of:
        return {"value": "", "text": "-", "of": ""}
    return {"value": f"{same / of:.9f}", "text": f"{same / of:.0%}", "of": f"{same} of {of}"}


def _gap(gap: Mapping[str, Any]) -> dict[str, str]:
    """Return public minus private mean as it is shown, with the value that it sorts by."""
    return _NO_CELL | {
        "value": f"{gap['difference']:.9f}",
        "text": points(gap["difference"]),
        "between": f"{points(gap['low'])} to {points(gap['high'])}",
        "above": gap["verdict"],
    }


_NO_LEVEL = {"value": "", "text": "-", "between": ""}


def _level(level: Mapping[str, Any]) -> dict[str, str]:
    """Return a level as it is shown, with the value that it sorts by."""
    row = {name.removeprefix("level_"): value for name, value in level.items()}
    value = min(max(height(dict(level)), 0.0), row["rungs"] + 1.0)
    return {"value": f"{value:.9f}", "text": level_words(row), "between": interval_words(row)}


def _cell(score: Mapping[str, Any], level: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a figure as it is shown, with the value that it sorts by."""
    mean, low = score["mean"], score.get("low")
    gap = mean is not None and score["scored"] < score["expected"]
    return {
        "value": "" if mean is None else f"{mean:.9f}",
        "heat": "" if mean is None else f"h{int(min(max(mean, 0.0), 1.0) * _HEATS)}",
        "text": points(mean) + ("*" if gap else ""),
        "zero": points(score["mean_missing_as_zero"]) if gap else "",
        "between": "" if low is None else f"{points(low)} to {points(score['high'])}",
        "above": "" if score.get("above") is None else _above(score),
        "level": "" if level is None else f"level {_level(level)['text']}",
        "range": _range(score),
    }


def _above(score: Mapping[str, Any]) -> str:
    """Return the mean above the floor, in points."""
    ends = (points(score[f"above_{end}"]) for end in ("low", "high"))
    return f"{points(score['above'])} ({' to '.join(ends)}) above floor"


def _range(score: Mapping[str, Any]) -> str:
    low, high = score.get("rank_low"), score.get("rank_high")
    if low is None:
        return ""
    return str(low) if low == high else f"{low} to {high}"


def _short(value: Any) -> str:  # noqa: ANN401
    text = value if isinstance(value, str) else canonical_json(value)
    return printable(text if len(text) <= 100 else f"{text[:97]}...")


def _past(row: Mapping[str, Any], releases: list[str]) -> dict[str, Any]:
    cells: dict[str, list[dict[str, Any]]] = {release: [] for release in releases}
    for part in row["releases"]:
        cells[own_name(part["release"])].append(
            {
                "value": "" if part["mean"] is None else f"{part['mean']:.9f}",
                "text": points(part["mean"]) + ("" if part["ranked"] else "*"),
                "rank": part["rank"],
            }
        )
    return {
        **{key: row[key] for key in ("organisation", "model", "version")},
        "setting": _HEADS[row["setting"]].lower()
        + {MANIFOLDS: ", text tasks", LADDER: ", ladder"}.get(row["tasks_of"], ""),
        "cells": [cells[release] for release in releases],
    }
