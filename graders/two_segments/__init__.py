"""Checks whether two segments cut the frame into exactly the wanted polygons.

Endpoints are read as exact decimals and moved to the nearest place on the boundary (see
the module `frame`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.sentences import with_total
from scbench.graders.two_segments.frame import (
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

# Builders use this geometry.
__all__ = [
    "CHECKS",
    "VERSION",
    "Chord",
    "exact",
    "frame_of",
    "grade",
    "locate",
    "on_one_side",
    "regions",
]

VERSION = 1

CHECKS = {
    "grid": "Both coordinates of every endpoint are allowed values.",
    "boundary": "Every endpoint lies on the boundary of the frame, within the tolerance.",
    "length": "The endpoints of each segment are different.",
    "one_side": "No segment has both endpoints on one side of the frame.",
    "distinct": "The two segments are different.",
    "regions": "The segments cut the frame into exactly the required regions.",
}

# Names of regions by their number of sides.
KINDS = {3: "triangle", 4: "quadrilateral", 5: "pentagon", 6: "hexagon"}
Point = tuple[float, float]


class Facts(NamedTuple):
    """The frame, grid and target of an instance, in integers."""

    frame: Frame
    grid: tuple[tuple[int, int], ...] | None
    """Smallest and largest value near each grid value, in units of ``grid_decimals`` decimals."""
    grid_decimals: int
    target: Mapping[str, int]


class Endpoint(NamedTuple):
    """One end of a segment of the answer."""

    segment: int
    end: int
    point: tuple[float, ...]
    spot: Spot | None
    """None if it is out of reach."""
    on_grid: bool

    @property
    def place(self) -> int | None:
        """The place on the boundary; None if it is off the boundary."""
        return self.spot.place if self.spot and self.spot.near else None

    def __str__(self) -> str:
        x, y = self.point
        return f"End {self.end} of segment {self.segment}, at ({x!r}, {y!r}),"


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the segments follow the rules and cut the wanted regions, else 0."""
    facts = facts_of(params)
    unit = facts.frame.unit
    checks = Checklist(CHECKS)
    ends = []
    for segment, points in enumerate(answer.segments):
        for end, point in enumerate(points):
            spot, on_grid = spot_of(params, point)
            ends.append(Endpoint(segment, end, point, spot, on_grid))
    if facts.grid is not None:
        off = [(end.segment, end.end) for end in ends if not end.on_grid]
        checks.forbid(
            "grid",
            off,
            lambda at: with_total(
                f"{ends[2 * at[0] + at[1]]} has a coordinate that is not an allowed value",
                len(off),
                "endpoints",
            ),
        )
    figures = [figures_of(end, unit) for end in ends]
    judge_boundary(checks, ends)
    chords = [chord_of(*ends[:2]), chord_of(*ends[2:])]
    judge_segments(checks, chords, answer, unit)
    first, second = chords
    if not (cuts(first, unit) and cuts(second, unit)):
        checks.skip(
            "regions", "Regions are not counted: a segment does not cut the frame."
        )
        return checks.binary(observed=None, endpoints=figures)
    observed = dict(region_counts(first, second, unit))
    right = observed == facts.target
    wrong = ""
    if not right:
        wrong = (
            f"The segments make {region_list(observed)} instead of "
            f"{region_list(facts.target)}."
        )
    checks.expect("regions", right, wrong, observed=observed, wanted=facts.target)
    return checks.binary(observed=observed, endpoints=figures)


@lru_cache(maxsize=256)
def facts_of(params: Params) -> Facts:
    """Return the facts of an instance, cached for further answers to it."""
    target = {kind: getattr(params.counts, kind) for kind in KINDS.values()}
    frame = frame_of(params.corners, params.snap_decimals)
    values = [exact(value) for value in params.coordinate_grid or ()]
    # One more decimal than places have, so that half a place is an integer.
    decimals = max([params.snap_decimals + 1, *(k for _, k in values)])
    slack = 5 * 10 ** (decimals - params.snap_decimals - 1)
    scaled = [n * 10 ** (decimals - k) for n, k in values]
    grid = tuple((value - slack, value + slack) for value in scaled)
    return Facts(frame, grid or None, decimals, target)


