"""Two segments: prompts, fresh frames and targets, and a solver by search."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, get_args

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, prompt_template, reply_as
from scbench.builders.shared.number_format import plain
from scbench.builders.shared.parameters import parameter
from scbench.builders.two_segments.counterexamples import frame_counterexamples, pushed_out
from scbench.builders.two_segments.search import (
    UNIT_SQUARE,
    XY,
    Wanted,
    allowed_spots,
    first_pair,
    kinds,
    pairs,
    point_at,
    spots_at,
)
from scbench.graders.two_segments import frame_of, locate
from scbench.schemas.two_segments import Answer, Counts, Params

Corners = tuple[XY, ...]
Common = Literal["1t2q1p", "1t1q1p", "2t1p", "2t1h", "1t2q", "2t1q1p", "1t3q", "2t1q", "4q", "2t2q"]
Rare = Literal["2t1q1h", "2t2p", "3q", "3t1p", "3t", "3t1q", "4t"]

_KINDS = {"t": "triangle", "q": "quadrilateral", "p": "pentagon", "h": "hexagon"}
_TRIES = 200
_MOST_ON_GRID = 11
"""More places on the sides of a square would make too many pairs to try."""

_PROMPT = prompt_template(__name__)

_GRID = """\
- Both coordinates of every endpoint are among these values: {values}.
  As you write them, they may be off by at most {tolerance} (measured before anything is moved).
"""


class Space(Point):
    """Parameters of fresh frames and targets."""

    frame: Literal["unit", "unit_grid", "square", "rotated", "quadrilateral", "listed"] = parameter(
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
    snap_decimals: Literal[3, 4] = parameter(3, "decimals to which places on a side are rounded")

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

    def words(self, params: Params) -> dict[str, object]:
        """Return the frame, the regions wanted and the tolerance."""
        counts = params.counts.model_dump()
        unit = tuple(map(tuple, params.corners)) == UNIT_SQUARE
        tolerance = Decimal(5).scaleb(-params.snap_decimals - 1)
        grid = _GRID.format(
            values=", ".join(map(plain, params.coordinate_grid or ())), tolerance=f"{tolerance:f}"
        )
        values = ", ".join(map(plain, params.coordinate_grid or ()))
        return {
            "shape": "the unit square" if unit else "a convex quadrilateral",
            "wanted": "\n".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n),
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

    def prompt(self, params: Params) -> str:
        """Return the frame, the regions wanted and the rules."""
        return _PROMPT.format(**self.words(params)) + reply_as(
            '{"segments": [[[x1, y1], [x2, y2]], [[x3, y3], [x4, y4]]]}'
        )

    def reference(self, params: Params) -> Answer:
        """Try pairs of chords until one makes the regions.

        Raises:
            GenerationError: no pair on the instance's grid does.
        """
        return Answer.model_validate({"segments": _solve(params)})

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return answers with one mistake each, and what an older grader let pass."""
        (a, b), second = _solve(params)
        spots, unit = allowed_spots(params), 10**params.snap_decimals
        other = next(
            pair for pair in pairs(tuple(spots), unit) if kinds(pair, unit) != _wanted(params)
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
            "other_regions": [[spots[place] for place in chord] for chord in other],
            "booleans": [((True, a[1]), b), second],
            "strings": [((str(a[0]), str(a[1])), b), second],
            "three_coordinates": [((*a, 0.0), b), second],
            **frame_counterexamples(params, _wanted(params)),
        }
        counters: dict[str, JsonValue] = {
            name: {"segments": [[list(end) for end in segment] for segment in segments]}
            for name, segments in answers.items()
        }
        return counters | {"declared_impossible": {"segments": "impossible"}}

    def measure(self, params: Params) -> float:
        """Return the pairs of segments for each right one, times points for each allowed end.

        Segments end at corners and two more points of each side, or where the list allows it.
        """
        spots, unit, wanted = allowed_spots(params), 10**params.snap_decimals, _wanted(params)
        every = list(pairs(tuple(spots), unit))
        right = sum(kinds(pair, unit) == wanted for pair in every)
        listed = params.coordinate_grid
        return len(every) / right * (1 if listed is None else len(listed) ** 2 / len(spots))

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the lines that cross in the middle, and one of them with a diagonal."""
        a, b, c, d = params.corners
        across, along = _middles(a, b, c, d), _middles(b, c, d, a)
        return {
            "cross": {"segments": [across, along]},
            "diagonal and middle line": {"segments": [[list(a), list(c)], across]},
        }

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw a frame and regions until two segments can make them.

        Raises:
            GenerationError: not in 200 tries; the grid is too coarse for the target.
        """
        names = _TARGETS.get(point.target, (point.target,))
        for _ in range(_TRIES):
            corners, grid = _frame(point, rng)
            if not _gentle(corners):
                continue
            params = Params(
                corners=corners,
                counts=_counts(rng.choice(names)),
                coordinate_grid=grid,
                snap_decimals=point.snap_decimals,
            )
            if point.frame == "listed":
                listed = _listed(params, point.grid_values, rng)
                if listed is not None:
                    return listed
            elif first_pair(tuple(allowed_spots(params)), 10**point.snap_decimals, _wanted(params)):
                return params
        raise GenerationError(
            f"no frame {point.frame!r} was found that two segments cut into {point.target!r}, in "
            f"{_TRIES} tries; allow more grid_values"
        )


