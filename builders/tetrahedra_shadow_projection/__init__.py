"""Shadows of tetrahedra: prompts, fresh targets, and a greedy search for covers."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import JsonValue
from shapely import Polygon

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, prompt_template, reply_as
from scbench.builders.shared.number_format import plain
from scbench.builders.shared.parameters import parameter
from scbench.builders.tetrahedra_shadow_projection.baselines import baselines
from scbench.builders.tetrahedra_shadow_projection.solver import Effort, find_cover
from scbench.builders.tetrahedra_shadow_projection.targets import (
    Figure,
    draw_target,
    is_wide,
    smallest_corner,
)
from scbench.graders import tetrahedra_shadow_projection as rules
from scbench.graders.tetrahedra_shadow_projection import (
    BASE,
    Floats,
    area,
    corners,
    cover,
)
from scbench.schemas.tetrahedra_shadow_projection import Answer, Params

_EFFORTS = (Effort(0.04, 0.2, 150), Effort(0.03, 0.15, 200), Effort(0.025, 0.1, 250))
_FIGURES_TRIED = 200
_SEARCHES = 6
_LEAST = 0.95
_NAMES = ("x", "y", "z", "q0", "q1", "q2", "q3")

_PROMPT = prompt_template(__name__)
_CENTRED = ("a disc", "a ring", "a square", "a rectangle", "a plus sign")
"""Beginnings of titles that leave nothing open once the middle is known."""
_FEW = 12


class Space(Point):
    """Parameters of fresh targets."""

    figure: Literal["any", "regular", "star", "blocks", "slanted", "band"] = parameter(
        "any",
        "regular polygon, star, axis-parallel figure, or one with slanted sides; a band is a "
        "narrow zigzag, which any does not draw",
    )
    area: float = parameter(
        7.0, "area of the target; about four tetrahedra are needed per unit", ge=2.0, le=24.0
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
        0.75, "a disc of this diameter reaches every main part of the target", ge=0.3, le=3.0
    )
    hole: bool = parameter(False, "whether the target has a square hole")


class TaskBuilder(Builder[Params, Answer, Space]):
    """Targets that the greedy search covers."""

    task = "tetrahedra_shadow_projection"
    version = 2

    def words(self, params: Params) -> dict[str, object]:
        """Return the target and the numbers of the score."""
        holes = "".join(
            f"\nA hole is cut out of it; its corners, in clockwise order:\n\n{_listed(hole)}\n"
            for hole in params.holes
        )
        formula = f"f * C/R - {rules.DIFFERENCE_WEIGHT} * D/R"
        return {
            "c": f"{BASE[2][1]:.9f}",
            "d": f"{BASE[3][1]:.9f}",
            "e": f"{BASE[3][2]:.9f}",
            "title": params.title,
            "n": len(params.exterior),
            "exterior": _listed(params.exterior),
            "holes": holes,
            "formula": formula if params.divisor == 1 else f"({formula}) / {plain(params.divisor)}",
            "slack": rules.SLACK,
            "full": rules.FULL,
            "cut": rules.CUT_FACTOR,
            "not_unit": rules.NOT_UNIT_FACTOR,
            "unit": float(rules.UNIT_TOLERANCE),
            "touch": rules.TOUCH,
            "reach": rules.REACH,
            "most": rules.MAX_TETRAHEDRA,
            "shape": _briefly(params),
        }

    def prompt(self, params: Params) -> str:
        """Return the tetrahedron, the target and the score rule."""
        form = (
            '{"tetrahedrons": [{"x": 0, "y": 0, "z": 0, "q0": 1, "q1": 0, "q2": 0, "q3": 0}, ...]}'
        )
        return _PROMPT.format(**self.words(params)) + reply_as(form)

    def reference(self, params: Params) -> Answer:
        """Search, more finely if need be, until the cover is good enough for a full score.

        Raises:
            GenerationError: the finest search does not find such a cover.
        """
        for effort in _EFFORTS:
            found = _search(params.exterior, params.holes, effort)
            if found.raw >= rules.FULL * params.divisor:
                poses = [dict(zip(_NAMES, pose, strict=True)) for pose in found.poses]
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
            "quaternions_too_long": [_scaled(pose, 1.1) for pose in right],
            "one_quaternion_of_zeros": [*right, _scaled(first, 0)],
            "one_out_of_reach": [*right, first | {"x": 1e300}],
            "one_infinitely_high": [*right, first | {"z": 1.7e308}],
            "beside_the_target": _moved(right, x1 - x0, 0, 0),
            "and_once_more_beside_it": [*right, *_moved(right, x1 - x0 + 1, 0, top)],
            "strings": [{key: str(value) for key, value in pose.items()} for pose in right],
            "booleans": [first | {"q0": True, "q1": False, "q2": False, "q3": False}, *right],
            "without_z": [{k: v for k, v in pose.items() if k != "z"} for pose in right],
            "lists_of_seven": [list(pose.values()) for pose in right],
            **dict(_readings(params, right)),
        }
        return {name: {"tetrahedrons": poses} for name, poses in wrong.items()}

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a grid of square shadows, and grids stacked on each other."""
        return baselines(params)

    def measure(self, params: Params) -> float:
        """Return the length of the rim by how winding it is: its square over the target's area."""
        target = Polygon(params.exterior, params.holes)
        return float(target.length**3 / target.area)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw figures until the search covers one; how well it does becomes the divisor.

        Raises:
            GenerationError: none in 200 figures and 6 searches.
        """
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
            rings = [tuple(ring.coords)[:-1] for ring in (target.exterior, *target.interiors)]
            found = _search(rings[0], tuple(rings[1:]), _EFFORTS[0])
            if found.raw >= _LEAST:
                return Params(
                    title=title,
                    exterior=rings[0],
                    holes=tuple(rings[1:]),
                    divisor=min(1.0, math.floor(100 * found.raw) / 100),
                )
            searches += 1
            if searches == _SEARCHES:
                break
        raise GenerationError(
            f"no {point.figure} figure of area {point.area} was covered to {_LEAST} in {searches} "
            "searches; ask for a larger area, a smaller min_width, other angles or no hole"
        )


class _Found(NamedTuple):
    poses: list[tuple[float, ...]]
    raw: float


@lru_cache(maxsize=64)
def _search(
    exterior: tuple[tuple[float, ...], ...],
    holes: tuple[tuple[tuple[float, ...], ...], ...],
    effort: Effort,
) -> _Found:
    """Return a cover and its score before the divisor."""
    target = Polygon(exterior, holes)
    poses = find_cover(target, effort)
    whole = area(target)
    seen = cover(target, rules.outlines(corners(np.array(poses).reshape(-1, 7))), rules.SLACK)
    return _Found(poses, seen.covered / whole - rules.DIFFERENCE_WEIGHT * seen.difference / whole)


def _briefly(params: Params) -> str:
    """Return the target in words, with as many numbers as say where it lies."""
    title = re.sub(r", (each |its rim )?given .*", "", params.title)
    if title.startswith(_CENTRED):
        return f"{title}, centred on the origin."
    if len(params.exterior) <= _FEW:
        return f"{title}, with the corners (x, y)\n\n{_listed(params.exterior)}"
    (low_x, high_x), (low_y, high_y) = (
        (min(v), max(v)) for v in zip(*params.exterior, strict=True)
    )
    spans = [plain(v) for v in (low_x, high_x, low_y, high_y)]
    return "{}, from x = {} to {} and from y = {} to {}.".format(title, *spans)


def _listed(ring: Sequence[Sequence[float]]) -> str:
    """Return points as text, four to a line, every digit printed."""
    points = [f"({plain(x)}, {plain(y)})" for x, y in ring]
    lines = [", ".join(points[i : i + 4]) for i in range(0, len(points), 4)]
    return ",\n".join(lines)


def _scaled(pose: dict[str, float], factor: float) -> dict[str, float]:
    return pose | {key: pose[key] * factor for key in _NAMES[3:]}


def _moved(
    poses: Sequence[dict[str, float]], x: float, y: float, z: float
) -> list[dict[str, float]]:
    return [p | {"x": p["x"] + x, "y": p["y"] + y, "z": p["z"] + z} for p in poses]


def _readings(
    params: Params, right: Sequence[dict[str, float]]
) -> Iterator[tuple[str, list[dict[str, float]]]]:
    """Yield what becomes of right poses under other readings of the seven numbers.

    A reading that changes nothing that counts for this target is left out.
    """
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
        "moved_before_turned": (_rotated(inverse, moves), quaternions),
    }
    for name, columns in readings.items():
        rows = np.round(np.hstack(columns), 9).tolist()
        poses = [dict(zip(_NAMES, row, strict=True)) for row in rows]
        if rules.grade(params, Answer.model_validate({"tetrahedrons": poses})).score < 1:
            yield name, poses


def _rotated(quaternions: Floats, vectors: Floats) -> Floats:
    twice = 2 * np.cross(quaternions[:, 1:], vectors)
    return vectors + quaternions[:, :1] * twice + np.cross(quaternions[:, 1:], twice)
