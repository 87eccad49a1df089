"""Bars that compare an answer's figures with their targets."""

from collections.abc import Iterable
from typing import NamedTuple

from scbench.report.draw.canvas import pixel_canvas
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel

# Pixels.
_ROW = 34
_WIDTH = 320
# Role of a gauge, by whether it passed.
_ROLES = {True: "right", False: "wrong", None: "quiet"}


class Gauge(NamedTuple):
    """A figure and its target.

    Attributes:
        label: what is counted.
        value: what the answer reached.
        target: the figure in the task.
        passed: whether the verdict accepts it; None if it was not graded.
        sense: whether the target is a minimum, a maximum, or the exact value.
        unit: the unit, shown after both figures.
    """

    label: str
    value: float
    target: float
    passed: bool | None
    sense: str = "at least"
    unit: str = ""

    @property
    def words(self) -> str:
        """The value and its target in words."""
        value = f"{self.value:.4g}"
        target = f"{self.target:.4g}"
        return f"{value}{self.unit}; {self.sense} {target}{self.unit}"


def gauge_panels(gauges: Iterable[Gauge]) -> list[Panel]:
    """Return a panel of bars, each with a mark at its target; none without gauges."""
    rows = list(gauges)
    if not rows:
        return []
    height = _ROW * len(rows)
    drawing = pixel_canvas(_WIDTH, height, margin=16)
    for i, gauge in enumerate(rows):
        draw_gauge(drawing, i * _ROW, gauge)
    alt = "; ".join(f"{gauge.label}: {gauge.words}" for gauge in rows)
    return [Panel("targets", drawing, f"{alt}.")]


def draw_gauge(drawing: Drawing, y: float, gauge: Gauge) -> None:
    """Draw a line of text, and the bar below it."""
    role = _ROLES[gauge.passed]
    baseline = y + 7
    if gauge.passed:
        drawing.tick((5, baseline), role)
    elif gauge.passed is False:
        drawing.text((0, baseline), "✗", role, anchor="start", size=12, bold=True)
    label_x = 0 if gauge.passed is None else 14
    drawing.text((label_x, baseline), gauge.label, anchor="start", size=12)
    end = (_WIDTH, baseline)
    drawing.text(end, gauge.words, role, anchor="end", size=12, bold=True)
    # The longer of the two bars stops just before the right side.
    scale = max(gauge.value, gauge.target, 1e-9) * 1.15
    top = y + 17
    bottom = y + 25
    drawing.box((0, top), (_WIDTH, bottom), "faint", opacity=0.5)
    reached = max(0.0, gauge.value) / scale * _WIDTH
    drawing.box((0, top), (reached, bottom), role, hatched=gauge.passed is False)
    target = gauge.target / scale * _WIDTH
    drawing.line([(target, top - 3), (target, bottom + 3)], "ink", width=2)
