"""A world of rock after the rain: in space, cut open, level by level, and lake by lake."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scbench.graders.fluid_simulation.earthworks import ground
from scbench.report.draw.scene import Lines, Marks, Mesh, Scene, Shape, wire
from scbench.report.draw.svg import Drawing
from scbench.report.draw.voxels import roughness, voxels
from scbench.report.picture import Gauge, Legend, Panel, Picture, Verdicts, gauge_panels, texts
from scbench.report.pictures.fluid_simulation.rain_worlds import (
    MOST_LAKES,
    World,
    cut_open,
    level_maps,
    middle_cell,
    paint,
    read_world,
    section,
)
from scbench.schemas.fluid_simulation import Answer, Params

_ROUGHEST = 8_000
"""Rectangles of a world that is still drawn in three dimensions."""
_BOXES = 40
_AHEAD = 4
"""How far outside the world boxes are still drawn."""


_GOALS = texts("fluid_simulation.goals")

_COUNTED = texts("fluid_simulation.counted")


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the ground; with an answer the world after its earthworks and the rain."""
    goal = _goal_words(params)
    metrics = verdicts.metrics
    if answer is None or "water" not in metrics:
        return _start(params, goal, answer, verdicts)
    world = read_world(params, metrics, verdicts)
    caption = _caption(goal, metrics, verdicts)
    panels = []
    cut = _cut_row(world, verdicts)
    at = cut + world.corner[1]
    if max(roughness(world.rock), roughness(world.water)) <= _ROUGHEST:
        scene = _scene(params, world, answer, verdicts)
        panels.append(Panel("after the rain", scene, f"The world after the rain. {caption}"))
        if not all(lake["visible"] for lake in metrics["lakes"]):
            opened = _scene(params, cut_open(world, cut), None, Verdicts())
            title = f"cut open at y = {at}"
            panels.append(Panel(title, opened, f"The half behind y = {at}. {caption}"))
    else:
        caption += " The world is too ragged to be drawn in space."
    x, y = world.corner
    where = f", x {x}-{x + world.width - 1}, y {y}-{y + world.width - 1}"
    title = "level by level" + where * (world.width < params.width)
    panels.append(Panel(title, level_maps(world, verdicts.failures.get("dry_levels", ())), caption))
    panels.append(Panel(f"cut at y = {at}", section(world, cut), caption))
    if world.lakes:
        panels.append(_lake_table(metrics, verdicts))
    panels += gauge_panels(_gauges(params, verdicts))
    legend = _legend(world, verdicts)
    return Picture(tuple(panels), caption, tuple(legend), _text(world))


def _goal_words(params: Params) -> str:
    values = {
        name: ", ".join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in params.goal.model_dump().items()
    }
    return _GOALS[params.goal.kind].format(**values)


