"""Bars of what an answer reached beside what was asked for."""

from collections.abc import Iterable
from typing import NamedTuple

from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel

_ROW = 34
_WIDTH = 320


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
    drawing = Drawing(
        (0, 0, _WIDTH, _ROW * len(rows)), size=max(_WIDTH, _ROW * len(rows)), up=False
    )
    words = []
    for i, row in enumerate(rows):
        says = f"{row.value:.4g}{row.unit}; {row.sense} {row.target:.4g}{row.unit}"
        words.append(f"{row.label}: {says}")
        role = {True: "right", False: "wrong", None: "quiet"}[row.passed]
        sign = {True: "✓", False: "✗", None: ""}[row.passed]
        drawing.text((0, i * _ROW + 7), sign, role, anchor="start", size=12, bold=True)
        drawing.text(
            (14 * bool(sign), i * _ROW + 7), row.label, anchor="start", size=12
        )
        drawing.text(
            (_WIDTH, i * _ROW + 7), says, role, anchor="end", size=12, bold=True
        )
        full = max(row.value, row.target, 1e-9) * 1.15
        top, bottom = i * _ROW + 17, i * _ROW + 25
        drawing.box((0, top), (_WIDTH, bottom), "faint", opacity=0.5)
        end = max(0.0, row.value) / full * _WIDTH
        drawing.box((0, top), (end, bottom), role, hatched=row.passed is False)
        mark = row.target / full * _WIDTH
        drawing.line([(mark, top - 3), (mark, bottom + 3)], "ink", width=2)
    return [Panel("what was asked for", drawing, "; ".join(words) + ".")]
