"""Packing of prisms: prompts, fresh lists whose best density is known, and a solver.

Boxes that match a section on two axes become slabs of a column. All others fill what remains: a
block of equal boxes into one corner, then the same again in the three boxes that guillotine cuts
leave around it. Random choices are tried again and again, in columns of growing height.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, permutations, product
from typing import Literal, NamedTuple

import numpy as np
from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, parameter, under
from scbench.graders.pack_rectangular_prisms import grade
from scbench.schemas.pack_rectangular_prisms import Answer, Params, Prisms

_DRAWS = 200
# Lists that one draw may fail to pack.
_PACKINGS = 40
# Percent that count as full where a perfect packing is impossible.
_DENSE = 95
_EDGES = range(2, 51)
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
Size = tuple[int, int, int]
# Prisms that the greedy packing is tried with; its time grows with their cube.
_LARGEST_LIST = 200
# How many boxes of each size there are; edges ascending.
Counts = Mapping[Size, int]
_SECTIONS = 2
_TRIES = 150
# Bounds on the work: sections tried, fillings at each height, fillings in each section.
_FILLINGS = 1000


class Space(Point):
    """Parameters of fresh lists."""

    kinds: int = parameter(3, "number of different sizes", ge=1, le=10)
    max_count: int = parameter(
        12, "most prisms of one size; there are at least two", ge=2, le=50
    )
    max_edge: int = parameter(11, "longest edge", ge=5, le=50)
    shared: int = parameter(
        2,
        "edges that a size has in common with the one before it; more is easier. Lists "
        "with a perfect packing made to order share what their layers share",
        ge=0,
        le=2,
    )
    perfect: Literal["any", "possible", "impossible"] = parameter(
        "any", "whether the prisms can fill a box without a gap"
    )
    primes: bool = parameter(
        False, "whether edges are prime; not with perfect packings to order"
    )
    plates: bool = parameter(False, "whether one size is 1 thick")
    cubes: bool = parameter(
        False, "whether large cubes, which dominate the volume, come on top"
    )
    greedy: float = parameter(1.0, "most that a greedy packing may score", gt=0, le=1)


class TaskBuilder(Builder[Params, Answer, Space]):
    """Lists of prisms of which a dense packing is known."""

    task = "pack_rectangular_prisms"
    version = 3
    form = '{"boxes": [{"XyzMin": [x, y, z], "XyzMax": [x, y, z]}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the list, its volume and the score."""
        counts = _stock_of(params)
        lines = [
            f"- {line.count} of size {' x '.join(map(str, line.size))}"
            for line in params.prisms
        ]
        score = "The score is the density."
        if params.full_marks_percent < 100:
            full = f"{params.full_marks_percent / 100:g}"
            score = f"The score is the density divided by {full}, at most 1."
        return {
            "n": sum(counts.values()),
            "volume": _volume(counts),
            "lines": "\n".join(lines),
            "score": score,
        }

    def reference(self, params: Params) -> Answer:
        """Stack slabs and fill the rest with blocks."""
        packing = pack(_stock_of(params), params.full_marks_percent)
        boxes = [_corners(*box) for box in packing.boxes]
        return Answer.model_validate(
            {"boxes": [_box_entry(low, high) for low, high in boxes]}
        )

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return packings with one mistake each, and answers that older graders let through."""
        packing = pack(_stock_of(params), params.full_marks_percent)
        boxes = [_corners(*box) for box in packing.boxes]
        *head, last = boxes
        low, high = last
        small = min(_stock_of(params), key=math.prod)
        up = max(box[1][2] for box in boxes) - min(box[0][2] for box in boxes)
        wrong: dict[str, Sequence[tuple[Sequence[JsonValue], Sequence[JsonValue]]]] = {
            "empty": [],
            "one_missing": head,
            "one_repeated": [*boxes, last],
            "smallest_kind_left_out": [b for b in boxes if _sorted_size(*b) != small],
            "one_edge_too_long": [*head, (low, (high[0], high[1], high[2] + 1))],
            "one_edge_too_short": [*head, (low, (high[0], high[1], high[2] - 1))],
            "extra_without_volume": [*boxes, (low, low)],
            "extras_that_cancel": [
                *boxes,
                ((0, 0, 0), (1, 1, 1)),
                ((1, 1, 1), (2, 2, 0)),
            ],
            "extra_upside_down": [*boxes, (high, low)],
            "corners_exchanged": [(high, low) for low, high in boxes],
            "one_corner_exchanged": [
                *head,
                ((low[0], low[1], high[2]), (high[0], high[1], low[2])),
            ],
            "corner_and_edges": [
                (low, tuple(h - l for l, h in zip(low, high, strict=True)))
                for low, high in boxes
            ],
            "half_numbers": [
                ([v + 0.5 for v in low], [v + 0.5 for v in high]) for low, high in boxes
            ],
            "strings": [
                ([str(v) for v in low], [str(v) for v in high]) for low, high in boxes
            ],
            "booleans": [([False, False, False], high), *head],
            "without_height": [(low[:2], high[:2]) for low, high in boxes],
        }
        if len(boxes) > 1:
            wrong["one_far_up"] = [
                *head,
                ((*low[:2], low[2] + up), (*high[:2], high[2] + up)),
            ]
            # Moved onto another: their lower corners agree, so they overlap.
            there = boxes[0][0]
            wrong["two_in_one_place"] = [
                *head,
                (
                    there,
                    tuple(t + h - l for t, l, h in zip(there, low, high, strict=True)),
                ),
            ]
        lows, highs = _prism_row(
            [line.size for line in params.prisms for _ in range(line.count)]
        )
        around = math.prod(highs.max(axis=0).tolist())
        if _volume(_stock_of(params)) * 100 < around * params.full_marks_percent:
            wrong["all_in_a_row"] = list(
                zip(lows.tolist(), highs.tolist(), strict=True)
            )
        answers = under(
            "boxes",
            {
                name: [_box_entry(*box) for box in example]
                for name, example in wrong.items()
            },
        )
        entries: list[JsonValue] = [_box_entry(low, high) for low, high in boxes]
        answers["no_boxes"] = {}
        answers["bare_list"] = entries
        answers["list_of_answers"] = [{"boxes": entries}, {"boxes": []}]
        answers["one_without_corner"] = {
            "boxes": [*entries[:-1], {"XyzMin": list(low)}]
        }
        return answers

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return rows of all prisms, and what the greediest of packings makes."""
        sizes = [
            _ascending(line.size) for line in params.prisms for _ in range(line.count)
        ]
        packings = {
            "one row, end to end": _prism_row([(c, b, a) for a, b, c in sizes]),
            "one row, face to face": _prism_row(sizes),
        }
        if len(sizes) <= _LARGEST_LIST:
            packings["each where the box grows least"] = _greedy_packing(sizes)
        lists = {
            name: [
                _box_entry(*box)
                for box in zip(low.tolist(), high.tolist(), strict=True)
            ]
            for name, (low, high) in packings.items()
        }
        return under("boxes", lists)

    def measure(self, params: Params) -> float:
        """Return sizes by different edges: the more edges there are, the fewer faces match."""
        edges = {edge for line in params.prisms for edge in line.size}
        return len(params.prisms) * len(edges)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw sizes and numbers until it is known how dense they can be packed.

        A perfect packing has whole edges, whose product is the volume and between which every prism
        fits. Where no such edges exist it is impossible, and where the solver finds one it is not;
        other lists are thrown away, as are those that the solver packs too loosely and those of
        three sizes or more that all stack in one column.
        """
        loose = draws = 0
        most = _DRAWS if point.greedy == 1 else 10 * _DRAWS
        while draws < most and loose < _PACKINGS:
            draws += 1
            choose = _draw_layers if point.perfect == "possible" else _sharing_sizes
            lines = choose(point, rng)
            if lines is None:
                continue
            counts = Counter({_ascending(size): n for size, n in lines})
            if len(counts) > 2 and _plain_stack(counts):
                continue
            impossible = not perfect_boxes(counts)
            if point.perfect == ("possible" if impossible else "impossible"):
                continue
            percent = _DENSE if impossible else 100
            prisms = tuple(Prisms(count=n, size=size) for size, n in lines)
            params = Params(prisms=prisms, full_marks_percent=percent)
            if point.greedy < 1 and self.best_baseline(params, grade) > point.greedy:
                continue
            try:
                pack(counts, percent)
            except GenerationError:
                loose += 1
                continue
            return params
        raise GenerationError(
            f"no list of {point.kinds} sizes with a known best density in {draws} draws; ask for "
            "fewer sizes, longer edges, or more shared ones"
        )


def perfect_boxes(counts: Mapping[Size, int]) -> list[Size]:
    """Return the boxes, edges ascending, with the volume of all prisms into which each one fits."""
    volume = _volume(counts)
    least = [max(size[axis] for size in counts) for axis in range(3)]
    return [
        (a, b, volume // a // b)
        for a in range(least[0], math.isqrt(volume) + 1)
        if volume % a == 0 and a**3 <= volume
        for b in range(max(a, least[1]), math.isqrt(volume // a) + 1)
        if volume // a % b == 0 and volume // a // b >= least[2]
    ]


def _plain_stack(counts: Mapping[Size, int]) -> bool:
    return any(
        all(slab_height(size, section) for size in counts)
        for section in sections_for(counts)
    )


def _sharing_sizes(point: Space, rng: Stream) -> list[tuple[Size, int]] | None:
    """Draw sizes that each share edges with the one before; None if two are the same."""
    pool = [e for e in (_PRIMES if point.primes else _EDGES) if e <= point.max_edge]
    size = [rng.choice(pool) for _ in range(3)]
    sizes = [size]
    while len(sizes) < point.kinds:
        size = [
            *rng.sample(size, point.shared),
            *(rng.choice(pool) for _ in range(3 - point.shared)),
        ]
        sizes.append(size)
    return _finish_lines(
        point, sizes, [rng.between(2, point.max_count) for _ in sizes], rng
    )


def _draw_layers(point: Space, rng: Stream) -> list[tuple[Size, int]] | None:
    """Draw whole layers of one box, some of them cut into equal parts or into two."""
    pool = [e for e in _EDGES if e <= point.max_edge]
    a, b = rng.choice(pool), rng.choice(pool)
    sizes, counts = [[a, b, rng.choice(pool)]], [rng.between(2, point.max_count)]
    while len(sizes) < point.kinds:
        (first_edge, second_edge), thick = (
            rng.choice([(a, b), (b, a)]),
            rng.choice(pool),
        )
        parts = [
            k
            for k in (2, 3, 4)
            if first_edge % k == 0 and first_edge // k > 1 and k <= point.max_count
        ]
        if len(sizes) + 2 <= point.kinds and first_edge > 4 and rng.chance(0.5):
            cut, n = rng.between(2, first_edge - 2), rng.between(2, point.max_count)
            sizes += [[cut, second_edge, thick], [first_edge - cut, second_edge, thick]]
            counts += [n, n]
        elif parts:
            k = rng.choice(parts)
            sizes.append([first_edge // k, second_edge, thick])
            counts.append(k * rng.between(1, max(1, point.max_count // k)))
        else:
            sizes.append([first_edge, second_edge, thick])
            counts.append(rng.between(2, point.max_count))
    return _finish_lines(point, sizes, counts, rng)


def _finish_lines(
    point: Space, sizes: list[list[int]], counts: list[int], rng: Stream
) -> list[tuple[Size, int]] | None:
    """Add plates and cubes, and return lines with edges descending; None if sizes are equal."""
    if point.plates:
        sizes[-1] = [1, *sorted(sizes[-1])[1:]]
    if point.cubes:
        sizes = [*sizes, [3 * max(map(max, sizes))] * 3]
        counts = [*counts, rng.between(2, point.max_count)]
    ordered = [_ascending(size)[::-1] for size in sizes]
    if len(set(ordered)) < len(ordered):
        return None
    return sorted(
        zip(ordered, counts, strict=True), key=lambda line: math.prod(line[0])
    )


def _stock_of(params: Params) -> Counter[Size]:
    counts: Counter[Size] = Counter()
    for line in params.prisms:
        counts[_ascending(line.size)] += line.count
    return counts


def _volume(counts: Mapping[Size, int]) -> int:
    return sum(math.prod(size) * n for size, n in counts.items())


def _ascending(edges: Sequence[int]) -> Size:
    a, b, c = sorted(edges)
    return a, b, c


def _corners(at: Size, extent: Size) -> tuple[Size, Size]:
    return at, (at[0] + extent[0], at[1] + extent[1], at[2] + extent[2])


def _sorted_size(low: Size, high: Size) -> Size:
    return _ascending([h - l for l, h in zip(low, high, strict=True)])


def _box_entry(
    low: Sequence[JsonValue], high: Sequence[JsonValue]
) -> dict[str, JsonValue]:
    return {"XyzMin": list(low), "XyzMax": list(high)}


def _prism_row(sizes: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    extents = np.array(sizes)
    low = np.zeros_like(extents)
    low[1:, 0] = extents[:-1, 0].cumsum()
    return low, low + extents


def _greedy_packing(sizes: Sequence[Size]) -> tuple[np.ndarray, np.ndarray]:
    """Put prism after prism, the largest first, at a free corner where the box stays smallest."""
    low, high = np.zeros((0, 3), np.int64), np.zeros((0, 3), np.int64)
    corners = np.zeros((1, 3), np.int64)
    extent = np.zeros(3, np.int64)
    for size in sorted(sizes, key=lambda size: (-size[0] * size[1] * size[2], size)):
        ways = np.array(sorted(set(permutations(size))))
        at = np.repeat(corners, len(ways), axis=0)
        end = at + np.tile(ways, (len(corners), 1))
        occupied = np.zeros(len(at), bool)
        for start, stop in zip(low, high, strict=True):
            occupied |= ((at < stop) & (end > start)).all(axis=1)
        grown = np.maximum(end, extent)
        # The smallest box; of equal ones the one nearest to a cube, then the place nearest to 0.
        keys = (
            *at.T[::-1],
            at.sum(axis=1),
            grown.max(axis=1),
            grown.prod(axis=1),
            occupied,
        )
        best = np.lexsort(keys)[0]
        low, high = np.vstack([low, at[best]]), np.vstack([high, end[best]])
        extent = grown[best]
        new = np.tile(at[best], (3, 1))
        np.fill_diagonal(new, end[best])
        corners = np.unique(np.vstack([corners, new]), axis=0)
    return low, high


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
    """Return the densest packing found that fills so many percent, the same at every call.

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
        (a, b): sum(
            math.prod(size) * n
            for size, n in counts.items()
            if slab_height(size, (a, b))
        )
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


