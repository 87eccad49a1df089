"""Fluid simulation: prompts, fresh worlds with a goal, and plans that meet it."""

import math
from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.fluid_simulation.baselines import baselines
from scbench.builders.fluid_simulation.counterexamples import without_effect, wrong
from scbench.builders.fluid_simulation.fresh_worlds import (
    GOAL_KINDS,
    GoalKind,
    draw_goal,
    draw_ground,
)
from scbench.builders.fluid_simulation.plans import as_answer, solve
from scbench.builders.fluid_simulation.rule_texts import prompt_words
from scbench.builders.shared.builder import Builder, Point, prompt_template, reply_as
from scbench.builders.shared.parameters import parameter
from scbench.graders.fluid_simulation import grade
from scbench.schemas.fluid_simulation import Answer, Params

_TRIES = 40
_PROMPT = prompt_template(__name__)


class Space(Point):
    """Parameters of fresh worlds."""

    goal: Literal["any", GoalKind] = parameter(
        "any", "what the water has to be like; any draws one of them"
    )
    width: int = parameter(32, "cells along x and along y", ge=16, le=64, multiple_of=2)
    side: int = parameter(
        5, "largest side of a lake in the plan that thresholds are read from", ge=3, le=10
    )
    lakes: int = parameter(3, "number of lakes, for the goals that ask for several", ge=2, le=4)
    slack: int = parameter(
        2, "most that a threshold lies below what that plan reaches; larger is easier", ge=0, le=20
    )
    hills: int = parameter(2, "hills on the ground, 1 to 3 high", ge=0, le=8)
    holes: int = parameter(2, "holes in the ground, 1 or 2 deep", ge=0, le=8)
    zones: int = parameter(1, "protected zones, which no box may reach into", ge=0, le=4)
    rain_columns: int = parameter(4, "columns that get a drop in every round", ge=1, le=8)
    rain_place: Literal["centre", "anywhere"] = parameter(
        "anywhere", "a block of columns at the centre, or columns anywhere but near the sides"
    )
    spare_boxes: int | None = parameter(
        4, "boxes allowed beyond those of the reference; null for no limit", ge=0, le=50
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Worlds whose goal some plan of a few boxes meets."""

    task = "fluid_simulation"
    version = 2

    def words(self, params: Params) -> dict[str, object]:
        """Return the world and the goal, in full and in brief."""
        return prompt_words(params)

    def prompt(self, params: Params) -> str:
        """Return the world, every rule of the simulation, and the goal."""
        box = '{"xyzMin": [x, y, z], "xyzMax": [x, y, z], "material": "Rock"}'
        return _PROMPT.format(**self.words(params)) + reply_as(f'{{"earthworks": [{box}, ...]}}')

    def reference(self, params: Params) -> Answer:
        """Put together parts that hold water until the simulation agrees.

        Raises:
            GenerationError: no plan was found; cannot happen for worlds that `draw` made.
        """
        plan = solve(params)
        if plan is None:
            raise GenerationError("no plan of the parts that are known meets this goal")
        return as_answer(plan)

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return answers without effect, plans with a mistake, and near misses of the goal."""
        plan = solve(params) or []
        counters = {**without_effect(params, plan), **wrong(params, plan)}
        if params.max_boxes is not None:
            boxes: list[JsonValue] = list(as_answer(plan).model_dump(mode="json")["earthworks"])
            counters["too_many_boxes"] = {"earthworks": boxes + boxes[-1:] * params.max_boxes}
        return counters

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return two plans that are the same whatever the goal."""
        return baselines(params)

    def measure(self, params: Params) -> float:
        """Return boxes of a plan by things they keep clear of by the bits of what is asked for.

        What is asked for is the product of the goal's numbers: lakes and their voxels, say.
        """
        things = 1 + len(params.ground) + len(params.protected)
        numbers = params.goal.model_dump(exclude={"kind"}).values()
        amount = math.prod(n if isinstance(n, int) else len(n) for n in numbers)
        return len(self.reference(params).earthworks) * things * (1 + math.log2(amount))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw a world, build something that holds water, and ask for what it holds.

        Raises:
            GenerationError: in 40 tries no goal was found that a plan meets and nothing done does
                not; ask for smaller or fewer lakes, or fewer hills, holes and zones.
        """
        for _ in range(_TRIES):
            kind = rng.choice(GOAL_KINDS) if point.goal == "any" else point.goal
            world = draw_ground(
                rng,
                width=point.width,
                hills=point.hills,
                holes=point.holes,
                zones=point.zones,
                rain_columns=point.rain_columns,
                centred=point.rain_place == "centre",
            )
            params = draw_goal(
                rng, world, kind, side=point.side, lakes=point.lakes, slack=point.slack
            )
            if params is None or grade(params, Answer(earthworks=())).score == 1:
                continue
            plan = solve(params)
            if plan is None:
                continue
            if point.spare_boxes is None:
                return params
            return params.model_copy(update={"max_boxes": len(plan) + point.spare_boxes})
        raise GenerationError(
            f"no {point.goal} goal for this point was found in {_TRIES} tries; ask for smaller or "
            "fewer lakes, a wider world, or fewer hills, holes and zones"
        )
