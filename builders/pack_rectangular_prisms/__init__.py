"""Packing of prisms: place all prisms of a list into a box that is as small as possible.

An example of the puzzle, with a perfect answer in a box of 2 x 2 x 3:

    - 2 of size 2 x 1 x 1
    - 2 of size 2 x 2 x 1

    {"boxes": [{"XyzMin": [0, 0, 0], "XyzMax": [2, 2, 1]},
               {"XyzMin": [0, 0, 1], "XyzMax": [2, 2, 2]},
               {"XyzMin": [0, 0, 2], "XyzMax": [2, 1, 3]},
               {"XyzMin": [0, 1, 2], "XyzMax": [2, 2, 3]}]}

For fresh lists, the best density is known.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any, Literal

import numpy as np
from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.pack_rectangular_prisms.layers import layered_packing
from scbench.builders.pack_rectangular_prisms.packing import (
    Counts,
    Placement,
    Size,
    ascending,
    pack,
    perfect_boxes,
    sections_for,
    slab_height,
    volume_of,
)
from scbench.builders.shared.builder import Builder, Point, parameter, under
from scbench.graders.pack_rectangular_prisms import grade
from scbench.schemas.pack_rectangular_prisms import Answer, Params, Prisms

# Maximum number of lists that one draw tries; hard requirements multiply it.
_DRAWS = 200
# Maximum number of lists that one draw may fail to pack.
_PACKINGS = 40
# Density in percent that gets full marks if a perfect packing is impossible.
_DENSE = 95
_EDGES = range(2, 51)
# Maximum number of divisions tried for a room.
_DIVISIONS = 8
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
# Maximum number of prisms for the greedy packing; its time grows with the number cubed.
_LARGEST_LIST = 200
# The two corners of a box.
Corners = tuple[Sequence[JsonValue], Sequence[JsonValue]]
# The two corners of a box in an answer of the right form.
WholeCorners = tuple[Sequence[int], Sequence[int]]


class Space(Point):
    """Parameters of fresh lists."""

    kinds: int = parameter(3, "number of different sizes", ge=1, le=12)
    max_count: int = parameter(
        12, "largest number of prisms of one size; the smallest is 2", ge=2, le=50
    )
    max_edge: int = parameter(11, "longest edge", ge=5, le=50)
    shared: int = parameter(
        2,
        "number of edges that a size shares with the previous size; more is easier. It has no "
        "effect if perfect is possible",
        ge=0,
        le=2,
    )
    perfect: Literal["any", "possible", "impossible"] = parameter(
        "any", "whether the prisms can fill a box without a gap"
    )
    primes: bool = parameter(
        False,
        "whether edge lengths are prime numbers; no effect if perfect is possible",
    )
    plates: bool = parameter(
        False, "whether the prisms of one size have a thickness of 1"
    )
    cubes: bool = parameter(
        False, "whether large cubes, which dominate the volume, are added"
    )
    greedy: float = parameter(
        1.0, "highest score that a greedy packing may reach", gt=0, le=1
    )
    rooms: bool = parameter(
        False,
        "whether a perfect packing is split into rooms whose layers do not line up; otherwise, "
        "layers extend across the whole box",
        later=True,
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Lists of prisms for which a dense packing is known."""

    task = "pack_rectangular_prisms"
    version = 4
    draws = 3
    form = '{"boxes": [{"XyzMin": [x, y, z], "XyzMax": [x, y, z]}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the list of prisms, its volume, and the sentence on the score."""
        counts = stock_of(params.prisms)
        lines = []
        for prisms in params.prisms:
            size = " x ".join(map(str, prisms.size))
            lines.append(f"- {prisms.count} of size {size}")
        score = "The score is the density."
        if params.full_marks_percent < 100:
            full = f"{params.full_marks_percent / 100:g}"
            score = f"The score is the density divided by {full}, at most 1."
        return {
            "n": sum(counts.values()),
            "volume": volume_of(counts),
            "lines": "\n".join(lines),
            "score": score,
        }

    def reference(self, params: Params) -> Answer:
        """Stack slabs and fill the space above with blocks."""
        boxes = [(box.at, box.end) for box in packing_of(params)]
        return Answer.model_validate({"boxes": box_list(boxes)})

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return packings with one mistake each, and answers that older graders accepted."""
        placements = packing_of(params)
        counts = stock_of(params.prisms)
        smallest = min(counts, key=math.prod)
        boxes = [(box.at, box.end) for box in placements]
        *head, last = boxes
        low, high = last
        x, y, z = low
        u, v, w = high
        larger_kinds = [
            (box.at, box.end) for box in placements if ascending(box.extent) != smallest
        ]
        wrong: dict[str, Sequence[Corners]] = {
            "empty": [],
            "one_missing": head,
            "one_repeated": [*boxes, last],
            "smallest_kind_left_out": larger_kinds,
            "one_edge_too_long": [*head, (low, (u, v, w + 1))],
            "one_edge_too_short": [*head, (low, (u, v, w - 1))],
            "extra_without_volume": [*boxes, (low, low)],
            "extras_that_cancel": [
                *boxes,
                ((0, 0, 0), (1, 1, 1)),
                ((1, 1, 1), (2, 2, 0)),
            ],
            "extra_upside_down": [*boxes, (high, low)],
            "corners_exchanged": [(end, start) for start, end in boxes],
            "one_corner_exchanged": [*head, ((x, y, w), (u, v, z))],
            "corner_and_edges": [(box.at, box.extent) for box in placements],
            "half_numbers": [
                (half_further(start), half_further(end)) for start, end in boxes
            ],
            "strings": [
                (list(map(str, start)), list(map(str, end))) for start, end in boxes
            ],
            "booleans": [([False, False, False], high), *head],
            "without_height": [(start[:2], end[:2]) for start, end in boxes],
        }
        if head:
            bottom = min(start[2] for start, _ in boxes)
            height = max(end[2] for _, end in boxes) - bottom
            wrong["one_far_up"] = [*head, ((x, y, z + height), (u, v, w + height))]
            # Moved onto another prism: their lower corners are equal, so they overlap.
            overlap = placements[-1]._replace(at=placements[0].at)
            wrong["two_in_one_place"] = [*head, (overlap.at, overlap.end)]
        row = prism_row(sizes_of(params))
        if volume_of(counts) * 100 < box_volume(row) * params.full_marks_percent:
            wrong["all_in_a_row"] = row
        answers = under(
            "boxes", {name: box_list(mistake) for name, mistake in wrong.items()}
        )
        entries = box_list(boxes)
        without_corner: dict[str, JsonValue] = {"XyzMin": list(low)}
        answers["no_boxes"] = {}
        answers["bare_list"] = entries
        answers["list_of_answers"] = [{"boxes": entries}, {"boxes": []}]
        answers["one_without_corner"] = {"boxes": [*entries[:-1], without_corner]}
        return answers

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return the packing moved and mirrored, with a gap, and with one prism set apart."""
        boxes = [(box.at, box.end) for box in packing_of(params)]
        packings: dict[str, list[WholeCorners]] = {
            "moved_and_mirrored": [mirrored(corners) for corners in boxes],
            "with_a_gap": with_a_gap(boxes),
            "one_put_aside": with_one_aside(boxes),
        }
        volume = volume_of(stock_of(params.prisms))
        faults: dict[str, tuple[JsonValue, float]] = {}
        for name, packing in packings.items():
            density = volume / box_volume(packing)
            score = min(1.0, 100 * density / params.full_marks_percent)
            faults[name] = ({"boxes": box_list(packing)}, score)
        return faults

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return rows of all prisms, a pile of whole layers, and a greedy packing."""
        sizes = [ascending(size) for size in sizes_of(params)]
        packings = {
            "one row, end to end": prism_row([size[::-1] for size in sizes]),
            "one row, face to face": prism_row(sizes),
        }
        layered = layered_packing(stock_of(params.prisms))
        if layered:
            packings["whole layers of one size each"] = layered
        if len(sizes) <= _LARGEST_LIST:
            packings["greedy packing"] = greedy_packing(sizes)
        return under("boxes", {name: box_list(packings[name]) for name in packings})

    def measure(self, params: Params) -> float:
        """Return the number of sizes times that of edges: with more edges, fewer faces match."""
        edges = {edge for prisms in params.prisms for edge in prisms.size}
        return len(params.prisms) * len(edges)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw sizes and numbers until their best density is known.

        The box of a perfect packing has integer edges whose product is the volume, and every prism
        fits into it. If there is no such box, a perfect packing is impossible; if the solver finds
        one, it is possible. All other lists are discarded. So are lists that the solver packs too
        loosely, and lists of three or more sizes that all stack in one column.
        """
        loose = 0
        draws = 0
        most = _DRAWS if point.greedy == 1 else 10 * _DRAWS
        if point.rooms:
            # Only a few sets of rooms have no dense pile of layers, and a set is drawn quickly.
            most *= 5
        draw_prisms = draw_sharing
        if point.perfect == "possible":
            draw_prisms = draw_rooms if point.rooms else draw_layers
        while draws < most and loose < _PACKINGS:
            draws += 1
            prisms = draw_prisms(point, rng)
            if prisms is None:
                continue
            counts = stock_of(prisms)
            # Three sizes or more that all stack in one column are too easy.
            if len(counts) > 2 and is_one_stack(counts):
                continue
            is_possible = bool(perfect_boxes(counts))
            excluded = "impossible" if is_possible else "possible"
            if point.perfect == excluded:
                continue
            # The solver must reach this density.
            percent = 100 if is_possible else _DENSE
            params = Params(prisms=prisms, full_marks_percent=percent)
            # For most lists, the layers alone score too high, and they are quick to compute.
            if point.greedy < 1 and layers_score(params) > point.greedy:
                continue
            if self.has_baseline_above(point.greedy, params, grade):
                continue
            try:
                pack(counts, percent)
            except GenerationError:
                loose += 1
                continue
            return params
        raise GenerationError(
            f"{draws} draws gave no list of {point.kinds} sizes with a known best density; ask for "
            "fewer sizes, longer edges, or more shared ones"
        )


