"""Closed loops of unit pipes shaped like stars, some of which cross themselves."""

import math
from collections.abc import Iterator

from scbench.builders.pipe_loop_fitting.lattice_loops import XY, Loop

_DECIMALS = 9


def star(pipes: int, radius: float, centre: XY) -> Loop | None:
    """Return a zig-zag around a centre, its tips at a distance; None if there is no such loop.

    The pipes lead from each tip to a joint nearer to the centre and on to the next tip.
    """
    if pipes % 2 or pipes < 8:
        return None
    half = 2 * math.pi / pipes
    inner = _inner_radius(half, radius)
    if inner is None:
        return None
    return tuple(_at(centre, half * k, 0.0, inner if k % 2 else radius) for k in range(pipes))


def crossed_star(
    pipes: int, crossings: int, radius: float, centre: XY, width: float
) -> Loop | None:
    """Return a star whose loop crosses itself; None if there is no such loop.

    Evenly spaced inner joints give way to a small lozenge that points to the centre and whose two
    pipes cross. Each adds four joints and one crossing.

    Args:
        pipes: number of pipes.
        crossings: number of lozenges.
        radius: distance of the tips from the centre.
        centre: of the star.
        width: half the width of a lozenge's mouth, below 0.3.
    """
    corners = pipes - 4 * crossings
    base = star(corners, radius, centre)
    if base is None or crossings > corners // 2:
        return None
    half = 2 * math.pi / corners
    reach = radius * math.sin(half) - width
    belly = 0.7
    if not 0 < reach < 1:
        return None
    mouth = radius * math.cos(half) - math.sqrt(1 - reach**2)
    waist = mouth - math.sqrt(1 - (width + belly) ** 2)
    point = waist - math.sqrt(1 - belly**2)
    if point <= 0:
        return None
    lozenge = ((-width, mouth), (belly, waist), (0.0, point), (-belly, waist), (width, mouth))
    lozenges = {2 * (k * (corners // 2) // crossings) + 1 for k in range(crossings)}
    joints: list[XY] = []
    for i, joint in enumerate(base):
        if i in lozenges:
            joints += [_at(centre, half * i, across, out) for across, out in lozenge]
        else:
            joints.append(joint)
    return tuple(joints)


def many_pointed(pipes: int, side: int) -> Loop | None:
    """Return a regular star polygon: every pipe of 1 m, every angle alike, but full of crossings.

    None if no such star with angles of at least 10 degrees fits into the square.
    """
    for step in range(int(pipes * 17 / 36), 1, -1):
        radius = 0.5 / math.sin(math.pi * step / pipes)
        if math.gcd(step, pipes) == 1 and radius <= side / 2:
            turn = 2 * math.pi * step / pipes
            return tuple(_at((side / 2, side / 2), turn * k, 0.0, radius) for k in range(pipes))
    return None


def radii(side: int) -> Iterator[float]:
    """Yield radii of stars that fit into a square, the largest first."""
    for tenth in range(5 * side, 4, -1):
        yield tenth / 10


def _inner_radius(half: float, radius: float) -> float | None:
    reach = radius * math.sin(half)
    if reach >= 1:
        return None
    inner = radius * math.cos(half) - math.sqrt(1 - reach**2)
    return inner if inner > 0 else None


def _at(centre: XY, angle: float, across: float, out: float) -> XY:
    """Return the place this far out from the centre at an angle, and this far to its left."""
    cos, sin = math.cos(angle), math.sin(angle)
    return (
        round(centre[0] + out * cos - across * sin, _DECIMALS),
        round(centre[1] + out * sin + across * cos, _DECIMALS),
    )
