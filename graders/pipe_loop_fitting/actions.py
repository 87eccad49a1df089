"""Joints that are laid one after the other, and lifted again."""

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from scbench.graders.pipe_loop_fitting.loop_constraints import (
    contacts,
    hull_area,
    measure,
)
from scbench.graders.shared.interaction import (
    Action,
    Observation,
    QueryError,
    first_items,
)
from scbench.schemas.base import Int
from scbench.schemas.pipe_loop_fitting import Joint, Params

BUDGET = 100
_LAST, _PAIRS = 40, 20
_REACH = 10_000.0
Joints = Annotated[tuple[Joint, ...], Field(min_length=1, max_length=200)]


class Place(Action):
    """Lay joints on.

    {"action": "place", "joints": [{"x": 0, "y": 0}, {"x": 1, "y": 0}]}, the next in order (at most
    200). You are told how many joints there are (`count`) and how many are `wanted`, and of the
    loop that closes from the last to the first: the `lengths` of its last 40 pipes and the `angles`
    at their first joints, in degrees; the pairs of pipes that make `crossings` and `touches`, the
    first 20 each; its `bounds`, [left, bottom, right, top]; the `mean` of its joints, and the area
    of their convex `hull`. Fewer than three joints are only counted.
    """

    action: Literal["place"]
    joints: Joints


class Remove(Action):
    """Lift the last joints: {"action": "remove", "count": 3}; told is as by `place`."""

    action: Literal["remove"]
    count: Annotated[Int, Field(ge=1)]


class Ask(Action):
    """See what `place` would tell: {"action": "ask", "joints": [{"x": 0, "y": 0}]}."""

    action: Literal["ask"]
    joints: Joints


class Play:
    """The joints so far."""

    def __init__(self, params: Params) -> None:
        self._params = params
        self._joints: list[tuple[float, float]] = []

    def look(self, joints: list[tuple[float, float]] | None = None) -> Observation:
        """Return what the loop of some joints, or of those so far, is like."""
        joints = self._joints if joints is None else joints
        counted = {"count": len(joints), "wanted": self._params.pipes}
        if len(joints) < 3:
            return counted
        loop = measure(joints)
        met = contacts(loop.points)
        with np.errstate(invalid="ignore"):
            angles = np.degrees(np.arccos(np.clip(loop.cosines, -1, 1)))[-_LAST:]
        ends = [*loop.points.min(axis=0), *loop.points.max(axis=0)]
        return counted | {
            "lengths": _rounded(loop.length[-_LAST:], 6),
            "angles": [
                None if np.isnan(one) else round(float(one), 2) for one in angles
            ],
            "crossings": [[*pair] for pair in first_items(met.crossings, _PAIRS)],
            "touches": [[*pair] for pair in first_items(met.touches, _PAIRS)],
            "bounds": _rounded(ends, 6),
            "mean": _rounded(loop.points.mean(axis=0), 6),
            "hull": round(hull_area(joints), 4),
        }

    def step(self, action: Place | Remove | Ask) -> Observation:
        """Carry it out; after a `QueryError` everything is as it was."""
        after = list(self._joints)
        if isinstance(action, Remove):
            if action.count > len(after):
                raise QueryError(f"{len(after)} joints are laid")
            del after[-action.count :]
        else:
            after += [(joint.x, joint.y) for joint in action.joints]
            if (
                len(after) > self._params.pipes
                or max(map(abs, sum(after, ()))) > _REACH
            ):
                raise QueryError(
                    f"there are {self._params.pipes} joints, none farther than 10 km"
                )
        if not isinstance(action, Ask):
            self._joints = after
        return self.look(after)

    @property
    def answer(self) -> dict[str, Any]:
        """The joints so far."""
        return {"points": [{"x": x, "y": y} for x, y in self._joints]}

    over = False


def _rounded(values: Any, digits: int) -> list[float]:  # noqa: ANN401  (numbers in a row)
    return [round(float(value), digits) + 0.0 for value in values]


ACTIONS = (Place, Remove, Ask)
