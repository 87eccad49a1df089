"""Prisms in their box, by size: the box in pieces side by side, and its filled share."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scbench.base.wording import counted
from scbench.report.draw.scene import (
    Lines,
    Marks,
    Mesh,
    Points,
    Scene,
    Shape,
    boxes,
    wire,
)
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Legend, Panel, Picture, Verdicts
from scbench.schemas.pack_rectangular_prisms import Answer, Params

# Maximum number of boxes drawn.
MOST_BOXES = 700
# Maximum number of marked overlapping pairs, and of labelled wrong boxes.
MOST_PAIRS = 50
MOST_LABELS = 10
# Maximum number of sizes with missing prisms named in a caption.
MOST_SIZES = 2
AXES = "xyz"
# Gap between the pieces of a cut box, as a multiple of its width.
GAP = 0.6
# Approximate ratio of width to height of all pieces side by side.
WIDENESS = 1.5
# Boxes with larger coordinates are not drawn.
FARTHEST = 10**12
# Only boxes within this multiple of the size that the prisms need are drawn.
BEYOND = 6.0
# Colours of the sizes, none of which marks faults.
ROLES = ("c0", "c5", "c2", "c3", "c4", "rock", "c6", "c7", "given")
# Pixels of the diagram of the filled share.
PROFILE_WIDTH = 340
PROFILE_HEIGHT = 246
FAULTS = {
    "corners": "{n} without volume",
    "sizes": "{n} not of a listed size",
    "overlap": "{n} pairs overlap|{n} pair overlaps",
    "resource_limit": "too many boxes to grade",
}

Mask = npt.NDArray[np.bool_]
# Start and end of a piece of a cut box along its longest side.
Piece = tuple[float, float]


class Packing(NamedTuple):
    """The drawn boxes, with axes ordered from the packing's shortest side to its longest.

    Attributes:
        low: lowest corners, shape (n, 3).
        high: highest corners, shape (n, 3).
        positions: position of each box in the answer's list.
        kinds: line of the instance with the size of each box; -1 for none.
        faults: fault of each wrong box, by position.
        order: axes of the answer that are drawn as the first, second and third.
        overlaps: pairs of positions.
        far: number of boxes too far away to be drawn.
    """

    low: Points
    high: Points
    positions: list[int]
    kinds: list[int]
    faults: dict[int, str]
    order: tuple[int, ...]
    overlaps: list[tuple[int, int]]
    far: int

    @property
    def ends(self) -> tuple[Points, Points]:
        """Lowest and highest corner of all boxes."""
        return self.low.min(axis=0), self.high.max(axis=0)

    @property
    def faulty(self) -> Mask:
        """Whether each box has a fault."""
        return np.array([i in self.faults for i in self.positions], dtype=bool)


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the prisms by size; with an answer, the packing with overlaps and gaps marked."""
    if answer is None:
        return sizes_picture(params)
    packing = packing_of(params, answer, verdicts)
    caption = answer_caption(answer, packing, verdicts)
    if not packing.positions:
        empty = Scene((Marks(np.zeros((1, 3)), "quiet", 0, ("no boxes",)),))
        return Picture((Panel("the packing", empty, caption),), caption)
    legend = size_legend(params, sorted(set(packing.kinds)))
    legend.append(("wrong", "boxes that overlap or have a wrong size (numbered)"))
    pieces = pieces_of(packing)
    title = "the packing"
    if len(pieces) > 1:
        axis = AXES[packing.order[2]]
        title = f"the packing, cut along {axis} into {len(pieces)} pieces"
    incomplete = verdicts.failures.get("counts", ())
    scene = packing_scene(params, packing, pieces, incomplete)
    panels = [Panel(title, scene, caption)]
    if len(packing.faults) < len(packing.positions):
        panels.append(
            Panel("filled share of the cross-section", fill_profile(packing), caption)
        )
        legend.append(("right", "filled"))
        empty_words = "empty (hatched)"
        if incomplete:
            empty_words = "empty (hatched) or not placed (dashed)"
        legend.append(("missing", empty_words))
    return Picture(tuple(panels), caption, tuple(legend))


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the boxes for a file, one mesh for each size."""
    if answer is None:
        return []
    packing = packing_of(params, answer, Verdicts())
    meshes = []
    for kind in sorted(set(packing.kinds)):
        mask = np.array(packing.kinds) == kind
        low = packing.low[mask].tolist()
        high = packing.high[mask].tolist()
        role = "wrong"
        name = ""
        if kind >= 0:
            role = size_role(kind)
            name = size_words(params, kind)
        meshes.append(boxes(zip(low, high, strict=True), role, name=name))
    return meshes


def sizes_picture(params: Params) -> Picture:
    """Return a picture with one prism of each size."""
    longest = max(max(line.size) for line in params.prisms)
    parts: list[Shape] = []
    x = 0.0
    for kind, line in enumerate(params.prisms):
        a, b, c = sorted(map(float, line.size))
        # The prisms are upright, so that the row is not much wider than high.
        low = (x, 0, 0)
        high = (x + a, b, c)
        name = size_words(params, kind)
        parts.append(boxes([(low, high)], size_role(kind), name=name))
        x += a + 0.2 * longest
    count = sum(line.count for line in params.prisms)
    caption = (
        f"Pack {counted(count, 'prism')} of {counted(len(params.prisms), 'size')} into the "
        "smallest box. The picture shows one prism of each size."
    )
    legend = size_legend(params, range(len(params.prisms)))
    panel = Panel("one of each size", Scene(tuple(parts), azimuth=-70), caption)
    return Picture((panel,), caption, tuple(legend))


def size_legend(params: Params, kinds: Sequence[int]) -> Legend:
    """Return a line for each size of the instance."""
    return [(size_role(kind), size_words(params, kind)) for kind in kinds if kind >= 0]


def size_role(kind: int) -> str:
    """Return the colour of a size; -1 is a size that the instance does not list."""
    return ROLES[kind % len(ROLES)] if kind >= 0 else "quiet"


def size_words(params: Params, kind: int) -> str:
    """Return the number and size of the prisms in a line."""
    line = params.prisms[kind]
    return f"{line.count} of {side_words(line.size)}"


def side_words(sides: Sequence[object]) -> str:
    """Return the sides of a box in words."""
    return " x ".join(map(str, sides))


def packing_of(params: Params, answer: Answer, verdicts: Verdicts) -> Packing:
    """Return the boxes of an answer as they are drawn."""
    entries = answer.boxes[:MOST_BOXES]
    positions = []
    low = []
    high = []
    for i, entry in enumerate(entries):
        ends = list(zip(entry.XyzMin, entry.XyzMax, strict=True))
        # Answers may give the corners the wrong way round.
        lowest = [min(pair) for pair in ends]
        highest = [max(pair) for pair in ends]
        if max(map(abs, lowest + highest)) < FARTHEST:
            positions.append(i)
            low.append(lowest)
            high.append(highest)
    lows = np.array(low, dtype=np.float64).reshape(-1, 3)
    highs = np.array(high, dtype=np.float64).reshape(-1, 3)
    volume = sum(line.count * math.prod(line.size) for line in params.prisms)
    near = near_most(lows, highs, volume)
    rows = np.flatnonzero(near).tolist()
    extent = np.zeros(3)
    if rows:
        extent = highs[near].max(axis=0) - lows[near].min(axis=0)
    order = tuple(np.argsort(extent, kind="stable").tolist())
    kinds = kinds_by_size(params)
    kinds_of_boxes = []
    for k in rows:
        sides = sorted(int(b - a) for a, b in zip(low[k], high[k], strict=True))
        kinds_of_boxes.append(kinds.get(tuple(sides), -1))
    return Packing(
        low=lows[near][:, order],
        high=highs[near][:, order],
        positions=[positions[k] for k in rows],
        kinds=kinds_of_boxes,
        faults=box_faults(verdicts),
        order=order,
        overlaps=overlapping_pairs(verdicts),
        far=len(entries) - len(rows),
    )


def kinds_by_size(params: Params) -> dict[tuple[int, ...], int]:
    """Return the first line of the instance with each size, with sorted sides."""
    kinds: dict[tuple[int, ...], int] = {}
    for kind, line in enumerate(params.prisms):
        kinds.setdefault(tuple(sorted(line.size)), kind)
    return kinds


def near_most(low: Points, high: Points, volume: int) -> Mask:
    """Return a mask of the boxes near most others, so that far boxes do not shrink the view.

    Args:
        low: lowest corners, shape (n, 3).
        high: highest corners, shape (n, 3).
        volume: total volume of the instance's prisms.
    """
    if not len(low):
        return np.zeros(0, dtype=bool)
    middles = (low + high) / 2
    middle = np.median(middles, axis=0)
    spread = np.quantile(np.abs(middles - middle), 0.75, axis=0, method="lower")
    reach = BEYOND * np.maximum(spread, volume ** (1 / 3))
    low_near = np.abs(low - middle) <= reach
    high_near = np.abs(high - middle) <= reach
    near: Mask = np.all(low_near & high_near, axis=1)
    return near


def overlapping_pairs(verdicts: Verdicts) -> list[tuple[int, int]]:
    """Return the first pairs of positions that overlap."""
    return [(a, b) for a, b in verdicts.failures.get("overlap", ())[:MOST_PAIRS]]


def box_faults(verdicts: Verdicts) -> dict[int, str]:
    """Return the first fault of each box, by its position."""
    faults: dict[int, str] = {}
    for i in verdicts.failures.get("corners", ()):
        faults.setdefault(i, "no volume")
    for i in verdicts.failures.get("sizes", ()):
        faults.setdefault(i, "not listed")
    for a, b in overlapping_pairs(verdicts):
        faults.setdefault(a, f"overlaps {b}")
        faults.setdefault(b, f"overlaps {a}")
    return faults


def pieces_of(packing: Packing) -> list[Piece]:
    """Return the pieces that a long box is cut into along its longest side."""
    low, high = packing.ends
    shortest, _, longest = np.maximum(high - low, 1e-9).tolist()
    width = max(shortest, 1e-3 * longest)
    count = 1
    if longest > 4 * width:
        count = max(2, round(math.sqrt(WIDENESS * longest / (width * (1 + GAP)))))
    cuts: list[float] = np.linspace(low[2], high[2], count + 1).tolist()
    return list(pairwise(cuts))


def packing_scene(
    params: Params,
    packing: Packing,
    pieces: list[Piece],
    incomplete: Sequence[Mapping[str, Any]],
) -> Scene:
    """Return the packing in pieces side by side, then the prisms that were not placed.

    Args:
        params: the instance.
        packing: its boxes.
        pieces: the pieces.
        incomplete: lines of the instance with missing boxes, from the verdict.
    """
    low, high = packing.ends
    step = (1 + GAP) * float(high[0] - low[0])
    length = pieces[0][1] - pieces[0][0]
    parts: list[Shape] = []
    parts += box_meshes(params, packing, pieces, step)
    parts += piece_frames(packing, pieces, step)
    parts += fault_labels(packing, pieces, step)
    start = (float(low[0]) + len(pieces) * step, float(low[1]))
    parts += unplaced_boxes(incomplete, start, 0.2 * length)
    return Scene(tuple(parts), azimuth=-65, elevation=22)


def box_meshes(
    params: Params, packing: Packing, pieces: list[Piece], step: float
) -> list[Mesh]:
    """Return the boxes by size, the wrong ones, and the overlaps."""
    faulty = packing.faulty
    # Otherwise wrong boxes inside would be hidden.
    opacity = 0.25 if faulty.any() else 1.0
    meshes = []
    for kind in sorted(set(packing.kinds)):
        mask = (np.array(packing.kinds) == kind) & ~faulty
        ends = cut_boxes(packing.low[mask], packing.high[mask], pieces, step)
        if ends:
            name = size_words(params, kind) if kind >= 0 else "not listed"
            meshes.append(boxes(ends, size_role(kind), opacity=opacity, name=name))
    ends = cut_boxes(packing.low[faulty], packing.high[faulty], pieces, step)
    if ends:
        meshes.append(boxes(ends, "wrong", opacity=0.45, name="wrong boxes"))
    ends = cut_boxes(*shared_boxes(packing), pieces, step)
    if ends:
        meshes.append(boxes(ends, "wrong", name="where boxes overlap"))
    return meshes


def cut_boxes(
    low: Points, high: Points, pieces: list[Piece], step: float
) -> list[tuple[list[float], list[float]]]:
    """Return the parts of boxes in each piece, the pieces side by side."""
    cuttings: list[tuple[list[float], list[float]]] = []
    for k, (start, end) in enumerate(pieces):
        a = low.copy()
        b = high.copy()
        if len(pieces) > 1:
            inside = (high[:, 2] > start) & (low[:, 2] < end)
            a = low[inside]
            b = high[inside]
        a[:, 2] = np.clip(a[:, 2], start, end)
        b[:, 2] = np.clip(b[:, 2], start, end)
        shift = np.array([k * step, 0.0, -start])
        cuttings += zip((a + shift).tolist(), (b + shift).tolist(), strict=True)
    return cuttings


def shared_boxes(packing: Packing) -> tuple[Points, Points]:
    """Return the lowest and highest corners of spaces that two boxes share."""
    rows = {i: k for k, i in enumerate(packing.positions)}
    first = []
    second = []
    for a, b in packing.overlaps:
        if a in rows and b in rows:
            first.append(rows[a])
            second.append(rows[b])
    i = np.array(first, dtype=np.int64)
    j = np.array(second, dtype=np.int64)
    low = np.maximum(packing.low[i], packing.low[j])
    high = np.minimum(packing.high[i], packing.high[j])
    return low, high


def piece_frames(
    packing: Packing, pieces: list[Piece], step: float
) -> list[Lines | Marks]:
    """Return the outline of each piece, with the ends of the cut below it."""
    low, high = packing.ends
    length = pieces[0][1] - pieces[0][0]
    parts: list[Lines | Marks] = []
    labels = []
    places = []
    for k, (start, end) in enumerate(pieces):
        corner = np.array([low[0] + k * step, low[1], start - pieces[k][0]])
        size = np.array([high[0] - low[0], high[1] - low[1], end - start])
        opposite = corner + size
        parts.append(wire(corner.tolist(), opposite.tolist(), "ink", width=1.2))
        # With many pieces, only a short label fits.
        labels.append(f"{start:g} to {end:g}" if len(pieces) <= 2 else f"{start:.0f}")
        places.append(corner + size * (0.5, 0, 0) - (0, 0, 0.05 * length))
    parts.append(Marks(np.array(places), "quiet", 0, tuple(labels)))
    return parts


def fault_labels(packing: Packing, pieces: list[Piece], step: float) -> list[Marks]:
    """Return labels for wrong boxes, unless there are too many to read."""
    faulty = np.flatnonzero(packing.faulty).tolist()
    if not faulty or len(faulty) > MOST_LABELS:
        return []
    places = []
    labels = []
    for k in faulty:
        x, y, z = ((packing.low[k] + packing.high[k]) / 2).tolist()
        piece = 0
        while piece < len(pieces) - 1 and z > pieces[piece][1]:
            piece += 1
        places.append((x + piece * step, y, z - pieces[piece][0]))
        i = packing.positions[k]
        labels.append(f"{i} {packing.faults[i]}")
    return [Marks(np.array(places), "wrong", 0, tuple(labels))]


def unplaced_boxes(
    lines: Sequence[Mapping[str, Any]], start: tuple[float, float], least: float
) -> list[Lines | Marks]:
    """Return a dashed box for each size with unplaced prisms, each of at least a given length."""
    x, y = start
    parts: list[Lines | Marks] = []
    for line in lines:
        missing = line["listed"] - line["placed"]
        if missing <= 0:
            continue
        sides = sorted(map(float, line["size"]))
        # Small boxes are enlarged to be visible.
        stretch = max(1.0, least / sides[2])
        a, b, c = (side * stretch for side in sides)
        box = ((x, y, 0), (x + b, y + a, c))
        outline = boxes([box], "missing").outline
        parts.append(Lines(outline, "missing", 2, dashed=True, name="not placed"))
        place = np.array([[x + b / 2, y, 1.15 * c]])
        parts.append(Marks(place, "missing", 0, (f"{missing} missing",)))
        x += 1.6 * b
    return parts


def fill_profile(packing: Packing) -> Drawing:
    """Return a diagram: the filled share of the cross-section along the longest side."""
    low, high = packing.ends
    width = PROFILE_WIDTH
    height = PROFILE_HEIGHT
    drawing = Drawing((-36, -30, width + 20, height + 10), size=width + 56, margin=4)
    drawing.box((0, 0), (width, height), "missing", hatched=True)
    ends, shares = cross_section_shares(packing)
    if shares:
        length = max(float(high[2] - low[2]), 1e-9)
        xs = ((ends - low[2]) / length * width).tolist()
        outline = [(0.0, 0.0)]
        for (start, stop), share in zip(pairwise(xs), shares, strict=True):
            y = height * share
            outline += [(start, y), (stop, y)]
        outline.append((float(width), 0.0))
        drawing.area(outline, "paper")
        drawing.area(outline, "right", opacity=0.6, edge="right", width=1)
    drawing.box((0, 0), (width, height), "paper", opacity=0, edge="ink", width=1)
    drawing.text((-4, 0), "0 %", "quiet", size=10, anchor="end")
    drawing.text((-4, height), "100 %", "quiet", size=10, anchor="end")
    drawing.text((0, -10), f"{low[2]:g}", "quiet", size=10)
    drawing.text((width, -10), f"{high[2]:g}", "quiet", size=10)
    middle = width / 2
    drawing.text((middle, -10), f"along {AXES[packing.order[2]]}", "quiet", size=10)
    return drawing


def cross_section_shares(packing: Packing) -> tuple[Points, list[float]]:
    """Return the places where boxes start or end, and the filled share from each to the next."""
    low, high = packing.ends
    width, depth, _ = high - low
    section_area = max(float(width * depth), 1e-9)
    starts = packing.low[:, 2]
    stops = packing.high[:, 2]
    ends = np.unique(np.concatenate([starts, stops]))
    middles = (ends[:-1] + ends[1:]) / 2
    # Whether each box is at each middle, shape (middles, boxes).
    is_there = (starts < middles[:, None]) & (middles[:, None] < stops)
    sides = packing.high - packing.low
    areas = sides[:, 0] * sides[:, 1]
    shares = np.minimum(is_there @ areas / section_area, 1.0)
    return ends, shares.tolist()


def answer_caption(answer: Answer, packing: Packing, verdicts: Verdicts) -> str:
    """Return the figures of an answer."""
    count = len(answer.boxes)
    parts = [counted(count, "box", "boxes")]
    if count > MOST_BOXES:
        parts.append(f"the first {MOST_BOXES} are drawn")
    if packing.far:
        parts.append(f"{packing.far} too far away to draw")
    parts += verdicts.faults(FAULTS)
    if verdicts:
        for line in verdicts.failures.get("counts", ())[:MOST_SIZES]:
            size = side_words(line["size"])
            parts.append(
                f"{line['placed']} of {line['listed']} prisms of size {size} placed"
            )
        metrics = verdicts.metrics
        if "efficiency" in metrics:
            extent = metrics["extent"]
            box = f"their box of {side_words(extent)}" if extent else "their box"
            parts.append(f"they fill {metrics['efficiency']:.2%} of {box}")
        parts.append(verdicts.fraction)
    return "; ".join(parts) + "."
