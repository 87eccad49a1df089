"""Places that the building hides from an eye, and how many people fit there.

Seen from above, the building is a rectangle. At one height, it hides the rectangle and all its
enlargements away from the eye, up to the one through which the roof is seen: a convex polygon. A
person is hidden if the polygon at the height of the head contains all four corners of the person.
So the centres of hidden people fill a smaller polygon; the walls and the allowed distance cut parts
off it. People touch in rows along an axis; the rows with room for the most people are used.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.graders.shared.plane_geometry import hull_corners
from scbench.schemas.hide_and_seek import Params

# Margin in metres. People are enlarged by it, so that no pixel shows their edge, and they stay
# inside the allowed distance by it.
MARGIN = 0.01
# Number of positions that are tried for the first of several rows.
_PHASES = 12
# Coordinates are whole multiples of a millimetre.
_UNITS = 1000
# Bound on rounding errors, in metres.
_HAIR = 1e-7
Floats = NDArray[np.float64]
XY = tuple[float, float]


class HalfPlane(NamedTuple):
    """The points for which x * nx + y * ny is at most a limit."""

    nx: float
    ny: float
    limit: float

    def swapped(self) -> "HalfPlane":
        """Return the half-plane with x and y exchanged."""
        return HalfPlane(self.ny, self.nx, self.limit)


class Region(NamedTuple):
    """The places for centres of people: in all half-planes and a circle, but not in the walls."""

    planes: tuple[HalfPlane, ...]
    radius: float
    wall: XY
    """|x| and |y| of a person who touches the walls."""
    pitch: XY
    """Distances along x and y between people who touch, in whole millimetres."""

    def swapped(self) -> "Region":
        """Return the region with x and y exchanged."""
        planes = tuple(plane.swapped() for plane in self.planes)
        return Region(planes, self.radius, self.wall[::-1], self.pitch[::-1])

    def within(self, plane: HalfPlane) -> "Region":
        """Return the part of the region in a half-plane."""
        return self._replace(planes=(*self.planes, plane))


def far_side(eye: Sequence[float]) -> tuple[int, int]:
    """Return the signs of x and y on the side of the building that is turned away from an eye."""
    x_sign = -1 if eye[0] > 0 else 1
    y_sign = -1 if eye[1] > 0 else 1
    return x_sign, y_sign


@lru_cache(maxsize=64)
def places_of(params: Params) -> Floats:
    """Return the places that are hidden from the sniper, computed once for each instance."""
    return hiding_places(params)


def hiding_places(params: Params, eye: Sequence[float] | None = None) -> Floats:
    """Return places (n, 2) where a person is hidden from the sniper or another eye, nearest first.

    People at these places touch. The best of several packings is used.
    """
    if eye is None:
        eye = params.sniper
    region = hidden_region(params, eye)
    if region is None:
        return np.empty((0, 2))
    places = max(packings(region, far_side(eye)), key=len)
    return np.array(sorted_by_shadow(params, eye, places)).reshape(-1, 2)


def sorted_by_shadow(
    params: Params, eye: Sequence[float], places: Sequence[XY]
) -> list[XY]:
    """Return places in the order in which a growing shadow covers them."""
    # Places that the shadow covers at the same time are sorted by their coordinates.
    return sorted(places, key=lambda place: (enlargement(params, eye, place), place))


def enlargement(params: Params, eye: Sequence[float], place: XY) -> float:
    """Return how much the building has to be enlarged from the eye to reach a place."""
    enlargements = []
    for axis, sign in enumerate(far_side(eye)):
        half = params.building[axis] / 2
        behind = sign * place[axis] - half
        before = abs(eye[axis]) + half
        enlargements.append(behind / before)
    return round(max(enlargements), 9)


# The region.


def hidden_region(
    params: Params, eye: Sequence[float], *, heights: bool = True
) -> Region | None:
    """Return the region of centres of hidden people; None if the eye is over the building.

    Without ``heights``, the shadow is endless.
    """
    wall_x, wall_y, roof = params.building
    width, depth, height = params.person
    rim = params.max_distance - MARGIN
    eye_x, eye_y, eye_z = eye
    distance = max(abs(eye_x) - wall_x / 2, abs(eye_y) - wall_y / 2)
    if distance <= 0:
        return None
    # Larger enlargements are outside the circle.
    scale = (math.hypot(eye_x, eye_y) + params.max_distance) / distance
    drop = eye_z - roof
    if heights and drop > 0:
        scale = min(scale, (eye_z - height - MARGIN) / drop)
    # The building's corners, and the same corners enlarged away from the eye.
    corners = []
    for x, y in product((-wall_x / 2, wall_x / 2), (-wall_y / 2, wall_y / 2)):
        enlarged = (eye_x + scale * (x - eye_x), eye_y + scale * (y - eye_y))
        corners += [(x, y), enlarged]
    hull = hull_corners(corners)
    half_x = width / 2 + MARGIN
    half_y = depth / 2 + MARGIN
    planes = []
    for (ax, ay), (bx, by) in zip(hull, hull[1:] + hull[:1], strict=True):
        # The hull runs counter-clockwise, so its outside is on the right.
        nx = by - ay
        ny = ax - bx
        limit = nx * ax + ny * ay - abs(nx) * half_x - abs(ny) * half_y
        planes.append(HalfPlane(nx, ny, limit))
    wall = ((wall_x + width) / 2, (wall_y + depth) / 2)
    pitch = (round_up(width), round_up(depth))
    return Region(tuple(planes), rim, wall, pitch)


def round_up(length: float) -> float:
    """Return a length rounded up to whole millimetres, in metres."""
    return math.ceil(length * _UNITS - _HAIR) / _UNITS


# Packings.


def packings(region: Region, signs: tuple[int, int]) -> Iterator[list[XY]]:
    """Yield packings of a region: in one piece, or cut along either wall."""
    yield best_rows(region)
    for axis in (0, 1):
        # Beyond the wall, and next to it.
        beyond, beside = cut_at_wall(region, axis, signs[axis])
        yield best_rows(beyond) + best_rows(beside)


def cut_at_wall(region: Region, axis: int, sign: int) -> tuple[Region, Region]:
    """Split a region along the line of the far wall across an axis: beyond it, and before it."""
    nx, ny = (sign, 0) if axis == 0 else (0, sign)
    edge = region.wall[axis]
    beyond = HalfPlane(-nx, -ny, -edge + _HAIR)
    beside = HalfPlane(nx, ny, edge - region.pitch[axis])
    return region.within(beyond), region.within(beside)


def best_rows(region: Region) -> list[XY]:
    """Return the rows, along x or y, that contain the most people."""
    along_x = most_rows(region)
    along_y = [(x, y) for y, x in most_rows(region.swapped())]
    return max(along_x, along_y, key=len)


def most_rows(region: Region) -> list[XY]:
    """Return the rows along x with the most people, trying several positions of the first row."""
    _, pitch = region.pitch
    wall = round_up(region.wall[1])
    starts = [wall, -wall]
    starts += [round_up(pitch * k / _PHASES) for k in range(_PHASES)]
    best = max(starts, key=lambda start: number_in_rows(region, start))
    return rows_from(region, best)


def number_in_rows(region: Region, start: float) -> int:
    """Return how many people `rows_from` places."""
    pitch, _ = region.pitch
    number = 0
    for y in rows_at(region, start):
        for low, high in spans(region, y):
            number += max(0, math.floor((high - round_up(low)) / pitch + _HAIR) + 1)
    return number


def rows_from(region: Region, start: float) -> list[XY]:
    """Return people in all rows along x that are whole pitches away from a first one."""
    places: list[XY] = []
    for y in rows_at(region, start):
        for low, high in spans(region, y):
            places += row_places(region, y, low, high)
    return places


def rows_at(region: Region, start: float) -> list[float]:
    """Return the y of rows along x that are whole pitches away from a first one."""
    _, pitch = region.pitch
    first = math.ceil((-region.radius - start) / pitch)
    last = math.floor((region.radius - start) / pitch)
    return [round(start + k * pitch, 3) for k in range(first, last + 1)]


def grid_from(region: Region, start: XY) -> list[XY]:
    """Return people on a grid of whole pitches from a first place, whose rows are aligned."""
    start_x, start_y = start
    pitch, _ = region.pitch
    places = []
    for x, y in rows_from(region, start_y):
        step = math.ceil((x - start_x) / pitch - _HAIR)
        places.append((round(start_x + step * pitch, 3) + 0.0, y))
    return [place for place in dict.fromkeys(places) if is_in_region(region, place)]


def is_in_region(region: Region, place: XY) -> bool:
    """Return whether a place lies in a region."""
    x, y = place
    return any(low - _HAIR <= x <= high + _HAIR for low, high in spans(region, y))


def row_places(region: Region, y: float, low: float, high: float) -> Iterator[XY]:
    """Yield the places of people who touch, starting at the lower end of a row."""
    pitch, _ = region.pitch
    x = round_up(low)
    while x <= high + _HAIR:
        # Adding 0 turns -0 into 0.
        yield x + 0.0, y + 0.0
        x = round(x + pitch, 3)


def spans(region: Region, y: float) -> Iterator[XY]:
    """Yield the lowest and highest x of each part of a row."""
    # The circle, then the half-planes, then the walls.
    square = region.radius**2 - y * y
    if square < 0:
        return
    low = -math.sqrt(square)
    high = -low
    for nx, ny, limit in region.planes:
        room = limit - ny * y
        if nx > 0:
            high = min(high, room / nx)
        elif nx < 0:
            low = max(low, room / nx)
        elif room < 0:
            return
    wall_x, wall_y = region.wall
    if abs(y) >= wall_y - _HAIR:
        yield low, high
        return
    yield low, min(high, -round_up(wall_x))
    yield max(low, round_up(wall_x)), high


# Packings that ignore heights.


def packings_without_heights(params: Params) -> Iterator[tuple[str, list[XY]]]:
    """Yield names and places of people who touch, in the silhouette of the building.

    They are the packings of `hiding_places` for an endless shadow, nearest to the walls first.
    """
    eye = params.sniper
    region = hidden_region(params, eye, heights=False)
    if region is None:
        return
    x_sign, y_sign = far_side(eye)
    start_x = x_sign * round_up(region.wall[0])
    start_y = y_sign * round_up(region.wall[1])
    layouts = {
        "rows along x": rows_from(region, start_y),
        "rows along y": [(x, y) for y, x in rows_from(region.swapped(), start_x)],
        "touching grid": grid_from(region, (start_x, start_y)),
    }
    for name, places in layouts.items():
        yield f"{name}, by the walls", sorted_by_shadow(params, eye, places)
        by_sight = sorted(places, key=lambda place: (nearness(place, eye), place))
        yield f"{name}, by the line of sight", by_sight
    names = ("in one piece", "cut along y", "cut along x")
    for name, places in zip(names, packings(region, (x_sign, y_sign)), strict=True):
        yield f"densest rows {name}", sorted_by_shadow(params, eye, places)


def nearness(place: XY, eye: Sequence[float]) -> float:
    """Return a number that grows along the line of sight, away from the eye."""
    return -place[0] * eye[0] - place[1] * eye[1]


# Single places.


def are_hidden(params: Params, xy: Floats, eye: Sequence[float]) -> NDArray[np.bool_]:
    """Return which people, at places (n, 2), the building hides completely from an eye.

    They are hidden with a margin of half a centimetre.
    """
    n = len(xy)
    x, y = xy.T
    width, depth, height = params.person
    # Half of the margin; rounding errors are smaller.
    half_x = width / 2 + MARGIN / 2
    half_y = depth / 2 + MARGIN / 2
    top = height + MARGIN / 2
    is_hidden = np.ones(n, dtype=bool)
    for dx, dy, z in product((-half_x, half_x), (-half_y, half_y), (0.0, top)):
        is_hidden &= are_blocked(params, eye, (x + dx, y + dy, np.full(n, z)))
    return is_hidden


def are_blocked(
    params: Params, eye: Sequence[float], point: tuple[Floats, Floats, Floats]
) -> NDArray[np.bool_]:
    """Return which lines of sight to points, given as their x, y and z, meet the building."""
    wall_x, wall_y, roof = params.building
    slabs = ((-wall_x / 2, wall_x / 2), (-wall_y / 2, wall_y / 2), (0.0, roof))
    # Shares of the way at which a line has entered all slabs, and at which it leaves the first.
    enter = np.zeros(len(point[0]))
    leave = np.ones(len(point[0]))
    for axis, (low, high) in enumerate(slabs):
        length = point[axis] - eye[axis]
        # A line along a slab meets its sides at infinity.
        length = np.where(length == 0, 1e-300, length)
        with np.errstate(over="ignore"):
            at_low = (low - eye[axis]) / length
            at_high = (high - eye[axis]) / length
        enter = np.maximum(enter, np.minimum(at_low, at_high))
        leave = np.minimum(leave, np.maximum(at_low, at_high))
    meets: NDArray[np.bool_] = enter <= leave
    return meets
