"""Loops that were not made for a room; if one satisfies its constraints, these are too loose."""

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
    """Return whether a loop other than the known one satisfies the constraints of a room."""
    for rival in rivals:
        if rival != loop and keeps_constraints(params, moved_to_start(rival, params)):
            return True
    return False


def rivals_of(params: Params) -> Iterator[Joints]:
    """Yield generic loops, rectangles, toothed bars, and all loops of the solver's families."""
    for _, loop in generic_loops(params):
        yield loop
    families = solver.CROSSED_FAMILIES if params.crossings else solver.FAMILIES
    for family in families:
        yield from solver.loops(family, params.pipes, params.side, params.crossings)
    if not params.crossings and params.pipes % 2 == 0:
        yield from rectangles(params)
        yield from toothed_bars(params)


def rectangles(params: Params) -> Iterator[Joints]:
    """Yield rectangles with sides of whole metres in the middle of a room."""
    half = params.pipes // 2
    for width in range(max(1, half - params.side), min(half, params.side + 1)):
        height = half - width
        left = (params.side - width) / 2
        bottom = (params.side - height) / 2
        yield tuple((x + left, y + bottom) for x, y in rectangle(width, height))


def toothed_bars(params: Params) -> Iterator[Joints]:
    """Yield bars in the middle of a room, in both orientations, with teeth on one or both sides."""
    side = params.side
    for teeth in range(2, (side + 1) // 2 + 1):
        for is_double in (False, True):
            bar = toothed_bar(params.pipes, teeth, is_double=is_double)
            if bar is None:
                continue
            xs, ys = zip(*bar, strict=True)
            if max(ys) - min(ys) > side:
                continue
            left = (side - min(xs) - max(xs)) / 2
            bottom = (side - min(ys) - max(ys)) / 2
            upright = tuple((x + left, y + bottom) for x, y in bar)
            turned = upright
            for _ in range(4):
                yield turned
                turned = tuple((side - y, x) for x, y in turned)


def toothed_bar(n: int, teeth: int, *, is_double: bool) -> Joints | None:
    """Return a bar 1 m high with teeth 1 m wide and 1 m apart, as even as possible.

    Return None if there are not enough pipes. The number of pipes is even. The first teeth are the
    longer ones; on a bar with teeth on both sides, an upper tooth comes before the one below it.
    """
    length = 2 * teeth - 1
    remainder = n // 2 - length - 1
    if remainder < 0:
        return None
    count = 2 * teeth if is_double else teeth
    heights = [(remainder + count - 1 - i) // count for i in range(count)]
    ups = heights[::2] if is_double else heights
    downs = heights[1::2] if is_double else [0] * teeth
    joints: list[tuple[int, int]] = []
    for i, depth in enumerate(downs):
        joints += [(2 * i, -y) for y in range(depth + 1)]
        joints += [(2 * i + 1, -y) for y in range(depth, -1, -1)]
    for i, height in reversed(list(enumerate(ups))):
        joints += [(2 * i + 1, 1 + y) for y in range(height + 1)]
        joints += [(2 * i, 1 + y) for y in range(height, -1, -1)]
    return tuple((float(x), float(y)) for x, y in joints)
