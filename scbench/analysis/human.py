"""Human results: scores and levels of people, for comparison with models.

People answer the items of `scbench play --measure`. Players are a sample of people, so
intervals are over players: Student's t-interval of the players' means. People have no
rank among models.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from scbench.analysis.ladder import climbs_of, ladder_table, read_ladders
from scbench.analysis.layout import Column, Row, Sheet, sheet_of
from scbench.analysis.results import release_weights
from scbench.analysis.sheets import number
from scbench.base.errors import ResultsError
from scbench.base.intervals import LEVEL
from scbench.base.model import HUMAN
from scbench.grading.score_tables import score_table

# In means, a level beyond the ladder counts as this many rungs beyond it.
BEYOND = 0.5
# Steps of the numerical integral of Student's density; an even number.
STEPS = 2_000
# Halvings of the interval that contains the quantile.
HALVINGS = 60
# Upper bound of the quantiles for two or more players at the level used here.
LARGEST_QUANTILE = 1_000.0

NOTE = (
    "People: means over players. The 95 % intervals reflect differences between players. Compare "
    "people only with models on the same rungs and tasks; people have no rank."
)


class PlayersMean(NamedTuple):
    """A mean over players.

    Attributes:
        mean: None if nobody has a value.
        low: lower end of the interval; None with fewer than two players.
        high: upper end.
    """

    mean: float | None
    low: float | None
    high: float | None


def read_people(folders: Sequence[Path]) -> pl.DataFrame:
    """Return the rows of people in results of the ladder, with their rung.

    Raises:
        ResultsError: there are no answers by people, or the results cannot be read.
    """
    rows = read_ladders(folders, partial=True)
    people = rows.filter(pl.col("setting") == HUMAN)
    if people.is_empty():
        names = ", ".join(map(str, folders))
        raise ResultsError(
            f"{names}: no answers by people; grade a file from `scbench play --measure` with "
            "`scbench-grade FILE --tasks ladder --partial`"
        )
    return people


def human_table(people: pl.DataFrame) -> pl.DataFrame:
    """Return the human results for each bucket, and overall if there are several buckets.

    Args:
        people: as returned by `read_people`.

    Returns:
        Columns bucket, players, answers (per player, on average), normalized, low, high, level,
        level_low, level_high. Normalized scores are in [0, 1]; levels count rungs.
    """
    scores = score_table(people, "bucket", release_weights(people))
    levels = ladder_table(climbs_of(people)).filter(pl.col("task").is_null())
    rows = []
    for bucket in scores["bucket"].unique(maintain_order=True):
        is_scored = pl.col("scored") > 0
        bucket_scores = scores.filter((pl.col("bucket") == bucket) & is_scored)
        values = bucket_scores["normalized"].drop_nulls().to_list()
        # Only answers worse than the floor are below 0.
        normalized = players_mean(values, min([0.0, *values]), 1.0)
        bucket_levels = levels.filter(pl.col("bucket") == bucket).to_dicts()
        top = max(row["rungs"] for row in bucket_levels) + BEYOND
        level = players_mean(list(level_values(bucket_levels)), 1 - BEYOND, top)
        rows.append(
            {
                "bucket": bucket,
                "players": bucket_scores["model"].n_unique(),
                "answers": bucket_scores["scored"].mean(),
                "normalized": normalized.mean,
                "low": normalized.low,
                "high": normalized.high,
                "level": level.mean,
                "level_low": level.low,
                "level_high": level.high,
            }
        )
    return pl.DataFrame(rows)


def level_values(rows: Sequence[Row]) -> Iterator[float]:
    """Yield the level of each player; levels beyond the ladder count as half a rung beyond it."""
    for row in rows:
        if row["level"] is not None:
            yield row["level"]
        elif row["beyond"] is not None:
            is_above = row["beyond"].startswith("above")
            yield row["rungs"] + BEYOND if is_above else 1 - BEYOND


def players_mean(values: Sequence[float], least: float, most: float) -> PlayersMean:
    """Return the mean of one value per player, with Student's t-interval.

    Args:
        values: one value for each player.
        least: lower bound of the values and of the interval.
        most: upper bound of both.
    """
    n = len(values)
    if n == 0:
        return PlayersMean(None, None, None)
    mean = float(np.mean(values))
    if n == 1:
        return PlayersMean(mean, None, None)
    standard_error = float(np.std(values, ddof=1)) / math.sqrt(n)
    reach = t_quantile((1 + LEVEL) / 2, n - 1) * standard_error
    return PlayersMean(mean, max(least, mean - reach), min(most, mean + reach))


def t_quantile(probability: float, freedom: int) -> float:
    """Return a quantile of Student's distribution, for a probability of at least one half."""
    low = 0.0
    high = LARGEST_QUANTILE
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if t_probability(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return high


def t_probability(value: float, freedom: int) -> float:
    """Return the probability that Student's variable is at most a non-negative value."""
    # With x = sqrt(freedom) tan(angle), the density is a power of the cosine on a finite range.
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    scale = math.exp(log_scale) / math.sqrt(math.pi)
    last_angle = math.atan(value / math.sqrt(freedom))
    angles = np.linspace(0.0, last_angle, STEPS + 1)
    heights = np.cos(angles) ** (freedom - 1)
    # Simpson's rule.
    sums = (
        heights[0] + heights[-1] + 4 * heights[1::2].sum() + 2 * heights[2:-1:2].sum()
    )
    area = last_angle / STEPS / 3 * float(sums)
    return 0.5 + scale * area


def human_sheet(table: pl.DataFrame) -> Sheet:
    """Lay out a table of `human_table`."""
    columns = (
        Column("people", "bucket", is_words=True),
        Column("players", "players"),
        Column("answers each", number("answers", ".1f")),
        Column("normalized", percent_cell),
        Column("95 %", percent_interval),
        Column("level", number("level", ".1f")),
        Column("95 % CI of level", level_interval),
    )
    return sheet_of("People", columns, table.to_dicts(), [NOTE])


def percent_cell(row: Row) -> str:
    """Return a normalized score from 0 to 100."""
    return "-" if row["normalized"] is None else f"{100 * row['normalized']:.1f}"


def percent_interval(row: Row) -> str:
    """Return the interval of a normalized score; empty for one player."""
    if row["low"] is None:
        return ""
    return f"{100 * row['low']:.1f} to {100 * row['high']:.1f}"


def level_interval(row: Row) -> str:
    """Return the interval of a level; empty for one player."""
    if row["level_low"] is None:
        return ""
    return f"{row['level_low']:.1f} to {row['level_high']:.1f}"
