"""Loops with one error each."""

from collections.abc import Iterator, Sequence

from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting.lattices import grown_on_squares
from scbench.builders.pipe_loop_fitting.solver import solve
from scbench.builders.pipe_loop_fitting.stars import XY, Joints, many_pointed
from scbench.schemas.pipe_loop_fitting import FixedStart, Params


def wrong_loops(
    params: Params, joints: Sequence[XY]
) -> Iterator[tuple[str, Sequence[XY]]]:
    """Yield the named wrong loops that this room allows; ``joints`` are a correct answer."""
    n = params.pipes
    side = params.side
    snake = open_snake(n, side)
    if snake:
        yield "open_snake", snake
    # Coordinates are measured from the middle of the room instead of its corner.
    from_middle = [(x - side / 2, y - side / 2) for x, y in joints]
    if min(map(min, from_middle)) < -0.01:
        yield "origin_in_the_middle", from_middle
    star = many_pointed(n, side)
    # Every pipe crosses at least two others, so there are at least n crossings.
    if star and n > params.crossings:
        yield "many_pointed_star", star
    if params.crossings or params.constraints:
        bare = params.model_copy(update={"crossings": 0, "constraints": ()})
        plain = solve(bare)
        if plain and (params.crossings or list(plain) != list(joints)):
            yield "constraints_left_out", plain
    for constraint in params.constraints:
        if isinstance(constraint, FixedStart):
            x = constraint.x
            y = constraint.y
            # The loop itself is right, but it starts at the joint farthest from the required start.
            squares = [(u - x) ** 2 + (v - y) ** 2 for u, v in joints]
            farthest = max(range(len(joints)), key=lambda i: (squares[i], i))
            if squares[farthest] > (constraint.tolerance + 0.01) ** 2:
                yield "other_start", [*joints[farthest:], *joints[:farthest]]
    # Both additions make a loop of n pipes from one with two pipes fewer.
    base = grown_on_squares(n - 2, side, 0.0, Stream("wrong loops", n, side))
    if base:
        spike = with_spike(base, side)
        if spike:
            yield "fold", spike
        overlay = with_overlay(base)
        if overlay:
            yield "pipe_on_pipe", overlay


def pipes_of(joints: Sequence[XY]) -> Iterator[tuple[XY, XY]]:
    """Return the two ends of every pipe."""
    return zip(joints, [*joints[1:], joints[0]], strict=True)


def open_snake(n: int, side: int) -> list[XY] | None:
    """Return joints row by row, the last too far from the first; None if there is no room."""
    width = side + 1
    if n > width * width:
        return None
    snake = []
    for k in range(n):
        row, column = divmod(k, width)
        # Every other row runs back.
        x = side - column if row % 2 else column
        snake.append((float(x), float(row)))
    last_x, last_y = snake[-1]
    # The pipe back to the first joint must be clearly too long.
    is_open = last_x * last_x + last_y * last_y > 1.5
    return snake if is_open else None


def with_spike(base: Joints, side: int) -> Joints | None:
    """Add a spike of two pipes, 1.7 degrees apart, to a loop on the square lattice."""
    occupied = set(base)
    for i, (start, end) in enumerate(pipes_of(base)):
        dx = end[0] - start[0]
        dy = end[1] - start[1]
        for tip in places_beside(start, dx, dy):
            if tip not in occupied and min(tip) >= 0 and max(tip) <= side:
                foot = (start[0] + 0.03 * dx, start[1] + 0.03 * dy)
                return (*base[: i + 1], tip, foot, *base[i + 1 :])
    return None


def with_overlay(base: Joints) -> Joints | None:
    """Push a pipe of a loop on the square lattice sideways almost onto another pipe."""
    pipes = {frozenset(ends) for ends in pipes_of(base)}
    for i, (start, end) in enumerate(pipes_of(base)):
        dx = end[0] - start[0]
        dy = end[1] - start[1]
        for c, d in zip(
            places_beside(start, dx, dy), places_beside(end, dx, dy), strict=True
        ):
            sides = {frozenset((start, c)), frozenset((end, d))}
            if sides.isdisjoint(pipes) and frozenset((c, d)) in pipes:
                shifted = [(x + 0.02 * dx, y + 0.02 * dy) for x, y in (c, d)]
                return (*base[: i + 1], *shifted, *base[i + 1 :])
    return None


def places_beside(joint: XY, dx: float, dy: float) -> tuple[XY, XY]:
    """Return the places one pipe to the left and to the right of a joint."""
    x, y = joint
    return (x - dy, y + dx), (x + dy, y - dx)
