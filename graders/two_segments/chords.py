"""Points on the boundary of a convex quadrilateral, and the regions two chords cut it into.

A place on the boundary is an integer: side times ``unit`` plus the place along that side, with
``unit`` places to a side. The corners are the multiples of ``unit``. What two chords cut depends
only on the cyclic order of their ends and the corners, so no geometry is needed for it.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

Chord = tuple[int, int]


class Frame(NamedTuple):
    """A convex quadrilateral with corners as integers of ``decimals`` decimals."""

    corners: tuple[tuple[int, int], ...]
    decimals: int
    unit: int
    reach: float
    """Coordinates larger than this are not looked at: they are far outside."""


class Spot(NamedTuple):
    """Where a point is, seen from the boundary."""

    place: int
    """The nearest place on the boundary."""
    near: bool
    """Whether the point is within half a place of the boundary, along the side it is nearest to."""
    distance: float
    """Distance from the boundary."""
    relative: float
    """The same, divided by the length of the side."""


def exact(x: float) -> tuple[int, int]:
    """Return n and k at least 0 with x = n / 10**k, for the shortest decimal that gives x."""
    digits, _, exponent = repr(x).partition("e")
    integer_part, _, fraction = digits.partition(".")
    k = len(fraction) - int(exponent or 0)
    n = int(integer_part + fraction)
    return (n, k) if k >= 0 else (n * 10**-k, 0)


def frame_of(corners: Sequence[Sequence[float]], decimals: int) -> Frame:
    """Return the frame with these corners and 10**decimals places to a side."""
    digits = [[exact(x) for x in corner] for corner in corners]
    max_decimals = max(k for corner in digits for _, k in corner)
    points = tuple(
        (x * 10 ** (max_decimals - i), y * 10 ** (max_decimals - j)) for (x, i), (y, j) in digits
    )
    reach = 100 * (1 + max(abs(x) for corner in corners for x in corner))
    return Frame(points, max_decimals, 10**decimals, reach)


@lru_cache(maxsize=4096)  # points on a grid come again and again
def locate(frame: Frame, point: tuple[float, float]) -> Spot | None:
    """Return where a point is, decided exactly, or None if it is out of the frame's reach.

    Of sides equally near the longest counts, then the first. Exact halves round to even.
    """
    if max(abs(point[0]), abs(point[1])) > frame.reach:
        return None
    (x, i), (y, j) = exact(point[0]), exact(point[1])
    decimals = max(i, j, frame.decimals)
    x, y, grow = (
        x * 10 ** (decimals - i),
        y * 10 ** (decimals - j),
        10 ** (decimals - frame.decimals),
    )
    ends = [(a * grow, b * grow) for a, b in frame.corners]
    # Squared distance gap / per and squared length of the best side so far.
    best_side, best_along, best_gap, best_per, best_length = -1, 0, 0, 1, 0
    for side in range(4):
        (ax, ay), (bx, by) = ends[side], ends[side - 3]
        dx, dy, px, py = bx - ax, by - ay, x - ax, y - ay
        length = dx * dx + dy * dy
        along = px * dx + py * dy
        if along <= 0:
            along, gap, per = 0, px * px + py * py, 1
        elif along >= length:
            along, gap, per = length, (x - bx) ** 2 + (y - by) ** 2, 1
        else:
            gap, per = (px * dy - py * dx) ** 2, length
        closer = best_gap * per - gap * best_per
        if best_side < 0 or closer > 0 or (closer == 0 and length > best_length):
            best_side, best_along = side, along
            best_gap, best_per, best_length = gap, per, length
    step, remainder = divmod(best_along * frame.unit, best_length)
    if 2 * remainder > best_length or (2 * remainder == best_length and step % 2):
        step += 1
    return Spot(
        place=(best_side * frame.unit + step) % (4 * frame.unit),
        near=best_gap * (2 * frame.unit) ** 2 <= best_per * best_length,
        distance=math.sqrt(best_gap / (best_per * 10 ** (2 * decimals))),
        relative=math.sqrt(best_gap / (best_per * best_length)),
    )


@lru_cache(maxsize=4096)
def on_one_side(chord: Chord, unit: int) -> bool:
    """Whether both ends lie on one side; a corner belongs to both its sides."""
    return any(all((end - side) % (4 * unit) <= unit for end in chord) for side in _corners(unit))


def regions(first: Chord, second: Chord, unit: int) -> list[int]:
    """Return the number of sides of each region that two chords cut the frame into.

    Args:
        first: its two ends, different and not on one side.
        second: the same; it may share ends with the first.
        unit: places to a side.
    """
    a, b = first
    if {a, b} == set(second):
        return [_between(a, b, unit) + 2, _between(b, a, unit) + 2]
    if len({a, b, *second}) == 4 and _within(second[0], a, b, unit) != _within(
        second[1], a, b, unit
    ):
        ring = sorted((a, b, *second))
        return [_between(ring[i - 1], ring[i], unit) + 3 for i in range(4)]
    # Each chord cuts off the arc on which the other has no end; the rest lies between the two.
    arcs = [_free_arc(first, second, unit), _free_arc(second, first, unit)]
    ends = {a, b, *second}
    middle = len(ends) + sum(
        corner not in ends and not any(_within(corner, *arc, unit) for arc in arcs)
        for corner in _corners(unit)
    )
    return [*(_between(*arc, unit) + 2 for arc in arcs), middle]


def _corners(unit: int) -> range:
    return range(0, 4 * unit, unit)


def _within(place: int, start: int, end: int, unit: int) -> bool:
    """Whether a place lies strictly inside the arc from start to end."""
    return 0 < (place - start) % (4 * unit) < (end - start) % (4 * unit)


def _between(start: int, end: int, unit: int) -> int:
    """Return the number of corners strictly inside the arc from start to end."""
    return sum(_within(corner, start, end, unit) for corner in _corners(unit))


def _free_arc(chord: Chord, rival: Chord, unit: int) -> Chord:
    a, b = chord
    return (b, a) if any(_within(end, a, b, unit) for end in rival) else (a, b)
