"""Hamiltonian loop: the solver compared with exhaustive search, and the parameters."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.hamiltonian_loop import Space, TaskBuilder
from scbench.builders.hamiltonian_loop.loops import (
    could_have_loop,
    find_cover,
    find_loop,
)


def neighbours_of(cell):
    x, y = cell
    return {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)}


def has_loop(free):
    """Search exhaustively from the first cell."""
    start = min(free)

    def extend(path):
        near = neighbours_of(path[-1])
        if len(path) == len(free):
            return len(path) > 2 and start in near
        return any(extend([*path, cell]) for cell in near & free - set(path))

    return extend([start])


def is_loop(cells, free):
    if len(cells) != len(free) or set(cells) != free:
        return False
    return all(b in neighbours_of(a) for a, b in pairwise([*cells, cells[0]]))


@st.composite
def cell_sets(draw):
    width, height = draw(st.sampled_from([(3, 4), (4, 4), (5, 4), (6, 4)]))
    grid = list(product(range(width), range(height)))
    gaps = draw(st.sets(st.sampled_from(grid), max_size=6))
    return set(grid) - gaps


@given(free=cell_sets(), seed=st.integers(0, 9))
def test_solver_agrees_with_exhaustive_search(free, seed):
    loop = find_loop(free, Stream("plain", seed))
    assert (loop is not None) == has_loop(free)
    if loop is not None:
        assert is_loop(loop, free)


@given(free=cell_sets(), seed=st.integers(0, 9))
def test_quick_rejections_are_right(free, seed):
    cover = find_cover(free, Stream("cover", seed))
    if cover is None or not could_have_loop(free):
        assert not has_loop(free)
    if cover is not None:
        for cell, partners in cover.items():
            assert len(partners) == 2
            assert partners <= neighbours_of(cell) & free
            assert all(cell in cover[partner] for partner in partners)


def draw(seed=0, **parameters):
    return TaskBuilder().draw(Space(**parameters), Stream("knobs", seed))


@pytest.mark.parametrize("fill", [0.1, 0.5, 1.0])
def test_tree_of_blocks_fills_its_share_of_the_grid(fill):
    params = draw(size=12, obstacles="tree", fill=fill)
    blocked = set(params.blocked)
    assert 144 - len(blocked) == 4 * round(36 * fill)
    corner = {((x + 1) // 2, (y + 1) // 2) for x, y in blocked}
    assert len(blocked) == 4 * len(corner)


@pytest.mark.parametrize(
    ("size", "fill", "count"), [(13, 0.07, 12), (9, 0.35, 28), (6, 0.01, 4)]
)
def test_strip_fills_its_share_and_has_a_loop(size, fill, count):
    strips = [draw(seed, size=size, obstacles="strip", fill=fill) for seed in range(20)]
    assert all(size**2 - len(params.blocked) == count for params in strips)
    assert len({params.blocked for params in strips}) > 10
    assert all(len(TaskBuilder().reference(params).steps) == count for params in strips)


def test_impossible_parameters_are_reported():
    with pytest.raises(ValidationError, match="even size"):
        Space(size=9, obstacles="tree")
    with pytest.raises(GenerationError, match="ask for fewer"):
        draw(size=12, blocked=0.25, obstacles="cells")
