"""Enumerate edges: prompts, fresh squares, and the pairing of sides by type."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from scbench.base.seeding import Stream
from scbench.builders.shared import corner_labels
from scbench.builders.shared.builder import Builder, Point, parameter
from scbench.builders.shared.corner_labels import CASES, Order, ring_labels
from scbench.graders.shared.corner_labels import (
    Pair,
    behaviour,
    crossed_sides,
    joined_sides,
    letters,
)
from scbench.schemas.corner_labels import CORNERS, SIDES, Side
from scbench.schemas.enumerate_edges import Answer, Params

_DECIDED = tuple(
    i for i, ring in enumerate(CASES) if behaviour(ring) != "three domains meeting"
)
_ALL_CROSSED = tuple(i for i in _DECIDED if len(crossed_sides(CASES[i])) == 4)


class Space(Point):
    """Parameters of fresh squares."""

    squares: int = parameter(
        6,
        "number of squares, all different up to 11; beyond that, patterns return",
        ge=2,
        le=300,
    )
    all_crossed: int = parameter(
        2, "at least so many squares have four crossed sides", ge=0, le=4
    )
    corner_order: Order = parameter(
        "any", "order of the corners: " + corner_labels.ORDERS_ARE
    )
    edge_order: Order = parameter(
        "any", "numbering of the sides: " + corner_labels.ORDERS_ARE
    )
    rename: bool = corner_labels.RENAME


class TaskBuilder(Builder[Params, Answer, Space]):
    """Squares in which no three domains meet, in any reading order and numbering of sides."""

    task = "enumerate_edges"
    version = 2
    form = '{"edges": [[[i, j], ...], ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the squares, the numbering and the rules."""
        ends = {
            side: f"{CORNERS[i]} to {CORNERS[i - 3]}" for i, side in enumerate(SIDES)
        }
        return {
            "squares": corner_labels.print_squares(params.squares, params.corner_order),
            "sides": "\n".join(
                f"  {i}: {side} ({ends[side]})"
                for i, side in enumerate(params.edge_order)
            ),
            "rules": corner_labels.RULES,
        }

    def reference(self, params: Params) -> Answer:
        """Pair the crossed sides of every square by type."""
        return Answer(edges=tuple(tuple(pairs) for pairs in _solve(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return lists that follow from one misunderstanding or have one mistake."""
        right = _solve(params)
        rings = [ring_labels(square, params.corner_order) for square in params.squares]

        def instead(wrong: Mapping[str, Sequence[Pair]]) -> list[list[Pair]]:
            shapes = [letters(ring) for ring in rings]
            return [
                _by_index(wrong[shape], params.edge_order) if shape in wrong else pairs
                for shape, pairs in zip(shapes, right, strict=True)
            ]

        every = [(i, j) for i in range(4) for j in range(i + 1, 4)]
        at = next((i for i, pairs in enumerate(right) if pairs), 0)
        i, j = right[at][0] if right[at] else (0, 1)

        def with_pairs(*pairs: Pair) -> list[list[Pair]]:
            return [*right[:at], list(pairs), *right[at + 1 :]]

        lists: dict[str, list[list[Pair]]] = {
            "nothing_anywhere": [[] for _ in right],
            "all_pairs_of_an_equal_square": instead({"aaaa": every}),
            "odd_corners_left_open": instead({"abac": [], "abcb": []}),
            "odd_corners_joined": instead(
                {"abac": [(0, 3), (1, 2)], "abcb": [(0, 1), (2, 3)]}
            ),
            "alternating_corners_decided": instead({"abab": [(0, 1), (2, 3)]}),
            "four_classes_decided": instead({"abcd": [(0, 1), (2, 3)]}),
            "neighbouring_crossed_sides": [
                _by_index(
                    [
                        (a, b)
                        for a, b in every
                        if {a, b} <= set(crossed_sides(r)) and b - a != 2
                    ],
                    params.edge_order,
                )
                for r in rings
            ],
            "sides_numbered_round_the_ring": [joined_sides(r) or [] for r in rings],
            "corners_read_round_the_ring": [
                _by_index(joined_sides(square) or [], params.edge_order)
                for square in params.squares
            ],
            "last_square_left_out": right[:-1],
            "one_list_too_many": [*right, []],
            "one_pair_turned_round": with_pairs(*right[at][1:], (j, i)),
            "one_pair_twice": with_pairs(*right[at], (i, j)),
            "side_joined_to_itself": with_pairs(*right[at], (0, 0)),
            "index_out_of_range": with_pairs(*right[at], (0, 4)),
        }
        counters: dict[str, JsonValue] = {
            name: {"edges": _edge_lists(edges)}
            for name, edges in lists.items()
            if [sorted(pairs) for pairs in edges] != right
        }
        if any(len(pairs) > 1 for pairs in right):
            truths: list[JsonValue] = [
                [[bool(x) if x < 2 else x for x in pair] for pair in reversed(pairs)]
                for pairs in right
            ]
            counters["booleans"] = {"edges": truths}
        counters["bare_list"] = _edge_lists(right)
        counters["text"] = f"```json\n{_edge_lists(right)}\n```"
        return counters

    def measure(self, params: Params) -> float:
        """Return how many crossed sides there are, counted again for each order that is no walk."""
        rings = [ring_labels(square, params.corner_order) for square in params.squares]
        jumbled = (
            not corner_labels.is_walk(params.corner_order, CORNERS),
            not corner_labels.is_walk(params.edge_order, SIDES),
        )
        return sum(len(crossed_sides(ring)) for ring in rings) * (1 + sum(jumbled))

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return no pair for any square."""
        return {"no pairs": {"edges": [[] for _ in params.squares]}}

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw different squares, the ones asked for with four crossed sides among them.

        At least one of them has sides that are joined.
        """
        cases: list[int] = []
        while not any(joined_sides(CASES[case]) for case in cases):
            cases = rng.sample(_ALL_CROSSED, min(point.all_crossed, point.squares))
            unused = [case for case in _DECIDED if case not in cases]
            while len(cases) < point.squares:
                cases += rng.sample(
                    unused, min(point.squares - len(cases), len(unused))
                )
                unused = list(_DECIDED)
        rng.shuffle(cases)
        order = corner_labels.draw_order(CORNERS, point.corner_order, rng)
        return Params(
            corner_order=order,
            edge_order=corner_labels.draw_order(SIDES, point.edge_order, rng),
            squares=tuple(
                corner_labels.show_case(case, order, rng, rename=point.rename)
                for case in cases
            ),
        )


def _solve(params: Params) -> list[list[Pair]]:
    return [
        _by_index(
            joined_sides(ring_labels(square, params.corner_order)) or [],
            params.edge_order,
        )
        for square in params.squares
    ]


def _by_index(pairs: Sequence[Pair], edge_order: Sequence[Side]) -> list[Pair]:
    """Return pairs of sides of the ring as pairs of a prompt's indices, sorted."""
    index = [edge_order.index(side) for side in SIDES]
    return sorted((min(index[a], index[b]), max(index[a], index[b])) for a, b in pairs)


def _edge_lists(edges: Sequence[Sequence[Pair]]) -> list[JsonValue]:
    return [[list(pair) for pair in pairs] for pairs in edges]
