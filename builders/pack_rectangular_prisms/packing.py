"""Packs boxes into one of a fixed section by stacking slabs and filling the rest with blocks.

Boxes that match the section on two axes become slabs. All others go into the rest of the column:
a block of equal boxes into one corner, then the same again in the three boxes that guillotine cuts
leave around it. Random choices are tried again and again, in columns of growing height.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, permutations
from typing import NamedTuple

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream

Size = tuple[int, int, int]
Counts = Mapping[Size, int]
"""How many boxes of each size there are; edges ascending."""

_SECTIONS = 2
_TRIES = 150
_FILLINGS = 1000
"""Bounds on the work: sections tried, fillings at each height, fillings in each section."""


class Placement(NamedTuple):
    """A box at its place."""

    at: Size
    extent: Size


@dataclass(frozen=True)
class Packing:
    """Where every box lies, and the box around all of them."""

    boxes: tuple[Placement, ...]
    extent: Size

    @property
    def volume(self) -> int:
        """Of the box around."""
        return math.prod(self.extent)


def pack(counts: Counts, percent: int) -> Packing:
    """Return the densest packing found, the same at every call.

    Args:
        counts: what to pack; at least one box.
        percent: share of the box around that has to be filled.

    Raises:
        GenerationError: none was found that is so dense.
    """
    return _pack(tuple(sorted(counts.items())), percent)


@lru_cache(maxsize=64)
def _pack(items: tuple[tuple[Size, int], ...], percent: int) -> Packing:
    counts = dict(items)
    volume = sum(math.prod(size) * n for size, n in items)
    limit = volume * 100 // percent
    best: Packing | None = None
    for section in sections_for(counts)[:_SECTIONS]:
        packing = _column(counts, section, limit)
        if packing is not None:
            best, limit = packing, packing.volume - 1
        if limit < volume:
            break
    if best is None:
        raise GenerationError(
            f"no packing of {sum(n for _, n in items)} boxes found that fills {percent} %"
        )
    return best


def sections_for(counts: Counts) -> list[tuple[int, int]]:
    """Return sections that every box fits through, those with the most slabs first.

    Sections without slabs only count if there are no others.
    """
    edges = {edge for size in counts for edge in size}
    edges |= {2 * edge for edge in edges}
    narrow = max(size[0] for size in counts)
    broad = max(size[1] for size in counts)
    slabs = {
        (a, b): sum(math.prod(size) * n for size, n in counts.items() if slab_height(size, (a, b)))
        for a, b in combinations_with_replacement(sorted(edges), 2)
        if a >= narrow and b >= broad
    }
    useful = [section for section, volume in slabs.items() if volume] or list(slabs)
    return sorted(useful, key=lambda section: (-slabs[section], math.prod(section)))


def slab_height(size: Size, section: tuple[int, int]) -> int | None:
    """Return the height of a box that matches a section on its other two axes."""
    edges = list(size)
    for edge in section:
        if edge not in edges:
            return None
        edges.remove(edge)
    return edges[0]


def _column(counts: Counts, section: tuple[int, int], max_volume: int) -> Packing | None:
    """Return a packing with this section and at most this volume, as low as found."""
    a, b = section
    boxes: list[Placement] = []
    unmatched: Counter[Size] = Counter()
    top = 0
    for size, n in counts.items():
        height = slab_height(size, section)
        if height is None:
            unmatched[size] = n
            continue
        for _ in range(n):
            boxes.append(Placement((0, 0, top), (a, b, height)))
            top += height
    if not unmatched:
        return Packing(tuple(boxes), (a, b, top)) if a * b * top <= max_volume else None
    need = sum(math.prod(size) * n for size, n in unmatched.items())
    height = -(-need // (a * b))
    for k in range(_FILLINGS):
        if a * b * (top + height) > max_volume:
            return None
        rng = Stream("box packing", section, sorted(unmatched.items()), k)
        filled = _filled((a, b, height), unmatched, rng)
        if filled is not None:
            boxes += [Placement((x, y, z + top), extent) for (x, y, z), extent in filled]
            return Packing(tuple(boxes), (a, b, top + height))
        if k % _TRIES == _TRIES - 1:
            height += 1 + height // 50
    return None


def _filled(room: Size, counts: Counts, rng: Stream) -> list[Placement] | None:
    """Fill a room with all boxes, or return None."""
    stock = dict(counts)
    placements: list[Placement] = []
    waiting: list[Placement] = [Placement((0, 0, 0), room)]
    spare = math.prod(room) - sum(math.prod(size) * n for size, n in counts.items())
    while waiting and stock:
        # The smallest room first: small boxes fit anywhere, large ones only where it is wide.
        k = min(range(len(waiting)), key=lambda k: math.prod(waiting[k].extent))
        at, extent = waiting.pop(k)
        block = _block(extent, stock, rng)
        if block is None:
            spare -= math.prod(extent)
            if spare < 0:
                return None
            continue
        size, numbers = block
        for i in range(numbers[0]):
            for j in range(numbers[1]):
                for l in range(numbers[2]):
                    corner = at[0] + i * size[0], at[1] + j * size[1], at[2] + l * size[2]
                    placements.append(Placement(corner, size))
        key = _ascending(size)
        stock[key] -= math.prod(numbers)
        if not stock[key]:
            del stock[key]
        waiting += _around(at, extent, size, numbers, rng)
    return None if stock else placements


def _block(room: Size, stock: Counts, rng: Stream) -> tuple[Size, Size] | None:
    """Choose a block for a room's corner: the extent of its boxes, and their numbers."""
    best: tuple[int, Size, Size] | None = None
    for kind, n in stock.items():
        volume = math.prod(kind)
        for size in _turned(kind):
            numbers = _numbers(room, size, n, rng)
            if numbers is None:
                continue
            matches = sum(e * m == r for e, m, r in zip(size, numbers, room, strict=True))
            worth = (4**matches) * volume * rng.between(2, 8)
            if best is None or worth > best[0]:
                best = worth, size, numbers
    return None if best is None else best[1:]


def _turned(kind: Size) -> list[Size]:
    return sorted({(a, b, c) for a, b, c in permutations(kind)})


def _numbers(room: Size, size: Size, n: int, rng: Stream) -> Size | None:
    """Choose how many boxes stand along each axis, the shortest axes of the room first."""
    limits = [r // e for r, e in zip(room, size, strict=True)]
    if 0 in limits:
        return None
    numbers = [1, 1, 1]
    for axis in sorted(range(3), key=lambda axis: room[axis]):
        fit = min(limits[axis], n // math.prod(numbers))
        exact = fit * size[axis] == room[axis]
        numbers[axis] = fit if exact or rng.below(2) else rng.between(1, fit)
    return numbers[0], numbers[1], numbers[2]


def _around(at: Size, room: Size, size: Size, numbers: Size, rng: Stream) -> Iterator[Placement]:
    """Yield the rooms around a block, cut off one axis after the other."""
    axes = [0, 1, 2]
    rng.shuffle(axes)
    corner, extent = list(at), list(room)
    for axis in axes:
        used = size[axis] * numbers[axis]
        if used < extent[axis]:
            place, remainder = list(corner), list(extent)
            place[axis] += used
            remainder[axis] -= used
            yield Placement(
                (place[0], place[1], place[2]), (remainder[0], remainder[1], remainder[2])
            )
        extent[axis] = used


def _ascending(size: Size) -> Size:
    a, b, c = sorted(size)
    return a, b, c
