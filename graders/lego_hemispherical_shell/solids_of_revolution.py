"""Bodies of revolution that stand on the table, and how much of a box lies in one.

The cut of a body with a level is a ring about the z axis, and the area that a rectangle shares with
a disc is known in closed form, so a volume is one integral along z. It is taken by Gauss's rule
with 16 nodes: a brick of 32 x 16 x 9.6 mm is right to 2e-4 of it, a whole structure to 1e-5 or
better.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.schemas.lego_hemispherical_shell import Params

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


class Surface(NamedTuple):
    """One side of a body: a circle about the axis on every level from the table to the top."""

    radius: Callable[[Floats], Floats]
    top: float


class Body(NamedTuple):
    """What lies between two surfaces and above the table. All radii are monotone in z."""

    inner: Surface
    outer: Surface
    volume: float


class Boxes(NamedTuple):
    """Upright boxes of one plan, as arrays of one entry each; lengths in any unit.

    Attributes:
        first: distance of the box's middle from the axis, along its first side.
        second: the same along its second side.
        low: z of its bottom.
        high: z of its top.
        half: half the two sides of the plan, the same for all boxes.
    """

    first: Floats
    second: Floats
    low: Floats
    high: Floats
    half: tuple[float, float]

    def near(self) -> Floats:
        """Return how far the nearest points of the plans are from the axis."""
        gaps = [np.maximum(d - h, 0.0) for d, h in zip(self[:2], self.half, strict=True)]
        return np.hypot(*gaps)

    def far(self) -> Floats:
        """Return how far the farthest corners of the plans are from the axis."""
        return np.hypot(self.first + self.half[0], self.second + self.half[1])


def body(params: Params) -> Body:
    """Return the target of an instance, in millimetres."""
    a, b = params.inner_radius_mm, params.outer_radius_mm
    if params.form == "hemisphere":
        return Body(_sphere(a), _sphere(b), 2 / 3 * math.pi * (b**3 - a**3))
    if params.height_mm is not None:
        h = params.height_mm
        volume = math.pi * (b * b - a * a) * h
        return Body(_cylinder(a, h), _cylinder(b, h), volume)
    middle, r = (a + b) / 2, (b - a) / 2
    return Body(_tube(middle, r, -1), _tube(middle, r, 1), math.pi**2 * middle * r * r)


def _sphere(r: float) -> Surface:
    return Surface(lambda z: np.sqrt(np.maximum(r * r - z * z, 0.0)), r)


def _cylinder(r: float, height: float) -> Surface:
    return Surface(lambda z: np.full_like(z, r), height)


def _tube(middle: float, r: float, side: int) -> Surface:
    return Surface(lambda z: middle + side * np.sqrt(np.maximum(r * r - z * z, 0.0)), r)


def strays(target: Body, boxes: Boxes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which boxes lie completely in the hollow, and which completely outside."""
    outside = (boxes.low > target.outer.top) | (boxes.near() > _largest_radius(target.outer, boxes))
    return ~outside & (boxes.far() < _smallest_radius(target.inner, boxes)), outside


def _smallest_radius(surface: Surface, boxes: Boxes) -> Floats:
    # Monotone in z, so the ends of the box are enough; below the table there is no body.
    ends = [surface.radius(np.clip(z, 0.0, surface.top)) for z in (boxes.low, boxes.high)]
    return np.minimum(*ends)


def _largest_radius(surface: Surface, boxes: Boxes) -> Floats:
    ends = [surface.radius(np.clip(z, 0.0, surface.top)) for z in (boxes.low, boxes.high)]
    return np.maximum(*ends)


def shared_volumes(target: Body, boxes: Boxes) -> Floats:
    """Return the volume of each box that lies in the body."""
    return _below(target.outer, boxes) - _below(target.inner, boxes)


def _below(surface: Surface, boxes: Boxes) -> Floats:
    """Return the volume of each box between the table, the top and inside the surface."""
    low, high = np.maximum(boxes.low, 0.0), np.minimum(boxes.high, surface.top)
    height = np.maximum(high - low, 0.0)
    clipped = boxes._replace(low=low, high=np.maximum(high, low))
    enclosed = boxes.far() <= _smallest_radius(surface, clipped)
    volumes = np.where(enclosed, 4 * boxes.half[0] * boxes.half[1] * height, 0.0)
    cut = np.flatnonzero(
        ~enclosed & (height > 0) & (boxes.near() < _largest_radius(surface, clipped))
    )
    z = low[cut, None] + height[cut, None] * (_NODES + 1) / 2
    areas = disc_areas(
        boxes.first[cut, None], boxes.second[cut, None], boxes.half, surface.radius(z)
    )
    volumes[cut] = (areas * _WEIGHTS).sum(axis=1) / 2 * height[cut]
    return volumes


def disc_areas(x: Floats, y: Floats, half: tuple[float, float], radius: Floats) -> Floats:
    """Return the areas that rectangles share with discs about the origin.

    Args:
        x: middle of each rectangle, first coordinate.
        y: middle of each rectangle, second coordinate.
        half: half their two sides.
        radius: of the discs; 0 is a disc without area.
    """
    r = np.maximum(radius, 1e-9)
    ends = (
        [_End(x - half[0], r), _End(x + half[0], r)],
        [_End(y - half[1], r), _End(y + half[1], r)],
    )
    (west, east), (bottom, top) = ends
    return east.up_to(top) - west.up_to(top) - east.up_to(bottom) + west.up_to(bottom)


class _End:
    """One side of a rectangle, as a line across a disc that is cut off at the disc."""

    __slots__ = ("area", "at", "chord", "corner", "sign")

    def __init__(self, at: Floats, r: Floats) -> None:
        self.sign = np.sign(at)
        self.at = np.minimum(np.abs(at), r)
        self.chord = np.sqrt(r * r - self.at * self.at)
        turn = np.arcsin(self.at / r) * r * r
        # Area of the disc's quarter between the axis and the line, and between the line's end
        # on the circle and the other axis.
        self.area = (self.at * self.chord + turn) / 2
        self.corner = (self.at * self.chord + (math.pi / 2 * r * r - turn)) / 2

    def up_to(self, across: "_End") -> Floats:
        """Return the signed area of the disc between the axes, this line and one square to it."""
        inside = self.at <= across.chord
        beyond = across.at * across.chord + self.area - across.corner
        return self.sign * across.sign * np.where(inside, self.at * across.at, beyond)
