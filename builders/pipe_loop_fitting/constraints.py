"""Constraints that a known loop satisfies, and their texts."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from scbench.base.seeding import Stream
from scbench.base.wording import counted
from scbench.builders.pipe_loop_fitting.stars import Joints
from scbench.builders.shared.builder import data_file
from scbench.graders.pipe_loop_fitting import loop_constraints
from scbench.graders.pipe_loop_fitting.loop_constraints import (
    Loop,
    hull_area,
    longest_run,
)
from scbench.schemas import pipe_loop_fitting as schema
from scbench.schemas.pipe_loop_fitting import Constraint

# Minimum distance of a limit from the loop's value, so that rounding does not swap them.
_NEAR = 1e-6
# Constraints of these kinds are the same in many rooms.
_COARSE = (
    schema.TouchWalls,
    schema.CoverQuadrants,
    schema.MinTurns,
    schema.MaxStraightRun,
)


class Basis(NamedTuple):
    """The loop that a constraint is drawn for.

    Attributes:
        loop: measures of the loop.
        side: side of the square.
        strictness: how near a limit is to the loop's value, from 0 to 1.
        rng: the source of further draws.
    """

    loop: Loop
    side: int
    strictness: float
    rng: Stream


def draw_constraints(
    joints: Joints, side: int, count: int, strictness: float, rng: Stream
) -> tuple[Constraint, ...] | None:
    """Draw constraints that a loop satisfies; None if there are not enough.

    One of them is in metres or degrees if possible, because the other kinds are the same in many
    rooms.
    """
    draws = kinds_of_draws()
    rng.shuffle(draws)
    loop = loop_constraints.measure(joints)
    candidates: list[Constraint] = []
    for draw in draws:
        constraint = draw(Basis(loop, side, strictness * rng.uniform(0.6, 1.0), rng))
        if constraint is not None:
            candidates.append(constraint)
    # The sort is stable, so constraints of both kinds keep the order of the draw.
    candidates.sort(key=lambda constraint: isinstance(constraint, _COARSE))
    further = max(0, min(len(candidates), count) - 1)
    selection = candidates[:1] + rng.sample(candidates[1:], further)
    if len(selection) < count:
        return None
    return tuple(selection[:count])


def kinds_of_draws() -> list[Callable[[Basis], Constraint | None]]:
    """Return the functions that draw each kind of constraint. Their order affects the draws."""
    return [
        draw_angle_range,
        draw_centroid_box,
        draw_touch_walls,
        draw_min_turns,
        draw_max_straight_run,
        draw_cover_quadrants,
        draw_wall_margin,
        draw_hull_area,
        draw_fixed_start,
        draw_separation,
    ]


def draw_angle_range(basis: Basis) -> schema.AngleRange | None:
    """Draw limits of the interior angles, unless an angle is almost straight."""
    cosines = basis.loop.cosines.clip(-1.0, 1.0).tolist()
    degrees = [math.degrees(math.acos(cosine)) for cosine in cosines]
    smallest = min(degrees) - _NEAR
    largest = max(degrees) + _NEAR
    # For a loop with an almost straight joint, no limit would exclude many other loops.
    if largest > 172:
        return None
    # Limits from about 8 to 180 degrees would allow every loop.
    return schema.AngleRange(
        min_deg=math.floor(9 + (smallest - 9) * basis.strictness),
        max_deg=math.ceil(179 - (179 - largest) * basis.strictness),
    )


def draw_centroid_box(basis: Basis) -> schema.CentroidBox:
    """Draw a box around a place near the mean of the joints."""
    side = float(basis.side)
    half = side * (0.25 - 0.2 * basis.strictness)
    mean_x, mean_y = loop_constraints.centroid(basis.loop)
    x = mean_x + basis.rng.uniform(-0.8, 0.8) * half
    y = mean_y + basis.rng.uniform(-0.8, 0.8) * half
    return schema.CentroidBox(
        xmin=max(0.0, _down(x - half)),
        xmax=min(side, _up(x + half)),
        ymin=max(0.0, _down(y - half)),
        ymax=min(side, _up(y + half)),
    )


def draw_touch_walls(basis: Basis) -> schema.TouchWalls | None:
    """Return the constraint on the number of walls that the loop touches, if any."""
    # A joint at half the tolerance certainly touches the wall.
    tolerance = max(0.001, basis.side / 1000)
    nearest = loop_constraints.wall_distances(basis.side, basis.loop).min(axis=0)
    walls = int((nearest < tolerance / 2).sum())
    return schema.TouchWalls(walls=walls, tolerance=tolerance) if walls else None


def draw_min_turns(basis: Basis) -> schema.MinTurns:
    """Return a minimum number of turns: a share of the loop's own."""
    straight = loop_constraints.straight_joints(basis.loop)
    turns = len(straight) - sum(straight)
    return schema.MinTurns(turns=max(1, math.floor(turns * basis.strictness)))


