"""Topology enumeration: list the corner patterns of a polygon that force all classes to meet.

An example of the puzzle: each corner of a square has one of three classes. Which patterns, read
counter-clockwise, force the areas of all classes to meet at one point? The answer is

    0 0 1 2    0 1 1 2    0 1 2 0    0 1 2 2

because with 0 1 0 2 and 0 1 2 1, the areas of two opposite corners can join and separate the other
two.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import JsonValue

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Builder,
    Point,
    parameter,
    prompt_template,
    with_truths,
)
from scbench.builders.shared.corner_labels import ORDERS_ARE, Order, draw_order, is_walk
from scbench.graders.shared.corner_labels import (
    Labels,
    agrees,
    meeting_patterns,
    patterns,
)
from scbench.graders.topology_enumeration import MOST_PATTERNS
from scbench.schemas.topology_enumeration import POLYGONS, Answer, Params

# Names of polygons and of numbers in prompts.
_SHAPES = {4: "square", 5: "pentagon", 6: "hexagon", 7: "heptagon", 8: "octagon"}
_WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}


class Space(Point):
    """Parameters of fresh questions."""

    corners: int = parameter(
        6, "number of corners of the polygon, from a square to an octagon", ge=4, le=8
    )
    n_classes: int = parameter(
        3,
        "number of classes that must meet; with 4, the right list is empty",
        ge=2,
        le=4,
    )
    order: Order = parameter("any", "how the corners are listed: " + ORDERS_ARE)
    known: Literal[0, 2, 3, 4] = parameter(
        3, "number of corners for which the prompt states which classes are equal"
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Polygons from square to octagon, with an order of corners and a number of classes."""

    task = "topology_enumeration"
    version = 4
    draws = 3
    form = '{"configs": [[label, label, ...], ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the figure, the order of its corners, the known part, and the limit."""
        k = len(params.corner_order)
        shape = _SHAPES[k]
        figure = "unit square"
        names = ""
        if k > 4:
            figure = f"regular {shape}"
            last = POLYGONS[k][-1]
            names = f"The corners are A to {last} in counter-clockwise order.\n"
        hint = ""
        if params.known:
            template = prompt_template(__name__, "prompt_known.txt")
            hint = template.format(known=", ".join(params.known))
        meet = "meet at one point strictly inside"
        no_third = ", and no third class touches the side"
        all_areas = f"all {_WORDS[params.n_classes]} areas"
        if params.n_classes == 2:
            meet = "meet inside"
            no_third = ""
            all_areas = "both areas"
        return {
            "figure": figure,
            "names": names,
            "shape": shape,
            "n": _WORDS[params.n_classes],
            "k": _WORDS[k],
            "order": ", ".join(params.corner_order),
            "known": hint,
            "most_patterns": MOST_PATTERNS,
            "meet": meet,
            "no_third": no_third,
            "all_areas": all_areas,
        }

    def reference(self, params: Params) -> Answer:
        """Test all patterns."""
        return Answer(configs=tuple(right_patterns(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return lists with one misunderstanding or one mistake each."""
        order = params.corner_order
        k = len(order)
        n = params.n_classes
        right = right_patterns(params)
        every = fitting_patterns(params)
        lists: dict[str, list[Labels]] = {
            "empty": [],
            "equal_corners_listed": [(0,) * k, *right],
            "only_the_alternating_one": [tuple(i % 2 for i in range(k))],
            "every_pattern_with_all_classes": every,
            "patterns_that_do_not_force": [p for p in every if p not in right],
            "order_read_as_walk": meeting_patterns(n, order, order, params.known),
            "known_corners_forgotten": meeting_patterns(n, order, POLYGONS[k]),
        }
        if right:
            renamed = tuple(n - 1 - label for label in right[0])
            lists["one_missing"] = right[1:]
            lists["one_repeated"] = [*right, right[-1]]
            lists["one_repeated_under_other_names"] = [*right, renamed]
        counters: dict[str, JsonValue] = {}
        for name, configs in lists.items():
            # Some misunderstandings lead to the right list.
            if sorted(configs) != right:
                counters[name] = as_configs(configs)
        counters["bare_list"] = as_configs(right)["configs"]
        counters["text"] = "\n".join(str(pattern) for pattern in right) or "none"
        texts: list[JsonValue] = ["".join(map(str, pattern)) for pattern in right]
        counters["labels_as_text"] = {"configs": texts or [""]}
        # If no pattern is right, there is an answer with one label too few.
        full = right or [(0,) * k]
        counters["one_label_short"] = as_configs([pattern[1:] for pattern in full])
        if len(right) > 1:
            # The order is reversed because True equals 1 in Python.
            counters["booleans"] = as_configs(map(with_truths, reversed(right)))
        return counters

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return all patterns with all classes, and the empty list."""
        every = fitting_patterns(params)
        return {"every pattern": as_configs(every), "no pattern": as_configs([])}

    def measure(self, params: Params) -> float:
        """Return the number of patterns that fit, doubled if the order of corners is not a walk."""
        order = params.corner_order
        fitting = len(fitting_patterns(params))
        return fitting if is_walk(order, POLYGONS[len(order)]) else 2 * fitting

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw an order, and reveal some corners of a right pattern.

        With four classes, no pattern is right, so any pattern with four classes is revealed.
        """
        ring = POLYGONS[point.corners]
        order = draw_order(ring, point.order, rng)
        # These patterns must not depend on a hint, because the hint is made from one of them.
        right = meeting_patterns(point.n_classes, order, ring)
        pattern = rng.choice(right or patterns(point.corners, point.n_classes))
        revealed = rng.sample(range(point.corners), point.known)
        hint = ["?"] * point.corners
        # Letters of the labels, in order of appearance.
        letters: dict[int, str] = {}
        for i in sorted(revealed):
            hint[i] = letters.setdefault(pattern[i], "xyzw"[len(letters)])
        return Params(
            n_classes=point.n_classes,
            corner_order=order,
            known="".join(hint) if revealed else "",
        )


def right_patterns(params: Params) -> list[Labels]:
    """Return the patterns of the right list, sorted."""
    ring = POLYGONS[len(params.corner_order)]
    return meeting_patterns(params.n_classes, params.corner_order, ring, params.known)


def fitting_patterns(params: Params) -> list[Labels]:
    """Return every pattern with all classes that agrees with the known part, sorted."""
    every = patterns(len(params.corner_order), params.n_classes)
    return [pattern for pattern in every if agrees(pattern, params.known)]


def as_configs(labellings: Iterable[Iterable[int]]) -> dict[str, JsonValue]:
    """Return patterns in the form of an answer."""
    return {"configs": [list(labels) for labels in labellings]}
