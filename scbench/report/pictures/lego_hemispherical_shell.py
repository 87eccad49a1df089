"""Bricks and the target they are to fill: from outside, in a vertical cut, and layer by layer."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import shapely
from shapely import Polygon, box
from shapely.geometry.base import BaseGeometry

from scbench.graders.lego_hemispherical_shell.bricks import (
    HEIGHT,
    Body,
    Bricks,
    Surface,
    body,
)
from scbench.report.draw.scene import Lines, Marks, Mesh, Points, Scene, Shape
from scbench.report.draw.solids import fill, upright_prisms
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.schemas.lego_hemispherical_shell import Answer, Params

# Bricks drawn of an answer that lists more.
_MOST_BRICKS = 1500
# How far out, in outer radii, bricks are drawn where they are; others stand at the rim.
_RIM = 1.35
_MOST_MARKS = 8
_MOST_CROSSES = 300
# A verdict with so many pairs has perhaps not named all.
_PAIRS_NAMED = 1000
_TURN = np.linspace(0, 2 * np.pi, 73)
_FORMS = {
    "hemisphere": "Half a hollow ball",
    "wall": "A round wall",
    "ring": "Half a ring",
}
_FORMS["bowl"] = "A bowl"
_SINGLE = {"layers": "in no layer", "hollow": "in the hollow", "outside": "outside"}


Grid = tuple[tuple[float, ...], tuple[float, ...]]


class _DrawnBricks(NamedTuple):
    """What is drawn of the bricks: positions are those of the answer's list."""

    bricks: Bricks
    plans: Points
    """Corners in plan (n, 4, 2), of those far away moved to the rim."""
    low: Points
    """Bottom of each."""
    wrong: dict[int, str]
    """Why, for each brick that a check points at."""
    far: dict[int, str]
    """Where those really are that stand at the rim."""


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the target; with an answer its bricks, those that break a rule marked."""
    target = body(params)
    radius = params.outer_radius_mm
    if answer is None:
        caption = (
            f"{_FORMS[params.form]}, {params.inner_radius_mm:g} to {radius:g} mm from the axis, to "
            "be built from 2 x 4 bricks."
        )
        scene = Scene(tuple(_wires(target)), grid=_bounding_box(target, radius))
        cut = _axis_cut(target, radius, None)
        panels = (
            Panel("the target", scene, caption),
            Panel("cut through the axis", cut, caption),
        )
        return Picture(panels, caption, (("target", "the target"),))
    wall = _drawn_bricks(answer, params, verdicts)
    caption = _caption(answer, wall, verdicts)
    words = texts("lego_hemispherical_shell.legend").items()
    legend = [line for line in words if line[0] != "wrong" or wall.wrong]
    views = (
        Panel("the bricks", _scene(wall, target, radius), caption),
        Panel("cut through the axis", _axis_cut(target, radius, wall), caption),
        Panel(
            "layer by layer, from the ground",
            _layer_drawing(wall, params, verdicts),
            caption,
        ),
    )
    return Picture(views, caption, tuple(legend))


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the bricks, to be written as a file."""
    if answer is None or not answer.bricks:
        return []
    wall = _drawn_bricks(answer, params, Verdicts())
    return [
        upright_prisms(wall.plans, wall.low, wall.low + HEIGHT, "answer", name="bricks")
    ]


def _bounding_box(
    target: Body, radius: float, wall: _DrawnBricks | None = None
) -> Grid:
    ends = [[-radius, -radius, 0.0], [radius, radius, target.outer.top]]
    if wall is not None and len(wall.low):
        plans = wall.plans.reshape(-1, 2)
        ends.append([*plans.min(axis=0), float(wall.low.min())])
        ends.append([*plans.max(axis=0), float(wall.low.max()) + HEIGHT])
    low, high = np.floor(np.min(ends, axis=0)), np.ceil(np.max(ends, axis=0))
    return tuple(low.tolist()), tuple(high.tolist())


