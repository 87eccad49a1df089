"""Fluid simulation: plan earthworks that keep rain water where a goal requires it.

An example of the puzzle: the world is 16 x 16 x 8 voxels, of rock up to z = 2 and of air above.

    Make exactly 9 voxels of water.

An answer is a pit in the top layer of rock:

    {"earthworks": [{"xyzMin": [4, 4, 2], "xyzMax": [6, 6, 2], "material": "Air"}]}
"""

import math
import re
from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.base.wording import counted
from scbench.builders.fluid_simulation.drafts import (
    GOAL_KINDS,
    HEIGHT,
    LAYERS,
    GoalKind,
    draft_goal,
    measured_goal,
)
from scbench.builders.fluid_simulation.faults import faulty_answers, without_effect
from scbench.builders.fluid_simulation.honest_faults import plans_that_miss
from scbench.builders.fluid_simulation.plans import (
    assemble,
    free_places,
    overlap,
    parts_for,
    reserved_columns,
    solve,
    undo_ground,
)
from scbench.builders.fluid_simulation.structures import Box, as_answer, as_json
from scbench.builders.shared.builder import Builder, Point, data_file, parameter
from scbench.builders.shared.paragraphs import wrapped
from scbench.graders.fluid_simulation import MOST_BOXES, grade
from scbench.graders.fluid_simulation.earthworks import MOST_PARTS
from scbench.graders.fluid_simulation.rainfall import MOST_STEPS
from scbench.schemas.fluid_simulation import (
    Answer,
    GroundBox,
    Params,
    RingLake,
    WaterLevels,
    WideLakes,
    Zone,
)

# Maximum number of worlds that one draw tries.
_TRIES = 40
# Maximum number of zones that are added.
_MOST_ZONES = 80
# Goals that plans for an empty world can meet.
_MET_BLINDLY = {"ring_lake", "water_levels", "hidden_water", "hidden_lakes"}
# Names of plans by the part of the world that they ignore.
_IGNORED = {
    "ground": "plan that ignores hills and holes",
    "protected": "plan that ignores protected zones",
}
# "1", adjectives, and the plural of a thing that goals count, as written in templates.
_ONE_OF_MANY = re.compile(
    r"\b1 ((?:large |separate |different |z )*)(column|voxel|lake|level)s\b"
)


