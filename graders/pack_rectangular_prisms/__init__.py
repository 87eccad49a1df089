"""Are exactly the listed prisms packed without overlap, and how full is their bounding box?

All in whole numbers: each box has positive extents that are those of a listed prism, every prism is
there exactly as often as listed, and only the extent of the packing counts, not where it lies.
Positions in messages and details are those of the answer's list.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.pack_rectangular_prisms import Answer, Params

VERSION = 1

CHECKS = {
    "corners": "On every axis XyzMax is greater than XyzMin.",
    "sizes": "Every box has the edge lengths of a listed prism, in some order.",
    "counts": "Every listed prism is placed exactly as often as it is listed.",
    "overlap": "No two boxes overlap.",
    "density": "The boxes fill as much of their bounding box as full marks ask for.",
}

Corners = tuple[Sequence[int], Sequence[int]]
Size = tuple[int, ...]


class _Frame(NamedTuple):
    counts: Counter[Size]
    """How many prisms of each size there are, edges ascending."""
    volume: int
    """Of all prisms together."""


@lru_cache(maxsize=256)
def _frame(params: Params) -> _Frame:
    counts: Counter[Size] = Counter()
    for line in params.prisms:
        counts[tuple(sorted(line.size))] += line.count
    return _Frame(
        counts, sum(math.prod(size) * count for size, count in counts.items())
    )


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the share of the bounding box that is filled, over that which full marks ask for."""
    frame = _frame(params)
    checks = Checklist(CHECKS)
    box_count, prism_count = len(answer.boxes), frame.counts.total()
    if box_count > 2 * prism_count + 50:
        return checks.too_large(
            f"{box_count} boxes are listed; there are {prism_count} prisms."
        )
    boxes = [(box.XyzMin, box.XyzMax) for box in answer.boxes]
    proper = _judge_sizes(checks, frame, boxes)
    pairs = overlapping(boxes, proper)
    fault = "pairs of boxes overlap"
    checks.forbid_many(
        "overlap",
        pairs,
        fault,
        lambda pair: f"are those at positions {pair[0]} and {pair[1]}",
    )
    if not checks.all_passed:
        checks.skip("density", "The boxes are not a packing of the listed prisms.")
        return checks.binary()
    extent = [
        max(high[axis] for _, high in boxes) - min(low[axis] for low, _ in boxes)
        for axis in range(3)
    ]
    volume = math.prod(extent)
    # Quotients of whole numbers are rounded once, however long these are.
    full = 100 * frame.volume >= params.full_marks_percent * volume
    score = 1.0 if full else 100 * frame.volume / (params.full_marks_percent * volume)
    figures = {
        "efficiency": frame.volume / volume,
        # Numbers this long say nothing and may not even be printable.
        "extent": extent if max(extent) < 10**15 else None,
    }
    wrong = (
        f"The boxes fill {100 * frame.volume / volume:.4f} % of their bounding box; full marks ask "
        f"for {params.full_marks_percent} %."
    )
    checks.expect("density", full, wrong, **figures)
    return checks.partial(score, **figures)


def _judge_sizes(
    checks: Checklist, frame: _Frame, boxes: Sequence[Corners]
) -> list[int]:
    """Check every box by itself and their numbers; return positions of boxes with a volume."""
    proper: list[int] = []
    improper: list[int] = []
    unlisted: list[int] = []
    tally: Counter[Size] = Counter()
    for i, ((x, y, z), (u, v, w)) in enumerate(boxes):
        size = tuple(sorted((u - x, v - y, w - z)))
        if size[0] <= 0:
            improper.append(i)
            continue
        proper.append(i)
        if size in frame.counts:
            tally[size] += 1
        else:
            unlisted.append(i)
    fault = f"of {len(boxes)} boxes have an XyzMax that is not greater than their XyzMin on every axis"
    checks.forbid_many("corners", improper, fault, lambda i: f"is that at position {i}")
    fault = f"of {len(boxes)} boxes are no listed prism"
    checks.forbid_many("sizes", unlisted, fault, lambda i: f"is that at position {i}")
    wrong = [
        {"size": list(size), "placed": tally[size], "listed": count}
        for size, count in frame.counts.items()
        if tally[size] != count
    ]
    checks.forbid(
        "counts",
        wrong,
        lambda line: (
            f"{line['placed']} prisms of size {line['size']} are placed and {line['listed']} are "
            f"listed; {len(wrong)} sizes have a wrong number."
        ),
    )
    return proper


def overlapping(
    boxes: Sequence[Corners], places: Iterable[int]
) -> list[tuple[int, int]]:
    """Return the pairs of boxes that share some volume, in order of their positions.

    Of the boxes, smallest and largest corners, those at the places are looked at; all have a
    volume.
    """
    at = list(places)
    if not at:
        return []
    # Sweep along the axis on which boxes are short compared with the whole.
    axis = min(range(3), key=lambda axis: _crowding(axis, boxes, at))
    p, q = (axis + 1) % 3, (axis + 2) % 3
    active: list[tuple[int, int, int, int, int, int]] = []
    pairs: list[tuple[int, int]] = []
    for i in sorted(at, key=lambda i: boxes[i][0][axis]):
        low, high = boxes[i]
        begin, west, east, bottom, top = low[axis], low[p], high[p], low[q], high[q]
        active = [box for box in active if box[0] > begin]
        pairs += [
            (box[5], i) if box[5] < i else (i, box[5])
            for box in active
            if box[1] < east and box[2] > west and box[3] < top and box[4] > bottom
        ]
        active.append((high[axis], west, east, bottom, top, i))
    return sorted(pairs)


def _crowding(axis: int, boxes: Sequence[Corners], at: Sequence[int]) -> int:
    """Return how often boxes cover the whole along an axis, in thousandths."""
    total = sum(boxes[i][1][axis] - boxes[i][0][axis] for i in at)
    extent = max(boxes[i][1][axis] for i in at) - min(boxes[i][0][axis] for i in at)
    return 1000 * total // extent
