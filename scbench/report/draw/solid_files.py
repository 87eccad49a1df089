"""Solids as files that other programs read: glTF with colours and names, or STL."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from scbench.report.draw.colours import ROLES
from scbench.report.draw.scene import Mesh

FORMS = ("glb", "stl")
_UPRIGHT = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
"""z points up here, and y in glTF."""


def solid_file(meshes: Sequence[Mesh], form: str) -> bytes:
    """Return meshes as the bytes of a file.

    Args:
        meshes: in the task's units, z upwards; at least one.
        form: ``glb`` keeps them apart, with colours and names; ``stl`` holds their triangles.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    trimesh: Any = import_module("trimesh")  # an extra, and large; half of it has no types
    bodies = [
        trimesh.Trimesh(mesh.points, mesh.faces, process=False, validate=False) for mesh in meshes
    ]
    if form == "stl":
        return bytes(trimesh.util.concatenate(bodies).export(file_type="stl"))
    scene = trimesh.Scene()
    for mesh, body in zip(meshes, bodies, strict=True):
        code = ROLES[mesh.role][0]
        rgba = [int(code[i : i + 2], 16) for i in (1, 3, 5)] + [round(255 * mesh.opacity)]
        # Of corners, not faces: those would need scipy.
        colours = np.tile(np.array(rgba, dtype=np.uint8), (len(mesh.points), 1))
        body.visual = trimesh.visual.ColorVisuals(body, vertex_colors=colours)
        scene.add_geometry(body, geom_name=mesh.name or None)
    scene.apply_transform(_UPRIGHT)
    return bytes(scene.export(file_type="glb"))
