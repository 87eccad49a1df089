"""Classify behaviour: name how curves divide a square, given the classes at its corners.

An example of the puzzle, with corners in the order bottom-left, bottom-right, top-right, top-left:

    square 0: (1, 1, 1, 1)    known behaviour: there is nothing to draw
    square 1: (1, 1, 2, 3)    three domains meeting: in one junction
    square 2: (1, 2, 1, 2)    ambiguous: the curves can cut off either pair of corners

A curve begins at each crossed side: a side whose ends have different classes.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import get_args

from pydantic import JsonValue

from scbench.base.seeding import Stream
from scbench.builders.shared import corner_labels
from scbench.builders.shared.builder import (
    Builder,
    Point,
    parameter,
    under,
    without_right,
)
from scbench.builders.shared.corner_labels import CASES, Order, ring_labels
from scbench.graders.shared.corner_labels import behaviour, crossed_sides, letters
from scbench.schemas.classify_behaviour import Answer, Behaviour, Params
from scbench.schemas.corner_labels import CORNERS

_KNOWN: Behaviour = "known behaviour"
_THREE: Behaviour = "three domains meeting"
_AMBIGUOUS: Behaviour = "ambiguous"
_NAMES: tuple[Behaviour, ...] = get_args(Behaviour)
# Patterns around the ring in which only the rule on junctions decides.
_ODD_PATTERNS = ("abac", "abcb")
# With so few squares, a name may be absent.
_NAMED_FREELY = 3
_ODD = tuple(i for i, ring in enumerate(CASES) if letters(ring) in _ODD_PATTERNS)


class Space(Point):
    """Parameters of fresh squares."""

    squares: int = parameter(
        8,
        "number of squares; up to 15 squares are all different, and further ones repeat patterns",
        ge=2,
        le=300,
    )
    odd_corners: int = parameter(
        1,
        "minimum number of squares whose corners read a, b, a, c around the square; only the "
        "rule on junctions decides the names of these squares",
        ge=0,
        le=2,
    )
    corner_order: Order = parameter(
        "any", "how the corners are listed: " + corner_labels.ORDERS_ARE
    )
    rename: bool = corner_labels.RENAME


class TaskBuilder(Builder[Params, Answer, Space]):
    """Squares of all kinds in any order of corners; the three names occur about equally often."""

    task = "classify_behaviour"
    version = 3
    draws = 3
    form = '{"labels": [name, name, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the squares and the rules."""
        return {
            "squares": corner_labels.print_squares(params.squares, params.corner_order),
            "rules": corner_labels.RULES,
        }

    def reference(self, params: Params) -> Answer:
        """Name every square by the types of its crossed sides."""
        return Answer(labels=tuple(solve(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return lists, each with one misunderstanding or one mistake."""
        right = solve(params)
        patterns = [letters(ring) for ring in rings_of(params)]
        # A name other than that of the last square.
        neighbour = _NAMES[_NAMES.index(right[-1]) - 1]
        lists: dict[str, Sequence[str]] = {}
        for name in _NAMES:
            first_word, *_ = name.split()
            lists[f"always_{first_word}"] = [name] * len(right)
        # Patterns around the ring that can be misread, and the wrong names for them.
        misjudged: dict[str, tuple[Collection[str], Behaviour]] = {
            "odd_corners_ambiguous": (_ODD_PATTERNS, _AMBIGUOUS),
            "odd_corners_as_three_domains": (_ODD_PATTERNS, _THREE),
            "alternating_corners_known": (("abab",), _KNOWN),
            "four_classes_as_three_domains": (("abcd",), _THREE),
            "equal_corners_ambiguous": (("aaaa",), _AMBIGUOUS),
        }
        for mistake, (misread, label) in misjudged.items():
            labels = list(right)
            for i, pattern in enumerate(patterns):
                if pattern in misread:
                    labels[i] = label
            lists[mistake] = labels
        lists["corners_read_round_the_ring"] = list(map(behaviour, params.squares))
        lists["last_square_wrong"] = [*right[:-1], neighbour]
        lists["last_square_left_out"] = right[:-1]
        lists["one_name_too_many"] = [*right, right[-1]]

        # Some mistakes do not change the answer.
        answers = without_right(lists, right)
        answers["capitals"] = [name.capitalize() for name in right]
        answers["null"] = None
        wrong = under("labels", answers)
        wrong["bare_list"] = list[JsonValue](right)
        wrong["text"] = ", ".join(right)
        return wrong

    def measure(self, params: Params) -> float:
        """Return the number of crossed sides, doubled if the order of corners is not a walk."""
        crossed = sum(len(crossed_sides(ring)) for ring in rings_of(params))
        # An order that is not a walk hides which corners are neighbours.
        is_walk = corner_labels.is_walk(params.corner_order, CORNERS)
        return crossed if is_walk else 2 * crossed

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the list of names that depend only on the number of classes at the corners."""
        names = {3: _THREE, 4: _AMBIGUOUS}
        labels: list[JsonValue] = []
        for square in params.squares:
            classes = len(set(square))
            labels.append(names.get(classes, _KNOWN))
        return {"by the number of classes": {"labels": labels}}

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw different squares, each with any of the three names.

        Names are drawn one by one, so that their counts vary. Only two cases are ambiguous
        and four have three domains, so lists of fifteen fill up with known ones. In lists of
        four or more squares, all three names occur.
        """
        cases = rng.sample(_ODD, point.odd_corners)
        # Cases that have not been drawn yet, by name. They are refilled when all are used.
        decks = decks_of_cases()
        for case in cases:
            decks[_KNOWN].remove(case)
        missing = set(_NAMES)
        if cases:
            missing.remove(_KNOWN)
        while len(cases) < point.squares:
            if not any(decks.values()):
                decks = decks_of_cases()
            names = [name for name in _NAMES if decks[name]]
            # The last places are for names that have not occurred yet.
            places = point.squares - len(cases)
            if point.squares > _NAMED_FREELY and len(missing) >= places:
                names = [name for name in names if name in missing]
            name = rng.choice(names)
            deck = decks[name]
            cases.append(deck.pop(rng.below(len(deck))))
            missing.discard(name)
        rng.shuffle(cases)
        order = corner_labels.draw_order(CORNERS, point.corner_order, rng)
        squares = corner_labels.show_cases(cases, order, rng, rename=point.rename)
        return Params(corner_order=order, squares=squares)


def rings_of(params: Params) -> list[tuple[int, ...]]:
    """Return the labels of each square in ring order."""
    return [ring_labels(square, params.corner_order) for square in params.squares]


def solve(params: Params) -> list[Behaviour]:
    """Return the right name of each square."""
    return [behaviour(ring) for ring in rings_of(params)]


def decks_of_cases() -> dict[Behaviour, list[int]]:
    """Return the numbers of the cases with each name, in lists that may be changed."""
    return {name: list(cases_named(name)) for name in _NAMES}


@cache
def cases_named(name: Behaviour) -> list[int]:
    """Return the indices of the cases with this name."""
    return [i for i, ring in enumerate(CASES) if behaviour(ring) == name]
