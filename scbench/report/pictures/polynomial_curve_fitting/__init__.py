"""A two-colour picture, the one that a formula draws, and where they differ."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scbench.base.model import Verdict
from scbench.report.draw.svg import Drawing
from scbench.report.draw.text_blocks import side_by_side
from scbench.report.draw.voxels import rectangles
from scbench.report.picture import Panel, Picture, failures, fraction
from scbench.report.pictures.polynomial_curve_fitting.contours import zero_curve
from scbench.report.pictures.shared.gauges import check_of
from scbench.schemas.polynomial_curve_fitting import Answer, Params

Cells = npt.NDArray[np.bool_]

_SIZE = 300
_FINE = 7.0
"""Cells of fewer pixels are filled, as a hatching would not be seen in them."""
_CURVE = 64
"""Pictures up to this size show the curve on which the formula is zero."""


def draw(params: Params, answer: Answer | None, verdicts: Sequence[Verdict]) -> Picture:
    """Draw the picture; with an answer what its formula draws, and the difference."""
    n = len(params.grid)
    black = _cells(params.grid)
    task_words = f"{n} x {n} cells; {int(black.sum())} are to be positive"
    target = Panel("asked for", _cell_map(black), f"{task_words}.")
    metrics = verdicts[0].metrics if verdicts else {}
    if answer is None or "drawn" not in metrics:
        caption = f"{task_words}." if answer is None else _refused(verdicts, task_words)
        text = "\n".join(params.grid) if n <= 120 else None
        return Picture((target,), caption, text=text)
    positive = _cells(metrics["drawn"])
    missed, surplus = black & ~positive, positive & ~black
    curve = zero_curve(answer.function, positive) if n <= _CURVE else []
    produced, difference = _cell_map(positive), _difference(black, positive)
    for drawing in (produced, difference):
        drawing.strokes(curve, "note", width=2.5, tip="f = 0")
    _mark_undefined(produced, verdicts)
    if _nowhere(verdicts):
        centre = ((n - 1) / 2, (n - 1) / 2)
        produced.text(centre, "no value anywhere", "wrong", size=16, bold=True)
    counts = f"{int(missed.sum())} missed, {int(surplus.sum())} too many"
    matched = f"{metrics['matched']} of {metrics['cells']} cells match"
    caption = f"{matched} ({counts}); {fraction(verdicts)}."
    if metrics["matched"] < metrics["cells"] and not verdicts[0].score:
        caption = f"{matched} ({counts}), {_why(verdicts)}; {fraction(verdicts)}."
    panels = (
        target,
        Panel("drawn by the formula", produced, f"What the formula draws. {caption}"),
        Panel("difference", difference, f"Where the two differ. {caption}"),
    )
    legend = [("given", "positive, and asked for")] if (black & positive).any() else []
    legend += [("missing", "missed")] if missed.any() else []
    legend += [("surplus", "too many")] if surplus.any() else []
    legend += [("note", "where the formula is zero")] if curve else []
    return Picture(panels, caption, tuple(legend), _text(params.grid, black, positive))


def _cells(rows: Sequence[str]) -> Cells:
    return np.array([[cell == "#" for cell in row] for row in rows])


def _sheet(n: int) -> Drawing:
    drawing = Drawing((-0.5, -0.5, n - 0.5, n - 0.5), size=_SIZE, up=False, margin=14)
    drawing.box((-0.5, -0.5), (n - 0.5, n - 0.5), "paper", edge="quiet")
    if drawing.scale >= _FINE:
        lines = [i - 0.5 for i in range(1, n)]
        ends = (-0.5, n - 0.5)
        drawing.strokes([[(x, y) for y in ends] for x in lines], "faint", width=0.7)
        drawing.strokes([[(x, y) for x in ends] for y in lines], "faint", width=0.7)
    for i in (0, n - 1):
        drawing.text((i, -0.5), i, "quiet", size=9, shift=(0, -7))
        drawing.text((-0.5, i), i, "quiet", size=9, shift=(-8, 0))
    return drawing


def _fill(drawing: Drawing, cells: Cells, role: str, *, hatched: bool = False) -> None:
    drawing.mosaic(_bounds(cells), role, hatched=hatched, crisp=True)


def _cell_map(cells: Cells) -> Drawing:
    drawing = _sheet(len(cells))
    _fill(drawing, cells, "ink")
    return drawing


def _difference(black: Cells, positive: Cells) -> Drawing:
    drawing = _sheet(len(black))
    _fill(drawing, black & positive, "given")
    fine = drawing.scale >= _FINE
    _fill(drawing, black & ~positive, "missing", hatched=fine)
    _fill(drawing, positive & ~black, "surplus")
    if fine:
        for x0, y0, x1, y1 in _bounds(black & ~positive):
            corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
            drawing.line(corners, "missing", closed=True, width=1.5)
    return drawing


def _bounds(cells: Cells) -> list[tuple[float, float, float, float]]:
    return [(x0 - 0.5, y0 - 0.5, x1 - 0.5, y1 - 0.5) for y0, x0, y1, x1 in rectangles(cells)]


def _mark_undefined(drawing: Drawing, verdicts: Sequence[Verdict]) -> None:
    for cell in failures(verdicts).get("defined", ()):
        drawing.cross(cell, "wrong", radius=max(min(drawing.scale * 0.3, 6), 2))


def _why(verdicts: Sequence[Verdict]) -> str:
    failed = {check.id for check in verdicts[0].failed}
    if _nowhere(verdicts):
        return "no value anywhere"
    if "two_colours" in failed:
        return "all of one colour"
    return "less than three quarters" if "floor" in failed else "not accepted"


def _nowhere(verdicts: Sequence[Verdict]) -> bool:
    """Return whether a formula has no value in any cell."""
    check = check_of(verdicts, "defined")
    without = check.details.get("count", 0) if check and check.passed is False else 0
    return bool(without) and without == verdicts[0].metrics.get("cells")


def _refused(verdicts: Sequence[Verdict], task_words: str) -> str:
    if not verdicts:
        return f"A formula; {task_words}."
    return f"No formula that could be worked out; {task_words}; {fraction(verdicts)}."


def _text(grid: Sequence[str], black: Cells, positive: Cells) -> str | None:
    """Return the three pictures as text, or the difference alone if they are too wide."""
    n = len(grid)
    signs = np.where(black, np.where(positive, "#", "-"), np.where(positive, "+", "."))
    marked = ["".join(row) for row in signs]
    key = "difference: - missed, + too many"
    if 3 * n + 20 <= 120:
        rows = ["".join("#" if cell else "." for cell in row) for row in positive]
        return side_by_side([["asked for", *grid], ["drawn", *rows], [key, *marked]], 120)
    return "\n".join([key, *marked]) if n <= 120 else None
