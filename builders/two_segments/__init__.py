"""Two segments: prompts, fresh frames and targets, and a solver by search."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from typing import Any, Literal, get_args

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, parameter, plain, under
from scbench.graders.two_segments import (
    Chord,
    exact,
    frame_of,
    locate,
    on_one_side,
    regions,
)
from scbench.schemas.two_segments import Answer, Counts, Params

XY = tuple[float, float]
Corners = tuple[XY, ...]
Common = Literal[
    "1t2q1p", "1t1q1p", "2t1p", "2t1h", "1t2q", "2t1q1p", "1t3q", "2t1q", "4q", "2t2q"
]
Rare = Literal["2t1q1h", "2t2p", "3q", "3t1p", "3t", "3t1q", "4t"]
_KINDS = {"t": "triangle", "q": "quadrilateral", "p": "pentagon", "h": "hexagon"}
_TRIES = 200
# More places on the sides of a square would make too many pairs to try.
_MOST_ON_GRID = 11

_GRID = """\
- Both coordinates of every endpoint are among these values: {values}.
  As you write them, they may be off by at most {tolerance} (measured before anything is moved).
"""

_TARGETS: dict[str, tuple[str, ...]] = {
    "any": get_args(Common) + get_args(Rare),
    "common": get_args(Common),
    "rare": get_args(Rare),
}

_HALF = Fraction(1, 2)
_OFF_GRID = (
    Fraction(123, 1000),
    Fraction(377, 1000),
    Fraction(623, 1000),
    Fraction(877, 1000),
)
Pair = tuple[Chord, Chord]
# How many regions have 3, 4, 5 and 6 sides.
RegionCounts = tuple[int, ...]
UNIT_SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
# Shares of a side to try. A corner and two places inside each side are enough for every
# order.
TENTHS = (Fraction(0), Fraction(3, 10), Fraction(7, 10))
Segments = list[tuple[XY, XY]]


class Space(Point):
    """Parameters of fresh frames and targets."""

    frame: Literal[
        "unit", "unit_grid", "square", "rotated", "quadrilateral", "listed"
    ] = parameter(
        "quadrilateral",
        "the unit square, the unit square with a list of allowed coordinates, an "
        "upright square, a turned square, or a convex quadrilateral with angles of 45 to 135 "
        "degrees; listed is one with a list of coordinates, few of which meet on its sides",
    )
    target: Literal["any", "common", "rare", Common, Rare] = parameter(
        "any",
        "regions wanted, such as 2t1q1h: t, q, p, h have 3, 4, 5, 6 sides; common and "
        "rare draw among those that many or few pairs of segments make",
    )
    grid_values: int = parameter(
        6,
        "allowed coordinates: of unit_grid at most 11, 0 and 1 included; of listed at least those "
        "of eight points on the sides",
        ge=3,
        le=40,
    )
    snap_decimals: Literal[3, 4] = parameter(
        3, "decimals to which places on a side are rounded"
    )

    @model_validator(mode="after")
    def _listable(self) -> "Space":
        if self.frame != "listed" and self.grid_values > _MOST_ON_GRID:
            raise ValueError(
                f"only listed takes more than {_MOST_ON_GRID} grid_values, not {self.frame}"
            )
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Convex frames and the regions that two segments shall make of them."""

    task = "two_segments"
    version = 2
    form = '{"segments": [[[x1, y1], [x2, y2]], [[x3, y3], [x4, y4]]]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the frame, the regions wanted and the tolerance."""
        counts = params.counts.model_dump()
        unit = tuple(map(tuple, params.corners)) == UNIT_SQUARE
        tolerance = Decimal(5).scaleb(-params.snap_decimals - 1)
        values = ", ".join(map(plain, params.coordinate_grid or ()))
        grid = _GRID.format(values=values, tolerance=f"{tolerance:f}")
        return {
            "shape": "the unit square" if unit else "a convex quadrilateral",
            "wanted": "\n".join(
                f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n
            ),
            "grid": grid if params.coordinate_grid else "",
            "values": f"Coordinates may only be {values}.\n" if values else "",
            "tolerance": f"{tolerance:f}",
            "decimals": params.snap_decimals,
            "digits": params.snap_decimals + 2,
            **{
                name: f"({plain(x)}, {plain(y)})"
                for name, (x, y) in zip("ABCD", params.corners, strict=True)
            },
        }

    def reference(self, params: Params) -> Answer:
        """Try pairs of chords until one makes the regions."""
        return Answer.model_validate({"segments": _solve(params)})

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return answers with one mistake each, and what an older grader let pass."""
        (a, b), second = _solve(params)
        spots, unit = allowed_spots(params), 10**params.snap_decimals
        wrong_pair = next(
            pair
            for pair in pairs(tuple(spots), unit)
            if kinds(pair, unit) != _target_regions(params)
        )
        answers: dict[str, Sequence[Sequence[Sequence[JsonValue]]]] = {
            "empty_list": [],
            "one_segment": [(a, b)],
            "three_segments": [(a, b), second, second],
            "same_segment_twice": [(a, b), (b, a)],
            "zero_length": [(a, a), second],
            "along_a_side": [params.corners[:2], second],
            "outside_the_frame": [((2 * a[0] - b[0], 2 * a[1] - b[1]), b), second],
            "just_off_the_boundary": [(pushed_out(params, a), b), second],
            "other_regions": [
                [spots[place] for place in chord] for chord in wrong_pair
            ],
            "booleans": [((True, a[1]), b), second],
            "strings": [((str(a[0]), str(a[1])), b), second],
            "three_coordinates": [((*a, 0.0), b), second],
            **frame_counterexamples(params, _target_regions(params)),
        }
        lists: dict[str, JsonValue] = {
            name: [[list(end) for end in segment] for segment in segments]
            for name, segments in answers.items()
        }
        return under("segments", {**lists, "declared_impossible": "impossible"})

    def measure(self, params: Params) -> float:
        """Return the pairs of segments for each right one, times points for each allowed end.

        Segments end at corners and two more points of each side, or where the list allows it.
        """
        spots, unit = allowed_spots(params), 10**params.snap_decimals
        target = _target_regions(params)
        every = list(pairs(tuple(spots), unit))
        right = sum(kinds(pair, unit) == target for pair in every)
        values = params.coordinate_grid
        return (
            len(every)
            / right
            * (1 if values is None else len(values) ** 2 / len(spots))
        )

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the lines that cross in the middle, and one of them with a diagonal."""
        a, b, c, d = params.corners
        across, along = _middles(a, b, c, d), _middles(b, c, d, a)
        return {
            "cross": {"segments": [across, along]},
            "diagonal and middle line": {"segments": [[list(a), list(c)], across]},
        }

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw a frame and regions until two segments can make them."""
        names = _TARGETS.get(point.target, (point.target,))
        for _ in range(_TRIES):
            corners, grid = _draw_frame(point, rng)
            if not _gentle(corners):
                continue
            params = Params(
                corners=corners,
                counts=_counts_of(rng.choice(names)),
                coordinate_grid=grid,
                snap_decimals=point.snap_decimals,
            )
            if point.frame == "listed":
                complete = _with_value_list(params, point.grid_values, rng)
                if complete is not None:
                    return complete
            elif first_pair(
                tuple(allowed_spots(params)),
                10**point.snap_decimals,
                _target_regions(params),
            ):
                return params
        raise GenerationError(
            f"no frame {point.frame!r} was found that two segments cut into {point.target!r}, in "
            f"{_TRIES} tries; allow more grid_values"
        )


def _counts_of(name: str) -> Counts:
    """Return the regions that a name such as 2t1q1h stands for."""
    return Counts.model_validate(
        {_KINDS[kind]: int(n) for n, kind in re.findall(r"(.)(.)", name)}
    )


def _target_regions(params: Params) -> RegionCounts:
    return tuple(getattr(params.counts, kind) for kind in _KINDS.values())


def _solve(params: Params) -> list[tuple[XY, XY]]:
    spots = allowed_spots(params)
    pair = first_pair(tuple(spots), 10**params.snap_decimals, _target_regions(params))
    if pair is None:
        raise GenerationError(
            "no two segments between the allowed points make these regions"
        )
    return [(spots[a], spots[b]) for a, b in pair]


def _with_value_list(params: Params, values: int, rng: Stream) -> Params | None:
    """Return a task with a list that has the coordinates of one right answer; None at bad luck.

    Tenths of a side have three decimals, as its ends have two. Four more points of the sides are
    allowed; what is added to the list then are coordinates that meet with no other on a side.
    """
    tenths = [Fraction(k, 10) for k in range(1, 10)]
    unit, target = 10**params.snap_decimals, _target_regions(params)
    spots = spots_at(params, [Fraction(0), *sorted(rng.sample(tenths, 2))])
    right = [pair for pair in pairs(tuple(spots), unit) if kinds(pair, unit) == target]
    ends = {place for chord in rng.choice(right) for place in chord}
    ends |= {*rng.sample(sorted(spots), 4)}
    coordinates = dict.fromkeys(
        value for place in sorted(ends) for value in spots[place]
    )
    frame = frame_of(params.corners, params.snap_decimals)

    def meets(value: float) -> bool:
        both = (
            point
            for partner in (*coordinates, value)
            for point in ((value, partner), (partner, value))
        )
        near = (locate(frame, point) for point in both)
        return any(spot is not None and spot.distance == 0 for spot in near)

    for _ in range(_TRIES):
        if len(coordinates) >= values:
            return params.model_copy(
                update={"coordinate_grid": tuple(sorted(coordinates))}
            )
        value = rng.choice(point_at(params.corners, rng.below(4), rng.choice(tenths)))
        if value not in coordinates and not meets(value):
            coordinates[value] = None
    return None


def _draw_frame(point: Space, rng: Stream) -> tuple[Corners, tuple[float, ...] | None]:
    """Return corners, counter-clockwise, and the values that coordinates may take."""
    if point.frame == "unit":
        return UNIT_SQUARE, None
    if point.frame == "unit_grid":
        inner = rng.sample(range(1, 20), point.grid_values - 2)
        return UNIT_SQUARE, tuple(k / 20 for k in sorted([0, 20, *inner]))
    if point.frame in {"quadrilateral", "listed"}:
        jitter = [[rng.between(-30, 30) / 100 for _ in range(2)] for _ in range(4)]
        corners = zip(UNIT_SQUARE, jitter, strict=True)
        return tuple(
            (round(x + dx, 2), round(y + dy, 2)) for (x, y), (dx, dy) in corners
        ), None
    # Whole steps make an exact square of the printed decimals.
    dx, dy = (
        rng.between(300, 1000),
        rng.between(50, 1000) if point.frame == "rotated" else 0,
    )
    x, y = rng.between(-1000, 1000), rng.between(-1000, 1000)
    steps = [(0, 0), (dx, dy), (dx - dy, dx + dy), (-dy, dx)]
    return tuple(((x + i) / 1000, (y + j) / 1000) for i, j in steps), None


def _gentle(corners: Corners) -> bool:
    """Whether every angle lies between 45 and 135 degrees, with a hair's room for rounding."""
    for i, (x, y) in enumerate(corners):
        (ax, ay), (cx, cy) = corners[i - 1], corners[i - 3]
        cross = (cx - x) * (ay - y) - (cy - y) * (ax - x)
        dot = (cx - x) * (ax - x) + (cy - y) * (ay - y)
        if cross <= 0 or abs(dot) > cross + 1e-9:
            return False
    return True