def _drawn_bricks(answer: Answer, params: Params, verdicts: Verdicts) -> _DrawnBricks:
    """Return bricks as they are drawn: as seen from the axis."""
    poses, axis = answer.bricks[:_MOST_BRICKS], (*params.centre_mm, 0.0)
    reach, top = _RIM * params.outer_radius_mm, body(params).outer.top
    low, high = (-reach, -reach, -HEIGHT), (reach, reach, 1.2 * top + HEIGHT)
    rows, far = [], {}
    for i, brick in enumerate(poses):
        place = tuple(v - a for v, a in zip(brick.Centroid, axis, strict=True))
        near = tuple(
            min(max(v, a), b) for v, a, b in zip(place, low, high, strict=True)
        )
        if near != place:
            far[i] = ", ".join(f"{value:.4g}" for value in brick.Centroid)
        rows.append((*near, math.fmod(brick.RotationDegrees, 360)))
    bricks = Bricks.of(rows)
    faults = _wrong(verdicts, len(poses), len(answer.bricks))
    return _DrawnBricks(bricks, bricks.plans(), bricks.z - HEIGHT / 2, faults, far)


def _wrong(verdicts: Verdicts, count: int, total: int) -> dict[int, str]:
    metrics = verdicts.metrics
    faults: dict[int, str] = {}

    def note(bricks: Sequence[Any], word: str) -> None:
        for i in bricks:
            if i < count:
                faults.setdefault(i, word)

    counts = {c.id: c.details.get("count") for v in verdicts for c in v.checks}
    for check, word in _SINGLE.items():
        # A check names the first 50 only; but if all bricks are wrong, all are known.
        note(
            range(count)
            if counts.get(check) == total
            else verdicts.failures.get(check, ()),
            word,
        )
    note([pair[0] for pair in verdicts.failures.get("duplicates", ())], "listed twice")
    note([i for pair in metrics.get("overlapping") or () for i in pair], "overlaps")
    note(_odd_ones(metrics.get("misaligned") or ()), "off the grid")
    note(metrics.get("floating") or (), "floats")
    return faults


def _odd_ones(pairs: Sequence[Sequence[int]]) -> list[int]:
    """Return one brick of each pair, as few as possible: one brick aside is in pairs with all."""
    if len(pairs) >= _PAIRS_NAMED:
        return [second for _, second in pairs]
    unresolved, odd = {tuple(pair) for pair in pairs}, []
    while unresolved:
        counts = Counter(i for pair in unresolved for i in sorted(pair)[::-1])
        brick = counts.most_common(1)[0][0]
        odd.append(brick)
        unresolved = {pair for pair in unresolved if brick not in pair}
    return odd


def _scene(wall: _DrawnBricks, target: Body, radius: float) -> Scene:
    bricks, wrong = wall.bricks, np.zeros(len(wall.low), dtype=bool)
    wrong[list(wall.wrong)] = True
    parts: list[Shape] = []
    # Bricks that hide what is wrong are seen through.
    opacity = 1.0 if not wrong.any() or wrong.mean() > 0.5 else 0.35
    for mask, role, name in (
        (~wrong, "answer", "bricks"),
        (wrong, "wrong", "wrong bricks"),
    ):
        at = np.flatnonzero(mask)
        if len(at):
            low, see = wall.low[at], opacity if role == "answer" else 1.0
            plans = wall.plans[at]
            parts.append(
                upright_prisms(plans, low, low + HEIGHT, role, opacity=see, name=name)
            )
    parts += _wires(target)
    noteworthy = [*wall.far, *(i for i in wall.wrong if i not in wall.far)]
    first = (
        noteworthy if len(noteworthy) <= _MOST_MARKS else list(wall.far)[:_MOST_MARKS]
    )
    if first:
        far, wrong_words = wall.far, wall.wrong
        labels = tuple(
            f"{i}: at {far[i]}" if i in far else f"{i} {wrong_words[i]}" for i in first
        )
        middles = np.stack([bricks.x[first], bricks.y[first], bricks.z[first]], axis=1)
        parts.append(Marks(middles, "wrong", 0, labels))
    return Scene(tuple(parts), elevation=30, grid=_bounding_box(target, radius, wall))


