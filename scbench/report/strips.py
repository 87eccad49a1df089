"""Small charts for table cells: a mean with its interval, and how scores are spread."""

from collections.abc import Sequence
from html import escape

_STEPS = 10
"""Columns between the scores 0 and 1."""
_WIDTH, _HEIGHT = 8.0, 24.0


def interval_strip(
    mean: float | None, low: float | None, high: float | None, floor: float | None = None
) -> str:
    """Return a line from 0 to 1 with an interval and a dot, for a cell that has the figures too.

    Args:
        mean: the dot; None for none.
        low: lower end of the interval; None for none.
        high: its upper end.
        floor: a tick across the line; None for none.
    """
    length, y = 110.0, 6.0
    parts = [f'<path d="M4 {y:g}H{length + 4:g}" class="s-faint" stroke-width="2"/>']
    if low is not None and high is not None:
        parts.append(
            f'<path d="M{4 + low * length:.1f} {y:g}H{4 + high * length:.1f}" class="s-answer" '
            'stroke-width="4" stroke-opacity=".45"/>'
        )
    if floor is not None:
        parts.append(
            f'<path d="M{4 + floor * length:.1f} 0V12" class="s-quiet" stroke-width="1.5"/>'
        )
    if mean is not None:
        parts.append(f'<circle cx="{4 + mean * length:.1f}" cy="{y:g}" r="3.6" class="f-answer"/>')
    width = length + 8
    return (
        f'<svg class="sb meter" width="{width:g}" height="12" viewBox="0 0 {width:g} 12" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )


def spread(scores: Sequence[float | None]) -> tuple[list[int], int]:
    """Return how many scores are 0, in each of ten steps between, and 1, and how many are missing.

    A step holds its upper end: the last holds what is above 0.9 and below 1.
    """
    columns = [0] * (_STEPS + 2)
    present = [score for score in scores if score is not None]
    for score in present:
        if score <= 0:
            place = 0
        elif score >= 1:
            place = _STEPS + 1
        else:
            place = next(i for i in range(1, _STEPS + 1) if score <= i / _STEPS)
        columns[place] += 1
    return columns, len(scores) - len(present)


def spread_words(scores: Sequence[float | None]) -> str:
    """Return the spread of scores in words."""
    columns, absent = spread(scores)
    zero, between, full = columns[0], sum(columns[1:-1]), columns[-1]
    parts = [f"score 1: {full}"]
    parts += [f"between: {between}"] if between else []
    parts += [f"score 0: {zero}"]
    parts += [f"no score: {absent}"] if absent else []
    return ", ".join(parts)


def score_strip(scores: Sequence[float | None]) -> str:
    """Return columns for the score 0, ten steps between, the score 1, and for no score.

    A column as high as the chart is all of the scores.
    """
    columns, absent = spread(scores)
    total = max(len(scores), 1)
    roles = ["wrong", *["note"] * _STEPS, "right"]
    parts = []
    for i, count in enumerate(columns):
        if count:
            high = max(count / total * _HEIGHT, 1.5)
            parts.append(
                f'<rect x="{i * _WIDTH + 1:g}" y="{_HEIGHT - high:.1f}" width="{_WIDTH - 1.5:g}" '
                f'height="{high:.1f}" class="f-{roles[i]}"/>'
            )
    end = len(columns) * _WIDTH
    if absent:
        high = max(absent / total * _HEIGHT, 1.5)
        parts.append(
            f'<rect x="{end + _WIDTH:g}" y="{_HEIGHT - high:.1f}" width="{_WIDTH - 1.5:g}" '
            f'height="{high:.1f}" class="f-given"/>'
        )
    parts.append(f'<path d="M0 {_HEIGHT + 1:g}H{end:g}" class="s-faint" stroke-width="1.5"/>')
    width = end + 2 * _WIDTH
    return (
        f'<svg class="sb spread" role="img" width="{width:g}" height="{_HEIGHT + 3:g}" '
        f'viewBox="0 0 {width:g} {_HEIGHT + 3:g}"><title>{escape(spread_words(scores))}</title>'
        f"{''.join(parts)}</svg>"
    )
