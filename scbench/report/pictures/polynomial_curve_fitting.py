"""The target picture, the formula's picture, and the difference."""

import operator
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scbench.graders.polynomial_curve_fitting import formula as formulas
from scbench.graders.polynomial_curve_fitting.formula import Formula
from scbench.graders.polynomial_curve_fitting.nodes import Op
from scbench.report.draw.rectangles import rectangles
from scbench.report.draw.svg import Drawing, as_float, rectangle
from scbench.report.picture import Panel, Picture, Verdicts
from scbench.report.pictures.shared.tables import side_by_side
from scbench.schemas.polynomial_curve_fitting import Answer, Params

# Side of a panel in pixels: of the target alone; of three panels, which fit side by side; and of
# three panels with many cells, which need more room.
SIZE_ALONE = 392
SIZE = 224
SIZE_OF_MANY = 300
# A picture with more cells in a row has many cells.
MANY_CELLS = 32
# Smaller cells, in pixels, are filled: hatching would not be visible in them.
SMALLEST_HATCHED = 7.0
# Pictures up to this size show the zero curve of the formula.
MOST_CURVE_CELLS = 64
# Maximum number of columns of the text form.
MOST_TEXT = 120
# Longer formulas have no curve: it would take too long.
MOST_NODES = 3_000
MOST_CHARACTERS = 30_000
# Evaluated points along each side of a cell.
STEPS = 4
OPERATORS = {
    Op.ADD: operator.add,
    Op.SUBTRACT: operator.sub,
    Op.MULTIPLY: operator.mul,
    Op.DIVIDE: operator.truediv,
}
LEGEND = (
    ("given", "black, and positive"),
    ("missing", "black, but not positive"),
    ("surplus", "white, but positive"),
    ("note", "where the formula is zero"),
)

Floats = npt.NDArray[np.float64]
# Whether each cell is positive, shape (rows, columns).
Cells = npt.NDArray[np.bool_]
Line = tuple[tuple[float, float], tuple[float, float]]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the picture; with an answer, also the picture of its formula and the difference."""
    n = len(params.grid)
    black = read_cells(params.grid)
    task_words = f"{n} x {n} cells, {int(black.sum())} of them black"
    metrics = verdicts.metrics
    if answer is None or "drawn" not in metrics:
        if answer is None:
            caption = f"{task_words}."
        elif verdicts:
            caption = f"No formula to evaluate; {task_words}; {verdicts.fraction}."
        else:
            caption = f"A formula; {task_words}."
        text = "\n".join(params.grid) if n <= MOST_TEXT else None
        target = Panel("target", cell_map(black, SIZE_ALONE), f"{task_words}.")
        return Picture((target,), caption, text=text)
    positive = read_cells(metrics["drawn"])
    curve = zero_curve(answer.function, positive) if n <= MOST_CURVE_CELLS else []
    size = SIZE if n <= MANY_CELLS else SIZE_OF_MANY
    produced = cell_map(positive, size)
    difference = difference_map(black, positive, size)
    for drawing in (produced, difference):
        drawing.strokes(curve, "note", width=2.5, tip="f = 0")
    caption = answer_caption(black, positive, verdicts)
    panels = (
        Panel("target", cell_map(black, size), f"{task_words}."),
        Panel("drawn by the formula", produced, f"The formula's picture. {caption}"),
        Panel("difference", difference, f"The difference. {caption}"),
    )
    text = text_view(params.grid, black, positive)
    return Picture(panels, caption, LEGEND, text)


def read_cells(rows: Sequence[str]) -> Cells:
    """Return the mask of black cells of a picture, from rows of # and other characters."""
    signs = np.array([list(row) for row in rows])
    return np.asarray(signs == "#")


def cell_map(cells: Cells, size: int) -> Drawing:
    """Return a picture in black and white."""
    drawing = blank_grid(len(cells), size)
    drawing.mosaic(cell_boxes(cells), "ink", crisp=True)
    return drawing


