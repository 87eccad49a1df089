"""The chart of the board: score against the amount that an answer used, a point for each model.

It is SVG in the page's colours, so it needs no library and no script, and is as light or dark as
the page.
"""

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from scbench.analysis.sheets import points

# Sizes are in pixels of the SVG.
_WIDTH, _HEIGHT = 720.0, 340.0
_LEFT, _RIGHT = 44.0, _WIDTH - 120.0
_TOP, _BOTTOM = 14.0, _HEIGHT - 46.0
# Height of a label.
_LINE = 14.0
# Width of a letter of a label, at most on average.
_LETTER = 7.2
_MOST_LETTERS, _MOST_LABELS = 34, 24
# Distance of a label from the centre of its point.
_LABEL_GAP = 9
# Amounts beyond are drawn there: they are reported, not measured.
_LEAST, _GREATEST = 1e-6, 1e9
# More ticks overlap.
_MOST_TICKS = 8
# Steps of ticks within a power of ten, the finest first.
_TICK_STEPS = ((1, 2, 5), (1, 3), (1,))
_TITLES = {"cost": "US dollars per answer", "output_tokens": "output tokens per answer"}


class Point(NamedTuple):
    """A model in the chart: name, amount per answer, score with its interval."""

    name: str
    x: float
    mean: float
    low: float
    high: float


class Label(NamedTuple):
    """The place of a label: its left end, its baseline and its width."""

    x: float
    y: float
    width: float


class LogScale(NamedTuple):
    """A logarithmic scale of amounts: its ends as powers of ten."""

    low: float
    high: float

    def x(self, value: float) -> float:
        """Return the place of an amount from left to right."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return _LEFT + share * (_RIGHT - _LEFT)

    def ticks(self) -> list[float]:
        """Return round values between the ends."""
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        for steps in _TICK_STEPS:
            ticks = [
                step * 10.0**power
                for power in powers
                for step in steps
                if self.low <= math.log10(step) + power <= self.high
            ]
            if len(ticks) <= _MOST_TICKS:
                return ticks
        return ticks[:: math.ceil(len(ticks) / _MOST_TICKS)]


def scatter(dots: Sequence[Point], amount: str) -> str:
    """Return the chart as SVG; empty without points.

    Args:
        dots: models that report the amount.
        amount: "cost" or "output_tokens".
    """
    if not dots:
        return ""
    dots = [dot._replace(x=min(max(dot.x, _LEAST), _GREATEST)) for dot in dots]
    low = math.log10(min(dot.x for dot in dots))
    high = math.log10(max(dot.x for dot in dots))
    # Points do not touch the frame, and a single one has a scale, too.
    room = max(0.08 * (high - low), 0.15)
    scale = LogScale(low - room, high + room)
    parts = [*draw_grid(scale, amount), *draw_points(dots, scale, amount)]
    return (
        f'<svg class="sb" width="{_WIDTH:g}" height="{_HEIGHT:g}" '
        f'viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )


def draw_grid(scale: LogScale, amount: str) -> Iterator[str]:
    """Yield the lines of the grid, and the labels of the axes."""
    for score in range(0, 101, 20):
        y = score_y(score / 100)
        yield f'<path d="M{_LEFT:g} {y:.1f}H{_RIGHT:g}" class="s-faint"/>'
        yield svg_label(_LEFT - 8, y + 4, str(score), "quiet", "end")
    for value in scale.ticks():
        x = scale.x(value)
        yield f'<path d="M{x:.1f} {_TOP:g}V{_BOTTOM:g}" class="s-faint"/>'
        text = amount_words(value, amount)
        yield svg_label(x, _BOTTOM + 17, text, "quiet", "middle")
    title = f"{_TITLES[amount]}, a logarithmic scale"
    yield svg_label((_LEFT + _RIGHT) / 2, _HEIGHT - 8, title, "quiet", "middle")


def draw_points(dots: Sequence[Point], scale: LogScale, amount: str) -> Iterator[str]:
    """Yield the points, best first, and labels where there is room."""
    labels: list[Label] = []
    ordered_dots = sorted(dots, key=lambda dot: (-dot.mean, dot.x, dot.name))
    for i, dot in enumerate(ordered_dots):
        x, y = scale.x(dot.x), score_y(dot.mean)
        interval = f"{points(dot.low)} to {points(dot.high)}"
        amount_text = f"{amount_words(dot.x, amount)} {_TITLES[amount]}"
        tooltip = f"{dot.name}: {points(dot.mean)} ({interval}), {amount_text}"
        yield (
            f"<g><title>{escape(tooltip)}</title>"
            f'<path d="M{x:.1f} {score_y(dot.low):.1f}V{score_y(dot.high):.1f}" class="s-answer" '
            f'stroke-width="2" stroke-opacity=".5"/>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="f-answer"/></g>'
        )
        text = dot.name
        if len(text) > _MOST_LETTERS:
            text = f"{text[: _MOST_LETTERS - 1]}…"
        width = _LETTER * len(text)
        # Right of the point, or left of it if the label would leave the chart.
        at, anchor = x + _LABEL_GAP, "start"
        label_x = at
        if at + width > _WIDTH:
            at, anchor = x - _LABEL_GAP, "end"
            label_x = at - width
        label = Label(label_x, y + 4, width)
        is_free = not any(labels_meet(label, neighbour) for neighbour in labels)
        if i < _MOST_LABELS and is_free:
            labels.append(label)
            yield svg_label(at, y + 4, text, "ink", anchor)


def score_y(score: float) -> float:
    """Return the place of a score from 0 to 1 from top to bottom."""
    return _TOP + (1 - score) * (_BOTTOM - _TOP)


def labels_meet(first: Label, second: Label) -> bool:
    """Whether two labels overlap."""
    earlier, later = sorted((first, second))
    is_one_line = abs(earlier.y - later.y) < _LINE
    return is_one_line and later.x < earlier.x + earlier.width


def svg_label(x: float, y: float, text: str, role: str, anchor: str) -> str:
    """Return a label of a role (ink or quiet), anchored at its start, middle or end."""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="12" text-anchor="{anchor}"'
    return f'<text {place} class="f-{role}">{escape(text)}</text>'


def amount_words(value: float, amount: str) -> str:
    """Return an amount as it is shown."""
    if value > _GREATEST:
        return f"{value:.1e}"
    if amount == "output_tokens":
        return f"{value:,.0f}"
    return f"${value:,.2f}" if value >= 1 else f"${value:.2g}"
