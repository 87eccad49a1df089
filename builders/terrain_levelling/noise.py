"""Height maps of classic Perlin noise."""

import math
from collections.abc import Sequence
from itertools import product

# The directions that a hash chooses from.
_GRADIENTS = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))
_OCTAVES = 4


def height_map(
    size: int, scale: float, table: Sequence[int]
) -> tuple[tuple[float, ...], ...]:
    """Return a map of classic Perlin noise in four octaves; heights are around 5, with one decimal.

    ``scale`` is the number of periods of the first octave along a side. ``table`` contains the
    numbers from 0 to 255 in random order.
    """
    places = [k * scale / size for k in range(size)]
    heights = []
    for y, x in product(places, places):
        height = (noise(x, y, table) + 0.5) * 10
        heights.append(round(height, 1))
    low = min(heights)
    extent = max(heights) - low
    if extent < 5:
        # If the map is too flat to be worth levelling, spread the heights from 1 to 10.
        spread = extent or 1.0
        heights = [round(1 + 9 * (height - low) / spread, 1) for height in heights]
    starts = range(0, len(heights), size)
    return tuple(tuple(heights[start : start + size]) for start in starts)


def noise(x: float, y: float, table: Sequence[int]) -> float:
    """Return the mean of all octaves, each half as strong and twice as fine as the last."""
    total = 0.0
    largest = 0.0
    for octave in range(_OCTAVES):
        amplitude = 0.5**octave
        frequency = 2.0**octave
        total += amplitude * perlin(x * frequency, y * frequency, table)
        largest += amplitude
    return total / largest


def perlin(x: float, y: float, table: Sequence[int]) -> float:
    """Return one octave: the gradients of the four corners of a cell, blended."""
    cell_x = math.floor(x)
    cell_y = math.floor(y)
    dx = x - cell_x
    dy = y - cell_y

    def corner(i: int, j: int) -> float:
        hash_of_x = table[(cell_x + i) % 256]
        hash_of_both = table[(hash_of_x + (cell_y + j) % 256) % 256]
        gradient_x, gradient_y = _GRADIENTS[hash_of_both % 8]
        return gradient_x * (dx - i) + gradient_y * (dy - j)

    u = _fade(dx)
    v = _fade(dy)
    first = corner(0, 0) + u * (corner(1, 0) - corner(0, 0))
    second = corner(0, 1) + u * (corner(1, 1) - corner(0, 1))
    return first + v * (second - first)


def _fade(t: float) -> float:
    """Ease from 0 to 1, without a bend at either end."""
    return t * t * t * (t * (t * 6 - 15) + 10)
