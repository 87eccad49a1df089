"""Packing of prisms: prompts, fresh lists whose best density is known, and a solver."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.pack_rectangular_prisms.baselines import baselines
from scbench.builders.pack_rectangular_prisms.packing import Size, pack, sections_for, slab_height
from scbench.builders.shared.builder import Builder, Point, prompt_template, reply_as
from scbench.builders.shared.parameters import parameter
from scbench.schemas.pack_rectangular_prisms import Answer, Params, Prisms

_DRAWS = 200
_PACKINGS = 10
"""Lists that one draw may fail to pack."""
_DENSE = 95
"""Percent that count as full where a perfect packing is impossible."""
_EDGES = range(2, 51)
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)

_PROMPT = prompt_template(__name__)


class Space(Point):
    """Parameters of fresh lists."""

    kinds: int = parameter(3, "number of different sizes", ge=1, le=10)
    max_count: int = parameter(12, "most prisms of one size; there are at least two", ge=2, le=50)
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
    primes: bool = parameter(False, "whether edges are prime; not with perfect packings to order")
    plates: bool = parameter(False, "whether one size is 1 thick")
    cubes: bool = parameter(False, "whether large cubes, which dominate the volume, come on top")


class TaskBuilder(Builder[Params, Answer, Space]):
    """Lists of prisms of which a dense packing is known."""

    task = "pack_rectangular_prisms"
    version = 2

    def words(self, params: Params) -> dict[str, object]:
        """Return the list, its volume and the score."""
        counts = _counts(params)
        lines = [
            f"- {line.count} of size {' x '.join(map(str, line.size))}" for line in params.prisms
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

    def prompt(self, params: Params) -> str:
        """Return the list and the rules."""
        return _PROMPT.format(**self.words(params)) + reply_as(
            '{"boxes": [{"XyzMin": [x, y, z], "XyzMax": [x, y, z]}, ...]}'
        )

    def reference(self, params: Params) -> Answer:
        """Stack slabs and fill the rest with blocks."""
        packing = pack(_counts(params), params.full_marks_percent)
        boxes = [_corners(*box) for box in packing.boxes]
        return Answer.model_validate({"boxes": [_entry(low, high) for low, high in boxes]})

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return packings with one mistake each, and answers that older graders let through."""
        packing = pack(_counts(params), params.full_marks_percent)
        boxes = [_corners(*box) for box in packing.boxes]
        *head, last = boxes
        low, high = last
        small = min(_counts(params), key=math.prod)
        up = max(box[1][2] for box in boxes) - min(box[0][2] for box in boxes)
        wrong: dict[str, Sequence[tuple[Sequence[JsonValue], Sequence[JsonValue]]]] = {
            "empty": [],
            "one_missing": head,
            "one_repeated": [*boxes, last],
            "smallest_kind_left_out": [b for b in boxes if _size(*b) != small],
            "one_edge_too_long": [*head, (low, (high[0], high[1], high[2] + 1))],
            "one_edge_too_short": [*head, (low, (high[0], high[1], high[2] - 1))],
            "extra_without_volume": [*boxes, (low, low)],
            "extras_that_cancel": [*boxes, ((0, 0, 0), (1, 1, 1)), ((1, 1, 1), (2, 2, 0))],
            "extra_upside_down": [*boxes, (high, low)],
            "corners_exchanged": [(high, low) for low, high in boxes],
            "one_corner_exchanged": [
                *head,
                ((low[0], low[1], high[2]), (high[0], high[1], low[2])),
            ],
            "corner_and_edges": [
                (low, tuple(h - l for l, h in zip(low, high, strict=True))) for low, high in boxes
            ],
            "half_numbers": [
                ([v + 0.5 for v in low], [v + 0.5 for v in high]) for low, high in boxes
            ],
            "strings": [([str(v) for v in low], [str(v) for v in high]) for low, high in boxes],
            "booleans": [([False, False, False], high), *head],
            "without_height": [(low[:2], high[:2]) for low, high in boxes],
        }
        if len(boxes) > 1:
            wrong["one_far_up"] = [*head, ((*low[:2], low[2] + up), (*high[:2], high[2] + up))]
            # Moved onto another: their lower corners agree, so they overlap.
            there = boxes[0][0]
            wrong["two_in_one_place"] = [
                *head,
                (there, tuple(t + h - l for t, l, h in zip(there, low, high, strict=True))),
            ]
        row = _in_a_row(params)
        around = math.prod(max(high[axis] for _, high in row) for axis in range(3))
        if not _dense_enough(_counts(params), around, params.full_marks_percent):
            wrong["all_in_a_row"] = row
        answers: dict[str, JsonValue] = {
            name: {"boxes": [_entry(low, high) for low, high in example]}
            for name, example in wrong.items()
        }
        entries: list[JsonValue] = [_entry(low, high) for low, high in boxes]
        answers["no_boxes"] = {}
        answers["bare_list"] = entries
        answers["list_of_answers"] = [{"boxes": entries}, {"boxes": []}]
        answers["one_without_corner"] = {"boxes": [*entries[:-1], {"XyzMin": list(low)}]}
        return answers

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return two rows of all prisms, and a greedy packing."""
        return baselines(params)

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

        Raises:
            GenerationError: nothing in 200 draws, or ten lists that cannot be packed well.
        """
        loose = draws = 0
        while draws < _DRAWS and loose < _PACKINGS:
            draws += 1
            lines = _layers(point, rng) if point.perfect == "possible" else _chain(point, rng)
            if lines is None:
                continue
            counts = Counter({_ascending(size): n for size, n in lines})
            if len(counts) > 2 and _plain_stack(counts):
                continue
            impossible = not perfect_boxes(counts)
            if (
                impossible
                if point.perfect == "possible"
                else (point.perfect == "impossible" and not impossible)
            ):
                continue
            percent = _DENSE if impossible else 100
            try:
                pack(counts, percent)
            except GenerationError:
                loose += 1
                continue
            prisms = tuple(Prisms(count=n, size=size) for size, n in lines)
            return Params(prisms=prisms, full_marks_percent=percent)
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
        all(slab_height(size, section) for size in counts) for section in sections_for(counts)
    )