def _wires(target: Body) -> list[Lines]:
    paths: list[Points] = []
    for k, surface in enumerate((target.outer, target.inner)):
        z = _levels(surface, 25)
        r = surface.radius(z)
        for level in (0, 8, 16) if k == 0 else (0,):
            x, y = r[level] * np.cos(_TURN), r[level] * np.sin(_TURN)
            paths.append(np.stack([x, y, np.full_like(_TURN, z[level])], axis=1))
        angles = np.arange(8) * np.pi / 4 if k == 0 else np.arange(4) * np.pi / 2
        paths.extend(
            np.stack([r * np.cos(a), r * np.sin(a), z], axis=1) for a in angles
        )
    return [Lines(tuple(paths), "target", 1.5, name="the target")]


def _levels(surface: Surface, count: int) -> Points:
    rise = np.sin(np.linspace(0, np.pi / 2, count))
    return surface.bottom + (surface.top - surface.bottom) * rise


def _target_profile(target: Body) -> BaseGeometry:
    """Return what a plane through the axis cuts of the target: distances from the axis, and z."""
    sides = []
    for surface in (target.outer, target.inner):
        z = _levels(surface, 49)
        sides.append(np.stack([surface.radius(z), z], axis=1))
    half = np.concatenate([sides[0], sides[1][::-1]])
    return shapely.union_all([Polygon(half), Polygon(half * (-1, 1))])


def _sections(wall: _DrawnBricks) -> Iterator[tuple[int, Polygon]]:
    """Yield the rectangles that the plane y = 0 cuts out of bricks."""
    for i, plan in enumerate(wall.plans.tolist()):
        xs = [
            x + (u - x) * y / (y - v)
            for (x, y), (u, v) in zip(plan, plan[1:] + plan[:1], strict=True)
            if (y < 0) != (v < 0)
        ]
        if xs:
            low = float(wall.low[i])
            yield i, box(min(xs), low, max(xs), low + HEIGHT)


def _axis_cut(target: Body, radius: float, wall: _DrawnBricks | None) -> Drawing:
    (x, _, z), (u, _, w) = _bounding_box(target, radius, wall)
    margin = 0.08 * (u - x)
    reach = max(u, -x) + margin / 2
    drawing = Drawing((-reach, min(z, 0.0) - margin, reach, w + margin))
    profile = _target_profile(target)
    if wall is None:
        fill(drawing, profile, "target", opacity=0.3)
    else:
        sections = list(_sections(wall))
        boxes = shapely.union_all([section for _, section in sections])
        fill(drawing, profile.difference(boxes), "missing", hatched=True)
        fill(drawing, profile.intersection(boxes), "right", opacity=0.5)
        fill(drawing, boxes.difference(profile), "surplus", opacity=0.5)
        plain: list[Sequence[Sequence[float]]] = []
        for i, section in sections:
            ring = section.exterior.coords[:-1]
            if i not in wall.wrong:
                plain.append([*ring, ring[0]])
                continue
            tip = f"brick {i}: {wall.wrong[i]}"
            drawing.line(ring, "wrong", closed=True, width=2.5, tip=tip)
            drawing.cross(section.centroid.coords[0], "wrong")
        drawing.strokes(plain, "ink", width=0.7)
    for part in shapely.get_parts(profile):
        drawing.line(part.exterior.coords, "target", width=1.5)
    drawing.line([(-reach, 0), (reach, 0)], "ink", width=1.5)
    drawing.text((0, 0), "ground", "quiet", size=10, shift=(0, 9))
    return drawing


