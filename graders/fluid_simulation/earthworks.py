"""Voxel worlds: sets of cells as bits, boxes that change them, and loose rock that falls.

A set is an integer with one bit for each cell, so that one operation moves all its cells. A grid's
cells are numbered row by row with the last axis innermost. ``strides`` are the differences in
number between a cell and its neighbours along each axis. A step must never wrap from the end of one
row to the start of the next: either the set has no cells at the ends of rows, or the grid has an
empty layer there (`padded`).
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from scbench.schemas.fluid_simulation import Earthwork, Params, Zone

Cells = NDArray[np.bool_]
# Maximum number of loose pieces over all passes; a world of single loose voxels has a
# sixth of this.
MOST_PARTS = 200_000


class TooMuchWorkError(Exception):
    """A world needs more work than any sensible plan would cause."""


def pack(cells: Cells) -> int:
    """Return a boolean array of any shape as bits; cell 0 is the lowest bit."""
    data = np.packbits(cells, axis=None, bitorder="little").tobytes()
    return int.from_bytes(data, "little")


def unpack(bits: int, shape: Sequence[int]) -> Cells:
    """Return bits as a boolean array of this shape."""
    count = int(np.prod(shape))
    data = np.frombuffer(bits.to_bytes((count + 7) // 8, "little"), np.uint8)
    flags = np.unpackbits(data, count=count, bitorder="little")
    return flags.astype(bool).reshape(shape)


def padded(cells: Cells) -> Cells:
    """Return a three-dimensional array with an empty layer at the ends of the inner two axes."""
    return np.pad(cells, ((0, 0), (0, 1), (0, 1)))


def padded_strides(shape: Sequence[int]) -> tuple[int, int, int]:
    """Return the strides of a `padded` array, given its shape before padding."""
    return ((shape[1] + 1) * (shape[2] + 1), shape[2] + 1, 1)


def neighbours(bits: int, strides: Sequence[int]) -> int:
    """Return the cells one step from these along any axis, which may include some of these."""
    around = 0
    for stride in strides:
        around |= bits << stride | bits >> stride
    return around


def flood(seed: int, within: int, strides: Sequence[int]) -> int:
    """Return the seed and every cell of ``within`` that is connected to it through such cells."""
    unreached = within & ~seed
    front = seed
    reached = seed
    while front:
        front = neighbours(front, strides) & unreached
        unreached ^= front
        reached |= front
    return reached


def parts(bits: int, strides: Sequence[int]) -> Iterator[int]:
    """Yield the connected parts of a set, in the order of their lowest cells."""
    while bits:
        part = flood(bits & -bits, bits, strides)
        yield part
        bits ^= part


def positions(bits: int) -> list[int]:
    """Return the numbers of the cells, ascending."""
    numbers = []
    while bits:
        low = bits & -bits
        numbers.append(low.bit_length() - 1)
        bits ^= low
    return numbers


def ground(params: Params) -> Cells:
    """Return the rock at the start, as a boolean array [x, y, z]."""
    rock = np.zeros((params.width, params.width, params.height), bool)
    rock[:, :, : params.rock_layers] = True
    for box in params.ground:
        rock[box_slices(box.low, box.high)] = box.material == "Rock"
    return rock


def carry_out(
    params: Params, boxes: Sequence[Earthwork | None]
) -> tuple[Cells, list[list[object]]]:
    """Change the ground box by box; an invalid box is ignored as a whole.

    Returns the rock before it settles, and [position, reason] of every ignored box.
    """
    rock = ground(params)
    ignored: list[list[object]] = []
    for i, box in enumerate(boxes):
        if box is None:
            why = "its material is not Air or Rock, or a corner does not consist of three numbers"
            ignored.append([i, why])
            continue
        low = [int(value) for value in box.xyzMin]
        high = [int(value) for value in box.xyzMax]
        problem = problem_of_box(params, low, high)
        if problem:
            ignored.append([i, problem])
        else:
            rock[box_slices(low, high)] = box.material == "Rock"
    return rock, ignored


def problem_of_box(params: Params, low: Sequence[int], high: Sequence[int]) -> str:
    """Return why a box with these corner cells is ignored; empty if it is valid."""
    size = (params.width, params.width, params.height)
    if any(a > b for a, b in zip(low, high, strict=True)):
        return "a coordinate of xyzMin is greater than that of xyzMax"
    if min(low) < 0 or any(b >= n for b, n in zip(high, size, strict=True)):
        return "it extends beyond the world"
    if any(_reaches_into(low, high, zone) for zone in params.protected):
        return "it reaches into a protected zone"
    return ""


def _reaches_into(low: Sequence[int], high: Sequence[int], zone: Zone) -> bool:
    for axis in range(3):
        if low[axis] > zone.high[axis] or high[axis] < zone.low[axis]:
            return False
    return True


def box_slices(low: Sequence[int], high: Sequence[int]) -> tuple[slice, ...]:
    """Return the slices that select the box with these corner cells in a world."""
    return tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))


def settle(rock: Cells) -> tuple[Cells, Cells]:
    """Let loose rock [x, y, z] fall; return the rock afterwards, and which of its cells fell.

    Pieces of rock, connected by faces, fall one after the other in the order of their
    first cells (x outermost, z innermost), each as far as it can. Passes are repeated
    until nothing moves. A piece with a cell at z = 0 does not move.

    Raises:
        TooMuchWorkError: see `MOST_PARTS`.
    """
    strides = padded_strides(rock.shape)
    space = padded(rock)
    bottom = np.zeros_like(space)
    bottom[:, :, 0] = True
    floor = pack(bottom)
    all_rock = pack(space)
    fallen = 0
    pieces = 0
    moving = True
    while moving:
        moving = False
        loose = all_rock ^ flood(all_rock & floor, all_rock, strides)
        for part in parts(loose, strides):
            pieces += 1
            if pieces > MOST_PARTS:
                raise TooMuchWorkError(
                    f"there are more than {MOST_PARTS:,} loose pieces of rock"
                )
            obstacles = all_rock ^ part
            # z is innermost, so a shift by one bit is a step down.
            place = part
            while not (place & floor or place >> 1 & obstacles):
                place >>= 1
            if place != part:
                moving = True
                all_rock = obstacles | place
                fallen = fallen & ~part | place
    inside = (slice(None), slice(rock.shape[1]), slice(rock.shape[2]))
    return unpack(all_rock, space.shape)[inside], unpack(fallen, space.shape)[inside]