def stock_of(lines: Iterable[Prisms]) -> Counter[Size]:
    """Return the number of prisms of each size in a list."""
    counts: Counter[Size] = Counter()
    for prisms in lines:
        counts[ascending(prisms.size)] += prisms.count
    return counts


def sizes_of(params: Params) -> list[Size]:
    """Return the size of every prism, in the order of the list."""
    sizes: list[Size] = []
    for prisms in params.prisms:
        a, b, c = prisms.size
        sizes += [(a, b, c)] * prisms.count
    return sizes


def packing_of(params: Params) -> Sequence[Placement]:
    """Return the places of all prisms in the solver's packing."""
    return pack(stock_of(params.prisms), params.full_marks_percent).boxes


def half_further(corner: Sequence[int]) -> list[float]:
    """Return a corner moved by half a unit along each axis."""
    return [c + 0.5 for c in corner]


def mirrored(corners: WholeCorners) -> WholeCorners:
    """Return a box that is mirrored along x and moved along y."""
    (x, y, z), (u, v, w) = corners
    return (-u, y + 5, z), (-x, v + 5, w)


def with_a_gap(boxes: Sequence[WholeCorners]) -> list[WholeCorners]:
    """Move all boxes by 1 along x, except those with the lowest x."""
    first = min(low[0] for low, _ in boxes)
    packing: list[WholeCorners] = []
    for low, high in boxes:
        step = int(low[0] > first)
        x, *low_rest = low
        u, *high_rest = high
        packing.append(((x + step, *low_rest), (u + step, *high_rest)))
    return packing


