"""Is this the kind of shape that the path draws?

The path is read into pieces with absolute points. Where two of them meet at an angle there is a
corner, and what lies between two corners is a side, however many pieces it is drawn in; it is
curved if any of its points is off the line between its ends. Numbers of corners and of curved sides
tell most kinds. Of four straight sides opposite ones are compared: all alike in a rectangle, one
pair in a trapezoid, none in a kite.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import dist
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import option, quote
from scbench.schemas.svg_shapes import Answer, Kind, Params

VERSION = 3

CHECKS = {
    "readable": "The answer is one of the options, by letter or by name.",
    "shape": "It is the shape that the path draws.",
}
OWN_FAULTS = ("readable",)

# A point, in hundredths of a unit.
Spot = tuple[int, int]


# Kinds by their numbers of curved sides and of all sides.
_ROUND: Mapping[tuple[int, int], Kind] = {
    (0, 0): "ellipse",
    (1, 2): "half_ellipse",
    (1, 3): "sector",
}
_STRAIGHT: Mapping[int, Kind] = {3: "triangle", 5: "pentagon", 6: "hexagon", 10: "star"}
# How far from the line between its ends a straight side can be by rounding and more, in
# hundredths of a unit.
_STRAY = 4
# How many numbers a command has; the last two are where it leads.
_TAKES = {"M": 2, "L": 2, "C": 6, "A": 7, "Z": 0}
_WORD = re.compile(r"([MLCAZmlcaz])|(-?\d+)(?:\.(\d{1,2}))?")
# The shorter of two equally long sides has at least this share of the longer, errors
# included.
_ALIKE = 0.75


class Piece(NamedTuple):
    """What one command draws: its points in order, those that pull at a curve included."""

    spots: tuple[Spot, ...]
    is_arc: bool

    @property
    def first_way(self) -> Spot:
        """Where it sets out to."""
        return _way(self.spots)

    @property
    def last_way(self) -> Spot:
        """Where it is going when it ends."""
        x, y = _way(self.spots[::-1])
        return -x, -y


def _way(spots: Sequence[Spot]) -> Spot:
    x, y = spots[0]
    return next((p - x, q - y) for p, q in spots if (p, q) != (x, y))


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the option is the shape, else 0."""
    checks = Checklist(CHECKS)
    names = [kind.replace("_", " ") for kind in params.options]
    choice = option(answer.answer, names)
    wrong = f"{quote(answer.answer)} is none of the options."
    if checks.readable(choice, wrong, "There is no option."):
        right = params.options.index(shape_of(params.path))
        letter = "ABCDEFGHIJ"[right]
        wrong = f"It is {letter}) {names[right]}, not {quote(answer.answer)}."
        checks.expect("shape", choice == right, wrong)
    return checks.binary()


@lru_cache(maxsize=1024)
def shape_of(path: str) -> Kind:
    """Return the kind of shape that a path draws.

    Raises:
        ValueError: the path is not well formed, or draws none of the kinds.
    """
    sides = _outline_sides(list(_path_pieces(path)))
    curved = sum(not _is_straight(side) for side in sides)
    if curved or not sides:
        kind = _ROUND.get((curved, len(sides)))
    elif len(sides) == 4:
        kind = _four_sided(
            [dist(side[0].spots[0], side[-1].spots[-1]) for side in sides]
        )
    else:
        kind = _STRAIGHT.get(len(sides))
    if kind is None:
        raise ValueError(
            f"{len(sides)} sides, {curved} of them curved, are none of the shapes"
        )
    return kind


def _outline_sides(pieces: Sequence[Piece]) -> list[Sequence[Piece]]:
    """Return the pieces between one corner and the next, for all corners."""
    begins = [i for i in range(len(pieces)) if _is_corner(pieces[i - 1], pieces[i])]
    if not begins:
        return []
    twice = [*pieces, *pieces]
    return [twice[i:j] for i, j in pairwise([*begins, begins[0] + len(pieces)])]


def _is_corner(before: Piece, after: Piece) -> bool:
    """Whether pieces meet at over about 12 degrees; arcs do with all but arcs of their ellipse."""
    if before.is_arc or after.is_arc:
        return before.is_arc != after.is_arc
    (a, b), (c, d) = before.last_way, after.first_way
    return 100 * abs(a * d - b * c) > 21 * (a * c + b * d)


def _is_straight(side: Sequence[Piece]) -> bool:
    (x, y), (u, v) = side[0].spots[0], side[-1].spots[-1]
    along, up = u - x, v - y
    limit = _STRAY * _STRAY * (along * along + up * up)
    spots = [spot for piece in side for spot in piece.spots]
    near = all((along * (q - y) - up * (p - x)) ** 2 <= limit for p, q in spots)
    return near and not any(piece.is_arc for piece in side)


def _four_sided(lengths: Sequence[float]) -> Kind:
    pairs = ((lengths[0], lengths[2]), (lengths[1], lengths[3]))
    alike = sum(min(pair) >= _ALIKE * max(pair) for pair in pairs)
    kinds: tuple[Kind, ...] = ("kite", "trapezoid", "rectangle")
    return kinds[alike]


def _path_pieces(path: str) -> Iterator[Piece]:
    """Yield what each command draws; a command that leads nowhere draws nothing."""
    here: Spot = (0, 0)
    start = here
    words = _commands(path)
    if not words or words[0][0] not in "Mm" or words[-1][0] not in "Zz":
        raise ValueError("a path goes from M to Z")
    for word, numbers in words:
        name = word.upper()
        if len(numbers) != _TAKES[name]:
            raise ValueError(f"{word} with {len(numbers)} numbers")
        x, y = (0, 0) if word == name else here
        places = numbers[5:] if name == "A" else numbers
        spots = [(x + p, y + q) for p, q in zip(places[::2], places[1::2], strict=True)]
        spots = [start] if name == "Z" else spots
        if name == "M":
            start = spots[-1]
        elif spots[-1] != here:
            yield Piece((here, *spots), name == "A")
        here = spots[-1]


def _commands(path: str) -> list[tuple[str, list[int]]]:
    """Return each command with its numbers, in hundredths."""
    words: list[tuple[str, list[int]]] = []
    for match in _WORD.finditer(path):
        if match[1]:
            words.append((match[1], []))
        elif words:
            decimals = int((match[3] or "").ljust(2, "0"))
            hundredths = 100 * abs(int(match[2])) + decimals
            words[-1][1].append(-hundredths if match[2].startswith("-") else hundredths)
    return words
