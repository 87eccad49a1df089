"""A world of rock after the rain: in space, cut open, level by level, and lake by lake."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from scbench.graders.fluid_simulation import earthworks
from scbench.report.draw.scene import Lines, Marks, Mesh, Scene, Shape, wire
from scbench.report.draw.svg import Drawing, Fill, rectangle
from scbench.report.draw.voxels import Cells, rectangles, roughness, voxels
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Panel, Picture, Verdicts, texts, wrong_line
from scbench.schemas.fluid_simulation import Answer, Params

Part = tuple[slice | int, ...]

# Lakes told apart; there may be hundreds of puddles.
_MOST_LAKES = 12

# Width up to which all of a world is drawn.
_UNCUT = 16
_ROOM = 2
# Cells around what the answer changed, and in all, that are drawn of a larger world.
_LEAST_WIDE = 9


_PER_ROW = 4
_MAP = 168
# Pixels of a map of one level and of the cut, about.
_CUT = 400
# Rectangles of a world that is still drawn in three dimensions.
_ROUGHEST = 8_000
_BOXES = 40
# How far outside the world boxes are still drawn.
_AHEAD = 4


class World(NamedTuple):
    """The part of the world that is drawn, from a verdict.

    Arrays are boolean and indexed x, y, z from `corner`; so are the places of drains and rain.
    """

    rock: Cells
    fallen: Cells
    water: Cells
    wrong: Cells
    """Water where it must not be."""
    lakes: list[Cells]
    corner: tuple[int, int]
    drains: list[tuple[int, int]]
    rain: list[tuple[int, int]]

    @property
    def width(self) -> int:
        """Cells along x and along y."""
        return len(self.rock)


def _read_world(
    params: Params, metrics: Mapping[str, Any], verdicts: Verdicts
) -> World:
    rock, fallen, water = (
        cells_from_text(metrics[name], params.width, params.height)
        for name in ("rock", "fallen_rock", "water")
    )
    wrong = np.zeros_like(water)
    for x, y in verdicts.failures.get("no_visible_water", ()):
        wet = np.nonzero(water[x, y])[0]
        if len(wet):
            wrong[x, y, wet[-1]] = True
    for z in verdicts.failures.get("dry_levels", ()):
        wrong[:, :, z] = water[:, :, z]
    drains = [(x, y) for x, y in metrics.get("drains", ())]
    changed = np.any(water | (rock ^ earthworks.ground(params)), axis=2)
    for x, y in [*drains, *params.rain]:
        changed[x, y] = True
    x, y, width = _window(changed)
    part = np.s_[x : x + width, y : y + width]
    lakes = [lake[part] for lake in _lake_cells(water, _MOST_LAKES)]
    drains, rain = (
        [(a - x, b - y) for a, b in places] for places in (drains, params.rain)
    )
    return World(
        rock[part], fallen[part], water[part], wrong[part], lakes, (x, y), drains, rain
    )


def _window(changed: Cells) -> tuple[int, int, int]:
    """Return the low corner and the width of a square with all that matters and some room."""
    world = len(changed)
    if world <= _UNCUT:
        return 0, 0, world
    places = np.argwhere(changed)
    low = np.maximum(places.min(axis=0) - _ROOM, 0)
    high = np.minimum(places.max(axis=0) + 1 + _ROOM, world)
    width = min(max(int((high - low).max()), _LEAST_WIDE), world)
    x, y = (
        min(max(0, int(a + b - width) // 2), world - width)
        for a, b in zip(low, high, strict=True)
    )
    return x, y, width


def _cut_open(world: World, cut: int) -> World:
    behind = np.zeros_like(world.rock)
    behind[:, cut:] = True
    rock, fallen, water, wrong = (cells & behind for cells in world[:4])
    drains = [(x, y) for x, y in world.drains if y >= cut]
    return world._replace(
        rock=rock, fallen=fallen, water=water, wrong=wrong, drains=drains
    )


def cells_from_text(text: str, width: int, height: int) -> Cells:
    """Return the cells that `scbench.graders.fluid_simulation.columns_as_text` wrote down.

    Shape (width, width, height), indexed x, y, z; nothing where the text is too short.
    """
    masks = np.zeros(width * width, np.uint8)
    at = 0
    for word in text.split():
        mask, _, count = word.partition("x")
        end = at + int(count or 1)
        masks[at:end] = int(mask, 16)
        at = end
    bits = np.unpackbits(masks[:, None], axis=1, bitorder="little")[:, :height]
    return bits.astype(bool).reshape(width, width, height)


def _lake_cells(water: Cells, limit: int) -> list[Cells]:
    """Return the bodies of water, joined face to face, in the order in which verdicts list them."""
    space = earthworks.padded(water)
    lakes: list[Cells] = []
    for part in earthworks.parts(
        earthworks.pack(space), earthworks.padded_strides(water.shape)
    ):
        if len(lakes) == limit:
            break
        lakes.append(
            earthworks.unpack(part, space.shape)[:, : water.shape[1], : water.shape[2]]
        )
    return lakes


def _middle_cell(mask: Cells) -> tuple[int, int]:
    places = np.argwhere(mask)
    off = ((places - places.mean(axis=0)) ** 2).sum(axis=1)
    x, y = places[off.argmin()].tolist()
    return x, y


def _level_maps(world: World, dry: Collection[int]) -> Drawing:
    """Return a map of every level that is not all rock or all air, the highest first."""
    width = world.width
    mixed = [
        z
        for z in reversed(range(world.rock.shape[2]))
        if world.water[:, :, z].any()
        or not (world.rock[:, :, z].all() or not world.rock[:, :, z].any())
    ] or [0]
    columns = min(_PER_ROW, len(mixed))
    rows = -(-len(mixed) // columns)
    # Whole pixels for every cell, so that no seams show between boxes.
    cell = max(_MAP // width, 2)
    pitch = (width + 16 / cell, width + 24 / cell)
    frame = (0, 0, columns * pitch[0], rows * pitch[1])
    drawing = Drawing(frame, size=cell * max(frame[2:]), margin=8)
    for k, z in enumerate(mixed):
        corner = (k % columns * pitch[0], (rows - 1 - k // columns) * pitch[1])
        _level_map(drawing, world, z, corner)
        if z == 0:
            for x, y in world.drains:
                place = (corner[0] + x + 0.5, corner[1] + y + 0.5)
                drawing.cross(place, "wrong", radius=4, width=2)
        role = "wrong" if z in dry else "ink"
        says = f"z = {z}" + (": must be dry" if z in dry else "")
        place = (corner[0], corner[1] + width)
        drawing.text(place, says, role, anchor="start", shift=(0, -9), bold=z in dry)
    return drawing


def _level_map(
    drawing: Drawing, world: World, z: int, corner: tuple[float, float]
) -> None:
    width = world.width
    x, y = corner
    wrong = _paint_cut(drawing, world, np.s_[:, :, z], corner, 0.55)
    places = np.argwhere(wrong).tolist()
    for a, b in places if len(places) <= _MOST_LAKES else ():
        drawing.ring((x + a + 0.5, y + b + 0.5), "wrong", radius=7)
    drawing.line(
        rectangle(corner, (x + width, y + width)), "quiet", closed=True, width=1
    )
    for i, lake in enumerate(world.lakes):
        levels = lake.sum(axis=(0, 1))
        if int(levels.argmax()) == z:
            a, b = _middle_cell(lake[:, :, z])
            drawing.text((x + a + 0.5, y + b + 0.5), i + 1, size=13, bold=True)


def _side_cut(world: World, cut: int) -> Drawing:
    """Return the world cut along x at a row, counted from the world's corner, from the side."""
    width, height = world.width, world.rock.shape[2]
    cell = max(_CUT // width, 4)
    drawing = Drawing((0, 0, width, height), size=cell * max(width, height), margin=22)
    wrong = _paint_cut(drawing, world, np.s_[:, cut], (0, 0), 0.75)
    for x, z in np.argwhere(wrong).tolist():
        drawing.line(
            [(x + 0.5, z + 1), (x + 0.5, height)], "wrong", width=1.5, dashed=True
        )
    for x, y in world.drains:
        if y == cut:
            drawing.line(
                [(x + 0.5, 1), (x + 0.5, -0.4)], "wrong", width=2.5, arrow=True
            )
    for x in sorted({x for x, y in world.rain if y == cut}):
        drawing.line(
            [(x + 0.5, height), (x + 0.5, height - 1)], "water", width=2, arrow=True
        )
    drawing.line(rectangle((0, 0), (width, height)), "quiet", closed=True, width=1)
    for z in range(height):
        drawing.text((0, z + 0.5), z, "quiet", size=9, anchor="end", shift=(-4, 0))
    drawing.text(
        (0, 0),
        f"x = {world.corner[0]}",
        "quiet",
        size=10,
        anchor="start",
        shift=(0, 12),
    )
    end = world.corner[0] + width - 1
    drawing.text((width, 0), end, "quiet", size=10, anchor="end", shift=(0, 12))
    return drawing


def _paint_cut(
    drawing: Drawing,
    world: World,
    part: Part,
    corner: tuple[float, float],
    opacity: float,
) -> Cells:
    """Paint the cells of a flat cut through a world; return the water in it that is wrong."""
    rock, fallen, water, wrong = (cells[part] for cells in world[:4])
    _paint_cells(drawing, rock & ~fallen, corner, "rock", opacity=opacity)
    _paint_cells(drawing, rock & fallen, corner, "wrong", opacity=0.8)
    _paint_cells(drawing, water & ~wrong, corner, "water")
    _paint_cells(drawing, wrong, corner, "wrong", hatched=True)
    return wrong


def _paint_cells(
    drawing: Drawing,
    mask: Cells,
    corner: tuple[float, float],
    role: str,
    **fill: Unpack[Fill],
) -> None:
    """Paint the cells of a map, indexed x, y, as few boxes; `corner` is that of cell (0, 0)."""
    x, y = corner
    boxes = [(x + a, y + b, x + c, y + d) for a, b, c, d in rectangles(mask)]
    drawing.mosaic(boxes, role, crisp=True, **fill)


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the ground; with an answer the world after its earthworks and the rain."""
    goal = _goal_caption(params)
    metrics = verdicts.metrics
    if answer is None or "water" not in metrics:
        return _start_picture(params, goal, answer, verdicts)
    world = _read_world(params, metrics, verdicts)
    caption = _caption(goal, metrics, verdicts)
    panels = []
    cut = _cut_row(world, verdicts)
    at = cut + world.corner[1]
    if max(roughness(world.rock), roughness(world.water)) <= _ROUGHEST:
        scene = _scene(params, world, answer, verdicts)
        panels.append(
            Panel("after the rain", scene, f"The world after the rain. {caption}")
        )
        if not all(lake["visible"] for lake in metrics["lakes"]):
            opened = _scene(params, _cut_open(world, cut), None, Verdicts())
            title = f"cut open at y = {at}"
            panels.append(Panel(title, opened, f"The half behind y = {at}. {caption}"))
    else:
        caption += " The world is too ragged to be drawn in space."
    x, y = world.corner
    where = f", x {x}-{x + world.width - 1}, y {y}-{y + world.width - 1}"
    title = "level by level" + where * (world.width < params.width)
    panels.append(
        Panel(
            title, _level_maps(world, verdicts.failures.get("dry_levels", ())), caption
        )
    )
    panels.append(Panel(f"cut at y = {at}", _side_cut(world, cut), caption))
    if world.lakes:
        panels.append(_lake_table(metrics, verdicts))
    panels += gauge_panels(_gauges(params, verdicts))
    return Picture(tuple(panels), caption, _legend(world, verdicts), _text(world))


def _goal_caption(params: Params) -> str:
    values = {
        name: ", ".join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in params.goal.model_dump().items()
    }
    return texts("fluid_simulation.goals")[params.goal.kind].format(**values)


def _cut_row(world: World, verdicts: Verdicts) -> int:
    """Return the row where a cut shows most: through a fault, the goal's water, or any."""
    if world.wrong.any():
        return int(np.argwhere(world.wrong)[0][1])
    column = verdicts.details("goal").get("column")
    if column:
        return int(column[1]) - world.corner[1]
    if world.lakes:
        largest = max(world.lakes, key=lambda lake: int(lake.sum()))
        return _middle_cell(np.any(largest, axis=2))[1]
    return (world.drains or [(0, world.width // 2)])[0][1]


def _start_picture(
    params: Params, goal: str, answer: Answer | None, verdicts: Verdicts
) -> Picture:
    width, stretch = params.width, _stretch(params.width)
    rock = earthworks.ground(params)
    parts: list[Shape] = [_stretched(voxels(rock, "rock", name="rock"), stretch)]
    top = params.height * stretch
    surface = rock.sum(axis=2) * stretch
    drops = tuple(
        np.array(
            [(x + 0.5, y + 0.5, top * 1.15), (x + 0.5, y + 0.5, float(surface[x, y]))]
        )
        for x, y in params.rain
    )
    parts.append(
        Lines(drops, "water", 2, dashed=True, name="where most of the rain falls")
    )
    parts.append(wire((0, 0, 0), (width, width, top), "faint", name="the world"))
    parts += [_zone(zone.low, zone.high, stretch) for zone in params.protected]
    drawing = Drawing((0, 0, width, width), size=300)
    heights = rock.sum(axis=2)
    for level in sorted(set(heights.ravel().tolist())):
        share = 0.15 + 0.6 * level / params.height
        _paint_cells(drawing, heights == level, (0, 0), "rock", opacity=share)
    for zone in params.protected[:_BOXES]:
        low, high = zone.low, zone.high
        far = (high[0] + 1, high[1] + 1)
        drawing.box(low, far, "note", hatched=True, edge="note", dashed=True)
    for x, y in params.rain[:64]:
        drawing.dot((x + 0.5, y + 0.5), "water", radius=3, tip=f"rain at {x}, {y}")
    drawing.text((0, 0), "x →", "quiet", anchor="start", shift=(14, 10))
    drawing.text((0, 0), "y ↑", "quiet", shift=(-8, -14), size=10)
    caption = (
        f"A world of {width} x {width} x {params.height} cells. Asked for: {goal}."
    )
    if verdicts and answer is None:
        caption = f"There are no earthworks to draw. {caption}"
    elif verdicts:
        caption = f"The world cannot be worked out; {verdicts.fraction}. {caption}"
    panels = (
        Panel("the ground", Scene(tuple(parts), azimuth=-60, elevation=35), caption),
        Panel("from above", drawing, caption),
    )
    return Picture(panels, caption, tuple(texts("fluid_simulation.legend").items()))


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


def _scene(
    params: Params, world: World, answer: Answer | None, verdicts: Verdicts
) -> Scene:
    width, stretch = world.width, _stretch(world.width)
    top = params.height * stretch
    solid = world.rock | world.water
    parts: list[Shape] = [
        wire((0, 0, 0), (width, width, top), "faint", name="the world")
    ]
    for mask, role, name in (
        (world.rock & ~world.fallen, "rock", "rock"),
        (world.fallen & world.rock, "wrong", "rock that fell"),
        (world.water & ~world.wrong, "water", "water"),
        (world.wrong, "wrong", "water where it must not be"),
    ):
        if mask.any():
            parts.append(
                _stretched(voxels(mask, role, neighbours=solid, name=name), stretch)
            )
    for x, y, z in np.argwhere(world.wrong)[:_MOST_LAKES].tolist():
        ends = [(x + 0.5, y + 0.5, (z + 1) * stretch), (x + 0.5, y + 0.5, top * 1.2)]
        parts.append(
            Lines((np.array(ends),), "wrong", 2, dashed=True, name="seen from above")
        )
    drains = world.drains[:_MOST_LAKES]
    if drains:
        spouts = [(x + 0.5, y + 0.5) for x, y in drains]
        paths = tuple(
            np.array([(*end, top * 1.2), (*end, -top * 0.2)]) for end in spouts
        )
        parts.append(
            Lines(paths, "wrong", 3, dashed=True, name="water runs out at z = 0")
        )
    for zone in params.protected if answer is not None else ():
        shift = (*world.corner, 0)
        low, high = (
            [v - a for v, a in zip(c, shift, strict=True)]
            for c in (zone.low, zone.high)
        )
        parts.append(_zone(low, high, stretch))
    if answer is not None:
        parts += _ignored_boxes(params, world, answer, verdicts)
    labels = [
        (i, lake) for i, lake in enumerate(world.lakes) if (lake & world.water).any()
    ]
    if labels and len(world.lakes) > 1:
        spots = []
        for _, lake in labels:
            x, y = _middle_cell(np.any(lake, axis=2))
            z = int(np.nonzero(lake[x, y])[0][-1])
            spots.append((x + 0.5, y + 0.5, (z + 1.6) * stretch))
        names = tuple(str(i + 1) for i, _ in labels)
        parts.append(Marks(np.array(spots), "ink", 0, names, name="lakes"))
    return Scene(tuple(parts), azimuth=-60, elevation=35)


def _ignored_boxes(
    params: Params, world: World, answer: Answer, verdicts: Verdicts
) -> list[Shape]:
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
                for v, a, n in zip(c, start, end, strict=True)
            ]
            for c in (box.xyzMin, box.xyzMax)
        )
        pairs = [sorted(pair) for pair in zip(low, high, strict=True)]
        least, greatest = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        frames.append(_zone(least, greatest, stretch, "wrong", f"box {i}, ignored"))
    return frames


def _lake_table(metrics: Mapping[str, Any], verdicts: Verdicts) -> Panel:
    details = verdicts.details("goal")
    good = {*details.get("lakes", ()), details.get("lake")}
    lakes = metrics["lakes"][:_MOST_LAKES]
    row = 18
    height = row * (len(lakes) + 2)
    drawing = Drawing((0, 0, 330, height), size=max(330, height), up=False)
    places = {
        "lake": 14,
        "voxels": 70,
        "columns": 130,
        "levels": 230,
        "from above": 316,
    }
    for title, place in places.items():
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
        for k, (place, value) in enumerate(zip(places.values(), values, strict=True)):
            wrong = hidden and k == 4 and lake["visible"]
            colour = "wrong" if wrong else role
            drawing.text((place, y), value, colour, size=12, bold=wrong or i in good)
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
    gauges = [
        Gauge(
            texts("fluid_simulation.counted")[kind], reached, target, goal.passed, sense
        )
    ]
    for check_id, label in texts("fluid_simulation.gauges").items():
        check = verdicts.check(check_id)
        if check is not None:
            gauges.append(
                Gauge(label, check.details.get("count", 0), 0, check.passed, "at most")
            )
    return gauges


def _legend(world: World, verdicts: Verdicts) -> tuple[tuple[str, str], ...]:
    wrong = {
        "rock that fell": world.fallen.any(),
        "hatched: water where it must not be": world.wrong.any(),
        "crosses and arrows: water runs out at z = 0": world.drains,
        "frames: boxes that were ignored": verdicts.failures.get("boxes"),
    }
    water = [("water", "water")] * bool(world.water.any())
    return (
        ("rock", "rock"),
        ("note", "must not be changed"),
        *water,
        *wrong_line(wrong),
    )


def _caption(goal: str, metrics: Mapping[str, Any], verdicts: Verdicts) -> str:
    lakes, voxels_ = metrics["lake_count"], metrics["water_voxels"]
    parts = [f"Asked for: {goal}."]
    if voxels_:
        parts.append(
            f"There are {voxels_} voxels of water in {lakes} lake{'s' * (lakes != 1)}"
        )
    else:
        fates = set(metrics.get("last_round", ()))
        sides = {"side": "over the sides", "bottom": "out at the bottom"}
        where = [words for fate, words in sides.items() if fate in fates]
        parts.append(
            "No water stays" + (f"; it runs {' and '.join(where)}" if where else "")
        )
    if visible := verdicts.fault_count("no_visible_water"):
        parts[-1] += f", seen from above in {visible} columns"
    if verdicts.passed("roofs") is False:
        parts[-1] += ", under too much roof"
    if verdicts.failed("box_count"):
        parts[-1] += "; there are more boxes than allowed"
    if count := verdicts.fault_count("boxes"):
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
