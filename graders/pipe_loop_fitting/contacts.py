"""Exact tests on doubles for pieces of a closed loop that cross or touch.

Nearly all pairs are decided in doubles, with bounds on their rounding; the others in integers.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scbench.base.runs import expand_runs
from scbench.graders.shared.plane_geometry import XY, orient

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]
Marks = npt.NDArray[np.bool_]
Pair = tuple[int, int]
# Pieces closer than this touch, in the unit of the coordinates.
TOUCH = 1e-9
# Distances are computed with errors far below this, for coordinates up to 10**5.
_DOUBT = 1e-10
# Upper bound of the relative error of an orientation.
_ROUNDING = 4 * 2.0**-53
# Bound for products too small for a double.
_UNDERFLOW = 1e-290
# Maximum number of pairs decided in integers.
_EXACT_PAIRS = 100


class Contacts(NamedTuple):
    """Pairs of pieces that are not neighbours and meet, smaller position first, in order."""

    crossings: list[Pair]
    """Pairs that cross: the ends of each piece are strictly on opposite sides of the other one."""
    touches: list[Pair]
    """Pairs that do not cross, but are less than `TOUCH` apart."""


class ExactContact(NamedTuple):
    """Whether two pieces cross, and whether an end of one is near the other."""

    crosses: bool
    touches: bool


def contacts(points: Floats) -> Contacts:
    """Find every pair of pieces of a loop (n, 2) that cross or touch; no point is beyond 10**5.

    The result is as in exact arithmetic on the given doubles. If more than 100 pairs
    need long integers, further pairs in contact all count as touches.
    """
    start = points
    end = successors(points)
    low = np.minimum(start, end) - TOUCH
    high = np.maximum(start, end) + TOUCH
    first, second = close_pieces(low, high)
    if not first.size:
        return Contacts([], [])
    crosses, is_apart = _piece_sides(
        start[first], end[first], start[second], end[second]
    )
    crossings = _index_pairs(first[crosses], second[crosses])
    first = first[~crosses]
    second = second[~crosses]
    is_apart = is_apart[~crosses]
    gap = _end_distances(start[first], end[first], start[second], end[second])
    # A gap in between is decided in integers, and so is a pair that may cross.
    is_close = gap < TOUCH + _DOUBT
    touches_surely = is_apart & (gap < TOUCH - _DOUBT)
    beyond_limit = np.flatnonzero(is_close & ~touches_surely)[_EXACT_PAIRS:]
    touches_surely[beyond_limit] = gap[beyond_limit] < TOUCH / 2
    touches = _index_pairs(first[touches_surely], second[touches_surely])
    is_doubtful = is_close & ~touches_surely
    for i, j in _index_pairs(first[is_doubtful], second[is_doubtful]):
        contact = exact_contact(points, i, j)
        if contact.crosses:
            crossings.append((i, j))
        elif contact.touches:
            touches.append((i, j))
    return Contacts(sorted(crossings), sorted(touches))


def successors(points: Floats) -> Floats:
    """Return the point after each point of a ring."""
    return np.concatenate((points[1:], points[:1]))


def close_pieces(low: Floats, high: Floats) -> tuple[Positions, Positions]:
    """Return the pairs of pieces that may meet, given their lowest and highest corners (n, 2)."""
    n = len(low)
    # Along x, each piece meets a run of the pieces that begin after it.
    order = np.argsort(low[:, 0], kind="stable")
    begin = low[order, 0]
    end = high[order, 0]
    first_after = np.arange(1, n + 1)
    left_piece, right_piece = expand_runs(
        first_after, np.searchsorted(begin, end, side="right")
    )
    i = order[left_piece]
    j = order[right_piece]
    # They meet along y as well if neither ends before the other begins.
    overlaps = (low[i, 1] <= high[j, 1]) & (low[j, 1] <= high[i, 1])
    i = i[overlaps]
    j = j[overlaps]
    first = np.minimum(i, j)
    second = np.maximum(i, j)
    # Neighbours always meet; the last piece and the first are neighbours.
    are_neighbours = (second - first <= 1) | (second - first >= n - 1)
    first = first[~are_neighbours]
    second = second[~are_neighbours]
    by_position = np.lexsort((second, first))
    return first[by_position], second[by_position]


def _index_pairs(first: Positions, second: Positions) -> list[Pair]:
    return list(zip(first.tolist(), second.tolist(), strict=True))


def _piece_sides(a: Floats, b: Floats, c: Floats, d: Floats) -> tuple[Marks, Marks]:
    """Return masks of pieces a-b and c-d, all (m, 2), that certainly cross and certainly do not."""
    # Negative if the ends of the second piece lie on opposite sides of the first, and vice versa.
    sides_of_ab = _side(a, b, c) * _side(a, b, d)
    sides_of_cd = _side(c, d, a) * _side(c, d, b)
    crosses = (sides_of_ab < 0) & (sides_of_cd < 0)
    is_apart = (sides_of_ab > 0) | (sides_of_cd > 0)
    return crosses, is_apart


def _side(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return the side of a-b on which each c (m, 2) lies: 1, -1, or 0 if undecided in doubles."""
    minuend = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1])
    subtrahend = (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    value = minuend - subtrahend
    error = _ROUNDING * (np.abs(minuend) + np.abs(subtrahend)) + _UNDERFLOW
    return np.sign(value) * (np.abs(value) > error)


def _piece_distances(p: Floats, a: Floats, b: Floats) -> Floats:
    """Return the distance of each p from the piece from a to b; each is (m, 2)."""
    along = b - a
    to = p - a
    square = along[:, 0] * along[:, 0] + along[:, 1] * along[:, 1]
    dot = along[:, 0] * to[:, 0] + along[:, 1] * to[:, 1]
    share = np.zeros(len(p))
    np.divide(dot, square, out=share, where=square > 0)
    # From the nearest point of the piece, which can be one of its ends.
    away = to - np.clip(share, 0.0, 1.0)[:, None] * along
    distances: Floats = np.sqrt(away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1])
    return distances