def with_one_aside(boxes: Sequence[WholeCorners]) -> list[WholeCorners]:
    """Move the last box along z until it is clear of all others."""
    *other_boxes, (low, high) = boxes
    *low_plan, z = low
    *high_plan, w = high
    step = max(end[2] for _, end in boxes) - z
    return [*other_boxes, ((*low_plan, z + step), (*high_plan, w + step))]


def box_volume(boxes: Sequence[WholeCorners]) -> int:
    """Return the volume of the smallest box around all boxes."""
    lows, highs = zip(*boxes, strict=True)
    volume = 1
    for axis in range(3):
        start = min(low[axis] for low in lows)
        end = max(high[axis] for high in highs)
        volume *= end - start
    return volume


def box_list(boxes: Iterable[Corners]) -> list[JsonValue]:
    """Return boxes as an answer lists them."""
    return [{"XyzMin": list(low), "XyzMax": list(high)} for low, high in boxes]


def prism_row(sizes: Sequence[Size]) -> list[tuple[Size, Size]]:
    """Return the corners of prisms that follow each other along x."""
    row = []
    x = 0
    for a, b, c in sizes:
        row.append(((x, 0, 0), (x + a, b, c)))
        x += a
    return row


def layers_score(params: Params) -> float:
    """Return the score of the pile of whole layers; 0 if there is none."""
    boxes = layered_packing(stock_of(params.prisms))
    if not boxes:
        return 0.0
    answer = Answer.model_validate({"boxes": box_list(boxes)})
    return grade(params, answer).score