def difference_map(black: Cells, positive: Cells, size: int) -> Drawing:
    """Return three masks: matching black cells, and wrong black and white cells."""
    drawing = blank_grid(len(black), size)
    drawing.mosaic(cell_boxes(black & positive), "given", crisp=True)
    hatched = drawing.scale >= SMALLEST_HATCHED
    missed = cell_boxes(black & ~positive)
    drawing.mosaic(missed, "missing", hatched=hatched, crisp=True)
    drawing.mosaic(cell_boxes(positive & ~black), "surplus", crisp=True)
    if hatched:
        for x0, y0, x1, y1 in missed:
            corners = rectangle((x0, y0), (x1, y1))
            drawing.line(corners, "missing", closed=True, width=1.5)
    return drawing


def blank_grid(n: int, size: int) -> Drawing:
    """Return the paper for n x n cells; cell centres have whole coordinates."""
    low = -0.5
    high = n - 0.5
    drawing = Drawing((low, low, high, high), size=size, up=False, margin=14)
    drawing.box((low, low), (high, high), "paper", edge="quiet")
    if drawing.scale >= SMALLEST_HATCHED:
        borders = [i - 0.5 for i in range(1, n)]
        upright = [[(x, low), (x, high)] for x in borders]
        level = [[(low, y), (high, y)] for y in borders]
        drawing.strokes(upright, "faint", width=0.7)
        drawing.strokes(level, "faint", width=0.7)
    for i in (0, n - 1):
        drawing.text((i, low), i, "quiet", size=9, shift=(0, -7))
        drawing.text((low, i), i, "quiet", size=9, shift=(-8, 0))
    return drawing


def cell_boxes(cells: Cells) -> list[tuple[float, float, float, float]]:
    """Return cells as few rectangles: lowest x and y, then highest of each."""
    return [
        (x0 - 0.5, y0 - 0.5, x1 - 0.5, y1 - 0.5) for y0, x0, y1, x1 in rectangles(cells)
    ]


