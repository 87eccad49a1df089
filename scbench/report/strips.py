"""Small drawings in the tables of a report: an interval, and the spread of scores."""

from bisect import bisect_left
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

# Columns between the scores 0 and 1, and the score at which each begins.
_STEPS = 10
_ENDS = [i / _STEPS for i in range(_STEPS)]
# Pixels of a column.
_WIDTH = 8.0
_HEIGHT = 24.0
# Pixels of the lowest column, so that one score of many shows.
_LEAST_HEIGHT = 1.5
# Role of each column.
_ROLES = ("wrong", *["note"] * _STEPS, "right")


class Spread(NamedTuple):
    """Counts of scores.

    Attributes:
        columns: how many are 0, in each of ten steps between, and 1.
        absent: how many are missing.
    """

    columns: list[int]
    absent: int


def interval_strip(score: float | None, low: float | None, high: float | None) -> str:
    """Return a line from 0 to 1 with an interval, and a dot for the score."""
    parts = ['<path d="M4 6H114" class="s-faint" stroke-width="2"/>']
    if low is not None and high is not None:
        parts.append(
            f'<path d="M{interval_place(low)} 6H{interval_place(high)}" '
            'class="s-answer" stroke-width="4" stroke-opacity=".45"/>'
        )
    if score is not None:
        parts.append(
            f'<circle cx="{interval_place(score)}" cy="6" r="3.6" class="f-answer"/>'
        )
    return (
        '<svg class="sb meter" width="118" height="12" viewBox="0 0 118 12" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )


def interval_place(score: float) -> str:
    """Return where a score is on a strip of intervals, in pixels."""
    return f"{4 + min(max(score, 0.0), 1.0) * 110:.1f}"


def spread(scores: Sequence[float | None]) -> Spread:
    """Return how many scores are 0, in each of ten steps between, and 1, and how many are missing.

    A step holds its upper end: the last holds what is above 0.9 and below 1.
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
    """Return the spread of scores in words."""
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
    """Return columns for the score 0, ten steps between, the score 1, and for no score.

    A column as high as the chart is all of the scores.
    """
    columns, absent = spread(scores)
    total = max(len(scores), 1)
    parts = []
    for i, (count, role) in enumerate(zip(columns, _ROLES, strict=True)):
        parts.append(score_column(i * _WIDTH + 1, count / total, role))
    end = len(columns) * _WIDTH
    # One column is free between scores and no score.
    parts.append(score_column(end + _WIDTH, absent / total, "given"))
    parts.append(
        f'<path d="M0 {_HEIGHT + 1:g}H{end:g}" class="s-faint" stroke-width="1.5"/>'
    )
    width, height = f"{end + 2 * _WIDTH:g}", f"{_HEIGHT + 3:g}"
    return (
        f'<svg class="sb spread" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><title>{escape(spread_words(scores))}</title>'
        f"{''.join(parts)}</svg>"
    )


def score_column(x: float, share: float, role: str) -> str:
    """Return a column for a share of the scores; nothing for none."""
    if not share:
        return ""
    height = max(share * _HEIGHT, _LEAST_HEIGHT)
    return (
        f'<rect x="{x:g}" y="{_HEIGHT - height:.1f}" width="{_WIDTH - 1.5:g}" '
        f'height="{height:.1f}" class="f-{role}"/>'
    )
