"""Enumerate edges: the ambiguous squares, the format of pairs, and each check."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.catalog import get_task
from scbench.schemas.enumerate_edges import Params
from scbench.scoring.judge import judge

TASK = get_task("enumerate_edges")
RING = ("bottom-left", "bottom-right", "top-right", "top-left")
SIDES = ("bottom", "right", "top", "left")
ONE_OF_EACH = Params(
    corner_order=RING,
    edge_order=SIDES,
    squares=((5, 5, 5, 5), (1, 1, 2, 1), (1, 2, 1, 2), (1, 2, 1, 3), (1, 2, 3, 4)),
)
RIGHT = [[], [[1, 2]], [], [[0, 1], [2, 3]], []]


def verdict(params, edges):
    return judge(TASK, params, {"edges": edges})[0]


def failed(params, edges):
    return [check.id for check in verdict(params, edges).failed]


@pytest.mark.parametrize("pair", [[0, 4], [4, 5], [2, 2], [4, 4], [0, 10**30]])
def test_pairs_must_name_two_sides(pair):
    assert failed(ONE_OF_EACH, [[pair], *RIGHT[1:]]) == ["indices"]


def test_long_answers_are_rejected():
    assert failed(ONE_OF_EACH, [*RIGHT[:4], [[0, 1]] * 1992]) == ["repeats", "certain"]
    assert failed(ONE_OF_EACH, [*RIGHT[:4], [[0, 1]] * 1993]) == ["resource_limit"]


def renumbered(pairs, new_index):
    return [sorted((new_index[a], new_index[b])) for a, b in pairs]


@given(st.permutations(RING), st.permutations(SIDES))
def test_order_of_corners_and_sides_does_not_matter(corners, sides):
    squares = []
    for square in ONE_OF_EACH.squares:
        label_at = dict(zip(RING, square, strict=True))
        squares.append(tuple(label_at[corner] for corner in corners))
    params = Params(
        corner_order=tuple(corners), edge_order=tuple(sides), squares=tuple(squares)
    )
    new_index = [sides.index(side) for side in SIDES]
    edges = [renumbered(pairs, new_index) for pairs in RIGHT]
    assert failed(params, edges) == []


@given(
    st.lists(
        st.sampled_from([[a, b] for a, b in permutations(range(4), 2)]), max_size=3
    )
)
def test_only_the_exact_pairs_score(pairs):
    right = sorted(pairs) == [[0, 1], [2, 3]]
    assert verdict(ONE_OF_EACH, [*RIGHT[:3], pairs, []]).score == right
