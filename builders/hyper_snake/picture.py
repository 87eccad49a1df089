"""Prompt pictures of the box: axes run alternately from left to right and top to bottom."""

from collections.abc import Sequence
from itertools import product

from scbench.builders.shared.canvas import (
    AMBER,
    BLACK,
    GREEN,
    LONG_EDGE,
    MOST_PIXELS,
    Canvas,
    paint_cells,
)
from scbench.schemas.hyper_snake import Params

_MARGIN = 8
# Pixels of the short edge of a picture.
_SHORT_EDGE = 768
# Largest and smallest side of a cell, in pixels.
_LARGEST = 40
_SMALLEST = 8
# Pixels between the blocks of each pair of axes, closest first, if a cell has eight pixels.
_GAPS = (0, 3, 7, 14, 28, 42, 60, 80)
_FILLS = {"S": GREEN, "W": BLACK, "F": AMBER}


def draw(params: Params, style: str) -> tuple[Canvas, ...]:
    """Draw the box; the style symbols has letters for start, walls and food, and points."""
    # Food on the start would need one more sign, and a side of one cell would hide an axis.
    if params.start in params.food or min(params.size) < 2:
        return ()
    across = params.size[::2]
    down = params.size[1::2] or (1,)
    side = cell_side(across, down)
    if side is None:
        return ()
    is_symbols = style == "symbols"
    blank = "." if is_symbols else ""
    fills = {} if is_symbols else _FILLS
    signs = dict.fromkeys(params.walls, "W")
    signs |= dict.fromkeys(params.food, "F")
    signs[params.start] = "S"
    canvas = Canvas(pixels_along(across, side), pixels_along(down, side))
    scale = max(1, min(3, (side - 2) // 7))
    # Each block shows the first two axes; the other axes give its place.
    for outer in product(*map(range, params.size[2:])):
        left = _MARGIN + pixels_before(across, (0, *outer[::2]), side)
        top = _MARGIN + pixels_before(down, (0, *outer[1::2]), side)
        rows = []
        for y in range(down[0]):
            cells = [(x, y, *outer)[: len(params.size)] for x in range(across[0])]
            rows.append([signs.get(cell, blank) for cell in cells])
        corner = (left, top)
        paint_cells(
            canvas, corner, (side, side), rows, fills, scale, lines=not is_symbols
        )
    return (canvas,)


def cell_side(across: Sequence[int], down: Sequence[int]) -> int | None:
    """Return the most pixels of a cell with which the box fits into a picture, if any do."""
    for side in range(_LARGEST, _SMALLEST - 1, -1):
        width = pixels_along(across, side)
        height = pixels_along(down, side)
        fits = width <= LONG_EDGE and height <= _SHORT_EDGE
        if fits and width * height <= MOST_PIXELS:
            return side
    return None


def pixels_along(sizes: Sequence[int], side: int) -> int:
    """Return the pixels of the canvas along the axes of one direction."""
    last = [n - 1 for n in sizes]
    return pixels_before(sizes, last, side) + side + 1 + 2 * _MARGIN


def pixels_before(sizes: Sequence[int], cell: Sequence[int], side: int) -> int:
    """Return the pixels before a cell along the axes of one direction."""
    before = 0
    block = side
    for level, (n, at) in enumerate(zip(sizes, cell, strict=True)):
        gap = _GAPS[level] * side // 8
        if level == 1:
            # Room for the last line of a block.
            gap += 1
        step = block + gap
        before += at * step
        block = n * step - gap
    return before
