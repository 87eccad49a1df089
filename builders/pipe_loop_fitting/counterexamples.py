"""Loops of pipes that break the rules, in the ways that answers do and older graders let pass."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting.lattice_loops import XY, Loop, grown_on_squares
from scbench.builders.pipe_loop_fitting.solver import solve
from scbench.builders.pipe_loop_fitting.star_loops import many_pointed
from scbench.schemas.pipe_loop_fitting import FixedStart, Params


def around(joints: Sequence[XY]) -> Iterator[tuple[XY, XY]]:
    """Return the two ends of every pipe."""
    return zip(joints, [*joints[1:], joints[0]], strict=True)


def wrong_loops(params: Params, joints: Sequence[XY]) -> Iterator[tuple[str, Sequence[XY]]]:
    """Yield loops that are wrong in one way each, where this room has such loops."""
    n, side = params.pipes, params.side
    snake = _open_snake(n, side)
    if snake:
        yield "open_snake", snake
    centred = [(x - side / 2, y - side / 2) for x, y in joints]
    if min(min(place) for place in centred) < -0.01:
        yield "origin_in_the_middle", centred
    pointed = many_pointed(n, side)
    if pointed and n > params.crossings:
        # Every pipe crosses at least two others, so there are n crossings or more.
        yield "many_pointed_star", pointed
    if params.crossings or params.constraints:
        plain = solve(params.model_copy(update={"crossings": 0, "constraints": ()}))
        if plain and (params.crossings or list(plain) != list(joints)):
            yield "constraints_left_out", plain
    for constraint in params.constraints:
        if isinstance(constraint, FixedStart):
            x, y = constraint.x, constraint.y
            away = [((u - x) ** 2 + (v - y) ** 2, i) for i, (u, v) in enumerate(joints)]
            square, at = max(away)
            if square > (constraint.tolerance + 0.01) ** 2:
                yield "other_start", [*joints[at:], *joints[:at]]
    for name, gadget in _GADGETS.items():
        base = grown_on_squares(n - 2, side, 0.0, Stream("wrong loops", n, side))
        changed = gadget(base, side) if base else None
        if changed:
            yield name, changed


def _open_snake(n: int, side: int) -> list[XY] | None:
    """Return joints row by row that end too far from where they began, if there is room."""
    width = side + 1
    if n > width * width:
        return None
    cells = [divmod(k, width) for k in range(n)]
    snake = [(float(side - i if j % 2 else i), float(j)) for j, i in cells]
    x, y = snake[-1]
    return snake if x * x + y * y > 1.5 else None


def _fold(base: Loop, side: int) -> Loop | None:
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


def _overlay(base: Loop, side: int) -> Loop | None:  # noqa: ARG001
    """Push a pipe sideways onto another of a loop on the square lattice, joints a little off."""
    pipes = {frozenset(pair) for pair in around(base)}
    for i, ((x, y), (u, v)) in enumerate(around(base)):
        for sign in (1, -1):
            dx, dy = u - x, v - y
            c, d = (x - sign * dy, y + sign * dx), (u - sign * dy, v + sign * dx)
            free = frozenset(((x, y), c)) not in pipes and frozenset(((u, v), d)) not in pipes
            if free and frozenset((c, d)) in pipes:
                shifted = [(p + 0.02 * dx, q + 0.02 * dy) for p, q in (c, d)]
                return (*base[: i + 1], *shifted, *base[i + 1 :])
    return None


_GADGETS: Mapping[str, Callable[[Loop, int], Loop | None]] = {
    "fold": _fold,
    "pipe_on_pipe": _overlay,
}
