"""The box of cells, its axes laid out in turns from left to right and from top to bottom."""

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
# Pixels between the blocks of each pair of axes where a cell has eight, the closest
# first.
_GAPS = (0, 3, 7, 14, 28, 42, 60, 80)
_FILLS = {"S": GREEN, "W": BLACK, "F": AMBER}


def draw(params: Params, style: str) -> tuple[Canvas, ...]:
    """Draw the box; as symbols, there are letters for start, walls and food, and points."""
    if params.start in params.food or min(params.size) < 2:
        return ()  # it would need one more sign, or hide an axis
    across, down = params.size[::2], params.size[1::2] or (1,)
    side = next(
        (side for side in range(40, 7, -1) if _fits_canvas(across, down, side)), 0
    )
    if not side:
        return ()
    symbols = style == "symbols"
    signs = (
        dict.fromkeys(params.walls, "W")
        | dict.fromkeys(params.food, "F")
        | {params.start: "S"}
    )
    canvas = Canvas(
        *(_pixels_along(sizes, side) + 2 * _MARGIN for sizes in (across, down))
    )
    for outer in product(*map(range, params.size[2:])):
        left = _MARGIN + _place(across, (0, *outer[::2]), side)
        top = _MARGIN + _place(down, (0, *outer[1::2]), side)
        cells = [
            [
                signs.get((x, y, *outer)[: len(params.size)], "." if symbols else "")
                for x in range(across[0])
            ]
            for y in range(down[0])
        ]
        fills = {} if symbols else _FILLS
        scale = max(1, min(3, (side - 2) // 7))
        paint_cells(
            canvas, (left, top), (side, side), cells, fills, scale, lines=not symbols
        )
    return (canvas,)


def _fits_canvas(across: Sequence[int], down: Sequence[int], side: int) -> bool:
    width, height = (
        _pixels_along(sizes, side) + 2 * _MARGIN for sizes in (across, down)
    )
    return width <= LONG_EDGE and height <= 768 and width * height <= MOST_PIXELS


def _gap(level: int, side: int) -> int:
    return _GAPS[level] * side // 8


def _pixels_along(sizes: Sequence[int], side: int) -> int:
    """Return the pixels from the first to the last cell along the axes of one direction."""
    return _place(sizes, [n - 1 for n in sizes], side) + side + 1


def _place(sizes: Sequence[int], cell: Sequence[int], side: int) -> int:
    """Return the pixels before a cell along the axes of one direction."""
    before, block = 0, side
    for level, (n, at) in enumerate(zip(sizes, cell, strict=True)):
        step = block + _gap(level, side) + (level == 1)
        before += at * step
        block = n * step - _gap(level, side) - (level == 1)
    return before
