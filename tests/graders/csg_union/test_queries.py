"""Volume and inside queries, checked with mesh booleans and Delaunay simplices."""

from itertools import combinations

import numpy as np
import pytest
from later import Later

from scbench.base.seeding import Stream
from scbench.catalog import get_task
from scbench.graders.csg_union.queries import Inside, Volume
from scbench.graders.csg_union.solids import solid_body, solid_mesh
from scbench.graders.shared.interaction import QueryError

spatial = Later("scipy.spatial")

PAPER = [item.params for item in get_task("csg_union").builder().paper()]


def volume(params, *solids):
    return Volume(query="volume", solids=solids).observe(params)


def inside(params, points):
    return Inside(query="inside", points=points).observe(params)["points"]


@pytest.mark.parametrize("number", range(1, 22, 7))
def test_volumes_match_mesh_booleans(number):
    params = PAPER[number]
    bodies = [solid_body(solid) for solid in params.solids]
    choices = []
    for size in (1, 2, 3):
        choices += combinations(range(len(bodies)), size)
    for chosen in choices[:12]:
        report = volume(params, *(i + 1 for i in chosen))
        union = common = bodies[chosen[0]]
        for i in chosen[1:]:
            union = union + bodies[i]
            common = common ^ bodies[i]
        assert report["union"] == pytest.approx(union.volume(), 1e-6)
        assert report["common"] == pytest.approx(common.volume(), rel=1e-6, abs=1e-4)


@pytest.mark.parametrize("number", range(0, 22, 7))
def test_inside_query_matches_delaunay_simplices(number):
    rng = Stream("points asked for", number)
    params = PAPER[number]
    meshes = [solid_mesh(solid).points for solid in params.solids]
    every = np.concatenate(meshes)
    low, high = every.min(axis=0), every.max(axis=0)
    bounds = list(zip(low, high, strict=True))
    points = [[rng.uniform(a, b) for a, b in bounds] for _ in range(50)]
    expected = [""] * len(points)
    for mesh in meshes:
        is_inside = spatial.Delaunay(mesh).find_simplex(points) >= 0
        for i, letter in enumerate(np.where(is_inside, "i", "o")):
            expected[i] += letter
    assert inside(params, points) == expected
    # A vertex is on the surface of its own solid.
    vertex = [round(value, 9) for value in meshes[0][0].tolist()]
    assert inside(params, [vertex])[0][0] == "s"


@pytest.mark.parametrize("number", [0, 3, -1, 10**50])
def test_unknown_solid_is_rejected(number):
    with pytest.raises(
        QueryError, match=r"there is no solid .* the solids are numbered 1 to 2"
    ):
        volume(PAPER[0], 1, number)
