"""Mazes made by construction: requirements can be met, and near misses miss by one rule."""

from itertools import pairwise

import pytest

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.maze_3d import (
    MazePlan,
    Space,
    TaskBuilder,
    _lattice_path,
    _route_heights,
    carve,
)
from scbench.graders.maze_3d import grade
from scbench.schemas.maze_3d import Answer, Params

BUILDER = TaskBuilder()


@pytest.mark.parametrize("size", [5, 8, 13, 24, 40])
@pytest.mark.parametrize("ends", [(5, 0), (0, 9), (9, 9), (0, 0)])
def test_mazes_are_found_over_the_whole_space(size, ends):
    jumps = max(1, 2 * size // 5)
    point = Space(
        size=size,
        a_height=ends[0],
        b_height=ends[1],
        jumps=1 if size == 5 else jumps,
        max_height_percent=30 if size == 5 else 20,
        min_route_percent=20,
    )
    params = BUILDER.draw(point, Stream("mazes", size, ends))
    assert (params.a_height, params.b_height) == ends
    result = grade(params, BUILDER.reference(params))
    assert result.score == 1
    assert len(result.metrics["jumped_over"]) == params.jumps


def test_what_is_left_open_is_drawn_within_its_bounds():
    instances = [BUILDER.draw(Space(size=12), Stream("open", seed)) for seed in range(40)]
    for name, low, high in (
        ("a_height", 0, 9),
        ("jumps", 2, 6),
        ("max_height_percent", 20, 35),
        ("min_route_percent", 12, 24),
    ):
        values = {getattr(params, name) for params in instances}
        assert low <= min(values)
        assert max(values) <= high
        assert len(values) > 3


@pytest.mark.parametrize("item", BUILDER.paper(), ids=lambda item: str(item.params.size))
def test_near_misses_break_one_rule_alone(item):
    counters = BUILDER.counter_references(item.params)
    for name, check in (
        ("one_jump_too_few", "jumps"),
        ("route_too_short", "coverage"),
        ("one_height_too_often", "height_share"),
    ):
        if name in counters:
            result = grade(item.params, Answer.model_validate(counters[name]))
            assert [c.id for c in result.checks if c.passed is False] == [check]
    assert {"one_jump_too_few", "one_height_too_often", "wall_that_is_none"} <= counters.keys()
    shallow = grade(item.params, Answer.model_validate(counters["gap_too_shallow"]))
    assert {c.id for c in shallow.failed} & {"jumps", "one_route"}


def test_impossible_requirements_end_with_a_reason():
    with pytest.raises(GenerationError, match="fewer jumps"):
        BUILDER.draw(Space(size=5, jumps=9), Stream("jumps"))
    params = Params(size=5, a_height=0, b_height=9, jumps=1, max_height_percent=10)
    with pytest.raises(GenerationError):
        BUILDER.reference(params)


@pytest.mark.parametrize("n", [5, 6, 11])
def test_lattice_paths_step_between_even_cells(n):
    path = _lattice_path(n, Stream("lattice", n))
    assert len(set(path)) == len(path)
    assert all(cell % n % 2 == 0 and cell // n % 2 == 0 for cell in path)
    for a, b in pairwise(path):
        assert abs(a % n - b % n) + abs(a // n - b // n) == 2


def test_route_heights_keep_their_rules_and_hit_the_end():
    for seed in range(50):
        rng = Stream("heights", seed)
        moves = [rng.chance(0.3) for _ in range(20)]
        line = _route_heights(7, 3, moves, rng)
        assert (line[0], line[-1]) == (7, 3)
        for jump, a, b in zip(moves, line, line[1:], strict=False):
            assert (a == b >= 2) if jump else abs(a - b) <= 1
            assert 0 <= b <= 9
    assert _route_heights(0, 9, [False] * 8, Stream("heights")) is None
    assert _route_heights(1, 1, [True], Stream("heights")) is None


def test_carved_mazes_have_exactly_what_is_wanted():
    carved = 0
    for seed in range(40):
        plan = MazePlan(16, 4, 6, jumps=seed % 6, least_cells=40, most_cells=60)
        maze = carve(plan, Stream("carve", seed))
        if maze is not None:
            carved += 1
            params = Params(size=16, a_height=4, b_height=6, jumps=0, max_height_percent=100)
            result = grade(params, Answer.model_validate(maze))
            failed = {check.id for check in result.failed} - {"coverage"}
            assert not failed
            assert len(result.metrics["jumped_over"]) == seed % 6
            assert 40 <= len(result.metrics["route"]) <= 60
    assert carved > 10
