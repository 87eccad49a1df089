"""Toy bricks in space: which of them overlap, are joined, or fall over.

A brick has 2 x 4 studs and is 32 x 16 x 9.6 mm once assembled; it may be turned about z by any
angle. All arrays have one entry per brick, or one per pair of bricks. Lengths are in millimetres.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from scbench.base.runs import expand_runs
from scbench.graders.lego_hemispherical_shell.target import (
    Floats,
    Mask,
)
from scbench.graders.shared.mesh_topology import components

Indices = NDArray[np.int64]
# Half the length and half the width of a brick's plan.
HALF = (16.0, 8.0)
HEIGHT = 9.6
VOLUME = 4915.2
# Maximum vertical distance of a brick's centre from its layer's, in millimetres.
LAYER_SLACK = 0.96
# A brick with a lower centre sinks into the table.
LOWEST = 4.7
# Distance between studs.
STUD = 8.0
# A top and a bottom closer than this are in contact. Bricks that share more height overlap.
CONTACT_GAP = 0.5
# Plans that share no more than this, in square millimetres, neither touch nor overlap.
CONTACT_AREA = 1.0
# Bricks in contact are joined if their plans share at least this area: half of a stud's square.
JOINT_AREA = STUD * STUD / 2
# Maximum offset of a brick from another's stud grid along each side.
OFF_GRID = 0.5
# Maximum difference of its angle, in degrees.
OFF_ANGLE = 1.0
# Plans whose centres are farther apart than this do not meet.
_REACH = 36.0
# Side of the cells in which neighbours are searched: bricks that meet are in the same
# or adjacent cells.
CELL = (_REACH, _REACH, HEIGHT + CONTACT_GAP)
# Tolerance at every limit for rounding errors.
_DUST = 1e-9


class Bricks(NamedTuple):
    """Bricks; x, y and z are their centres, angles are in degrees, in [0, 180)."""

    x: Floats
    y: Floats
    z: Floats
    angle: Floats
    cos: Floats
    sin: Floats

    @classmethod
    def of(cls, rows: Sequence[tuple[float, ...]]) -> "Bricks":
        """Return bricks with these centres (x, y, z) and rotations in degrees."""
        x, y, z, turn = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        angle = np.mod(turn, 180.0)
        # A tiny negative angle gives 180.
        angle[angle == 180.0] = 0.0
        # Exact at right angles, which nearly all bricks have.
        cos = np.where(angle == 90.0, 0.0, np.cos(np.radians(angle)))
        return cls(x, y, z, angle, cos, np.sin(np.radians(angle)))

    def take(self, indices: Indices) -> "Bricks":
        """Return the bricks with these indices."""
        return Bricks(*(values[indices] for values in self))

    def layer_middles(self) -> Floats:
        """Return the z of the nearest layer for each brick."""
        layer = np.maximum(np.rint((self.z - HEIGHT / 2) / HEIGHT), 0.0)
        return HEIGHT / 2 + HEIGHT * layer

    def off_layer(self) -> Mask:
        """Return a mask of the bricks in no layer."""
        too_far = np.abs(self.z - self.layer_middles()) > LAYER_SLACK + _DUST
        return too_far | (self.z < LOWEST - _DUST)

    def in_layers(self) -> "Bricks":
        """Return the bricks moved exactly to their layers; bricks in no layer are not moved."""
        z = np.where(self.off_layer(), self.z, self.layer_middles())
        return self._replace(z=z)

    def plans(self) -> Floats:
        """Return the corners of the plans, counter-clockwise, of shape (n, 4, 2)."""
        u = np.array([1, -1, -1, 1]) * HALF[0]
        v = np.array([1, 1, -1, -1]) * HALF[1]
        c = self.cos[:, None]
        s = self.sin[:, None]
        x = self.x[:, None] + c * u - s * v
        y = self.y[:, None] + s * u + c * v
        return np.stack([x, y], -1)

    def seen_from(self, i: Indices, j: Indices) -> tuple[Floats, Floats]:
        """Return the centres of bricks j in the frames of bricks i."""
        dx = self.x[j] - self.x[i]
        dy = self.y[j] - self.y[i]
        return self.cos[i] * dx + self.sin[i] * dy, self.cos[i] * dy - self.sin[i] * dx


class Pairs(NamedTuple):
    """Pairs of bricks whose plans share an area of more than 1 square millimetre, in order."""

    lower: Indices
    """The brick with the smaller z, or the smaller index if z is equal."""
    upper: Indices
    area: Floats
    """The area that the plans share."""
    depth: Floats
    """The height that both share, negative if there is a gap."""

    def where(self, mask: Mask) -> "Pairs":
        """Return the pairs selected by a mask."""
        return Pairs(
            self.lower[mask], self.upper[mask], self.area[mask], self.depth[mask]
        )


class Stance(NamedTuple):
    """The balance of a group of joined bricks."""

    first: int
    """Smallest index of its bricks."""
    size: int
    centre: tuple[float, float]
    """x and y of its centre of gravity."""
    support: list[list[float]]
    """Corners of the convex hull of its ground bricks."""
    outside: float
    """How far the centre lies outside the support."""


def close_pairs(bricks: Bricks, max_pairs: int) -> Pairs | None:
    """Return the pairs whose plans meet without a vertical gap.

    No brick is farther than 100 m from the origin. Returns None if more pairs than
    ``max_pairs`` would have to be compared.
    """
    ix = np.floor(bricks.x / CELL[0]).astype(np.int64)
    iy = np.floor(bricks.y / CELL[1]).astype(np.int64)
    iz = np.floor(bricks.z / CELL[2]).astype(np.int64)
    width = _cell_count(ix)
    depth = _cell_count(iy)
    code = (iz * width + ix) * depth + iy
    order = np.argsort(code, kind="stable")
    code = code[order]
    # Sorted by cells, the neighbours of a brick are five runs of bricks: those after it in its own
    # cell and the next one along y, and three adjacent cells at each of these four steps.
    begins = [np.arange(1, len(code) + 1)]
    ends = [np.searchsorted(code, code + 1, "right")]
    for step in (depth, (width - 1) * depth, width * depth, (width + 1) * depth):
        begins.append(np.searchsorted(code, code + step - 1))
        ends.append(np.searchsorted(code, code + step + 1, "right"))
    begin = np.stack(begins)
    end = np.stack(ends)
    if int((end - begin).sum()) > max_pairs:
        return None
    # Runs are numbered step by step, with a run for every brick in each step.
    run, partner_place = expand_runs(begin.ravel(), end.ravel())
    place = run % len(code)
    return _measure_pairs(bricks, order[place], order[partner_place])


def _cell_count(cells: Indices) -> int:
    """Return the number of cells along one axis of a grid that has an empty cell at each end."""
    return int(np.ptp(cells)) + 3 if len(cells) else 3


def _measure_pairs(bricks: Bricks, i: Indices, j: Indices) -> Pairs:
    # Digits beyond the ninth are rounding errors from adding up layers of 9.6.
    depth = np.round(HEIGHT - np.abs(bricks.z[i] - bricks.z[j]), 9)
    distance = np.hypot(bricks.x[i] - bricks.x[j], bricks.y[i] - bricks.y[j])
    is_near = (depth > -CONTACT_GAP) & (distance < _REACH)
    i = i[is_near]
    j = j[is_near]
    area = shared_areas(bricks, i, j)
    # Of bricks at the same height, the first counts as the lower one.
    is_later = (bricks.z[i] == bricks.z[j]) & (i > j)
    is_upper = (bricks.z[i] > bricks.z[j]) | is_later
    lower = np.where(is_upper, j, i)
    upper = np.where(is_upper, i, j)
    pairs = Pairs(lower, upper, area, depth[is_near]).where(area > CONTACT_AREA)
    order = np.lexsort((pairs.upper, pairs.lower))
    return Pairs(
        pairs.lower[order], pairs.upper[order], pairs.area[order], pairs.depth[order]
    )


def shared_areas(bricks: Bricks, i: Indices, j: Indices) -> Floats:
    """Return the areas that plans share, rounded to 9 digits so that GEOS versions agree."""
    turn = np.mod(bricks.angle[j] - bricks.angle[i], 180.0)
    is_square = np.abs(turn - 90.0) < _DUST
    is_aligned = is_square | (np.minimum(turn, 180.0 - turn) < _DUST)
    # Plans at right angles share a rectangle.
    area = np.ones(len(i))
    for axis, distance in enumerate(bricks.seen_from(i, j)):
        half_i = HALF[axis]
        half_j = np.where(is_square, HALF[1 - axis], HALF[axis])
        overlap = half_i + half_j - np.abs(distance)
        shorter = 2 * np.minimum(half_i, half_j)
        area *= np.maximum(np.minimum(overlap, shorter), 0.0)
    # All others are intersected as polygons, if their projections on the sides of both
    # overlap.
    crooked = np.flatnonzero(~is_aligned)
    area[crooked] = 0.0
    meet_i = _may_meet(bricks, i[crooked], j[crooked])
    meet_j = _may_meet(bricks, j[crooked], i[crooked])
    crooked = crooked[meet_i & meet_j]
    if len(crooked):
        ends = np.concatenate([i[crooked], j[crooked]])
        corner_bricks, places = np.unique(ends, return_inverse=True)
        plans = np.asarray(shapely.polygons(bricks.take(corner_bricks).plans()))
        first, second = np.split(places, 2)
        # Tiny coordinates make GEOS divide by zero, which is harmless.
        with np.errstate(all="ignore"):
            overlaps = shapely.intersection(plans[first], plans[second])
            area[crooked] = shapely.area(overlaps)
    return np.round(area, 9)


def _may_meet(bricks: Bricks, i: Indices, j: Indices) -> Mask:
    """Return whether plans overlap as seen along the sides of bricks i."""
    # The half extents of bricks j along the sides of bricks i are added to those of i.
    turn = np.radians(bricks.angle[j] - bricks.angle[i])
    c = np.abs(np.cos(turn))
    s = np.abs(np.sin(turn))
    x, y = bricks.seen_from(i, j)
    width, depth = HALF
    meet_x = np.abs(x) < width + c * width + s * depth
    meet_y = np.abs(y) < depth + s * width + c * depth
    return meet_x & meet_y


def joints(pairs: Pairs) -> Pairs:
    """Return the pairs of bricks that are joined."""
    return pairs.where((pairs.depth < CONTACT_GAP) & (pairs.area >= JOINT_AREA))


def groups(count: int, pairs: Pairs) -> Indices:
    """Return for each brick the smallest index among all bricks joined to it."""
    label = components(count, np.stack([pairs.lower, pairs.upper], axis=1))
    _, first = np.unique(label, return_index=True)
    return first[label]


def off_grid(bricks: Bricks, first: Indices, second: Indices) -> Mask:
    """Return a mask of the pairs that are not on the first brick's stud grid."""
    turn = np.mod(bricks.angle[second] - bricks.angle[first], 90.0)
    is_off = np.minimum(turn, 90.0 - turn) > OFF_ANGLE + _DUST
    for offset in bricks.seen_from(first, second):
        nearest_stud = STUD * np.rint(offset / STUD)
        is_off |= np.abs(offset - nearest_stud) > OFF_GRID + _DUST
    return is_off


