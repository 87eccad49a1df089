"""A solver for pipe loops: it goes through families of loops until a loop follows every rule."""

from collections.abc import Iterator
from functools import lru_cache

from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting.fingers import grown_with_finger
from scbench.builders.pipe_loop_fitting.lattices import (
    grown_on_squares,
    grown_on_triangles,
    turning_on_squares,
)
from scbench.builders.pipe_loop_fitting.stars import Joints, crossed_star, radii, star
from scbench.graders.pipe_loop_fitting import grade
from scbench.graders.pipe_loop_fitting.loop_constraints import (
    CONSTRAINT_CHECKS,
    judge_constraint,
    measure,
)
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.pipe_loop_fitting import Answer, FixedStart, Params

# Families of loops that do not cross themselves.
FAMILIES = (
    "squares",
    "inset squares",
    "triangles",
    "stars",
    "turning",
    "turning squares",
)
# Families of loops that cross themselves.
CROSSED_FAMILIES = ("crossed stars", "fingers")
# Number of loops grown in each family.
TRIES = 4
# Number of loops with fingers, the only grown ones that cross themselves.
_FINGERS = 12
# Maximum number of pipes for which loops that turn everywhere grow in reasonable time.
_MOST_TURNING = 120
# Widths of the lozenges of crossed stars, in the order in which they are tried.
_WIDTHS = (0.1, 0.15, 0.05)


def solve(params: Params) -> Joints | None:
    """Return the first loop that the grader accepts, or None."""
    families = CROSSED_FAMILIES if params.crossings else FAMILIES
    for family in families:
        for loop in loops(family, params.pipes, params.side, params.crossings):
            candidate = from_start(loop, params)
            # The check of the constraints is quick, and rejects most loops.
            if keeps_constraints(params, candidate) and is_accepted(params, candidate):
                return candidate
    return None


def loops(family: str, pipes: int, side: int, crossings: int = 0) -> Iterator[Joints]:
    """Yield different loops of a family, the same ones in the same order at every call.

    Stars nearly always follow the rules; loops of the other families always do.
    """
    for loop in _attempts(family, pipes, side, crossings):
        if loop is not None:
            yield loop


def _attempts(
    family: str, pipes: int, side: int, crossings: int
) -> Iterator[Joints | None]:
    """Yield the loops of a family, and None where an attempt fails."""
    if family == "stars":
        for radius in radii(side):
            yield star(pipes, radius, side)
    elif family == "crossed stars":
        for width in _WIDTHS:
            for radius in radii(side):
                yield crossed_star(pipes, crossings, radius, side, width)
    elif family == "fingers":
        for k in range(_FINGERS):
            yield _fingered(pipes, side, crossings, k)
    else:
        for k in range(TRIES):
            yield _grown(family, pipes, side, k)


@lru_cache(maxsize=1024)
def _fingered(pipes: int, side: int, crossings: int, k: int) -> Joints | None:
    """Grow the k-th loop with a finger."""
    rng = Stream("pipe loops", "fingers", pipes, side, crossings, k)
    return grown_with_finger(pipes, side, crossings, rng)


@lru_cache(maxsize=1024)
def _grown(family: str, pipes: int, side: int, k: int) -> Joints | None:
    """Grow the k-th loop of a family on a lattice."""
    # Each loop has its own stream, so that it does not depend on the loops before it.
    rng = Stream("pipe loops", family, pipes, side, k)
    if family == "squares":
        return grown_on_squares(pipes, side, 0.0, rng)
    if family == "inset squares":
        return grown_on_squares(pipes, side, 0.5, rng)
    if family == "triangles":
        return grown_on_triangles(pipes, side, k % 2, rng)
    if pipes > _MOST_TURNING:
        return None
    if family == "turning":
        return grown_on_triangles(pipes, side, k % 2, rng, turning=True)
    return turning_on_squares(pipes, side, rng)


def from_start(loop: Joints, params: Params) -> Joints:
    """Rotate a loop so that it starts at the joint nearest to the required place."""
    for constraint in params.constraints:
        if isinstance(constraint, FixedStart):
            x = constraint.x
            y = constraint.y
            squares = [(u - x) ** 2 + (v - y) ** 2 for u, v in loop]
            first = squares.index(min(squares))
            return loop[first:] + loop[:first]
    return loop


def keeps_constraints(params: Params, loop: Joints) -> bool:
    """Return whether a loop satisfies the constraints of a room; common rules are not checked."""
    measures = measure(loop)
    for constraint in params.constraints:
        checks = Checklist(CONSTRAINT_CHECKS)
        judge_constraint(checks, params.side, constraint, measures)
        if not checks.all_passed:
            return False
    return True


def is_accepted(params: Params, loop: Joints) -> bool:
    """Return whether a loop follows every rule of an instance."""
    return grade(params, to_answer(loop)).score == 1


def to_answer(loop: Joints) -> Answer:
    """Return a loop in the form of an answer."""
    return Answer.model_validate({"points": [{"x": x, "y": y} for x, y in loop]})
