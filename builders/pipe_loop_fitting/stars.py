"""Loops around the centre of a square: zig-zag stars, and such stars that cross themselves."""

import math
from collections.abc import Iterator

XY = tuple[float, float]
# The joints of a loop in order, in metres.
Joints = tuple[XY, ...]
# Decimals of coordinates.
DECIMALS = 9
# Half the width of a lozenge where it is widest.
_BELLY = 0.7


def radii(side: int) -> Iterator[float]:
    """Yield radii of stars that fit into a square, the largest first."""
    for tenth in range(5 * side, 4, -1):
        yield tenth / 10


def star(pipes: int, radius: float, side: int) -> Joints | None:
    """Return a zig-zag with its tips at this radius; None if there is no such loop.

    The pipes lead from each tip to a joint nearer to the centre and on to the next tip.
    """
    if pipes % 2 or pipes < 8:
        return None
    half = 2 * math.pi / pipes
    reach = radius * math.sin(half)
    if reach >= 1:
        return None
    inner = radius * math.cos(half) - math.sqrt(1 - reach**2)
    if inner <= 0:
        return None
    return tuple(
        place_at(side, half * k, 0.0, inner if k % 2 else radius) for k in range(pipes)
    )


def crossed_star(
    pipes: int, crossings: int, radius: float, side: int, width: float
) -> Joints | None:
    """Return a star whose loop crosses itself; None if there is no such loop.

    Evenly spaced inner joints are replaced by small lozenges that point to the centre. Two pipes of
    a lozenge cross. Each lozenge adds four joints and one crossing.

    Args:
        pipes: number of pipes in the loop.
        crossings: number of crossings of the loop.
        radius: distance of the tips from the centre.
        side: side of the square.
        width: half the width of a lozenge's mouth, below 0.3.
    """
    corners = pipes - 4 * crossings
    base = star(corners, radius, side)
    if base is None or crossings > corners // 2:
        return None
    half = 2 * math.pi / corners
    reach = radius * math.sin(half) - width
    if not 0 < reach < 1:
        return None
    # Distances from the centre: every pipe of a lozenge is 1 m long.
    mouth = radius * math.cos(half) - math.sqrt(1 - reach**2)
    waist = mouth - math.sqrt(1 - (width + _BELLY) ** 2)
    point = waist - math.sqrt(1 - _BELLY**2)
    if point <= 0:
        return None
    lozenge = (
        (-width, mouth),
        (_BELLY, waist),
        (0.0, point),
        (-_BELLY, waist),
        (width, mouth),
    )
    lozenges = {2 * (k * (corners // 2) // crossings) + 1 for k in range(crossings)}
    joints: list[XY] = []
    for i, joint in enumerate(base):
        if i in lozenges:
            joints += [place_at(side, half * i, across, out) for across, out in lozenge]
        else:
            joints.append(joint)
    return tuple(joints)


def many_pointed(pipes: int, side: int) -> Joints | None:
    """Return a regular star polygon: every pipe 1 m, all angles equal, but full of crossings.

    None if no such star with angles of at least 10 degrees fits into the square.
    """
    # The angle at a tip is 180 degrees less 360 degrees times step / pipes.
    for step in range(int(pipes * 17 / 36), 1, -1):
        radius = 0.5 / math.sin(math.pi * step / pipes)
        if math.gcd(step, pipes) == 1 and radius <= side / 2:
            turn = 2 * math.pi * step / pipes
            return tuple(place_at(side, turn * k, 0.0, radius) for k in range(pipes))
    return None


def place_at(side: int, angle: float, across: float, out: float) -> XY:
    """Return the place ``out`` from the centre at an angle, moved by ``across`` to the left."""
    centre = side / 2
    cos = math.cos(angle)
    sin = math.sin(angle)
    x = centre + out * cos - across * sin
    y = centre + out * sin + across * cos
    return round(x, DECIMALS), round(y, DECIMALS)
