"""A solver for pipe loops: it goes through families of loops until one keeps every rule."""

from collections.abc import Iterator

from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting.lattice_loops import (
    Loop,
    grown_on_squares,
    grown_on_triangles,
    turning_on_squares,
)
from scbench.builders.pipe_loop_fitting.star_loops import crossed_star, radii, star
from scbench.graders.pipe_loop_fitting import grade
from scbench.schemas.pipe_loop_fitting import Answer, FixedStart, Params

FAMILIES = ("squares", "inset squares", "triangles", "stars", "turning", "turning squares")
"""Families of loops that do not cross themselves."""
CROSSED = "crossed stars"
"""The one that does."""
TRIES = 4
"""Loops grown in each family."""

_MOST_TURNING = 120
_WIDTHS = (0.1, 0.15, 0.05)


def loops(family: str, pipes: int, side: int, crossings: int = 0) -> Iterator[Loop]:
    """Yield different loops of a family, the same ones in the same order at every call.

    Loops of stars are only nearly sure to keep the rules; those of other families are.
    """
    middle = (side / 2, side / 2)
    if family == "stars":
        for radius in radii(side):
            yield from _there(star(pipes, radius, middle))
    elif family == CROSSED:
        for width in _WIDTHS:
            for radius in radii(side):
                yield from _there(crossed_star(pipes, crossings, radius, middle, width))
    else:
        for k in range(TRIES):
            rng = Stream("pipe loops", family, pipes, side, k)
            yield from _there(_grown(family, pipes, side, k, rng))


def solve(params: Params) -> Loop | None:
    """Return the first loop found that the grader takes, or None."""
    families = (CROSSED,) if params.crossings else FAMILIES
    for family in families:
        for loop in loops(family, params.pipes, params.side, params.crossings):
            candidate = _started(loop, params)
            if accepted(params, candidate):
                return candidate
    return None


def accepted(params: Params, loop: Loop) -> bool:
    """Return whether a loop keeps every rule of an instance."""
    return grade(params, to_answer(loop)).score == 1


def to_answer(loop: Loop) -> Answer:
    """Return a loop in the form of an answer."""
    return Answer.model_validate({"points": [{"x": x, "y": y} for x, y in loop]})


def _grown(family: str, pipes: int, side: int, k: int, rng: Stream) -> Loop | None:
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


def _there(loop: Loop | None) -> Iterator[Loop]:
    if loop is not None:
        yield loop


def _started(loop: Loop, params: Params) -> Loop:
    """Let a loop start at the joint nearest to where it is to start."""
    for constraint in params.constraints:
        if isinstance(constraint, FixedStart):
            x, y = constraint.x, constraint.y
            at = min(range(len(loop)), key=lambda i: (loop[i][0] - x) ** 2 + (loop[i][1] - y) ** 2)
            return loop[at:] + loop[:at]
    return loop
