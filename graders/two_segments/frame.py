"""The boundary of a convex quadrilateral, places on it, and the regions that two chords cut.

A place is an integer: side times ``unit`` plus the place along that side, with ``unit`` places to a
side, so that corners are the multiples of ``unit``. The regions depend only on the cyclic order of
the chords' ends and the corners; no more geometry is needed for them.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

# Places of the two ends.
Chord = tuple[int, int]


class Frame(NamedTuple):
    """A convex quadrilateral."""

    corners: tuple[tuple[int, int], ...]
    """In units of the last decimal."""
    decimals: int
    unit: int
    """Places to a side."""
    reach: float
    """Larger coordinates are rejected unread: they are far outside."""


class Spot(NamedTuple):
    """The position of a point relative to the boundary."""

    place: int
    """The nearest place on the boundary."""
    near: bool
    """Whether the point is within half a place of the boundary, along the side it is nearest to."""
    distance: float
    """Distance from the boundary."""
    relative: float
    """Distance from the boundary, divided by the length of the side."""


class Side(NamedTuple):
    """The nearest side of a point, in integers."""

    number: int
    square_length: int
    along: int
    """Distance from the side's start to the nearest point of the side, times the side's length."""
    gap: int
    """Squared distance of the point, as a fraction with ``per``."""
    per: int


def exact(x: float) -> tuple[int, int]:
    """Return n and k at least 0 with x = n / 10**k, for the shortest decimal that gives x."""
    digits, _, exponent = repr(x).partition("e")
    integer_part, _, fraction = digits.partition(".")
    k = len(fraction) - int(exponent or 0)
    n = int(integer_part + fraction)
    return (n, k) if k >= 0 else (n * 10**-k, 0)


def frame_of(corners: Sequence[Sequence[float]], decimals: int) -> Frame:
    """Return the frame with these corners and 10**decimals places to a side."""
    coordinates = list(chain(*corners))
    fractions = [exact(coordinate) for coordinate in coordinates]
    max_decimals = max(k for _, k in fractions)
    integers = [n * 10 ** (max_decimals - k) for n, k in fractions]
    xs = integers[::2]
    ys = integers[1::2]
    reach = 100 * (1 + max(map(abs, coordinates)))
    points = tuple(zip(xs, ys, strict=True))
    return Frame(points, max_decimals, 10**decimals, reach)


def locate(frame: Frame, point: tuple[float, float]) -> Spot | None:
    """Return the exact position of a point; None if it is too far from the frame.

    If several sides are equally near, the longest is used, and the first of equally long ones.
    Exact halves round to even.
    """
    if max(abs(point[0]), abs(point[1])) > frame.reach:
        return None
    x, x_decimals = exact(point[0])
    y, y_decimals = exact(point[1])
    # Frame and point in units of the same decimal.
    decimals = max(x_decimals, y_decimals, frame.decimals)
    x *= 10 ** (decimals - x_decimals)
    y *= 10 ** (decimals - y_decimals)
    scale = 10 ** (decimals - frame.decimals)
    corners = [(a * scale, b * scale) for a, b in frame.corners]
    side = nearest_side(corners, x, y)
    step, remainder = divmod(side.along * frame.unit, side.square_length)
    is_above_half = 2 * remainder > side.square_length
    is_half = 2 * remainder == side.square_length
    if is_above_half or (is_half and step % 2):
        step += 1
    gap = side.gap
    per = side.per
    return Spot(
        place=(side.number * frame.unit + step) % (4 * frame.unit),
        near=gap * (2 * frame.unit) ** 2 <= per * side.square_length,
        distance=math.sqrt(gap / (per * 10 ** (2 * decimals))),
        relative=math.sqrt(gap / (per * side.square_length)),
    )


def nearest_side(corners: Sequence[tuple[int, int]], x: int, y: int) -> Side:
    """Return the side of a quadrilateral that is nearest to a point."""
    sides = [_side(corners, number, x, y) for number in range(4)]
    nearest = sides[0]
    for side in sides[1:]:
        closer = nearest.gap * side.per - side.gap * nearest.per
        is_longer = side.square_length > nearest.square_length
        if closer > 0 or (closer == 0 and is_longer):
            nearest = side
    return nearest


def _side(corners: Sequence[tuple[int, int]], number: int, x: int, y: int) -> Side:
    ax, ay = corners[number]
    bx, by = corners[(number + 1) % 4]
    dx = bx - ax
    dy = by - ay
    px = x - ax
    py = y - ay
    square = dx * dx + dy * dy
    along = px * dx + py * dy
    # Nearest to the start, to the end, or to a point between them.
    if along <= 0:
        return Side(number, square, 0, px * px + py * py, 1)
    if along >= square:
        return Side(number, square, square, (x - bx) ** 2 + (y - by) ** 2, 1)
    return Side(number, square, along, (px * dy - py * dx) ** 2, square)


@lru_cache(maxsize=4096)
def on_one_side(chord: Chord, unit: int) -> bool:
    """Whether both ends lie on one side; a corner belongs to both its sides."""
    a, b = chord
    for side in corner_places(unit):
        if (a - side) % (4 * unit) <= unit and (b - side) % (4 * unit) <= unit:
            return True
    return False


def regions(first: Chord, second: Chord, unit: int) -> list[int]:
    """Return the number of sides of each region that two chords cut the frame into.

    The ends of a chord are different and not on one side; the second may share ends with the first.
    There are ``unit`` places to a side.
    """
    a, b = first
    c, d = second
    if {a, b} == {c, d}:
        return [_corners_between(a, b, unit) + 2, _corners_between(b, a, unit) + 2]
    ends = {a, b, c, d}
    if len(ends) == 4 and _within(c, a, b, unit) != _within(d, a, b, unit):
        # The chords cross: each of the four regions has its corners, two ends and the crossing.
        ring = sorted(ends)
        return [_corners_between(ring[i - 1], ring[i], unit) + 3 for i in range(4)]
    # Each chord cuts off the arc without the other's ends; the third region lies
    # between them.
    arcs = [_free_arc(first, second, unit), _free_arc(second, first, unit)]
    cut_off = [_corners_between(*arc, unit) + 2 for arc in arcs]
    middle = len(ends)
    for corner in corner_places(unit):
        inside = any(_within(corner, *arc, unit) for arc in arcs)
        if corner not in ends and not inside:
            middle += 1
    return [*cut_off, middle]


def corner_places(unit: int) -> range:
    """Return the places of the corners."""
    return range(0, 4 * unit, unit)


def _within(place: int, start: int, end: int, unit: int) -> bool:
    """Whether a place lies strictly inside the arc from start to end."""
    return 0 < (place - start) % (4 * unit) < (end - start) % (4 * unit)


def _corners_between(start: int, end: int, unit: int) -> int:
    """Return the number of corners strictly inside the arc from start to end."""
    return sum(_within(corner, start, end, unit) for corner in corner_places(unit))


def _free_arc(chord: Chord, rival: Chord, unit: int) -> Chord:
    """Return the ends of a chord, in the order whose arc contains no end of the other chord."""
    a, b = chord
    for end in rival:
        if _within(end, a, b, unit):
            return b, a
    return a, b
