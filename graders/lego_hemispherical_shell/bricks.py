"""Toy bricks in space: which overlap, hold each other, stand or tip, and lie in a round body.

A brick has 2 x 4 studs and is 32 x 16 x 9.6 mm once assembled; it may be turned about z by any
angle. All arrays have one entry per brick, or one per pair of bricks. Lengths are in millimetres.

The cut of a body of revolution with a level is a ring about the z axis, and the area that a
rectangle shares with a disc is known in closed form, so a volume is one integral along z. It is
taken by Gauss's rule with 16 nodes: a brick is right to 2e-4 of it, a whole structure to 1e-5 or
better.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from scbench.graders.shared.meshes import components
from scbench.schemas.lego_hemispherical_shell import Params

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]
HALF = (16.0, 8.0)
HEIGHT = 9.6
VOLUME = 4915.2
STUD = 8.0
# Top and bottom that are nearer than this are in contact; if they share more, they
# overlap.
CONTACT_GAP = 0.5
# Plans that share no more than this, in square millimetres, neither touch nor overlap.
CONTACT_AREA = 1.0
# Bricks in contact hold each other if their plans share at least this: half of a stud's
# square.
JOINT_AREA = STUD * STUD / 2
OFF_GRID = 0.5
# In degrees.
OFF_ANGLE = 1.0
# How far the centre of gravity may lie outside its support.
TIP_SLACK = 0.001
# Middles that are farther apart than this, in plan, belong to plans that do not meet.
_REACH = 36.0
_DUST = 1e-9


class Bricks(NamedTuple):
    """Bricks; angles are in degrees, in [0, 180)."""

    x: Floats
    y: Floats
    z: Floats
    angle: Floats
    cos: Floats
    sin: Floats

    @classmethod
    def of(cls, rows: Sequence[tuple[float, ...]]) -> "Bricks":
        """Make bricks from x, y, z of their middles and their rotations in degrees."""
        x, y, z, turn = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        angle = np.mod(turn, 180.0)
        angle[angle == 180.0] = 0.0  # what a tiny negative angle gives
        # Exact at right angles, where nearly all bricks stand.
        cos = np.where(angle == 90.0, 0.0, np.cos(np.radians(angle)))
        return cls(x, y, z, angle, cos, np.sin(np.radians(angle)))

    def take(self, indices: Indices) -> "Bricks":
        """Return some of the bricks."""
        return Bricks(*(values[indices] for values in self))

    def plans(self) -> Floats:
        """Return the corners of the plans, counter-clockwise, of shape (n, 4, 2)."""
        u = np.array([1, -1, -1, 1]) * HALF[0]
        v = np.array([1, 1, -1, -1]) * HALF[1]
        c, s = self.cos[:, None], self.sin[:, None]
        return np.stack(
            [self.x[:, None] + c * u - s * v, self.y[:, None] + s * u + c * v], -1
        )

    def seen_from(self, i: Indices, j: Indices) -> tuple[Floats, Floats]:
        """Return where the middles of bricks j are in the frames of bricks i."""
        dx, dy = self.x[j] - self.x[i], self.y[j] - self.y[i]
        return self.cos[i] * dx + self.sin[i] * dy, self.cos[i] * dy - self.sin[i] * dx


class Pairs(NamedTuple):
    """Pairs of bricks whose plans share an area of more than 1 square millimetre, in order.

    The lower has the smaller z, or the smaller index. The depth is what their heights share,
    negative if there is a gap.
    """

    lower: Indices
    upper: Indices
    area: Floats
    depth: Floats

    def where(self, mask: Mask) -> "Pairs":
        """Return some of the pairs."""
        return Pairs(
            self.lower[mask], self.upper[mask], self.area[mask], self.depth[mask]
        )


def close_pairs(bricks: Bricks, max_pairs: int) -> Pairs | None:
    """Return the pairs whose plans meet and between whose heights there is no gap.

    No brick is farther than 100 m from the origin. None is returned if more pairs than
    ``max_pairs`` would have to be looked at.
    """
    # Sorted by cells, the neighbours of a brick are five runs of bricks.
    ix, iy = (np.floor(v / _REACH).astype(np.int64) for v in (bricks.x, bricks.y))
    iz = np.floor(bricks.z / (HEIGHT + CONTACT_GAP)).astype(np.int64)
    width, depth = (int(np.ptp(v)) + 3 if len(v) else 3 for v in (ix, iy))
    code = (iz * width + ix) * depth + iy
    order = np.argsort(code, kind="stable")
    code = code[order]
    steps = (depth, (width - 1) * depth, width * depth, (width + 1) * depth)
    runs = [(np.arange(1, len(code) + 1), np.searchsorted(code, code + 1, "right"))]
    runs += [
        (
            np.searchsorted(code, code + step - 1),
            np.searchsorted(code, code + step + 1, "right"),
        )
        for step in steps
    ]
    if sum(int((end - begin).sum()) for begin, end in runs) > max_pairs:
        return None
    expanded = [_expand(begin, end) for begin, end in runs]
    i, j = (order[np.concatenate(side)] for side in zip(*expanded, strict=True))
    return _measure_pairs(bricks, i, j)


def _expand(begin: Indices, end: Indices) -> tuple[Indices, Indices]:
    """Return every place with every place of its run."""
    count = end - begin
    first = np.repeat(np.arange(len(begin)), count)
    skipped = np.cumsum(count) - count
    return first, np.arange(len(first)) - skipped[first] + begin[first]


def _measure_pairs(bricks: Bricks, i: Indices, j: Indices) -> Pairs:
    # Digits beyond the ninth are what adding up layers of 9.6 leaves.
    depth = np.round(HEIGHT - np.abs(bricks.z[i] - bricks.z[j]), 9)
    far = np.hypot(bricks.x[i] - bricks.x[j], bricks.y[i] - bricks.y[j]) >= _REACH
    near = (depth > -CONTACT_GAP) & ~far
    i, j, depth = i[near], j[near], depth[near]
    area = _shared_areas(bricks, i, j)
    flip = (bricks.z[i] > bricks.z[j]) | ((bricks.z[i] == bricks.z[j]) & (i > j))
    lower, upper = np.where(flip, j, i), np.where(flip, i, j)
    meet = np.flatnonzero(area > CONTACT_AREA)
    meet = meet[np.lexsort((upper[meet], lower[meet]))]
    return Pairs(lower[meet], upper[meet], area[meet], depth[meet])


def _shared_areas(bricks: Bricks, i: Indices, j: Indices) -> Floats:
    """Return the areas that plans share, rounded to 9 digits, so that no GEOS version matters."""
    turn = np.mod(bricks.angle[j] - bricks.angle[i], 180.0)
    square = np.abs(turn - 90.0) < _DUST
    aligned = square | (np.minimum(turn, 180.0 - turn) < _DUST)
    area = np.ones(len(i))
    for axis, distance in enumerate(bricks.seen_from(i, j)):
        half_i, half_j = HALF[axis], np.where(square, HALF[1 - axis], HALF[axis])
        both = np.minimum(
            half_i + half_j - np.abs(distance), 2 * np.minimum(half_i, half_j)
        )
        area *= np.maximum(both, 0.0)
    crooked = np.flatnonzero(~aligned)
    meet = _may_meet(bricks, i[crooked], j[crooked]) & _may_meet(
        bricks, j[crooked], i[crooked]
    )
    area[crooked] = 0.0
    crooked = crooked[meet]
    if len(crooked):
        used, places = np.unique(
            np.concatenate([i[crooked], j[crooked]]), return_inverse=True
        )
        plans = np.asarray(shapely.polygons(bricks.take(used).plans()))
        first, second = np.split(places, 2)
        # Coordinates of next to nothing make GEOS divide by zero, which it survives.
        with np.errstate(all="ignore"):
            area[crooked] = shapely.area(
                shapely.intersection(plans[first], plans[second])
            )
    return np.round(area, 9)


def _may_meet(bricks: Bricks, i: Indices, j: Indices) -> Mask:
    """Return whether plans overlap as seen along the sides of bricks i."""
    turn = np.radians(bricks.angle[j] - bricks.angle[i])
    c, s = np.abs(np.cos(turn)), np.abs(np.sin(turn))
    x, y = bricks.seen_from(i, j)
    width, depth = HALF
    return (np.abs(x) < width + c * width + s * depth) & (
        np.abs(y) < depth + s * width + c * depth
    )


def off_grid(bricks: Bricks, first: Indices, second: Indices) -> Mask:
    """Return which pairs are not on one stud grid, that of the first brick."""
    turn = np.mod(bricks.angle[second] - bricks.angle[first], 90.0)
    bad = np.minimum(turn, 90.0 - turn) > OFF_ANGLE + _DUST
    for offset in bricks.seen_from(first, second):
        bad |= np.abs(offset - STUD * np.rint(offset / STUD)) > OFF_GRID + _DUST
    return bad


def misfits(bricks: Bricks, label: Indices, max_pairs: int) -> list[tuple[int, int]]:
    """Return pairs of bricks of one group that are not on one stud grid, that of the first.

    For the labels see `groups`; with ``max_pairs`` pairs the search ends.
    """
    pairs: list[tuple[int, int]] = []
    order = np.argsort(label, kind="stable")
    _, starts = np.unique(label[order], return_index=True)
    for members in np.split(order, starts[1:]):
        if len(members) <= 1 or _on_one_grid(bricks, members):
            continue
        for place, brick in enumerate(members[:-1].tolist()):
            later = members[place + 1 :]
            bad = off_grid(bricks, np.full(len(later), brick), later)
            pairs += ((brick, second) for second in later[bad].tolist())
            if len(pairs) >= max_pairs:
                return sorted(pairs[:max_pairs])
    return sorted(pairs)


def _on_one_grid(bricks: Bricks, members: Indices) -> bool:
    """Return whether bricks of one angle all fit; False if their angles differ at all."""
    turn = np.mod(bricks.angle[members] - bricks.angle[members[0]], 90.0)
    if np.any(np.minimum(turn, 90.0 - turn) > 0):
        return False
    for offset in bricks.seen_from(np.full(len(members), members[0]), members):
        # On a circle of 8 mm, all are within 0.5 of each other if an arc so long holds them.
        places = np.sort(np.mod(offset, STUD))
        gap = max(float(np.diff(places).max()), STUD - float(places[-1] - places[0]))
        if STUD - gap > OFF_GRID + _DUST:
            return False
    return True


def joints(pairs: Pairs) -> Pairs:
    """Return the pairs of bricks that hold each other."""
    return pairs.where((pairs.depth < CONTACT_GAP) & (pairs.area >= JOINT_AREA))


def groups(count: int, pairs: Pairs) -> Indices:
    """Return for each brick the smallest index among all that are joined to it by pairs."""
    label = components(count, np.stack([pairs.lower, pairs.upper], axis=1))
    return np.unique(label, return_index=True)[1][label]


class Stance(NamedTuple):
    """How a group of joined bricks stands: its first index, size, centre of gravity in x and y.

    The support is the convex hull of its ground bricks, outside of which the centre lies by so many
    millimetres.
    """

    first: int
    size: int
    centre: tuple[float, float]
    support: list[list[float]]
    outside: float


def stances(bricks: Bricks, label: Indices, ground: Mask) -> list[Stance]:
    """Return the balance of each group of more than one brick, one of them on the ground.

    For the labels see `groups`; ``ground`` says which bricks are on the ground.
    """
    size = np.bincount(label, minlength=len(label))
    x, y = (np.bincount(label, values, len(label)) for values in (bricks.x, bricks.y))
    feet = np.flatnonzero(ground & (size[label] > 1))
    feet = feet[np.argsort(label[feet], kind="stable")]
    firsts, starts = np.unique(label[feet], return_index=True)
    if not len(firsts):
        return []
    corners = bricks.take(feet).plans()
    balances: list[Stance] = []
    for first, plans in zip(
        firsts.tolist(), np.split(corners, starts[1:]), strict=True
    ):
        hull = shapely.convex_hull(shapely.multipoints(plans.reshape(-1, 2)))
        n = int(size[first])
        centre = (float(x[first]) / n, float(y[first]) / n)
        outside = float(shapely.distance(hull, shapely.points(centre)))
        ring = shapely.get_coordinates(hull)[:-1].round(6).tolist()
        balances.append(Stance(first, n, centre, ring, round(outside, 9)))
    return balances


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


class Surface(NamedTuple):
    """One side of a body: a circle about the axis on every level from the bottom to the top."""

    radius: Callable[[Floats], Floats]
    top: float
    bottom: float = 0.0


class Body(NamedTuple):
    """What lies between two surfaces and above the table. All radii are monotone in z."""

    inner: Surface
    outer: Surface
    volume: float


class Boxes(NamedTuple):
    """Upright boxes of one plan with these half sides, as arrays; lengths in any unit.

    First and second are distances of a box's middle from the axis, along its sides.
    """

    first: Floats
    second: Floats
    low: Floats
    high: Floats
    half: tuple[float, float]

    def near(self) -> Floats:
        """Return how far the nearest points of the plans are from the axis."""
        gaps = [
            np.maximum(d - h, 0.0) for d, h in zip(self[:2], self.half, strict=True)
        ]
        return np.hypot(*gaps)

    def far(self) -> Floats:
        """Return how far the farthest corners of the plans are from the axis."""
        return np.hypot(self.first + self.half[0], self.second + self.half[1])


def body(params: Params) -> Body:
    """Return the target of an instance, in millimetres."""
    a, b = params.inner_radius_mm, params.outer_radius_mm
    if params.form == "bowl":
        return Body(
            _bowl_surface(a, b), _bowl_surface(b, b), 2 / 3 * math.pi * (b**3 - a**3)
        )
    if params.form == "hemisphere":
        return Body(
            _sphere_surface(a), _sphere_surface(b), 2 / 3 * math.pi * (b**3 - a**3)
        )
    if params.height_mm is not None:
        h = params.height_mm
        volume = math.pi * (b * b - a * a) * h
        return Body(_cylinder_surface(a, h), _cylinder_surface(b, h), volume)
    middle, r = (a + b) / 2, (b - a) / 2
    return Body(
        _tube_surface(middle, r, -1),
        _tube_surface(middle, r, 1),
        math.pi**2 * middle * r * r,
    )


def _sphere_surface(r: float) -> Surface:
    return Surface(lambda z: np.sqrt(np.maximum(r * r - z * z, 0.0)), r)


def _bowl_surface(r: float, top: float) -> Surface:
    return Surface(
        lambda z: np.sqrt(np.maximum(r * r - (top - z) ** 2, 0.0)), top, top - r
    )


def _cylinder_surface(r: float, height: float) -> Surface:
    return Surface(lambda z: np.full_like(z, r), height)


def _tube_surface(middle: float, r: float, side: int) -> Surface:
    return Surface(lambda z: middle + side * np.sqrt(np.maximum(r * r - z * z, 0.0)), r)


def strays(target: Body, boxes: Boxes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which boxes lie completely in the hollow, and which completely outside."""
    outside = (boxes.low > target.outer.top) | (
        boxes.near() > _largest_radius(target.outer, boxes)
    )
    return ~outside & (boxes.far() < _smallest_radius(target.inner, boxes)), outside


