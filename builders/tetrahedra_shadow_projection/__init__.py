"""Shadows of tetrahedra: prompts, fresh targets, and a greedy search for covers."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import shapely
from pydantic import JsonValue
from shapely import Polygon

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Builder,
    Point,
    draw_direction,
    parameter,
    plain,
    under,
)
from scbench.builders.tetrahedra_shadow_projection.solver import Effort, find_cover
from scbench.graders import tetrahedra_shadow_projection as rules
from scbench.graders.tetrahedra_shadow_projection import (
    BASE,
    Floats,
    area,
    corners,
    cover,
    polygons,
)
from scbench.schemas.tetrahedra_shadow_projection import Answer, Params

_EFFORTS = (Effort(0.04, 0.2, 150), Effort(0.03, 0.15, 200), Effort(0.025, 0.1, 250))
_FIGURES_TRIED = 200
_SEARCHES = 6
_LEAST = 0.95
_NAMES = ("x", "y", "z", "q0", "q1", "q2", "q3")
# Beginnings of titles that leave nothing open once the middle is known.
_CENTRED = ("a disc", "a ring", "a square", "a rectangle", "a plus sign")
_MAX_CORNERS = 12
# Of the square shadow of a tetrahedron with two level edges.
_SIDE = math.sqrt(0.5)

# About x until two edges are level, then an eighth of a turn about z.
_A, _B = math.atan(math.sqrt(2)) / 2, math.pi / 8

_TURN = (
    math.cos(_B) * math.cos(_A),
    math.cos(_B) * math.sin(_A),
    math.sin(_B) * math.sin(_A),
    math.sin(_B) * math.cos(_A),
)

# Lowest x, y and z of the turned tetrahedron before it is moved.
_LOW = corners(np.array([[0.0, 0.0, 0.0, *_TURN]]))[0].min(axis=0).tolist()
# Share of a square inside the target from which on it adds more than its spill takes
# away.
_WORTH = 0.25
_MAX_POSES = 2000
XY = tuple[float, float]
Figure = Literal["regular", "star", "blocks", "slanted", "band"]
_DECIMALS = 3


class Space(Point):
    """Parameters of fresh targets."""

    figure: Literal["any", "regular", "star", "blocks", "slanted", "band"] = parameter(
        "any",
        "regular polygon, star, axis-parallel figure, or one with slanted sides; a band is a "
        "narrow zigzag, which any does not draw",
    )
    area: float = parameter(
        7.0,
        "area of the target; about four tetrahedra are needed per unit",
        ge=2.0,
        le=24.0,
    )
    sides: int = parameter(
        7,
        "sides of a regular polygon, of which many make it curved; strokes of a band",
        ge=3,
        le=60,
    )
    min_angle: float = parameter(
        45.0,
        "smallest corner in degrees; below 54.7 it cannot be covered exactly",
        ge=30.0,
        le=90.0,
    )
    min_width: float = parameter(
        0.75,
        "a disc of this diameter reaches every main part of the target",
        ge=0.3,
        le=3.0,
    )
    hole: bool = parameter(False, "whether the target has a square hole")


class TaskBuilder(Builder[Params, Answer, Space]):
    """Targets that the greedy search covers."""

    task = "tetrahedra_shadow_projection"
    version = 3
    form = '{"tetrahedrons": [{"x": 0, "y": 0, "z": 0, "q0": 1, "q1": 0, "q2": 0, "q3": 0}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the target and the numbers of the score."""
        holes = "".join(
            f"\nA hole is cut out of it; its corners, in clockwise order:\n\n{_ring_text(hole)}\n"
            for hole in params.holes
        )
        formula = f"f * C/R - {rules.DIFFERENCE_WEIGHT} * D/R"
        lost = f"{rules.DIFFERENCE_WEIGHT} * S/R"
        return {
            "c": f"{BASE[2][1]:.9f}",
            "d": f"{BASE[3][1]:.9f}",
            "e": f"{BASE[3][2]:.9f}",
            "title": params.title,
            "n": len(params.exterior),
            "exterior": _ring_text(params.exterior),
            "holes": holes,
            "formula": formula
            if params.divisor == 1
            else f"({formula}) / {plain(params.divisor)}",
            "lost": lost
            if params.divisor == 1
            else f"({lost}) / {plain(params.divisor)}",
            "slack": rules.SLACK,
            "full": rules.FULL,
            "cut": rules.CUT_FACTOR,
            "not_unit": rules.NOT_UNIT_FACTOR,
            "unit": float(rules.UNIT_TOLERANCE),
            "touch": rules.TOUCH,
            "reach": rules.REACH,
            "most": rules.most_copies(params),
            "stray": rules.STRAY,
            "shape": _brief_target(params),
        }

    def reference(self, params: Params) -> Answer:
        """Search, more finely if need be, until the cover is good enough for a full score."""
        for effort in _EFFORTS:
            result = _cached_cover(params.exterior, params.holes, effort)
            if result.raw >= rules.FULL * params.divisor:
                poses = [dict(zip(_NAMES, pose, strict=True)) for pose in result.poses]
                return Answer.model_validate({"tetrahedrons": poses})
        raise GenerationError(f"no full cover of {params.title} was found")

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return other readings of the pose, faults of the bodies, and covers that miss."""
        right = [pose.model_dump() for pose in self.reference(params).tetrahedrons]
        x0, _, x1, _ = Polygon(params.exterior).bounds
        top = 1 + max(pose["z"] for pose in right)
        first = right[0]
        wrong: dict[str, list[Any]] = {
            "empty": [],
            "one_alone": [first],
            "one_listed_twice": [*right, first],
            "quaternions_too_long": [_scaled_pose(pose, 1.1) for pose in right],
            "one_quaternion_of_zeros": [*right, _scaled_pose(first, 0)],
            "one_out_of_reach": [*right, first | {"x": 1e300}],
            "one_infinitely_high": [*right, first | {"z": 1.7e308}],
            "beside_the_target": _shift_poses(right, x1 - x0, 0, 0),
            "and_once_more_beside_it": [
                *right,
                *_shift_poses(right, x1 - x0 + 1, 0, top),
            ],
            "strings": [
                {key: str(value) for key, value in pose.items()} for pose in right
            ],
            "booleans": [
                first | {"q0": True, "q1": False, "q2": False, "q3": False},
                *right,
            ],
            "without_z": [
                {k: v for k, v in pose.items() if k != "z"} for pose in right
            ],
            "lists_of_seven": [list(pose.values()) for pose in right],
            **dict(_readings(params, right)),
        }
        return under("tetrahedrons", wrong)

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a grid of squares side by side, and grids stacked on each other, a third aside."""
        return {
            "grid of shadows": _shadow_grid(params, 1, _WORTH),
            "stacked grids of shadows": _shadow_grid(params, 3, 0.9),
        }

    def measure(self, params: Params) -> float:
        """Return the length of the rim by how winding it is: its square over the target's area."""
        target = Polygon(params.exterior, params.holes)
        return float(target.length**3 / target.area)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw figures until the search covers one; how well it does becomes the divisor."""
        searches = 0
        figures: Sequence[Figure] = ("regular", "star", "blocks", "slanted")
        for _ in range(_FIGURES_TRIED):
            figure = rng.choice(figures) if point.figure == "any" else point.figure
            title, target = draw_target(
                figure, rng, area=point.area, sides=point.sides, hole=point.hole
            )
            if not (target.is_valid and is_wide(target, point.min_width)):
                continue
            if smallest_corner(target) < point.min_angle:
                continue
            rings = [
                tuple(ring.coords)[:-1] for ring in (target.exterior, *target.interiors)
            ]
            result = _cached_cover(rings[0], tuple(rings[1:]), _EFFORTS[0])
            if result.raw >= _LEAST:
                return Params(
                    title=title,
                    exterior=rings[0],
                    holes=tuple(rings[1:]),
                    divisor=min(1.0, math.floor(100 * result.raw) / 100),
                )
            searches += 1
            if searches == _SEARCHES:
                break
        raise GenerationError(
            f"no {point.figure} figure of area {point.area} was covered to {_LEAST} in {searches} "
            "searches; ask for a larger area, a smaller min_width, other angles or no hole"
        )


class _ScoredCover(NamedTuple):
    poses: list[tuple[float, ...]]
    raw: float


@lru_cache(maxsize=64)
def _cached_cover(
    exterior: tuple[tuple[float, ...], ...],
    holes: tuple[tuple[tuple[float, ...], ...], ...],
    effort: Effort,
) -> _ScoredCover:
    """Return a cover and its score before the divisor."""
    target = Polygon(exterior, holes)
    poses = find_cover(target, effort)
    target_area = area(target)
    shadow = cover(
        target, rules.outlines(corners(np.array(poses).reshape(-1, 7))), rules.SLACK
    )
    return _ScoredCover(
        poses,
        shadow.covered / target_area
        - rules.DIFFERENCE_WEIGHT * shadow.difference / target_area,
    )


def _brief_target(params: Params) -> str:
    """Return the target in words, with as many numbers as say where it lies."""
    title = re.sub(r", (each |its rim )?given .*", "", params.title)
    if title.startswith(_CENTRED):
        return f"{title}, centred on the origin."
    if len(params.exterior) <= _MAX_CORNERS:
        return f"{title}, with the corners (x, y)\n\n{_ring_text(params.exterior)}"
    (low_x, high_x), (low_y, high_y) = (
        (min(v), max(v)) for v in zip(*params.exterior, strict=True)
    )
    spans = [plain(v) for v in (low_x, high_x, low_y, high_y)]
    return "{}, from x = {} to {} and from y = {} to {}.".format(title, *spans)


def _ring_text(ring: Sequence[Sequence[float]]) -> str:
    """Return points as text, four to a line, every digit printed."""
    points = [f"({plain(x)}, {plain(y)})" for x, y in ring]
    lines = [", ".join(points[i : i + 4]) for i in range(0, len(points), 4)]
    return ",\n".join(lines)


def _scaled_pose(pose: dict[str, float], factor: float) -> dict[str, float]:
    return pose | {key: pose[key] * factor for key in _NAMES[3:]}


def _shift_poses(
    poses: Sequence[dict[str, float]], x: float, y: float, z: float
) -> list[dict[str, float]]:
    return [p | {"x": p["x"] + x, "y": p["y"] + y, "z": p["z"] + z} for p in poses]


def _readings(
    params: Params, right: Sequence[dict[str, float]]
) -> Iterator[tuple[str, list[dict[str, float]]]]:
    """Yield right poses under other readings of the seven numbers, where that costs points."""
    table = np.array([list(pose.values()) for pose in right])
    moves, quaternions = table[:, :3], table[:, 3:]
    inverse = quaternions * (1, -1, -1, -1)
    bodies = corners(table)
    middle = np.array(BASE).mean(axis=0)
    level = moves.copy()
    level[:, 2] -= bodies[:, :, 2].min(axis=1)
    quadrant = moves - (*Polygon(params.exterior).bounds[:2], 0)
    readings = {
        "all_at_one_height": (level, quaternions),
        "moved_to_the_first_quadrant": (quadrant, quaternions),
        "inverse_rotations": (moves, inverse),
        "scalar_last": (moves, quaternions[:, [1, 2, 3, 0]]),
        "turned_about_the_middle": (bodies.mean(axis=1) - middle, quaternions),
        "moved_before_turned": (_rotate_vectors(inverse, moves), quaternions),
    }
    for name, columns in readings.items():
        rows = np.round(np.hstack(columns), 9).tolist()
        poses = [dict(zip(_NAMES, row, strict=True)) for row in rows]
        if (
            rules.grade(params, Answer.model_validate({"tetrahedrons": poses})).score
            < 1
        ):
            yield name, poses


def _rotate_vectors(quaternions: Floats, vectors: Floats) -> Floats:
    twice = 2 * np.cross(quaternions[:, 1:], vectors)
    return vectors + quaternions[:, :1] * twice + np.cross(quaternions[:, 1:], twice)


def _shadow_grid(params: Params, parts: int, least: float) -> JsonValue:
    """Return tetrahedra, a ``parts``-th of a side apart, over squares of which a share counts."""
    target = Polygon(params.exterior, params.holes)
    low_x, low_y, high_x, high_y = target.bounds
    step = _SIDE / parts
    # Rounded, so that no square comes or goes with the last digit of a machine.
    columns, rows = (
        math.ceil(round((high - low) / step, 9))
        for low, high in ((low_x, high_x), (low_y, high_y))
    )
    i, j = (v.ravel() for v in np.indices((columns, rows)))
    x, y = low_x + i * step, low_y + j * step
    squares = shapely.box(x, y, x + _SIDE, y + _SIDE)
    shares = shapely.area(shapely.intersection(target, squares)) / _SIDE**2
    floor = (i % parts) * parts + j % parts
    squares_inside = np.flatnonzero(shares.round(9) >= least)
    poses: list[JsonValue] = [
        _pose(float(x[k]), float(y[k]), float(floor[k])) for k in squares_inside
    ]
    return {"tetrahedrons": poses[:_MAX_POSES]}


def _pose(x: float, y: float, floor: float) -> dict[str, JsonValue]:
    return dict(zip(_NAMES, (x - _LOW[0], y - _LOW[1], floor, *_TURN), strict=True))


def draw_target(
    figure: Figure, rng: Stream, *, area: float, sides: int, hole: bool
) -> tuple[str, Polygon]:
    """Draw a target near the origin; return it in a few words, and the polygon, maybe invalid.

    Its area is that before corners are rounded to three decimals. Sides are those of a regular
    polygon, or strokes of a band; a hole is square, 5 to 15 % as large as the figure.
    """
    if figure == "regular":
        title, points = f"a regular polygon with {sides} sides", _round(sides)
    elif figure == "band":
        title, points = f"a zigzag band of {sides} strokes", _band(sides, rng)
    else:
        title, points = _FIGURES[figure](rng)
    if figure != "blocks":
        points = _turn_points(points, *draw_direction(rng))
    holes: list[list[XY]] = []
    if hole:
        title += ", with a square hole"
        centre = shapely.centroid(Polygon(points))
        side = math.sqrt(rng.uniform(0.05, 0.15) * Polygon(points).area)
        square = [(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)]
        turned = (
            square if figure == "blocks" else _turn_points(square, *draw_direction(rng))
        )
        holes = [[(centre.x + side * x, centre.y + side * y) for x, y in turned]]
    scale = math.sqrt(area / Polygon(points, holes).area)
    x0, y0, x1, y1 = (scale * v for v in Polygon(points).bounds)
    move_x = rng.uniform(-1, 1) - (x0 + x1) / 2
    move_y = rng.uniform(-1, 1) - (y0 + y1) / 2

    def place(ring: Sequence[XY]) -> list[XY]:
        # Adding 0.0 makes minus zero plain zero.
        return [
            (
                round(scale * x + move_x, _DECIMALS) + 0.0,
                round(scale * y + move_y, _DECIMALS) + 0.0,
            )
            for x, y in ring
        ]

    return title, Polygon(place(points), [place(ring) for ring in holes])


def smallest_corner(target: Polygon) -> float:
    """Return the smallest angle of a corner that points outwards, in degrees; 180 if none does."""
    angles = [180.0]
    for ring in (target.exterior, *target.interiors):
        points = shapely.get_coordinates(ring)[:-1].tolist()
        for i, (x, y) in enumerate(points):
            (px, py), (qx, qy) = points[i - 1], points[(i + 1) % len(points)]
            cross = (x - px) * (qy - y) - (y - py) * (qx - x)
            dot = (px - x) * (qx - x) + (py - y) * (qy - y)
            if cross > 0:
                angles.append(math.degrees(math.atan2(cross, dot)))
    return min(angles)


def is_wide(target: Polygon, width: float) -> bool:
    """Whether a disc of this diameter can reach every main part of a target without leaving it."""
    core = shapely.buffer(target, -width / 2, join_style="mitre")
    return len(polygons(core)) == 1


def _turn_points(points: Sequence[XY], cosine: float, sine: float) -> list[XY]:
    return [(cosine * x - sine * y, sine * x + cosine * y) for x, y in points]


def _round(corners: int, radii: Sequence[float] = (1.0,)) -> list[XY]:
    """Return points around the origin at even angles, their radii taken in turn."""
    angles = (2 * math.pi * i / corners for i in range(corners))
    return [
        (radii[i % len(radii)] * math.cos(a), radii[i % len(radii)] * math.sin(a))
        for i, a in enumerate(angles)
    ]


def _star(rng: Stream) -> tuple[str, list[XY]]:
    tips = rng.between(4, 7)
    return f"a star with {tips} tips", _round(2 * tips, (1.0, rng.uniform(0.4, 0.65)))


def _blocks(rng: Stream) -> tuple[str, list[XY]]:
    """Return two to four upright blocks side by side, each meeting the next along a side."""
    x0, low, high = 0.0, 0.0, rng.uniform(1.0, 3.0)
    lower, upper = [], []
    for _ in range(rng.between(2, 4)):
        x1 = x0 + rng.uniform(0.8, 1.6)
        lower += [(x0, low), (x1, low)]
        upper += [(x0, high), (x1, high)]
        x0 = x1
        meet = rng.uniform(low, high)
        low, high = meet - rng.uniform(0.5, 2.0), meet + rng.uniform(0.5, 2.0)
    return "a figure with all sides parallel to the axes", [*lower, *reversed(upper)]


def _slanted(rng: Stream) -> tuple[str, list[XY]]:
    height, lean = rng.uniform(1.0, 2.0), rng.uniform(0.2, 1.2)
    match rng.below(4):
        case 0:
            return "a parallelogram", [
                (0, 0),
                (2, 0),
                (2 + lean, height),
                (lean, height),
            ]
        case 1:
            return "a trapezoid", [
                (0, 0),
                (3, 0),
                (3 - lean, height),
                (lean / 2, height),
            ]
        case 2:
            tip = 1 + lean
            return "a chevron", [
                (0, -1),
                (1, -1),
                (tip, 0),
                (1, 1),
                (0, 1),
                (tip - 1, 0),
            ]
        case _:
            head = rng.uniform(1.2, 2.0)
            shaft = rng.uniform(0.4, 0.6)
            arrow = [
                (-2, -shaft),
                (0, -shaft),
                (0, -1),
                (head, 0),
                (0, 1),
                (0, shaft),
                (-2, shaft),
            ]
            return "an arrow", [(float(x), float(y)) for x, y in arrow]


def _band(strokes: int, rng: Stream) -> list[XY]:
    """Return a zigzag strip of even width, whose strokes are 2 to 3 times as long as it is wide."""
    points, heading = [(0.0, 0.0)], (1.0, 0.0)
    headings: list[XY] = []
    for i in range(strokes):
        length, lean = rng.uniform(2.0, 3.0), rng.uniform(0.5, 0.75)
        # Half the turn to the next stroke, to either side in turn, as tangent of half an angle.
        cosine, sine = (
            (1 - lean * lean) / (1 + lean * lean),
            2 * lean / (1 + lean * lean),
        )
        heading = (cosine, sine if i % 2 else -sine)
        headings.append(heading)
        x, y = points[-1]
        points.append((x + length * heading[0], y + length * heading[1]))
    sides: list[list[XY]] = [[], []]
    for i, (x, y) in enumerate(points):
        (ax, ay), (bx, by) = headings[max(0, i - 1)], headings[min(i, strokes - 1)]
        reach = 1 + ax * bx + ay * by
        for side, ring in zip((-0.5, 0.5), sides, strict=True):
            ring.append((x - side * (ay + by) / reach, y + side * (ax + bx) / reach))
    return [*sides[0], *reversed(sides[1])]


_FIGURES: Mapping[str, Callable[[Stream], tuple[str, list[XY]]]] = {
    "star": _star,
    "blocks": _blocks,
    "slanted": _slanted,
}
