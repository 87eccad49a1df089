"""Placing joints one after the other, and removing them."""

import math
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from scbench.base.wording import counted
from scbench.graders.pipe_loop_fitting.contacts import Floats, contacts
from scbench.graders.pipe_loop_fitting.loop_constraints import hull_area, measure
from scbench.graders.shared.interaction import Action, Observation, QueryError
from scbench.schemas.base import Int
from scbench.schemas.pipe_loop_fitting import Joint, Params

# Total cost of the actions in a trial, unless the trial sets another limit.
BUDGET = 100
# Maximum pipes with length and angle, and maximum pairs of pipes, in an observation.
_LAST = 40
_PAIRS = 20
# Largest coordinate of a joint, in metres.
_REACH = 10_000.0
Joints = Annotated[tuple[Joint, ...], Field(min_length=1, max_length=200)]


class Place(Action):
    """Lay the next joints.

    {"action": "place", "joints": [{"x": 0, "y": 0}, {"x": 1, "y": 0}]}: at most 200 joints, in
    order. You get the `count` of joints so far and the number `wanted`. From three joints on, you
    also get measures of the loop that closes from the last joint to the first: the `lengths` of its
    last 40 pipes and the `angles` at their first joints, in degrees; the first 20 pairs of pipes
    that make `crossings` and that make `touches`; its `bounds`, [left, bottom, right, top]; the
    `mean` of its joints; and the area of their convex `hull`.
    """

    action: Literal["place"]
    joints: Joints


class Remove(Action):
    """Remove the last joints; you get the same result as after `place`.

    {"action": "remove", "count": 3}
    """

    action: Literal["remove"]
    count: Annotated[Int, Field(ge=1)]


class Ask(Action):
    """Get the measures without placing: {"action": "ask", "joints": [{"x": 0, "y": 0}]}."""

    action: Literal["ask"]
    joints: Joints


class Play:
    """The joints so far."""

    over = False

    def __init__(self, params: Params) -> None:
        self._pipes = params.pipes
        self._joints: list[tuple[float, float]] = []

    @property
    def answer(self) -> dict[str, Any]:
        """The joints so far."""
        return {"points": [{"x": x, "y": y} for x, y in self._joints]}

    def look(self) -> Observation:
        """Return the measures of the loop so far."""
        return self._measures(self._joints)

    def step(self, action: Place | Remove | Ask) -> Observation:
        """Carry out an action; a `QueryError` changes nothing."""
        after = list(self._joints)
        if isinstance(action, Remove):
            if action.count > len(after):
                raise QueryError(f"only {counted(len(after), 'joint')} so far")
            del after[-action.count :]
        else:
            after += [(joint.x, joint.y) for joint in action.joints]
            far = any(max(abs(x), abs(y)) > _REACH for x, y in after)
            if far or len(after) > self._pipes:
                raise QueryError(
                    f"a loop has at most {self._pipes} joints, with coordinates of at most 10 km"
                )
        if not isinstance(action, Ask):
            self._joints = after
        return self._measures(after)

    def _measures(self, joints: list[tuple[float, float]]) -> Observation:
        counts = {"count": len(joints), "wanted": self._pipes}
        if len(joints) < 3:
            return counts
        loop = measure(joints)
        crossings, touches = contacts(loop.points)
        bounds = [*loop.points.min(axis=0), *loop.points.max(axis=0)]
        return counts | {
            "lengths": _rounded(loop.length[-_LAST:], 6),
            "angles": _angles(loop.cosines[-_LAST:]),
            "crossings": [list(pair) for pair in crossings[:_PAIRS]],
            "touches": [list(pair) for pair in touches[:_PAIRS]],
            "bounds": _rounded(bounds, 6),
            "mean": _rounded(loop.points.mean(axis=0), 6),
            "hull": round(hull_area(joints), 4),
        }


def _angles(cosines: Floats) -> list[float | None]:
    """Return angles in degrees; None where the cosine is not a number."""
    with np.errstate(invalid="ignore"):
        degrees = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    angles = []
    for angle in degrees.tolist():
        is_number = not math.isnan(angle)
        angles.append(round(angle, 2) if is_number else None)
    return angles


def _rounded(values: Iterable[float], digits: int) -> list[float]:
    # Adding 0.0 turns -0.0 into 0.0.
    return [round(float(value), digits) + 0.0 for value in values]


def action_types() -> tuple[type[Action], ...]:
    """Return all types of actions, in the order in which the prompt lists them."""
    return (Place, Remove, Ask)