def _layer_drawing(wall: _DrawnBricks, params: Params, verdicts: Verdicts) -> Drawing:
    target, radius = body(params), params.outer_radius_mm
    layer = np.maximum(np.rint(wall.low / HEIGHT), 0).astype(int)
    levels = max(math.ceil(target.outer.top / HEIGHT), int(layer.max(initial=-1)) + 1)
    rows = math.ceil(levels / 6)
    columns = math.ceil(levels / rows)
    pitch = 2.9 * radius
    size = max(columns, rows) * min(170.0, 690 / columns)
    drawing = Drawing((0, 0, columns * pitch, rows * pitch), size=size, margin=4)
    crosses = _MOST_CROSSES
    for k in range(levels):
        middle = np.array(
            [(k % columns + 0.5) * pitch, (rows - k // columns - 0.5) * pitch]
        )
        rims = _radii_at(target, HEIGHT * (k + 0.5))
        ring = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1)
        here = _plan_union(wall.plans[layer == k] + middle)
        if rims:
            annulus = Polygon(
                middle + rims[0] * ring, [middle + rims[1] * ring] if rims[1] else []
            )
            fill(drawing, annulus, "target", opacity=0.18)
            fill(drawing, annulus.difference(here), "missing", hatched=True)
        members = np.flatnonzero(layer == k).tolist()
        fine = [wall.plans[i] + middle for i in members if i not in wall.wrong]
        same = len(fine) == len(members)
        fill(drawing, here if same else _plan_union(fine), "answer", opacity=0.5)
        drawing.strokes([[*plan, plan[0]] for plan in fine], "answer", width=0.8)
        for i in members:
            if i not in wall.wrong:
                continue
            plan = wall.plans[i] + middle
            tip = f"brick {i}: {wall.wrong[i]}"
            drawing.area(plan, "wrong", opacity=0.4, edge="wrong", width=2, tip=tip)
            if crosses:
                crosses -= 1
                drawing.cross(plan.mean(axis=0), "wrong", radius=4)
        for r in rims:
            drawing.line(middle + r * ring, "target", width=1.2)
        if k == 0:
            _balance(drawing, middle - np.array(params.centre_mm), verdicts)
        count = int(np.sum(layer == k))
        top = (middle[0], middle[1] + 1.35 * radius)
        drawing.text(top, f"layer {k + 1}: {count}", "quiet", size=10)
    return drawing


def _plan_union(plans: Sequence[Points] | Points) -> BaseGeometry:
    return shapely.union_all(shapely.polygons(np.array(plans).reshape(-1, 4, 2)))


def _radii_at(target: Body, z: float) -> list[float]:
    """Return the radii of the target's two sides on a level; none above it."""
    if z >= target.outer.top:
        return []
    inner = (
        float(target.inner.radius(np.array([z]))[0]) if z < target.inner.top else 0.0
    )
    return [float(target.outer.radius(np.array([z]))[0]), inner]


def _balance(drawing: Drawing, middle: Points, verdicts: Verdicts) -> None:
    tipping = {entry["brick"] for entry in verdicts.failures.get("balance", ())}
    for group in verdicts.metrics.get("groups") or ():
        centre = (np.array(group["centre"]) + middle).tolist()
        tips = group["brick"] in tipping
        hull = np.array(group["support"]).reshape(-1, 2) + middle
        drawing.line(
            hull, "wrong" if tips else "ink", closed=True, width=1.5, dashed=True
        )
        drawing.dot(
            centre, "wrong" if tips else "ink", radius=3, tip="centre of gravity"
        )
        if tips:
            drawing.ring(centre, "wrong", radius=8)


def _caption(answer: Answer, wall: _DrawnBricks, verdicts: Verdicts) -> str:
    count = len(answer.bricks)
    findings = [f"{count} brick{'s' * (count != 1)}"]
    if count > len(wall.low):
        findings.append(f"the first {len(wall.low)} are drawn")
    findings += verdicts.faults(texts("lego_hemispherical_shell.faults"))[:4]
    for verdict in verdicts:
        if "filled" in verdict.metrics:
            filled, spill = verdict.metrics["filled"], verdict.metrics["spill"]
            words = f"{filled:.1%} of the target filled, {spill:.1%} of its volume outside it"
            findings.append(words)
        findings.append(verdicts.fraction)
    return "; ".join(findings) + "."
