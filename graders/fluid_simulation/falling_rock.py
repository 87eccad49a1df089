"""Rock that nothing holds up falls."""

import numpy as np

from scbench.graders.fluid_simulation.bitsets import (
    Cells,
    flood,
    pack,
    padded,
    padded_strides,
    parts,
    unpack,
)

MOST_PARTS = 200_000
"""Loose pieces looked at, over all passes; a world of single loose voxels takes a sixth of it."""


class TooMuchWorkError(Exception):
    """A world takes more steps than any sensible plan needs."""


def settle(rock: Cells) -> tuple[Cells, Cells]:
    """Let loose rock fall.

    Pieces of rock, connected face to face, fall one after the other in the order of their first
    cells (x outermost, z innermost), each as far as it can, until a pass moves none. A piece with a
    cell at z = 0 stays.

    Args:
        rock: boolean array [x, y, z].

    Returns:
        The rock afterwards, and which of its cells fell.

    Raises:
        TooMuchWorkError: see `MOST_PARTS`.
    """
    strides = padded_strides(rock.shape)
    space = padded(rock)
    ground_floor = np.zeros_like(space)
    ground_floor[:, :, 0] = True
    floor, all_rock = pack(ground_floor), pack(space)
    fallen = 0
    looked_at = 0
    moving = True
    while moving:
        moving = False
        loose = all_rock ^ flood(all_rock & floor, all_rock, strides)
        for part in parts(loose, strides):
            looked_at += 1
            if looked_at > MOST_PARTS:
                raise TooMuchWorkError(f"more than {MOST_PARTS:,} loose pieces of rock")
            obstacles = all_rock ^ part
            place = part
            while not (place & floor or place >> 1 & obstacles):
                place >>= 1
            if place != part:
                moving = True
                all_rock = obstacles | place
                fallen = fallen & ~part | place
    inside = (slice(None), slice(rock.shape[1]), slice(rock.shape[2]))
    return unpack(all_rock, space.shape)[inside], unpack(fallen, space.shape)[inside]