def _cut_row(world: World, verdicts: Verdicts) -> int:
    """Return the row where a cut shows most: through a fault, the goal's water, or any."""
    if world.wrong.any():
        return int(np.argwhere(world.wrong)[0][1])
    goal = verdicts.check("goal")
    column = goal.details.get("column") if goal else None
    if column:
        return int(column[1]) - world.corner[1]
    if world.lakes:
        largest = max(world.lakes, key=lambda lake: int(lake.sum()))
        return middle_cell(np.any(largest, axis=2))[1]
    return (world.drains or [(0, world.width // 2)])[0][1]


def _start(params: Params, goal: str, answer: Answer | None, verdicts: Verdicts) -> Picture:
    width, stretch = params.width, _stretch(params.width)
    rock = ground(params)
    parts: list[Shape] = [_stretched(voxels(rock, "rock", name="rock"), stretch)]
    top = params.height * stretch
    surface = rock.sum(axis=2) * stretch
    drops = tuple(
        np.array([(x + 0.5, y + 0.5, top * 1.15), (x + 0.5, y + 0.5, float(surface[x, y]))])
        for x, y in params.rain
    )
    parts.append(Lines(drops, "water", 2, dashed=True, name="where most of the rain falls"))
    parts.append(wire((0, 0, 0), (width, width, top), "faint", name="the world"))
    parts += [_zone(zone.low, zone.high, stretch) for zone in params.protected]
    drawing = Drawing((0, 0, width, width), size=300)
    heights = rock.sum(axis=2)
    for level in sorted(set(heights.ravel().tolist())):
        share = 0.15 + 0.6 * level / params.height
        paint(drawing, heights == level, (0, 0), "rock", opacity=share)
    for zone in params.protected[:_BOXES]:
        low, high = zone.low, zone.high
        far = (high[0] + 1, high[1] + 1)
        drawing.box((low[0], low[1]), far, "note", hatched=True, edge="note", dashed=True)
    for x, y in params.rain[:64]:
        drawing.dot((x + 0.5, y + 0.5), "water", radius=3, tip=f"rain at {x}, {y}")
    drawing.text((0, 0), "x →", "quiet", anchor="start", shift=(14, 10))
    drawing.text((0, 0), "y ↑", "quiet", shift=(-8, -14), size=10)
    caption = f"A world of {width} x {width} x {params.height} cells. Asked for: {goal}."
    if verdicts and answer is None:
        caption = f"There are no earthworks to draw. {caption}"
    elif verdicts:
        caption = f"The world cannot be worked out; {verdicts.fraction}. {caption}"
    legend = tuple(texts("fluid_simulation.legend").items())
    panels = (
        Panel("the ground", Scene(tuple(parts), azimuth=-60, elevation=35), caption),
        Panel("from above", drawing, caption),
    )
    return Picture(panels, caption, legend)


def _stretch(width: int) -> float:
    """Return by how much heights are drawn taller, so that wide worlds are not all flat."""
    return max(1.0, width / 24)


def _stretched(mesh: Mesh, stretch: float) -> Mesh:
    scale = np.array([1.0, 1.0, stretch])
    lines = tuple(line * scale for line in mesh.outline)
    return replace(mesh, points=mesh.points * scale, outline=lines)


def _zone(
    low: Sequence[int],
    high_cell: Sequence[int],
    stretch: float,
    role: str = "note",
    name: str = "protected",
) -> Lines:
    (a, b, c), (d, e, f) = low, high_cell
    high = (d + 1, e + 1, (f + 1) * stretch)
    return wire((a, b, c * stretch), high, role, width=2, name=name)


def _scene(params: Params, world: World, answer: Answer | None, verdicts: Verdicts) -> Scene:
    width, stretch = world.width, _stretch(world.width)
    top = params.height * stretch
    stood = world.rock & ~world.fallen
    solid = world.rock | world.water
    parts: list[Shape] = [wire((0, 0, 0), (width, width, top), "faint", name="the world")]
    for mask, role, name in (
        (stood, "rock", "rock"),
        (world.fallen & world.rock, "wrong", "rock that fell"),
        (world.water & ~world.wrong, "water", "water"),
        (world.wrong, "wrong", "water where it must not be"),
    ):
        if mask.any():
            parts.append(_stretched(voxels(mask, role, neighbours=solid, name=name), stretch))
    for x, y, z in np.argwhere(world.wrong)[:MOST_LAKES].tolist():
        ends = [(x + 0.5, y + 0.5, (z + 1) * stretch), (x + 0.5, y + 0.5, top * 1.2)]
        parts.append(Lines((np.array(ends),), "wrong", 2, dashed=True, name="seen from above"))
    drains = world.drains[:MOST_LAKES]
    if drains:
        paths = tuple(
            np.array([(x + 0.5, y + 0.5, top * 1.2), (x + 0.5, y + 0.5, -top * 0.2)])
            for x, y in drains
        )
        parts.append(Lines(paths, "wrong", 3, dashed=True, name="water runs out at z = 0"))
    for zone in params.protected if answer is not None else ():
        shift = (*world.corner, 0)
        low, high = ([v - a for v, a in zip(c, shift, strict=True)] for c in (zone.low, zone.high))
        parts.append(_zone(low, high, stretch))
    if answer is not None:
        parts += _ignored(params, world, answer, verdicts)
    labels = [(i, lake) for i, lake in enumerate(world.lakes) if (lake & world.water).any()]
    if labels and len(world.lakes) > 1:
        spots = []
        for _, lake in labels:
            x, y = middle_cell(np.any(lake, axis=2))
            z = int(np.nonzero(lake[x, y])[0][-1])
            spots.append((x + 0.5, y + 0.5, (z + 1.6) * stretch))
        names = tuple(str(i + 1) for i, _ in labels)
        parts.append(Marks(np.array(spots), "ink", 0, names, name="lakes"))
    return Scene(tuple(parts), azimuth=-60, elevation=35)


def _ignored(params: Params, world: World, answer: Answer, verdicts: Verdicts) -> list[Shape]:
    """Return the boxes that the verdict says were passed over, as far as they are near."""
    stretch = _stretch(world.width)
    start = (*world.corner, 0)
    end = (world.width, world.width, params.height)
    frames: list[Shape] = []
    for i, _ in verdicts.failures.get("boxes", ()):
        box = answer.earthworks[i] if i < len(answer.earthworks) else None
        if box is None:
            continue
        low, high = (
            [
                int(min(max(v - a, -_AHEAD), n + _AHEAD))
                for v, a, n in zip(corner, start, end, strict=True)
            ]
            for corner in (box.xyzMin, box.xyzMax)
        )
        pairs = [sorted(pair) for pair in zip(low, high, strict=True)]
        least, greatest = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        frames.append(_zone(least, greatest, stretch, "wrong", f"box {i}, ignored"))
    return frames


def _lake_table(metrics: Mapping[str, Any], verdicts: Verdicts) -> Panel:
    goal = verdicts.check("goal")
    details = goal.details if goal else {}
    good = set(details.get("lakes", ()))
    if details.get("lake") is not None:
        good.add(details["lake"])
    lakes = metrics["lakes"][:MOST_LAKES]
    row = 18
    drawing = Drawing(
        (0, 0, 330, row * (len(lakes) + 2)), size=max(330, row * (len(lakes) + 2)), up=False
    )
    places = (14, 70, 130, 230, 316)
    for place, title in zip(
        places, ("lake", "voxels", "columns", "levels", "from above"), strict=True
    ):
        drawing.text((place, 8), title, "quiet", size=11)
    hidden = verdicts.passed("no_visible_water") is not None
    for i, lake in enumerate(lakes):
        levels = [z for z, count in enumerate(lake["levels"]) if count]
        y = (i + 1) * row + 8
        role = "right" if i in good else "ink"
        values = [
            f"{i + 1} ✓" if i in good else f"{i + 1}",
            lake["voxels"],
            lake["columns"],
            f"{levels[0]}-{levels[-1]}" if len(levels) > 1 else levels[0],
            "seen" if lake["visible"] else "hidden",
        ]
        for k, (place, value) in enumerate(zip(places, values, strict=True)):
            wrong = hidden and k == 4 and lake["visible"]
            drawing.text(
                (place, y), value, "wrong" if wrong else role, size=12, bold=wrong or i in good
            )
    remainder = metrics["lake_count"] - len(lakes)
    if remainder > 0:
        y = (len(lakes) + 1) * row + 8
        drawing.text((0, y), f"and {remainder} more", "quiet", anchor="start", size=11)
    return Panel("the lakes", drawing, f"Figures of {metrics['lake_count']} lakes.")


def _gauges(params: Params, verdicts: Verdicts) -> list[Gauge]:
    goal = verdicts.check("goal")
    if goal is None or "wanted" not in goal.details:
        return []
    kind = params.goal.kind
    reached, target = goal.details["reached"], goal.details["wanted"]
    sense = "at least"
    if kind == "exact_volume":
        reached, sense = verdicts.metrics["water_voxels"], "exactly"
    gauges = [Gauge(_COUNTED[kind], reached, target, goal.passed, sense)]
    for check_id, label in texts("fluid_simulation.gauges").items():
        check = verdicts.check(check_id)
        if check is not None:
            count = check.details.get("count", 0)
            gauges.append(Gauge(label, count, 0, check.passed, "at most"))
    return gauges


def _legend(world: World, verdicts: Verdicts) -> Legend:
    legend = [("rock", "rock"), ("note", "must not be changed")]
    if world.water.any():
        legend.append(("water", "water"))
    wrong = []
    if world.fallen.any():
        wrong.append("rock that fell")
    if world.wrong.any():
        wrong.append("hatched: water where it must not be")
    if world.drains:
        wrong.append("crosses and arrows: water runs out at z = 0")
    if verdicts.failures.get("boxes"):
        wrong.append("frames: boxes that were ignored")
    return legend + [("wrong", "; ".join(wrong))] * bool(wrong)


def _caption(goal: str, metrics: Mapping[str, Any], verdicts: Verdicts) -> str:
    lakes, voxels_ = metrics["lake_count"], metrics["water_voxels"]
    parts = [f"Asked for: {goal}."]
    if voxels_:
        parts.append(f"There are {voxels_} voxels of water in {lakes} lake{'s' * (lakes != 1)}")
    else:
        fates = set(metrics.get("last_round", ()))
        where = [
            says
            for fate, says in (("side", "over the sides"), ("bottom", "out at the bottom"))
            if fate in fates
        ]
        parts.append("No water stays" + (f"; it runs {' and '.join(where)}" if where else ""))
    visible = verdicts.check("no_visible_water")
    if visible is not None and visible.passed is False:
        parts[-1] += f", seen from above in {visible.details['count']} columns"
    many = verdicts.check("box_count")
    if many is not None and many.passed is False:
        parts[-1] += "; there are more boxes than allowed"
    ignored = verdicts.check("boxes")
    if ignored is not None and ignored.passed is False:
        count = ignored.details["count"]
        parts[-1] += f"; {count} box{'es were' if count != 1 else ' was'} ignored"
    return f"{' '.join(parts)}. {verdicts.fraction.capitalize()}."


def _text(world: World) -> str:
    """Return the lakes from above, the highest y first."""
    names = "123456789abcdefghijklmnopqrstuvwxyz"
    table = [["."] * world.width for _ in range(world.width)]
    for x, y in np.argwhere(world.water.any(axis=2)).tolist():
        table[y][x] = "~"
    for name, lake in zip(names, world.lakes, strict=False):
        for x, y in np.argwhere(np.any(lake, axis=2)).tolist():
            table[y][x] = name
    for x, y, _ in np.argwhere(world.wrong).tolist():
        table[y][x] = "!"
    lines = ["".join(row) for row in reversed(table)]
    x, y = world.corner
    key = f"x from {x}, y up from {y}; lakes by number, from above; ! water where it must not be"
    return "\n".join([*lines, "", key])
