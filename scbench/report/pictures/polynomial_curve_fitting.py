"""A two-colour picture, the one that a formula draws, and where they differ."""

import operator
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scbench.graders.polynomial_curve_fitting import formula as formulas
from scbench.graders.polynomial_curve_fitting.formula import Formula, Op
from scbench.report.draw.svg import Drawing, as_float, rectangle
from scbench.report.draw.voxels import rectangles
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.report.pictures.shared.tables import side_by_side
from scbench.schemas.polynomial_curve_fitting import Answer, Params

Floats = npt.NDArray[np.float64]
Line = tuple[tuple[float, float], tuple[float, float]]

_MOST_NODES = 3_000
_MOST_CHARACTERS = 30_000
# Points for each side of a cell at which the polynomial is worked out.
_STEPS = 4
_OPERATORS = {
    Op.ADD: operator.add,
    Op.SUBTRACT: operator.sub,
    Op.MULTIPLY: operator.mul,
    Op.DIVIDE: operator.truediv,
}


_SIZE = 300
# Cells of fewer pixels are filled, as a hatching would not be seen in them.
_FINE = 7.0
# Pictures up to this size show the curve on which the formula is zero.
_CURVE = 64


def zero_curve(text: str, signs: npt.NDArray[np.bool_]) -> list[Line]:
    """Return pieces of the curve on which a formula is zero, in coordinates of columns and rows.

    None if the formula is too long or not one, or if doubles do not give the verdict's signs.

    Args:
        text: the formula, as it was answered.
        signs: where a verdict found it positive, indexed row, column.
    """
    n = len(signs)
    if len(text) > _MOST_CHARACTERS:
        return []
    plain = formulas.plain_lines(text.strip())
    try:
        formula = None if formulas.foreign_tokens(plain) else formulas.parse(plain)
    except formulas.FormulaError:
        return []
    if formula is None or len(formula.nodes) > _MOST_NODES or formula.faults:
        return []
    at = (np.arange(n * _STEPS + 1) / _STEPS) - 0.5
    with np.errstate(all="ignore"):
        values = _curve_values(formula, at)
    # Cell centres lie half a cell, that is half the steps, inwards.
    centres = values[_STEPS // 2 :: _STEPS, _STEPS // 2 :: _STEPS]
    if not np.array_equal(centres[:n, :n] > 0, signs):
        return []
    return crossings(values, at)


def _curve_values(formula: Formula, at: Floats) -> Floats:
    """Return the values at all pairs of places, indexed y, x."""
    live: dict[int, Floats] = {}
    nodes = formula.nodes
    last = {}
    for number, node in enumerate(nodes):
        last[node.first] = last[node.second] = number
    for number, node in enumerate(nodes):
        match node.op:
            case Op.CONSTANT:
                live[number] = np.full((1, 1), as_float(node.value))
            case Op.NAME:
                live[number] = (
                    at[None, :] if node.axes == formulas.X_AXIS else at[:, None]
                )
            case Op.NEGATE:
                live[number] = -live[node.first]
            case Op.POWER:
                live[number] = live[node.first] ** node.second
            case _:
                live[number] = _OPERATORS[node.op](live[node.first], live[node.second])
        for child in (node.first, node.second):
            if last.get(child) == number and child < number and node.op > Op.NAME:
                live.pop(child, None)
    result: Floats = np.broadcast_to(live[len(nodes) - 1], (len(at), len(at)))
    return result


def crossings(values: Floats, at: Floats) -> list[Line]:
    """Return where values given on a grid pass zero, a straight piece or two for each square.

    Args:
        values: indexed y, x; squares with a corner that is not finite are left out.
        at: the places of rows and of columns.
    """
    some, every = (
        part[:-1, :-1].astype(int) + part[:-1, 1:] + part[1:, :-1] + part[1:, 1:]
        for part in (values > 0, np.isfinite(values))
    )
    mixed = (some > 0) & (some < 4) & (every == 4)
    lines: list[Line] = []
    for i, j in np.argwhere(mixed).tolist():
        ring = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        ends = []
        for k, (a, b) in enumerate(ring):
            c, d = ring[k - 1]
            before, after = float(values[c, d]), float(values[a, b])
            if (before > 0) != (after > 0):
                # Halved, so that the difference of two large numbers stays finite.
                share = min(max((before / 2) / (before / 2 - after / 2), 0.0), 1.0)
                x, y = at[d] + share * (at[b] - at[d]), at[c] + share * (at[a] - at[c])
                ends.append((float(x), float(y)))
        lines += [(ends[k], ends[k + 1]) for k in range(0, len(ends) - 1, 2)]
    return lines


Cells = npt.NDArray[np.bool_]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the picture; with an answer what its formula draws, and the difference."""
    n = len(params.grid)
    black = _read_cells(params.grid)
    task_words = f"{n} x {n} cells; {int(black.sum())} are to be positive"
    target = Panel("asked for", _cell_map(black), f"{task_words}.")
    metrics = verdicts.metrics
    if answer is None or "drawn" not in metrics:
        caption = f"{task_words}." if answer is None else _refused(verdicts, task_words)
        text = "\n".join(params.grid) if n <= 120 else None
        return Picture((target,), caption, text=text)
    positive = _read_cells(metrics["drawn"])
    missed, surplus = black & ~positive, positive & ~black
    curve = zero_curve(answer.function, positive) if n <= _CURVE else []
    produced, difference = _cell_map(positive), _difference(black, positive)
    for drawing in (produced, difference):
        drawing.strokes(curve, "note", width=2.5, tip="f = 0")
    counts = f"{int(missed.sum())} missed, {int(surplus.sum())} too many"
    matched = f"{metrics['matched']} of {metrics['cells']} cells match"
    imperfect = metrics["matched"] < metrics["cells"] and not verdicts[0].score
    why = f", {_failure_words(verdicts)}" if imperfect else ""
    caption = f"{matched} ({counts}){why}; {verdicts.fraction}."
    legend = tuple(texts("polynomial_curve_fitting.legend").items())
    panels = (
        target,
        Panel("drawn by the formula", produced, f"What the formula draws. {caption}"),
        Panel("difference", difference, f"Where the two differ. {caption}"),
    )
    return Picture(panels, caption, legend, _text(params.grid, black, positive))


def _read_cells(rows: Sequence[str]) -> Cells:
    return np.array([[cell == "#" for cell in row] for row in rows])


def _blank_grid(n: int) -> Drawing:
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


def _cell_map(cells: Cells) -> Drawing:
    drawing = _blank_grid(len(cells))
    drawing.mosaic(_cell_boxes(cells), "ink", crisp=True)
    return drawing


def _difference(black: Cells, positive: Cells) -> Drawing:
    drawing = _blank_grid(len(black))
    drawing.mosaic(_cell_boxes(black & positive), "given", crisp=True)
    fine = drawing.scale >= _FINE
    drawing.mosaic(_cell_boxes(black & ~positive), "missing", hatched=fine, crisp=True)
    drawing.mosaic(_cell_boxes(positive & ~black), "surplus", crisp=True)
    if fine:
        for x0, y0, x1, y1 in _cell_boxes(black & ~positive):
            drawing.line(
                rectangle((x0, y0), (x1, y1)), "missing", closed=True, width=1.5
            )
    return drawing


def _cell_boxes(cells: Cells) -> list[tuple[float, float, float, float]]:
    return [
        (x0 - 0.5, y0 - 0.5, x1 - 0.5, y1 - 0.5) for y0, x0, y1, x1 in rectangles(cells)
    ]


def _failure_words(verdicts: Verdicts) -> str:
    failed = {check.id for check in verdicts[0].failed}
    if "two_colours" in failed:
        return "all of one colour"
    return "less than three quarters" if "floor" in failed else "not accepted"


def _refused(verdicts: Verdicts, task_words: str) -> str:
    if not verdicts:
        return f"A formula; {task_words}."
    return f"No formula that could be worked out; {task_words}; {verdicts.fraction}."


def _text(grid: Sequence[str], black: Cells, positive: Cells) -> str | None:
    """Return the three pictures as text, or the difference alone if they are too wide."""
    n = len(grid)
    signs = np.where(black, np.where(positive, "#", "-"), np.where(positive, "+", "."))
    marked = ["".join(row) for row in signs]
    key = "difference: - missed, + too many"
    if 3 * n + 20 <= 120:
        rows = ["".join("#" if cell else "." for cell in row) for row in positive]
        return side_by_side(
            [["asked for", *grid], ["drawn", *rows], [key, *marked]], 120
        )
    return "\n".join([key, *marked]) if n <= 120 else None