def _middles(
    a: Sequence[float], b: Sequence[float], c: Sequence[float], d: Sequence[float]
) -> Any:  # noqa: ANN401
    """Return the segment from the middle of a side to that of the opposite one."""
    return [
        [(p + q) / 2 for p, q in zip(*side, strict=True)] for side in ((a, b), (c, d))
    ]


def frame_counterexamples(params: Params, target: RegionCounts) -> dict[str, Segments]:
    """Return the counterexamples that are wrong for this instance, by name.

    - ``as_parallelogram``: the fourth corner taken to follow from the others, which an older grader
      did with skewed frames.
    - ``on_the_unit_square``: the frame shown is not looked at.
    - ``hidden_sliver``: three quadrilaterals and a triangle so thin that an older grader missed it.
    - ``off_grid``: right but for the grid.
    """
    wrong = {
        "as_parallelogram": _drawn_on(_parallelogram(params), params, target),
        "on_the_unit_square": _drawn_on(UNIT_SQUARE, params, target),
        "hidden_sliver": _hidden_sliver(params) if target == (0, 3, 0, 0) else None,
        "off_grid": _off_grid(params, target),
    }
    return {name: segments for name, segments in wrong.items() if segments}


def pushed_out(params: Params, point: XY) -> XY:
    """Return a boundary point moved straight out by three times the largest tolerance."""
    spot = locate(frame_of(params.corners, params.snap_decimals), point)
    if spot is None:
        raise ValueError(f"{point} is not on the boundary")
    ring = (*params.corners, params.corners[0])
    steps = [
        (ring[i + 1][0] - ring[i][0], ring[i + 1][1] - ring[i][1]) for i in range(4)
    ]
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
    corners: Sequence[Sequence[float]], params: Params, target: RegionCounts
) -> Segments | None:
    """Return a right answer to another frame that is off the true one, if the two differ."""
    if all(_near(params, (x, y)) for x, y in corners):
        return None
    misread = params.model_copy(update={"corners": corners, "coordinate_grid": None})
    spots, unit = spots_at(misread, TENTHS), 10**params.snap_decimals
    for pair in pairs(tuple(spots), unit):
        ends = [[spots[place] for place in chord] for chord in pair]
        if kinds(pair, unit) == target and not all(
            _near(params, p) for chord in ends for p in chord
        ):
            return _segments_of(pair, spots)
    return None


