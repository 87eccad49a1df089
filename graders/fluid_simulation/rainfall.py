"""Rain on a rigid world, drop by drop, and the water that remains.

The rules come from the specification (fluid_simulation, sections 3 and 4, filling the
last discovered cell first). These facts make it fast without changing the rules:

- Rock is rigid and water never leaves, so the cells that drops of one level can reach together (a
  pool) are fixed, and the cells a drop can fall from (exits) only become fewer.
- The nearest exit, first discovered among equals, is the end of the shortest path whose directions
  come first in order. So every cell of such a path has the same exit, until that fills.
- A lost drop changes nothing, so rain ends with the first round that loses all its drops.

Cells of a level are numbered x * width + y. No drop can rest in a side column or fall from one, so
the bits of a level cover only inner cells and a step never wraps.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from scbench.graders.fluid_simulation.earthworks import (
    Cells,
    TooMuchWorkError,
    flood,
    neighbours,
    pack,
)

# Where a drop ends: in a pool, over a side, at z = 0, or nowhere because the top level is full.
Fate = Literal["rests", "side", "bottom", "full"]
# Maximum cells in all searches; a lake that fills the largest world needs a quarter of
# this.
MOST_STEPS = 60_000_000
# Maximum cells in search orders stored for later drops.
_MAX_CACHED = 1_000_000


class Rained(NamedTuple):
    """A world after the rain."""

    water: Cells
    """Boolean array [x, y, z]."""
    drains: frozenset[tuple[int, int]]
    """Columns where a drop reached z = 0."""
    last_round: tuple[Fate, ...]
    """The fate of each rain column's last drop."""


class Pool(NamedTuple):
    """Connected cells of one level that drops can reach."""

    cells: int
    leaks: bool
    """Whether it is next to a side column."""


def rain_on(rock: Cells, columns: Sequence[Sequence[int]]) -> Rained:
    """Let it rain: a drop on every column, then ordered rounds on some columns until no drop stays.

    The rock, indexed [x, y, z], has the same width along x and y.

    Raises:
        TooMuchWorkError: see `MOST_STEPS`.
    """
    rain = Rain(rock)
    for x in range(rain.width):
        for y in range(rain.width):
            rain.drop(x, y)
    last_round: tuple[Fate, ...] = ("rests",)
    while "rests" in last_round:
        last_round = tuple(rain.drop(x, y) for x, y in columns)
    water = []
    for level in rain.levels:
        passable = np.frombuffer(level.passable, bool)
        dry = np.frombuffer(level.dry, bool)
        water.append(passable & ~dry)
    return Rained(
        np.stack(water, axis=-1).reshape(rock.shape),
        frozenset(divmod(cell, rain.width) for cell in rain.drains),
        last_round,
    )


class Layer:
    """One level of the world: constants, the water, and results of earlier drops.

    Args:
        free: boolean array [x, y] of the cells without rock.
        below: the same for the level below.
    """

    def __init__(self, free: Cells, below: Cells) -> None:
        inner = np.zeros_like(free)
        inner[1:-1, 1:-1] = True
        self.open = pack(free & inner)
        self.side = pack(free & ~inner)
        self.exits = pack(free & below & inner)
        # Cells by their distance to an exit, as far as needed so far, and the cells
        # beyond.
        self.ways: list[int] = []
        self.beyond = 0
        # One byte for each cell: whether it is free of rock, and whether it is also
        # free of water.
        self.passable = (free & inner).tobytes()
        self.dry = bytearray(self.passable)
        self.pools: list[Pool] = []
        # The keys are cells where drops land.
        self.pool_of: dict[int, Pool] = {}
        self.exit_of: dict[int, int] = {}
        self.orders: dict[int, list[int]] = {}


