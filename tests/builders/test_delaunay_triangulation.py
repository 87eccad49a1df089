"""Delaunay point sets: the paper's follow from their seeds, fresh ones have one answer."""

import numpy as np
import pytest

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.delaunay_triangulation import Space, TaskBuilder
from scbench.graders.shared.plane_geometry import (
    in_circle,
    orient,
    third_corners,
    to_integers,
    triangulate,
)

BUILDER = TaskBuilder()


def test_paper_points_match_their_seeds():
    for item in BUILDER.paper():
        points = np.random.default_rng(item.seed).uniform(
            0, 1, (len(item.params.points), 2)
        )
        assert np.round(points, 3).tolist() == [
            list(point) for point in item.params.points
        ]


@pytest.mark.parametrize("layout", ["uniform", "clusters", "ring", "lattice"])
@pytest.mark.parametrize("points", [3, 40])
def test_fresh_sets_are_in_general_position(layout, points):
    point = Space(points=points, layout=layout, decimals=4, min_margin=0)
    for seed in range(5):
        params = BUILDER.draw(point, Stream("test", layout, seed))
        assert len(params.points) == points
        grid = to_integers(params.points, 4)
        assert to_integers(params.points, 4) == tuple(
            (round(x * 1e4), round(y * 1e4)) for x, y in params.points
        )
        assert all(
            orient(grid[i], grid[j], grid[k])
            for i in range(points)
            for j in range(i)
            for k in range(j)
        )
        third = third_corners(grid, triangulate(grid)[0])
        assert all(
            in_circle(grid[a], grid[b], grid[c], grid[third[b, a]]) < 0
            for (a, b), c in third.items()
            if (b, a) in third
        ), "no four points share an empty circle"


def test_impossible_parameters_are_reported():
    with pytest.raises(GenerationError, match="ask for fewer points"):
        BUILDER.draw(Space(points=200, decimals=2), Stream("crowded"))
