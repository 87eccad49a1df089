"""Loops on the square lattice with a finger whose two sides cross each other repeatedly."""

import math
from collections.abc import Sequence

from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting.lattices import (
    Growth,
    Lattice,
    Node,
    rectangle,
    square_lattice,
)
from scbench.builders.pipe_loop_fitting.stars import DECIMALS, XY, Joints

# A finger is 1 m wide at both ends; between them, each side is this far inwards.
_INSET = 0.1
# Height of the pipes that lead from one width to the other.
_SLOPE = math.sqrt(1 - _INSET**2)
# Height of two crossing pipes.
_CROSSING = math.sqrt(1 - (1 - 2 * _INSET) ** 2)
# Maximum number of loops grown until one has room for its finger.
_TRIES = 30


def finger(crossings: int) -> tuple[list[XY], list[XY]]:
    """Return the two sides of a finger, without their first joints (0, 0) and (1, 0).

    One more pipe leads from the end of one side to the end of the other.
    """
    sides: tuple[list[XY], list[XY]] = ([], [])
    for start_side, joints in enumerate(sides):
        side = start_side
        height = _SLOPE
        joints.append((abs(side - _INSET), height))
        for _ in range(crossings):
            side = 1 - side
            height += _CROSSING
            joints.append((abs(side - _INSET), height))
        joints.append((float(side), height + _SLOPE))
    return sides


def grown_with_finger(
    pipes: int, side: int, crossings: int, rng: Stream
) -> Joints | None:
    """Grow a loop on the square lattice with a finger in place of one pipe, or return None."""
    left, right = finger(crossings)
    base = pipes - len(left) - len(right)
    height = left[-1][1]
    if base % 2 or base < 4 or height > side or base > (side + 1) ** 2:
        return None
    for _ in range(_TRIES):
        foot = (rng.below(side), rng.below(math.floor(side - height) + 1))
        ring = grown_around(foot, math.floor(height), base, side, rng)
        if ring is None:
            continue
        joints = with_finger(ring, foot, left, right)
        if joints is not None:
            return turn_and_mirror(joints, side, rng)
    return None


def grown_around(
    foot: Node, height: int, pipes: int, side: int, rng: Stream
) -> Joints | None:
    """Grow a loop around the nodes of a finger; None if it does not get long enough.

    It begins with a square below the foot of the finger, or at the wall with a rectangle around it.
    """
    x, y = foot
    free = square_lattice(side, 0.0)
    strip = {(x + i, y + k) for i in range(2) for k in range(1, height + 1)}
    places = {node: place for node, place in free.places.items() if node not in strip}
    start = [(x + i, y - 1 + k) for i, k in rectangle(1, 1)]
    if y == 0:
        start = rectangle(side, min(side, max(height + 1, (pipes - 2 * side) // 2)))
    if len(start) > pipes or not places.keys() >= {*start}:
        return None
    growth = Growth(Lattice(free.steps, places), start, pipes, turning=False)
    return growth.run(60 * pipes + 4000, rng)


def with_finger(
    ring: Joints, foot: Node, left: Sequence[XY], right: Sequence[XY]
) -> Joints | None:
    """Replace the pipe at the foot with a finger; None if the loop has no such pipe."""
    x, y = foot
    ends = [(float(x), float(y)), (x + 1.0, float(y))]
    finger_joints = [
        (round(x + across, DECIMALS), round(y + out, DECIMALS))
        for across, out in (*left, *reversed(right))
    ]
    for i, joint in enumerate(ring):
        following = ring[(i + 1) % len(ring)]
        if [joint, following] == ends:
            return (*ring[: i + 1], *finger_joints, *ring[i + 1 :])
        if [following, joint] == ends:
            return (*ring[: i + 1], *reversed(finger_joints), *ring[i + 1 :])
    return None


def turn_and_mirror(joints: Joints, side: int, rng: Stream) -> Joints:
    """Turn a loop by right angles and mirror it at random."""
    for _ in range(rng.below(4)):
        joints = tuple((side - y, x) for x, y in joints)
    if rng.below(2):
        joints = tuple((y, x) for x, y in joints)
    return tuple((round(x, DECIMALS), round(y, DECIMALS)) for x, y in joints)
