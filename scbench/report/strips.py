"""Small drawings in the tables of a report: the distribution of scores."""

from bisect import bisect_left
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

# Number of columns between the scores 0 and 1, and the score at which each starts.
_STEPS = 10
_ENDS = [i / _STEPS for i in range(_STEPS)]
# Pixels of a column.
_WIDTH = 6.0
_HEIGHT = 16.0
# Pixels of the lowest column, so that a single score is visible.
_LEAST_HEIGHT = 1.5
# Role of each column.
_ROLES = ("wrong", *["note"] * _STEPS, "right")


class Spread(NamedTuple):
    """Counts of scores.

    Attributes:
        columns: numbers of scores equal to 0, in each of ten steps from 0 to 1, and equal to 1.
        absent: number of missing scores.
    """

    columns: list[int]
    absent: int


def spread(scores: Sequence[float | None]) -> Spread:
    """Return the distribution of scores: 0, ten steps in between, 1, and missing ones.

    A step includes its upper end, but the last one excludes 1.
    """
    columns = [0] * (_STEPS + 2)
    absent = 0
    for score in scores:
        if score is None:
            absent += 1
        elif score >= 1:
            columns[-1] += 1
        else:
            columns[bisect_left(_ENDS, score)] += 1
    return Spread(columns, absent)


def spread_words(scores: Sequence[float | None]) -> str:
    """Return the distribution of scores in words."""
    columns, absent = spread(scores)
    parts = [f"score 1: {columns[-1]}"]
    between = sum(columns[1:-1])
    if between:
        parts.append(f"between: {between}")
    parts.append(f"score 0: {columns[0]}")
    if absent:
        parts.append(f"no score: {absent}")
    return ", ".join(parts)


def score_strip(scores: Sequence[float | None]) -> str:
    """Return a bar chart: score 0, ten steps in between, score 1, and no score.

    A bar of full height represents all scores.
    """
    columns, absent = spread(scores)
    total = max(len(scores), 1)
    parts = []
    for i, (count, role) in enumerate(zip(columns, _ROLES, strict=True)):
        parts.append(score_column(i * _WIDTH + 1, count / total, role))
    end = len(columns) * _WIDTH
    # A gap separates missing scores from the others.
    parts.append(score_column(end + _WIDTH, absent / total, "given"))
    parts.append(
        f'<path d="M0 {_HEIGHT + 1:g}H{end:g}" class="s-faint" stroke-width="1.5"/>'
    )
    width = f"{end + 2 * _WIDTH:g}"
    height = f"{_HEIGHT + 3:g}"
    return (
        f'<svg class="sb spread" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><title>{escape(spread_words(scores))}</title>'
        f"{''.join(parts)}</svg>"
    )


def score_column(x: float, share: float, role: str) -> str:
    """Return a bar for a share of the scores; nothing if the share is 0."""
    if not share:
        return ""
    height = max(share * _HEIGHT, _LEAST_HEIGHT)
    return (
        f'<rect x="{x:g}" y="{_HEIGHT - height:.1f}" width="{_WIDTH - 1.5:g}" '
        f'height="{height:.1f}" class="f-{role}"/>'
    )
