"""Do these two segments cut the frame into exactly the wanted polygons?

Endpoints are read as exact decimals and moved to the nearest place on the true quadrilateral. A
place is an integer: side times ``unit`` plus the place along that side, with ``unit`` places to a
side, so that corners are the multiples of ``unit``. What the segments cut depends only on the
cyclic order of their ends and the corners, and no more geometry is needed for it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.two_segments import Answer, Params

VERSION = 1

CHECKS = {
    "grid": "Both coordinates of every endpoint are values of the grid.",
    "boundary": "Every endpoint lies on the boundary of the frame, within the tolerance.",
    "length": "The endpoints of each segment are different.",
    "one_side": "No segment has both endpoints on one side of the frame.",
    "distinct": "The two segments are different.",
    "regions": "The segments cut the frame into exactly the regions asked for.",
}

KINDS = {3: "triangle", 4: "quadrilateral", 5: "pentagon", 6: "hexagon"}
_PLACES = [(segment, end) for segment in range(2) for end in range(2)]
Chord = tuple[int, int]


class Frame(NamedTuple):
    """A convex quadrilateral with corners as integers of ``decimals`` decimals."""

    corners: tuple[tuple[int, int], ...]
    decimals: int
    unit: int
    reach: float
    """Coordinates larger than this are not looked at: they are far outside."""


class Spot(NamedTuple):
    """Where a point is, seen from the boundary."""

    place: int
    """The nearest place on the boundary."""
    near: bool
    """Whether the point is within half a place of the boundary, along the side it is nearest to."""
    distance: float
    """Distance from the boundary."""
    relative: float
    """The same, divided by the length of the side."""


def exact(x: float) -> tuple[int, int]:
    """Return n and k at least 0 with x = n / 10**k, for the shortest decimal that gives x."""
    digits, _, exponent = repr(x).partition("e")
    integer_part, _, fraction = digits.partition(".")
    k = len(fraction) - int(exponent or 0)
    n = int(integer_part + fraction)
    return (n, k) if k >= 0 else (n * 10**-k, 0)


def frame_of(corners: Sequence[Sequence[float]], decimals: int) -> Frame:
    """Return the frame with these corners and 10**decimals places to a side."""
    digits = [[exact(x) for x in corner] for corner in corners]
    max_decimals = max(k for corner in digits for _, k in corner)
    points = tuple(
        (x * 10 ** (max_decimals - i), y * 10 ** (max_decimals - j))
        for (x, i), (y, j) in digits
    )
    reach = 100 * (1 + max(abs(x) for corner in corners for x in corner))
    return Frame(points, max_decimals, 10**decimals, reach)


def locate(frame: Frame, point: tuple[float, float]) -> Spot | None:
    """Return where a point is, decided exactly, or None if it is out of the frame's reach.

    Of sides equally near the longest counts, then the first. Exact halves round to even.
    """
    if max(abs(point[0]), abs(point[1])) > frame.reach:
        return None
    (x, i), (y, j) = exact(point[0]), exact(point[1])
    decimals = max(i, j, frame.decimals)
    x, y = x * 10 ** (decimals - i), y * 10 ** (decimals - j)
    grow = 10 ** (decimals - frame.decimals)
    ends = [(a * grow, b * grow) for a, b in frame.corners]
    # Squared distance gap / per and squared length of the best side so far.
    best_side, best_along, best_gap, best_per, best_length = -1, 0, 0, 1, 0
    for side in range(4):
        (ax, ay), (bx, by) = ends[side], ends[side - 3]
        dx, dy, px, py = bx - ax, by - ay, x - ax, y - ay
        length = dx * dx + dy * dy
        along = px * dx + py * dy
        if along <= 0:
            along, gap, per = 0, px * px + py * py, 1
        elif along >= length:
            along, gap, per = length, (x - bx) ** 2 + (y - by) ** 2, 1
        else:
            gap, per = (px * dy - py * dx) ** 2, length
        closer = best_gap * per - gap * best_per
        if best_side < 0 or closer > 0 or (closer == 0 and length > best_length):
            best_side, best_along = side, along
            best_gap, best_per, best_length = gap, per, length
    step, remainder = divmod(best_along * frame.unit, best_length)
    if 2 * remainder > best_length or (2 * remainder == best_length and step % 2):
        step += 1
    return Spot(
        place=(best_side * frame.unit + step) % (4 * frame.unit),
        near=best_gap * (2 * frame.unit) ** 2 <= best_per * best_length,
        distance=math.sqrt(best_gap / (best_per * 10 ** (2 * decimals))),
        relative=math.sqrt(best_gap / (best_per * best_length)),
    )


@lru_cache(maxsize=4096)
def on_one_side(chord: Chord, unit: int) -> bool:
    """Whether both ends lie on one side; a corner belongs to both its sides."""
    return any(
        all((end - side) % (4 * unit) <= unit for end in chord)
        for side in _corner_places(unit)
    )


def regions(first: Chord, second: Chord, unit: int) -> list[int]:
    """Return the number of sides of each region that two chords cut the frame into.

    The ends of a chord are different and not on one side; the second may share ends with the first.
    There are ``unit`` places to a side.
    """
    a, b = first
    if {a, b} == set(second):
        return [_between(a, b, unit) + 2, _between(b, a, unit) + 2]
    if len({a, b, *second}) == 4 and _within(second[0], a, b, unit) != _within(
        second[1], a, b, unit
    ):
        ring = sorted((a, b, *second))
        return [_between(ring[i - 1], ring[i], unit) + 3 for i in range(4)]
    # Each chord cuts off the arc on which the other has no end; the rest lies between the two.
    arcs = [_free_arc(first, second, unit), _free_arc(second, first, unit)]
    ends = {a, b, *second}
    middle = len(ends) + sum(
        corner not in ends and not any(_within(corner, *arc, unit) for arc in arcs)
        for corner in _corner_places(unit)
    )
    return [*(_between(*arc, unit) + 2 for arc in arcs), middle]


@lru_cache(maxsize=4096)
def _observed(first: Chord, second: Chord, unit: int) -> tuple[tuple[str, int], ...]:
    """Return how many regions of each kind two chords make."""
    counts = Counter(regions(first, second, unit))
    return tuple((kind, counts[sides]) for sides, kind in KINDS.items())


def _corner_places(unit: int) -> range:
    return range(0, 4 * unit, unit)


def _within(place: int, start: int, end: int, unit: int) -> bool:
    """Whether a place lies strictly inside the arc from start to end."""
    return 0 < (place - start) % (4 * unit) < (end - start) % (4 * unit)


def _between(start: int, end: int, unit: int) -> int:
    """Return the number of corners strictly inside the arc from start to end."""
    return sum(_within(corner, start, end, unit) for corner in _corner_places(unit))


def _free_arc(chord: Chord, rival: Chord, unit: int) -> Chord:
    a, b = chord
    return (b, a) if any(_within(end, a, b, unit) for end in rival) else (a, b)


class _Facts(NamedTuple):
    frame: Frame
    grid: tuple[tuple[int, int], ...] | None
    """Least and greatest value near each grid value, in units of ``grid_decimals`` decimals."""
    grid_decimals: int
    target: Mapping[str, int]


@lru_cache(maxsize=256)
def _frame(params: Params) -> _Facts:
    """Return what follows from the instance alone, in integers."""
    target = {kind: getattr(params.counts, kind) for kind in KINDS.values()}
    frame = frame_of(params.corners, params.snap_decimals)
    values = [exact(value) for value in params.coordinate_grid or ()]
    decimals = max([params.snap_decimals + 1, *(k for _, k in values)])
    slack = 5 * 10 ** (decimals - params.snap_decimals - 1)
    scaled = [n * 10 ** (decimals - k) for n, k in values]
    grid = tuple((value - slack, value + slack) for value in scaled)
    return _Facts(frame, grid or None, decimals, target)


@lru_cache(maxsize=4096)  # points on a grid come again and again
def _spot(params: Params, point: tuple[float, float]) -> tuple[Spot | None, bool]:
    """Return where a point is, and whether the grid has its coordinates, if there is one."""
    facts = _frame(params)
    return locate(facts.frame, point), facts.grid is None or _on_grid(facts, point)


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the segments keep the rules and cut the wanted regions, else 0."""
    facts = _frame(params)
    unit = facts.frame.unit
    checks = Checklist(CHECKS)
    points = [answer.segments[segment][end] for segment, end in _PLACES]
    places = [_spot(params, point) for point in points]
    spots = [spot for spot, _ in places]
    if facts.grid is not None:
        off = [
            at for at, (_, on_grid) in zip(_PLACES, places, strict=True) if not on_grid
        ]
        fault = "endpoints have a coordinate that is no value of the grid"
        checks.forbid_many("grid", off, fault, lambda at: f"is {_endpoint(at, answer)}")
    endpoints = [
        _report(at, spot, unit) for at, spot in zip(_PLACES, spots, strict=True)
    ]
    _judge_boundary(checks, spots, answer)
    chords = [
        (a.place, b.place) if a and b and a.near and b.near else None
        for a, b in (spots[:2], spots[2:])
    ]
    _judge_segments(checks, chords, answer, unit)
    first, second = chords
    if not (_cuts(first, unit) and _cuts(second, unit)):
        checks.skip(
            "regions", "Not counted: not every segment goes from boundary to boundary."
        )
        return checks.binary(observed=None, endpoints=endpoints)
    observed = dict(_observed(first, second, unit))
    right, wrong = observed == facts.target, ""
    if not right:
        counts = _region_list(observed), _region_list(facts.target)
        wrong = "The segments make {}; asked for: {}.".format(*counts)
    checks.expect("regions", right, wrong, observed=observed, wanted=facts.target)
    return checks.binary(observed=observed, endpoints=endpoints)


