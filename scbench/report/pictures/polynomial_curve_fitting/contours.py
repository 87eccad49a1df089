"""Where a polynomial is zero: its curve through the cells of a picture.

Worked out in doubles, so it shows the way of the curve and decides nothing.
"""

import numpy as np
import numpy.typing as npt

from scbench.graders.polynomial_curve_fitting.formula import (
    X_AXIS,
    Formula,
    FormulaError,
    FormulaSizeError,
    Op,
    foreign_tokens,
    parse,
    plain_lines,
)
from scbench.report.draw.svg_text import as_float

Floats = npt.NDArray[np.float64]
Line = tuple[tuple[float, float], tuple[float, float]]

_MOST_NODES = 3_000
_MOST_CHARACTERS = 30_000
_STEPS = 4
"""Points for each side of a cell at which the polynomial is worked out."""


def zero_curve(text: str, signs: npt.NDArray[np.bool_]) -> list[Line]:
    """Return pieces of the curve on which a formula is zero.

    Args:
        text: the formula, as it was answered.
        signs: where a verdict found it positive, indexed row, column.

    Returns:
        Pieces in coordinates of columns and rows; none if the formula is too long or not one, or
        if doubles do not give the verdict's signs.
    """
    n = len(signs)
    if len(text) > _MOST_CHARACTERS:
        return []
    plain = plain_lines(text.strip())
    try:
        formula = None if foreign_tokens(plain) else parse(plain)
    except (FormulaError, FormulaSizeError):
        return []
    if formula is None or len(formula.nodes) > _MOST_NODES or formula.faults:
        return []
    at = (np.arange(n * _STEPS + 1) / _STEPS) - 0.5
    with np.errstate(all="ignore"):
        values = _values(formula, at)
    # Cell centres lie half a cell, that is half the steps, inwards.
    centres = values[_STEPS // 2 :: _STEPS, _STEPS // 2 :: _STEPS]
    if not np.array_equal(centres[:n, :n] > 0, signs):
        return []
    return crossings(values, at)


def _values(formula: Formula, at: Floats) -> Floats:
    """Return the values at all pairs of places, indexed y, x."""
    live: dict[int, Floats] = {}
    nodes = formula.nodes
    last = {}
    for number, node in enumerate(nodes):
        last[node.left] = last[node.right] = number
    for number, node in enumerate(nodes):
        match node.op:
            case Op.CONSTANT:
                live[number] = np.full((1, 1), as_float(node.value))
            case Op.NAME:
                live[number] = at[None, :] if node.axes == X_AXIS else at[:, None]
            case Op.NEGATE:
                live[number] = -live[node.left]
            case Op.ADD:
                live[number] = live[node.left] + live[node.right]
            case Op.SUBTRACT:
                live[number] = live[node.left] - live[node.right]
            case Op.MULTIPLY:
                live[number] = live[node.left] * live[node.right]
            case Op.DIVIDE:
                live[number] = live[node.left] / live[node.right]
            case Op.POWER:
                live[number] = live[node.left] ** node.right
        for child in (node.left, node.right):
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
    positive = values > 0
    finite = np.isfinite(values)
    corners = [
        part[:-1, :-1].astype(int) + part[:-1, 1:] + part[1:, :-1] + part[1:, 1:]
        for part in (positive, finite)
    ]
    mixed = (corners[0] > 0) & (corners[0] < 4) & (corners[1] == 4)
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
