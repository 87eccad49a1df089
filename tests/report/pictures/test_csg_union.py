"""Meshes of unions: broken edges and faces, missing and surplus volume are drawn in place."""

import json
from itertools import product

import numpy as np
import pytest
from drawn_parts import bounds, of

from scbench.report.draw.scene import Lines, Marks, Mesh
from scbench.schemas.csg_union import Params

TASK = "csg_union"

# The faces of a box, whose corners come in the order of `product`: x, y and z, each low, then high.
FACES = [
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
]


def two_cubes():
    """Cubes of side 10 side by side; their union is a box of 20 x 10 x 10."""
    first = {"kind": "box", "size": [10, 10, 10], "translation": [5, 5, 5]}
    second = {"kind": "box", "size": [10, 10, 10], "translation": [15, 5, 5]}
    return Params.model_validate_json(json.dumps({"solids": [first, second]}))


def box(low, high, *, without=()):
    """A box as an answer, without some of the faces of `FACES`."""
    corners = list(product(*zip(low, high, strict=True)))
    return mesh(corners, [FACES[i] for i in range(6) if i not in without])


def mesh(corners, faces):
    return {
        "polyhedron": {
            "vertex": [{"xyz": [float(x) for x in corner]} for corner in corners],
            "faces": [{"vertex": list(face)} for face in faces],
        }
    }


def test_missing_and_surplus_volume_are_drawn_in_place(drawn):
    picture = drawn(TASK, box((5, 0, 0), (22, 10, 10)), params=two_cubes())
    _, volumes = picture.panels
    low, high = bounds(*of(volumes.view, Mesh, "missing"))
    assert (low, high) == (pytest.approx([0, 0, 0]), pytest.approx([5, 10, 10]))
    low, high = bounds(*of(volumes.view, Mesh, "surplus"))
    assert (low, high) == (pytest.approx([20, 0, 0]), pytest.approx([22, 10, 10]))
    labels = [part.labels for part in volumes.view.parts if isinstance(part, Marks)]
    assert sorted(labels) == [("missing 500",), ("surplus 200",)]
    assert "25.0% of the union's volume is missing, 10.0% surplus" in picture.caption
    _, _, _, line, *_ = picture.text.splitlines()
    assert line.split() == ["missing", "500.000", "25.0%"]


def test_open_edges_are_thick_lines(drawn):
    picture = drawn(TASK, box((0, 0, 0), (20, 10, 10), without=[1]), params=two_cubes())
    (panel,) = picture.panels
    (lines,) = of(panel.view, Lines, "wrong")
    assert lines.width >= 4
    assert len(lines.paths) == 4
    assert set(np.concatenate(lines.paths)[:, 0]) == {20}
    assert "4 edges are open" in picture.caption


@pytest.mark.parametrize("far", [1e300, 500.0])
def test_distant_vertices_leave_the_rest_in_view(drawn, far):
    answer = box((0, 0, 0), (20, 10, 10))
    answer["polyhedron"]["vertex"][0]["xyz"] = [-far, far, far]
    picture = drawn(TASK, answer, params=two_cubes())
    for part in picture.panels[0].view.parts:
        if isinstance(part, Mesh):
            assert np.abs(part.points).max() < 60
    assert "1 vertex far outside the picture, drawn at its edge" in picture.caption