# Points on a grid repeat often.
@lru_cache(maxsize=4096)
def spot_of(params: Params, point: Point) -> tuple[Spot | None, bool]:
    """Return the place of a point, and whether its coordinates are on the grid, if any."""
    facts = facts_of(params)
    on_grid = all(is_on_grid(facts, value) for value in point)
    return locate(facts.frame, point), on_grid


def is_on_grid(facts: Facts, value: float) -> bool:
    """Whether a coordinate is a value of the grid, within half a place; True without a grid."""
    if facts.grid is None:
        return True
    if abs(value) > facts.frame.reach:
        return False
    n, k = exact(value)
    # Both sides in units of the finer decimal.
    n *= 10 ** max(0, facts.grid_decimals - k)
    scale = 10 ** max(0, k - facts.grid_decimals)
    return any(low * scale <= n <= high * scale for low, high in facts.grid)


def chord_of(first: Endpoint, second: Endpoint) -> Chord | None:
    """Return the places of both ends; None if one is off the boundary."""
    if first.place is None or second.place is None:
        return None
    return first.place, second.place


def cuts(chord: Chord | None, unit: int) -> TypeGuard[Chord]:
    """Whether a segment is known to cut the frame in two."""
    return chord is not None and chord[0] != chord[1] and not on_one_side(chord, unit)


def judge_boundary(checks: Checklist, ends: Sequence[Endpoint]) -> None:
    """Check that every endpoint lies on the boundary."""
    off = [end for end in ends if end.place is None]
    offenders = []
    for end in off:
        distance = end.spot.distance if end.spot else None
        place = {"segment": end.segment, "end": end.end, "distance": distance}
        offenders.append(place)

    def sentence(_: object) -> str:
        spot = off[0].spot
        where = "far outside the frame"
        if spot is not None:
            where = f"{spot.relative:.3g} of a side length off the boundary"
        return with_total(f"{off[0]} is {where}", len(off), "endpoints")

    checks.forbid("boundary", offenders, sentence)


def judge_segments(
    checks: Checklist, chords: Sequence[Chord | None], answer: Answer, unit: int
) -> None:
    """Check each segment on its own, and that the two differ."""
    unknown = [i for i, chord in enumerate(chords) if chord is None]
    why = f"Segment {unknown[0]} has an endpoint off the boundary." if unknown else ""
    points = answer.segments
    empty: list[int] = []
    along: list[int] = []
    for i, chord in enumerate(chords):
        # Ends off the boundary may still be equal.
        start, end = chord or points[i]
        if start == end:
            empty.append(i)
        elif chord is not None and on_one_side(chord, unit):
            along.append(i)
    for check_id, offenders, sentence in (
        ("length", empty, "Segment {} starts and ends at the same point."),
        ("one_side", along, "Segment {} runs along a side of the frame."),
    ):
        if offenders or not unknown:
            checks.forbid(check_id, offenders, sentence.format)
        else:
            checks.skip(check_id, why)
    first, second = chords
    ends = (first, second) if first and second else points
    same = set(ends[0]) == set(ends[1])
    if same or not unknown:
        checks.expect("distinct", not same, "Both segments join the same two points.")
    else:
        checks.skip("distinct", why)


@lru_cache(maxsize=4096)
def region_counts(
    first: Chord, second: Chord, unit: int
) -> tuple[tuple[str, int], ...]:
    """Return the number of regions of each kind made by two chords."""
    counts = Counter(regions(first, second, unit))
    return tuple((kind, counts[sides]) for sides, kind in KINDS.items())


def region_list(counts: Mapping[str, int]) -> str:
    """Return numbers of regions in words."""
    parts = [counted(n, kind) for kind, n in counts.items() if n]
    return ", ".join(parts) or "nothing"


def figures_of(endpoint: Endpoint, unit: int) -> dict[str, Any]:
    """Return an endpoint's details for a picture.

    ``position`` is the index of the side plus the fraction of the way along it.
    """
    spot = endpoint.spot
    return {
        "segment": endpoint.segment,
        "end": endpoint.end,
        "position": spot.place / unit if spot else None,
        "distance": spot.distance if spot else None,
        "relative_distance": spot.relative if spot else None,
    }
