"""Checks whether the sniper's camera shows people at every place where they may be."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from scbench.graders.hide_and_seek import Camera, boxes, pixels_of_box, true_camera
from scbench.schemas.hide_and_seek import Params

# Minimum number of pixels of a person in the open; with fewer, not hiding would cost little.
LEAST_SEEN = 100
# Number of places tested along the rim.
_PLACES = 40


def is_everybody_in_view(params: Params) -> bool:
    """Return whether the picture shows everybody within the allowed distance."""
    camera = true_camera(params)
    width, depth, height = params.person
    # An octagon around the disc of the centres, enlarged by the width of a person.
    size = params.max_distance + max(width, depth)
    near = size * (math.sqrt(2) - 1)
    for u, v in ((size, near), (near, size)):
        for corner in product((-u, u), (-v, v), (0.0, height)):
            if not is_in_view(camera, corner):
                return False
    return True


def is_in_view(camera: Camera, place: Sequence[float]) -> bool:
    """Return whether a place lies within the edges of the picture."""
    way = difference(place, camera.eye)
    ahead = dot(way, camera.forward)
    edge = ahead * camera.tangent
    if ahead <= 0 or abs(dot(way, camera.up)) > edge:
        return False
    columns, rows = camera.image
    return abs(dot(way, camera.right)) <= edge * columns / rows


def is_seen_in_the_open(params: Params) -> bool:
    """Return whether a person covers enough pixels wherever nothing is in the way.

    The tested places lie along the far rim, where people are smallest. Many places are needed
    because the number of pixels depends on how a person's edges fall between pixels.
    """
    x, y, _ = params.sniper
    middle = math.atan2(-y, -x)
    camera = true_camera(params)
    for i in range(_PLACES):
        angle = middle + math.pi * ((i + 0.5) / _PLACES - 0.5)
        direction = np.array([[math.cos(angle), math.sin(angle)]])
        low, high = boxes(params, params.max_distance * direction)
        # The first box is the building.
        if pixels_of_box(camera, low[1:], high[1:]) < LEAST_SEEN:
            return False
    return True


def difference(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Return the vector from b to a."""
    return [p - q for p, q in zip(a, b, strict=True)]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the scalar product of two vectors."""
    return sum(p * q for p, q in zip(a, b, strict=True))