_TARGETS: dict[str, tuple[str, ...]] = {
    "any": get_args(Common) + get_args(Rare),
    "common": get_args(Common),
    "rare": get_args(Rare),
}


def _counts(name: str) -> Counts:
    """Return the regions that a name such as 2t1q1h stands for."""
    return Counts.model_validate({_KINDS[kind]: int(n) for n, kind in re.findall(r"(.)(.)", name)})


def _wanted(params: Params) -> Wanted:
    return tuple(getattr(params.counts, kind) for kind in _KINDS.values())


def _solve(params: Params) -> list[tuple[XY, XY]]:
    spots = allowed_spots(params)
    pair = first_pair(tuple(spots), 10**params.snap_decimals, _wanted(params))
    if pair is None:
        raise GenerationError("no two segments between the allowed points make these regions")
    return [(spots[a], spots[b]) for a, b in pair]


def _listed(params: Params, values: int, rng: Stream) -> Params | None:
    """Return a task with a list that has the coordinates of one right answer; None at bad luck.

    Tenths of a side have three decimals, as its ends have two. Four more points of the sides are
    allowed; what is added to the list then are coordinates that meet with no other on a side.
    """
    tenths = [Fraction(k, 10) for k in range(1, 10)]
    unit, wanted = 10**params.snap_decimals, _wanted(params)
    spots = spots_at(params, [Fraction(0), *sorted(rng.sample(tenths, 2))])
    right = [pair for pair in pairs(tuple(spots), unit) if kinds(pair, unit) == wanted]
    ends = {place for chord in rng.choice(right) for place in chord}
    ends |= {*rng.sample(sorted(spots), 4)}
    found = dict.fromkeys(value for place in sorted(ends) for value in spots[place])
    frame = frame_of(params.corners, params.snap_decimals)

    def meets(value: float) -> bool:
        both = (point for other in (*found, value) for point in ((value, other), (other, value)))
        near = (locate(frame, point) for point in both)
        return any(spot is not None and spot.distance == 0 for spot in near)

    for _ in range(_TRIES):
        if len(found) >= values:
            return params.model_copy(update={"coordinate_grid": tuple(sorted(found))})
        value = rng.choice(point_at(params.corners, rng.below(4), rng.choice(tenths)))
        if value not in found and not meets(value):
            found[value] = None
    return None


def _frame(point: Space, rng: Stream) -> tuple[Corners, tuple[float, ...] | None]:
    """Return corners, counter-clockwise, and the values that coordinates may take."""
    if point.frame == "unit":
        return UNIT_SQUARE, None
    if point.frame == "unit_grid":
        inner = rng.sample(range(1, 20), point.grid_values - 2)
        return UNIT_SQUARE, tuple(k / 20 for k in sorted([0, 20, *inner]))
    if point.frame in {"quadrilateral", "listed"}:
        jitter = [[rng.between(-30, 30) / 100 for _ in range(2)] for _ in range(4)]
        moved = zip(UNIT_SQUARE, jitter, strict=True)
        return tuple((round(x + dx, 2), round(y + dy, 2)) for (x, y), (dx, dy) in moved), None
    # Whole steps make an exact square of the printed decimals.
    dx, dy = rng.between(300, 1000), rng.between(50, 1000) if point.frame == "rotated" else 0
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


def _middles(a: Sequence[float], b: Sequence[float], c: Sequence[float], d: Sequence[float]) -> Any:  # noqa: ANN401
    """Return the segment from the middle of a side to that of the opposite one."""
    return [[(p + q) / 2 for p, q in zip(*side, strict=True)] for side in ((a, b), (c, d))]
