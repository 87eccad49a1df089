"""Sets of cells as integers, one bit for each cell, so that one operation moves them all.

A grid's cells are numbered row by row with the last axis innermost. ``strides`` are the differences
in number between a cell and its neighbours along each axis. A step must never wrap from the end of
one row to the start of the next: either the set stepped in has no cell at the ends, or the grid has
an empty layer there (`padded`).
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.bool_]


def pack(cells: Cells) -> int:
    """Return a boolean array of any shape as bits, cell 0 lowest."""
    return int.from_bytes(np.packbits(cells, axis=None, bitorder="little").tobytes(), "little")


def unpack(bits: int, shape: Sequence[int]) -> Cells:
    """Return bits as a boolean array of this shape."""
    count = int(np.prod(shape))
    data = np.frombuffer(bits.to_bytes((count + 7) // 8, "little"), np.uint8)
    return np.unpackbits(data, count=count, bitorder="little").astype(bool).reshape(shape)


def padded(cells: Cells) -> Cells:
    """Return a three-dimensional array with an empty layer at the ends of the inner two axes."""
    return np.pad(cells, ((0, 0), (0, 1), (0, 1)))


def padded_strides(shape: Sequence[int]) -> tuple[int, int, int]:
    """Return the strides of a `padded` array that had this shape before."""
    return ((shape[1] + 1) * (shape[2] + 1), shape[2] + 1, 1)


def neighbours(bits: int, strides: Sequence[int]) -> int:
    """Return the cells one step away from these along any axis, and maybe some of these."""
    around = 0
    for stride in strides:
        around |= bits << stride | bits >> stride
    return around


def flood(seed: int, within: int, strides: Sequence[int]) -> int:
    """Return the seed and every cell of ``within`` that is connected to it by way of such cells."""
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