def _hidden_sliver(params: Params) -> Segments:
    """Return chords that meet one place above a side, and so close that rounding merges them."""
    beside = Fraction(1, 10**params.snap_decimals)
    ends = [(0, _HALF), (2, _HALF), (0, _HALF - beside), (1, _HALF + beside)]
    a, b, c, d = (point_at(params.corners, side, share) for side, share in ends)
    return [(a, b), (c, d)]


def _off_grid(params: Params, target: RegionCounts) -> Segments | None:
    """Return an answer with the right regions and an endpoint that is not on the grid."""
    grid = params.coordinate_grid
    if grid is None:
        return None
    spots = spots_at(params, (Fraction(0), *_OFF_GRID))
    pair = first_pair(tuple(spots), 10**params.snap_decimals, target)
    if pair is None:
        return None
    segments = _segments_of(pair, spots)
    gaps = [
        min(abs(x - value) for value in grid)
        for chord in segments
        for point in chord
        for x in point
    ]
    return segments if max(gaps) > 2 * 10**-params.snap_decimals else None


def _segments_of(pair: Pair, spots: dict[int, XY]) -> Segments:
    return [(spots[a], spots[b]) for a, b in pair]


def point_at(corners: Sequence[Sequence[float]], side: int, share: Fraction) -> XY:
    """Return the point at this share of a side, the double nearest to the exact value."""
    a, b = corners[side], corners[side - 3]
    x, y = (
        _exact_fraction(p) + (_exact_fraction(q) - _exact_fraction(p)) * share
        for p, q in zip(a, b, strict=True)
    )
    return float(x), float(y)


def _exact_fraction(x: float) -> Fraction:
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
    spots: dict[int, XY] = {}
    for x, y in product(params.coordinate_grid, repeat=2):
        spot = locate(frame, (x, y))
        if spot is not None and spot.distance == 0:
            spots[spot.place] = (x, y)
    return spots


def kinds(pair: Pair, unit: int) -> RegionCounts:
    """Return how many regions with 3, 4, 5 and 6 sides two chords make."""
    sides_of_regions = regions(*pair, unit)
    return tuple(sides_of_regions.count(sides) for sides in (3, 4, 5, 6))


def pairs(places: Sequence[int], unit: int) -> Iterator[Pair]:
    """Yield every pair of different chords between these places."""
    chords = [
        chord
        for chord in combinations(sorted(places), 2)
        if not on_one_side(chord, unit)
    ]
    return combinations(chords, 2)


@lru_cache(maxsize=1024)
def first_pair(places: tuple[int, ...], unit: int, target: RegionCounts) -> Pair | None:
    """Return the first pair of chords between these places that makes the wanted regions."""
    return next(
        (pair for pair in pairs(places, unit) if kinds(pair, unit) == target), None
    )
