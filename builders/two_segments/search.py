"""Finding two chords of a quadrilateral that cut it into wanted regions, by trying pairs."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product

from scbench.graders.two_segments import Chord, exact, frame_of, locate, on_one_side, regions
from scbench.schemas.two_segments import Params

XY = tuple[float, float]
Pair = tuple[Chord, Chord]
Wanted = tuple[int, ...]
"""How many regions have 3, 4, 5 and 6 sides."""

UNIT_SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))

TENTHS = (Fraction(0), Fraction(3, 10), Fraction(7, 10))
"""Shares of a side to try. A corner and two places inside each side are enough for every order."""


def point_at(corners: Sequence[Sequence[float]], side: int, share: Fraction) -> XY:
    """Return the point at this share of a side, the double nearest to the exact value."""
    a, b = corners[side], corners[side - 3]
    x, y = (_fraction(p) + (_fraction(q) - _fraction(p)) * share for p, q in zip(a, b, strict=True))
    return float(x), float(y)


def _fraction(x: float) -> Fraction:
    n, k = exact(x)
    return Fraction(n, 10**k)


def spots_at(params: Params, shares: Sequence[Fraction]) -> dict[int, XY]:
    """Return the points at these shares of every side, by place."""
    unit = 10**params.snap_decimals
    return {
        side * unit + round(share * unit): point_at(params.corners, side, share)
        for side in range(4)
        for share in shares
    }


def allowed_spots(params: Params) -> dict[int, XY]:
    """Return points to try as endpoints, by place: those of the grid, where there is one."""
    if params.coordinate_grid is None:
        return spots_at(params, TENTHS)
    frame = frame_of(params.corners, params.snap_decimals)
    found: dict[int, XY] = {}
    for x, y in product(params.coordinate_grid, repeat=2):
        spot = locate(frame, (x, y))
        if spot is not None and spot.distance == 0:
            found[spot.place] = (x, y)
    return found


def kinds(pair: Pair, unit: int) -> Wanted:
    """Return how many regions with 3, 4, 5 and 6 sides two chords make."""
    made = regions(*pair, unit)
    return tuple(made.count(sides) for sides in (3, 4, 5, 6))


def pairs(places: Sequence[int], unit: int) -> Iterator[Pair]:
    """Yield every pair of different chords between these places."""
    chords = [chord for chord in combinations(sorted(places), 2) if not on_one_side(chord, unit)]
    return combinations(chords, 2)


@lru_cache(maxsize=1024)
def first_pair(places: tuple[int, ...], unit: int, wanted: Wanted) -> Pair | None:
    """Return the first pair of chords between these places that makes the wanted regions."""
    return next((pair for pair in pairs(places, unit) if kinds(pair, unit) == wanted), None)
