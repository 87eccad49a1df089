"""The chart of a board: score against what an answer cost, a point for each model.

It is SVG of the page's own colours, so it needs no library and no script, and is as light or dark
as the page.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from scbench.analysis.sheets import points

_WIDTH, _HEIGHT = 720.0, 340.0
_LEFT_MARGIN, _RIGHT_MARGIN, _TOP_MARGIN, _BOTTOM_MARGIN = 44.0, 120.0, 14.0, 46.0
_LINE = 14.0
"""Height of a label."""
_LETTER = 7.2
"""How wide a letter of a label is, at most on average."""
_LETTERS, _MOST_LABELS = 34, 24
_LEAST, _GREATEST = 1e-6, 1e9
"""Amounts beyond are drawn there: they are reported, not measured."""
_TITLES = {"cost": "US dollars per answer", "output_tokens": "output tokens per answer"}


class Point(NamedTuple):
    """A model in the chart: name, amount spent per answer, mean score with its interval."""

    name: str
    x: float
    mean: float
    low: float
    high: float


def spent_on(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return which amount the chart is over: cost, or output tokens if no model reports a cost."""
    return "cost" if any(row["spent"]["cost"] for row in rows) else "output_tokens"


def scatter(dots: Sequence[Point], amount: str) -> str:
    """Return the chart of models that report what they spent, as SVG; empty without points."""
    if not dots:
        return ""
    dots = [dot._replace(x=min(max(dot.x, _LEAST), _GREATEST)) for dot in dots]
    low, high = _log_ends([dot.x for dot in dots])

    def x(value: float) -> float:
        share = (math.log10(value) - low) / (high - low)
        return _LEFT_MARGIN + share * (_WIDTH - _LEFT_MARGIN - _RIGHT_MARGIN)

    def y(value: float) -> float:
        return _TOP_MARGIN + (1 - value) * (_HEIGHT - _TOP_MARGIN - _BOTTOM_MARGIN)

    parts = []
    for step in range(0, 101, 20):
        at = y(step / 100)
        parts.append(
            f'<path d="M{_LEFT_MARGIN:g} {at:.1f}H{_WIDTH - _RIGHT_MARGIN:g}" class="s-faint"/>'
        )
        parts.append(_svg_label(_LEFT_MARGIN - 8, at + 4, str(step), "quiet", "end"))
    for value in _log_ticks(low, high):
        at = x(value)
        parts.append(
            f'<path d="M{at:.1f} {_TOP_MARGIN:g}V{_HEIGHT - _BOTTOM_MARGIN:g}" class="s-faint"/>'
        )
        parts.append(
            _svg_label(
                at, _HEIGHT - _BOTTOM_MARGIN + 17, amount_words(value, amount), "quiet", "middle"
            )
        )
    middle = (_LEFT_MARGIN + _WIDTH - _RIGHT_MARGIN) / 2
    parts.append(
        _svg_label(
            middle, _HEIGHT - 8, f"{_TITLES[amount]}, a logarithmic scale", "quiet", "middle"
        )
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
        words = dot.name if len(dot.name) <= _LETTERS else f"{dot.name[: _LETTERS - 1]}…"
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


def _labels_meet(first: tuple[float, float, float], second: tuple[float, float, float]) -> bool:
    earlier, later = sorted((first, second))
    return abs(earlier[1] - later[1]) < _LINE and later[0] < earlier[0] + earlier[2]


def _log_ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the scale as powers of ten, so that all values are inside."""
    low, high = (math.log10(end(values)) for end in (min, max))
    room = max(0.08 * (high - low), 0.15)
    return low - room, high + room


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
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" text-anchor="{anchor}" '
        f'class="f-{role}">{escape(words)}</text>'
    )
