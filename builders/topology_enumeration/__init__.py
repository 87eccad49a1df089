"""Topology enumeration: prompts, fresh polygons, and a solver that goes through all patterns."""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import JsonValue

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, parameter, prompt_template
from scbench.builders.shared.corner_labels import ORDERS_ARE, Order, draw_order, is_walk
from scbench.graders.shared.corner_labels import (
    Labels,
    agrees,
    meeting_patterns,
    patterns,
)
from scbench.schemas.topology_enumeration import POLYGONS, Answer, Params

_SHAPES = {4: "square", 5: "pentagon", 6: "hexagon", 7: "heptagon", 8: "octagon"}
_WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}


class Space(Point):
    """Parameters of fresh questions."""

    corners: int = parameter(6, "corners of the polygon: square to octagon", ge=4, le=8)
    n_classes: int = parameter(
        3, "classes that must meet; with 4 the right list is empty", ge=2, le=4
    )
    order: Order = parameter("any", "order of the corners: " + ORDERS_ARE)
    known: Literal[0, 2, 3, 4] = parameter(
        3, "corners of which it is known which of them have the same class"
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Orders of the corners of a square to octagon, with a number of classes."""

    task = "topology_enumeration"
    version = 3
    form = '{"configs": [[label, label, ...], ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the figure, the order of its corners and what is known."""
        k = len(params.corner_order)
        shape, template = _SHAPES[k], prompt_template(__name__, "prompt_known.txt")
        labelled = (
            f"{shape} with corners A to {'ABCDEFGH'[k - 1]} in counter-clockwise order"
        )
        return {
            "figure": f"Think of a {'unit square' if k == 4 else f'regular {labelled}'}.",
            "shape": shape,
            "n": _WORDS[params.n_classes],
            "k": _WORDS[k],
            "order": ", ".join(params.corner_order),
            "known": template.format(known=", ".join(params.known))
            if params.known
            else "",
            "meet": "meet inside"
            if params.n_classes == 2
            else "meet at one point strictly inside",
        }

    def reference(self, params: Params) -> Answer:
        """Go through all patterns."""
        return Answer(configs=tuple(_solve(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return lists that follow from one misunderstanding or have one mistake."""
        right = _solve(params)
        k, n, order = len(params.corner_order), params.n_classes, params.corner_order
        every = [p for p in patterns(k, n) if agrees(p, params.known)]
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
        counters: dict[str, JsonValue] = {
            name: {"configs": _label_lists(configs)}
            for name, configs in lists.items()
            if sorted(configs) != right
        }
        counters["bare_list"] = _label_lists(right)
        counters["text"] = "\n".join(str(p) for p in right) or "none"
        counters["labels_as_text"] = {
            "configs": ["".join(map(str, p)) for p in right] or [""]
        }
        counters["one_label_short"] = {
            "configs": _label_lists(p[1:] for p in right or [(0,) * k])
        }
        if len(right) > 1:
            counters["booleans"] = {
                "configs": [
                    [bool(x) if x < 2 else x for x in p] for p in reversed(right)
                ]
            }
        return counters

    def measure(self, params: Params) -> float:
        """Return how many patterns fit what is known, counted twice if the order is no walk."""
        k, order = len(params.corner_order), params.corner_order
        fitting = sum(agrees(p, params.known) for p in patterns(k, params.n_classes))
        return fitting * (1 if is_walk(order, POLYGONS[k]) else 2)

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return every pattern with all classes, and none."""
        every = patterns(len(params.corner_order), params.n_classes)
        fitting = [pattern for pattern in every if agrees(pattern, params.known)]
        return {
            "every pattern": {"configs": _label_lists(fitting)},
            "no pattern": {"configs": []},
        }

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw an order, and reveal some corners of one pattern that belongs on the list.

        With four classes no pattern does, and any pattern that shows them is revealed.
        """
        ring = POLYGONS[point.corners]
        order = draw_order(ring, point.order, rng)
        right = meeting_patterns(point.n_classes, order, ring)
        pattern = rng.choice(right or patterns(point.corners, point.n_classes))
        revealed = set(rng.sample(range(point.corners), point.known))
        names = list(dict.fromkeys(pattern[i] for i in sorted(revealed)))
        hint = "".join(
            "xyzw"[names.index(label)] if i in revealed else "?"
            for i, label in enumerate(pattern)
        )
        return Params(
            n_classes=point.n_classes,
            corner_order=order,
            known=hint if revealed else "",
        )


def _solve(params: Params) -> list[Labels]:
    ring = POLYGONS[len(params.corner_order)]
    return meeting_patterns(params.n_classes, params.corner_order, ring, params.known)


def _label_lists(labellings: Iterable[Labels]) -> list[JsonValue]:
    return [list(labels) for labels in labellings]
