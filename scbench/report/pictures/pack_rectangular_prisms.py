"""Prisms in their box: by size, cut into lengths side by side, with a measure of what is empty."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

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
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.schemas.pack_rectangular_prisms import Answer, Params

# Boxes drawn of an answer that lists more.
_MOST_BOXES = 700
_MOST_PAIRS = 50
_MOST_LABELS = 10
_AXES = "xyz"
# Room between the lengths of a cut box, in times its width.
_GAP = 0.6
_FARTHEST = 10**12
# Boxes are drawn where they are within so many times the size that the prisms need.
_BEYOND = 6.0

# Colours of the sizes: none is that of what is wrong.
_ROLES = ("c0", "c5", "c2", "c3", "c4", "rock", "c6", "c7", "given")


Ends = tuple[Points, Points]


class _Packing(NamedTuple):
    """What is drawn of the boxes, the shortest side of the whole first, the longest last."""

    low: Points
    high: Points
    at: list[int]
    """Position of each box in the answer's list."""
    kind: list[int]
    """Line of the instance that has its size; -1 for none."""
    wrong: dict[int, str]
    order: tuple[int, ...]
    """Which axes of the answer are drawn as the first, second and third."""
    overlaps: tuple[tuple[int, int], ...]
    """Pairs of positions."""
    far: int
    """How many boxes lie so far away that they are not drawn."""


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the prisms by size; with an answer the packing, overlaps and empty space marked."""
    if answer is None:
        return _instance(params)
    packing = _packing(params, answer, verdicts)
    caption = _caption(answer, packing, verdicts)
    used = sorted({k for k in packing.kind if k >= 0})
    legend = [(_role(k), _size_words(params, k)) for k in used]
    legend.append(("wrong", "overlapping boxes, or boxes of a wrong size (numbered)"))
    if not packing.at:
        empty = Scene((Marks(np.zeros((1, 3)), "quiet", 0, ("no boxes",)),))
        return Picture((Panel("the packing", empty, caption),), caption)
    title, pieces = _pieces(packing)
    lacking = verdicts.failures.get("counts", ())
    scene = _scene(params, packing, pieces, lacking)
    panels = [Panel(title, scene, caption)]
    if not packing.wrong or len(packing.wrong) < len(packing.at):
        panels.append(Panel("how full the box is", _fill_profile(packing), caption))
        legend += [
            ("right", "filled"),
            ("missing", "empty (hatched), or not placed (dashed)"),
        ]
    return Picture(tuple(panels), caption, tuple(legend))


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the boxes, one mesh for each size, to be written as a file."""
    if answer is None:
        return []
    packing = _packing(params, answer, Verdicts())
    ends = list(zip(packing.low.tolist(), packing.high.tolist(), strict=True))
    groups: dict[int, list[Any]] = {}
    for pair, kind in zip(ends, packing.kind, strict=True):
        groups.setdefault(kind, []).append(pair)
    return [
        boxes(
            group,
            _role(k) if k >= 0 else "wrong",
            name=_size_words(params, k) if k >= 0 else "",
        )
        for k, group in sorted(groups.items())
    ]


def _role(kind: int) -> str:
    return _ROLES[kind % len(_ROLES)] if kind >= 0 else "quiet"


def _size_words(params: Params, k: int) -> str:
    line = params.prisms[k]
    return f"{line.count} of {' x '.join(map(str, line.size))}"


def _instance(params: Params) -> Picture:
    parts: list[Shape] = []
    x, longest = 0.0, max(max(line.size) for line in params.prisms)
    for k, line in enumerate(params.prisms):
        a, b, c = sorted(map(float, line.size))
        parts.append(
            boxes([((x, 0, 0), (x + b, c, a))], _role(k), name=_size_words(params, k))
        )
        x += b + 0.12 * longest
    count = sum(line.count for line in params.prisms)
    caption = (
        f"{count} prisms of {len(params.prisms)} sizes, one of each shown, to be packed into the "
        "smallest box."
    )
    legend = tuple(
        (_role(k), _size_words(params, k)) for k in range(len(params.prisms))
    )
    scene = Scene(tuple(parts), azimuth=-70)
    return Picture((Panel("one of each size", scene, caption),), caption, legend)


