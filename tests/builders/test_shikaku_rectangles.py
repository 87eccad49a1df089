"""Shikaku: the solver compared with brute force, and the parameters."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shikaku_rectangles import Space, TaskBuilder
from scbench.builders.shikaku_rectangles.solver import solve

POINTS = [
    {}, {"width": 5, "height": 5, "max_area": 8}, {"width": 5, "height": 20},
    {"width": 20, "height": 20, "max_area": 24}, {"min_area": 4},
    {"min_area": 5, "allow_single": True}, {"max_area": 3}, {"min_candidates": 95},
    {"max_candidates": 75}, {"min_nodes": 2}, {"thin": 0.0}, {"thin": 1.0},
]  # fmt: skip


def all_solutions(grid):
    """Fill the first free cell with every rectangle that starts there."""
    height, width = len(grid), len(grid[0])
    solutions = set()

    def extend(free, cut):
        if not free:
            solutions.add(tuple(sorted(cut)))
            return
        y, x = min((y, x) for x, y in free)
        for right, bottom in product(range(x, width), range(y, height)):
            cells = set(product(range(x, right + 1), range(y, bottom + 1)))
            clues = [grid[j][i] for i, j in cells if grid[j][i]]
            if cells <= free and clues == [len(cells)]:
                extend(free - cells, [*cut, (x, y, right, bottom)])

    extend(set(product(range(width), range(height))), [])
    return solutions


@st.composite
def grids(draw):
    clue = st.sampled_from([0, 0, 0, 1, 2, 3, 4, 6])
    width = draw(st.integers(1, 4))
    row = st.lists(clue, min_size=width, max_size=width)
    return draw(st.lists(row, min_size=1, max_size=4))


def solver_solutions(grid, limit, max_nodes=10**6):
    result = solve(grid, limit=limit, max_nodes=max_nodes)
    assert result.complete
    assert len(set(result.solutions)) == len(result.solutions)
    return set(result.solutions)


@given(grids())
def test_solver_agrees_with_brute_force_on_any_grid(grid):
    assert solver_solutions(grid, limit=10**6) == all_solutions(grid)


@given(seed=st.integers(0, 2**32), width=st.integers(2, 6), height=st.integers(2, 6))
def test_solver_agrees_with_brute_force_on_loose_puzzles(seed, width, height):
    rng = Stream("loose", seed)
    # Fill the grid from the top with rectangles; depth is the number of filled rows per column.
    depth, grid = [0] * width, [[0] * width for _ in range(height)]
    while (top := min(depth)) < height:
        left = depth.index(top)
        end = left
        while end < width and depth[end] == top:
            end += 1
        w, h = rng.between(1, end - left), rng.between(1, height - top)
        grid[rng.between(top, top + h - 1)][rng.between(left, left + w - 1)] = w * h
        depth[left : left + w] = [top + h] * w
    truth = all_solutions(grid)
    assert truth
    assert solver_solutions(grid, limit=10**6) == truth
    assert len(solver_solutions(grid, limit=2)) == min(2, len(truth))


def test_solver_reports_stopping_at_its_limit():
    # Each 2 x 2 block, with clues 2 on a diagonal, can be cut into rows or into columns.
    blocks = 3
    grid = [[0] * 2 * blocks for _ in range(2 * blocks)]
    for y in range(2 * blocks):
        for x in range(blocks):
            grid[y][2 * x + y % 2] = 2
    assert all_solutions(grid) == solver_solutions(grid, limit=10**6)
    assert len(all_solutions(grid)) > 2**blocks
    cut_short = solve(grid, limit=10**6, max_nodes=3)
    assert cut_short.nodes == 3
    assert not cut_short.complete
    assert len(solve(grid, limit=2, max_nodes=1000).solutions) == 2


def test_unsolvable_puzzles_have_no_solution():
    assert solve([[2, 2], [0, 2]], limit=1, max_nodes=10).solutions == []
    assert solve([[0, 0], [0, 0]], limit=1, max_nodes=10).solutions == []
    # Both clues need the middle cell.
    assert solve([[2, 0, 2]], limit=1, max_nodes=10).solutions == []
    unsolvable = TaskBuilder.params_model(width=2, height=1, grid=((0, 1),))
    with pytest.raises(GenerationError, match="no solution"):
        TaskBuilder().reference(unsolvable)


def areas(params):
    rectangles = TaskBuilder().reference(params).rectangles
    return [
        (right - left + 1) * (bottom - top + 1)
        for left, top, right, bottom in rectangles
    ]


@pytest.mark.parametrize("parameters", POINTS, ids=str)
def test_fresh_puzzles_satisfy_their_parameters(parameters):
    point = Space(**parameters)
    params = TaskBuilder().draw(point, Stream("knobs", 1))
    assert (params.width, params.height) == (point.width, point.height)
    result = solve(params.grid, limit=2, max_nodes=10**6)
    assert len(result.solutions) == 1
    assert result.complete
    assert point.min_candidates <= result.candidates <= point.max_candidates
    assert result.nodes >= point.min_nodes
    single = {1} if point.allow_single else set()
    assert set(areas(params)) <= set(range(point.min_area, point.max_area + 1)) | single