def misfits(bricks: Bricks, label: Indices, max_pairs: int) -> list[tuple[int, int]]:
    """Return pairs of bricks in one group whose second is not on the first one's stud grid.

    For the labels see `groups`; the search stops at ``max_pairs`` pairs.
    """
    pairs: list[tuple[int, int]] = []
    order = np.argsort(label, kind="stable")
    _, starts = np.unique(label[order], return_index=True)
    for members in np.split(order, starts[1:]):
        # For most groups, the quick test makes comparing all pairs unnecessary.
        if len(members) <= 1 or _on_one_grid(bricks, members):
            continue
        for place, brick in enumerate(members[:-1].tolist()):
            later = members[place + 1 :]
            is_off = off_grid(bricks, np.full(len(later), brick), later)
            pairs += [(brick, second) for second in later[is_off].tolist()]
            if len(pairs) >= max_pairs:
                return sorted(pairs[:max_pairs])
    return sorted(pairs)


def _on_one_grid(bricks: Bricks, members: Indices) -> bool:
    """Return whether bricks of equal angle all fit; False if their angles differ at all."""
    turn = np.mod(bricks.angle[members] - bricks.angle[members[0]], 90.0)
    if np.any(np.minimum(turn, 90.0 - turn) > 0):
        return False
    for offset in bricks.seen_from(np.full(len(members), members[0]), members):
        # On a circle of 8 mm, all are within 0.5 of each other if an arc of this length
        # contains them.
        places = np.sort(np.mod(offset, STUD))
        gap_across_zero = STUD - float(places[-1] - places[0])
        largest_gap = max(float(np.diff(places).max()), gap_across_zero)
        if STUD - largest_gap > OFF_GRID + _DUST:
            return False
    return True


def stances(bricks: Bricks, label: Indices, ground: Mask) -> list[Stance]:
    """Return the balance of each group of several bricks that has a brick on the ground.

    For the labels see `groups`; ``ground`` says which bricks are on the ground.
    """
    size = np.bincount(label, minlength=len(label))
    x_sum = np.bincount(label, bricks.x, len(label))
    y_sum = np.bincount(label, bricks.y, len(label))
    feet = np.flatnonzero(ground & (size[label] > 1))
    feet = feet[np.argsort(label[feet], kind="stable")]
    firsts, starts = np.unique(label[feet], return_index=True)
    if not len(firsts):
        return []
    plans_of_groups = np.split(bricks.take(feet).plans(), starts[1:])
    balances: list[Stance] = []
    for first, plans in zip(firsts.tolist(), plans_of_groups, strict=True):
        hull = shapely.convex_hull(shapely.multipoints(plans.reshape(-1, 2)))
        n = int(size[first])
        centre = (float(x_sum[first]) / n, float(y_sum[first]) / n)
        outside = float(shapely.distance(hull, shapely.points(centre)))
        ring = shapely.get_coordinates(hull)[:-1].round(6).tolist()
        balances.append(Stance(first, n, centre, ring, round(outside, 9)))
    return balances
