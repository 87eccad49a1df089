"""The board as a flat table, ``leaderboard.parquet``: a row for each score of a submission."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from scbench.grading.means import MEANS
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.board import LEVELS, Record, Row, board_rows

_TEXTS = (
    "release",
    "release_hash",
    "graders",
    "tasks_of",
    "setting",
    "submission",
    "organisation",
    "model",
    "version",
    "date",
    "bucket",
    "task",
)
# Each row is for a bucket, a task, or the bucket "overall".
SCHEMA: Mapping[str, Any] = {
    **dict.fromkeys(_TEXTS, pl.String),
    **dict.fromkeys(("n", "expected", "scored"), pl.Int64),
    **dict.fromkeys((*MEANS, "mean_missing_as_zero"), pl.Float64),
    **dict.fromkeys(("rank", "rank_low", "rank_high"), pl.Int64),
    "receipt": pl.String,
}
# Additional columns of "overall" rows if there is a private ladder.
PRIVATE: Mapping[str, Any] = dict.fromkeys(
    ("private_normalized", "private_mean", "gap", "gap_low", "gap_high"), pl.Float64
)


def flat_rows(board: Record) -> pl.DataFrame:
    """Return a board as a table.

    Args:
        board: see `scbench.leaderboard.board.make_board`.

    Returns:
        The columns `SCHEMA`, then `PRIVATE` and `LEVELS` if any submission has values for them.
    """
    rows: list[Row] = []
    for part, setting, entry in board_rows(board["boards"]):
        # Columns without a value are null.
        head = dict.fromkeys(SCHEMA) | {
            "release": part["release"]["version"],
            "release_hash": part["release"]["rows_hash"],
            "graders": part["graders_key"],
            "tasks_of": part["tasks_of"],
        }
        for key in SCHEMA:
            if isinstance(entry.get(key), str):
                head[key] = entry[key]
        head["setting"] = setting
        levels = entry.get("levels", {})
        private = private_columns(entry)
        for name, score in entry["buckets"].items():
            row = head | {"bucket": name} | score | level_columns(levels, name)
            rows.append(row | private if name == OVERALL else row)
        for name, score in entry["tasks"].items():
            rows.append(head | {"task": name} | score | level_columns(levels, name))
    schema = dict(SCHEMA)
    if any("private_mean" in row for row in rows):
        schema |= PRIVATE
    if any("level" in row for row in rows):
        schema |= LEVELS
    return pl.DataFrame(rows, schema=schema)


def level_columns(levels: Mapping[str, Record], name: str) -> Row:
    """Return the columns of a bucket's or task's level, if it has one."""
    if name not in levels:
        return {}
    return {key: levels[name][key] for key in LEVELS}


def private_columns(entry: Record) -> dict[str, float]:
    """Return the columns of an entry's private score and gap, if it has them."""
    if "private" not in entry:
        return {}
    private = entry["private"]
    columns = {
        "private_normalized": private["normalized"],
        "private_mean": private["mean"],
    }
    if "gap" in entry:
        gap = entry["gap"]
        columns |= {
            "gap": gap["difference"],
            "gap_low": gap["low"],
            "gap_high": gap["high"],
        }
    return columns
