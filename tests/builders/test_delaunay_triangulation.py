"""Delaunay point sets: the paper's follow from their seeds, fresh ones have one answer."""

from itertools import combinations

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
        rng = np.random.default_rng(item.seed)
        points = rng.uniform(0, 1, (len(item.params.points), 2))
        rounded = [tuple(point) for point in np.round(points, 3).tolist()]
        assert rounded == [tuple(point) for point in item.params.points]


@pytest.mark.parametrize("layout", ["uniform", "clusters", "ring", "lattice"])
@pytest.mark.parametrize("points", [3, 40])
def test_fresh_sets_are_in_general_position(layout, points):
    point = Space(points=points, layout=layout, decimals=4, min_margin=0)
    for seed in range(5):
        params = BUILDER.draw(point, Stream("test", layout, seed))
        assert len(params.points) == points
        grid = to_integers(params.points, 4)
        assert grid == tuple((round(x * 1e4), round(y * 1e4)) for x, y in params.points)
        assert all(orient(a, b, c) for a, b, c in combinations(grid, 3))
        # No four points share an empty circle.
        third = third_corners(grid, triangulate(grid)[0])
        for (a, b), c in third.items():
            opposite = third.get((b, a))
            if opposite is not None:
                assert in_circle(grid[a], grid[b], grid[c], grid[opposite]) < 0


def test_impossible_parameters_are_reported():
    with pytest.raises(GenerationError, match="ask for fewer points"):
        BUILDER.draw(Space(points=200, decimals=2), Stream("crowded"))
