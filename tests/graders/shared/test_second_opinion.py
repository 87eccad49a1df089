"""Volumes and exported files of solids, checked with trimesh."""

import io

import pytest
from later import Later

from scbench.catalog import get_task
from scbench.graders.csg_union.solids import union_body
from scbench.graders.shared.mesh_bodies import volume
from scbench.report.draw.solid_files import FORMS, solid_file
from scbench.report.picture import solids_of

trimesh = Later("trimesh")

VOLUMES = {
    "csg_union": None,
    "lego_hemispherical_shell": None,
    "tetrahedra_shadow_projection": 2**0.5 / 12,
    "pack_rectangular_prisms": None,
}
"""Tasks with solids, and the volume of each body if all are equal."""


def trimesh_of(points, corners) -> "trimesh.Trimesh":
    return trimesh.Trimesh(points, corners, process=False)


@pytest.mark.parametrize("task_id", VOLUMES)
def test_exported_solids_match_trimesh(task_id):
    builder = get_task(task_id).builder()
    params = builder.paper()[0].params
    meshes = solids_of(get_task(task_id))(params, builder.reference(params))
    volume_of_meshes = sum(
        trimesh_of(mesh.points, mesh.faces).volume for mesh in meshes
    )
    assert volume_of_meshes > 0, "faces look outwards"
    for form in FORMS:
        result = trimesh.load(
            io.BytesIO(solid_file(meshes, form)), file_type=form, force="mesh"
        )
        assert result.volume == pytest.approx(volume_of_meshes, rel=1e-4)
        assert len(result.faces) == sum(len(mesh.faces) for mesh in meshes)
        axis = 1 if form == "glb" else 2  # glTF has y upwards
        high = max(float(mesh.points[:, 2].max()) for mesh in meshes)
        assert result.bounds[1][axis] == pytest.approx(high, rel=1e-4)
    if VOLUMES[task_id]:
        bodies = sum(len(mesh.points) for mesh in meshes) / 4
        assert volume_of_meshes == pytest.approx(bodies * VOLUMES[task_id])
    if task_id == "csg_union":
        assert volume_of_meshes == pytest.approx(volume(union_body(params)))
