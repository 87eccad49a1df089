"""The kind of shape that a path draws, found from its corners and sides."""

import re
from cmath import phase
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import radians
from typing import NamedTuple

from scbench.schemas.svg_shapes import Kind

# Kinds by number of curved sides and number of all sides.
_ROUND: Mapping[tuple[int, int], Kind] = {
    (0, 0): "ellipse",
    (1, 2): "half_ellipse",
    (1, 3): "sector",
}
_STRAIGHT: Mapping[int, Kind] = {3: "triangle", 5: "pentagon", 6: "hexagon", 10: "star"}
# Kinds by the number of diagonals that the other diagonal does not bisect.
_FOUR_SIDED: tuple[Kind, ...] = ("rectangle", "kite", "trapezoid")
# Minimum distance of the cut from a diagonal's middle, as a share, to count as not bisected.
_QUARTERS = 0.11
# Pieces that meet at less than the first angle continue smoothly; at more than the second, they
# form a corner. Outlines with an angle in between are redrawn.
_SMOOTH = radians(9)
_SHARP = radians(15)
# A side is curved if any of its points is farther than this from a straight line.
_STRAY = 0.04
# Sums of decimals are inexact, so distances below a hundredth count as 0.
_SAME_POINT = 0.005


class Piece(NamedTuple):
    """The points of a line or curve, including handles, and whether it is an arc."""

    points: list[complex]
    is_arc: bool


class Side(NamedTuple):
    """A side from one corner to the next."""

    start: complex
    is_curved: bool


def kind_of(path: str) -> Kind | None:
    """Return the kind of shape that a path draws; None if it is not one of the ten."""
    sides = sides_of(path)
    curved = sum(side.is_curved for side in sides)
    if curved or not sides:
        return _ROUND.get((curved, len(sides)))
    if len(sides) == 4:
        return four_sided_kind([side.start for side in sides])
    return _STRAIGHT.get(len(sides))


def four_sided_kind(corners: Sequence[complex]) -> Kind:
    """Return rectangle if both diagonals are bisected, kite if one is, and trapezoid if none is."""
    a, b, c, d = corners
    across = ((c - a).conjugate() * (d - b)).imag
    first = ((b - a).conjugate() * (d - b)).imag / across
    second = ((b - a).conjugate() * (c - a)).imag / across
    uneven = [share for share in (first, second) if abs(share - 0.5) > _QUARTERS]
    return _FOUR_SIDED[len(uneven)]


def is_blurred(path: str) -> bool:
    """Return whether the path has a point that is barely a corner."""
    angles = turn_angles(pieces_of(path))
    return any(_SMOOTH < angle < _SHARP for angle in angles)


def sides_of(path: str) -> list[Side]:
    """Return the sides of a path in order; an outline without corners has none."""
    pieces = pieces_of(path)
    corners = [i for i, angle in enumerate(turn_angles(pieces)) if angle > _SMOOTH]
    if not corners:
        return []
    # The last side can continue past the start of the path.
    corners.append(corners[0] + len(pieces))
    twice_round = pieces + pieces
    return [side_of(twice_round[begin:end]) for begin, end in pairwise(corners)]


def side_of(pieces: Sequence[Piece]) -> Side:
    """Join pieces to a side, which is curved if it has an arc or strays from the straight line."""
    start = pieces[0].points[0]
    end = pieces[-1].points[-1]
    length = abs(end - start)
    direction = (end - start) / length if length > _SAME_POINT else 1
    is_curved = False
    for piece in pieces:
        # Turn the points so that the straight line is the real axis.
        turned = [(spot - start) / direction for spot in piece.points]
        stray = max(abs(spot.imag) for spot in turned)
        if piece.is_arc or stray > _STRAY:
            is_curved = True
    return Side(start, is_curved)


def turn_angles(pieces: Sequence[Piece]) -> list[float]:
    """Return the angle, in radians, at which each piece leaves the one before it."""
    return [turn_angle(pieces[i - 1], piece) for i, piece in enumerate(pieces)]


def turn_angle(before: Piece, after: Piece) -> float:
    """Return the angle between two pieces; two arcs meet smoothly, an arc and a line do not."""
    if before.is_arc and after.is_arc:
        return 0.0
    if before.is_arc or after.is_arc:
        return 2.0
    arrival = -_way_to_next(before.points[::-1])
    leave = _way_to_next(after.points)
    return abs(phase(leave / arrival))


def _way_to_next(points: Sequence[complex]) -> complex:
    """Return the vector from the first point to the next point in another place."""
    # A handle at the same place as its end has no direction.
    for point in points:
        way = point - points[0]
        if abs(way) > _SAME_POINT:
            return way
    raise ValueError("a piece has no length")


def pieces_of(path: str) -> list[Piece]:
    """Return the pieces of a path with a length above 0."""
    pieces: list[Piece] = []
    position = 0j
    start = 0j
    # Each command is a letter and its numbers.
    for word, text in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = [float(number) for number in re.findall(r"[^\s,]+", text)]
        is_arc = word in "Aa"
        if is_arc:
            # Radii and flags come before the end.
            numbers = numbers[-2:]
        base = position if word.islower() else 0
        spots = []
        for x, y in zip(numbers[::2], numbers[1::2], strict=True):
            spots.append(base + complex(x, y))
        if not spots:
            # A closing command has no numbers.
            spots = [start]
        end = spots[-1]
        if word in "Mm":
            start = end
        elif abs(end - position) > _SAME_POINT:
            pieces.append(Piece([position, *spots], is_arc))
        position = end
    return pieces
