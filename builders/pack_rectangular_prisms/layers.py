"""Packings in whole layers: each layer has prisms of one size, all turned the same way."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from scbench.builders.pack_rectangular_prisms.packing import Counts, Size, volume_of

# A layer is at most this many prisms wide along an axis.
_MOST_ACROSS = 4
# Maximum number of sections that are tried.
_SECTIONS = 400


class Layers(NamedTuple):
    """The layers of one size in a section."""

    size: Size
    """Edges along x, y and z."""
    across: int
    """Number of prisms along x."""
    prisms: int
    """Number of prisms in all layers."""
    height: int
    """Height of all layers of this size."""


def layered_packing(counts: Counts) -> list[tuple[Size, Size]]:
    """Return the corners of all prisms in the lowest pile of layers over the best section."""
    best: list[Layers] = []
    best_volume = math.inf
    least_volume = volume_of(counts)
    for a, b in sections(counts):
        pile = pile_in(counts, a, b)
        if pile is None:
            continue
        volume = a * b * sum(layers.height for layers in pile)
        if volume < best_volume:
            best = pile
            best_volume = volume
        if best_volume == least_volume:
            break  # no pile is smaller than its prisms
    return list(corners_of(best))


def sections(counts: Counts) -> list[tuple[int, int]]:
    """Return sections with multiples of edges as sides; those that can be filled come first."""
    edges = {edge for size in counts for edge in size}
    lengths = sorted({k * edge for edge in edges for k in range(1, _MOST_ACROSS + 1)})
    volume = volume_of(counts)
    pairs = [(a, b) for a in lengths for b in lengths if a <= b]
    pairs.sort(key=lambda pair: (volume % (pair[0] * pair[1]) > 0, pair[1] - pair[0]))
    return pairs[:_SECTIONS]


def pile_in(counts: Counts, a: int, b: int) -> list[Layers] | None:
    """Return the layers of all sizes in a section; None if a size does not fit through it."""
    pile = []
    for size, count in counts.items():
        lowest = lowest_layers(size, count, a, b)
        if lowest is None:
            return None
        pile.append(lowest)
    return pile


def lowest_layers(size: Size, count: int, a: int, b: int) -> Layers | None:
    """Return the layers of a size in a section, turned so that they are lowest; None if none fit.

    In a tie, the first way in the order of `turns_of` is used.
    """
    lowest: Layers | None = None
    for x, y, z in turns_of(size):
        per_layer = (a // x) * (b // y)
        if not per_layer:
            continue
        height = z * math.ceil(count / per_layer)
        if lowest is None or height < lowest.height:
            lowest = Layers((x, y, z), a // x, count, height)
    return lowest


@lru_cache(maxsize=1024)
def turns_of(size: Size) -> tuple[Size, ...]:
    """Return the edges along x, y and z for each way to turn a prism; the ways are sorted."""
    a, b, c = size
    turns = {(a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)}
    return tuple(sorted(turns))


def corners_of(pile: Sequence[Layers]) -> Iterator[tuple[Size, Size]]:
    """Yield the corners of the prisms in a pile of layers with the same section."""
    bottom = 0
    for layers in pile:
        x, y, z = layers.size
        # The number of prisms in a layer follows from the height.
        levels = layers.height // z
        per_layer = math.ceil(layers.prisms / levels)
        across = min(layers.across, per_layer)
        for k in range(layers.prisms):
            level, place = divmod(k, per_layer)
            row, column = divmod(place, across)
            low = (column * x, row * y, bottom + level * z)
            yield low, (low[0] + x, low[1] + y, low[2] + z)
        bottom += layers.height
