"""Two segments: cut a frame into exactly the wanted polygons with two straight segments.

An example of the puzzle, on the unit square, and an answer:

    Cut it into 4 quadrilaterals.
    {"segments": [[[0.5, 0], [0.5, 1]], [[0, 0.5], [1, 0.5]]]}
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any, Literal, get_args

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.base.wording import counted
from scbench.builders.shared.builder import (
    Builder,
    Point,
    parameter,
    plain,
    prompt_template,
    under,
)
from scbench.builders.two_segments.chords import (
    UNIT_SQUARE,
    XY,
    allowed_spots,
    first_right_pair,
    pairs,
    point_at,
    right_pairs,
    segments_of,
    solve,
    spots_at,
)
from scbench.builders.two_segments.mistakes import (
    first_wrong_pair,
    frame_counterexamples,
    pushed_out,
)
from scbench.graders.two_segments import KINDS, frame_of, locate
from scbench.graders.two_segments.frame import Frame
from scbench.schemas.two_segments import Answer, Counts, Params

Corners = tuple[XY, ...]
Name = Literal["any", "common", "rare"]
Common = Literal[
    "1t2q1p", "1t1q1p", "2t1p", "2t1h", "1t2q", "2t1q1p", "1t3q", "2t1q", "4q", "2t2q"
]
Rare = Literal["2t1q1h", "2t2p", "3q", "3t1p", "3t", "3t1q", "4t"]
_TARGETS: dict[str, tuple[str, ...]] = {
    "any": get_args(Common) + get_args(Rare),
    "common": get_args(Common),
    "rare": get_args(Rare),
}
# Maximum number of frames that one draw tries, and of values that it tries to add to a list.
_TRIES = 200
# More places on the sides of a square would make too many pairs to try.
_MOST_ON_GRID = 11
_HALF = Fraction(1, 2)
_TENTHS = [Fraction(k, 10) for k in range(1, 10)]
# The rule on coordinates if only some values are allowed.
_VALUES_RULE = (
    "4. Both coordinates of every endpoint are among these values: {values}.\n"
)
# This text follows if the tolerance of a coordinate differs from a step.
_VALUES_TOLERANCE = """\
   This applies to the coordinates as you write them, which may be off by at most {tolerance}.