def _smallest_radius(surface: Surface, boxes: Boxes) -> Floats:
    # Monotone in z, so the ends of the box are enough; below the table there is no body.
    ends = [
        surface.radius(np.clip(z, 0.0, surface.top)) for z in (boxes.low, boxes.high)
    ]
    return np.minimum(*ends)


def _largest_radius(surface: Surface, boxes: Boxes) -> Floats:
    ends = [
        surface.radius(np.clip(z, 0.0, surface.top)) for z in (boxes.low, boxes.high)
    ]
    return np.maximum(*ends)


def shared_volumes(target: Body, boxes: Boxes) -> Floats:
    """Return the volume of each box that lies in the body."""
    return _volume_below(target.outer, boxes) - _volume_below(target.inner, boxes)


def _volume_below(surface: Surface, boxes: Boxes) -> Floats:
    """Return the volume of each box between the bottom, the top and inside the surface."""
    low, high = (
        np.maximum(boxes.low, surface.bottom),
        np.minimum(boxes.high, surface.top),
    )
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


def disc_areas(
    x: Floats, y: Floats, half: tuple[float, float], radius: Floats
) -> Floats:
    """Return the areas that rectangles share with discs about the origin.

    x and y are the middles of the rectangles, ``half`` half their two sides; radius 0 is a disc
    without area.
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
