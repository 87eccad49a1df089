"""Levels on the board: of submissions that answered the ladder of a release."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from scbench.analysis.ladder import climbs_of, ladder_table
from scbench.base.model import LADDER
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.collect import BoardEntry

SCHEMA: Mapping[str, Any] = {
    **dict.fromkeys(("level", "level_low", "level_high"), pl.Float64),
    "beyond": pl.String,
}
"""Columns that ``leaderboard.parquet`` has besides, where a submission answered the ladder."""

Level = dict[str, Any]
Key = tuple[str, ...]


def levels_of(entries: Iterable[BoardEntry]) -> dict[str, dict[str, Level]]:
    """Return, by submission, the levels by task, by bucket and overall of those on the ladder.

    Each has the columns `SCHEMA`, and rungs, how many the ladder has.
    """
    found: dict[str, dict[str, Level]] = {}
    for entry in entries:
        if entry.receipt.tasks_of == LADDER:
            table = ladder_table(climbs_of(entry.results)).rename(
                {"low": "level_low", "high": "level_high"}
            )
            rows = table.select("bucket", "task", *SCHEMA, "rungs").to_dicts()
            levels = {row.pop("task") or row["bucket"]: row for row in rows}
            for row in rows:
                del row["bucket"]
            # Over a single bucket, "overall" is that bucket.
            levels.setdefault(OVERALL, rows[-1])
            found[entry.name] = levels
    return found


def key_of(entry: BoardEntry) -> Key:
    """Return what submissions of one model to several boards of a release have in common."""
    about = entry.about
    return (about.release, about.organisation, about.model.name, about.model.version, about.setting)


def height(level: Level) -> float:
    """Return a number that levels sort by, those beyond the ladder at its ends."""
    if level["level"] is not None:
        return float(level["level"])
    above = (level["beyond"] or "").startswith("above")
    return float("inf") if above else float("-inf")
