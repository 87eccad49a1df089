"""Constructed mazes: they meet their requirements, and ends are placed and printed."""

import pytest

from scbench.base.seeding import Stream
from scbench.builders.maze_3d import Space, TaskBuilder
from scbench.builders.maze_3d.carving import MazePlan, carve
from scbench.graders.maze_3d import grade
from scbench.schemas.maze_3d import Answer, Params

BUILDER = TaskBuilder()


@pytest.mark.parametrize(
    ("size", "ends"), [(5, (5, 0)), (13, (0, 9)), (24, (9, 9)), (40, (0, 0))]
)
def test_mazes_are_found_over_the_whole_parameter_space(size, ends):
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


def test_carved_mazes_follow_their_plan():
    carved = 0
    for seed in range(40):
        plan = MazePlan(16, 4, 6, jumps=seed % 6, least_cells=40, most_cells=60)
        maze = carve(plan, Stream("carve", seed))
        if maze is not None:
            carved += 1
            params = Params(
                size=16, a_height=4, b_height=6, jumps=0, max_height_percent=100
            )
            result = grade(params, Answer.model_validate(maze))
            failed = {check.id for check in result.failed} - {"coverage"}
            assert not failed
            assert len(result.metrics["jumped_over"]) == seed % 6
            assert 40 <= len(result.metrics["route"]) <= 60
    assert carved > 10


@pytest.mark.parametrize("size", [5, 13])
def test_ends_are_drawn_and_printed_and_met(size):
    open_ends = TaskBuilder().paper()[0].params
    assert open_ends.ends is None
    assert "ends" not in open_ends.model_dump()
    assert "is in row" not in BUILDER.prompt(open_ends)
    point = Space(
        size=size, jumps=1, max_height_percent=60, min_route_percent=14, placed=True
    )
    ends = set()
    for seed in range(12):
        params = BUILDER.draw(point, Stream("ends", size, seed))
        ends.add(params.ends)
        (a_row, a_column), (b_row, b_column) = params.ends
        assert (
            f"A is in row {a_row}, column {a_column}, and B in row {b_row}, column "
            in (BUILDER.prompt(params))
        )
        rows = BUILDER.reference(params).maze
        assert (rows[a_row][a_column], rows[b_row][b_column]) == ("A", "B")
        assert Params.model_validate_json(params.model_dump_json()) == params
    assert len(ends) > 6


@pytest.mark.parametrize("params", [item.params for item in TaskBuilder().paper()])
def test_winding_route_solves_items_without_stated_ends(params):
    (answer,) = TaskBuilder().baselines(params).values()
    assert grade(params, Answer.model_validate(answer)).score == 1
    # The route begins in the first cell, so it is wrong if A must be elsewhere.
    placed = params.model_copy(update={"ends": ((2, 1), (0, 3))})
    (answer,) = TaskBuilder().baselines(placed).values()
    assert grade(placed, Answer.model_validate(answer)).score == 0