def _chain(point: Space, rng: Stream) -> list[tuple[Size, int]] | None:
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
    return _finish_lines(point, sizes, [rng.between(2, point.max_count) for _ in sizes], rng)


def _layers(point: Space, rng: Stream) -> list[tuple[Size, int]] | None:
    """Draw whole layers of one box, some of them cut into equal parts or into two."""
    pool = [e for e in _EDGES if e <= point.max_edge]
    a, b = rng.choice(pool), rng.choice(pool)
    sizes, counts = [[a, b, rng.choice(pool)]], [rng.between(2, point.max_count)]
    while len(sizes) < point.kinds:
        (first_edge, second_edge), thick = rng.choice([(a, b), (b, a)]), rng.choice(pool)
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
    return sorted(zip(ordered, counts, strict=True), key=lambda line: math.prod(line[0]))


def _counts(params: Params) -> Counter[Size]:
    counts: Counter[Size] = Counter()
    for line in params.prisms:
        counts[_ascending(line.size)] += line.count
    return counts


def _volume(counts: Mapping[Size, int]) -> int:
    return sum(math.prod(size) * n for size, n in counts.items())


def _dense_enough(counts: Mapping[Size, int], volume: int, percent: int) -> bool:
    return _volume(counts) * 100 >= volume * percent


def _ascending(edges: Sequence[int]) -> Size:
    a, b, c = sorted(edges)
    return a, b, c


def _corners(at: Size, extent: Size) -> tuple[Size, Size]:
    return at, (at[0] + extent[0], at[1] + extent[1], at[2] + extent[2])


def _size(low: Size, high: Size) -> Size:
    return _ascending([h - l for l, h in zip(low, high, strict=True)])


def _entry(low: Sequence[JsonValue], high: Sequence[JsonValue]) -> dict[str, JsonValue]:
    return {"XyzMin": list(low), "XyzMax": list(high)}


def _in_a_row(params: Params) -> list[tuple[Size, Size]]:
    """Place all prisms one behind the other, as they are listed."""
    x = 0
    row: list[tuple[Size, Size]] = []
    for line in params.prisms:
        a, b, c = line.size
        for _ in range(line.count):
            row.append(_corners((x, 0, 0), (a, b, c)))
            x += a
    return row