class Rain:
    """Drops that fall on a world of rock [x, y, z], and the water so far."""

    def __init__(self, rock: Cells) -> None:
        self.width: int = rock.shape[0]
        self.strides = (self.width, 1)
        free = ~rock
        below = np.zeros_like(free[:, :, 0])
        self.levels: list[Layer] = []
        for z in range(rock.shape[2]):
            self.levels.append(Layer(free[:, :, z], below))
            below = free[:, :, z]
        self.drains: set[int] = set()
        self.steps = 0
        self.cached = 0

    def drop(self, x: int, y: int) -> Fate:
        """Let one drop fall on a column."""
        last = self.width - 1
        if x in {0, last} or y in {0, last}:
            return "side"
        cell = x * self.width + y
        levels = self.levels
        z = len(levels) - 1
        while True:
            while z and levels[z - 1].dry[cell]:
                z -= 1
            if z == 0:
                self.drains.add(cell)
                return "bottom"
            level = levels[z]
            pool = level.pool_of.get(cell) or self._find_pool(level, cell)
            if pool.cells & level.exits:
                z -= 1
                exit_cell = level.exit_of.get(cell)
                if exit_cell is None or not levels[z].dry[exit_cell]:
                    exit_cell = self._find_exit(level, levels[z], cell)
                cell = exit_cell
            elif pool.leaks:
                return "side"
            else:
                return self._settle_drop(z, cell)

    def _find_pool(self, level: Layer, cell: int) -> Pool:
        """Return all cells that a search from this cell can visit."""
        seed = 1 << cell
        pool = None
        if level.passable[cell]:
            # Pools do not overlap, so at most one contains the cell.
            containing = (pool for pool in level.pools if pool.cells & seed)
            pool = next(containing, None)
        if pool is None:
            cells = flood(seed, level.open, self.strides)
            leaks = bool(neighbours(cells, self.strides) & level.side)
            pool = Pool(cells, leaks)
            # A start in rock joins pools that are otherwise separate.
            if level.passable[cell]:
                level.pools.append(pool)
        level.pool_of[cell] = pool
        return pool

    def _find_exit(self, level: Layer, below: Layer, cell: int) -> int:
        """Return the nearest exit, and remember it for every cell on the way."""
        around = neighbours(1 << cell, self.strides)
        ways = level.ways
        if not ways:
            ways.append(level.exits)
            level.beyond = level.open ^ level.exits
        # The distance of the nearest exit, minus one.
        k = 0
        while not ways[k] & around:
            k += 1
            if k == len(ways):
                ways.append(neighbours(ways[-1], self.strides) & level.beyond)
                level.beyond ^= ways[-1]
        self._count(k + 1)
        passed = []
        while True:
            passed.append(cell)
            # The first direction that leads closer to the exit, in the order of the specification.
            for step in (self.width, -self.width, 1, -1):
                if ways[k] >> cell + step & 1:
                    cell += step
                    break
            shortcut = level.exit_of.get(cell)
            if shortcut is not None and below.dry[shortcut]:
                cell = shortcut
                break
            if k == 0:
                break
            k -= 1
        for earlier in passed:
            level.exit_of[earlier] = cell
        return cell

    def _settle_drop(self, z: int, cell: int) -> Fate:
        """Fill the cell that a search from this cell discovers last."""
        level = self.levels[z]
        order = level.orders.get(cell)
        if order is None:
            order = discovery_order(cell, level.passable, self.width)
            self._count(len(order))
            self._keep(level, cell, order)
        while order:
            last = order.pop()
            if level.dry[last]:
                level.dry[last] = 0
                # Nothing falls through water, so the cell above is no longer an exit.
                if z + 1 < len(self.levels) and self.levels[z + 1].passable[last]:
                    self.levels[z + 1].exits ^= 1 << last
                    self.levels[z + 1].ways.clear()
                return "rests"
        return "full"

    def _keep(self, level: Layer, cell: int, order: list[int]) -> None:
        """Store a search order for further drops on a cell; discard all if there are too many."""
        self.cached += len(order)
        if self.cached > _MAX_CACHED:
            for cache_level in self.levels:
                cache_level.orders.clear()
            self.cached = len(order)
        level.orders[cell] = order

    def _count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise TooMuchWorkError(f"drops searched more than {MOST_STEPS:,} voxels")


def discovery_order(start: int, passable: bytes, width: int) -> list[int]:
    """Return the cells that a breadth-first search can reach, in the order of their discovery."""
    unseen = bytearray(passable)
    unseen[start] = 0
    order = [start]
    add = order.append
    # A loop over the four steps would be a third slower, and most of the time is spent
    # here.
    for cell in order:  # grows during the loop
        after = cell + width
        if unseen[after]:
            unseen[after] = 0
            add(after)
        after = cell - width
        if unseen[after]:
            unseen[after] = 0
            add(after)
        after = cell + 1
        if unseen[after]:
            unseen[after] = 0
            add(after)
        after = cell - 1
        if unseen[after]:
            unseen[after] = 0
            add(after)
    return order