def greedy_packing(sizes: Sequence[Size]) -> list[tuple[Size, Size]]:
    """Place the prisms, the largest first, at the free corners that keep the box smallest."""
    low = np.zeros((0, 3), np.int64)
    high = np.zeros((0, 3), np.int64)
    corners = np.zeros((1, 3), np.int64)
    extent = np.zeros(3, np.int64)
    for size in sorted(sizes, key=lambda size: (-math.prod(size), size)):
        ways = np.array(sorted(set(permutations(size))))
        # There is a row for every way of turning the prism at every corner.
        at = np.repeat(corners, len(ways), axis=0)
        end = at + np.tile(ways, (len(corners), 1))
        occupied = np.zeros(len(at), bool)
        for start, stop in zip(low, high, strict=True):
            occupied |= ((at < stop) & (end > start)).all(axis=1)
        extents = np.maximum(end, extent)
        # Choose the smallest box; in a tie, the nearest to a cube, then the place nearest to 0.
        # The last key counts first.
        keys = (
            *at.T[::-1],
            at.sum(axis=1),
            extents.max(axis=1),
            extents.prod(axis=1),
            occupied,
        )
        best = np.lexsort(keys)[0]
        low = np.vstack([low, at[best]])
        high = np.vstack([high, end[best]])
        extent = extents[best]
        # The next prisms can start at the three corners next to this prism's lower corner.
        new = np.tile(at[best], (3, 1))
        np.fill_diagonal(new, end[best])
        corners = np.unique(np.vstack([corners, new]), axis=0)
    low_corners: list[Any] = low.tolist()
    high_corners: list[Any] = high.tolist()
    return list(zip(low_corners, high_corners, strict=True))


def is_one_stack(counts: Counts) -> bool:
    """Return whether all sizes are slabs of one section."""
    for section in sections_for(counts):
        if all(slab_height(size, section) for size in counts):
            return True
    return False


def draw_sharing(point: Space, rng: Stream) -> tuple[Prisms, ...] | None:
    """Draw sizes that each share edges with the previous one; None if two are the same."""
    edges = _PRIMES if point.primes else _EDGES
    pool = [edge for edge in edges if edge <= point.max_edge]
    size = [rng.choice(pool) for _ in range(3)]
    sizes = [size]
    while len(sizes) < point.kinds:
        size = rng.sample(size, point.shared)
        size += [rng.choice(pool) for _ in range(3 - point.shared)]
        sizes.append(size)
    lines = [(size, rng.between(2, point.max_count)) for size in sizes]
    return finish_list(point, lines, rng)