def draw_max_straight_run(basis: Basis) -> schema.MaxStraightRun | None:
    """Return a limit on straight joints in a row if the loop has only short runs."""
    run = len(longest_run(loop_constraints.straight_joints(basis.loop)))
    if run > 4:
        return None
    return schema.MaxStraightRun(joints=run + math.floor(3 * (1 - basis.strictness)))


def draw_cover_quadrants(basis: Basis) -> schema.CoverQuadrants | None:
    """Return the constraint if the loop has a joint clearly inside every quadrant."""
    offset = basis.loop.points - basis.side / 2
    inside = offset[abs(offset).min(axis=1) > _NEAR] > 0
    quadrants = set(map(tuple, inside.tolist()))
    return schema.CoverQuadrants() if len(quadrants) == 4 else None


def draw_wall_margin(basis: Basis) -> schema.WallMargin | None:
    """Return a minimum distance from the walls if the loop keeps one."""
    nearest = float(loop_constraints.wall_distances(basis.side, basis.loop).min())
    margin = _down((nearest - _NEAR) * basis.strictness)
    return schema.WallMargin(margin=margin) if margin > 0 else None


def draw_hull_area(basis: Basis) -> schema.HullArea | None:
    """Return a minimum area of the hull if it is more than a tenth of the square."""
    hull = hull_area(list(map(tuple, basis.loop.points.tolist())))
    area = _down((hull - _NEAR) * basis.strictness)
    is_large = area > 0.1 * basis.side * basis.side
    return schema.HullArea(area=area) if is_large else None


def draw_fixed_start(basis: Basis) -> schema.FixedStart:
    """Draw a joint, and return a starting place near it."""
    joint = basis.rng.choice(basis.loop.points.tolist())
    x, y = (min(float(basis.side), max(0.0, round(v, 1))) for v in joint)
    # Rounding moves the place by at most 0.071 m.
    tolerance = _up(0.1 + 0.3 * (1 - basis.strictness))
    return schema.FixedStart(x=x, y=y, tolerance=tolerance)


def draw_separation(basis: Basis) -> schema.JointSeparation | None:
    """Return a minimum distance of joints without a common pipe if it is 5 cm or more."""
    nearest = float(loop_constraints.joint_distances(basis.loop).min())
    # In a triangle, every joint is next to every other.
    if math.isinf(nearest):
        return None
    distance = _down((nearest - _NEAR) * basis.strictness)
    return schema.JointSeparation(distance=distance) if distance >= 0.05 else None


def _down(value: float) -> float:
    """Round down to hundredths."""
    return math.floor(value * 100) / 100


def _up(value: float) -> float:
    """Round up to hundredths."""
    return math.ceil(value * 100) / 100


class Texts(NamedTuple):
    """A constraint in full, and in brief: without tolerances and definitions."""

    full: str
    brief: str


def constraint_texts(rule: Constraint, side: float) -> Texts:
    """Return the texts of a constraint in a room of this side."""
    words: dict[str, Any] = rule.model_dump(exclude={"type"})
    words |= {f"{name}_percent": 100 * value / side for name, value in words.items()}
    words["middle"] = side / 2
    match rule:
        case schema.TouchWalls(walls=4):
            words["which_walls"] = "all 4 walls"
        case schema.TouchWalls(walls=n):
            words["which_walls"] = f"at least {n} of the 4 walls"
        case schema.MaxStraightRun(joints=0):
            words["run"] = "No joint is straight"
        case schema.MaxStraightRun(joints=n):
            words["run"] = f"At most {counted(n, 'joint')} in a row may be straight"
        case schema.HullArea(area=area):
            words["share"] = 100 * area / side**2
    texts = data_file(__package__, "constraints.json")[rule.type]
    return Texts(texts["full"].format(**words), texts["brief"].format(**words))
