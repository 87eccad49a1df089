"""Hyper-snake: the solver compared with exhaustive search, walks, and the parameters."""

from itertools import pairwise, product
from statistics import mean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.hyper_snake import Space, TaskBuilder
from scbench.builders.hyper_snake.paths import Box, find_path
from scbench.builders.hyper_snake.walks import (
    BATCH,
    best_of_batch,
    best_walks,
    is_easy_for_walks,
    walk,
)
from scbench.catalog import get_task
from scbench.freezing.floors import floor_of
from scbench.graders.hyper_snake import grade
from scbench.schemas.hyper_snake import Answer

WORK = 300_000
# A small box, in which random walks would do well.
WALKED = Space(
    dims=2,
    min_side=8,
    max_side=8,
    max_cells=64,
    walls=5,
    food=16,
    wall_layout="fence",
    food_layout="missed",
    greedy=0.56,
)


def longest_by_search(box, start, food, end):
    """Search for the longest path over all food, ending at ``end`` if given."""
    best = 0

    def extend(path):
        nonlocal best
        if food <= set(path) and end in {None, path[-1]}:
            best = max(best, len(path))
        for near in box.near[path[-1]]:
            if near not in path:
                extend([*path, near])

    extend([start])
    return best


@st.composite
def boxes(draw):
    size = draw(st.sampled_from([(3, 3), (2, 5), (4, 3), (2, 2, 3), (12,)]))
    cells = list(product(*map(range, size)))
    walls = draw(st.sets(st.sampled_from(cells), max_size=3))
    free = [cell for cell in cells if cell not in walls]
    box = Box.make(size, walls)
    start = draw(st.integers(0, len(free) - 1))
    food = draw(st.sets(st.integers(0, len(free) - 1), max_size=2))
    return box, start, food


def is_path(box, start, path):
    if path[0] != start or len(set(path)) != len(path):
        return False
    return all(b in box.near[a] for a, b in pairwise(path))


def score_of(params, box, path):
    """Return the score of a path, given by the numbers of its cells."""
    places = [{"pos": box.cells[i]} for i in path]
    return grade(params, Answer.model_validate({"path": places})).score


@settings(max_examples=30)
@given(case=boxes(), seed=st.integers(0, 3))
def test_solver_agrees_with_exhaustive_search(case, seed):
    box, start, food = case
    ends = [i for i in box.dead_ends(start) if i in food]
    if len(ends) > 1:
        assert find_path(box, start, food, Stream("ends", seed), None, WORK) is None
        return
    end = ends[0] if ends else None
    bound = box.longest(start, end)
    best = longest_by_search(box, start, food, end)
    assert best <= bound
    path = find_path(box, start, food, Stream("search", seed), None, WORK)
    assert (path is not None) == (best == bound)
    if path is not None:
        assert is_path(box, start, path)
        assert len(path) == bound
        assert food <= set(path)


def test_search_stops_if_no_path_exists():
    shut_in = Box.make((3, 3), [(0, 1), (1, 0)])
    start = shut_in.number[0, 0]
    assert find_path(shut_in, start, [], Stream("shut"), None, WORK) is None
    # A comb with three teeth: from the tip of the middle one, only one other can be visited.
    comb = Box.make((3, 5), [(1, 1), (1, 3), (2, 1), (2, 3)])
    start = comb.number[2, 2]
    assert comb.longest(start) == 11
    assert longest_by_search(comb, start, set(), None) == 7
    assert find_path(comb, start, [], Stream("comb"), None, WORK) is None
    path = find_path(comb, start, [], Stream("comb"), 7, WORK)
    assert is_path(comb, start, path)
    assert len(path) == 7


def draw(seed=0, **parameters):
    return TaskBuilder().draw(Space(**parameters), Stream("knobs", seed))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"dims": 2, "min_side": 6, "max_side": 9, "walls": 2},
        {"dims": 2, "walls": 0, "food": 0},
        {
            "dims": 5,
            "min_side": 2,
            "max_side": 4,
            "max_cells": 500,
            "walls": 8,
            "food": 6,
        },
        {"dims": 10, "min_side": 2, "max_cells": 2500, "walls": 4},
        {"max_cells": 27, "walls": 1},
        {"walls": 12, "max_cells": 200, "max_side": 8},
    ],
    ids=str,
)
def test_fresh_boxes_satisfy_their_parameters(parameters):
    point, params = Space(**parameters), draw(**parameters)
    cells = len(list(product(*map(range, params.size))))
    assert len(params.size) == point.dims
    assert all(point.min_side <= n <= point.max_side for n in params.size)
    assert cells <= point.max_cells
    assert (len(params.walls), len(params.food)) == (point.walls, point.food)
    free = cells - len(params.walls)
    path = TaskBuilder().reference(params).path
    assert len(path) >= (0.98 * free if params.walls else free)


@pytest.mark.parametrize("dims", [2, 3, 4])
def test_fence_leaves_one_way_to_the_food(dims):
    for seed in range(3):
        params = draw(
            seed, dims=dims, wall_layout="fence", walls=dims, max_cells=100 * dims
        )
        box = Box.make(params.size, params.walls)
        corner = params.food[0]
        assert all(c in {0, n - 1} for c, n in zip(corner, params.size, strict=True))
        assert len(box.near[box.number[corner]]) == 1
        assert TaskBuilder().reference(params).path[-1]["pos"] == corner


