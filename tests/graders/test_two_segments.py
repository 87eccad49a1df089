import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.builders.two_segments import TaskBuilder
from scbench.catalog import get_task
from scbench.graders.two_segments import exact, frame_of, locate, on_one_side, regions
from scbench.schemas.two_segments import Params
from scbench.scoring.judge import judge

TASK = get_task("two_segments")
BUILDER = TaskBuilder()
PAPER = [item.params for item in BUILDER.paper()]
UNIT = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
FRAMES = [UNIT, *(PAPER[i].corners for i in (2, 20, 23))]
PLACES = st.integers(0, 4 * 20 - 1)


def verdict(params, segments):
    [verdict] = judge(TASK, params, {"segments": segments})
    return verdict


def failed(params, segments) -> set[str]:
    checks = verdict(params, segments).checks
    return {check.id for check in checks if check.passed is False}


def between(a, b, share):
    """Return the point at a share of the way from a to b."""
    (ax, ay), (bx, by) = a, b
    return (ax + (bx - ax) * share, ay + (by - ay) * share)


def turn(a, b, c):
    """Return a positive number if a, b and c turn left, 0 if they are on one line."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def left_half(polygon, a, b):
    """Return the part of a convex polygon to the left of the line from a to b."""
    kept = []
    for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        at_p, at_q = turn(a, b, p), turn(a, b, q)
        if at_p >= 0:
            kept.append(p)
        if at_p * at_q < 0:
            kept.append(between(p, q, at_p / (at_p - at_q)))
    return kept


def count_corners(polygon):
    corners = list(dict.fromkeys(polygon))
    count = 0
    for i, corner in enumerate(corners):
        count += turn(corners[i - 2], corners[i - 1], corner) != 0
    return count


def exact_ring(corners):
    return [tuple(Fraction(repr(x)) for x in corner) for corner in corners]


def make(counts, corners=UNIT, **more) -> Params:
    return Params(corners=corners, counts=counts, **{"snap_decimals": 3, **more})


def split_exactly(corners, chords, unit) -> list[int]:
    """Cut the polygon along both lines and count the real corners of every piece.

    Chords go from boundary to boundary of a convex frame, so the lines through them cut alike.
    """
    ring = exact_ring(corners)

    def point(place):
        side, share = divmod(place, unit)
        return between(ring[side], ring[(side + 1) % 4], Fraction(share, unit))

    pieces = [ring]
    for chord in chords:
        a, b = map(point, chord)
        halves = []
        for piece in pieces:
            halves += [left_half(piece, a, b), left_half(piece, b, a)]
        pieces = halves
    counts = [count_corners(piece) for piece in pieces if len(set(piece)) >= 3]
    return sorted(count for count in counts if count >= 3)


@given(
    frame=st.sampled_from(FRAMES),
    first=st.tuples(PLACES, PLACES),
    second=st.tuples(PLACES, PLACES),
)
def test_regions_match_exact_split(frame, first, second):
    if any(a == b or on_one_side((a, b), 20) for a, b in (first, second)):
        return
    assert sorted(regions(first, second, 20)) == split_exactly(
        frame, (first, second), 20
    )


@given(x=st.floats(-1e6, 1e6))
def test_numbers_are_read_as_their_shortest_decimal(x):
    n, k = exact(x)
    assert k >= 0
    assert Fraction(n, 10**k) == Fraction(repr(x))


@given(
    corners=st.sampled_from([*FRAMES, PAPER[1].corners]),
    side=st.integers(0, 3),
    share=st.decimals(0, 1, places=5),
    dx=st.decimals("-0.0012", "0.0012", places=6),
    dy=st.decimals("-0.0012", "0.0012", places=6),
)
def test_nearest_place_matches_search_in_fractions(corners, side, share, dx, dy):
    ring = exact_ring(corners)
    x, y = between(ring[side], ring[(side + 1) % 4], Fraction(share))
    point = (float(x + Fraction(dx)), float(y + Fraction(dy)))
    exact_point = tuple(Fraction(repr(value)) for value in point)
    found = []
    for i in range(4):
        a, b = ring[i], ring[(i + 1) % 4]
        along = (b[0] - a[0], b[1] - a[1])
        offset = (exact_point[0] - a[0], exact_point[1] - a[1])
        length2 = along[0] ** 2 + along[1] ** 2
        t = (offset[0] * along[0] + offset[1] * along[1]) / length2
        t = min(max(t, Fraction(0)), Fraction(1))
        gap2 = (offset[0] - t * along[0]) ** 2 + (offset[1] - t * along[1]) ** 2
        # The nearest side counts; of equally near ones the longest, then the first.
        found.append((gap2, -length2, i, t))
    gap2, minus_length2, i, t = min(found)
    spot = locate(frame_of(corners, 3), point)
    assert spot.place == (i * 1000 + round(t * 1000)) % 4000
    assert spot.near == (gap2 <= Fraction(1, 2000) ** 2 * -minus_length2)
    assert spot.distance == pytest.approx(float(gap2) ** 0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("point", "near"),
    [
        ((0.5, -0.0005), True), ((0.5, 0.0005), True), ((0.5, -0.000500000001), False),
        ((1.0005, 0.7), True), ((1.00050001, 0.7), False), ((1.0003, 1.0004), True),
        ((1.00030001, 1.0004), False), ((0.5, 0.5), False), ((-0.3, 0.0), False),
    ],
)  # fmt: skip
def test_tolerance_is_inclusive_and_exact(point, near):
    assert locate(frame_of(UNIT, 3), point).near == near


def test_tolerance_grows_with_the_side():
    frame = frame_of(((0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)), 3)
    assert locate(frame, (0.5, -0.001)).near
    assert not locate(frame, (0.5, -0.0010001)).near
    assert not locate(frame, (-0.0006, 0.5)).near
    # Beyond a corner both sides are equally near, and the longer one counts.
    assert locate(frame, (-0.0006, -0.0006)).near


def test_grid_tolerance_applies_to_written_coordinates():
    params = make(
        {"triangle": 3, "pentagon": 1}, coordinate_grid=(0.0, 0.33, 0.5, 0.67, 1.0)
    )
    good = [[[0.6705, 0], [1, 1]], [[1, 0], [0.3295, 1]]]
    assert verdict(params, good).score == 1
    assert failed(params, [[[0.67051, 0], [1, 1]], good[1]]) == {"grid"}
    assert failed(params, [[[0.6, 0], [1, 1]], good[1]]) == {"grid"}
    assert failed(params, [[[0.67, 0.5], [1, 1]], good[1]]) == {"boundary"}
    assert failed(params, [[[0.67, 1e300], [1, 1]], good[1]]) == {"grid", "boundary"}


@pytest.mark.parametrize(
    ("segments", "faults"),
    [
        ([[[0.2, 0], [0.8, 0]], [[0.2, 0], [0.4, 1]]], {"one_side"}),
        ([[[0, 0], [1, 0]], [[0.2, 0], [0.4, 1]]], {"one_side"}),
        ([[[0, 0.5], [0, 0]], [[0.2, 0], [0.4, 1]]], {"one_side"}),
        ([[[1, 0.9996], [0, 1]], [[0.2, 0], [0.4, 1]]], {"one_side"}),
        ([[[0.2, 0], [0.2, 0]], [[0.2, 0], [0.4, 1]]], {"length"}),
        ([[[0.2, 0], [0.2003, 0]], [[0.2, 0], [0.4, 1]]], {"length"}),
        ([[[0.2, 0], [0.4, 1]], [[0.4, 1], [0.2, 0]]], {"distinct", "regions"}),
        ([[[0.2, 0], [0.4, 1]], [[0.2001, 0], [0.4, 1]]], {"distinct", "regions"}),
        ([[[0.2, 0], [0.8, 0]], [[0.2, 0], [0.8, 0]]], {"one_side", "distinct"}),
        (
            [[[0.5, 0.5], [0.5, 0.5]], [[0.2, 0], [0.8, 0]]],
            {"boundary", "length", "one_side"},
        ),
        ([[[0.5, 0.5], [0.1, 1]], [[0.5, 0.5], [0.1, 1]]], {"boundary", "distinct"}),
    ],
)
def test_segment_faults_are_reported_together(segments, faults):
    assert failed(PAPER[4], segments) == faults


@pytest.mark.parametrize("huge", [-1.7e308, 10**400, 5e-324, -0.0])
@pytest.mark.parametrize("i", [1, 23])
def test_extreme_numbers_are_graded(i, huge):
    rest = [[float(x) for x in corner] for corner in PAPER[i].corners]
    result = verdict(PAPER[i], [[[huge, 0.0], rest[2]], [rest[1], rest[3]]])
    assert result.score == 0
    json.dumps(dict(result.metrics))
    for check in result.checks:
        json.dumps(dict(check.details))
        assert len(check.message) < 500
