"""Answers to two_segments that look right: drawn on another frame, off the grid, or too thin."""

import math
from collections.abc import Sequence
from fractions import Fraction

from scbench.builders.two_segments.search import (
    TENTHS,
    UNIT_SQUARE,
    XY,
    Pair,
    Wanted,
    first_pair,
    kinds,
    pairs,
    point_at,
    spots_at,
)
from scbench.graders.two_segments import frame_of, locate
from scbench.schemas.two_segments import Params

Segments = list[tuple[XY, XY]]

_HALF = Fraction(1, 2)
_OFF_GRID = (Fraction(123, 1000), Fraction(377, 1000), Fraction(623, 1000), Fraction(877, 1000))


def frame_counterexamples(params: Params, wanted: Wanted) -> dict[str, Segments]:
    """Return the counterexamples that are wrong for this instance, by name.

    - ``as_parallelogram``: the fourth corner taken to follow from the others, which an older grader
      did with skewed frames.
    - ``on_the_unit_square``: the frame shown is not looked at.
    - ``hidden_sliver``: three quadrilaterals and a triangle so thin that an older grader missed it.
    - ``off_grid``: right but for the grid.
    """
    wrong = {
        "as_parallelogram": _drawn_on(_parallelogram(params), params, wanted),
        "on_the_unit_square": _drawn_on(UNIT_SQUARE, params, wanted),
        "hidden_sliver": _hidden_sliver(params) if wanted == (0, 3, 0, 0) else None,
        "off_grid": _off_grid(params, wanted),
    }
    return {name: segments for name, segments in wrong.items() if segments}


def pushed_out(params: Params, point: XY) -> XY:
    """Return a boundary point moved straight out by three times the largest tolerance."""
    spot = locate(frame_of(params.corners, params.snap_decimals), point)
    if spot is None:
        raise ValueError(f"{point} is not on the boundary")
    ring = (*params.corners, params.corners[0])
    steps = [(ring[i + 1][0] - ring[i][0], ring[i + 1][1] - ring[i][1]) for i in range(4)]
    dx, dy = steps[spot.place // 10**params.snap_decimals]
    push = 1.5 * 10**-params.snap_decimals * max(math.hypot(*step) for step in steps)
    share = push / math.hypot(dx, dy)
    return point[0] + share * dy, point[1] - share * dx


def _near(params: Params, point: XY) -> bool:
    spot = locate(frame_of(params.corners, params.snap_decimals), point)
    return spot is not None and spot.near


def _parallelogram(params: Params) -> tuple[XY, ...]:
    a, b, _, d = ((x, y) for x, y in params.corners)
    return a, b, (b[0] + d[0] - a[0], b[1] + d[1] - a[1]), d


def _drawn_on(
    corners: Sequence[Sequence[float]], params: Params, wanted: Wanted
) -> Segments | None:
    """Return a right answer to another frame that is off the true one, if the two differ."""
    if all(_near(params, (x, y)) for x, y in corners):
        return None
    other = params.model_copy(update={"corners": corners, "coordinate_grid": None})
    spots, unit = spots_at(other, TENTHS), 10**params.snap_decimals
    for pair in pairs(tuple(spots), unit):
        ends = [[spots[place] for place in chord] for chord in pair]
        if kinds(pair, unit) == wanted and not all(
            _near(params, p) for chord in ends for p in chord
        ):
            return _points(pair, spots)
    return None


def _hidden_sliver(params: Params) -> Segments:
    """Return chords that meet one place above a side, and so close that rounding merges them."""
    beside = Fraction(1, 10**params.snap_decimals)
    ends = [(0, _HALF), (2, _HALF), (0, _HALF - beside), (1, _HALF + beside)]
    a, b, c, d = (point_at(params.corners, side, share) for side, share in ends)
    return [(a, b), (c, d)]


def _off_grid(params: Params, wanted: Wanted) -> Segments | None:
    """Return an answer with the right regions and an endpoint that is not on the grid."""
    grid = params.coordinate_grid
    if grid is None:
        return None
    spots = spots_at(params, (Fraction(0), *_OFF_GRID))
    pair = first_pair(tuple(spots), 10**params.snap_decimals, wanted)
    if pair is None:
        return None
    segments = _points(pair, spots)
    gaps = [
        min(abs(x - value) for value in grid)
        for chord in segments
        for point in chord
        for x in point
    ]
    return segments if max(gaps) > 2 * 10**-params.snap_decimals else None


def _points(pair: Pair, spots: dict[int, XY]) -> Segments:
    return [(spots[a], spots[b]) for a, b in pair]
