"""Pictures that are part of a prompt: whole pixels, few colours, letters of our own.

Nothing is smoothed, and all is counted in integers, so a picture is the same on every machine.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from scbench.builders.shared.png import indexed_png

PALETTE = (
    (255, 255, 255), (0, 0, 0), (200, 200, 200), (120, 120, 120), (214, 39, 40), (31, 119, 180),
    (44, 160, 44), (255, 190, 60), (148, 103, 189), (140, 86, 75), (227, 119, 194), (23, 190, 207),
)  # fmt: skip
WHITE, BLACK, LIGHT, GREY, RED, BLUE, GREEN, AMBER, VIOLET, BROWN, PINK, CYAN = range(
    len(PALETTE)
)
LONG_EDGE, MOST_PIXELS = 1568, 1_150_000
"""Larger pictures are scaled down before some models see them (docs/pictures.md)."""
GLYPH_HEIGHT, ADVANCE = 7, 6
"""Rows of a letter, and columns from one letter to the next, in pixels of scale 1."""
Point = tuple[int, int]


# Pixels of a cell as long as there is room.
SIDE = 26
_MARGIN = 8
# Pixels between two numbers of a ruler, at least.
_APART = 6
# Pixels between numbers of three or more letters in neighbouring cells, at scale 1.
_ROOM = 5


class Canvas:
    """A picture of positions in `PALETTE`; x runs to the right and y downwards.

    Args:
        width: in pixels.
        height: in pixels.

    Raises:
        ValueError: it is larger than models take without scaling it down.
    """

    def __init__(self, width: int, height: int) -> None:
        if max(width, height) > LONG_EDGE or width * height > MOST_PIXELS:
            raise ValueError(
                f"a picture of {width} x {height} pixels would be scaled down"
            )
        self.pixels: NDArray[np.uint8] = np.zeros((height, width), dtype=np.uint8)

    def fill(self, x: int, y: int, width: int, height: int, colour: int) -> None:
        """Fill a rectangle."""
        self.pixels[max(y, 0) : y + height, max(x, 0) : x + width] = colour

    def frame(
        self, x: int, y: int, width: int, height: int, colour: int, thick: int = 1
    ) -> None:
        """Draw the border of a rectangle, inside it."""
        for top in (y, y + height - thick):
            self.fill(x, top, width, thick, colour)
        for left in (x, x + width - thick):
            self.fill(left, y, thick, height, colour)

    def line(self, start: Point, end: Point, colour: int, dash: int = 0) -> None:
        """Draw a line one pixel wide; a dash is so many pixels of it long."""
        (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
        steps = max(abs(dx), abs(dy), 1)
        for i in range(steps + 1):
            if dash and i // dash % 2:
                continue
            px, py = (
                x + (2 * i * dx + steps) // (2 * steps),
                y + (2 * i * dy + steps) // (2 * steps),
            )
            if 0 <= px < self.pixels.shape[1] and 0 <= py < self.pixels.shape[0]:
                self.pixels[py, px] = colour

    def outline(self, corners: Sequence[Point], colour: int, dash: int = 0) -> None:
        """Draw the closed line through some corners."""
        for start, end in zip(corners, [*corners[1:], *corners[:1]], strict=True):
            self.line(start, end, colour, dash)

    def polygon(self, rings: Sequence[Sequence[Point]], colour: int) -> None:
        """Fill what lies inside an odd number of rings, row by row through the pixels' middles."""
        for y in range(self.pixels.shape[0]):
            cuts: list[int] = []
            for ring in rings:
                for (ax, ay), (bx, by) in zip(
                    ring, [*ring[1:], *ring[:1]], strict=True
                ):
                    if (ay <= y) != (by <= y):
                        cuts.append(ax + (y - ay) * (bx - ax) // (by - ay))
            cuts.sort()
            for left, right in zip(cuts[::2], cuts[1::2], strict=True):
                self.fill(left + 1, y, right - left, 1, colour)

    def text(
        self, x: int, y: int, text: str, scale: int = 1, colour: int = BLACK
    ) -> None:
        """Write a line of text with its top left corner here."""
        for i, sign in enumerate(text):
            if sign == " ":
                continue
            glyph = glyphs()[sign].repeat(scale, axis=0).repeat(scale, axis=1)
            left = x + i * ADVANCE * scale
            part = self.pixels[y : y + glyph.shape[0], left : left + glyph.shape[1]]
            part[glyph] = colour

    def text_in(
        self,
        box: tuple[int, int, int, int],
        text: str,
        scale: int = 1,
        colour: int = BLACK,
    ) -> None:
        """Write a line of text in the middle of a rectangle: left, top, width, height."""
        x, y, width, height = box
        wide, high = text_size(text, scale)
        self.text(
            x + (width - wide) // 2, y + (height - high) // 2, text, scale, colour
        )

    def png(self) -> bytes:
        """Return the picture as a PNG file."""
        return indexed_png(self.pixels, PALETTE, packed=True)


def text_size(text: str, scale: int = 1) -> Point:
    """Return width and height of a line of text in pixels."""
    return (ADVANCE * len(text) - 1) * scale, GLYPH_HEIGHT * scale


@cache
def glyphs() -> dict[str, NDArray[np.bool_]]:
    """Return the letters by sign, each of 5 columns and 7 rows, or 9 if it reaches lower."""
    lines = (
        files(__package__).joinpath("glyphs.txt").read_text("utf-8").splitlines()[1:]
    )
    shapes = {
        line[0]: [[dot == "#" for dot in row] for row in line[2:].split()]
        for line in lines
    }
    return {sign: np.array(rows) for sign, rows in shapes.items()}


def grid_picture(
    cells: Sequence[Sequence[str]],
    first: int = 0,
    *,
    fills: dict[str, int] | None = None,
    lines: bool = True,
    letters: int = 1,
    most: int = SIDE,
) -> Canvas:
    """Draw a grid with numbers of its columns above it and of its rows beside it.

    Args:
        cells: rows from the top; a text for each cell.
        first: number of the first column and row.
        fills: colours of the texts that are drawn as filled cells; others are written.
        lines: whether there are lines between cells, on their left and upper sides.
        letters: the most letters that a cell holds.
        most: pixels of a cell that are enough.
    """
    rows, columns = len(cells), len(cells[0])
    side, scale = _cell_size(columns, rows, letters, most)
    wide = side if letters < 3 else max(side, (ADVANCE * letters + _ROOM) * scale)
    last = first + max(rows, columns) - 1
    ruler = 1 if max(rows, columns) > 100 else 2
    left = _MARGIN + text_size(str(last), ruler)[0] + 6
    top = _MARGIN + GLYPH_HEIGHT * ruler + 6
    right = max(_MARGIN, text_size(str(last), ruler)[0] // 2)
    canvas = Canvas(left + columns * wide + right, top + rows * side + 1 + _MARGIN)
    _rule(canvas, (left, top), (wide, side), (columns, rows), first, ruler)
    paint_cells(
        canvas, (left, top), (wide, side), cells, fills or {}, scale, lines=lines
    )
    return canvas


def layers_picture(
    layers: Sequence[Sequence[Sequence[str]]],
    *,
    fills: dict[str, int],
    lines: bool,
) -> Canvas:
    """Draw equal grids beside and below each other, each with its number z above it."""
    rows, columns = len(layers[0]), len(layers[0][0])
    across = next(k for k in range(1, 99) if k * k * 3 >= len(layers) * 4)
    down = -(-len(layers) // across)
    side = min(SIDE, (LONG_EDGE - 60) // across // (columns + 3), 680 // down // rows)
    width = side = max(8, side)
    if down * (rows * side + 28) > 760:
        # Narrower cells, of which more stand beside each other.
        width = side - 1
        across = (LONG_EDGE - _MARGIN) // (columns * width + 17)
        down = -(-len(layers) // across)
    scale = max(1, min(2, (side - 2) // GLYPH_HEIGHT))
    wide, high, head = columns * width + 17, rows * side + 28, 18
    canvas = Canvas(_MARGIN + across * wide, _MARGIN + down * high)
    for z, cells in enumerate(layers):
        left, top = _MARGIN + z % across * wide, _MARGIN + z // across * high + head
        canvas.text(left, top - head, f"z = {z}", 2)
        paint_cells(
            canvas, (left, top), (width, side), cells, fills, scale, lines=lines
        )
    return canvas


def paint_cells(
    canvas: Canvas,
    corner: Point,
    size: Point,
    cells: Sequence[Sequence[str]],
    fills: dict[str, int],
    scale: int,
    *,
    lines: bool = True,
) -> None:
    """Fill or write the cells of a grid, and draw the lines between them."""
    (left, top), (wide, side) = corner, size
    for r, row in enumerate(cells):
        for c, text in enumerate(row):
            box = (left + c * wide, top + r * side, wide, side)
            if text in fills:
                canvas.fill(*box, fills[text])
            elif text:
                canvas.text_in(
                    (box[0] + 1, box[1] + 1, wide - 1, side - 1), text, scale
                )
    columns, rows = len(cells[0]), len(cells)
    if not lines:
        canvas.frame(left - 1, top - 1, columns * wide + 2, rows * side + 2, GREY)
    if lines:
        for c in range(columns + 1):
            canvas.fill(left + c * wide, top, 1, rows * side + 1, GREY)
        for r in range(rows + 1):
            canvas.fill(left, top + r * side, columns * wide + 1, 1, GREY)


def _cell_size(columns: int, rows: int, letters: int, most: int) -> Point:
    """Return the height of a cell, and the scale of what is written in it."""
    least = 9 if letters > 1 else 8
    short = 768 - 48 if min(columns, rows) * least <= 720 else 1024
    side = max(
        5,
        min(most, short // min(rows, columns), (LONG_EDGE - 64) // max(columns, rows)),
    )
    if letters > 2:
        side = max(9, min(side, 1000 // rows))
    across = ADVANCE * letters - 1
    scale = max(1, min(3, (side - 2) // GLYPH_HEIGHT))
    if letters < 3:
        scale = max(1, min(scale, (side - (2, 6)[letters - 1]) // across))
    elif (across + _ROOM + 1) * 2 * columns > 1450:
        scale = 1
    else:
        scale = min(2, scale)
    return side, scale


def _rule(
    canvas: Canvas, corner: Point, size: Point, counts: Point, first: int, scale: int
) -> None:
    """Number the columns above a grid and the rows beside it; each, or each so many."""
    (left, top), numbers = corner, (counts[0] + first, counts[1] + first)
    for axis in (0, 1):
        widest = text_size(str(numbers[axis] - 1), scale)[axis]
        step = next(
            k for k in (1, 2, 5, 10, 20, 50) if k * size[axis] > widest + _APART
        )
        shown = [n for n in range(first, numbers[axis]) if n % step == 0]
        last = numbers[axis] - 1
        if shown[-1] != last:
            # The last is always there, and none so near that the two would touch.
            shown = [n for n in shown if (last - n) * size[axis] > widest + _APART] + [
                last
            ]
        for number in shown:
            at = (number - first) * size[axis]
            middle = at + size[axis] // 2
            text = str(number)
            if axis == 0:
                wide = text_size(text, scale)[0]
                canvas.text(
                    left + middle - wide // 2,
                    top - GLYPH_HEIGHT * scale - 6,
                    text,
                    scale,
                )
                canvas.fill(left + middle, top - 4, 1, 4, BLACK)
            else:
                wide = text_size(text, scale)[0]
                high = GLYPH_HEIGHT * scale
                canvas.text(left - wide - 6, top + middle - high // 2, text, scale)
                canvas.fill(left - 4, top + middle, 4, 1, BLACK)