def _cuts(chord: Chord | None, unit: int) -> TypeGuard[Chord]:
    """Whether a segment is known to cut the frame in two."""
    return chord is not None and chord[0] != chord[1] and not on_one_side(chord, unit)


def _on_grid(facts: _Facts, point: Sequence[float]) -> bool:
    for value in point:
        if abs(value) > facts.frame.reach:
            return False
        n, k = exact(value)
        up, scale = (
            10 ** max(0, facts.grid_decimals - k),
            10 ** max(0, k - facts.grid_decimals),
        )
        if not any(
            low * scale <= n * up <= high * scale for low, high in facts.grid or ()
        ):
            return False
    return True


def _judge_boundary(
    checks: Checklist, spots: Sequence[Spot | None], answer: Answer
) -> None:
    off = [
        {"segment": at[0], "end": at[1], "distance": spot and spot.distance}
        for at, spot in zip(_PLACES, spots, strict=True)
        if spot is None or not spot.near
    ]

    def first(item: Mapping[str, Any]) -> str:
        at = (item["segment"], item["end"])
        spot = spots[_PLACES.index(at)]
        how = (
            "far outside"
            if spot is None
            else f"{spot.relative:.3g} of a side away from it"
        )
        return f"is {_endpoint(at, answer)}, {how}"

    checks.forbid_many("boundary", off, "endpoints are off the boundary", first)


