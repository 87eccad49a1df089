"""Filling a round body with bricks on one lattice of studs, layer by layer.

A greedy choice per layer, then exchanges of one brick for two. With I and V as the grader has them,
a brick of which the share f lies in the target adds 2 f - 1/2 of its volume to the agreement, so it
is worth placing from a quarter on.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.graders.lego_hemispherical_shell.bricks import (
    HEIGHT,
    STUD,
    Body,
    Boxes,
    shared_volumes,
)

Placed = tuple[float, float, float, float]
"""x, y, z of the middle and the rotation in degrees."""

_LEAST_GAIN = 0.02
_SIDES = ((4, 2), (2, 4))
"""Cells along the long side of a brick."""


class _Spot(NamedTuple):
    """A place for a brick in one layer.

    Attributes:
        gain: what it adds to the agreement, in bricks.
        cells: its eight cells, as bits.
        column: its first cell along x.
        row: its first cell along y.
        turned: whether its long side lies along y.
    """

    gain: float
    cells: int
    column: int
    row: int
    turned: int


class Lattice(NamedTuple):
    """Cells of one stud by one layer around the axis.

    Attributes:
        width: cells along x, and along y.
        offset: of the lattice from the axis, along x and y, in millimetres.
        shares: (layers, width, width), how much of each cell lies in the target.
    """

    width: int
    offset: tuple[float, float]
    shares: NDArray[np.float64]


def lattice(target: Body, radius: float, offset: tuple[float, float]) -> Lattice:
    """Measure the cells of a lattice.

    Args:
        target: the body to fill.
        radius: of the largest circle around it, in millimetres.
        offset: of the lattice from the axis, in millimetres.
    """
    width = 2 * (int(radius / STUD) + 2)
    layers = int(target.outer.top / HEIGHT) + 1
    middle = (np.arange(width) - width / 2 + 0.5) * STUD
    level, x, y = np.meshgrid(
        np.arange(layers), middle + offset[0], middle + offset[1], indexing="ij"
    )
    low = HEIGHT * level.ravel()
    cells = Boxes(np.abs(x).ravel(), np.abs(y).ravel(), low, low + HEIGHT, (STUD / 2, STUD / 2))
    shares = shared_volumes(target, cells) / (STUD * STUD * HEIGHT)
    return Lattice(width, offset, shares.reshape(layers, width, width))


def fill(cells: Lattice) -> list[Placed]:
    """Place bricks that are all joined to the ground."""
    spots = [_spots(cells, level) for level in range(len(cells.shares))]
    placed: list[list[_Spot]] = []
    below = 0
    for level, candidates in enumerate(spots):
        standing = [spot for spot in candidates if spot.cells & below or not level]
        layer = _exchange(_greedy(standing, below, level % 2), standing)
        placed.append(layer)
        below = _union(layer)
    _hang(placed, spots)
    return [
        (*_middle(cells, spot), HEIGHT * (level + 0.5), 90.0 * spot.turned)
        for level, layer in enumerate(placed)
        for spot in sorted(layer, key=lambda spot: (spot.row, spot.column))
    ]


def _spots(cells: Lattice, level: int) -> list[_Spot]:
    """Return the places that are worth a brick."""
    found: list[_Spot] = []
    width = cells.width
    for turned, (a, b) in enumerate(_SIDES):
        windows = np.lib.stride_tricks.sliding_window_view(cells.shares[level], (a, b))
        gains = windows.mean(axis=(2, 3)) * 2 - 0.5
        block = sum(1 << (i * width + j) for i in range(a) for j in range(b))
        worth = gains > _LEAST_GAIN
        for (column, row), gain in zip(
            np.argwhere(worth).tolist(), gains[worth].tolist(), strict=True
        ):
            cells_under = block << (column * width + row)
            found.append(_Spot(round(gain, 6), cells_under, column, row, turned))
    return found


def _greedy(spots: list[_Spot], below: int, first: int) -> list[_Spot]:
    """Take spots from the best down, of equal ones those that bridge most cells below."""
    taken = 0
    layer: list[_Spot] = []
    for spot in sorted(
        spots,
        key=lambda spot: (
            -round(spot.gain, 2),
            -(spot.cells & below).bit_count(),
            spot.turned ^ first,
            spot.row,
            spot.column,
        ),
    ):
        if not spot.cells & taken:
            taken |= spot.cells
            layer.append(spot)
    return layer


def _exchange(layer: list[_Spot], spots: list[_Spot]) -> list[_Spot]:
    """Take one brick out and put two in, or a better one, until that helps no more."""
    begins = np.array([(spot.column, spot.row) for spot in spots]).reshape(-1, 2)
    ends = begins + np.array(_SIDES)[[spot.turned for spot in spots]]
    touching: dict[int, list[_Spot]] = {}
    improved = True
    while improved:
        improved = False
        taken = _union(layer)
        for old in list(layer):
            rest = taken & ~old.cells
            if old.cells not in touching:
                begin = np.array((old.column, old.row))
                touch = (begins < begin + _SIDES[old.turned]) & (begin < ends)
                touching[old.cells] = [spots[i] for i in touch.all(axis=1).nonzero()[0].tolist()]
            free = [s for s in touching[old.cells] if not s.cells & rest]
            best = max(_sets(free), key=_gain, default=(old,))
            if _gain(best) > old.gain + 1e-6:
                layer = [spot for spot in layer if spot is not old] + list(best)
                taken = _union(layer)
                improved = True
    return layer


def _sets(spots: list[_Spot]) -> Iterator[tuple[_Spot, ...]]:
    for i, spot in enumerate(spots):
        yield (spot,)
        for other in spots[:i]:
            if not spot.cells & other.cells:
                yield (spot, other)


def _gain(spots: tuple[_Spot, ...]) -> float:
    return sum(spot.gain for spot in spots)


def _union(spots: list[_Spot]) -> int:
    cells = 0
    for spot in spots:
        cells |= spot.cells
    return cells


def _hang(placed: list[list[_Spot]], spots: list[list[_Spot]]) -> None:
    """Add bricks that hang from the layer above, or stand on what hangs, until none is left."""
    more = True
    while more:
        more = False
        for level in reversed(range(len(placed))):
            taken = _union(placed[level])
            beside = [layer for layer in (level - 1, level + 1) if 0 <= layer < len(placed)]
            hold = 0
            for other in beside:
                hold |= _union(placed[other])
            free = [s for s in spots[level] if s.cells & hold and not s.cells & taken]
            added = _exchange(_greedy(free, hold, level % 2), free)
            placed[level] += added
            more |= bool(added)


def _middle(cells: Lattice, spot: _Spot) -> tuple[float, float]:
    a, b = _SIDES[spot.turned]
    x = (spot.column + a / 2 - cells.width / 2) * STUD + cells.offset[0]
    y = (spot.row + b / 2 - cells.width / 2) * STUD + cells.offset[1]
    return x, y
