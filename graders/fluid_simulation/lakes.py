"""What the standing water of a voxel world is like."""

from typing import NamedTuple

import numpy as np

from scbench.graders.fluid_simulation.bitsets import (
    Cells,
    flood,
    pack,
    padded,
    padded_strides,
    parts,
    positions,
    unpack,
)


class Lake(NamedTuple):
    """A body of water: cells connected face to face."""

    voxels: int
    columns: int
    """Its columns as bits, numbered x * width + y."""
    levels: tuple[int, ...]
    """Cells on each level from z = 0."""
    visible: bool
    """Whether some cell of it has no rock above."""

    @property
    def surface(self) -> int:
        """Number of columns."""
        return self.columns.bit_count()

    @property
    def main_level(self) -> int:
        """The level with most of its cells, the lowest of equals."""
        return self.levels.index(max(self.levels))


class Water(NamedTuple):
    """All water of a world."""

    width: int
    lakes: tuple[Lake, ...]
    """In the order of their first cells, x outermost and z innermost."""
    levels: tuple[int, ...]
    """Cells on each level from z = 0."""
    visible_columns: tuple[tuple[int, int], ...]
    """Columns with water that has no rock above."""
    depth: int
    """Most cells of water directly above each other."""
    deepest: tuple[int, int] | None
    """The first column with that many."""

    @property
    def voxels(self) -> int:
        """Number of cells of water."""
        return sum(self.levels)


def survey(rock: Cells, water: Cells) -> Water:
    """Measure the water of a world; both arrays are boolean, [x, y, z], equally wide along x, y."""
    width = rock.shape[0]
    roofed = np.flip(np.logical_or.accumulate(np.flip(rock, 2), axis=2), 2)
    open_water = water & ~roofed
    space = padded(water)
    lakes = []
    for part in parts(pack(space), padded_strides(water.shape)):
        cells = unpack(part, space.shape)[:, :-1, :-1]
        levels = _levels(cells)
        visible = bool((cells & open_water).any())
        lakes.append(Lake(sum(levels), pack(np.any(cells, axis=2)), levels, visible))
    run = np.zeros((width, width), int)
    longest = run
    for z in range(water.shape[2]):
        run = (run + 1) * water[:, :, z]
        longest = np.maximum(longest, run)
    depth = int(longest.max())
    return Water(
        width,
        tuple(lakes),
        _levels(water),
        tuple((int(x), int(y)) for x, y in np.argwhere(open_water.any(axis=2))),
        depth,
        (int(longest.argmax()) // width, int(longest.argmax()) % width) if depth else None,
    )


def _levels(cells: Cells) -> tuple[int, ...]:
    return tuple(int(count) for count in cells.sum(axis=(0, 1)))


def squares(columns: int, side: int, width: int) -> int:
    """Return the columns at the low corners of all squares of this side inside a set of columns.

    The set has none at the sides of the world, so that no square wraps.
    """
    for stride in (1, width):
        run = columns
        for i in range(1, side):
            run &= columns >> i * stride
        columns = run
    return columns


def dry_island(water: Water, side: int) -> tuple[int, int, int] | None:
    """Find a lake that closes round a dry square.

    A lake's columns close round the regions of other columns, connected along x and y, that do not
    reach the sides of the world. One of them must hold a square of columns without any water.

    Returns:
        Position of the lake in ``water.lakes``, and x and y of the square's low corner.
    """
    width = water.width
    world = (1 << width * width) - 1
    inner = np.zeros((width, width), bool)
    inner[1:-1, 1:-1] = True
    sides = world ^ pack(inner)
    wet = 0
    for lake in water.lakes:
        wet |= lake.columns
    for i, lake in enumerate(water.lakes):
        enclosed = world & ~lake.columns & ~_outside(sides, world & ~lake.columns, width)
        corners = squares(enclosed & ~wet, side, width)
        if corners:
            return (i, *divmod(positions(corners & -corners)[0], width))
    return None


def _outside(sides: int, dry: int, width: int) -> int:
    """Return the columns connected to the sides; wrapping joins only columns of the sides."""
    return flood(sides, dry, (width, 1))