def draw_layers(point: Space, rng: Stream) -> tuple[Prisms, ...] | None:
    """Draw whole layers of one box, some of them cut into equal parts or into two."""
    pool = [edge for edge in _EDGES if edge <= point.max_edge]
    a = rng.choice(pool)
    b = rng.choice(pool)
    lines = [([a, b, rng.choice(pool)], rng.between(2, point.max_count))]
    while len(lines) < point.kinds:
        length, width = rng.choice([(a, b), (b, a)])
        thick = rng.choice(pool)
        divisors = [
            k
            for k in (2, 3, 4)
            if length % k == 0 and length // k > 1 and k <= point.max_count
        ]
        # One cut adds two sizes to the list, and no part has length 1.
        if len(lines) + 2 <= point.kinds and length > 4 and rng.chance(0.5):
            cut = rng.between(2, length - 2)
            n = rng.between(2, point.max_count)
            lines += [([cut, width, thick], n), ([length - cut, width, thick], n)]
        elif divisors:
            k = rng.choice(divisors)
            layers = rng.between(1, max(1, point.max_count // k))
            lines.append(([length // k, width, thick], k * layers))
        else:
            lines.append(([length, width, thick], rng.between(2, point.max_count)))
    return finish_list(point, lines, rng)


def draw_rooms(point: Space, rng: Stream) -> tuple[Prisms, ...] | None:
    """Draw a slab, and rooms above it that each have equal prisms; None if some would be too long.

    The space above the slab is cut repeatedly: each time, the longest room across its longest edge.
    Layers of neighbouring rooms usually have different heights, so no whole layers fill the space.
    """
    longest = point.max_edge
    a = rng.between(4, longest)
    b = rng.between(4, longest)
    slab: Sequence[int] = (a, b, rng.between(2, longest))
    rooms = [[a, b, rng.between(6, 2 * longest)]]
    while len(rooms) < point.kinds - 1:
        room = max(rooms, key=max)
        axis = room.index(max(room))
        if room[axis] < 5:
            return None
        rooms.remove(room)
        cut = rng.between(2, room[axis] - 2)
        for length in (cut, room[axis] - cut):
            part = room.copy()
            part[axis] = length
            rooms.append(part)
    lines = [(list(slab), 2)]
    for room in rooms:
        tiles = tiles_of(room, point, rng)
        if tiles is None:
            return None
        lines.append(tiles)
    return finish_list(point, lines, rng)


def tiles_of(
    room: Sequence[int], point: Space, rng: Stream
) -> tuple[list[int], int] | None:
    """Divide a room into equal prisms along random axes; return their edges and their number.

    Return None if every attempt gives a single prism, or prisms that are too long.
    """
    for _ in range(_DIVISIONS):
        size = list(room)
        count = 1
        for axis in rng.sample(range(3), 3):
            most = point.max_count // count
            numbers = [
                k
                for k in range(1, most + 1)
                if size[axis] % k == 0 and size[axis] // k > 1
            ]
            k = rng.choice(numbers)
            size[axis] //= k
            count *= k
        if count > 1 and max(size) <= point.max_edge:
            return size, count
    return None


def finish_list(
    point: Space, lines: list[tuple[list[int], int]], rng: Stream
) -> tuple[Prisms, ...] | None:
    """Add plates and cubes to sizes and counts, and sort by volume; None if sizes are equal."""
    if point.plates:
        size, n = lines[-1]
        lines[-1] = ([1, *sorted(size)[1:]], n)
    if point.cubes:
        longest = max(max(size) for size, _ in lines)
        lines.append(([3 * longest] * 3, rng.between(2, point.max_count)))
    prisms = [Prisms(count=n, size=ascending(size)[::-1]) for size, n in lines]
    if len({line.size for line in prisms}) < len(prisms):
        return None
    return tuple(sorted(prisms, key=lambda line: math.prod(line.size)))
