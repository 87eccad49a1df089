"""Loops made from the numbers of pipes and crossings alone, moved to the required start."""

import math
from collections.abc import Iterator

from scbench.builders.pipe_loop_fitting.solver import from_start
from scbench.builders.pipe_loop_fitting.stars import (
    Joints,
    crossed_star,
    place_at,
    radii,
    star,
)
from scbench.schemas.pipe_loop_fitting import FixedStart, Params

# Number of stars; their radii are spread evenly over those that fit.
_STARS = 5
# Half the mouth of a crossing.
_WIDTH = 0.1


def generic_loops(params: Params) -> Iterator[tuple[str, Joints]]:
    """Yield named loops that follow the common rules; the constraints of a room are not checked.

    Each loop is moved towards the required start until a joint lies there or the room
    allows no more.
    """
    for name, loop in _loops(params.pipes, params.side, params.crossings):
        yield name, moved_to_start(loop, params)


def _loops(n: int, side: int, crossings: int) -> Iterator[tuple[str, Joints]]:
    """Yield named loops anywhere in the room."""
    if crossings:
        stars = [crossed_star(n, crossings, r, side, _WIDTH) for r in radii(side)]
    else:
        stars = [star(n, r, side) for r in radii(side)]
        yield from _combs(n, side)
        radius = 0.5 / math.sin(math.pi / n)
        if 2 * radius <= side:
            yield (
                "ring",
                tuple(
                    place_at(side, 2 * math.pi * k / n, 0.0, radius) for k in range(n)
                ),
            )
    fitting = [loop for loop in stars if loop is not None]
    for k in range(min(_STARS, len(fitting))):
        index = k * (len(fitting) - 1) // max(1, _STARS - 1)
        yield f"zig-zag ring {k + 1}", fitting[index]


def _combs(n: int, side: int) -> Iterator[tuple[str, Joints]]:
    """Yield combs of many short teeth and of few long ones, turned by right angles."""
    # Loops on the square lattice have an even number of pipes.
    if n % 2 or n < 4:
        return
    combs = {
        "comb": comb(n, side, min(n // 4, (side + 1) // 2)),
        "tall comb": comb(n, side, -(-n // (2 * side + 2))),
    }
    for name, upright in combs.items():
        if upright is None:
            continue
        turned = upright
        for quarters in range(4):
            yield f"{name}, turned {90 * quarters} degrees", turned
            turned = tuple((side - y, x) for x, y in turned)


def moved_to_start(loop: Joints, params: Params) -> Joints:
    """Move a loop so that its nearest joint lies at the required start, as far as there is room."""
    loop = from_start(loop, params)
    for constraint in params.constraints:
        if isinstance(constraint, FixedStart):
            x, y = loop[0]
            across = _within([u for u, _ in loop], constraint.x - x, params.side)
            up = _within([v for _, v in loop], constraint.y - y, params.side)
            return tuple((u + across, v + up) for u, v in loop)
    return loop


def _within(values: list[float], shift: float, side: int) -> float:
    """Return the shift nearest to this one that leaves all values in 0..side."""
    return min(max(shift, -min(values)), side - max(values))


def comb(n: int, side: int, teeth: int) -> Joints | None:
    """Return a comb on the square lattice: teeth of two columns each, as even as possible."""
    if not 1 <= teeth <= (side + 1) // 2:
        return None
    # The first teeth are 1 m higher.
    height, higher = divmod(n // 2 - teeth, teeth)
    if height < 1 or height + (higher > 0) > side:
        return None
    joints = [(float(x), 0.0) for x in range(2 * teeth)]
    for tooth in reversed(range(teeth)):
        top = height + 1 if tooth < higher else height
        levels = [float(y) for y in range(1, top + 1)]
        joints += [(2.0 * tooth + 1, y) for y in levels]
        joints += [(2.0 * tooth, y) for y in reversed(levels)]
    return tuple(joints)
