"""Solids as files for other programs: ``glb`` and ``stl``."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from scbench.report.draw.colours import ROLES, rgb_of
from scbench.report.draw.scene import Mesh

FORMS = ("glb", "stl")
# z points up here, and y in glTF.
_UPRIGHT = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])


def solid_file(meshes: Sequence[Mesh], form: str) -> bytes:
    """Return one or more meshes as a file: ``glb`` with colours and names, ``stl`` without.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    # An extra, and large; half of it has no types.
    trimesh: Any = import_module("trimesh")
    bodies = [
        trimesh.Trimesh(mesh.points, mesh.faces, process=False, validate=False)
        for mesh in meshes
    ]
    if form == "stl":
        return bytes(trimesh.util.concatenate(bodies).export(file_type="stl"))
    scene = trimesh.Scene()
    for mesh, body in zip(meshes, bodies, strict=True):
        code = ROLES[mesh.role][0]
        opacity = round(255 * mesh.opacity)
        colour = np.array([*rgb_of(code), opacity], dtype=np.uint8)
        # Colours of corners, not of faces: those would need scipy.
        colours = np.tile(colour, (len(mesh.points), 1))
        body.visual = trimesh.visual.ColorVisuals(body, vertex_colors=colours)
        scene.add_geometry(body, geom_name=mesh.name or None)
    scene.apply_transform(_UPRIGHT)
    return bytes(scene.export(file_type="glb"))