def _column(
    counts: Counts, section: tuple[int, int], max_volume: int
) -> Packing | None:
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
            boxes += [
                Placement((x, y, z + top), extent) for (x, y, z), extent in filled
            ]
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
        block = _choose_block(extent, stock, rng)
        if block is None:
            spare -= math.prod(extent)
            if spare < 0:
                return None
            continue
        size, numbers = block
        for i, j, l in product(*map(range, numbers)):
            corner = at[0] + i * size[0], at[1] + j * size[1], at[2] + l * size[2]
            placements.append(Placement(corner, size))
        key = _ascending(size)
        stock[key] -= math.prod(numbers)
        if not stock[key]:
            del stock[key]
        waiting += _around(at, extent, size, numbers, rng)
    return None if stock else placements


def _choose_block(room: Size, stock: Counts, rng: Stream) -> tuple[Size, Size] | None:
    """Choose a block for a room's corner: the extent of its boxes, and their numbers."""
    best: tuple[int, Size, Size] | None = None
    for kind, n in stock.items():
        volume = math.prod(kind)
        for size in sorted({(a, b, c) for a, b, c in permutations(kind)}):
            numbers = _box_counts(room, size, n, rng)
            if numbers is None:
                continue
            matches = sum(
                e * m == r for e, m, r in zip(size, numbers, room, strict=True)
            )
            worth = (4**matches) * volume * rng.between(2, 8)
            if best is None or worth > best[0]:
                best = worth, size, numbers
    return None if best is None else best[1:]


def _box_counts(room: Size, size: Size, n: int, rng: Stream) -> Size | None:
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


def _around(
    at: Size, room: Size, size: Size, numbers: Size, rng: Stream
) -> Iterator[Placement]:
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
                (place[0], place[1], place[2]),
                (remainder[0], remainder[1], remainder[2]),
            )
        extent[axis] = used
