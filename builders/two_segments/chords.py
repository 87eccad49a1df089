"""Chords of a frame: points to try as endpoints, and pairs of chords that make the wanted regions.

A place is an integer: places are counted from the first corner, ``unit`` per side. A chord is a
pair of places.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product

from scbench.base.errors import GenerationError
from scbench.graders.two_segments import (
    KINDS,
    Chord,
    exact,
    frame_of,
    locate,
    on_one_side,
    regions,
)
from scbench.schemas.two_segments import Params

XY = tuple[float, float]
Segments = list[tuple[XY, XY]]
Pair = tuple[Chord, Chord]
# Numbers of regions with 3, 4, 5 and 6 sides.
RegionCounts = tuple[int, ...]
# Points by place.
Spots = dict[int, XY]

UNIT_SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
# Shares of a side to try. A corner and two places inside each side allow every order of ends.
TENTHS = (Fraction(0), Fraction(3, 10), Fraction(7, 10))


def solve(params: Params) -> Segments:
    """Return the first two segments between allowed points that make the regions.

    Raises:
        GenerationError: there are no such segments.
    """
    spots = allowed_spots(params)
    pair = first_right_pair(params, spots)
    if pair is None:
        raise GenerationError(
            "no two segments between the allowed points make these regions"
        )
    return segments_of(pair, spots)


def allowed_spots(params: Params) -> Spots:
    """Return points to try as endpoints: the points of the grid if there is one."""
    if params.coordinate_grid is None:
        return spots_at(params, TENTHS)
    frame = frame_of(params.corners, params.snap_decimals)
    spots: Spots = {}
    for x, y in product(params.coordinate_grid, repeat=2):
        spot = locate(frame, (x, y))
        if spot is not None and spot.distance == 0:
            spots[spot.place] = (x, y)
    return spots


def spots_at(params: Params, shares: Sequence[Fraction]) -> Spots:
    """Return the points at these shares of every side."""
    unit = 10**params.snap_decimals
    spots: Spots = {}
    for side in range(4):
        for share in shares:
            place = side * unit + round(share * unit)
            spots[place] = point_at(params.corners, side, share)
    return spots


def point_at(corners: Sequence[Sequence[float]], side: int, share: Fraction) -> XY:
    """Return the point at this share of a side, as the doubles nearest to the exact values."""
    x, y = map(_exact_fraction, corners[side])
    # With four corners, index side - 3 is the next corner.
    next_x, next_y = map(_exact_fraction, corners[side - 3])
    return float(x + (next_x - x) * share), float(y + (next_y - y) * share)


def _exact_fraction(x: float) -> Fraction:
    n, k = exact(x)
    return Fraction(n, 10**k)


def segments_of(pair: Pair, spots: Mapping[int, XY]) -> Segments:
    """Return chords as the points that they join."""
    return [(spots[a], spots[b]) for a, b in pair]


def first_right_pair(params: Params, spots: Mapping[int, XY]) -> Pair | None:
    """Return the first pair of chords that makes the wanted regions; None if there is none."""
    return _first_pair(tuple(spots), 10**params.snap_decimals, target_of(params))


@lru_cache(maxsize=1024)
def _first_pair(
    places: tuple[int, ...], unit: int, target: RegionCounts
) -> Pair | None:
    for pair in pairs(places, unit):
        if region_counts(pair, unit) == target:
            return pair
    return None


def right_pairs(params: Params, spots: Mapping[int, XY]) -> Iterator[Pair]:
    """Yield the pairs of chords that make the wanted regions."""
    unit = 10**params.snap_decimals
    target = target_of(params)
    for pair in pairs(tuple(spots), unit):
        if region_counts(pair, unit) == target:
            yield pair


def pairs(places: Sequence[int], unit: int) -> Iterator[Pair]:
    """Yield every pair of different chords between these places."""
    chords = combinations(sorted(places), 2)
    across = [chord for chord in chords if not on_one_side(chord, unit)]
    return combinations(across, 2)


def region_counts(pair: Pair, unit: int) -> RegionCounts:
    """Return the numbers of regions with 3, 4, 5 and 6 sides that two chords make."""
    sides_of_regions = regions(*pair, unit)
    return tuple(sides_of_regions.count(sides) for sides in KINDS)


def target_of(params: Params) -> RegionCounts:
    """Return the numbers of wanted regions with 3, 4, 5 and 6 sides."""
    return tuple(getattr(params.counts, kind) for kind in KINDS.values())
