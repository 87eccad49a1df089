"""Structures with honest mistakes, and their scores by the rules of the prompt."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scbench.builders.lego_hemispherical_shell.bricklaying import Brick
from scbench.graders.lego_hemispherical_shell.bricks import HALF, HEIGHT, VOLUME
from scbench.graders.lego_hemispherical_shell.target import Floats
from scbench.schemas.lego_hemispherical_shell import Params

# Sample points along the length, width and height of a brick.
_SAMPLES = (16, 8, 6)
_TURN = 5.0


def faulty_structures(
    params: Params, built: Sequence[Brick]
) -> dict[str, tuple[list[Brick], float]]:
    """Return bricks about the z axis with honest mistakes, by name, each with its score."""
    low = [brick._replace(z=brick.z - 0.1) for brick in built]
    rounded = [brick._replace(z=float(round(brick.z))) for brick in built]
    top = max(brick.level for brick in built)
    structures = {
        "all_a_little_low": low,
        "z_in_whole_millimetres": rounded,
        "all_moved_by_a_millimetre": [brick._replace(x=brick.x + 1) for brick in built],
        "all_turned_about_the_axis": [turn_brick(brick) for brick in built],
        "without_the_top_layer": [brick for brick in built if brick.level < top],
    }
    return {
        name: (bricks, score_by_volume(params, bricks))
        for name, bricks in structures.items()
    }


def turn_brick(brick: Brick) -> Brick:
    """Return a brick turned about the z axis, together with its place."""
    cos = math.cos(math.radians(_TURN))
    sin = math.sin(math.radians(_TURN))
    x = cos * brick.x - sin * brick.y
    y = sin * brick.x + cos * brick.y
    return Brick(x, y, brick.z, brick.turn + _TURN)


def score_by_volume(params: Params, bricks: Sequence[Brick]) -> float:
    """Return the score of the printed formula, with volumes from sample points."""
    target = target_volume(params)
    inside = sum(share_in_target(params, brick) for brick in bricks) * VOLUME
    difference = len(bricks) * VOLUME + target - 2 * inside
    agreement = inside / target - 0.5 * difference / target
    return min(1.0, max(0.0, agreement / params.full_marks))


def share_in_target(params: Params, brick: Brick) -> float:
    """Return the share of a brick's sample points that lie in the target."""
    sides = (2 * HALF[0], 2 * HALF[1], HEIGHT)
    steps = [
        side * ((np.arange(count) + 0.5) / count - 0.5)
        for side, count in zip(sides, _SAMPLES, strict=True)
    ]
    along, across, up = np.meshgrid(*steps)
    cos = math.cos(math.radians(brick.turn))
    sin = math.sin(math.radians(brick.turn))
    x = brick.x + cos * along - sin * across
    y = brick.y + sin * along + cos * across
    # Bricks are treated as lying exactly in their layers.
    z = HEIGHT * (brick.level + 0.5) + up
    return float(is_in_target(params, np.hypot(x, y), z).mean())


def is_in_target(params: Params, radius: Floats, z: Floats) -> NDArray[np.bool_]:
    """Return which points are in the target, from their distances to the axis and the table."""
    inner = params.inner_radius_mm
    outer = params.outer_radius_mm
    match params.form:
        case "hemisphere":
            distance = np.hypot(radius, z)
            return (inner <= distance) & (distance <= outer)
        case "bowl":
            distance = np.hypot(radius, z - outer)
            return (inner <= distance) & (distance <= outer) & (z <= outer)
        case "wall":
            return (
                (inner <= radius) & (radius <= outer) & (z <= (params.height_mm or 0))
            )
        case "ring":
            middle = (inner + outer) / 2
            return np.hypot(radius - middle, z) <= (outer - inner) / 2


def target_volume(params: Params) -> float:
    """Return the volume of the target."""
    inner = params.inner_radius_mm
    outer = params.outer_radius_mm
    match params.form:
        case "hemisphere" | "bowl":
            return 2 / 3 * math.pi * (outer**3 - inner**3)
        case "wall":
            return math.pi * (outer**2 - inner**2) * (params.height_mm or 0)
        case "ring":
            middle = (inner + outer) / 2
            thickness = (outer - inner) / 2
            return math.pi**2 * middle * thickness**2
