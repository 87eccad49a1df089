"""Still pictures of scenes: visibility, places of labels, and small, stable files."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from scbench.report.draw.camera import camera_of
from scbench.report.draw.colours import ROLES
from scbench.report.draw.painter import Triangles, paint
from scbench.report.draw.raster import scene_pixels, scene_svg
from scbench.report.draw.scene import Lines, Marks, Mesh, Scene, boxes


def pixels(scene, *, dark=False):
    """A scene on paper, without its labels."""
    image = scene_pixels(scene, camera_of(scene, 200, 160), 1, dark)
    assert image.shape == (160, 200, 4)
    opacity = image[..., 3:] / 255
    visible = image[..., :3] * opacity
    paper = colour("paper", dark) * (1 - opacity)
    return np.round(visible + paper).astype(int)


def colour(role, mode=0):
    code = ROLES[role][bool(mode)].removeprefix("#")
    return np.array([*bytes.fromhex(code)])


def is_shade(pixel, role):
    """Whether a pixel has a role's hue under any light."""
    expected = colour(role)
    lengths = np.linalg.norm(pixel) * np.linalg.norm(expected)
    return np.dot(pixel, expected) / lengths > 0.985


def at(scene, point):
    """The place of a scene's point in a picture."""
    x, y, _ = camera_of(scene, 200, 160).project(np.array([point], dtype=float))[0]
    return round(y), round(x)


def test_near_box_hides_a_far_one():
    near, far = ((0, -3, 0), (1, -2, 1)), ((0, 2, 0), (1, 3, 1))
    for front, back in ((near, far), (far, near)):
        azimuth = -90 if front is near else 90
        parts = (boxes([front], "answer"), boxes([back], "wrong"))
        for order in (parts, parts[::-1]):
            scene = Scene(order, azimuth=azimuth, elevation=0)
            middle = pixels(scene)[80, 100]
            assert is_shade(middle, "answer")


def test_up_is_up_and_right_is_right():
    scene = Scene(
        (
            boxes([((0, 0, 5), (1, 1, 6))], "wrong"),
            boxes([((5, 0, 0), (6, 1, 1))], "right"),
            boxes([((0, 0, 0), (1, 1, 1))], "answer"),
        ),
        azimuth=-90,
        elevation=10,
    )
    image = pixels(scene)
    for point, role in (
        ((0.5, 0, 5.5), "wrong"),
        ((5.5, 0, 0.5), "right"),
        ((0.5, 0, 0.5), "answer"),
    ):
        assert is_shade(image[at(scene, point)], role)
    row, column = at(scene, (0, 0, 0))
    row_above, _ = at(scene, (0, 0, 5))
    _, column_to_the_right = at(scene, (5, 0, 0))
    assert row_above < row
    assert column_to_the_right > column


def test_each_pixel_of_glass_is_covered_once():
    square = np.array([[2.0, 2, 0], [28, 2, 0], [28, 28, 0], [2, 28, 0]])
    corners = square[np.array([(0, 1, 2), (0, 2, 3)])]
    white, half, zero = np.ones((2, 3)), np.full(2, 0.5), np.zeros(2)
    image = paint(Triangles(corners, white, half, zero), 30, 30)
    # A pixel on the common edge covered twice would have an opacity of 0.75.
    assert set(np.unique(image[..., 3])) == {0.0, 0.5}


@pytest.mark.parametrize("bad", [1e300, -1e300, np.nan, np.inf])
def test_absurd_coordinates_do_no_harm(bad):
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, bad, 1]])
    scene = Scene(
        (
            Mesh(points, np.array([[0, 1, 2]]), "answer"),
            Lines((points,), "wrong", dashed=True),
            Marks(points, "wrong", labels=("a", "b", "c")),
        )
    )
    ET.fromstring(scene_svg(scene, "x"))  # noqa: S314  (our own text)


def test_whole_scene_is_in_the_frame():
    corners = np.random.default_rng(7).uniform(-50, 80, (40, 3))
    for azimuth in range(0, 360, 40):
        scene = Scene((Marks(corners, "wrong"),), azimuth=azimuth, elevation=33)
        x, y, _ = camera_of(scene, 300, 200).project(corners).T
        assert x.min() >= 0
        assert x.max() <= 300
        assert y.min() >= 0
        assert y.max() <= 200
