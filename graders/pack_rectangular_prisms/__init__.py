"""Grades a packing of the listed prisms by how full its bounding box is.

All numbers are integers. The bounding box may be anywhere. Positions in messages and
details count from 0 in the answer's list.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist, brief
from scbench.graders.shared.sentences import with_total
from scbench.schemas.pack_rectangular_prisms import Answer, Params

VERSION = 1

CHECKS = {
    "corners": "On every axis XyzMax is greater than XyzMin.",
    "sizes": "Every box has the edge lengths of a listed prism, in some order.",
    "counts": "Every listed prism is placed exactly as often as it is listed.",
    "overlap": "No two boxes overlap.",
    "density": "The boxes fill enough of their bounding box for a full score.",
}

# Longer edges of the packing are not reported: they may have too many digits to print.
_MAX_EXTENT = 10**15

# Smallest and largest corner of a box.
Corners = tuple[Sequence[int], Sequence[int]]
# Edges, ascending.
Size = tuple[int, ...]


class Prisms(NamedTuple):
    """The prisms of an instance."""

    counts: Counter[Size]
    """How many prisms of each size there are."""
    volume: int
    """The volume of all prisms together."""


class SweptBox(NamedTuple):
    """A box seen along the axis of a sweep; the ranges are those of the two other axes."""

    number: int
    end: int
    """Its largest coordinate along the axis."""
    west: int
    east: int
    bottom: int
    top: int


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the filled share of the bounding box, over the share required for full marks."""
    prisms = prisms_of(params)
    checks = Checklist(CHECKS)
    box_count = len(answer.boxes)
    prism_count = prisms.counts.total()
    if box_count > 2 * prism_count + 50:
        return checks.too_large(
            f"The answer lists {box_count} boxes for {counted(prism_count, 'prism')}."
        )
    boxes = [(box.XyzMin, box.XyzMax) for box in answer.boxes]
    with_volume = judge_sizes(checks, prisms, boxes)
    pairs = overlapping(boxes, with_volume)
    checks.forbid(
        "overlap",
        pairs,
        lambda pair: with_total(
            f"The boxes at positions {pair[0]} and {pair[1]} overlap",
            len(pairs),
            "pairs",
        ),
    )
    if not checks.all_passed:
        checks.skip("density", "The boxes are not a packing of the listed prisms.")
        return checks.binary()
    extent = []
    for axis in range(3):
        start = min(low[axis] for low, _ in boxes)
        end = max(high[axis] for _, high in boxes)
        extent.append(end - start)
    volume = math.prod(extent)
    # Quotients of integers of any length are rounded once.
    full = 100 * prisms.volume >= params.full_marks_percent * volume
    score = 1.0 if full else 100 * prisms.volume / (params.full_marks_percent * volume)
    figures = {
        "efficiency": prisms.volume / volume,
        "extent": extent if max(extent) < _MAX_EXTENT else None,
    }
    wrong = (
        f"The boxes fill {100 * prisms.volume / volume:.4f} % of their bounding box; a full score "
        f"requires {params.full_marks_percent} %."
    )
    checks.expect("density", full, wrong, **figures)
    return checks.partial(score, **figures)


@lru_cache(maxsize=256)
def prisms_of(params: Params) -> Prisms:
    """Return the prisms of an instance, cached for further answers to it."""
    counts: Counter[Size] = Counter()
    volume = 0
    for line in params.prisms:
        counts[tuple(sorted(line.size))] += line.count
        volume += math.prod(line.size) * line.count
    return Prisms(counts, volume)


def judge_sizes(
    checks: Checklist, prisms: Prisms, boxes: Sequence[Corners]
) -> list[int]:
    """Check every box and the number of boxes; return the positions of boxes with a volume."""
    with_volume: list[int] = []
    improper: list[int] = []
    unlisted: list[int] = []
    tally: Counter[Size] = Counter()
    for i, (low, high) in enumerate(boxes):
        size = edges_of(low, high)
        if size[0] <= 0:
            improper.append(i)
            continue
        with_volume.append(i)
        if size in prisms.counts:
            tally[size] += 1
        else:
            unlisted.append(i)
    checks.forbid(
        "corners",
        improper,
        lambda i: with_total(
            f"XyzMax of the box at position {i} is not greater than XyzMin on every axis",
            len(improper),
            "boxes",
        ),
    )
    checks.forbid(
        "sizes",
        unlisted,
        lambda i: with_total(
            f"The box at position {i}, of size {size_text(edges_of(*boxes[i]))}, is not a listed "
            "prism",
            len(unlisted),
            "boxes",
        ),
    )
    wrong: list[dict[str, Any]] = []
    for size, listed in prisms.counts.items():
        placed = tally[size]
        if placed != listed:
            wrong.append({"size": list(size), "placed": placed, "listed": listed})
    checks.forbid(
        "counts",
        wrong,
        lambda line: with_total(
            f"{counted(line['listed'], 'prism')} of size {size_text(line['size'])} must be "
            f"placed, but the answer has {line['placed']}",
            len(wrong),
            "sizes",
        ),
    )
    return with_volume


def edges_of(low: Sequence[int], high: Sequence[int]) -> Size:
    """Return the edges of a box, given its corners, ascending."""
    return tuple(sorted(b - a for a, b in zip(low, high, strict=True)))


def size_text(size: Sequence[int]) -> str:
    """Return the edges of a box as text, such as "2 x 3 x 5"."""
    return " x ".join(map(brief, size))


def overlapping(
    boxes: Sequence[Corners], places: Iterable[int]
) -> list[tuple[int, int]]:
    """Return the pairs of boxes that share some volume, in order of their positions.

    Only the boxes at these positions are compared; all of them have a volume.
    """
    positions = list(places)
    if not positions:
        return []
    compared = [boxes[i] for i in positions]
    # Sweep along the axis on which boxes are short compared with the whole.
    axis = min(range(3), key=lambda axis: crowding(axis, compared))
    p = (axis + 1) % 3
    q = (axis + 2) % 3
    active: list[SweptBox] = []
    pairs: list[tuple[int, int]] = []
    starts = {i: boxes[i][0] for i in positions}
    for i in sorted(positions, key=lambda i: starts[i][axis]):
        low, high = boxes[i]
        west = low[p]
        east = high[p]
        bottom = low[q]
        top = high[q]
        # Boxes that end before this one begins cannot meet later ones.
        active = [box for box in active if box.end > low[axis]]
        for index, _, left, right, below, above in active:
            if left < east and right > west and below < top and above > bottom:
                pair = (min(index, i), max(index, i))
                pairs.append(pair)
        active.append(SweptBox(i, high[axis], west, east, bottom, top))
    return sorted(pairs)


def crowding(axis: int, boxes: Sequence[Corners]) -> int:
    """Return the total length of boxes along an axis, in thousandths of the whole."""
    lows = [low[axis] for low, _ in boxes]
    highs = [high[axis] for _, high in boxes]
    return 1000 * (sum(highs) - sum(lows)) // (max(highs) - min(lows))
