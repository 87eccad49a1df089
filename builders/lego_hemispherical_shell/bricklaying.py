"""A bricklayer that fills round bodies with bricks on one lattice of studs.

It works layer by layer: a greedy choice, then exchanges of one brick for two. With I and V as in
the grader, a brick with a share f of its volume in the target adds 2 f - 1/2 of its volume to the
agreement, so a brick is worth placing if f is at least a quarter.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.graders.lego_hemispherical_shell.bricks import HEIGHT, STUD
from scbench.graders.lego_hemispherical_shell.target import Body, Boxes, shared_volumes

# Cells along x and y of a brick that is not turned, and of one turned by 90 degrees.
SIDES = ((4, 2), (2, 4))
_LEAST_GAIN = 0.02
# Smaller gains than this could be rounding errors.
_LEAST_IMPROVEMENT = 1e-6


class Brick(NamedTuple):
    """The centre of a brick in mm, and its rotation in degrees."""

    x: float
    y: float
    z: float
    turn: float

    @property
    def level(self) -> int:
        """The number of its layer, from 0."""
        return round(self.z / HEIGHT - 0.5)


class Lattice(NamedTuple):
    """Cells of one stud by one layer.

    Attributes:
        width: cells along x and y.
        offset: x and y of the middle of the lattice, in mm from the axis.
        shares: the share of each cell that lies in the target, as (layer, x, y).
    """

    width: int
    offset: tuple[float, float]
    shares: NDArray[np.float64]

    def brick(self, column: int, row: int, turned: int, level: int) -> Brick:
        """Return the brick with this first cell; ``turned`` is an index of `SIDES`."""
        a, b = SIDES[turned]
        x = (column + a / 2 - self.width / 2) * STUD + self.offset[0]
        y = (row + b / 2 - self.width / 2) * STUD + self.offset[1]
        return Brick(x, y, HEIGHT * (level + 0.5), 90.0 * turned)


class Spot(NamedTuple):
    """A place for a brick in a layer.

    Attributes:
        gain: what the brick adds to the agreement, in volumes of a brick.
        cells: its cells as bits.
        column: x of its first cell.
        row: y of its first cell.
        turned: index of `SIDES`.
    """

    gain: float
    cells: int
    column: int
    row: int
    turned: int


def lattice(target: Body, radius: float, offset: tuple[float, float]) -> Lattice:
    """Measure the cells of a lattice out to a radius from its centre; lengths in mm."""
    width = 2 * (int(radius / STUD) + 2)
    layers = int(target.outer.top / HEIGHT) + 1
    middle = (np.arange(width) - width / 2 + 0.5) * STUD
    level, x, y = np.meshgrid(
        np.arange(layers), middle + offset[0], middle + offset[1], indexing="ij"
    )
    low = HEIGHT * level.ravel()
    cells = Boxes(
        first=np.abs(x).ravel(),
        second=np.abs(y).ravel(),
        low=low,
        high=low + HEIGHT,
        half=(STUD / 2, STUD / 2),
    )
    shares = shared_volumes(target, cells) / (STUD * STUD * HEIGHT)
    return Lattice(width, offset, shares.reshape(layers, width, width))


def fill(cells: Lattice) -> list[Brick]:
    """Place bricks that are all joined to the ground."""
    spots = [spots_in(cells, level) for level in range(len(cells.shares))]
    layers: list[list[Spot]] = []
    below = 0
    for level, candidates in enumerate(spots):
        supported = candidates
        if level > 0:
            supported = [spot for spot in candidates if spot.cells & below]
        layer = exchange(greedy_layer(supported, below, level), supported)
        layers.append(layer)
        below = cells_of(layer)
    add_hanging_bricks(layers, spots)
    bricks: list[Brick] = []
    for level, layer in enumerate(layers):
        layer.sort(key=lambda spot: (spot.row, spot.column))
        bricks += [cells.brick(s.column, s.row, s.turned, level) for s in layer]
    return bricks


def spots_in(cells: Lattice, level: int) -> list[Spot]:
    """Return the places of a layer where a brick is worth placing."""
    spots = []
    for turned, (a, b) in enumerate(SIDES):
        windows = np.lib.stride_tricks.sliding_window_view(cells.shares[level], (a, b))
        gains = windows.mean(axis=(2, 3)) * 2 - 0.5
        # The cells of a brick at the first spot; at other spots they are shifted.
        block = sum(1 << (i * cells.width + j) for i in range(a) for j in range(b))
        for column, row in np.argwhere(gains > _LEAST_GAIN).tolist():
            bits = block << (column * cells.width + row)
            gain = round(float(gains[column, row]), 6)
            spots.append(Spot(gain, bits, column, row, turned))
    return spots


def greedy_layer(spots: Sequence[Spot], below: int, level: int) -> list[Spot]:
    """Take the best spots first; among equals, those that bridge most cells below."""

    def preference(spot: Spot) -> tuple[float, int, int, int, int]:
        bridged = (spot.cells & below).bit_count()
        # Bricks of the next layer lie across those of this one.
        is_across = spot.turned ^ (level % 2)
        return -round(spot.gain, 2), -bridged, is_across, spot.row, spot.column

    occupied = 0
    layer = []
    for spot in sorted(spots, key=preference):
        if not spot.cells & occupied:
            occupied |= spot.cells
            layer.append(spot)
    return layer


def exchange(layer: list[Spot], spots: Sequence[Spot]) -> list[Spot]:
    """Replace one brick by two, or by a better one, until that gains nothing."""
    begins = np.array([(spot.column, spot.row) for spot in spots]).reshape(-1, 2)
    ends = begins + np.array(SIDES)[[spot.turned for spot in spots]]
    # The spots that share a cell with a spot, by its cells.
    touching: dict[int, list[Spot]] = {}
    improved = True
    while improved:
        improved = False
        occupied = cells_of(layer)
        for old in list(layer):
            if old.cells not in touching:
                begin = np.array((old.column, old.row))
                touch = (begins < begin + SIDES[old.turned]) & (begin < ends)
                indices = touch.all(axis=1).nonzero()[0].tolist()
                touching[old.cells] = [spots[i] for i in indices]
            obstacles = occupied & ~old.cells
            free = [s for s in touching[old.cells] if not s.cells & obstacles]
            best = max(_replacements(free), key=_total_gain, default=(old,))
            if _total_gain(best) > old.gain + _LEAST_IMPROVEMENT:
                layer = [spot for spot in layer if spot is not old]
                layer += best
                occupied = cells_of(layer)
                improved = True
    return layer


def _replacements(spots: Sequence[Spot]) -> Iterator[tuple[Spot, ...]]:
    """Yield single spots, and pairs of spots without a common cell."""
    for i, first in enumerate(spots):
        yield (first,)
        for second in spots[:i]:
            if not first.cells & second.cells:
                yield (first, second)


def _total_gain(spots: tuple[Spot, ...]) -> float:
    """Add up the gains of spots."""
    return sum(spot.gain for spot in spots)


def cells_of(spots: Sequence[Spot]) -> int:
    """Return the cells of all spots as bits."""
    cells = 0
    for spot in spots:
        cells |= spot.cells
    return cells


def add_hanging_bricks(
    layers: list[list[Spot]], spots: Sequence[Sequence[Spot]]
) -> None:
    """Add bricks that hang from the layer above, or stand on hanging ones, until none fits."""
    growing = True
    while growing:
        growing = False
        # From the top, because a brick can hang from one that was added just now.
        for level in reversed(range(len(layers))):
            occupied = cells_of(layers[level])
            # The cells above and below which a brick is held.
            hold = 0
            for adjacent in (level - 1, level + 1):
                if 0 <= adjacent < len(layers):
                    hold |= cells_of(layers[adjacent])
            free = [
                spot
                for spot in spots[level]
                if spot.cells & hold and not spot.cells & occupied
            ]
            additions = exchange(greedy_layer(free, hold, level), free)
            if additions:
                layers[level] += additions
                growing = True
