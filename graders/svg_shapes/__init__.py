"""Is this the kind of shape that the path draws?

The path is read into pieces with absolute ends. Straight pieces are counted where there are curves;
without curves corners are, and of four sides opposite ones are compared: all alike in a rectangle,
one pair in a trapezoid, none in a kite.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import dist

from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import option, shown
from scbench.model import Verdict
from scbench.schemas.svg_shapes import Answer, Kind, Params

VERSION = 2

CHECKS = {
    "readable": "The answer is one of the options, by letter or by name.",
    "shape": "It is the shape that the path draws.",
}

Spot = tuple[int, int]
"""A point, in hundredths of a unit."""

_TAKES = {"M": 2, "L": 2, "C": 6, "A": 7, "Z": 0}
"""How many numbers a command has; the last two are where it leads."""
_WORD = re.compile(r"([MLCAZmlcaz])|(-?\d+)(?:\.(\d{1,2}))?")
_ALIKE = 0.75
"""The shorter of two equally long sides has at least this share of the longer, errors included."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the option is the shape, else 0."""
    checks = Checklist(CHECKS)
    names = [kind.replace("_", " ") for kind in params.options]
    given = option(answer.answer, names)
    wrong = f"{shown(answer.answer)} is none of the options."
    if checks.readable(given, wrong, "There is no option."):
        right = params.options.index(shape_of(params.path))
        letter = "ABCDEFGHIJ"[right]
        wrong = f"It is {letter}) {names[right]}, not {shown(answer.answer)}."
        checks.expect("shape", given == right, wrong)
    return checks.binary()


@lru_cache(maxsize=1024)
def shape_of(path: str) -> Kind:
    """Return the kind of shape that a path draws.

    Raises:
        ValueError: the path is not well formed, or draws none of the kinds.
    """
    lines: list[tuple[Spot, Spot]] = []
    curves = 0
    for word, here, there in _pieces(path):
        if word in "CA":
            curves += 1
        elif here != there:
            lines.append((here, there))
    if curves and len(lines) < 3:
        round_kinds: tuple[Kind, ...] = ("ellipse", "half_ellipse", "sector")
        return round_kinds[len(lines)]
    if not curves and len(lines) == 4:
        return _four_sided([dist(*line) for line in lines])
    straight: dict[int, Kind] = {3: "triangle", 5: "pentagon", 6: "hexagon", 10: "star"}
    if curves or len(lines) not in straight:
        raise ValueError(f"{len(lines)} lines and {curves} curves are none of the shapes")
    return straight[len(lines)]


def _four_sided(lengths: Sequence[float]) -> Kind:
    pairs = ((lengths[0], lengths[2]), (lengths[1], lengths[3]))
    alike = sum(min(pair) >= _ALIKE * max(pair) for pair in pairs)
    kinds: tuple[Kind, ...] = ("kite", "trapezoid", "rectangle")
    return kinds[alike]


def _pieces(path: str) -> Iterator[tuple[str, Spot, Spot]]:
    """Yield each drawing command in capitals with where it begins and where it leads."""
    here: Spot = (0, 0)
    start = here
    words = _words(path)
    if not words or words[0][0] not in "Mm" or words[-1][0] not in "Zz":
        raise ValueError("a path goes from M to Z")
    for word, numbers in words:
        name = word.upper()
        if len(numbers) != _TAKES[name]:
            raise ValueError(f"{word} with {len(numbers)} numbers")
        if name == "Z":
            there = start
        elif word == name:
            there = (numbers[-2], numbers[-1])
        else:
            there = (here[0] + numbers[-2], here[1] + numbers[-1])
        if name == "M":
            start = there
        else:
            yield name, here, there
        here = there


def _words(path: str) -> list[tuple[str, list[int]]]:
    """Return each command with its numbers, in hundredths."""
    words: list[tuple[str, list[int]]] = []
    for found in _WORD.finditer(path):
        if found[1]:
            words.append((found[1], []))
        elif words:
            decimals = int((found[3] or "").ljust(2, "0"))
            whole = 100 * abs(int(found[2])) + decimals
            words[-1][1].append(-whole if found[2].startswith("-") else whole)
    return words