def zero_curve(text: str, signs: Cells) -> list[Line]:
    """Return pieces of the curve on which a formula is zero, in coordinates of columns and rows.

    There are none if the formula is too long or invalid, or if floats give other signs
    than the verdict.

    Args:
        text: the formula, as answered.
        signs: mask of positive cells in the verdict, indexed row, column.
    """
    formula = readable_formula(text)
    if formula is None:
        return []
    n = len(signs)
    places = (np.arange(n * STEPS + 1) / STEPS) - 0.5
    with np.errstate(all="ignore"):
        values = curve_values(formula, places)
    # Cell centres lie half a cell, or half the steps, inwards.
    centres = values[STEPS // 2 :: STEPS, STEPS // 2 :: STEPS]
    if not np.array_equal(centres[:n, :n] > 0, signs):
        return []
    return crossings(values, places)


def readable_formula(text: str) -> Formula | None:
    """Return the parsed formula; None if it is invalid or too long."""
    if len(text) > MOST_CHARACTERS:
        return None
    plain = formulas.plain_lines(text.strip())
    try:
        if formulas.foreign_tokens(plain):
            return None
        formula = formulas.parse(plain)
    except formulas.FormulaError:
        return None
    if formula.faults or len(formula.nodes) > MOST_NODES:
        return None
    return formula


def curve_values(formula: Formula, places: Floats) -> Floats:
    """Return the values of a formula at all pairs of places, indexed by y, x."""
    nodes = formula.nodes
    # The last node that needs each value; the value is then freed to save memory.
    last_uses = {}
    for number, node in enumerate(nodes):
        last_uses[node.first] = number
        last_uses[node.second] = number
    values: dict[int, Floats] = {}
    for number, node in enumerate(nodes):
        match node.op:
            case Op.CONSTANT:
                values[number] = np.full((1, 1), as_float(node.value))
            case Op.NAME if node.axes == formulas.X_AXIS:
                values[number] = places[None, :]
            case Op.NAME:
                values[number] = places[:, None]
            case Op.NEGATE:
                values[number] = -values[node.first]
            case Op.POWER:
                values[number] = values[node.first] ** node.second
            case _:
                combine = OPERATORS[node.op]
                values[number] = combine(values[node.first], values[node.second])
        # Constants and names have no nodes below them.
        if node.op > Op.NAME:
            for child in (node.first, node.second):
                if last_uses.get(child) == number and child < number:
                    values.pop(child, None)
    result: Floats = np.broadcast_to(values[len(nodes) - 1], (len(places), len(places)))
    return result


def crossings(values: Floats, places: Floats) -> list[Line]:
    """Return the zero curve of values on a grid, one or two segments for each square.

    Args:
        values: indexed by y, then x; squares with a non-finite corner are left out.
        places: the coordinates of rows and of columns.
    """
    positive = corner_count(values > 0)
    finite = corner_count(np.isfinite(values))
    mixed = (positive > 0) & (positive < 4) & (finite == 4)
    lines: list[Line] = []
    for i, j in np.argwhere(mixed).tolist():
        ring = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        ends = []
        for k, (a, b) in enumerate(ring):
            c, d = ring[k - 1]
            before = float(values[c, d])
            after = float(values[a, b])
            if (before > 0) != (after > 0):
                # Halved, so that the difference of two large numbers stays finite.
                share = min(max((before / 2) / (before / 2 - after / 2), 0.0), 1.0)
                x = places[d] + share * (places[b] - places[d])
                y = places[c] + share * (places[a] - places[c])
                ends.append((float(x), float(y)))
        # Two or four sides of a square are crossed; ends next to each other are joined.
        lines += [(ends[k], ends[k + 1]) for k in range(0, len(ends) - 1, 2)]
    return lines


def corner_count(corners: Cells) -> npt.NDArray[np.int64]:
    """Return for each square of a grid how many of its four corners are true."""
    counts: npt.NDArray[np.int64] = (
        corners[:-1, :-1].astype(int)
        + corners[:-1, 1:]
        + corners[1:, :-1]
        + corners[1:, 1:]
    )
    return counts


def answer_caption(black: Cells, positive: Cells, verdicts: Verdicts) -> str:
    """Return the figures of a formula that could be evaluated."""
    metrics = verdicts.metrics
    missed = int((black & ~positive).sum())
    surplus = int((positive & ~black).sum())
    matched = f"{metrics['matched']} of {metrics['cells']} cells match"
    counts = f"wrong: {missed} black, {surplus} white"
    reason = ""
    if metrics["matched"] < metrics["cells"] and not verdicts[0].score:
        reason = f", {failure_words(verdicts)}"
    return f"{matched} ({counts}){reason}; {verdicts.fraction}."


def failure_words(verdicts: Verdicts) -> str:
    """Return why a formula has no score."""
    failed = {check.id for check in verdicts[0].failed}
    if "two_colours" in failed:
        return "all of one sign"
    return "fewer than three quarters" if "floor" in failed else "not accepted"


def text_view(grid: Sequence[str], black: Cells, positive: Cells) -> str | None:
    """Return the three pictures as text, or the difference alone if they are too wide."""
    n = len(grid)
    if n > MOST_TEXT:
        return None
    signs_in_black = np.where(positive, "#", "-")
    signs_in_white = np.where(positive, "+", ".")
    signs = np.where(black, signs_in_black, signs_in_white)
    difference = ["difference: - missed, + extra"]
    difference += ["".join(row) for row in signs]
    if 3 * n + 20 > MOST_TEXT:
        return "\n".join(difference)
    produced = ["drawn"]
    produced += ["".join(row) for row in np.where(positive, "#", ".")]
    return side_by_side([["target", *grid], produced, difference], MOST_TEXT)
