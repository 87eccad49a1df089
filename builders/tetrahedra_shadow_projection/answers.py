"""Answers made without a search: misread correct answers, and grids of squares."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import shapely
from pydantic import JsonValue
from shapely import Polygon

from scbench.graders.tetrahedra_shadow_projection import BASE, Floats, corners, grade
from scbench.schemas.tetrahedra_shadow_projection import Answer, Params

NAMES = ("x", "y", "z", "q0", "q1", "q2", "q3")
Pose = dict[str, float]
_MAX_POSES = 2000
# Side of the square shadow of a tetrahedron with two level edges.
_SIDE = math.sqrt(0.5)
# Its quaternion: about x until two edges are level, then an eighth of a turn about z.
_A = math.atan(math.sqrt(2)) / 2
_B = math.pi / 8
_TURN = (
    math.cos(_B) * math.cos(_A),
    math.cos(_B) * math.sin(_A),
    math.sin(_B) * math.sin(_A),
    math.sin(_B) * math.cos(_A),
)
# Lowest x, y and z of the turned tetrahedron before it is moved.
_LOW = corners(np.array([[0.0, 0.0, 0.0, *_TURN]]))[0].min(axis=0).tolist()


def as_poses(rows: Iterable[Sequence[float]]) -> list[Pose]:
    """Return rows of seven numbers as poses of an answer."""
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def with_longer_quaternion(pose: Pose, factor: float) -> Pose:
    """Return a pose whose quaternion is multiplied by a factor."""
    return pose | {name: pose[name] * factor for name in NAMES[3:]}


def moved_poses(poses: Iterable[Pose], x: float, z: float = 0) -> list[Pose]:
    """Return poses moved in x and z."""
    # Adding 0.0 turns -0.0 into 0.0.
    return [
        pose | {"x": pose["x"] + x, "y": pose["y"] + 0.0, "z": pose["z"] + z}
        for pose in poses
    ]


def misread_poses(
    params: Params, right: Sequence[Pose]
) -> Iterator[tuple[str, list[Pose]]]:
    """Yield correct poses with the seven numbers misread, if the result scores less."""
    table = np.array([list(pose.values()) for pose in right])
    moves = table[:, :3]
    quaternions = table[:, 3:]
    inverse = quaternions * (1, -1, -1, -1)
    bodies = corners(table)
    middle = np.array(BASE).mean(axis=0)
    level = moves.copy()
    level[:, 2] -= bodies[:, :, 2].min(axis=1)
    quadrant = moves - (*Polygon(params.exterior).bounds[:2], 0)
    readings = {
        "all_at_one_height": (level, quaternions),
        "moved_to_the_first_quadrant": (quadrant, quaternions),
        "inverse_rotations": (moves, inverse),
        "scalar_last": (moves, quaternions[:, [1, 2, 3, 0]]),
        "turned_about_the_middle": (bodies.mean(axis=1) - middle, quaternions),
        "moved_before_turned": (_rotated_vectors(inverse, moves), quaternions),
    }
    for name, columns in readings.items():
        poses = as_poses(np.round(np.hstack(columns), 9).tolist())
        answer = Answer.model_validate({"tetrahedrons": poses})
        if grade(params, answer).score < 1:
            yield name, poses


def _rotated_vectors(quaternions: Floats, vectors: Floats) -> Floats:
    """Return n x 3 vectors, each turned by its quaternion."""
    twice = 2 * np.cross(quaternions[:, 1:], vectors)
    return vectors + quaternions[:, :1] * twice + np.cross(quaternions[:, 1:], twice)


def shadow_grid(params: Params, parts: int, least: float) -> JsonValue:
    """Return tetrahedra whose square shadows form a grid over the target.

    Args:
        params: the target.
        parts: number of grid lines per side of a shadow; bodies with overlapping shadows are on
            different floors.
        least: minimum share of a square inside the target; squares with less get no tetrahedron.
    """
    target = Polygon(params.exterior, params.holes)
    low_x, low_y, high_x, high_y = target.bounds
    step = _SIDE / parts
    # Rounded, so that no square depends on the last digit of a machine.
    columns = math.ceil(round((high_x - low_x) / step, 9))
    rows = math.ceil(round((high_y - low_y) / step, 9))
    i, j = (v.ravel() for v in np.indices((columns, rows)))
    x = low_x + i * step
    y = low_y + j * step
    squares = shapely.box(x, y, x + _SIDE, y + _SIDE)
    shares = shapely.area(shapely.intersection(target, squares)) / _SIDE**2
    floor = (i % parts) * parts + j % parts
    places = np.stack([x - _LOW[0], y - _LOW[1], floor], axis=1)
    inside = places[shares.round(9) >= least].tolist()
    poses = as_poses((*place, *_TURN) for place in inside[:_MAX_POSES])
    tetrahedrons: list[Any] = [*poses]
    return {"tetrahedrons": tetrahedrons}
