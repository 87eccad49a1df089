"""Enumerate edges: list the pairs of sides of a square that a curve must join.

An example of the puzzle, with the answer [[0, 3]]: a curve cuts off the corner of class 2 and joins
the two sides at this corner.

    bottom-left 2, bottom-right 1, top-right 1, top-left 1
    0: bottom (bottom-left to bottom-right)
    1: right (bottom-right to top-right)
    2: top (top-right to top-left)
    3: left (top-left to bottom-left)
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared import corner_labels
from scbench.builders.shared.builder import Builder, Point, parameter, with_truths
from scbench.builders.shared.corner_labels import CASES, Order, ring_labels
from scbench.graders.enumerate_edges import most_entries
from scbench.graders.shared.corner_labels import (
    Pair,
    behaviour,
    crossed_sides,
    joined_sides,
    letters,
)
from scbench.schemas.corner_labels import CORNERS, SIDES, Side
from scbench.schemas.enumerate_edges import Answer, Params

# Cases in which no three domains meet, and the ones among them with four crossed sides.
_DECIDED = tuple(
    i for i, ring in enumerate(CASES) if behaviour(ring) != "three domains meeting"
)
_ALL_CROSSED = tuple(i for i in _DECIDED if len(crossed_sides(CASES[i])) == 4)
# Maximum number of lists of squares that one draw tries.
_TRIES = 200
# Two ways to pair all sides, numbered around the ring.
_FIRST_TWO = [(0, 1), (2, 3)]
_MIDDLE_TWO = [(0, 3), (1, 2)]


class Space(Point):
    """Parameters of fresh squares."""

    squares: int = parameter(
        6,
        "number of squares; up to 11 squares are all different, and further ones repeat patterns",
        ge=2,
        le=300,
    )
    all_crossed: int = parameter(
        2, "minimum number of squares with four crossed sides", ge=0, le=4
    )
    corner_order: Order = parameter(
        "any", "how the corners are listed: " + corner_labels.ORDERS_ARE
    )
    edge_order: Order = parameter(
        "any", "how the sides are numbered: " + corner_labels.ORDERS_ARE
    )
    orders_matter: bool = parameter(
        False,
        "whether to redraw items for which another corner order or side order of the same kind "
        "gives the same answer",
        later=True,
    )
    rename: bool = corner_labels.RENAME


class TaskBuilder(Builder[Params, Answer, Space]):
    """Squares without three domains meeting, in any order of corners and numbering of sides."""

    task = "enumerate_edges"
    version = 3
    draws = 2
    form = '{"edges": [[[i, j], ...], ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the squares, the numbering, the rules and the limit."""
        rows = []
        for i, side in enumerate(params.edge_order):
            start = SIDES.index(side)
            # On a ring of four, three back is one ahead.
            rows.append(f"  {i}: {side} ({CORNERS[start]} to {CORNERS[start - 3]})")
        return {
            "squares": corner_labels.print_squares(params.squares, params.corner_order),
            "sides": "\n".join(rows),
            "rules": corner_labels.RULES,
            "most_entries": most_entries(len(params.squares)),
        }

    def reference(self, params: Params) -> Answer:
        """Pair the crossed sides of every square by type."""
        pairs = certain_pairs(rings_of(params), params.edge_order)
        return Answer(edges=tuple(tuple(square) for square in pairs))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return lists with one misunderstanding or one mistake each."""
        right = certain_pairs(rings_of(params), params.edge_order)
        lists = {**misreadings(params, right), **single_mistakes(right)}
        counters: dict[str, JsonValue] = {}
        for name, edges in lists.items():
            # In some squares, a misreading changes nothing.
            if [sorted(pairs) for pairs in edges] != right:
                counters[name] = {"edges": edge_lists(edges)}
        if any(len(pairs) > 1 for pairs in right):
            counters["booleans"] = {"edges": [with_booleans(pairs) for pairs in right]}
        counters["bare_list"] = edge_lists(right)
        counters["text"] = f"```json\n{edge_lists(right)}\n```"
        return counters

    def measure(self, params: Params) -> float:
        """Return the number of crossed sides, times 1 + the number of orders other than walks."""
        factor = 1
        if not corner_labels.is_walk(params.corner_order, CORNERS):
            factor += 1
        if not corner_labels.is_walk(params.edge_order, SIDES):
            factor += 1
        crossed = sum(len(crossed_sides(ring)) for ring in rings_of(params))
        return factor * crossed

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return an empty list for every square."""
        return {"no pairs": {"edges": [[] for _ in params.squares]}}

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw squares, until their orders matter if that is required."""
        for _ in range(_TRIES):
            params = draw_squares(point, rng)
            if not point.orders_matter or do_orders_matter(point, params):
                return params
        raise GenerationError(
            f"in each of {_TRIES} draws, another order of corners or sides gives the same answer; "
            "ask for more squares"
        )


def draw_squares(point: Space, rng: Stream) -> Params:
    """Draw different squares, at least `all_crossed` of them with four crossed sides.

    At least one square has a pair of sides that is joined.
    """
    cases: list[int] = []
    while not any(joined_sides(CASES[case]) for case in cases):
        cases = draw_cases(point, rng)
    # Otherwise the squares with four crossed sides would always come first.
    rng.shuffle(cases)
    corner_order = corner_labels.draw_order(CORNERS, point.corner_order, rng)
    edge_order = corner_labels.draw_order(SIDES, point.edge_order, rng)
    squares = corner_labels.show_cases(cases, corner_order, rng, rename=point.rename)
    return Params(corner_order=corner_order, edge_order=edge_order, squares=squares)


def do_orders_matter(point: Space, params: Params) -> bool:
    """Return whether every other order of the point's kinds gives another answer."""
    rings = rings_of(params)
    right = certain_pairs(rings, params.edge_order)
    corner_orders: Any = corner_labels.orders_of(CORNERS, point.corner_order)
    side_orders: Any = corner_labels.orders_of(SIDES, point.edge_order)
    misread_pairs = [
        certain_pairs(rings, sides)
        for sides in side_orders
        if sides != params.edge_order
    ]
    for corners in corner_orders:
        if corners != params.corner_order:
            misread = [ring_labels(square, corners) for square in params.squares]
            misread_pairs.append(certain_pairs(misread, params.edge_order))
    return right not in misread_pairs


