"""Pictures in prompts: whole pixels, few colours, and a built-in pixel font.

Pictures are the same on every machine, because nothing is smoothed and all coordinates
are integers.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise
from typing import NamedTuple

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
# Larger pictures are scaled down before some models see them (docs/pictures.md).
LONG_EDGE = 1568
MOST_PIXELS = 1_150_000
# Some models see smaller pictures less well (docs/pictures.md).
SHORT_EDGE = 200
# Height of a letter, and distance from one letter to the next, in pixels at scale 1.
GLYPH_HEIGHT = 7
ADVANCE = 6
# Side of a cell in pixels if there is room.
SIDE = 26
_MARGIN = 8
# Minimum pixels between two numbers of a ruler.
_APART = 6
# Pixels between a ruler's numbers and the grid, for the tick marks.
_TICK_ROOM = 6
_TICK = 4
# A ruler numbers every cell, or every second, fifth and so on.
_RULER_STEPS = (1, 2, 5, 10, 20, 50)
# Pixels between numbers of three or more letters in neighbouring cells, at scale 1.
_ROOM = 5
# Pixels between two layers, across and down; the second number includes the title.
_LAYER_GAP = 17
_LAYER_GAP_DOWN = 28
_TITLE_HEIGHT = 18
Point = tuple[int, int]


class Canvas:
    """A picture whose pixels are indices in `PALETTE`; x runs to the right and y downwards.

    A short edge gets a margin on the right or below, up to `SHORT_EDGE` pixels.

    Args:
        width: the width in pixels.
        height: the height in pixels.

    Raises:
        ValueError: the picture is so large that some models would scale it down.
    """

    def __init__(self, width: int, height: int) -> None:
        if max(width, height) > LONG_EDGE or width * height > MOST_PIXELS:
            raise ValueError(
                f"a picture of {width} x {height} pixels would be scaled down"
            )
        shape = (max(height, SHORT_EDGE), max(width, SHORT_EDGE))
        self.pixels: NDArray[np.uint8] = np.zeros(shape, dtype=np.uint8)

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
        """Draw a line one pixel wide, with dashes and gaps of ``dash`` pixels unless that is 0."""
        height, width = self.pixels.shape
        across = end[0] - start[0]
        down = end[1] - start[1]
        steps = max(abs(across), abs(down), 1)
        for i in range(steps + 1):
            if dash and i // dash % 2:
                continue
            # start + i * across / steps, rounded to the nearest pixel in integers.
            x = start[0] + (2 * i * across + steps) // (2 * steps)
            y = start[1] + (2 * i * down + steps) // (2 * steps)
            if 0 <= x < width and 0 <= y < height:
                self.pixels[y, x] = colour

    def outline(self, corners: Sequence[Point], colour: int, dash: int = 0) -> None:
        """Draw a closed line through the corners."""
        for start, end in sides_of(corners):
            self.line(start, end, colour, dash)

    def polygon(self, rings: Sequence[Sequence[Point]], colour: int) -> None:
        """Fill the points inside an odd number of rings, row by row through the pixel centres."""
        sides = list(chain.from_iterable(map(sides_of, rings)))
        for y in range(self.pixels.shape[0]):
            cuts = []
            for (ax, ay), (bx, by) in sides:
                if (ay <= y) != (by <= y):
                    cut = ax + (y - ay) * (bx - ax) // (by - ay)
                    cuts.append(cut)
            cuts.sort()
            # The row is inside between the first and second cut, the third and fourth, and so on.
            for left, right in zip(cuts[::2], cuts[1::2], strict=True):
                self.fill(left + 1, y, right - left, 1, colour)

    def text(
        self, x: int, y: int, text: str, scale: int = 1, colour: int = BLACK
    ) -> None:
        """Write a line of text with its top left corner at (x, y)."""
        for i, character in enumerate(text):
            if character == " ":
                continue
            glyph = glyphs()[character].repeat(scale, axis=0).repeat(scale, axis=1)
            height, width = glyph.shape
            left = x + i * ADVANCE * scale
            self.pixels[y : y + height, left : left + width][glyph] = colour

    def text_in(
        self,
        box: tuple[int, int, int, int],
        text: str,
        scale: int = 1,
        colour: int = BLACK,
    ) -> None:
        """Centre a line of text in a rectangle, given as left, top, width and height."""
        left, top, width, height = box
        text_width, text_height = text_size(text, scale)
        x = left + (width - text_width) // 2
        y = top + (height - text_height) // 2
        self.text(x, y, text, scale, colour)

    def png(self) -> bytes:
        """Return the picture as a PNG file."""
        return indexed_png(self.pixels, PALETTE, packed=True)


def sides_of(corners: Sequence[Point]) -> Iterator[tuple[Point, Point]]:
    """Return the sides of a closed line: each corner with the next one."""
    return pairwise([*corners, *corners[:1]])


def text_size(text: str, scale: int = 1) -> Point:
    """Return the width and height of a line of text in pixels."""
    return (ADVANCE * len(text) - 1) * scale, GLYPH_HEIGHT * scale


@cache
def glyphs() -> dict[str, NDArray[np.bool_]]:
    """Return the bitmap of each character: 5 columns and 7 rows, or 9 rows with a descender."""
    text = files(__package__).joinpath("glyphs.txt").read_text("utf-8")
    shapes = {}
    # The first line describes the format: a character, a blank, rows of dots and hashes.
    for line in text.splitlines()[1:]:
        rows = list(map(list, line[2:].split()))
        shapes[line[0]] = np.array(rows) == "#"
    return shapes


class CellSize(NamedTuple):
    """Width and height of a cell in pixels, and the scale of its text."""

    width: int
    height: int
    scale: int


def grid_picture(
    cells: Sequence[Sequence[str]],
    first: int = 0,
    *,
    fills: dict[str, int] | None = None,
    lines: bool = True,
    letters: int = 1,
    most: int = SIDE,
) -> Canvas:
    """Draw a grid with column numbers above it and row numbers on its left.

    Args:
        cells: rows from the top; a text for each cell.
        first: number of the first column and row.
        fills: colours of the texts that are drawn as filled cells; other texts are written.
        lines: whether there are lines between cells, on their left and upper sides.
        letters: maximum number of letters in a cell.
        most: maximum side of a cell in pixels.
    """
    rows = len(cells)
    columns = len(cells[0])
    width, height, scale = _cell_size(columns, rows, letters, most)
    ruler_scale = 1 if max(rows, columns) > 100 else 2
    longest_number = str(first + max(rows, columns) - 1)
    number_width, number_height = text_size(longest_number, ruler_scale)
    left = _MARGIN + number_width + _TICK_ROOM
    top = _MARGIN + number_height + _TICK_ROOM
    # The last column's number can be wider than its cell.
    right = max(_MARGIN, number_width // 2)
    canvas = Canvas(left + columns * width + right, top + rows * height + 1 + _MARGIN)

    _rule_columns(canvas, (left, top), width, (first, first + columns - 1), ruler_scale)
    _rule_rows(canvas, (left, top), height, (first, first + rows - 1), ruler_scale)
    paint_cells(
        canvas, (left, top), (width, height), cells, fills or {}, scale, lines=lines
    )
    return canvas


def _cell_size(columns: int, rows: int, letters: int, most: int) -> CellSize:
    """Return the largest cell that fits the picture, and the scale of its text."""
    readable = 9 if letters > 1 else 8
    # The short edge is 768 pixels with the margin if that leaves room for readable cells.
    short_edge = 1024
    if min(columns, rows) * readable <= 720:
        short_edge = 768 - 48
    long_edge = LONG_EDGE - 64
    fitting = min(short_edge // min(rows, columns), long_edge // max(columns, rows))
    height = max(5, min(most, fitting))
    if letters > 2:
        height = max(9, min(height, 1000 // rows))

    text_width = ADVANCE * letters - 1
    scale = max(1, min(3, (height - 2) // GLYPH_HEIGHT))
    if letters < 3:
        # Two letters need more space at their sides than one.
        padding = 2 if letters == 1 else 6
        scale = max(1, min(scale, (height - padding) // text_width))
        return CellSize(height, height, scale)
    # Long numbers make cells wider than they are high. Scale 2 only if all columns still fit.
    if (text_width + _ROOM + 1) * 2 * columns > 1450:
        scale = 1
    scale = min(2, scale)
    return CellSize(max(height, (ADVANCE * letters + _ROOM) * scale), height, scale)


def _rule_columns(
    canvas: Canvas, corner: Point, pitch: int, ends: tuple[int, int], scale: int
) -> None:
    """Write column numbers above a grid."""
    left, top = corner
    first, last = ends
    widest, height = text_size(str(last), scale)
    for number in _ruler_numbers(ends, pitch, widest):
        middle = left + (number - first) * pitch + pitch // 2
        width, _ = text_size(str(number), scale)
        y = top - height - _TICK_ROOM
        canvas.text(middle - width // 2, y, str(number), scale)
        canvas.fill(middle, top - _TICK, 1, _TICK, BLACK)


def _rule_rows(
    canvas: Canvas, corner: Point, pitch: int, ends: tuple[int, int], scale: int
) -> None:
    """Write row numbers on the left of a grid."""
    left, top = corner
    first, last = ends
    _, height = text_size(str(last), scale)
    for number in _ruler_numbers(ends, pitch, height):
        middle = top + (number - first) * pitch + pitch // 2
        width, _ = text_size(str(number), scale)
        x = left - width - _TICK_ROOM
        canvas.text(x, middle - height // 2, str(number), scale)
        canvas.fill(left - _TICK, middle, _TICK, 1, BLACK)


def _ruler_numbers(ends: tuple[int, int], pitch: int, length: int) -> list[int]:
    """Return the numbers that fit on a ruler whose numbers are ``length`` pixels long."""
    first, last = ends
    room = length + _APART
    step = min(step for step in _RULER_STEPS if step * pitch > room)
    numbers = [number for number in range(first, last + 1) if number % step == 0]
    if numbers[-1] != last:
        # The last number is always drawn; numbers that would touch it are left out.
        numbers = [number for number in numbers if (last - number) * pitch > room]
        numbers.append(last)
    return numbers


def layers_picture(
    layers: Sequence[Sequence[Sequence[str]]],
    *,
    fills: dict[str, int],
    lines: bool,
) -> Canvas:
    """Draw equal grids in rows and columns, each with its number z above it."""
    rows = len(layers[0])
    columns = len(layers[0][0])
    # Four grids across for three down, because the picture is wider than high.
    across = 1
    while 3 * across * across < 4 * len(layers):
        across += 1
    down = math.ceil(len(layers) / across)
    fitting_width = (LONG_EDGE - 60) // across // (columns + 3)
    fitting_height = 680 // down // rows
    height = max(8, min(SIDE, fitting_width, fitting_height))
    width = height
    if down * (rows * height + _LAYER_GAP_DOWN) > 760:
        # The picture is too high: narrower cells let more grids fit into a row.
        width = height - 1
        across = (LONG_EDGE - _MARGIN) // (columns * width + _LAYER_GAP)
        down = math.ceil(len(layers) / across)
    scale = max(1, min(2, (height - 2) // GLYPH_HEIGHT))
    pitch = columns * width + _LAYER_GAP
    pitch_down = rows * height + _LAYER_GAP_DOWN
    canvas = Canvas(_MARGIN + across * pitch, _MARGIN + down * pitch_down)
    for z, cells in enumerate(layers):
        left = _MARGIN + z % across * pitch
        title_top = _MARGIN + z // across * pitch_down
        canvas.text(left, title_top, f"z = {z}", 2)
        corner = (left, title_top + _TITLE_HEIGHT)
        paint_cells(canvas, corner, (width, height), cells, fills, scale, lines=lines)
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
    """Fill or write the cells of a grid, and draw the lines between them.

    Args:
        canvas: the picture.
        corner: the grid's top left corner.
        size: width and height of a cell.
        cells: rows from the top; a text for each cell.
        fills: colours of the texts that are drawn as filled cells.
        scale: scale of the other texts.
        lines: whether to draw lines between cells; otherwise only a frame around the grid.
    """
    left, top = corner
    width, height = size
    for row, texts in enumerate(cells):
        for column, text in enumerate(texts):
            x = left + column * width
            y = top + row * height
            if text in fills:
                canvas.fill(x, y, width, height, fills[text])
            elif text:
                canvas.text_in((x + 1, y + 1, width - 1, height - 1), text, scale)
    grid_width = len(cells[0]) * width
    grid_height = len(cells) * height
    if not lines:
        canvas.frame(left - 1, top - 1, grid_width + 2, grid_height + 2, GREY)
        return
    for x in range(left, left + grid_width + 1, width):
        canvas.fill(x, top, 1, grid_height + 1, GREY)
    for y in range(top, top + grid_height + 1, height):
        canvas.fill(left, y, grid_width + 1, 1, GREY)
