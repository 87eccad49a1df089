"""Do these two segments cut the frame into exactly the wanted polygons?

Endpoints are read as exact decimals and moved to the nearest place on the true quadrilateral; the
regions then follow from the cyclic order of ends and corners.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.graders.two_segments.chords import (
    Chord,
    Frame,
    Spot,
    exact,
    frame_of,
    locate,
    on_one_side,
    regions,
)
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


class _Facts(NamedTuple):
    frame: Frame
    grid: tuple[tuple[int, int], ...] | None
    """Least and greatest value near each grid value, in units of ``grid_decimals`` decimals."""
    grid_decimals: int
    target: Mapping[str, int]


@lru_cache(maxsize=256)
def _facts(params: Params) -> _Facts:
    """Return what follows from the instance alone, in integers."""
    target = {kind: getattr(params.counts, kind) for kind in KINDS.values()}
    frame = frame_of(params.corners, params.snap_decimals)
    values = [exact(value) for value in params.coordinate_grid or ()]
    decimals = max([params.snap_decimals + 1, *(k for _, k in values)])
    slack = 5 * 10 ** (decimals - params.snap_decimals - 1)
    scaled = [n * 10 ** (decimals - k) for n, k in values]
    grid = tuple((value - slack, value + slack) for value in scaled)
    return _Facts(frame, grid or None, decimals, target)


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the segments keep the rules and cut the wanted regions, else 0."""
    facts = _facts(params)
    unit = facts.frame.unit
    checks = Checklist(CHECKS)
    points = [answer.segments[segment][end] for segment, end in _PLACES]
    spots = [locate(facts.frame, point) for point in points]
    if facts.grid is not None:
        off = [at for at, point in zip(_PLACES, points, strict=True) if not _on_grid(facts, point)]
        fault = "endpoints have a coordinate that is no value of the grid"
        checks.forbid_many("grid", off, fault, lambda at: f"is {_endpoint(at, answer)}")
    endpoints = [_report(at, spot, unit) for at, spot in zip(_PLACES, spots, strict=True)]
    _judge_boundary(checks, spots, answer)
    chords = [
        (a.place, b.place) if a and b and a.near and b.near else None
        for a, b in (spots[:2], spots[2:])
    ]
    _judge_segments(checks, chords, answer, unit)
    first, second = chords
    if not (_cuts(first, unit) and _cuts(second, unit)):
        checks.skip("regions", "Not counted: not every segment goes from boundary to boundary.")
        return checks.binary(observed=None, endpoints=endpoints)
    counts = Counter(regions(first, second, unit))
    observed = {kind: counts[sides] for sides, kind in KINDS.items()}
    checks.expect(
        "regions",
        observed == facts.target,
        f"The segments make {_region_list(observed)}; asked for: {_region_list(facts.target)}.",
        observed=observed,
        wanted=facts.target,
    )
    return checks.binary(observed=observed, endpoints=endpoints)


def _cuts(chord: Chord | None, unit: int) -> TypeGuard[Chord]:
    """Whether a segment is known to cut the frame in two."""
    return chord is not None and chord[0] != chord[1] and not on_one_side(chord, unit)


def _on_grid(facts: _Facts, point: Sequence[float]) -> bool:
    for value in point:
        if abs(value) > facts.frame.reach:
            return False
        n, k = exact(value)
        up, scale = 10 ** max(0, facts.grid_decimals - k), 10 ** max(0, k - facts.grid_decimals)
        if not any(low * scale <= n * up <= high * scale for low, high in facts.grid or ()):
            return False
    return True


def _judge_boundary(checks: Checklist, spots: Sequence[Spot | None], answer: Answer) -> None:
    """Check that every endpoint is near the boundary."""
    off = [
        {"segment": at[0], "end": at[1], "distance": spot and spot.distance}
        for at, spot in zip(_PLACES, spots, strict=True)
        if spot is None or not spot.near
    ]

    def wrong(item: Mapping[str, Any]) -> str:
        at = (item["segment"], item["end"])
        spot = spots[_PLACES.index(at)]
        how = "far outside" if spot is None else f"{spot.relative:.3g} of a side away from it"
        first = _endpoint(at, answer)
        return f"{len(off)} endpoints are off the boundary; the first is {first}, {how}."

    checks.forbid("boundary", off, wrong)


def _judge_segments(
    checks: Checklist, chords: Sequence[Chord | None], answer: Answer, unit: int
) -> None:
    """Check what a segment must keep by itself, and that the two differ."""
    unknown = [i for i, chord in enumerate(chords) if chord is None]
    why = f"Segment {unknown[0]} has an endpoint off the boundary." if unknown else ""
    points = answer.segments
    empty = [
        i for i, chord in enumerate(chords) if (chord or points[i])[0] == (chord or points[i])[1]
    ]
    if empty or not unknown:
        checks.forbid("length", empty, lambda i: f"Segment {i} starts and ends at one place.")
    else:
        checks.skip("length", why)
    along = [
        i
        for i, chord in enumerate(chords)
        if chord is not None and chord[0] != chord[1] and on_one_side(chord, unit)
    ]
    if along or not unknown:
        checks.forbid("one_side", along, lambda i: f"Segment {i} runs along a side of the frame.")
    else:
        checks.skip("one_side", why)
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
    return ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n) or "nothing"


def _report(at: tuple[int, int], spot: Spot | None, unit: int) -> dict[str, float | None]:
    """Return what a picture needs of an endpoint; ``position`` is side index plus share of it."""
    return {
        "segment": at[0],
        "end": at[1],
        "position": spot and spot.place / unit,
        "distance": spot and spot.distance,
        "relative_distance": spot and spot.relative,
    }
