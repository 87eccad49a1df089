"""The ray caster, checked with exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.graders.hide_and_seek.ray_casting import NOTHING, camera, picture

EYE, TARGET, ANGLE = (100, 100, 20), (0, 0, 2), 22.5
SMALL = camera(EYE, TARGET, ANGLE, (32, 24))
coordinate = st.floats(-30, 30)


def boxes(*boxes):
    low, high = np.array(boxes, dtype=float).reshape(-1, 2, 3).transpose(1, 0, 2)
    return low, high


def exact_picture(view, low, high):
    """Intersect every pixel with every box, in fractions of the camera's numbers."""
    columns, rows = view.image
    forward, right, up = (
        [Fraction(v) for v in vector] for vector in (view.forward, view.right, view.up)
    )
    eye, tangent = [Fraction(v) for v in view.eye], Fraction(view.tangent)
    owner = np.full((rows, columns), NOTHING)
    for row in range(rows):
        for column in range(columns):
            a = (Fraction(2 * column + 1, columns) - 1) * tangent * columns / rows
            b = (1 - Fraction(2 * row + 1, rows)) * tangent
            ray = [
                f + r * a + u * b for f, r, u in zip(forward, right, up, strict=True)
            ]
            nearest = None
            for i in range(len(low)):
                # The ray is in the box where it is between both sides on every axis.
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


@settings(max_examples=8)
@given(
    st.lists(
        st.tuples(coordinate, coordinate, st.floats(0.1, 15), st.floats(0.1, 15)),
        max_size=4,
    )
)
def test_pixels_match_exact_arithmetic(places):
    corners = []
    for x, y, width, height in places:
        corners.append(((x, y, 0), (x + width, y + width, height)))
    low, high = boxes(*corners)
    assert (picture(SMALL, low, high) == exact_picture(SMALL, low, high)).all()


def test_ray_along_wall_does_not_divide_by_zero():
    ahead = camera((0, -10, 1), (0, 0, 1), 20, (3, 3))
    view = picture(ahead, *boxes(((0, 0, 1), (2, 1, 3)), ((-9, 5, -9), (9, 6, 9))))
    assert view.tolist() == [[1, 0, 0], [1, 0, 0], [1, 1, 1]]
