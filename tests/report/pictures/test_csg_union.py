"""Meshes of unions: broken edges and faces, missing and surplus volume are drawn in place."""

import json

import numpy as np
import pytest
from drawn_parts import bounds, of

from scbench.report.draw.scene import Lines, Marks, Mesh
from scbench.schemas.csg_union import Params

TASK = "csg_union"


def two_cubes():
    """Cubes of side 10 side by side; their union is a box of 20 x 10 x 10."""
    solids = [
        {"kind": "box", "size": [10, 10, 10], "translation": [x, 5, 5]} for x in (5, 15)
    ]
    return Params.model_validate_json(json.dumps({"solids": solids}))


def box(low, high, *, without=(), turned=()):
    corners = [
        [(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]]
        for i in (0, 1)
        for j in (0, 1)
        for k in (0, 1)
    ]
    faces = [
        (0, 1, 3, 2),
        (4, 6, 7, 5),
        (0, 4, 5, 1),
        (2, 3, 7, 6),
        (0, 2, 6, 4),
        (1, 5, 7, 3),
    ]
    faces = [
        f[::-1] if i in turned else f for i, f in enumerate(faces) if i not in without
    ]
    return mesh(corners, faces)


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
    assert [line.split() for line in picture.text.splitlines()][3] == [
        "missing",
        "500.000",
        "25.0%",
    ]


def test_open_edges_are_thick_lines(drawn):
    picture = drawn(TASK, box((0, 0, 0), (20, 10, 10), without=[1]), params=two_cubes())
    (panel,) = picture.panels
    (lines,) = of(panel.view, Lines, "wrong")
    assert lines.width >= 4
    assert len(lines.paths) == 4
    assert {x for path in lines.paths for x in path[:, 0]} == {20}
    assert "4 edges are open" in picture.caption


@pytest.mark.parametrize("far", [1e300, 500.0])
def test_distant_vertices_leave_the_rest_in_view(drawn, far):
    answer = box((0, 0, 0), (20, 10, 10))
    answer["polyhedron"]["vertex"][0]["xyz"] = [-far, far, far]
    picture = drawn(TASK, answer, params=two_cubes())
    for part in picture.panels[0].view.parts:
        if isinstance(part, Mesh):
            assert np.abs(part.points).max() < 60
    assert "1 vertex far outside drawn at the rim" in picture.caption
