"""Scene data for the viewer: complete, compact, and limited."""

import json

import numpy as np

from scbench.report.draw.scene import Lines, Marks, Scene, boxes
from scbench.report.draw.viewer_data import scene_json


def points(part):
    return np.array(part["xyz"]).T


def paths(part):
    found, path = [], []
    for n in part["paths"]:
        if n < 0:
            found.append(points(part)[path])
            path = []
        else:
            path.append(n)
    assert not path, "each path ends"
    return found


def test_geometry_survives_a_round_trip():
    box = boxes(
        [((0, 0, 0), (1, 2, 3)), ((4, 4, 4), (5, 5.125, 6))],
        "answer",
        name="boxes",
        opacity=0.5,
    )
    line = Lines(
        (
            np.array([[0, 0, 0], [1, 1, 1.5]]),
            np.array([[2, 2, 2], [3, 3, 3], [2, 2, 2]]),
        ),
        "wrong",
        3,
        dashed=True,
    )
    marks = Marks(np.array([[1.0, 2, 3]]), "right", 5, ("here",))
    data = json.loads(
        json.dumps(scene_json(Scene((box, line, marks), grid=((0, 0, 0), (6, 6, 6)))))
    )
    mesh, lines, dots = data["parts"]
    faces = np.array(mesh["faces"]).reshape(-1, 3)
    assert np.allclose(points(mesh)[faces], box.points[box.faces], atol=1e-3)
    assert len(points(mesh)) == 16, "corners of boxes are listed once"
    assert all(
        np.allclose(a, b, atol=1e-3)
        for a, b in zip(paths(mesh), box.outline, strict=True)
    )
    assert all(
        np.allclose(a, b, atol=1e-3)
        for a, b in zip(paths(lines), line.paths, strict=True)
    )
    assert (mesh["opacity"], mesh["name"], lines["width"], lines["dashed"]) == (
        0.5,
        "boxes",
        3,
        True,
    )
    assert (dots["labels"], dots["size"]) == (["here"], 5)
    assert data["grid"] == [[0, 6]] * 3
    assert data["left_out"] == 0


def test_excess_geometry_is_left_out_and_counted():
    many = boxes([((i, 0, 0), (i + 1, 1, 1)) for i in range(5000)], "answer")
    data = scene_json(Scene((many,)))
    (part,) = data["parts"]
    assert len(part["faces"]) == 3 * 40_000
    assert data["left_out"] == 60_000 - 40_000
    assert len(part["paths"]) < 100_000
