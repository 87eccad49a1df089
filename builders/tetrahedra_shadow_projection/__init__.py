"""Shadows of tetrahedra: cover a flat target with the shadows of copies of one tetrahedron.

An example of the puzzle, cut short, with one body of an answer:

    The light falls straight down. The target is a parallelogram. Its corners:
    (-1.2, -0.9), (0.8, -0.9), (1.3, 0.7), (-0.7, 0.7)
    {"tetrahedrons": [{"x": -1.2, "y": -0.9, "z": 0, "q0": 1, "q1": 0, "q2": 0, "q3": 0}, ...]}
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import JsonValue
from shapely import Polygon

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.base.wording import counted
from scbench.builders.shared.builder import Builder, Point, parameter, plain, under
from scbench.builders.tetrahedra_shadow_projection.answers import (
    as_poses,
    misread_poses,
    moved_poses,
    shadow_grid,
    with_longer_quaternion,
)
from scbench.builders.tetrahedra_shadow_projection.figures import (
    Figure,
    draw_target,
    is_wide,
    smallest_corner,
)
from scbench.builders.tetrahedra_shadow_projection.honest_faults import faulty_covers
from scbench.builders.tetrahedra_shadow_projection.solver import (
    Effort,
    find_cover,
    find_flat_cover,
)
from scbench.graders import tetrahedra_shadow_projection as rules
from scbench.schemas.tetrahedra_shadow_projection import Answer, Params

# Efforts of the searches for a reference, each finer than the last.
_EFFORTS = (Effort(0.04, 0.2, 150), Effort(0.03, 0.15, 200), Effort(0.025, 0.1, 250))
# Effort of the search for a cover by flat copies that do not follow the rim.
_FLAT_EFFORT = Effort(0.04, 0.4, 150)
# Limits of `draw`: number of figures, number of searches, and minimum score of a cover.
_FIGURES_TRIED = 200
_SEARCHES = 6
_LEAST = 0.95
_FIGURES: Sequence[Figure] = ("regular", "star", "blocks", "slanted")
# Beginnings of titles that describe the target completely once its centre is known.
_CENTRED = ("a disc", "a ring", "a square", "a rectangle", "a plus sign")
# Maximum number of corners that a short prompt lists.
_MAX_CORNERS = 12
# If at least this share of a square is inside the target, its gain exceeds its spill.
_WORTH = 0.25
Ring = tuple[tuple[float, ...], ...]


class Space(Point):
    """Parameters of fresh targets."""

    figure: Literal["any", Figure] = parameter(
        "any",
        "kind of target: regular polygon, star, figure with axis-parallel sides (blocks) or "
        "slanted sides, or narrow zigzag (band); with 'any', the kind is drawn at random, but is "
        "never band",
    )
    area: float = parameter(
        7.0,
        "area of the target; about four tetrahedra are needed per unit of area",
        ge=2.0,
        le=24.0,
    )
    sides: int = parameter(
        7,
        "number of sides of a regular polygon (many sides make it nearly round), or of strokes of "
        "a band",
        ge=3,
        le=60,
    )
    min_angle: float = parameter(
        45.0,
        "smallest angle of a corner, in degrees; corners below 54.7 cannot be covered exactly",
        ge=30.0,
        le=90.0,
    )
    min_width: float = parameter(
        0.75,
        "minimum width: a disc of this diameter can reach all main parts of the target without "
        "leaving it",
        ge=0.3,
        le=3.0,
    )
    hole: bool = parameter(False, "whether the target has a square hole")


class TaskBuilder(Builder[Params, Answer, Space]):
    """Targets that the greedy search covers."""

    task = "tetrahedra_shadow_projection"
    version = 4
    draws = 3
    form = '{"tetrahedrons": [{"x": 0, "y": 0, "z": 0, "q0": 1, "q1": 0, "q2": 0, "q3": 0}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the target and the numbers of the score."""
        holes = [
            f"\nIt has a hole with these corners, in clockwise order:\n\n{ring_text(hole)}\n"
            for hole in params.holes
        ]
        formula = f"f * C/R - {rules.DIFFERENCE_WEIGHT} * (D - S)/R"
        lost = f"{rules.DIFFERENCE_WEIGHT} * S/R"
        if params.divisor != 1:
            formula = f"({formula}) / {plain(params.divisor)}"
            lost = f"({lost}) / {plain(params.divisor)}"
        return {
            "c": f"{rules.BASE[2][1]:.9f}",
            "d": f"{rules.BASE[3][1]:.9f}",
            "e": f"{rules.BASE[3][2]:.9f}",
            "title": params.title,
            "n": len(params.exterior),
            "exterior": ring_text(params.exterior),
            "holes": "".join(holes),
            "formula": formula,
            "lost": lost,
            "slack": rules.SLACK,
            "full": rules.FULL,
            "cut": rules.CUT_FACTOR,
            "not_unit": rules.NOT_UNIT_FACTOR,
            "unit": float(rules.UNIT_TOLERANCE),
            "touch": rules.TOUCH,
            "reach": rules.REACH,
            "most": rules.most_copies(params),
            "stray": rules.STRAY,
            "shape": brief_target(params),
        }

    def reference(self, params: Params) -> Answer:
        """Search ever more finely until a cover is good enough for a full score."""
        for effort in _EFFORTS:
            result = cached_cover(params.exterior, params.holes, effort)
            if result.raw >= rules.FULL * params.divisor:
                poses = as_poses(result.poses)
                return Answer.model_validate({"tetrahedrons": poses})
        raise GenerationError(f"found no full cover of {params.title}")

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return misread poses, faulty bodies, and covers that miss the target."""
        right = [pose.model_dump() for pose in self.reference(params).tetrahedrons]
        x0, _, x1, _ = Polygon(params.exterior).bounds
        width = x1 - x0
        top = 1 + max(pose["z"] for pose in right)
        first = right[0]
        zeros = with_longer_quaternion(first, 0)
        booleans = first | {"q0": True, "q1": False, "q2": False, "q3": False}
        strings = [{name: str(value) for name, value in p.items()} for p in right]
        flat = [{name: p[name] for name in p if name != "z"} for p in right]
        wrong: dict[str, list[Any]] = {
            "empty": [],
            "one_alone": [first],
            "one_listed_twice": [*right, first],
            "quaternions_too_long": [with_longer_quaternion(p, 1.1) for p in right],
            "one_quaternion_of_zeros": [*right, zeros],
            "one_out_of_reach": [*right, first | {"x": 1e300}],
            "one_infinitely_high": [*right, first | {"z": 1.7e308}],
            "beside_the_target": moved_poses(right, width),
            "and_once_more_beside_it": [*right, *moved_poses(right, width + 1, top)],
            "strings": strings,
            "booleans": [booleans, *right],
            "without_z": flat,
            "lists_of_seven": [list(pose.values()) for pose in right],
            **dict(misread_poses(params, right)),
        }
        return under("tetrahedrons", wrong)

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return the cover moved, rounded, and with a copy too few or too many."""
        right = [pose.model_dump() for pose in self.reference(params).tetrahedrons]
        faults: dict[str, tuple[JsonValue, float]] = {}
        for name, (poses, score) in faulty_covers(params, right).items():
            tetrahedrons: list[Any] = [*poses]
            faults[name] = ({"tetrahedrons": tetrahedrons}, score)
        return faults

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a grid of squares, stacked grids of them, and a cover without tilt."""
        target = Polygon(params.exterior, params.holes)
        flat_cover: list[Any] = [*as_poses(find_flat_cover(target, _FLAT_EFFORT))]
        return {
            "grid of shadows": shadow_grid(params, 1, _WORTH),
            "stacked grids of shadows": shadow_grid(params, 3, 0.9),
            "cover by flat copies": {"tetrahedrons": flat_cover},
        }

    def measure(self, params: Params) -> float:
        """Return the cube of the rim's length over the area, which is large for winding rims."""
        target = Polygon(params.exterior, params.holes)
        return float(target.length**3 / target.area)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw figures until the search covers one; its score becomes the divisor."""
        searches = 0
        for _ in range(_FIGURES_TRIED):
            figure = rng.choice(_FIGURES) if point.figure == "any" else point.figure
            title, target = draw_target(
                figure, rng, area=point.area, sides=point.sides, hole=point.hole
            )
            if not (target.is_valid and is_wide(target, point.min_width)):
                continue
            if smallest_corner(target) < point.min_angle:
                continue
            # Rings in shapely end where they begin.
            exterior = tuple(target.exterior.coords)[:-1]
            holes = tuple(tuple(ring.coords)[:-1] for ring in target.interiors)
            raw = cached_cover(exterior, holes, _EFFORTS[0]).raw
            if raw >= _LEAST:
                return Params(
                    title=title,
                    exterior=exterior,
                    holes=holes,
                    divisor=min(1.0, math.floor(100 * raw) / 100),
                )
            searches += 1
            if searches == _SEARCHES:
                break
        raise GenerationError(
            f"{counted(searches, 'search', 'searches')} found no cover of at least {_LEAST} for a "
            f"{point.figure} figure of area {point.area}; ask for a larger area, a smaller "
            "min_width, other angles or no hole"
        )


class ScoredCover(NamedTuple):
    """Poses of a cover, and its score before the divisor."""

    poses: list[tuple[float, ...]]
    raw: float


@lru_cache(maxsize=64)
def cached_cover(
    exterior: Ring, holes: tuple[Ring, ...], effort: Effort
) -> ScoredCover:
    """Return the cover that a search of this effort finds."""
    target = Polygon(exterior, holes)
    poses = find_cover(target, effort)
    shadows = rules.outlines(rules.corners(np.array(poses).reshape(-1, 7)))
    result = rules.cover(target, shadows, rules.SLACK)
    area = rules.area(target)
    penalty = rules.DIFFERENCE_WEIGHT * result.difference / area
    return ScoredCover(poses, result.covered / area - penalty)


def brief_target(params: Params) -> str:
    """Return the target in words, with only the numbers that determine its place."""
    # Titles of the paper's curves continue with the rounding of their points.
    title = re.sub(r", (each |its rim )?given .*", "", params.title)
    if title.startswith(_CENTRED):
        return f"{title}, centred on the origin."
    if len(params.exterior) <= _MAX_CORNERS:
        return f"{title}, with the corners (x, y)\n\n{ring_text(params.exterior)}"
    xs, ys = zip(*params.exterior, strict=True)
    x_range = f"x = {plain(min(xs))} to {plain(max(xs))}"
    return f"{title}, from {x_range} and from y = {plain(min(ys))} to {plain(max(ys))}."


def ring_text(ring: Sequence[Sequence[float]]) -> str:
    """Return points as text, four to a line, with every digit."""
    points = [f"({plain(x)}, {plain(y)})" for x, y in ring]
    lines = [", ".join(points[i : i + 4]) for i in range(0, len(points), 4)]
    return ",\n".join(lines)
