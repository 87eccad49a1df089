"""Bars of what an answer reached beside what was asked for."""

from collections.abc import Iterable
from typing import NamedTuple

from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel

_ROW = 34
_WIDTH = 300
_LETTERS = 49
"""Label and figures that one row of that width has room for."""


class Gauge(NamedTuple):
    """One figure beside the one asked for.

    Attributes:
        label: what is counted.
        value: what the answer reached.
        target: what was asked for.
        passed: what the verdict says of it; None if it was not judged.
        sense: whether so much is the least, the most, or the only right figure.
        unit: after both figures.
    """

    label: str
    value: float
    target: float
    passed: bool | None
    sense: str = "at least"
    unit: str = ""


def gauge_panels(gauges: Iterable[Gauge]) -> list[Panel]:
    """Return a panel of bars, each with a mark at the wanted figure; none without gauges."""
    rows = list(gauges)
    if not rows:
        return []
    figures = [f"{g.value:.4g}{g.unit}; {g.sense} {g.target:.4g}{g.unit}" for g in rows]
    longest = max(len(g.label) + len(says) for g, says in zip(rows, figures, strict=True))
    width, height = _WIDTH if longest <= _LETTERS else 7 * longest, _ROW * len(rows)
    drawing = Drawing((0, 0, width, height), size=max(width, height), up=False)
    words = []
    for i, (row, says) in enumerate(zip(rows, figures, strict=True)):
        words.append(f"{row.label}: {says}")
        role = {True: "right", False: "wrong", None: "quiet"}[row.passed]
        sign = {True: "✓", False: "✗", None: ""}[row.passed]
        drawing.text((0, i * _ROW + 7), sign, role, anchor="start", size=12, bold=True)
        drawing.text((14 * bool(sign), i * _ROW + 7), row.label, anchor="start", size=12)
        drawing.text((width, i * _ROW + 7), says, role, anchor="end", size=12, bold=True)
        full = max(row.value, row.target, 1e-9) * 1.15
        top, bottom = i * _ROW + 17, i * _ROW + 25
        drawing.box((0, top), (width, bottom), "faint", opacity=0.5)
        end = max(0.0, row.value) / full * width
        drawing.box((0, top), (end, bottom), role, hatched=row.passed is False)
        mark = row.target / full * width
        drawing.line([(mark, top - 3), (mark, bottom + 3)], "ink", width=2)
    return [Panel("what was asked for", drawing, "; ".join(words) + ".")]
