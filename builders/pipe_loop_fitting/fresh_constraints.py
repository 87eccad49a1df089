"""Constraints drawn so that a given loop of pipes keeps them."""

import math
from collections.abc import Callable, Mapping

from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting.lattice_loops import Loop as Joints
from scbench.graders.pipe_loop_fitting.loop_constraints import (
    Loop,
    centroid,
    hull_area,
    joint_distances,
    longest_run,
    measure,
    straight_joints,
    wall_distances,
)
from scbench.schemas.pipe_loop_fitting import (
    AngleRange,
    CentroidBox,
    Constraint,
    CoverQuadrants,
    FixedStart,
    HullArea,
    JointSeparation,
    MaxStraightRun,
    MinTurns,
    TouchWalls,
    WallMargin,
)

_NEAR = 1e-6
"""Kept between a limit and what the loop has, so that both stay on their sides when rounded."""


def draw_constraint(
    kind: str, joints: Joints, side: int, strictness: float, rng: Stream
) -> Constraint | None:
    """Draw a constraint of a kind that a loop keeps; None if none of that kind says anything.

    Args:
        kind: one of `MEASURED`.
        joints: the loop.
        side: of the square.
        strictness: from 0 to 1, how far the limit may reach towards what the loop just keeps.
        rng: draws the limit.
    """
    return MEASURED[kind](measure(joints), side, strictness * rng.uniform(0.6, 1.0), rng)


def _angle_range(loop: Loop, _: int, strict: float, __: Stream) -> AngleRange | None:
    degrees = [math.degrees(math.acos(max(-1.0, min(1.0, c)))) for c in loop.cosines.tolist()]
    least, most = min(degrees) - _NEAR, max(degrees) + _NEAR
    if most > 172:
        return None
    return AngleRange(
        min_deg=math.floor(9 + (least - 9) * strict), max_deg=math.ceil(179 - (179 - most) * strict)
    )


def _centroid_box(loop: Loop, side: int, strict: float, rng: Stream) -> CentroidBox:
    half = side * (0.25 - 0.2 * strict)
    x, y = (v + rng.uniform(-0.8, 0.8) * half for v in centroid(loop))
    return CentroidBox(
        xmin=max(0.0, _down(x - half)),
        xmax=min(float(side), _up(x + half)),
        ymin=max(0.0, _down(y - half)),
        ymax=min(float(side), _up(y + half)),
    )


def _touch_walls(loop: Loop, side: int, _: float, __: Stream) -> TouchWalls | None:
    tolerance = max(0.001, side / 1000)
    nearest = wall_distances(side, loop).min(axis=0)
    walls = int((nearest < tolerance / 2).sum())
    return TouchWalls(walls=walls, tolerance=tolerance) if walls else None


def _min_turns(loop: Loop, _: int, strict: float, __: Stream) -> MinTurns:
    straight = straight_joints(loop)
    return MinTurns(turns=max(1, math.floor((len(straight) - sum(straight)) * strict)))


def _max_straight_run(loop: Loop, _: int, strict: float, __: Stream) -> MaxStraightRun | None:
    run = len(longest_run(straight_joints(loop)))
    return MaxStraightRun(joints=run + math.floor(3 * (1 - strict))) if run <= 4 else None


def _cover_quadrants(loop: Loop, side: int, _: float, __: Stream) -> CoverQuadrants | None:
    offset = loop.points - side / 2
    inside = offset[abs(offset).min(axis=1) > _NEAR] > 0
    return CoverQuadrants() if len({tuple(quadrant) for quadrant in inside.tolist()}) == 4 else None


def _wall_margin(loop: Loop, side: int, strict: float, __: Stream) -> WallMargin | None:
    margin = _down((float(wall_distances(side, loop).min()) - _NEAR) * strict)
    return WallMargin(margin=margin) if margin > 0 else None


def _hull_area(loop: Loop, side: int, strict: float, __: Stream) -> HullArea | None:
    area = _down((hull_area(list(map(tuple, loop.points.tolist()))) - _NEAR) * strict)
    return HullArea(area=area) if area > 0.1 * side * side else None


def _fixed_start(loop: Loop, side: int, strict: float, rng: Stream) -> FixedStart:
    joint = rng.choice(loop.points.tolist())
    x, y = (min(float(side), max(0.0, round(v, 1))) for v in joint)
    # Rounding moves the place by at most 0.071 m.
    return FixedStart(x=x, y=y, tolerance=_up(0.1 + 0.3 * (1 - strict)))


def _separation(loop: Loop, _: int, strict: float, __: Stream) -> JointSeparation | None:
    nearest = float(joint_distances(loop).min())
    if math.isinf(nearest):  # a triangle: every joint is next to every other
        return None
    distance = _down((nearest - _NEAR) * strict)
    return JointSeparation(distance=distance) if distance >= 0.05 else None


def _down(value: float) -> float:
    return math.floor(value * 100) / 100


def _up(value: float) -> float:
    return math.ceil(value * 100) / 100


MEASURED: Mapping[str, Callable[[Loop, int, float, Stream], Constraint | None]] = {
    "angle_range": _angle_range,
    "centroid_box": _centroid_box,
    "must_touch_boundary": _touch_walls,
    "min_turns": _min_turns,
    "max_straight_run": _max_straight_run,
    "coverage_quadrants": _cover_quadrants,
    "avoid_margin": _wall_margin,
    "min_convex_hull_area": _hull_area,
    "fixed_start": _fixed_start,
    "min_point_separation": _separation,
}
"""By type of constraint: called with the loop, the side, the strictness and the stream."""
