"""Checks whether an option is the kind of shape that a path draws.

The path is read into pieces with absolute points. Two pieces that meet at an angle make a corner,
and all pieces between two corners are one side. A side is curved if any of its points is off the
line between its ends. The numbers of corners and curved sides identify most kinds. Of four straight
sides, opposite ones are compared: both pairs are equally long in a rectangle, one pair in a
trapezoid, none in a kite.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import dist
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.answer_text import quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.named_options import option
from scbench.schemas.svg_shapes import Answer, Kind, Params

VERSION = 4

CHECKS = {
    "readable": "The answer is one of the options, by letter or by name.",
    "shape": "The option is the shape that the path draws.",
}
OWN_FAULTS = ("readable",)

# A point, in hundredths of a unit.
Spot = tuple[int, int]

# Letters of the options.
_LETTERS = "ABCDEFGHIJ"
# Kinds by their numbers of curved sides and of all sides.
_ROUND: Mapping[tuple[int, int], Kind] = {
    (0, 0): "ellipse",
    (1, 2): "half_ellipse",
    (1, 3): "sector",
}
_STRAIGHT: Mapping[int, Kind] = {3: "triangle", 5: "pentagon", 6: "hexagon", 10: "star"}
# Maximum distance of a straight side from the line between its ends (rounding and a
# margin), in hundredths of a unit.
_STRAY = 4
# How many numbers each command has; the last two are its end point.
_TAKES = {"M": 2, "L": 2, "C": 6, "A": 7, "Z": 0}
# A command, or a number of at most two decimals.
_WORD = re.compile(r"([MLCAZmlcaz])|(-?\d+)(?:\.(\d{1,2}))?")
# Minimum ratio of two sides that count as equally long, including rounding errors.
_ALIKE = 0.75


class Piece(NamedTuple):
    """The line or curve of one command: its points in order, including control points."""

    spots: tuple[Spot, ...]
    is_arc: bool


class Command(NamedTuple):
    """One command of a path."""

    word: str
    numbers: list[int]
    """In hundredths."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the option is the shape, else 0."""
    checks = Checklist(CHECKS)
    names = [kind.replace("_", " ") for kind in params.options]
    choice = option(answer.answer, names)
    wrong = f"{quote(answer.answer)} is not one of the options."
    if checks.readable(choice, wrong, "There is no option to compare."):
        right = params.options.index(shape_of(params.path))
        wrong = f"The shape is {_LETTERS[right]}) {names[right]}, not {quote(answer.answer)}."
        checks.expect("shape", choice == right, wrong)
    return checks.binary()


@lru_cache(maxsize=1024)
def shape_of(path: str) -> Kind:
    """Return the kind of shape that a path draws.

    Raises:
        ValueError: the path is not well formed, or draws none of the kinds.
    """
    sides = outline_sides(path_pieces(path))
    curved = sum(not is_straight(side) for side in sides)
    if curved or not sides:
        kind = _ROUND.get((curved, len(sides)))
    elif len(sides) == 4:
        kind = four_sided_kind(sides)
    else:
        kind = _STRAIGHT.get(len(sides))
    if kind is None:
        raise ValueError(
            f"no shape has {counted(len(sides), 'side')}, {curved} of them curved"
        )
    return kind


def four_sided_kind(sides: Sequence[Sequence[Piece]]) -> Kind:
    """Return the kind of shape with four straight sides."""
    lengths = []
    for side in sides:
        start = side[0].spots[0]
        end = side[-1].spots[-1]
        lengths.append(dist(start, end))
    a, b, c, d = lengths
    equal_pairs = 0
    for opposite in ((a, c), (b, d)):
        if min(opposite) >= _ALIKE * max(opposite):
            equal_pairs += 1
    kinds: tuple[Kind, ...] = ("kite", "trapezoid", "rectangle")
    return kinds[equal_pairs]


def is_straight(side: Sequence[Piece]) -> bool:
    """Whether all points of a side are near the line between its ends."""
    start_x, start_y = side[0].spots[0]
    end_x, end_y = side[-1].spots[-1]
    along = end_x - start_x
    up = end_y - start_y
    limit = _STRAY * _STRAY * (along * along + up * up)
    for piece in side:
        if piece.is_arc:
            return False
        for x, y in piece.spots:
            if (along * (y - start_y) - up * (x - start_x)) ** 2 > limit:
                return False
    return True


def outline_sides(pieces: Sequence[Piece]) -> list[Sequence[Piece]]:
    """Return the pieces between one corner and the next, for all corners."""
    corners = [i for i in range(len(pieces)) if is_corner(pieces[i - 1], pieces[i])]
    if not corners:
        return []
    # The last side may go past the start of the path.
    corners.append(corners[0] + len(pieces))
    twice = [*pieces, *pieces]
    return [twice[i:j] for i, j in pairwise(corners)]


def is_corner(before: Piece, after: Piece) -> bool:
    """Whether pieces form a corner: just one is an arc, or they turn by over about 12 degrees."""
    if before.is_arc or after.is_arc:
        return before.is_arc != after.is_arc
    # Both directions point away from the common point.
    a, b = first_way(before.spots[::-1])
    c, d = first_way(after.spots)
    # The tangent of the angle is above 0.21.
    return 100 * abs(b * c - a * d) > -21 * (a * c + b * d)


def first_way(spots: Sequence[Spot]) -> Spot:
    """Return the vector from the first point to the next different one.

    Raises:
        ValueError: there is no different point.
    """
    x, y = spots[0]
    for p, q in spots:
        if (p, q) != (x, y):
            return p - x, q - y
    raise ValueError("a piece has length 0")


def path_pieces(path: str) -> list[Piece]:
    """Return the lines and curves of a path; a command of length 0 draws nothing.

    Raises:
        ValueError: the path is not well formed.
    """
    position: Spot = (0, 0)
    start = position
    commands = read_commands(path)
    if not commands or commands[0].word not in "Mm" or commands[-1].word not in "Zz":
        raise ValueError("a path goes from M to Z")
    pieces: list[Piece] = []
    for word, numbers in commands:
        name = word.upper()
        if len(numbers) != _TAKES[name]:
            raise ValueError(f"{word} with {len(numbers)} numbers")
        if name == "Z":
            spots = [start]
        else:
            # Lower-case letters are relative to the current point.
            x, y = (0, 0) if word == name else position
            # The first five numbers of an arc describe its shape.
            places = numbers[5:] if name == "A" else numbers
            ways = zip(places[::2], places[1::2], strict=True)
            spots = [(x + across, y + down) for across, down in ways]
        if name == "M":
            start = spots[-1]
        elif spots[-1] != position:
            pieces.append(Piece((position, *spots), name == "A"))
        position = spots[-1]
    return pieces


def read_commands(path: str) -> list[Command]:
    """Return the commands of a path, in order."""
    commands: list[Command] = []
    for match in _WORD.finditer(path):
        letter, integer, decimals = match.groups()
        if letter:
            commands.append(Command(letter, []))
        elif commands:
            hundredths = 100 * abs(int(integer)) + int((decimals or "").ljust(2, "0"))
            # The sign is read separately, because of -0.5.
            is_negative = integer.startswith("-")
            commands[-1].numbers.append(-hundredths if is_negative else hundredths)
    return commands
