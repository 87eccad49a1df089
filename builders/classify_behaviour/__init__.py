"""Classify behaviour: prompts, fresh squares, and the judgement of each by its crossed sides."""

from collections.abc import Mapping, Sequence
from typing import get_args

from pydantic import JsonValue

from scbench.base.seeding import Stream
from scbench.builders.shared import corner_labels
from scbench.builders.shared.builder import Builder, Point, parameter, under
from scbench.builders.shared.corner_labels import CASES, Order, ring_labels
from scbench.graders.shared.corner_labels import behaviour, crossed_sides, letters
from scbench.schemas.classify_behaviour import Answer, Behaviour, Params
from scbench.schemas.corner_labels import CORNERS

_NAMES: tuple[Behaviour, ...] = get_args(Behaviour)
_BY_NAME = {
    name: [i for i, ring in enumerate(CASES) if behaviour(ring) == name]
    for name in _NAMES
}
_ODD = tuple(i for i, ring in enumerate(CASES) if letters(ring) in {"abac", "abcb"})


class Space(Point):
    """Parameters of fresh squares."""

    squares: int = parameter(
        8,
        "number of squares, all different up to 15; beyond that, patterns return",
        ge=2,
        le=300,
    )
    odd_corners: int = parameter(
        1,
        "at least so many squares read a, b, a, c round the ring, where only the rule "
        "on junctions decides",
        ge=0,
        le=2,
    )
    corner_order: Order = parameter(
        "any", "order of the corners: " + corner_labels.ORDERS_ARE
    )
    rename: bool = corner_labels.RENAME


class TaskBuilder(Builder[Params, Answer, Space]):
    """Squares of all kinds, in any reading order, with the three names in balance."""

    task = "classify_behaviour"
    version = 2
    form = '{"labels": [name, name, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the squares and the rules."""
        return {
            "squares": corner_labels.print_squares(params.squares, params.corner_order),
            "rules": corner_labels.RULES,
        }

    def reference(self, params: Params) -> Answer:
        """Judge every square by the types of its crossed sides."""
        return Answer(labels=tuple(_solve(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return lists that follow from one misunderstanding or have one mistake."""
        right = _solve(params)
        shapes = [
            letters(ring_labels(square, params.corner_order))
            for square in params.squares
        ]

        def instead(patterns: set[str], name: Behaviour) -> list[Behaviour]:
            return [
                name if s in patterns else r for s, r in zip(shapes, right, strict=True)
            ]

        neighbour = _NAMES[_NAMES.index(right[-1]) - 1]
        lists: dict[str, Sequence[str]] = {
            **{f"always_{name.split()[0]}": [name] * len(right) for name in _NAMES},
            "odd_corners_ambiguous": instead({"abac", "abcb"}, "ambiguous"),
            "odd_corners_as_three_domains": instead(
                {"abac", "abcb"}, "three domains meeting"
            ),
            "alternating_corners_known": instead({"abab"}, "known behaviour"),
            "four_classes_as_three_domains": instead({"abcd"}, "three domains meeting"),
            "equal_corners_ambiguous": instead({"aaaa"}, "ambiguous"),
            "corners_read_round_the_ring": [
                behaviour(square) for square in params.squares
            ],
            "last_square_wrong": [*right[:-1], neighbour],
            "last_square_left_out": right[:-1],
            "one_name_too_many": [*right, right[-1]],
        }
        answers = {
            name: list(labels) for name, labels in lists.items() if labels != right
        }
        answers["capitals"] = [name.capitalize() for name in right]
        counters = under("labels", {**answers, "null": None})
        return counters | {
            "bare_list": list[JsonValue](right),
            "text": ", ".join(right),
        }

    def measure(self, params: Params) -> float:
        """Return how many crossed sides there are, counted twice if the corners are no walk."""
        rings = [ring_labels(square, params.corner_order) for square in params.squares]
        crossed = sum(len(crossed_sides(ring)) for ring in rings)
        return crossed * (
            1 if corner_labels.is_walk(params.corner_order, CORNERS) else 2
        )

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return names by nothing but the number of classes at the corners."""
        names = {3: "three domains meeting", 4: "ambiguous"}
        labels: list[JsonValue] = [
            names.get(len(set(square)), "known behaviour") for square in params.squares
        ]
        return {"by the number of classes": {"labels": labels}}

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw different squares, always of the name that is rarest so far.

        There are two ambiguous cases and four with three domains, so that lists of fifteen fill up
        with known ones; from four squares on all three names occur.
        """
        cases = rng.sample(_ODD, point.odd_corners)
        count = {
            name: len(cases) if name == "known behaviour" else 0 for name in _NAMES
        }
        decks = {name: [i for i in _BY_NAME[name] if i not in cases] for name in _NAMES}
        while len(cases) < point.squares:
            if not any(decks.values()):
                decks = {name: list(deck) for name, deck in _BY_NAME.items()}
            names = [name for name in _NAMES if decks[name]]
            rarest = min(count[name] for name in names)
            name = rng.choice([name for name in names if count[name] == rarest])
            cases.append(decks[name].pop(rng.below(len(decks[name]))))
            count[name] += 1
        rng.shuffle(cases)
        order = corner_labels.draw_order(CORNERS, point.corner_order, rng)
        return Params(
            corner_order=order,
            squares=tuple(
                corner_labels.show_case(case, order, rng, rename=point.rename)
                for case in cases
            ),
        )


def _solve(params: Params) -> list[Behaviour]:
    return [
        behaviour(ring_labels(square, params.corner_order)) for square in params.squares
    ]
