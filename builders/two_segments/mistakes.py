"""Wrong answers for one instance: for another frame, with a sliver, off the grid."""

import math
from collections.abc import Sequence
from fractions import Fraction

from scbench.base.errors import GenerationError
from scbench.builders.two_segments.chords import (
    TENTHS,
    UNIT_SQUARE,
    XY,
    Pair,
    Segments,
    Spots,
    first_right_pair,
    pairs,
    point_at,
    region_counts,
    right_pairs,
    segments_of,
    spots_at,
    target_of,
)
from scbench.graders.two_segments import frame_of, locate
from scbench.schemas.two_segments import Params

_HALF = Fraction(1, 2)
# Shares of a side that no usual grid contains.
_OFF_GRID = (
    Fraction(0),
    Fraction(123, 1000),
    Fraction(377, 1000),
    Fraction(623, 1000),
    Fraction(877, 1000),
)


def frame_counterexamples(params: Params) -> dict[str, Segments]:
    """Return the counterexamples that are wrong for this instance, by name.

    - ``as_parallelogram``: the frame is treated as a parallelogram, as an older grader did with
      skewed frames.
    - ``on_the_unit_square``: the given frame is ignored.
    - ``hidden_sliver``: three quadrilaterals and a triangle so thin that an older grader missed it.
    - ``off_grid``: right except for the grid.
    """
    (ax, ay), b, _, (dx, dy) = params.corners
    fourth = (b[0] + dx - ax, b[1] + dy - ay)
    parallelogram = ((ax, ay), (b[0], b[1]), fourth, (dx, dy))
    wrong = {
        "as_parallelogram": _drawn_on(parallelogram, params),
        "on_the_unit_square": _drawn_on(UNIT_SQUARE, params),
        "hidden_sliver": _hidden_sliver(params),
        "off_grid": _off_grid(params),
    }
    return {name: segments for name, segments in wrong.items() if segments}


def _drawn_on(corners: Sequence[XY], params: Params) -> Segments | None:
    """Return a correct answer to another frame that is off the true frame, if there is one."""
    if _are_near(params, corners):
        return None
    misread = params.model_copy(update={"corners": corners, "coordinate_grid": None})
    spots = spots_at(misread, TENTHS)
    for pair in right_pairs(misread, spots):
        first, second = segments_of(pair, spots)
        if not _are_near(params, [*first, *second]):
            return [first, second]
    return None


def _are_near(params: Params, points: Sequence[XY]) -> bool:
    """Return whether all points are on the frame, within the tolerance."""
    frame = frame_of(params.corners, params.snap_decimals)
    for point in points:
        spot = locate(frame, point)
        if spot is None or not spot.near:
            return False
    return True


def _hidden_sliver(params: Params) -> Segments | None:
    """Return chords whose ends just above a side are so close that rounding merges them."""
    if target_of(params) != (0, 3, 0, 0):
        return None
    corners = params.corners
    place = Fraction(1, 10**params.snap_decimals)
    upright = (point_at(corners, 0, _HALF), point_at(corners, 2, _HALF))
    slanted = (point_at(corners, 0, _HALF - place), point_at(corners, 1, _HALF + place))
    return [upright, slanted]


def _off_grid(params: Params) -> Segments | None:
    """Return an answer with the right regions and an endpoint that is not on the grid."""
    grid = params.coordinate_grid
    if grid is None:
        return None
    spots = spots_at(params, _OFF_GRID)
    pair = first_right_pair(params, spots)
    if pair is None:
        return None
    segments = segments_of(pair, spots)
    largest_gap = 0.0
    for start, end in segments:
        for x in (*start, *end):
            gap = min(abs(x - value) for value in grid)
            largest_gap = max(largest_gap, gap)
    return segments if largest_gap > 2 * 10**-params.snap_decimals else None


def first_wrong_pair(params: Params, spots: Spots) -> Pair:
    """Return the first pair of chords that does not make the wanted regions."""
    unit = 10**params.snap_decimals
    for pair in pairs(tuple(spots), unit):
        if region_counts(pair, unit) != target_of(params):
            return pair
    raise GenerationError("any two segments between the allowed points are right")


def pushed_out(params: Params, point: XY) -> XY:
    """Return a boundary point moved straight out by three times the largest tolerance."""
    spot = locate(frame_of(params.corners, params.snap_decimals), point)
    if spot is None:
        raise ValueError(f"{point} is not on the boundary")
    # Vectors from each corner to the next, which has index i - 3.
    steps = []
    for i, (x, y) in enumerate(params.corners):
        next_x, next_y = params.corners[i - 3]
        steps.append((next_x - x, next_y - y))
    dx, dy = steps[spot.place // 10**params.snap_decimals]
    longest = max(math.hypot(*step) for step in steps)
    push = 1.5 * 10**-params.snap_decimals * longest
    share = push / math.hypot(dx, dy)
    # The frame runs counter-clockwise, so its outside is on the right of a step.
    return point[0] + share * dy, point[1] - share * dx
