"""Prisms in their box: by size, cut into lengths side by side, with a measure of what is empty."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from scbench.base.model import Verdict
from scbench.report.draw.scene import Lines, Marks, Mesh, Points, Scene, Shape, boxes, wire
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, failures, fraction
from scbench.schemas.pack_rectangular_prisms import Answer, Params

_MOST = 700
"""Boxes drawn of an answer that lists more."""
_MOST_PAIRS = 50
_MOST_LABELS = 10
_AXES = "xyz"
_GAP = 0.6
"""Room between the lengths of a cut box, in times its width."""
_FARTHEST = 10**12
_BEYOND = 6.0
"""Boxes are drawn where they are within so many times the size that the prisms need."""

_ROLES = ("c0", "c5", "c2", "c3", "c4", "rock", "c6", "c7", "given")
"""Colours of the sizes: none is that of what is wrong."""

_WORDS = {
    "corners": "{n} without volume",
    "sizes": "{n} of no listed size",
    "overlap": "{n} pairs overlap",
    "resource_limit": "too many boxes to be judged",
}

Ends = tuple[Points, Points]


class _Shown(NamedTuple):
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


def draw(params: Params, answer: Answer | None, verdicts: Sequence[Verdict]) -> Picture:
    """Draw the prisms by size; with an answer the packing, overlaps and empty space marked."""
    if answer is None:
        return _instance(params)
    shown = _shown(params, answer, verdicts)
    caption = _caption(answer, shown, verdicts)
    used = sorted({k for k in shown.kind if k >= 0})
    legend = [(_role(k), _size_words(params, k)) for k in used]
    if shown.wrong:
        legend.append(("wrong", "overlapping boxes, or boxes of a wrong size (numbered)"))
    if not shown.at:
        empty = Scene((Marks(np.zeros((1, 3)), "quiet", 0, ("no boxes",)),))
        return Picture((Panel("the packing", empty, caption),), caption)
    title, pieces = _pieces(shown)
    lacking = failures(verdicts).get("counts", ())
    scene = _scene(params, shown, pieces, lacking)
    panels = [Panel(title, scene, caption)]
    if not shown.wrong or len(shown.wrong) < len(shown.at):
        panels.append(Panel("how full the box is", _profile(shown), caption))
        legend += [("right", "filled"), ("missing", "empty (hatched), or not placed (dashed)")]
    return Picture(tuple(panels), caption, tuple(legend))


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the boxes, one mesh for each size, to be written as a file."""
    if answer is None:
        return []
    shown = _shown(params, answer, ())
    ends = list(zip(shown.low.tolist(), shown.high.tolist(), strict=True))
    kinds = sorted(set(shown.kind))
    groups = [[e for e, kind in zip(ends, shown.kind, strict=True) if kind == k] for k in kinds]
    return [
        boxes(group, _role(k) if k >= 0 else "wrong", name=_size_words(params, k) if k >= 0 else "")
        for k, group in zip(kinds, groups, strict=True)
    ]


def _role(kind: int) -> str:
    return _ROLES[kind % len(_ROLES)] if kind >= 0 else "quiet"


def _size_words(params: Params, k: int) -> str:
    line = params.prisms[k]
    return f"{line.count} of {' x '.join(map(str, line.size))}"


def _instance(params: Params) -> Picture:
    parts: list[Shape] = []
    x, most = 0.0, max(max(line.size) for line in params.prisms)
    for k, line in enumerate(params.prisms):
        a, b, c = sorted(map(float, line.size))
        parts.append(boxes([((x, 0, 0), (x + b, c, a))], _role(k), name=_size_words(params, k)))
        x += b + 0.12 * most
    count = sum(line.count for line in params.prisms)
    caption = (
        f"{count} prisms of {len(params.prisms)} sizes, one of each shown, to be packed into the "
        "smallest box."
    )
    legend = tuple((_role(k), _size_words(params, k)) for k in range(len(params.prisms)))
    scene = Scene(tuple(parts), azimuth=-70)
    return Picture((Panel("one of each size", scene, caption),), caption, legend)


def _shown(params: Params, answer: Answer, verdicts: Sequence[Verdict]) -> _Shown:
    kinds = {tuple(sorted(line.size)): k for k, line in reversed([*enumerate(params.prisms)])}
    need = sum(line.count * math.prod(line.size) for line in params.prisms)
    listed = answer.boxes[:_MOST]
    at, low, high = [], [], []
    for i, entry in enumerate(listed):
        ends = list(zip(entry.XyzMin, entry.XyzMax, strict=True))
        corner = [min(pair) for pair in ends], [max(pair) for pair in ends]
        if max(map(abs, corner[0] + corner[1])) < _FARTHEST:
            at.append(i)
            low.append(corner[0])
            high.append(corner[1])
    lows, highs = (np.array(ends, dtype=np.float64).reshape(-1, 3) for ends in (low, high))
    keep = _near(lows, highs, need)
    kind = [
        kinds.get(tuple(sorted(int(h - l) for l, h in zip(low[k], high[k], strict=True))), -1)
        for k in np.flatnonzero(keep).tolist()
    ]
    extent = (highs[keep].max(axis=0) - lows[keep].min(axis=0)) if keep.any() else np.zeros(3)
    order = tuple(np.argsort(extent, kind="stable").tolist())
    return _Shown(
        lows[keep][:, order],
        highs[keep][:, order],
        [i for i, kept in zip(at, keep.tolist(), strict=True) if kept],
        kind,
        _wrong(verdicts),
        order,
        tuple((a, b) for a, b in failures(verdicts).get("overlap", ())[:_MOST_PAIRS]),
        len(listed) - int(keep.sum()),
    )


