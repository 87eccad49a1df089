"""The target of an instance as a body of revolution, and the volumes that boxes share with it.

A horizontal section of the body is a ring about the z axis, and the common area of a
rectangle and a disc has a closed form. So a volume is one integral along z. It is
computed by Gauss's rule with 16 nodes: a brick is accurate to 2e-4 of its volume, a
whole structure to 1e-5 or better.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.schemas.lego_hemispherical_shell import Params

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# A disc without area gets this radius, to avoid dividing by 0.
_LEAST_RADIUS = 1e-9


class Surface(NamedTuple):
    """One side of a body: a circle about the axis at every level from bottom to top."""

    radius: Callable[[Floats], Floats]
    top: float
    bottom: float = 0.0


class Body(NamedTuple):
    """The space between two surfaces and above the table. All radii are monotone in z."""

    inner: Surface
    outer: Surface
    volume: float


class Boxes(NamedTuple):
    """Upright boxes of one plan, as arrays of shape (n,); lengths in any unit."""

    first: Floats
    """Distances of the centres from the axis, along the first side of each box."""
    second: Floats
    """Distances of the centres from the axis, along the second side of each box."""
    low: Floats
    high: Floats
    half: tuple[float, float]
    """Half the length of the first and the second side of all boxes."""

    def near(self) -> Floats:
        """Return the distances of the plans' nearest points from the axis."""
        along, across = self.half
        first = np.maximum(self.first - along, 0.0)
        second = np.maximum(self.second - across, 0.0)
        return np.hypot(first, second)

    def far(self) -> Floats:
        """Return the distances of the plans' farthest corners from the axis."""
        along, across = self.half
        return np.hypot(self.first + along, self.second + across)


class OffTarget(NamedTuple):
    """Masks (n,) of the boxes that share no volume with a body."""

    in_hollow: Mask
    """Completely inside the hollow."""
    outside: Mask
    """Completely outside."""


@lru_cache(maxsize=256)
def body(params: Params) -> Body:
    """Return the target of an instance, in millimetres."""
    a = params.inner_radius_mm
    b = params.outer_radius_mm
    half_shell = 2 / 3 * math.pi * (b**3 - a**3)
    if params.form == "bowl":
        return Body(bowl(a, b), bowl(b, b), half_shell)
    if params.form == "hemisphere":
        return Body(sphere(a), sphere(b), half_shell)
    if params.height_mm is not None:
        height = params.height_mm
        volume = math.pi * (b * b - a * a) * height
        return Body(cylinder(a, height), cylinder(b, height), volume)
    # The upper half of a torus.
    middle = (a + b) / 2
    tube = (b - a) / 2
    volume = math.pi**2 * middle * tube * tube
    return Body(torus(middle, tube, -1), torus(middle, tube, 1), volume)


def sphere(r: float) -> Surface:
    """Return the upper half of a sphere that stands on the table."""
    return Surface(lambda z: half_width(r, z), r)


def bowl(r: float, top: float) -> Surface:
    """Return the lower half of a sphere with its centre at the height ``top``."""
    return Surface(lambda z: half_width(r, top - z), top, top - r)


def cylinder(r: float, height: float) -> Surface:
    """Return the wall of an upright cylinder."""
    return Surface(lambda z: np.full_like(z, r), height)


def torus(middle: float, r: float, side: int) -> Surface:
    """Return the outer (``side`` 1) or inner (-1) half of a tube of radius r, bent to a ring."""
    return Surface(lambda z: middle + side * half_width(r, z), r)


def half_width(r: float, z: Floats) -> Floats:
    """Return half the width of a disc of radius r at distances z from its centre."""
    width: Floats = np.sqrt(np.maximum(r * r - z * z, 0.0))
    return width


