import pytest

from scbench.builders.half_subdivision_neighbours import Space, TaskBuilder
from scbench.graders.half_subdivision_neighbours import boxes

BUILDER = TaskBuilder()


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {
            "dimension": "2D",
            "min_neighbours": 6,
            "neighbour_depths": 3,
            "split_prob": 0.5,
        },
        {"dimension": "3D", "extra_axes": 0, "depth_spread": 0, "neighbour_depths": 4},
        {"min_neighbours": 9, "target_at": "inside", "min_depth": 6},
        {"target_at": "boundary", "extra_axes": 6, "max_leaves": 1000, "min_depth": 8},
    ],
)
def test_fresh_trees_satisfy_their_parameters(parameters):
    point = Space(**parameters)
    for seed in range(10):
        case = BUILDER.case(point, seed)
        params = BUILDER.params_model.model_validate(case.instance)
        axes = ("x", "y", "z")[: int(point.dimension[0])]
        assert set(params.axis_cycle) == set(axes)
        assert len(params.axis_cycle) == len(axes) + point.extra_axes
        depths = {len(leaf) for leaf in params.leaves}
        assert point.min_depth <= min(depths)
        assert max(depths) <= point.min_depth + point.depth_spread
        assert len(params.leaves) <= point.max_leaves
        neighbours = BUILDER.reference(params).neighbors
        assert len(neighbours) >= point.min_neighbours
        least_depths = min(point.neighbour_depths, point.depth_spread + 1)
        assert len({len(label) for label in neighbours}) >= least_depths
        side = 1 << max(depths)
        box = boxes(params.leaves, params.axis_cycle, axes)[params.target]
        outside = any(low == 0 or high == side for low, high in box)
        if point.target_at != "anywhere":
            assert outside == (point.target_at == "boundary")