def _near(low: Points, high: Points, need: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which boxes lie where most others do, so that one far away leaves them in view."""
    if not len(low):
        return np.zeros(0, dtype=bool)
    middle = np.median((low + high) / 2, axis=0)
    away = np.abs((low + high) / 2 - middle)
    spread = np.quantile(away, 0.75, axis=0, method="lower")
    reach = _BEYOND * np.maximum(spread, need ** (1 / 3))
    near: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.all(
        (np.abs(low - middle) <= reach) & (np.abs(high - middle) <= reach), axis=1
    )
    return near


def _wrong(verdicts: Sequence[Verdict]) -> dict[int, str]:
    failed = failures(verdicts)
    found: dict[int, str] = {}
    for i in failed.get("corners", ()):
        found.setdefault(i, "no volume")
    for i in failed.get("sizes", ()):
        found.setdefault(i, "not listed")
    for a, b in failed.get("overlap", ())[:_MOST_PAIRS]:
        found.setdefault(a, f"overlaps {b}")
        found.setdefault(b, f"overlaps {a}")
    return found


def _pieces(shown: _Shown) -> tuple[str, list[tuple[float, float]]]:
    """Return how a long box is cut along its longest side: a title, and the ends of the pieces."""
    low, high = shown.low.min(axis=0), shown.high.max(axis=0)
    wide, _, long = np.maximum(high - low, 1e-9).tolist()
    width = max(wide, 1e-3 * long)
    count = 1 if long <= 4 * width else max(2, round(math.sqrt(long / (width * (1 + _GAP)))))
    cuts = np.linspace(low[2], high[2], count + 1).tolist()
    axis = _AXES[shown.order[2]]
    title = "the packing" if count == 1 else f"the packing, cut along {axis} into {count} lengths"
    return title, list(pairwise(cuts))


def _scene(
    params: Params,
    shown: _Shown,
    pieces: list[tuple[float, float]],
    lacking: Sequence[Mapping[str, Any]],
) -> Scene:
    low, high = shown.low.min(axis=0), shown.high.max(axis=0)
    step = (1 + _GAP) * float(high[0] - low[0])
    bad = np.array([i in shown.wrong for i in shown.at])
    parts: list[Shape] = []
    for k in sorted(set(shown.kind)):
        mine = np.array(shown.kind) == k
        name = _size_words(params, k) if k >= 0 else "not listed"
        chosen = _cut(shown.low[mine & ~bad], shown.high[mine & ~bad], pieces, step)
        if chosen:
            # What is wrong inside would be hidden.
            opacity = 0.25 if bad.any() else 1.0
            parts.append(boxes(chosen, _role(k), opacity=opacity, name=name))
    chosen = _cut(shown.low[bad], shown.high[bad], pieces, step)
    if chosen:
        parts.append(boxes(chosen, "wrong", opacity=0.45, name="wrong boxes"))
    shared = _cut(*_shared(shown), pieces, step)
    if shared:
        parts.append(boxes(shared, "wrong", name="where boxes overlap"))
    labels, places = [], []
    for k, (start, end) in enumerate(pieces):
        corner = np.array([low[0] + k * step, low[1], start - pieces[k][0]])
        size = np.array([high[0] - low[0], high[1] - low[1], end - start])
        parts.append(wire(corner.tolist(), (corner + size).tolist(), "ink", width=1.2))
        labels.append(f"{start:g} to {end:g}" if len(pieces) <= 2 else f"{start:.0f}")
        places.append(corner + size * (0.5, 0, 0) - (0, 0, 0.05 * (pieces[0][1] - pieces[0][0])))
    parts.append(Marks(np.array(places), "quiet", 0, tuple(labels)))
    parts += _numbers(shown, pieces, step)
    least = 0.2 * (pieces[0][1] - pieces[0][0])
    parts += _lacking(lacking, float(low[0]) + len(pieces) * step, float(low[1]), least)
    return Scene(tuple(parts), azimuth=-65, elevation=22)


def _lacking(
    lines: Sequence[Mapping[str, Any]], x: float, y: float, least: float
) -> list[Lines | Marks]:
    """Return one dashed box, beside the packing, for each size of which some are not placed.

    Boxes that could hardly be seen are drawn with a longest side of ``least``.
    """
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


def _cut(
    low: Points, high: Points, pieces: list[tuple[float, float]], step: float
) -> list[tuple[list[float], list[float]]]:
    """Return the parts of boxes in each piece, the pieces side by side."""
    found = []
    for k, (start, end) in enumerate(pieces):
        shift = np.array([k * step, 0.0, -start])
        inside = (high[:, 2] > start) & (low[:, 2] < end) if len(pieces) > 1 else slice(None)
        a, b = low[inside].copy(), high[inside].copy()
        a[:, 2], b[:, 2] = np.clip(a[:, 2], start, end), np.clip(b[:, 2], start, end)
        found += list(zip((a + shift).tolist(), (b + shift).tolist(), strict=True))
    return found


def _shared(shown: _Shown) -> Ends:
    """Return what pairs of boxes have in common that are known to overlap."""
    place = {i: k for k, i in enumerate(shown.at)}
    pairs = [(place[a], place[b]) for a, b in shown.overlaps if a in place and b in place]
    i, j = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.maximum(shown.low[i], shown.low[j]), np.minimum(shown.high[i], shown.high[j])


def _numbers(shown: _Shown, pieces: list[tuple[float, float]], step: float) -> list[Marks]:
    """Return labels for wrong boxes, unless there are too many to be read."""
    named = [k for k, i in enumerate(shown.at) if i in shown.wrong]
    if not named or len(named) > _MOST_LABELS:
        return []
    places, labels = [], []
    for k in named:
        x, y, z = ((shown.low[k] + shown.high[k]) / 2).tolist()
        piece = next(n for n, (_, end) in enumerate(pieces) if z <= end or n == len(pieces) - 1)
        places.append((x + piece * step, y, z - pieces[piece][0]))
        labels.append(f"{shown.at[k]} {shown.wrong[shown.at[k]]}")
    return [Marks(np.array(places), "wrong", 0, tuple(labels))]


def _profile(shown: _Shown) -> Drawing:
    """Draw how much of the box is filled, all along its longest side."""
    low, high = shown.low.min(axis=0), shown.high.max(axis=0)
    across = max(float((high[0] - low[0]) * (high[1] - low[1])), 1e-9)
    ends = np.unique(np.concatenate([shown.low[:, 2], shown.high[:, 2]]))
    middle = (ends[:-1] + ends[1:]) / 2
    area = (shown.high[:, 0] - shown.low[:, 0]) * (shown.high[:, 1] - shown.low[:, 1])
    covers = (shown.low[None, :, 2] < middle[:, None]) & (middle[:, None] < shown.high[None, :, 2])
    share = np.minimum(covers @ area / across, 1.0)
    drawing = Drawing((-36, -30, 360, 146), size=396, margin=4)
    drawing.box((0, 0), (340, 120), "missing", hatched=True)
    if len(share):
        x = (ends - low[2]) / max(float(high[2] - low[2]), 1e-9) * 340
        steps = [(float(u), 120 * float(s)) for i, s in enumerate(share) for u in x[i : i + 2]]
        outline = [(0.0, 0.0), *steps, (340.0, 0.0)]
        drawing.area(outline, "paper")
        drawing.area(outline, "right", opacity=0.6, edge="right", width=1)
    drawing.box((0, 0), (340, 120), "paper", opacity=0, edge="ink", width=1)
    for height, words in ((0, "0 %"), (120, "100 %")):
        drawing.text((-4, height), words, "quiet", size=10, anchor="end")
    axis = _AXES[shown.order[2]]
    for place, words in ((0, low[2]), (340, high[2])):
        drawing.text((place, -10), f"{words:g}", "quiet", size=10)
    drawing.text((170, -10), f"along {axis}", "quiet", size=10)
    drawing.text((170, 136), "share of the cross-section that is filled", "quiet", size=10)
    return drawing


def _caption(answer: Answer, shown: _Shown, verdicts: Sequence[Verdict]) -> str:
    count = len(answer.boxes)
    said = [f"{count} box{'es' * (count != 1)}"]
    if count > _MOST:
        said.append(f"the first {_MOST} are drawn")
    if shown.far:
        said.append(f"{shown.far} far away not drawn")
    for verdict in verdicts:
        said += [
            _WORDS[check.id].format(n=check.details.get("count", 1))
            for check in verdict.checks
            if check.passed is False and check.id in _WORDS
        ]
        said += [
            f"{line['placed']} of {line['listed']} of {' x '.join(map(str, line['size']))} placed"
            for line in failures(verdicts).get("counts", ())[:2]
        ]
        if "efficiency" in verdict.metrics:
            extent = verdict.metrics["extent"]
            where = f"their box of {' x '.join(map(str, extent))}" if extent else "their box"
            said.append(f"they fill {verdict.metrics['efficiency']:.2%} of {where}")
        said.append(fraction(verdicts))
    return "; ".join(said) + "."