def draw_cases(point: Space, rng: Stream) -> list[int]:
    """Draw the cases of all squares, first those with four crossed sides."""
    cases = rng.sample(_ALL_CROSSED, min(point.all_crossed, point.squares))
    unused = [case for case in _DECIDED if case not in cases]
    while len(cases) < point.squares:
        cases += rng.sample(unused, min(point.squares - len(cases), len(unused)))
        # Once all cases are used, they start again.
        unused = list(_DECIDED)
    return cases


def rings_of(params: Params) -> list[tuple[int, ...]]:
    """Return the labels of the squares in ring order."""
    return [ring_labels(square, params.corner_order) for square in params.squares]


def certain_pairs(
    rings: Sequence[Sequence[int]], edge_order: Sequence[Side]
) -> list[list[Pair]]:
    """Return the pairs of sides that are certain to be joined in each square, as prompt indices."""
    return [by_index(joined_sides(ring) or [], edge_order) for ring in rings]


def by_index(pairs: Sequence[Pair], edge_order: Sequence[Side]) -> list[Pair]:
    """Return pairs of sides of the ring as pairs of prompt indices, sorted."""
    indices = []
    for a, b in pairs:
        i = edge_order.index(SIDES[a])
        j = edge_order.index(SIDES[b])
        indices.append((min(i, j), max(i, j)))
    return sorted(indices)


def misreadings(
    params: Params, right: Sequence[list[Pair]]
) -> dict[str, list[list[Pair]]]:
    """Return the lists that result from a misunderstanding; some may equal the correct lists."""
    order = params.edge_order
    rings = rings_of(params)

    def instead(wrong: Mapping[str, Sequence[Pair]]) -> list[list[Pair]]:
        """Return the right lists, but with wrong ones for squares of these patterns."""
        lists = list(right)
        for i, ring in enumerate(rings):
            pattern = letters(ring)
            if pattern in wrong:
                lists[i] = by_index(wrong[pattern], order)
        return lists

    neighbouring = []
    round_the_ring = []
    for ring in rings:
        # Sides that are 2 apart on a ring of four are opposite.
        pairs = combinations(crossed_sides(ring), 2)
        adjacent = [(a, b) for a, b in pairs if b - a != 2]
        neighbouring.append(by_index(adjacent, order))
        round_the_ring.append(joined_sides(ring) or [])
    every_pair = list(combinations(range(4), 2))
    return {
        "nothing_anywhere": [[]] * len(right),
        "all_pairs_of_an_equal_square": instead({"aaaa": every_pair}),
        "odd_corners_left_open": instead({"abac": [], "abcb": []}),
        "odd_corners_joined": instead({"abac": _MIDDLE_TWO, "abcb": _FIRST_TWO}),
        "alternating_corners_decided": instead({"abab": _FIRST_TWO}),
        "four_classes_decided": instead({"abcd": _FIRST_TWO}),
        "neighbouring_crossed_sides": neighbouring,
        "sides_numbered_round_the_ring": round_the_ring,
        "corners_read_round_the_ring": certain_pairs(params.squares, order),
    }


def single_mistakes(right: Sequence[list[Pair]]) -> dict[str, list[list[Pair]]]:
    """Return the right lists with one mistake each."""
    # The mistakes are made in the first square that has a pair, if any has.
    square = 0
    for k, pairs in enumerate(right):
        if pairs:
            square = k
            break
    pairs = right[square]
    i, j = pairs[0] if pairs else (0, 1)

    def with_pairs(*changed: Pair) -> list[list[Pair]]:
        return [*right[:square], list(changed), *right[square + 1 :]]

    return {
        "last_square_left_out": [*right[:-1]],
        "one_list_too_many": [*right, []],
        "one_pair_turned_round": with_pairs(*pairs[1:], (j, i)),
        "one_pair_twice": with_pairs(*pairs, (i, j)),
        "side_joined_to_itself": with_pairs(*pairs, (0, 0)),
        "index_out_of_range": with_pairs(*pairs, (0, 4)),
    }


def edge_lists(edges: Sequence[Sequence[Pair]]) -> list[JsonValue]:
    """Return pairs of sides as JSON values, one list for each square."""
    lists: list[JsonValue] = []
    for pairs in edges:
        square: list[JsonValue] = [list(pair) for pair in pairs]
        lists.append(square)
    return lists


def with_booleans(pairs: Sequence[Pair]) -> list[JsonValue]:
    """Return pairs in reverse order, with truth values for the indices 0 and 1."""
    return [list[JsonValue](with_truths(pair)) for pair in reversed(pairs)]