def _end_distances(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Return the distances (m,) of pieces a-b and c-d that do not cross; each is (m, 2).

    Such pieces are closest at an end of one of them.
    """
    to_ab = np.minimum(_piece_distances(c, a, b), _piece_distances(d, a, b))
    to_cd = np.minimum(_piece_distances(a, c, d), _piece_distances(b, c, d))
    return np.minimum(to_ab, to_cd)


def exact_contact(points: Floats, i: int, j: int) -> ExactContact:
    """Decide in integers whether pieces i and j of a loop cross or touch."""
    n = len(points)
    ends = points[[i, (i + 1) % n, j, (j + 1) % n]]
    ratios = [value.as_integer_ratio() for value in ends.ravel().tolist()]
    # All denominators are powers of two, so the largest is a multiple of each.
    scale = max(below for _, below in ratios)
    integers = [above * (scale // below) for above, below in ratios]
    a, b, c, d = zip(integers[::2], integers[1::2], strict=True)
    parts_ab = _opposite(orient(a, b, c), orient(a, b, d))
    parts_cd = _opposite(orient(c, d, a), orient(c, d, b))
    limit = (scale * Fraction(TOUCH).limit_denominator(10**9)) ** 2
    nearest = min(
        _square_distance(c, a, b),
        _square_distance(d, a, b),
        _square_distance(a, c, d),
        _square_distance(b, c, d),
    )
    return ExactContact(parts_ab and parts_cd, nearest < limit)


def _opposite(first: int, second: int) -> bool:
    return first < 0 < second or second < 0 < first


def _square_distance(p: XY, a: XY, b: XY) -> Fraction:
    """Return the squared distance of p from the piece from a to b."""
    px = p[0] - a[0]
    py = p[1] - a[1]
    ux = b[0] - a[0]
    uy = b[1] - a[1]
    dot = px * ux + py * uy
    square = ux * ux + uy * uy
    if dot <= 0:
        return Fraction(px * px + py * py)
    if dot >= square:
        return Fraction((px - ux) ** 2 + (py - uy) ** 2)
    return Fraction((px * uy - py * ux) ** 2, square)