def _packing(params: Params, answer: Answer, verdicts: Verdicts) -> _Packing:
    kinds = {
        tuple(sorted(line.size)): k for k, line in reversed([*enumerate(params.prisms)])
    }
    need = sum(line.count * math.prod(line.size) for line in params.prisms)
    entries = answer.boxes[:_MOST_BOXES]
    at, low, high = [], [], []
    for i, entry in enumerate(entries):
        ends = list(zip(entry.XyzMin, entry.XyzMax, strict=True))
        corner = [min(pair) for pair in ends], [max(pair) for pair in ends]
        if max(map(abs, corner[0] + corner[1])) < _FARTHEST:
            at.append(i)
            low.append(corner[0])
            high.append(corner[1])
    lows, highs = (
        np.array(ends, dtype=np.float64).reshape(-1, 3) for ends in (low, high)
    )
    keep = _near_most(lows, highs, need)
    kind = [
        kinds.get(
            tuple(sorted(int(h - l) for l, h in zip(low[k], high[k], strict=True))), -1
        )
        for k in np.flatnonzero(keep).tolist()
    ]
    extent = (
        (highs[keep].max(axis=0) - lows[keep].min(axis=0))
        if keep.any()
        else np.zeros(3)
    )
    order = tuple(np.argsort(extent, kind="stable").tolist())
    return _Packing(
        lows[keep][:, order],
        highs[keep][:, order],
        [i for i, near in zip(at, keep.tolist(), strict=True) if near],
        kind,
        _wrong(verdicts),
        order,
        tuple((a, b) for a, b in verdicts.failures.get("overlap", ())[:_MOST_PAIRS]),
        len(entries) - int(keep.sum()),
    )


def _near_most(low: Points, high: Points, need: int) -> npt.NDArray[np.bool_]:
    """Return which boxes lie where most others do, so that one far away leaves them in view."""
    if not len(low):
        return np.zeros(0, dtype=bool)
    middle = np.median((low + high) / 2, axis=0)
    away = np.abs((low + high) / 2 - middle)
    spread = np.quantile(away, 0.75, axis=0, method="lower")
    reach = _BEYOND * np.maximum(spread, need ** (1 / 3))
    near: npt.NDArray[np.bool_] = np.all(
        (np.abs(low - middle) <= reach) & (np.abs(high - middle) <= reach), axis=1
    )
    return near


def _wrong(verdicts: Verdicts) -> dict[int, str]:
    failed = verdicts.failures
    faults: dict[int, str] = {}
    for check_id, words in (("corners", "no volume"), ("sizes", "not listed")):
        for i in failed.get(check_id, ()):
            faults.setdefault(i, words)
    for a, b in failed.get("overlap", ())[:_MOST_PAIRS]:
        faults.setdefault(a, f"overlaps {b}")
        faults.setdefault(b, f"overlaps {a}")
    return faults


def _pieces(packing: _Packing) -> tuple[str, list[tuple[float, float]]]:
    """Return how a long box is cut along its longest side: a title, and the ends of the pieces."""
    low, high = packing.low.min(axis=0), packing.high.max(axis=0)
    shortest, _, long = np.maximum(high - low, 1e-9).tolist()
    width = max(shortest, 1e-3 * long)
    count = (
        1
        if long <= 4 * width
        else max(2, round(math.sqrt(long / (width * (1 + _GAP)))))
    )
    cuts = np.linspace(low[2], high[2], count + 1).tolist()
    axis = _AXES[packing.order[2]]
    title = (
        "the packing"
        if count == 1
        else f"the packing, cut along {axis} into {count} lengths"
    )
    return title, list(pairwise(cuts))