def test_boxes_that_baselines_nearly_solve_are_redrawn():
    builder, scores = TaskBuilder(), {1.0: [], 0.6: []}
    for limit, result in scores.items():
        point = Space(
            dims=2,
            min_side=9,
            max_side=10,
            max_cells=90,
            walls=5,
            food=9,
            wall_layout="fence",
            food_layout="missed",
            greedy=limit,
        )
        for seed in range(8):
            params = builder.draw(point, Stream("greedy", seed))
            paths = map(Answer.model_validate, builder.baselines(params).values())
            result.append(max(grade(params, path).score for path in paths))
    assert max(scores[0.6]) <= 0.6 < max(scores[1.0])


def test_food_is_in_cells_that_long_walks_miss():
    params = draw(
        dims=3,
        min_side=4,
        max_side=4,
        max_cells=64,
        walls=6,
        food=8,
        food_layout="missed",
    )
    assert len(set(params.food)) == 8
    assert params.start not in params.food
    box = Box.make(params.size, params.walls)
    walks = walk(box, box.number[params.start], Stream("eaters"))
    lengths = (walks >= 0).sum(axis=1)
    long_walks = walks[lengths >= np.quantile(lengths, 0.9)]
    visits = [(long_walks == i).any(axis=1).mean() for i in range(len(box.cells))]
    food = [visits[box.number[cell]] for cell in params.food]
    assert mean(food) < mean(visits) - 0.03


def one_walk(box, start, rng, *, stray):
    """Return a walk; a share of its steps leads to any free cell."""
    path = [start]
    while ways := [i for i in box.near[path[-1]] if i not in path]:
        if not rng.chance(stray):
            exits = {i: len(set(box.near[i]).difference(path)) for i in ways}
            ways = [i for i in ways if exits[i] == min(exits.values())]
        path.append(rng.choice(ways))
    return path


def test_floors_are_as_high_as_other_walks():
    builder = TaskBuilder()
    above = {0.0: [], 1.0: []}
    for seed in range(6):
        params = builder.draw(WALKED, Stream("walks", seed))
        floor = floor_of(get_task("hyper_snake"), params).score
        assert 0.2 < floor <= WALKED.greedy
        box = Box.make(params.size, params.walls)
        for stray, results in above.items():
            rng = Stream("other walks", seed, stray)
            scores = []
            for _ in range(BATCH):
                path = one_walk(box, box.number[params.start], rng, stray=stray)
                scores.append(score_of(params, box, path))
            results.append(max(scores) - floor)
    assert all(mean(results) < 0.1 for results in above.values())


def cells_before_end(row):
    """Return the cells of a walk; rows are filled up with -1."""
    path = [i for i in row if i >= 0]
    assert path == row[: len(path)]
    return path


def count_strays(box, path):
    """Count the steps of a walk that ignore a cell with fewer exits."""
    count = 0
    for k in range(1, len(path)):
        seen = set(path[:k])
        ways = set(box.near[path[k - 1]]) - seen
        exits = {i: len(set(box.near[i]) - seen) for i in ways}
        count += exits[path[k]] > min(exits.values())
    return count


def test_walks_are_legal_and_end_when_stuck():
    params = draw(dims=3, walls=6, food=2, max_cells=80)
    box = Box.make(params.size, params.walls)
    start = box.number[params.start]
    walks = walk(box, start, Stream("walk"))
    assert walks.tolist() == walk(box, start, Stream("walk")).tolist()
    assert len(walks) == 3 * BATCH
    # One batch of each kind of walk: plain, to the fewest exits, and straying from that.
    strays, steps = [0, 0, 0], [0, 0, 0]
    for number, row in enumerate(walks.tolist()):
        path = cells_before_end(row)
        assert is_path(box, start, path)
        assert {*box.near[path[-1]]} <= {*path}
        kind = number // BATCH
        strays[kind] += count_strays(box, path)
        steps[kind] += len(path) - 1
    plain, narrow, straying = (strays[kind] / steps[kind] for kind in range(3))
    assert narrow == 0
    # One of eight steps of a straying walk is chosen as in a plain walk.
    assert straying == pytest.approx(plain / 8, rel=0.3)


def test_best_walk_has_the_highest_score():
    params = draw(dims=2, min_side=5, max_side=6, walls=2, food=4)
    box = Box.make(params.size, params.walls)
    rng = Stream("walks", params.model_dump(mode="json"), 0)
    walks = walk(box, box.number[params.start], rng)
    best = best_of_batch(params, 0)
    rows = walks.tolist()
    for kind, best_of_kind in enumerate(best):
        batch = rows[kind * BATCH : (kind + 1) * BATCH]
        scores = [score_of(params, box, cells_before_end(row)) for row in batch]
        places = [{"pos": cell} for cell in best_of_kind.cells]
        score = grade(params, Answer.model_validate({"path": places})).score
        assert score == max(scores) == pytest.approx(best_of_kind.score)
    other = best_of_batch(params, 1)
    assert other != best
    of_all = best_walks(params)
    for kind, walk_of_all in enumerate(of_all):
        assert walk_of_all.score >= max(best[kind].score, other[kind].score)
    # Other walks decide whether a box is easy.
    assert is_easy_for_walks(params, max(of_all).score / 2)
    assert not is_easy_for_walks(params, 1.0)
