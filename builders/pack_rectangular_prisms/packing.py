"""A solver that packs boxes into a small box.

Boxes that match a section on two axes become slabs of a column. All others fill the space above:
a block of equal boxes goes into one corner, and the three rooms that guillotine cuts leave around
it are filled in the same way. The solver repeatedly makes random choices, in columns of growing
height.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, permutations, product
from typing import NamedTuple

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream

# Limits on the work: sections tried, fillings at each height, fillings in each section.
_SECTIONS = 2
_TRIES = 150
_FILLINGS = 1000
# Edges or coordinates along x, y and z.
Size = tuple[int, int, int]
# Number of boxes of each size; the edges of a size are ascending.
Counts = Mapping[Size, int]


class Placement(NamedTuple):
    """A box at its place: its corner nearest to 0, and its edges."""

    at: Size
    extent: Size

    @property
    def end(self) -> Size:
        """The corner farthest from 0."""
        (x, y, z), (a, b, c) = self
        return x + a, y + b, z + c


class Packing(NamedTuple):
    """The places of all boxes, and the extent of the box around them."""

    boxes: tuple[Placement, ...]
    extent: Size


class Block(NamedTuple):
    """Equal boxes side by side: their edges, and their number along each axis."""

    size: Size
    numbers: Size


def pack(counts: Counts, percent: int) -> Packing:
    """Return the densest packing that the solver finds, always the same one.

    Raises:
        GenerationError: no packing that fills this percentage was found.
    """
    return _pack(tuple(sorted(counts.items())), percent)


@lru_cache(maxsize=64)
def _pack(items: tuple[tuple[Size, int], ...], percent: int) -> Packing:
    """Return the densest packing of these sizes and counts that the solver finds."""
    counts = dict(items)
    volume = volume_of(counts)
    limit = volume * 100 // percent
    best: Packing | None = None
    for section in sections_for(counts)[:_SECTIONS]:
        packing = pack_column(counts, section, limit)
        if packing is not None:
            best = packing
            # The next section counts only if it gives a smaller box.
            limit = math.prod(packing.extent) - 1
        if limit < volume:
            break
    if best is None:
        raise GenerationError(
            f"no packing of {sum(counts.values())} boxes found that fills {percent} %"
        )
    return best


def volume_of(counts: Counts) -> int:
    """Return the volume of all boxes."""
    return sum([math.prod(size) * n for size, n in counts.items()])


def ascending(edges: Sequence[int]) -> Size:
    """Return the edges of a box from the shortest to the longest."""
    a, b, c = sorted(edges)
    return a, b, c


def perfect_boxes(counts: Counts) -> list[Size]:
    """Return the boxes that have the volume of all prisms and into which every prism fits.

    The edges of a box are ascending.
    """
    volume = volume_of(counts)
    least = [max(size[axis] for size in counts) for axis in range(3)]
    boxes: list[Size] = []
    for a in range(least[0], math.isqrt(volume) + 1):
        if volume % a or a**3 > volume:
            continue
        face = volume // a
        breadths = range(max(a, least[1]), math.isqrt(face) + 1)
        divisors = [b for b in breadths if face % b == 0]
        boxes += [(a, b, face // b) for b in divisors if face // b >= least[2]]
    return boxes


def sections_for(counts: Counts) -> list[tuple[int, int]]:
    """Return sections that every box fits through, those with the most slabs first.

    Sections without slabs are returned only if there are no others.
    """
    edges = {edge for size in counts for edge in size}
    edges |= {2 * edge for edge in edges}
    narrow = max(size[0] for size in counts)
    broad = max(size[1] for size in counts)
    # The volume of the slabs of each section.
    slabs = {}
    for section in combinations_with_replacement(sorted(edges), 2):
        if section[0] >= narrow and section[1] >= broad:
            matches = {s: n for s, n in counts.items() if slab_height(s, section)}
            slabs[section] = volume_of(matches)
    useful = [section for section, volume in slabs.items() if volume] or list(slabs)
    return sorted(useful, key=lambda section: (-slabs[section], math.prod(section)))


def slab_height(size: Size, section: tuple[int, int]) -> int | None:
    """Return the height of a box whose other two edges match a section; None if they do not."""
    edges = list(size)
    for edge in section:
        if edge not in edges:
            return None
        edges.remove(edge)
    return edges[0]


def pack_column(
    counts: Counts, section: tuple[int, int], max_volume: int
) -> Packing | None:
    """Return a low packing with this section and at most this volume, or None."""
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
    # The room must have at least the volume of the other boxes, so its height is rounded up.
    height = -(-volume_of(unmatched) // (a * b))
    for k in range(_FILLINGS):
        if a * b * (top + height) > max_volume:
            return None
        rng = Stream("box packing", section, sorted(unmatched.items()), k)
        filling = fill_room((a, b, height), unmatched, rng)
        if filling is not None:
            boxes += [Placement((x, y, z + top), size) for (x, y, z), size in filling]
            return Packing(tuple(boxes), (a, b, top + height))
        # After `_TRIES` fillings, the room grows by about 2 %, and by at least 1.
        if k % _TRIES == _TRIES - 1:
            height += 1 + height // 50
    return None


def fill_room(extent: Size, counts: Counts, rng: Stream) -> list[Placement] | None:
    """Fill a room with all boxes, by random choices; None if some do not fit."""
    stock = dict(counts)
    boxes: list[Placement] = []
    rooms = [Placement((0, 0, 0), extent)]
    spare = math.prod(extent) - volume_of(counts)
    while rooms and stock:
        # The smallest room comes first: small boxes fit anywhere, large ones only in wide rooms.
        smallest = min(range(len(rooms)), key=lambda k: math.prod(rooms[k].extent))
        room = rooms.pop(smallest)
        block = choose_block(room.extent, stock, rng)
        # A room in which no box fits is lost; the loss must not exceed the spare volume.
        if block is None:
            spare -= math.prod(room.extent)
            if spare < 0:
                return None
            continue
        x, y, z = room.at
        a, b, c = block.size
        for i, j, k in product(*map(range, block.numbers)):
            boxes.append(Placement((x + i * a, y + j * b, z + k * c), block.size))
        kind = ascending(block.size)
        stock[kind] -= math.prod(block.numbers)
        if not stock[kind]:
            del stock[kind]
        rooms += rooms_around(room, block, rng)
    return None if stock else boxes


def choose_block(room: Size, stock: Counts, rng: Stream) -> Block | None:
    """Choose a block for a corner of a room by fit, volume and chance."""
    best: Block | None = None
    best_worth = 0
    for kind, n in stock.items():
        volume = math.prod(kind)
        for size in sorted({(a, b, c) for a, b, c in permutations(kind)}):
            numbers = draw_numbers(room, size, n, rng)
            if numbers is None:
                continue
            matches = 0
            for edge, number, width in zip(size, numbers, room, strict=True):
                if edge * number == width:
                    matches += 1
            # Blocks that fill the room along an axis are worth most, as they leave fewer rooms.
            worth = 4**matches * volume * rng.between(2, 8)
            if worth > best_worth:
                best = Block(size, numbers)
                best_worth = worth
    return best


def draw_numbers(room: Size, size: Size, n: int, rng: Stream) -> Size | None:
    """Draw the number of boxes along each axis, beginning with the shortest axis of the room.

    None if the box does not fit.
    """
    limits = [width // edge for width, edge in zip(room, size, strict=True)]
    if 0 in limits:
        return None
    numbers = [1, 1, 1]
    for axis in sorted(range(3), key=lambda axis: room[axis]):
        fit = min(limits[axis], n // math.prod(numbers))
        is_exact = fit * size[axis] == room[axis]
        numbers[axis] = fit if is_exact or rng.below(2) else rng.between(1, fit)
    return numbers[0], numbers[1], numbers[2]


def rooms_around(room: Placement, block: Block, rng: Stream) -> Iterator[Placement]:
    """Yield the rooms around a block, cut off along one axis after the other."""
    axes = [0, 1, 2]
    rng.shuffle(axes)
    extent = list(room.extent)
    for axis in axes:
        length = block.size[axis] * block.numbers[axis]
        # The part beyond the block becomes a room.
        if length < extent[axis]:
            place = list(room.at)
            place[axis] += length
            remainder = list(extent)
            remainder[axis] -= length
            yield Placement(
                (place[0], place[1], place[2]),
                (remainder[0], remainder[1], remainder[2]),
            )
        extent[axis] = length