def _scene(
    params: Params,
    packing: _Packing,
    pieces: list[tuple[float, float]],
    lacking: Sequence[Mapping[str, Any]],
) -> Scene:
    low, high = packing.low.min(axis=0), packing.high.max(axis=0)
    step = (1 + _GAP) * float(high[0] - low[0])
    bad = np.array([i in packing.wrong for i in packing.at])
    parts: list[Shape] = []
    for k in sorted(set(packing.kind)):
        mine = np.array(packing.kind) == k
        name = _size_words(params, k) if k >= 0 else "not listed"
        members = _cut_boxes(
            packing.low[mine & ~bad], packing.high[mine & ~bad], pieces, step
        )
        if members:
            # What is wrong inside would be hidden.
            opacity = 0.25 if bad.any() else 1.0
            parts.append(boxes(members, _role(k), opacity=opacity, name=name))
    members = _cut_boxes(packing.low[bad], packing.high[bad], pieces, step)
    if members:
        parts.append(boxes(members, "wrong", opacity=0.45, name="wrong boxes"))
    shared = _cut_boxes(*_shared(packing), pieces, step)
    if shared:
        parts.append(boxes(shared, "wrong", name="where boxes overlap"))
    labels, places = [], []
    for k, (start, end) in enumerate(pieces):
        corner = np.array([low[0] + k * step, low[1], start - pieces[k][0]])
        size = np.array([high[0] - low[0], high[1] - low[1], end - start])
        parts.append(wire(corner.tolist(), (corner + size).tolist(), "ink", width=1.2))
        labels.append(f"{start:g} to {end:g}" if len(pieces) <= 2 else f"{start:.0f}")
        places.append(
            corner + size * (0.5, 0, 0) - (0, 0, 0.05 * (pieces[0][1] - pieces[0][0]))
        )
    parts.append(Marks(np.array(places), "quiet", 0, tuple(labels)))
    parts += _number_labels(packing, pieces, step)
    least = 0.2 * (pieces[0][1] - pieces[0][0])
    parts += _unplaced_boxes(
        lacking, float(low[0]) + len(pieces) * step, float(low[1]), least
    )
    return Scene(tuple(parts), azimuth=-65, elevation=22)


def _unplaced_boxes(
    lines: Sequence[Mapping[str, Any]], x: float, y: float, least: float
) -> list[Lines | Marks]:
    """Return a dashed box, at least so long, for each size of which some are not placed."""
    parts: list[Lines | Marks] = []
    for line in lines:
        short = line["listed"] - line["placed"]
        if short <= 0:
            continue
        a, b, c = sorted(map(float, line["size"]))
        a, b, c = (side * max(1.0, least / c) for side in (a, b, c))
        outline = boxes([((x, y, 0), (x + b, y + a, c))], "missing").outline
        parts.append(Lines(outline, "missing", 2, dashed=True, name="not placed"))
        label = (f"{short} missing",)
        parts.append(Marks(np.array([[x + b / 2, y, 1.15 * c]]), "missing", 0, label))
        x += 1.6 * b
    return parts


def _cut_boxes(
    low: Points, high: Points, pieces: list[tuple[float, float]], step: float
) -> list[tuple[list[float], list[float]]]:
    """Return the parts of boxes in each piece, the pieces side by side."""
    cuttings = []
    for k, (start, end) in enumerate(pieces):
        shift = np.array([k * step, 0.0, -start])
        inside = (
            (high[:, 2] > start) & (low[:, 2] < end) if len(pieces) > 1 else slice(None)
        )
        a, b = low[inside].copy(), high[inside].copy()
        a[:, 2], b[:, 2] = np.clip(a[:, 2], start, end), np.clip(b[:, 2], start, end)
        cuttings += list(zip((a + shift).tolist(), (b + shift).tolist(), strict=True))
    return cuttings


