"""CSG union: items drawn with each parameter, and their measures."""

import numpy as np
import pytest

from scbench.base.errors import GenerationError
from scbench.builders.csg_union import TaskBuilder
from scbench.builders.csg_union.scenes import Space
from scbench.catalog import get_task
from scbench.graders.csg_union.convex_parts import parts_of_union, union_volume
from scbench.graders.csg_union.solids import solid_mesh
from scbench.graders.shared.mesh_topology import shells
from scbench.graders.shared.meshes import PolygonMesh, signed_volumes, triangulate
from scbench.schemas.csg_union import Params
from scbench.scoring.judge import judge

BUILDER = TaskBuilder()


def reference_mesh(params):
    polyhedron = BUILDER.reference(params).polyhedron
    points = np.array([vertex.xyz for vertex in polyhedron.vertex])
    return PolygonMesh(points, tuple(face.vertex for face in polyhedron.faces))


def shell_volumes(mesh):
    return signed_volumes(mesh.points, triangulate(mesh), shells(mesh.faces))


def draw_scenes(seed, **parameters):
    case = BUILDER.case(Space(**parameters), seed)
    return Params.model_validate(case.instance)


def volumes_without_each(params):
    """Return the union's volume, the solids' volumes, and the unions' without each solid."""
    meshes = [solid_mesh(solid) for solid in params.solids]
    volumes, without = [], []
    for i, mesh in enumerate(meshes):
        others = meshes[:i] + meshes[i + 1 :]
        volumes.append(union_volume(parts_of_union([mesh])))
        without.append(union_volume(parts_of_union(others)))
    return union_volume(parts_of_union(meshes)), volumes, without


@pytest.mark.parametrize(
    ("relation", "rotation"),
    [("overlap", "free"), ("contact", "45"), ("disjoint", "none")],
)
def test_every_solid_adds_a_twentieth_of_its_volume(relation, rotation):
    for seed in range(3):
        params = draw_scenes(seed, relation=relation, rotation=rotation, solids=4)
        total, volumes, unions = volumes_without_each(params)
        for volume, without in zip(volumes, unions, strict=True):
            assert total - without >= 0.0499 * volume
        if relation == "overlap":
            assert total < sum(volumes) - 0.0499 * min(volumes)
        if relation in {"contact", "disjoint"}:
            assert total <= sum(volumes) + 1e-6
        count = len(shell_volumes(reference_mesh(params)))
        assert count == 4 if relation == "disjoint" else count < 4


def test_panels_enclose_a_void():
    for seed in range(3):
        params = draw_scenes(seed, relation="void", solids=6)
        volumes = shell_volumes(reference_mesh(params))
        assert sorted(np.sign(volumes)) == [-1, 1]
        total, sizes, _ = volumes_without_each(params)
        assert total == pytest.approx(sum(sizes))


def test_impossible_parameters_are_reported():
    # Three overlapping cones have more than 8 vertices.
    point = Space(solids=3, relation="overlap", kinds=("cone",), max_vertices=8)
    with pytest.raises(GenerationError, match="at most 8 vertices"):
        BUILDER.case(point, 0)


def test_measure_of_two_boxes_matches_count_by_hand():
    def measure(*places):
        box = {"kind": "box", "size": (4, 4, 4)}
        solids = [box | {"translation": place} for place in places]
        return BUILDER.measure(Params.model_validate({"solids": solids}))

    # Apart: eight corners each, nothing else.
    assert measure((0, 0, 0), (9, 0, 0)) == 16
    # A contact: four corners of each are gone.
    assert measure((0, 0, 0), (4, 0, 0)) == 1 + 8 + 8
    # An overlap: one corner of each is gone, and six crossings have coordinates from the prompt.
    assert measure((0, 0, 0), (2, 2, 2)) == 1 + 2 + 20 + 6


def test_items_that_baselines_nearly_solve_are_redrawn():
    params = draw_scenes(
        1, solids=2, kinds=["tetrahedron"], relation="overlap", greedy=0.6
    )
    for answer in BUILDER.baselines(params).values():
        (verdict,) = judge(get_task("csg_union"), params, answer)
        assert verdict.score <= 0.6
    with pytest.raises(GenerationError, match="raise greedy"):
        draw_scenes(1, solids=2, kinds=["box"], relation="nested", greedy=0.5)
