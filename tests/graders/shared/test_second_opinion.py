"""What trimesh, a library of others, says of meshes that our graders measure and our files hold."""

import io
import random

import numpy as np
import pytest
import trimesh

from scbench.catalog import get_task
from scbench.graders.csg_union.solids import solid_mesh, union_body
from scbench.graders.shared.meshes import (
    PolygonMesh,
    edge_faults,
    shells,
    signed_volumes,
    triangulate,
    volume,
)
from scbench.report.draw.solids import FORMS, solid_file
from scbench.report.picture import solids_of
from scbench.schemas.csg_union import Params

MANY = 300
VOLUMES = {
    "csg_union": None,
    "lego_hemispherical_shell": None,
    "tetrahedra_shadow_projection": 2**0.5 / 12,
    "pack_rectangular_prisms": None,
}
"""Tasks with solids, and the volume of one body where all are alike."""


def theirs(points, corners) -> trimesh.Trimesh:
    return trimesh.Trimesh(points, corners, process=False)


def random_solid(rng: random.Random) -> dict:
    """Parameters of a solid of any kind and size, turned and moved."""
    place = {
        "rotation_deg_xyz": [rng.uniform(-180, 180) for _ in range(3)],
        "translation": [rng.uniform(-50, 50) for _ in range(3)],
    }
    kind = rng.choice(["box", "prism", "uv_sphere"])
    match kind:
        case "box":
            shape = {"size": [rng.uniform(0.1, 20) for _ in range(3)]}
        case "prism":
            shape = {
                "radius_bottom": rng.uniform(0.1, 9),
                "radius_top": rng.choice([0, rng.uniform(0.1, 9)]),
                "height": rng.uniform(0.1, 20),
                "segments": rng.randrange(3, 24),
                "centred_z": rng.random() < 0.5,
            }
        case _:
            shape = {"radius": rng.uniform(0.1, 9), "segments": 2 * rng.randrange(2, 12)}
    return {"kind": kind, **place, **shape}


def scene(rng: random.Random, count: int) -> Params:
    example = get_task("csg_union").builder().paper()[0].params.model_dump(mode="json")
    return Params.model_validate({**example, "solids": [random_solid(rng) for _ in range(count)]})


def spoilt(faces: list[tuple[int, ...]], rng: random.Random) -> list[tuple[int, ...]]:
    """The faces of a mesh with one lost, turned or doubled, or as they are."""
    at = rng.randrange(len(faces))
    match rng.randrange(4):
        case 0:
            return faces[:at] + faces[at + 1 :]
        case 1:
            return [face[::-1] if i == at else face for i, face in enumerate(faces)]
        case 2:
            return [*faces, faces[at]]
    return faces


def test_random_meshes_are_closed_wound_and_as_large_as_another_library_says():
    rng = random.Random(26)
    seen = set()
    for solid in scene(rng, MANY).solids:
        mesh = solid_mesh(solid)
        mesh = PolygonMesh(mesh.points, tuple(spoilt(list(mesh.faces), rng)))
        cut, faults = triangulate(mesh), edge_faults(mesh.faces)
        other = theirs(mesh.points, cut.corners)
        closed = not faults.open and not faults.crowded
        assert closed == other.is_watertight, solid
        if closed:
            assert (not faults.doubled) == other.is_winding_consistent, solid
        if not any(faults):
            (ours,) = signed_volumes(mesh.points, cut, shells(mesh.faces))
            assert ours == pytest.approx(other.volume, rel=1e-9), solid
        seen.add((closed, bool(faults.doubled)))
    assert len(seen) >= 3, "closed ones, open ones and ones with a turned face"


def test_random_unions_are_closed_and_as_large_as_another_library_says():
    rng = random.Random(27)
    for _ in range(40):
        body = union_body(scene(rng, 4))
        mesh = body.to_mesh64()
        other = theirs(np.asarray(mesh.vert_properties)[:, :3], np.asarray(mesh.tri_verts))
        other.merge_vertices(digits_vertex=9)
        assert volume(body) == pytest.approx(other.volume, rel=1e-9)
        assert other.is_watertight


@pytest.mark.parametrize("task_id", VOLUMES)
def test_references_are_written_as_solids(task_id):
    builder = get_task(task_id).builder()
    params = builder.paper()[0].params
    meshes = solids_of(get_task(task_id))(params, builder.reference(params))
    ours = sum(theirs(mesh.points, mesh.faces).volume for mesh in meshes)
    assert ours > 0, "faces look outwards"
    for form in FORMS:
        found = trimesh.load(io.BytesIO(solid_file(meshes, form)), file_type=form, force="mesh")
        assert found.volume == pytest.approx(ours, rel=1e-4)
        assert len(found.faces) == sum(len(mesh.faces) for mesh in meshes)
        axis = 1 if form == "glb" else 2  # glTF has y upwards
        high = max(float(mesh.points[:, 2].max()) for mesh in meshes)
        assert found.bounds[1][axis] == pytest.approx(high, rel=1e-4)
    if VOLUMES[task_id]:
        bodies = sum(len(mesh.points) for mesh in meshes) / 4
        assert ours == pytest.approx(bodies * VOLUMES[task_id])
    if task_id == "csg_union":
        assert ours == pytest.approx(volume(union_body(params)))