class Space(Point):
    """Parameters of fresh worlds."""

    goal: Literal["any", GoalKind] = parameter(
        "any", "kind of goal; with 'any', it is drawn at random"
    )
    width: int = parameter(
        32, "number of cells along x and along y", ge=16, le=64, multiple_of=2
    )
    side: int = parameter(
        5,
        "largest side of a lake in the plan that sets the thresholds",
        ge=3,
        le=10,
    )
    lakes: int = parameter(
        3, "number of lakes, for goals that require several lakes", ge=2, le=4
    )
    slack: int = parameter(
        2,
        "largest amount by which a threshold is below the result of the plan that sets it; "
        "larger is easier",
        ge=0,
        le=20,
    )
    hills: int = parameter(
        2, "number of hills on the ground, each 1 to 3 cells high", ge=0, le=8
    )
    holes: int = parameter(
        2, "number of holes in the ground, each 1 or 2 cells deep", ge=0, le=8
    )
    zones: int = parameter(
        1, "number of protected zones, which no box may overlap", ge=0, le=16
    )
    rain_columns: int = parameter(
        4, "number of columns that get a drop in every round", ge=1, le=8
    )
    rain_place: Literal["centre", "anywhere"] = parameter(
        "anywhere",
        "position of the rain columns: in a block at the centre, or anywhere except near the "
        "sides",
    )
    spare_boxes: int | None = parameter(
        4,
        "number of boxes allowed in addition to the number in the reference; null for no limit",
        ge=0,
        le=50,
    )
    open_share: float = parameter(
        1.0,
        "protected zones are added until the smallest plan for the goal fits at no more than "
        "this share of all positions",
        gt=0,
        le=1,
        later=True,
    )
    dry_ground: bool = parameter(
        False,
        "for water_levels: whether the highest level of rock must stay dry, so that holes must "
        "be filled",
        later=True,
    )
    greedy: float = parameter(
        1.0, "highest score that a baseline may reach", gt=0, le=1, later=True
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Worlds with a goal that some plan of a few boxes meets."""

    task = "fluid_simulation"
    version = 5
    draws = 5
    form = '{"earthworks": [{"xyzMin": [x, y, z], "xyzMax": [x, y, z], "material": "Rock"}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the world, its limits, the goal and the score."""
        ground = ""
        if params.ground:
            shapes = [f"- {ranges(box)}: {box.material}\n" for box in params.ground]
            ground = (
                "\nThese boxes then shaped the ground, in this order:\n\n"
                f"{''.join(shapes)}"
            )
        protected = ""
        off_limits = ""
        if params.protected:
            zones = [f"- {ranges(zone)}\n" for zone in params.protected]
            protected = f"\nProtected zones:\n\n{''.join(zones)}"
            off_limits = "\nshares a voxel with a protected zone,"
        limit = ""
        box_limit = f"{MOST_BOXES:,} boxes; "
        if params.max_boxes is not None and params.max_boxes <= MOST_BOXES:
            boxes = counted(params.max_boxes, "box", "boxes")
            limit = f"\n\nYou may list at most {boxes}; an answer with more scores 0."
            box_limit = ""
        return {
            "width": params.width,
            "height": params.height,
            "last": params.width - 1,
            "top": params.height - 1,
            "rock_top": params.rock_layers - 1,
            "first_air": params.rock_layers,
            "ground": ground,
            "protected": protected,
            "off_limits": off_limits,
            "limit": limit,
            "box_limit": box_limit,
            "most_parts": MOST_PARTS,
            "most_steps": MOST_STEPS,
            "rain": ", ".join(f"({x}, {y})" for x, y in params.rain),
            **goal_words(params),
        }

    def reference(self, params: Params) -> Answer:
        """Combine parts that keep water until the simulation meets the goal."""
        plan = solve(params)
        if plan is None:
            raise GenerationError("no combination of the known parts meets this goal")
        return as_answer(plan)

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return answers without effect, plans with a mistake, and near misses."""
        plan = solve(params) or []
        counters = {**without_effect(params, plan), **faulty_answers(params, plan)}
        if params.max_boxes is not None:
            repeats = plan[-1:] * params.max_boxes
            counters["too_many_boxes"] = as_json(plan + repeats)
        return counters

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return plans that miss the goal by one voxel, lake or level."""
        return {
            name: (as_json(plan), score)
            for name, plan, score in plans_that_miss(params)
        }

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return pits in all quarters, a walled basin, and plans that ignore part of the world."""
        ground = params.rock_layers
        top = params.height - 1
        middle = params.width // 2
        side = max(1, middle - 4)
        pits = []
        for x in (2, middle + 1):
            for y in (2, middle + 1):
                high = (x + side - 1, y + side - 1, ground - 1)
                pits.append(Box((x, y, 1), high, "Air"))
        half = min(5, middle)
        start = middle - half
        end = middle + half - 1
        block = Box((start, start, ground), (end, end, top), "Rock")
        hollow = Box((start + 1, start + 1, 1), (end - 1, end - 1, top), "Air")
        return {
            "four pits": as_json(pits),
            "block with a basin": as_json([block, hollow]),
            **{name: as_json(plan) for name, plan in blind_plans(params).items()},
        }

    def measure(self, params: Params) -> float:
        """Return the number of a plan's boxes, times obstacles plus 1, times the size of the goal.

        Obstacles are hills, holes and zones. The size of the goal is 1 plus log2 of the product of
        its numbers, such as lakes and voxels.
        """
        things = 1 + len(params.ground) + len(params.protected)
        amount = 1
        for number in params.goal.model_dump(exclude={"kind"}).values():
            # A list of levels counts as its length.
            amount *= number if isinstance(number, int) else len(number)
        return len(self.reference(params).earthworks) * things * (1 + math.log2(amount))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw a world, build something that keeps water, and make the result the goal."""
        for _ in range(_TRIES):
            kind = rng.choice(GOAL_KINDS) if point.goal == "any" else point.goal
            world = draw_ground(point, rng)
            params = draw_goal(point, world, kind, rng)
            # Untouched ground must not meet the goal.
            if params is None or grade(params, Answer(earthworks=())).score == 1:
                continue
            if point.open_share < 1:
                params = with_more_zones(params, point.open_share, rng)
            plan = solve(params)
            if plan is None:
                continue
            if point.spare_boxes is not None:
                max_boxes = len(plan) + point.spare_boxes
                params = params.model_copy(update={"max_boxes": max_boxes})
            if not self.has_baseline_above(point.greedy, params, grade):
                return params
        raise GenerationError(
            f"no {point.goal} goal for this point was found in {_TRIES} tries; ask for smaller or "
            "fewer lakes, a wider world, or fewer hills, holes and zones"
        )


def blind_plans(params: Params) -> dict[str, list[Box]]:
    """Return plans that ignore part of the world, for goals that such plans can meet.

    Plans at fixed places fill the holes in the ground, and have the smallest parts of the right
    size. They ignore the rain, the hills and the zones. The other plans ignore only the ground or
    only the zones.
    """
    if params.goal.kind not in _MET_BLINDLY:
        return {}
    empty = params.model_copy(update={"ground": (), "protected": ()})
    *_, parts = parts_for(empty)
    filling = undo_ground(params, holes_only=True)
    middle = params.width
    end = 2 * params.width
    places = {
        "middle": (middle, middle),
        "first corner": (0, 0),
        "second corner": (end, 0),
        "third corner": (0, end),
        "fourth corner": (end, end),
        "first side": (0, middle),
        "second side": (end, middle),
        "third side": (middle, 0),
        "fourth side": (middle, end),
    }
    plans = {}
    for name, target in places.items():
        plan = assemble(empty, parts, target, smooth=True)
        if plan is not None:
            plans[f"plan for an empty world, {name}"] = [*filling, *plan]
    for name in ("ground", "protected"):
        if getattr(params, name):
            plan = solve(params.model_copy(update={name: ()}))
            if plan is not None:
                plans[_IGNORED[name]] = plan
    return plans


def with_more_zones(params: Params, open_share: float, rng: Stream) -> Params:
    """Return the world with more zones, so that few places are open to the smallest plan."""
    zones = list(params.protected)
    holes = undo_ground(params, holes_only=True)
    corners = corner_zones(params.width, rng)
    for _ in range(_MOST_ZONES):
        if not corners and share_of_open_places(params) <= open_share:
            break
        zone = corners.pop() if corners else draw_zone(params.width, rng)
        # A hole inside a zone could not be filled.
        if not any(overlap(hole, zone) for hole in holes):
            zones.append(zone)
            params = params.model_copy(update={"protected": tuple(zones)})
    return params


def corner_zones(width: int, rng: Stream) -> list[Zone]:
    """Draw a zone of one column near each corner, because other zones are rare there."""
    zones = []
    for is_east, is_north in ((0, 0), (0, 1), (1, 0), (1, 1)):
        x = rng.between(2, 3)
        y = rng.between(2, 3)
        if is_east:
            x = width - 1 - x
        if is_north:
            y = width - 1 - y
        zones.append(Zone(low=(x, y, 0), high=(x, y, HEIGHT - 1)))
    return zones


def share_of_open_places(params: Params) -> float:
    """Return the share of places where the smallest plan for the goal touches no zone."""
    wide, deep = smallest_plan(params)
    reserved = reserved_columns(params, smooth=False)
    free = free_places(reserved, wide, deep)
    # Places that reach the sides of the world are never open, so they do not count.
    inner = params.width - 2
    return float(free.sum()) / ((inner - wide + 1) * (inner - deep + 1))


def smallest_plan(params: Params) -> tuple[int, int]:
    """Return the width along x and y of the smallest plan for a goal, without a natural rim."""
    match params.goal:
        case WaterLevels():
            # One voxel of water and its walls.
            return 3, 3
        case RingLake(dry_side=side):
            return side + 2, side + 2
    part = next(parts_for(params))[0]
    return part.width, part.depth


def draw_zone(width: int, rng: Stream) -> Zone:
    """Draw a protected zone that does not touch the sides of the world."""
    x, y, u, v = draw_rectangle(width, max(3, width // 5), rng)
    return Zone(low=(x, y, 0), high=(u, v, HEIGHT - 1))


def draw_rectangle(width: int, longest: int, rng: Stream) -> tuple[int, int, int, int]:
    """Draw the low and the high corner of a rectangle of columns away from the world's sides."""
    wide = rng.between(2, longest)
    deep = rng.between(2, longest)
    x = rng.between(1, width - 1 - wide)
    y = rng.between(1, width - 1 - deep)
    return x, y, x + wide - 1, y + deep - 1


def ranges(box: Zone) -> str:
    """Return the coordinates of a box in words."""
    axes = zip("xyz", box.low, box.high, strict=True)
    return ", ".join(f"{axis} = {low} to {high}" for axis, low, high in axes)


def goal_words(params: Params) -> dict[str, str]:
    """Return the texts of the goal, of its score, and of the goal in the terse prompt."""
    goal = params.goal
    numbers = {**goal.model_dump(), "top": params.height - 1}
    if isinstance(goal, WideLakes):
        numbers["area"] = goal.side**2
    elif isinstance(goal, WaterLevels):
        numbers |= {
            "wet": level_list(goal.water_at, "and"),
            "and_none": "",
            "but_none": "",
            "void": "",
        }
        if goal.dry_at:
            dry = level_list(goal.dry_at, "or")
            numbers |= {
                "and_none": f", and none at all at {dry}",
                "but_none": f", but none at {dry}",
                "void": f"0 if there is any water at {dry}; otherwise it is ",
            }
    words = {}
    for name, text in data_file(__package__, "goals.json")[goal.kind].items():
        sentences = _ONE_OF_MANY.sub(r"1 \1\2", text.format(**numbers))
        lines = []
        for paragraph in sentences.split("\n"):
            is_entry = paragraph.startswith("- ")
            lines.append(wrapped(paragraph, "  " if is_entry else ""))
        words[name] = "\n".join(lines)
    return words


def level_list(levels: tuple[int, ...], word: str) -> str:
    """Return levels in words, with "and" or "or" before the last one."""
    *earlier, last = [f"z = {z}" for z in levels]
    return f"{', '.join(earlier)} {word} {last}" if earlier else last


def draw_ground(point: Space, rng: Stream) -> Params:
    """Draw a world, with a placeholder for its goal."""
    width = point.width

    longest = max(3, width // 8)
    ground = []
    for _ in range(point.hills):
        x, y, u, v = draw_rectangle(width, longest, rng)
        high = rng.between(LAYERS, LAYERS + 2)
        ground.append(GroundBox(low=(x, y, LAYERS), high=(u, v, high), material="Rock"))
    for _ in range(point.holes):
        x, y, u, v = draw_rectangle(width, longest, rng)
        low = rng.between(1, LAYERS - 1)
        # Holes are open above, so that no hill hangs over them.
        sky = HEIGHT - 1
        ground.append(GroundBox(low=(x, y, low), high=(u, v, sky), material="Air"))
    protected = [draw_zone(width, rng) for _ in range(point.zones)]
    if point.rain_place == "centre":
        centre = width // 2
        rain = [(centre + i % 2, centre + i // 2) for i in range(point.rain_columns)]
    else:
        # Four columns stay dry along each side of the world.
        inner = width - 8
        spots = rng.sample(range(inner * inner), point.rain_columns)
        rain = [(4 + spot // inner, 4 + spot % inner) for spot in spots]
    return Params.model_validate(
        {
            "width": width,
            "height": HEIGHT,
            "rock_layers": LAYERS,
            "ground": tuple(ground),
            "protected": tuple(protected),
            "rain": tuple(rain),
            "max_boxes": None,
            "goal": {"kind": "exact_volume", "voxels": 1},
        }
    )


def draw_goal(
    point: Space, world: Params, kind: GoalKind, rng: Stream
) -> Params | None:
    """Build something at a drawn place; return the world with a goal that it meets, or None."""
    draft = draft_goal(
        kind, world.rain, point.side, point.lakes, rng, dry_ground=point.dry_ground
    )
    # Twice x and y, see `assemble`.
    target = (rng.below(2 * world.width), rng.below(2 * world.width))
    plan = assemble(world, draft.parts, target, smooth=True)
    if plan is None:
        return None
    # Holes in the ground fill with water, which would spoil some goals.
    if kind in {"hidden_water", "hidden_lakes", "water_levels"}:
        plan = [*undo_ground(world, holes_only=True), *plan]
    slack = rng.below(point.slack + 1)
    goal = measured_goal(world, plan, draft.numbers, slack)
    if goal is None:
        return None
    params = Params.model_validate({**world.model_dump(), "goal": goal})
    return params if grade(params, as_answer(plan)).score == 1 else None
