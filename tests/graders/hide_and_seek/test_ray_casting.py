"""The ray caster, against exact fractions and against silhouettes."""

import math
from fractions import Fraction

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.graders.hide_and_seek import NOTHING, camera, fitted, picture

EYE, TARGET, ANGLE = (100, 100, 20), (0, 0, 2), 22.5
SMALL = camera(EYE, TARGET, ANGLE, (32, 24))
LARGE = camera(EYE, TARGET, ANGLE, (800, 600))


def boxes(*boxes):
    low, high = np.array(boxes, dtype=float).reshape(-1, 2, 3).transpose(1, 0, 2)
    return low, high


def exact_picture(seen, low, high):
    """Every pixel against every box, in fractions of the camera's own numbers."""
    columns, rows = seen.image
    vectors = [[Fraction(v) for v in d] for d in (seen.forward, seen.right, seen.up)]
    eye, tangent = [Fraction(v) for v in seen.eye], Fraction(seen.tangent)
    owner = np.full((rows, columns), NOTHING)
    for row in range(rows):
        for column in range(columns):
            a = (Fraction(2 * column + 1, columns) - 1) * tangent * columns / rows
            b = (1 - Fraction(2 * row + 1, rows)) * tangent
            ray = [f + r * a + u * b for f, r, u in zip(*vectors, strict=True)]
            nearest = None
            for i in range(len(low)):
                enter, leave = Fraction(0), None
                for axis in range(3):
                    ends = sorted(
                        (Fraction(float(side[i][axis])) - eye[axis]) / ray[axis]
                        for side in (low, high)
                    )
                    enter = max(enter, ends[0])
                    leave = ends[1] if leave is None else min(leave, ends[1])
                if enter <= leave and (nearest is None or enter < nearest):
                    nearest = enter
                    owner[row, column] = i
    return owner


coordinate = st.floats(-30, 30)


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.tuples(coordinate, coordinate, st.floats(0.1, 15), st.floats(0.1, 15)), max_size=4)
)
def test_every_pixel_is_decided_as_in_exact_arithmetic(places):
    low, high = boxes(*[((x, y, 0), (x + w, y + w, h)) for x, y, w, h in places])
    assert (picture(SMALL, low, high) == exact_picture(SMALL, low, high)).all()


def silhouette(seen, low, high):
    """The outline of a box in the picture, in pixels: the convex hull of its corners."""
    points = np.array([[(low, high)[i >> axis & 1][axis] for axis in range(3)] for i in range(8)])
    x, y, z = ((points - seen.eye) @ np.array(d) for d in (seen.right, seen.up, seen.forward))
    columns, rows = seen.image
    u = (x / z / seen.tangent * rows / columns + 1) * columns / 2
    v = (1 - y / z / seen.tangent) * rows / 2
    return shapely.convex_hull(shapely.multipoints(np.stack([u, v], axis=1)))


@pytest.mark.parametrize("seed", range(8))
def test_a_crowd_shows_where_silhouettes_are_not_behind_the_buildings(seed):
    # The eye is beyond both near walls, so who stands past one of them is in front of the building
    # and the others are behind it.
    rng = np.random.default_rng(seed)
    cells = rng.permutation(40 * 40)[:60]
    half = 4
    people = [
        (x * 1.0 - 20.25, y * 1.0 - 20.25) for x, y in zip(*np.divmod(cells, 40), strict=True)
    ]
    people = [(x, y) for x, y in people if not (abs(x) < half + 0.3 and abs(y) < half + 0.3)]
    scene = [((-half, -half, 0), (half, half, 10))]
    scene += [((x - 0.25, y - 0.25, 0), (x + 0.25, y + 0.25, 2)) for x, y in people]
    low, high = boxes(*scene)
    building, *outlines = (silhouette(LARGE, *box) for box in zip(low, high, strict=True))
    front = [x - 0.25 >= half or y - 0.25 >= half for x, y in people]
    before = shapely.union_all([o for o, f in zip(outlines, front, strict=True) if f])
    behind = shapely.union_all([o for o, f in zip(outlines, front, strict=True) if not f])
    visible = shapely.union(before, shapely.difference(behind, building))
    v, u = np.mgrid[0:600, 0:800] + 0.5
    expected = shapely.contains_xy(visible, u, v)
    assert expected.sum() > 1000
    assert ((picture(LARGE, low, high) > 0) == expected).all()


def test_the_nearest_box_hides_the_others_whatever_their_order():
    near, far = ((5, 5, 0), (6, 6, 5)), ((-6, -6, 0), (-5, -5, 5))
    big = ((0, 0, 0), (3, 3, 10))
    shown = picture(LARGE, *boxes(near, big, far))
    again = picture(LARGE, *boxes(far, big, near))
    assert {NOTHING, 0, 1} == set(np.unique(shown))
    assert (np.where(shown == 0, 2, shown) == np.where(again == 2, 2, again)).all()


def test_the_picture_is_upright_and_not_mirrored():
    # To the right of the view along (-1, -1) lies (-1, 1).
    seen = picture(LARGE, *boxes(((-11, 9, 0), (-9, 11, 2)), ((-1, -1, 0), (1, 1, 12))))
    rows, columns = np.nonzero(seen == 0)
    assert columns.min() > 450
    assert abs(rows.mean() - 300) < 60
    rows, columns = np.nonzero(seen == 1)
    assert abs(columns.mean() - 399.5) < 0.6
    assert rows.mean() < 280


def test_a_ray_along_a_wall_is_no_division_by_zero():
    ahead = camera((0, -10, 1), (0, 0, 1), 20, (3, 3))
    seen = picture(ahead, *boxes(((0, 0, 1), (2, 1, 3)), ((-9, 5, -9), (9, 6, 9))))
    assert seen.tolist() == [[1, 0, 0], [1, 0, 0], [1, 1, 1]]


def test_the_fitted_camera_holds_the_whole_box():
    low, high = np.array((-8.0, -9.0, 0.0)), np.array((4.0, 4.0, 10.0))
    moved = fitted(LARGE, low, high)
    assert moved.forward == LARGE.forward
    middle = (low + high) / 2
    distance = np.linalg.norm(middle - moved.eye)
    radius = np.linalg.norm(high - low) / 2
    assert distance == pytest.approx(radius / math.sin(math.radians(11.25)))
    assert np.array(moved.eye) + distance * np.array(moved.forward) == pytest.approx(middle)