def boxes_off_target(target: Body, boxes: Boxes) -> OffTarget:
    """Return which boxes share no volume with the target."""
    _, outer_radius = radius_range(target.outer, boxes)
    inner_radius, _ = radius_range(target.inner, boxes)
    outside = (boxes.low > target.outer.top) | (boxes.near() > outer_radius)
    in_hollow = ~outside & (boxes.far() < inner_radius)
    return OffTarget(in_hollow, outside)


def radius_range(surface: Surface, boxes: Boxes) -> tuple[Floats, Floats]:
    """Return the smallest and the largest radius of a surface over the height of each box."""
    # Radii are monotone in z, so the ends of the box are enough; there is no body below the table.
    at_low = surface.radius(np.clip(boxes.low, 0.0, surface.top))
    at_high = surface.radius(np.clip(boxes.high, 0.0, surface.top))
    return np.minimum(at_low, at_high), np.maximum(at_low, at_high)


def shared_volumes(target: Body, boxes: Boxes) -> Floats:
    """Return the volume of each box's part inside the body."""
    return volumes_inside(target.outer, boxes) - volumes_inside(target.inner, boxes)


def volumes_inside(surface: Surface, boxes: Boxes) -> Floats:
    """Return the volume of each box between the bottom and the top and inside a surface."""
    low = np.maximum(boxes.low, surface.bottom)
    high = np.minimum(boxes.high, surface.top)
    height = np.maximum(high - low, 0.0)
    clipped = boxes._replace(low=low, high=np.maximum(high, low))
    smallest, largest = radius_range(surface, clipped)
    # Boxes that are wholly inside or wholly outside need no integral.
    enclosed = boxes.far() <= smallest
    along, across = boxes.half
    volumes = np.where(enclosed, 4 * along * across * height, 0.0)
    cut = np.flatnonzero(~enclosed & (height > 0) & (boxes.near() < largest))
    # The others need quadrature: a weighted sum of the areas inside at some levels.
    z = low[cut, None] + height[cut, None] * (_NODES + 1) / 2
    radii = surface.radius(z)
    first = boxes.first[cut, None]
    second = boxes.second[cut, None]
    areas = disc_areas(first, second, boxes.half, radii)
    volumes[cut] = (areas * _WEIGHTS).sum(axis=1) / 2 * height[cut]
    return volumes


def disc_areas(
    x: Floats, y: Floats, half: tuple[float, float], radius: Floats
) -> Floats:
    """Return the areas that rectangles share with discs about the origin.

    x and y are the centres of the rectangles, and ``half`` has half their side lengths.
    Radius 0 is a disc without area.
    """
    along, across = half
    r = np.maximum(radius, _LEAST_RADIUS)
    west = CutLine(x - along, r)
    east = CutLine(x + along, r)
    bottom = CutLine(y - across, r)
    top = CutLine(y + across, r)
    return east.up_to(top) - west.up_to(top) - east.up_to(bottom) + west.up_to(bottom)


class CutLine:
    """The line of a rectangle's side across a disc; lines beyond the disc are moved to its rim.

    Args:
        at: signed distance of the line from the origin.
        r: radius of the disc.
    """

    __slots__ = ("area", "at", "chord", "corner", "sign")

    def __init__(self, at: Floats, r: Floats) -> None:
        self.sign = np.sign(at)
        self.at = np.minimum(np.abs(at), r)
        self.chord = np.sqrt(r * r - self.at * self.at)
        # Twice the areas of the sectors between the line's end on the circle and the axes.
        sector = np.arcsin(self.at / r) * r * r
        other_sector = math.pi / 2 * r * r - sector
        # Area of the disc's quarter between the axis and the line, and between the line's end
        # on the circle and the other axis.
        self.area = (self.at * self.chord + sector) / 2
        self.corner = (self.at * self.chord + other_sector) / 2

    def up_to(self, across: "CutLine") -> Floats:
        """Return the signed area of a disc between the axes, this line and a perpendicular one."""
        inside = self.at <= across.chord
        beyond = across.at * across.chord + self.area - across.corner
        return self.sign * across.sign * np.where(inside, self.at * across.at, beyond)
