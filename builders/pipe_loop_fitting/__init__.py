"""Pipe loops: prompts, fresh rooms with constraints that a known loop keeps."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting import solver
from scbench.builders.pipe_loop_fitting.solver import XY, Joints
from scbench.builders.shared.builder import Builder, Point, data_file, parameter, under
from scbench.graders.pipe_loop_fitting import loop_constraints
from scbench.graders.pipe_loop_fitting.loop_constraints import (
    Loop,
    hull_area,
    longest_run,
)
from scbench.schemas import pipe_loop_fitting as schema
from scbench.schemas.pipe_loop_fitting import Answer, Constraint, Params

# Kept between a limit and what the loop has, so that both stay on their sides when
# rounded.
_NEAR = 1e-6


class Space(Point):
    """Parameters of fresh rooms."""

    pipes: int = parameter(
        36,
        "number of pipes; odd ones need loops off the square lattice",
        ge=3,
        le=1_000,
    )
    vary: int = parameter(
        0, "how many pairs of pipes more there may be; drawn", ge=0, le=20
    )
    side: int = parameter(
        7,
        "side of the square in metres; pipes / (side + 1) ** 2 of 0.2 is easy, 0.8 tight",
        ge=1,
        le=60,
    )
    crossings: int = parameter(0, "how often the loop has to cross itself", ge=0, le=4)
    constraints: int = parameter(
        2,
        "number of further constraints; with none all rooms of a size are the same",
        ge=0,
        le=4,
    )
    strictness: float = parameter(
        0.7,
        "how far the limits may reach towards what a known loop just keeps",
        ge=0.0,
        le=1.0,
    )
    length_tolerance: float = parameter(
        0.05,
        "how much a pipe may be longer or shorter than 1 m, in metres",
        ge=0.001,
        le=0.1,
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Rooms for which a loop is known to exist."""

    task = "pipe_loop_fitting"
    version = 4
    form = '{"points": [{"x": 0.0, "y": 0.0}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the room and the constraints, in full and in brief."""
        n = params.pipes
        rule = "The loop does not cross itself."
        if params.crossings:
            times = "once" if params.crossings == 1 else f"{params.crossings} times"
            rule = f"The loop crosses itself exactly {times}: no more and no less."
        rules = [_constraint_texts(c, params.side) for c in params.constraints]
        extra = "".join(f"- {full}\n" for full, _ in rules)
        return {
            "n": n,
            "last": n - 1,
            "side": params.side,
            "tolerance": params.length_tolerance,
            "crossings": rule,
            "constraints": f"Rules of this loop besides:\n\n{extra}\n" if extra else "",
            "brief": "".join(f" {brief}" for _, brief in rules),
            "times": rule
            if params.crossings
            else "The loop does not cross or touch itself.",
        }

    def reference(self, params: Params) -> Answer:
        """Search families of loops for one that keeps every rule."""
        loop = solver.solve(params)
        if loop is None:
            raise GenerationError(
                f"no loop of {params.pipes} pipes found for this room"
            )
        return solver.to_answer(loop)

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return what models get wrong, and answers that older graders let through."""
        joints = [(joint.x, joint.y) for joint in self.reference(params).points]
        n, beyond = params.pipes, params.side + 1
        (x, y), *tail = joints
        halves = [((x + u) / 2, (y + v) / 2) for (x, y), (u, v) in around(joints)]
        wrong: dict[str, Sequence[tuple[JsonValue, JsonValue]]] = {
            "empty": [],
            "not_a_number": [("NaN", "NaN")] * n,
            "infinite": [("Infinity", "-Infinity")] * n,
            "strings": [(str(x), str(y)) for x, y in joints],
            "booleans": [(False, True)] * n,
            "nulls": [(None, None), *tail],
            "start_repeated": [*joints, joints[0]],
            "one_missing": joints[:-1],
            "every_pipe_cut_in_two": [
                p for pair in zip(joints, halves, strict=True) for p in pair
            ],
            "joint_used_twice": [*joints[:-1], joints[1]],
            "all_in_one_place": [(x, y)] * n,
            "pipes_too_long": [(1.2 * x, 1.2 * y) for x, y in joints],
            "pipes_too_short": [(0.8 * x, 0.8 * y) for x, y in joints],
            "outside": [(x + beyond, y) for x, y in joints],
            "below_zero": [(x, y - beyond) for x, y in joints],
            "far_away": [(x + 1e300, y) for x, y in joints],
        }
        answers = under(
            "points", {name: _joint_list(example) for name, example in wrong.items()}
        )
        answers["no_points"] = {}
        answers["pairs"] = {"points": [[x, y] for x, y in joints]}
        answers["polyline_as_text"] = {
            "points": " ".join(f"{x},{y}" for x, y in joints)
        }
        loops = {name: _joint_list(loop) for name, loop in wrong_loops(params, joints)}
        return answers | under("points", loops)

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return combs of many short teeth and of few long ones, from the joint to start at."""
        n, side = params.pipes, params.side
        if n % 2 or n < 4:
            return {}
        combs = {
            "comb": min(n // 4, (side + 1) // 2),
            "tall comb": -(-n // (2 * side + 2)),
        }
        loops = {name: _comb(n, side, teeth) for name, teeth in combs.items()}
        return under(
            "points",
            {
                name: _joint_list(solver.started(loop, params))
                for name, loop in loops.items()
                if loop
            },
        )

    def measure(self, params: Params) -> float:
        """Return pipes by crowding by rules: each is tried where others are, against every rule.

        Crowding is pipes per corner of a square lattice that fits the room.
        """
        crowding = params.pipes / (params.side + 1) ** 2
        return (
            params.pipes
            * crowding
            * (1 + len(params.constraints))
            * (1 + params.crossings)
        )

    def draw(self, point: Space, rng: Stream) -> Params:
        """Choose a loop, then constraints that it keeps."""
        pipes = point.pipes + 2 * rng.below(point.vary + 1)
        names = {"side", "length_tolerance", "crossings"}
        bare = Params(pipes=pipes, **point.model_dump(include=names), constraints=())
        families = [solver.CROSSED] if point.crossings else list(solver.FAMILIES)
        rng.shuffle(families)
        for family in families:
            candidates = list(solver.loops(family, pipes, point.side, point.crossings))
            rng.shuffle(candidates)
            for loop in candidates:
                constraints = (
                    _draw_constraints(point, loop, rng)
                    if solver.accepted(bare, loop)
                    else None
                )
                if constraints is not None:
                    return bare.model_copy(update={"constraints": constraints})
        raise GenerationError(
            f"no loop of {pipes} pipes with {point.crossings} crossings and "
            f"{point.constraints} constraints is known for a square of side {point.side}; ask for "
            "another number of pipes, a larger side or fewer constraints"
        )


def _joint_list(places: Sequence[tuple[JsonValue, JsonValue]]) -> JsonValue:
    return [{"x": x, "y": y} for x, y in places]


def _draw_constraints(
    point: Space, loop: Joints, rng: Stream
) -> tuple[Constraint, ...] | None:
    """Draw constraints that a loop keeps, one with metres or degrees, as few rooms would differ."""
    kinds = list(MEASURED)
    rng.shuffle(kinds)
    candidates = [
        constraint
        for kind in kinds
        if (
            constraint := draw_constraint(kind, loop, point.side, point.strictness, rng)
        )
    ]
    coarse = (
        schema.TouchWalls
        | schema.CoverQuadrants
        | schema.MinTurns
        | schema.MaxStraightRun
    )
    candidates.sort(key=lambda constraint: isinstance(constraint, coarse))
    selection = candidates[:1] + rng.sample(
        candidates[1:], max(0, min(len(candidates), point.constraints) - 1)
    )
    if len(selection) < point.constraints:
        return None
    return tuple(selection[: point.constraints])


def _constraint_texts(rule: Constraint, side: float) -> tuple[str, str]:
    """Return a constraint in full, and without its tolerance and without a definition."""
    words: dict[str, Any] = rule.model_dump(exclude={"type"})
    words |= {f"{name}_percent": 100 * value / side for name, value in words.items()}
    match rule:
        case schema.TouchWalls(walls=n):
            words["which_walls"] = (
                "all 4 walls" if n == 4 else f"at least {n} of the 4 walls"
            )
        case schema.MaxStraightRun(joints=n):
            run = f"At most {n} straight joints follow each other around the loop"
            words["run"] = run if n else "No joint is straight"
        case schema.HullArea(area=area):
            words["share"] = 100 * area / side**2
    texts = data_file(__package__, "constraints.json")[rule.type]
    return texts["full"].format(**words), texts["brief"].format(**words)


def around(joints: Sequence[XY]) -> Iterator[tuple[XY, XY]]:
    """Return the two ends of every pipe."""
    return zip(joints, [*joints[1:], joints[0]], strict=True)


def wrong_loops(
    params: Params, joints: Sequence[XY]
) -> Iterator[tuple[str, Sequence[XY]]]:
    """Yield loops that are wrong in one way each, where this room has such loops."""
    n, side = params.pipes, params.side
    snake = _open_snake(n, side)
    if snake:
        yield "open_snake", snake
    centred = [(x - side / 2, y - side / 2) for x, y in joints]
    if min(min(place) for place in centred) < -0.01:
        yield "origin_in_the_middle", centred
    pointed = solver.many_pointed(n, side)
    if pointed and n > params.crossings:
        # Every pipe crosses at least two others, so there are n crossings or more.
        yield "many_pointed_star", pointed
    if params.crossings or params.constraints:
        plain = solver.solve(
            params.model_copy(update={"crossings": 0, "constraints": ()})
        )
        if plain and (params.crossings or list(plain) != list(joints)):
            yield "constraints_left_out", plain
    for constraint in params.constraints:
        if isinstance(constraint, schema.FixedStart):
            x, y = constraint.x, constraint.y
            away = [((u - x) ** 2 + (v - y) ** 2, i) for i, (u, v) in enumerate(joints)]
            square, at = max(away)
            if square > (constraint.tolerance + 0.01) ** 2:
                yield "other_start", [*joints[at:], *joints[:at]]
    for name, gadget in _GADGETS.items():
        base = solver.grown_on_squares(n - 2, side, 0.0, Stream("wrong loops", n, side))
        changed = gadget(base, side) if base else None
        if changed:
            yield name, changed


def _comb(n: int, side: int, teeth: int) -> Joints | None:
    """Return a loop on the square lattice: teeth of two columns each, as even as they can be."""
    height, longer = divmod(n // 2 - teeth, max(1, teeth))
    if not 1 <= teeth <= (side + 1) // 2 or not 1 <= height + (longer > 0) <= side:
        return None
    base = [(float(x), 0.0) for x in range(2 * teeth)]
    back = []
    for tooth in reversed(range(teeth)):
        up = [float(y) for y in range(1, height + 1 + (tooth < longer))]
        back += [(2.0 * tooth + 1, y) for y in up] + [
            (2.0 * tooth, y) for y in reversed(up)
        ]
    return (*base, *back)


def _open_snake(n: int, side: int) -> list[XY] | None:
    """Return joints row by row that end too far from where they began, if there is room."""
    width = side + 1
    if n > width * width:
        return None
    cells = [divmod(k, width) for k in range(n)]
    snake = [(float(side - i if j % 2 else i), float(j)) for j, i in cells]
    x, y = snake[-1]
    return snake if x * x + y * y > 1.5 else None


def _fold(base: Joints, side: int) -> Joints | None:
    """Add a spike of two pipes, 1.7 degrees apart, to a loop on the square lattice."""
    occupied = set(base)
    for i, ((x, y), (u, v)) in enumerate(around(base)):
        for sign in (1, -1):
            dx, dy = u - x, v - y
            tip = (x - sign * dy, y + sign * dx)
            if tip not in occupied and min(tip) >= 0 and max(tip) <= side:
                foot = (x + 0.03 * dx, y + 0.03 * dy)
                return (*base[: i + 1], tip, foot, *base[i + 1 :])
    return None


def _overlay(base: Joints, side: int) -> Joints | None:  # noqa: ARG001
    """Push a pipe sideways onto another of a loop on the square lattice, joints a little off."""
    pipes = {frozenset(pair) for pair in around(base)}
    for i, ((x, y), (u, v)) in enumerate(around(base)):
        for sign in (1, -1):
            dx, dy = u - x, v - y
            c, d = (x - sign * dy, y + sign * dx), (u - sign * dy, v + sign * dx)
            free = (
                frozenset(((x, y), c)) not in pipes
                and frozenset(((u, v), d)) not in pipes
            )
            if free and frozenset((c, d)) in pipes:
                shifted = [(p + 0.02 * dx, q + 0.02 * dy) for p, q in (c, d)]
                return (*base[: i + 1], *shifted, *base[i + 1 :])
    return None


_GADGETS: Mapping[str, Callable[[Joints, int], Joints | None]] = {
    "fold": _fold,
    "pipe_on_pipe": _overlay,
}


def draw_constraint(
    kind: str, joints: Joints, side: int, strictness: float, rng: Stream
) -> Constraint | None:
    """Draw a constraint of a kind in `MEASURED` that a loop keeps; None if none says anything."""
    return MEASURED[kind](
        loop_constraints.measure(joints), side, strictness * rng.uniform(0.6, 1.0), rng
    )


def _draw_angle_range(
    loop: Loop, _: int, strict: float, __: Stream
) -> schema.AngleRange | None:
    degrees = [
        math.degrees(math.acos(max(-1.0, min(1.0, c)))) for c in loop.cosines.tolist()
    ]
    smallest, largest = min(degrees) - _NEAR, max(degrees) + _NEAR
    if largest > 172:
        return None
    return schema.AngleRange(
        min_deg=math.floor(9 + (smallest - 9) * strict),
        max_deg=math.ceil(179 - (179 - largest) * strict),
    )


def _draw_centroid_box(
    loop: Loop, side: int, strict: float, rng: Stream
) -> schema.CentroidBox:
    half = side * (0.25 - 0.2 * strict)
    x, y = (v + rng.uniform(-0.8, 0.8) * half for v in loop_constraints.centroid(loop))
    return schema.CentroidBox(
        xmin=max(0.0, _down(x - half)),
        xmax=min(float(side), _up(x + half)),
        ymin=max(0.0, _down(y - half)),
        ymax=min(float(side), _up(y + half)),
    )


def _draw_touch_walls(
    loop: Loop, side: int, _: float, __: Stream
) -> schema.TouchWalls | None:
    tolerance = max(0.001, side / 1000)
    nearest = loop_constraints.wall_distances(side, loop).min(axis=0)
    walls = int((nearest < tolerance / 2).sum())
    return schema.TouchWalls(walls=walls, tolerance=tolerance) if walls else None


def _draw_min_turns(loop: Loop, _: int, strict: float, __: Stream) -> schema.MinTurns:
    straight = loop_constraints.straight_joints(loop)
    return schema.MinTurns(
        turns=max(1, math.floor((len(straight) - sum(straight)) * strict))
    )


def _draw_max_straight_run(
    loop: Loop, _: int, strict: float, __: Stream
) -> schema.MaxStraightRun | None:
    run = len(longest_run(loop_constraints.straight_joints(loop)))
    return (
        schema.MaxStraightRun(joints=run + math.floor(3 * (1 - strict)))
        if run <= 4
        else None
    )


def _draw_cover_quadrants(
    loop: Loop, side: int, _: float, __: Stream
) -> schema.CoverQuadrants | None:
    offset = loop.points - side / 2
    inside = offset[abs(offset).min(axis=1) > _NEAR] > 0
    return (
        schema.CoverQuadrants()
        if len({tuple(quadrant) for quadrant in inside.tolist()}) == 4
        else None
    )


def _draw_wall_margin(
    loop: Loop, side: int, strict: float, __: Stream
) -> schema.WallMargin | None:
    margin = _down(
        (float(loop_constraints.wall_distances(side, loop).min()) - _NEAR) * strict
    )
    return schema.WallMargin(margin=margin) if margin > 0 else None


def _draw_hull_area(
    loop: Loop, side: int, strict: float, __: Stream
) -> schema.HullArea | None:
    area = _down((hull_area(list(map(tuple, loop.points.tolist()))) - _NEAR) * strict)
    return schema.HullArea(area=area) if area > 0.1 * side * side else None


def _draw_fixed_start(
    loop: Loop, side: int, strict: float, rng: Stream
) -> schema.FixedStart:
    joint = rng.choice(loop.points.tolist())
    x, y = (min(float(side), max(0.0, round(v, 1))) for v in joint)
    # Rounding moves the place by at most 0.071 m.
    return schema.FixedStart(x=x, y=y, tolerance=_up(0.1 + 0.3 * (1 - strict)))


def _draw_separation(
    loop: Loop, _: int, strict: float, __: Stream
) -> schema.JointSeparation | None:
    nearest = float(loop_constraints.joint_distances(loop).min())
    if math.isinf(nearest):  # a triangle: every joint is next to every other
        return None
    distance = _down((nearest - _NEAR) * strict)
    return schema.JointSeparation(distance=distance) if distance >= 0.05 else None


def _down(value: float) -> float:
    return math.floor(value * 100) / 100


def _up(value: float) -> float:
    return math.ceil(value * 100) / 100


# By type of constraint: called with the loop, the side, the strictness and the stream.
MEASURED: Mapping[str, Callable[[Loop, int, float, Stream], Constraint | None]] = {
    "angle_range": _draw_angle_range,
    "centroid_box": _draw_centroid_box,
    "must_touch_boundary": _draw_touch_walls,
    "min_turns": _draw_min_turns,
    "max_straight_run": _draw_max_straight_run,
    "coverage_quadrants": _draw_cover_quadrants,
    "avoid_margin": _draw_wall_margin,
    "min_convex_hull_area": _draw_hull_area,
    "fixed_start": _draw_fixed_start,
    "min_point_separation": _draw_separation,
}
