"""Covers with honest mistakes, and their scores by the rules of the prompt."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from scbench.builders.tetrahedra_shadow_projection.answers import Pose, moved_poses
from scbench.schemas.tetrahedra_shadow_projection import Params

_CORNERS = np.array(
    [
        (0.0, 0.0, 0.0),
        (1.0, 0.0, 0.0),
        (0.5, math.sqrt(3) / 2, 0.0),
        (0.5, math.sqrt(3) / 6, math.sqrt(2 / 3)),
    ]
)
# Distance by which answers are moved, and decimals to which they are rounded.
_SHIFT = 0.1
_DECIMALS = 5
# The numbers in the prompt's rules for the score.
_NEAR = 0.05
_STRAY = 0.1
_DIFFERENCE_WEIGHT = 0.5
_FULL = 0.98


def faulty_covers(
    params: Params, right: Sequence[Pose]
) -> dict[str, tuple[list[Pose], float]]:
    """Return poses with honest mistakes, by name, each with its score."""
    target = Polygon(params.exterior, params.holes)
    left_end, _, right_end, _ = target.bounds
    top = 2 + max(pose["z"] for pose in right)
    first = right[0]
    at_the_rim = first | {"x": right_end, "y": right[-1]["y"], "z": top}
    on_the_middle = first | {"x": (left_end + right_end) / 2, "z": top}
    covers: dict[str, list[Pose]] = {
        "all_a_little_aside": moved_poses(right, _SHIFT),
        "rounded": [
            {name: round(value, _DECIMALS) for name, value in pose.items()}
            for pose in right
        ],
        "first_copy_left_out": [*right[1:]],
        "a_fifth_left_out": [pose for i, pose in enumerate(right) if i % 5],
        "one_copy_too_many": [*right, on_the_middle],
        "one_copy_too_many_at_the_rim": [*right, at_the_rim],
    }
    return {
        name: (poses, score_of_cover(params, target, poses))
        for name, poses in covers.items()
    }


def score_of_cover(params: Params, target: Polygon, poses: Sequence[Pose]) -> float:
    """Return the score by the prompt's formula for copies that do not touch."""
    shadows = [shadow(pose) for pose in poses]
    union = shapely.union_all(shadows)
    covered = shapely.intersection(union, target)
    far = shapely.difference(
        shapely.symmetric_difference(union, target), grown(covered)
    )
    of_no_strays = [
        shape
        for shape in shadows
        if shapely.intersection(shape, target).area >= _STRAY * shape.area
    ]
    spill = shapely.difference(far, target)
    spill_of_strays = shapely.difference(spill, shapely.union_all(of_no_strays)).area
    difference = far.area - spill_of_strays
    result = (covered.area - _DIFFERENCE_WEIGHT * difference) / target.area
    result = min(1.0, result / params.divisor)
    if result >= _FULL:
        result = 1.0
    lost = _DIFFERENCE_WEIGHT * spill_of_strays / target.area / params.divisor
    return max(0.0, result - lost)


def shadow(pose: Pose) -> BaseGeometry:
    """Return the shadow of a copy, straight down the z axis."""
    quaternion = np.array([pose["q0"], pose["q1"], pose["q2"], pose["q3"]])
    scalar, *axis = quaternion / np.linalg.norm(quaternion)
    vector = np.array(axis)
    twice = 2 * np.cross(vector, _CORNERS)
    turned = _CORNERS + scalar * twice + np.cross(vector, twice)
    points = turned[:, :2] + (pose["x"], pose["y"])
    hull: BaseGeometry = shapely.convex_hull(shapely.multipoints(points))
    return hull


def grown(shape: BaseGeometry) -> BaseGeometry:
    """Return all points that differ from a point of a shape by at most `_NEAR` in x and in y."""
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * _NEAR
    parts = [shape]
    for line in shapely.get_parts(shapely.boundary(shape)):
        points = shapely.get_coordinates(line)
        for start, end in pairwise(points):
            corners = np.concatenate([start + square, end + square])
            parts.append(shapely.MultiPoint(corners).convex_hull)
    return shapely.union_all(parts)
