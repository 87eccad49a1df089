"""Loops that were not made for a room: if one of them keeps its constraints, they are too loose."""

from collections.abc import Iterable, Iterator

from scbench.builders.pipe_loop_fitting import solver
from scbench.builders.pipe_loop_fitting.generic_loops import (
    generic_loops,
    moved_to_start,
)
from scbench.builders.pipe_loop_fitting.lattices import rectangle
from scbench.builders.pipe_loop_fitting.solver import keeps_constraints
from scbench.builders.pipe_loop_fitting.stars import Joints
from scbench.schemas.pipe_loop_fitting import Params


def has_rival(params: Params, loop: Joints, rivals: Iterable[Joints]) -> bool:
    """Return whether a loop other than the known one keeps the constraints of a room."""
    for rival in rivals:
        if rival != loop and keeps_constraints(params, moved_to_start(rival, params)):
            return True
    return False


def rivals_of(params: Params) -> Iterator[Joints]:
    """Yield generic loops, rectangles, and the loops of the solver that are grown quickly."""
    for _, loop in generic_loops(params):
        yield loop
    families = solver.CROSSED_FAMILIES if params.crossings else solver.QUICK_FAMILIES
    for family in families:
        yield from solver.loops(family, params.pipes, params.side, params.crossings)
    if not params.crossings and params.pipes % 2 == 0:
        yield from rectangles(params)


def rectangles(params: Params) -> Iterator[Joints]:
    """Yield the rectangles of whole metres in the middle of a room."""
    half = params.pipes // 2
    for width in range(max(1, half - params.side), min(half, params.side + 1)):
        height = half - width
        left, bottom = (params.side - width) / 2, (params.side - height) / 2
        yield tuple((x + left, y + bottom) for x, y in rectangle(width, height))