def _shared(packing: _Packing) -> Ends:
    place = {i: k for k, i in enumerate(packing.at)}
    pairs = [
        (place[a], place[b]) for a, b in packing.overlaps if a in place and b in place
    ]
    i, j = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.maximum(packing.low[i], packing.low[j]), np.minimum(
        packing.high[i], packing.high[j]
    )


def _number_labels(
    packing: _Packing, pieces: list[tuple[float, float]], step: float
) -> list[Marks]:
    """Return labels for wrong boxes, unless there are too many to be read."""
    faulty = [k for k, i in enumerate(packing.at) if i in packing.wrong]
    if not faulty or len(faulty) > _MOST_LABELS:
        return []
    places, labels = [], []
    for k in faulty:
        x, y, z = ((packing.low[k] + packing.high[k]) / 2).tolist()
        piece = next(
            n for n, (_, end) in enumerate(pieces) if z <= end or n == len(pieces) - 1
        )
        places.append((x + piece * step, y, z - pieces[piece][0]))
        labels.append(f"{packing.at[k]} {packing.wrong[packing.at[k]]}")
    return [Marks(np.array(places), "wrong", 0, tuple(labels))]


def _fill_profile(packing: _Packing) -> Drawing:
    low, high = packing.low.min(axis=0), packing.high.max(axis=0)
    across = max(float((high[0] - low[0]) * (high[1] - low[1])), 1e-9)
    ends = np.unique(np.concatenate([packing.low[:, 2], packing.high[:, 2]]))
    middle = (ends[:-1] + ends[1:]) / 2
    area = (packing.high[:, 0] - packing.low[:, 0]) * (
        packing.high[:, 1] - packing.low[:, 1]
    )
    covers = packing.low[None, :, 2] < middle[:, None]
    covers &= middle[:, None] < packing.high[None, :, 2]
    share = np.minimum(covers @ area / across, 1.0)
    drawing = Drawing((-36, -30, 360, 146), size=396, margin=4)
    drawing.box((0, 0), (340, 120), "missing", hatched=True)
    if len(share):
        x = (ends - low[2]) / max(float(high[2] - low[2]), 1e-9) * 340
        steps = [
            (float(u), 120 * float(s))
            for i, s in enumerate(share)
            for u in x[i : i + 2]
        ]
        outline = [(0.0, 0.0), *steps, (340.0, 0.0)]
        drawing.area(outline, "paper")
        drawing.area(outline, "right", opacity=0.6, edge="right", width=1)
    drawing.box((0, 0), (340, 120), "paper", opacity=0, edge="ink", width=1)
    for height, words in ((0, "0 %"), (120, "100 %")):
        drawing.text((-4, height), words, "quiet", size=10, anchor="end")
    axis = _AXES[packing.order[2]]
    for place, words in ((0, low[2]), (340, high[2])):
        drawing.text((place, -10), f"{words:g}", "quiet", size=10)
    drawing.text((170, -10), f"along {axis}", "quiet", size=10)
    drawing.text(
        (170, 136), "share of the cross-section that is filled", "quiet", size=10
    )
    return drawing


def _caption(answer: Answer, packing: _Packing, verdicts: Verdicts) -> str:
    count = len(answer.boxes)
    findings = [f"{count} box{'es' * (count != 1)}"]
    if count > _MOST_BOXES:
        findings.append(f"the first {_MOST_BOXES} are drawn")
    if packing.far:
        findings.append(f"{packing.far} far away not drawn")
    findings += verdicts.faults(texts("pack_rectangular_prisms.faults"))
    for verdict in verdicts:
        findings += [
            f"{line['placed']} of {line['listed']} of {' x '.join(map(str, line['size']))} placed"
            for line in verdicts.failures.get("counts", ())[:2]
        ]
        if "efficiency" in verdict.metrics:
            extent = verdict.metrics["extent"]
            where = (
                f"their box of {' x '.join(map(str, extent))}"
                if extent
                else "their box"
            )
            findings.append(f"they fill {verdict.metrics['efficiency']:.2%} of {where}")
        findings.append(verdicts.fraction)
    return "; ".join(findings) + "."