"""


class Space(Point):
    """Parameters of fresh frames and targets."""

    frame: Literal[
        "unit", "unit_grid", "square", "rotated", "quadrilateral", "listed"
    ] = parameter(
        "quadrilateral",
        "unit: the unit square; unit_grid: the unit square with a list of allowed coordinates; "
        "square: an upright square; rotated: a rotated square; quadrilateral: a convex "
        "quadrilateral with angles of 45 to 135 degrees; listed: such a quadrilateral with a "
        "list of allowed coordinates, few of which give points on its sides",
    )
    target: Name | Common | Rare | tuple[Common | Rare, ...] = parameter(
        "any",
        "wanted regions: any, a code such as 2t1q1h (t, q, p, h: regions with 3, 4, 5, 6 sides), "
        "common (made by many pairs of segments) or rare (made by few pairs); with several values, "
        "each item draws one",
        min_length=1,
    )
    grid_values: int = parameter(
        6,
        "number of allowed coordinates. For unit_grid: at most 11, including 0 and 1; for "
        "listed: at least those of eight points on the sides",
        ge=3,
        le=40,
    )
    snap_decimals: Literal[3, 4] = parameter(
        3, "number of decimals to which positions on a side are rounded"
    )

    @model_validator(mode="after")
    def _listable(self) -> "Space":
        if self.frame != "listed" and self.grid_values > _MOST_ON_GRID:
            raise ValueError(
                f"the frame {self.frame!r} allows at most {_MOST_ON_GRID} grid_values; only "
                "'listed' allows more"
            )
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Convex frames and the regions into which two segments must cut them."""

    task = "two_segments"
    version = 3
    draws = 2
    form = '{"segments": [[[x1, y1], [x2, y2]], [[x3, y3], [x4, y4]]]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the frame, the wanted regions, the allowed values and the rounding."""
        tolerance = f"{Decimal(5).scaleb(-params.snap_decimals - 1):f}"
        counts = params.counts.model_dump()
        regions = [counted(n, kind) for kind, n in counts.items() if n]
        is_unit = tuple(map(tuple, params.corners)) == UNIT_SQUARE
        values_rule = ""
        values = ""
        rounding = "rounding.txt"
        if params.coordinate_grid:
            listing = ", ".join(map(plain, params.coordinate_grid))
            values_rule = _VALUES_RULE.format(values=listing)
            values = f"Coordinates may only be {listing}.\n"
            if is_unit:
                rounding = "rounding_on_values.txt"
            else:
                values_rule += _VALUES_TOLERANCE.format(tolerance=tolerance)
        frame = "square" if is_unit else "quadrilateral"
        corners = [f"({plain(x)}, {plain(y)})" for x, y in params.corners]
        rounding_rule = prompt_template(__package__, rounding).rstrip()
        return {
            "shape": "the unit square" if is_unit else "a convex quadrilateral",
            "frame": frame,
            "heading": frame.upper(),
            "wanted": "\n".join(regions),
            "values_rule": values_rule,
            "values": values,
            "rounding": rounding_rule.format(
                steps=10**params.snap_decimals,
                tolerance=tolerance,
                digits=params.snap_decimals + 2,
            ),
            **dict(zip("ABCD", corners, strict=True)),
        }

    def reference(self, params: Params) -> Answer:
        """Try pairs of chords until one pair makes the regions."""
        return Answer.model_validate({"segments": solve(params)})

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return answers with one mistake each, and others that an older grader accepted."""
        (a, b), second = solve(params)
        spots = allowed_spots(params)
        wrong_pair = first_wrong_pair(params, spots)
        answers: dict[str, Sequence[Sequence[Sequence[JsonValue]]]] = {
            "empty_list": [],
            "one_segment": [(a, b)],
            "three_segments": [(a, b), second, second],
            "same_segment_twice": [(a, b), (b, a)],
            "zero_length": [(a, a), second],
            "along_a_side": [params.corners[:2], second],
            "outside_the_frame": [((2 * a[0] - b[0], 2 * a[1] - b[1]), b), second],
            "just_off_the_boundary": [(pushed_out(params, a), b), second],
            "other_regions": segments_of(wrong_pair, spots),
            "booleans": [((True, a[1]), b), second],
            "strings": [((str(a[0]), str(a[1])), b), second],
            "three_coordinates": [((*a, 0.0), b), second],
            **frame_counterexamples(params),
        }
        lists: dict[str, JsonValue] = {}
        for name, segments in answers.items():
            lists[name] = [_as_lists(segment) for segment in segments]
        return under("segments", {**lists, "declared_impossible": "impossible"})

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the middle lines, which cross, and one of them with a diagonal.

        If the list excludes the middle of a side, the line ends at the nearest allowed point.
        """
        a, _, c, _ = params.corners
        middles = [_middle(params, side) for side in range(4)]
        across: list[Any] = [middles[0], middles[2]]
        along: list[Any] = [middles[1], middles[3]]
        diagonal: list[Any] = [list(a), list(c)]
        return {
            "cross": {"segments": [across, along]},
            "diagonal and middle line": {"segments": [diagonal, across]},
        }

    def blind_floor(self, params: Params) -> float:
        """Return the share of right pairs among the pairs of segments with allowed ends."""
        return right_share(params)

    def measure(self, params: Params) -> float:
        """Return segment pairs per right pair, times points of the grid per allowed endpoint.

        Segments end at corners and two more points of each side, or at points that the list allows.
        """
        values = params.coordinate_grid
        points = 1.0
        if values is not None:
            points = len(values) ** 2 / len(allowed_spots(params))
        return points / right_share(params)

    def carried_over(self, answer: Answer, params: Params, onto: Params) -> JsonValue:
        """Return an answer with its endpoints at the same shares of the sides of another frame."""
        frame = frame_of(params.corners, params.snap_decimals)
        unit = 10**params.snap_decimals
        segments: list[JsonValue] = []
        for segment in answer.segments:
            ends: list[JsonValue] = []
            for x, y in segment:
                spot = locate(frame, (x, y))
                if spot is None:
                    raise ValueError(f"{(x, y)} is far outside the frame")
                side, step = divmod(spot.place, unit)
                ends.append(list(point_at(onto.corners, side, Fraction(step, unit))))
            segments.append(ends)
        return {"segments": segments}

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw a frame and regions until two segments can make the regions."""
        names = targets_of(point)
        for _ in range(_TRIES):
            corners, grid = draw_frame(point, rng)
            if not is_gentle(corners):
                continue
            params = Params(
                corners=corners,
                counts=counts_of(rng.choice(names)),
                coordinate_grid=grid,
                snap_decimals=point.snap_decimals,
            )
            if point.frame == "listed":
                complete = with_value_list(params, point.grid_values, rng)
                if complete is not None:
                    return complete
            elif first_right_pair(params, allowed_spots(params)):
                return params
        raise GenerationError(
            f"{_TRIES} tries found no frame {point.frame!r} that two segments cut into "
            f"{point.target!r}; allow more grid_values"
        )


def targets_of(point: Space) -> tuple[str, ...]:
    """Return the names of the regions to draw from."""
    if isinstance(point.target, tuple):
        return point.target
    return _TARGETS.get(point.target, (point.target,))


def right_share(params: Params) -> float:
    """Return the share of right pairs among the pairs of segments between allowed points."""
    spots = allowed_spots(params)
    every = sum(1 for _ in pairs(tuple(spots), 10**params.snap_decimals))
    right = sum(1 for _ in right_pairs(params, spots))
    return right / every


def _as_lists(segment: Sequence[Sequence[JsonValue]]) -> list[JsonValue]:
    """Return the ends of a segment as JSON values."""
    return [list(end) for end in segment]


def _middle(params: Params, side: int) -> Any:  # noqa: ANN401  (JSON)
    """Return the middle of a side, or the allowed point inside the side nearest to the middle."""
    unit = 10**params.snap_decimals
    corner = side * unit
    middle = point_at(params.corners, side, _HALF)
    if params.coordinate_grid is None:
        return list(middle)
    least_distance = unit
    for place, spot in sorted(allowed_spots(params).items()):
        # Twice the distance from the middle; it is a whole unit at the corners.
        distance = abs(2 * (place - corner) - unit)
        if distance < least_distance:
            least_distance = distance
            middle = spot
    return list(middle)


def draw_frame(point: Space, rng: Stream) -> tuple[Corners, tuple[float, ...] | None]:
    """Return corners, counter-clockwise, and the values that coordinates may take."""
    if point.frame == "unit":
        return UNIT_SQUARE, None
    if point.frame == "unit_grid":
        inner = rng.sample(range(1, 20), point.grid_values - 2)
        twentieths = sorted([0, 20, *inner])
        return UNIT_SQUARE, tuple(k / 20 for k in twentieths)
    if point.frame in {"quadrilateral", "listed"}:
        corners = []
        for x, y in UNIT_SQUARE:
            dx = rng.between(-30, 30) / 100
            dy = rng.between(-30, 30) / 100
            corners.append((round(x + dx, 2), round(y + dy, 2)))
        return tuple(corners), None
    # With integer steps, the printed decimals make an exact square.
    dx = rng.between(300, 1000)
    dy = rng.between(50, 1000) if point.frame == "rotated" else 0
    x = rng.between(-1000, 1000)
    y = rng.between(-1000, 1000)
    # The second side is the first one turned by a right angle.
    steps = [(0, 0), (dx, dy), (dx - dy, dx + dy), (-dy, dx)]
    return tuple(((x + i) / 1000, (y + j) / 1000) for i, j in steps), None


def is_gentle(corners: Corners) -> bool:
    """Return whether every angle is between 45 and 135 degrees, with a tolerance for rounding."""
    for i, (x, y) in enumerate(corners):
        # With four corners, index i - 3 is the next corner.
        ax, ay = corners[i - 1]
        cx, cy = corners[i - 3]
        # The tangent of the angle is cross / dot, so both are equally large at 45 and 135 degrees.
        cross = (cx - x) * (ay - y) - (cy - y) * (ax - x)
        dot = (cx - x) * (ax - x) + (cy - y) * (ay - y)
        if cross <= 0 or abs(dot) > cross + 1e-9:
            return False
    return True


def counts_of(name: str) -> Counts:
    """Return the regions that a name such as 2t1q1h means."""
    by_letter = {kind[0]: kind for kind in KINDS.values()}
    numbers = re.findall(r"(\d)(\w)", name)
    return Counts.model_validate({by_letter[letter]: int(n) for n, letter in numbers})


def with_value_list(params: Params, values: int, rng: Stream) -> Params | None:
    """Return the task with a list of values that allows one correct answer; None if that fails.

    Tenths of a side have three decimals, because its ends have two. The list also allows four more
    points of the sides; its other coordinates give no point of a side.
    """
    corners = params.corners
    spots = spots_at(params, [Fraction(0), *sorted(rng.sample(_TENTHS, 2))])
    right = list(right_pairs(params, spots))
    ends = set(chain(*rng.choice(right)))
    ends.update(rng.sample(sorted(spots), 4))
    coordinates: dict[float, None] = {}
    for place in sorted(ends):
        coordinates |= dict.fromkeys(spots[place])
    frame = frame_of(corners, params.snap_decimals)
    for _ in range(_TRIES):
        if len(coordinates) >= values:
            grid = tuple(sorted(coordinates))
            return params.model_copy(update={"coordinate_grid": grid})
        value = rng.choice(point_at(corners, rng.below(4), rng.choice(_TENTHS)))
        partners = [*coordinates, value]
        if value not in coordinates and not meets_any(frame, value, partners):
            coordinates[value] = None
    return None


def meets_any(frame: Frame, value: float, partners: Sequence[float]) -> bool:
    """Return whether a coordinate and a partner form a point of the frame, in either order."""
    for partner in partners:
        for point in ((value, partner), (partner, value)):
            spot = locate(frame, point)
            if spot is not None and spot.distance == 0:
                return True
    return False