def _judge_segments(
    checks: Checklist, chords: Sequence[Chord | None], answer: Answer, unit: int
) -> None:
    """Check what a segment must keep by itself, and that the two differ."""
    unknown = [i for i, chord in enumerate(chords) if chord is None]
    why = f"Segment {unknown[0]} has an endpoint off the boundary." if unknown else ""
    points = answer.segments
    empty = [
        i
        for i, chord in enumerate(chords)
        if (chord or points[i])[0] == (chord or points[i])[1]
    ]
    along = [
        i
        for i, chord in enumerate(chords)
        if chord is not None and chord[0] != chord[1] and on_one_side(chord, unit)
    ]
    for check, offenders, wrong in (
        ("length", empty, "starts and ends at one place"),
        ("one_side", along, "runs along a side of the frame"),
    ):
        if offenders or not unknown:
            checks.forbid(
                check, [*offenders], lambda i, wrong=wrong: f"Segment {i} {wrong}."
            )  # type: ignore[misc]
        else:
            checks.skip(check, why)
    first, second = chords
    ends = (first, second) if first and second else points
    same = set(ends[0]) == set(ends[1])
    if same or not unknown:
        checks.expect("distinct", not same, "Both segments join the same two places.")
    else:
        checks.skip("distinct", why)


def _endpoint(at: tuple[int, int], answer: Answer) -> str:
    x, y = answer.segments[at[0]][at[1]]
    return f"({x!r}, {y!r}), end {at[1]} of segment {at[0]}"


def _region_list(counts: Mapping[str, int]) -> str:
    return (
        ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n)
        or "nothing"
    )


def _report(
    at: tuple[int, int], spot: Spot | None, unit: int
) -> dict[str, float | None]:
    """Return what a picture needs of an endpoint; ``position`` is side index plus share of it."""
    return {
        "segment": at[0],
        "end": at[1],
        "position": spot and spot.place / unit,
        "distance": spot and spot.distance,
        "relative_distance": spot and spot.relative,
    }
