"""Hyper-snake: each rule, and a second grader."""

from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import judging, near_misses

from scbench.schemas.hyper_snake import Params

verdict, failed, check = judging(
    "hyper_snake", lambda cells: {"path": [{"pos": list(cell)} for cell in cells]}
)


# A box of 3 x 4: the first number counts down, the second to the right.
# S . . .    S is the start, X a wall, F is food; 11 cells are free,
# . . X .    all of them on the path below, and 98 % of 11 is 11 again.
# F . . F
BOX = Params(size=(3, 4), start=(0, 0), walls=((1, 2),), food=((2, 3), (2, 0)))
WHOLE = [
    (0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (2, 2),
]  # fmt: skip
OPEN = Params(size=(2, 3), start=(0, 0), walls=(), food=())
SMALL = [
    BOX,
    OPEN,
    Params(size=(3, 3), start=(0, 1), walls=(), food=((1, 1), (2, 2))),
    Params(size=(2, 2, 2), start=(1, 0, 1), walls=((1, 1, 1),), food=((0, 1, 1),)),
    Params(size=(4, 1, 2), start=(1, 0, 0), walls=(), food=((1, 0, 0), (3, 0, 1))),
    Params(size=(5,), start=(2,), walls=(), food=((0,),)),
]
CELLS = st.tuples(st.integers(-1, 3), st.integers(-1, 4))


def is_step(a, b):
    return sum(abs(p - q) for p, q in zip(a, b, strict=True)) == 1


def exact_score(params, cells):
    """Score a path by the rules, cell by cell and in fractions."""
    unvisited = set(product(*map(range, params.size))) - set(params.walls)
    free = len(unvisited)
    hungry = set(params.food)
    if not cells or cells[0] != params.start:
        return 0
    if not all(is_step(a, b) for a, b in pairwise(cells)):
        return 0
    for cell in cells:
        if cell not in unvisited:
            return 0
        unvisited.remove(cell)
        hungry.discard(cell)
    share = Fraction(len(cells), free)
    if params.walls:
        share = min(Fraction(1), share / Fraction(98, 100))
    return share / (len(hungry) + 1)


def every_path(params):
    """Yield all legal paths, by exhaustive search."""
    free = set(product(*map(range, params.size))) - set(params.walls)

    def extend(path):
        yield list(path)
        for other in free - set(path):
            if is_step(path[-1], other):
                yield from extend([*path, other])

    yield from extend([params.start])


@pytest.mark.parametrize("params", SMALL, ids=lambda p: "x".join(map(str, p.size)))
def test_legal_paths_of_small_boxes(params):
    longest = 0
    for path in every_path(params):
        given_verdict = verdict(params, path)
        expected = float(exact_score(params, path))
        assert given_verdict.score == pytest.approx(expected, abs=1e-12)
        assert given_verdict.score > 0
        assert given_verdict.metrics["legal_prefix"] == len(path)
        assert (given_verdict.score == 1) == (not given_verdict.failed)
        longest = max(longest, len(path))
    assert longest <= given_verdict.metrics["length_bound"]


@given(near_misses(WHOLE, CELLS) | st.lists(CELLS, min_size=1, max_size=14))
def test_scores_match_second_grader(cells):
    assert verdict(BOX, cells).score == pytest.approx(
        float(exact_score(BOX, cells)), abs=1e-12
    )


def test_details_use_positions_in_the_answer():
    cells = [*WHOLE[:2], (1, 1), (1, 2), (1, 1), (5, 0), (2, 0)]
    assert check(BOX, cells, "walls").details == {"count": 1, "offenders": [3]}
    assert check(BOX, cells, "repeats").details == {"count": 1, "offenders": [4]}
    assert check(BOX, cells, "inside").details == {"count": 1, "offenders": [5]}
    assert check(BOX, cells, "moves").details == {"count": 2, "offenders": [5, 6]}
    assert check(BOX, cells, "food").details == {"count": 1, "offenders": [(2, 3)]}
    assert verdict(BOX, cells).metrics == {
        "length": 7, "legal_prefix": 3, "free_cells": 11, "length_bound": 11,
        "share_of_bound": 3 / 11, "missed_food": [(2, 3)],
    }  # fmt: skip


def test_cap_is_applied_before_food():
    # 100 of 101 free cells count as all, but one of two food items is missed.
    params = Params(
        size=(1, 102), start=(0, 1), walls=((0, 101),), food=((0, 0), (0, 50))
    )
    path = [(0, i) for i in range(1, 101)]
    assert len(path) == 100
    assert 100 / 101 / 0.98 > 1
    assert verdict(params, path).score == 1 / 2
    assert failed(params, path) == {"food"}


def test_long_lists_are_graded_up_to_a_limit():
    limit = 4 * 11 + 1000
    assert "repeats" in failed(BOX, WHOLE[:1] * limit)
    assert failed(BOX, WHOLE[:1] * (limit + 1)) == {"resource_limit"}
