"""Pictures of a rock world after the rain: in 3D, cut open, by level, and by lake."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple, Unpack

import numpy as np

from scbench.base.wording import counted
from scbench.graders.fluid_simulation import earthworks
from scbench.report.draw.canvas import pixel_canvas
from scbench.report.draw.rectangles import Cells, rectangles
from scbench.report.draw.scene import Lines, Marks, Mesh, Points, Scene, Shape, wire
from scbench.report.draw.svg import XY, Drawing, Fill
from scbench.report.draw.voxels import roughness, voxels
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts, wrong_line
from scbench.schemas.fluid_simulation import Answer, Params

# Maximum number of numbered lakes; there may be hundreds of puddles.
_MOST_LAKES = 12
# Width up to which the whole world is drawn.
_UNCUT = 16
# For larger worlds: margin in cells around the answer's changes, and the minimum width drawn.
_ROOM = 2
_LEAST_WIDE = 9
# Number of maps of levels in a row, and pixels of a map.
_PER_ROW = 4
_MAP = 168
# Approximate pixels of the cut.
_CUT = 400
# Maximum number of rectangles in a world that is drawn in 3D.
_ROUGHEST = 8_000
# Maximum number of protected zones and of rain marks on the map of the ground.
_MOST_ZONES = 40
_MOST_RAIN = 64
# Distance outside the world within which boxes are drawn.
_AHEAD = 4
# Pixels of a row of the table of lakes, and of the whole table.
_TABLE_ROW = 18
_TABLE_WIDTH = 330
# Where the columns of that table are centred.
_TABLE_COLUMNS = {
    "lake": 14,
    "voxels": 70,
    "columns": 130,
    "levels": 230,
    "from above": 316,
}
_RAIN_NAME = "where most of the rain falls"
_LAKE_NAMES = "123456789abcdefghijklmnopqrstuvwxyz"

# Each goal in words, and the quantity counted for it.
_GOALS = {
    "lake_surface": "one lake with a surface of at least {min_columns}",
    "wide_lakes": "at least {lakes}, each with a block of {side} x {side} columns",
    "high_water": "at least {min_voxels} of water at z = {min_z} or above",
    "hidden_water": "at least {min_voxels} of water, all hidden by rock",
    "lakes_on_levels": "at least {lakes} on {levels} different levels",
    "deep_water": "water at least {min_depth} deep",
    "large_lakes": "at least {lakes} of at least {min_voxels} each",
    "ring_lake": "a lake around a dry square of {dry_side} x {dry_side} columns",
    "water_levels": "water at z = {water_at}, and none at z = {dry_at}",
    "exact_volume": "exactly {voxels} of water",
    "hidden_lakes": "at least {lakes} of at least {min_voxels} each, all hidden by rock",
}
_NOUNS = {
    "min_columns": "column",
    "lakes": "lake",
    "min_voxels": "voxel",
    "min_depth": "voxel",
    "voxels": "voxel",
}
_COUNTED = {
    "lake_surface": "columns of the widest lake",
    "wide_lakes": "lakes that are wide enough",
    "high_water": "voxels that are high enough",
    "hidden_water": "voxels of water",
    "lakes_on_levels": "different levels of lakes",
    "deep_water": "depth of the deepest water",
    "large_lakes": "lakes that are large enough",
    "ring_lake": "lakes around a dry square",
    "water_levels": "required levels with water",
    "exact_volume": "voxels of water",
    "hidden_lakes": "lakes that are large enough",
}
# Gauges of faults, by check id.
_FAULT_GAUGES = {
    "no_visible_water": "columns with visible water",
    "dry_levels": "wet levels that must be dry",
}

# Indices of a flat cut through a world.
Part = tuple[slice | int, ...]


class World(NamedTuple):
    """The drawn part of the world, read from a verdict.

    Arrays are boolean and indexed by x, y, z relative to `corner`, as are drains and rain.

    Attributes:
        rock: cells of rock, fallen rock included.
        fallen: cells of rock that fell.
        water: cells of water.
        wrong: water in a forbidden place.
        lakes: cells of each of the first lakes, in the verdict's order.
        corner: lowest x and y in the whole world.
        drains: columns where water drains out at z = 0.
        rain: columns where most of the rain falls.
    """

    rock: Cells
    fallen: Cells
    water: Cells
    wrong: Cells
    lakes: list[Cells]
    corner: tuple[int, int]
    drains: list[tuple[int, int]]
    rain: list[tuple[int, int]]

    @property
    def width(self) -> int:
        """Cells along x and along y."""
        return len(self.rock)

    @property
    def height(self) -> int:
        """Cells along z."""
        return int(self.rock.shape[2])


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the ground; with an answer, the world after its earthworks and the rain."""
    goal = goal_words(params)
    metrics = verdicts.metrics
    if answer is None or "water" not in metrics:
        return start_picture(params, goal, answer, verdicts)
    world = read_world(params, verdicts)
    caption = answer_caption(goal, verdicts)
    panels = []
    cut = cut_row(world, verdicts)
    x, y = world.corner
    if max(roughness(world.rock), roughness(world.water)) <= _ROUGHEST:
        scene = world_scene(params, world, answer, verdicts)
        alt = f"The world after the rain. {caption}"
        panels.append(Panel("after the rain", scene, alt))
        if not all(lake["visible"] for lake in metrics["lakes"]):
            opened = world_scene(params, cut_open(world, cut), None, Verdicts())
            alt = f"The half behind y = {cut + y}. {caption}"
            panels.append(Panel(f"cut open at y = {cut + y}", opened, alt))
    else:
        caption += " The world has too many surfaces for a 3D view."
    title = "level by level"
    if world.width < params.width:
        title += f", x {x}-{x + world.width - 1}, y {y}-{y + world.width - 1}"
    panels.append(Panel(title, level_maps(world, verdicts), caption))
    panels.append(Panel(f"cut at y = {cut + y}", side_cut(world, cut), caption))
    if world.lakes:
        alt = f"A table of {counted(metrics['lake_count'], 'lake')}."
        panels.append(Panel("the lakes", lake_table(verdicts), alt))
    panels += gauge_panels(goal_gauges(params, verdicts))
    legend = tuple(answer_legend(params, world, verdicts))
    return Picture(tuple(panels), caption, legend, lake_text(world))


def goal_words(params: Params) -> str:
    """Return the goal of an item in words."""
    values = {}
    for name, value in params.goal.model_dump().items():
        if isinstance(value, tuple):
            values[name] = ", ".join(map(str, value))
        elif name in _NOUNS:
            values[name] = counted(value, _NOUNS[name])
        else:
            values[name] = str(value)
    return _GOALS[params.goal.kind].format(**values)


def start_picture(
    params: Params, goal: str, answer: Answer | None, verdicts: Verdicts
) -> Picture:
    """Return the ground, with the reason if an answer was not simulated."""
    width = params.width
    height = params.height
    caption = f"A world of {width} x {width} x {height} voxels. Goal: {goal}."
    if verdicts and answer is None:
        caption = f"There are no earthworks to draw. {caption}"
    elif verdicts:
        caption = f"The earthworks were not simulated; {verdicts.fraction}. {caption}"
    panels = (
        Panel("the ground", ground_scene(params), caption),
        Panel("from above", ground_map(params), caption),
    )
    legend = [("rock", "rock"), ("water", _RAIN_NAME), *zone_line(params)]
    return Picture(panels, caption, tuple(legend))


def zone_line(params: Params) -> Legend:
    """Return the legend line for protected zones; nothing if there are none."""
    return [("note", "protected zone")] if params.protected else []


def ground_scene(params: Params) -> Scene:
    """Return the ground in 3D, with the rain above it."""
    width = params.width
    stretch = height_stretch(params.width)
    rock = earthworks.ground(params)
    top = params.height * stretch
    surface = rock.sum(axis=2) * stretch
    drops = []
    for x, y in params.rain:
        drops.append(vertical_line(x, y, top * 1.15, float(surface[x, y])))
    parts: list[Shape] = [
        stretched(voxels(rock, "rock", name="rock"), stretch),
        Lines(tuple(drops), "water", 2, dashed=True, name=_RAIN_NAME),
        wire((0, 0, 0), (width, width, top), "faint", name="the world"),
    ]
    parts += [
        zone_wire(zone.low, zone.high, stretch, "note", "protected")
        for zone in params.protected
    ]
    return Scene(tuple(parts), azimuth=-60, elevation=35)


def ground_map(params: Params) -> Drawing:
    """Return the ground from above; higher ground has a stronger colour."""
    width = params.width
    drawing = Drawing((0, 0, width, width), size=300)
    heights = earthworks.ground(params).sum(axis=2)
    for level in sorted(set(heights.ravel().tolist())):
        share = 0.15 + 0.6 * level / params.height
        paint_cells(drawing, heights == level, (0, 0), "rock", opacity=share)
    for zone in params.protected[:_MOST_ZONES]:
        far = (zone.high[0] + 1, zone.high[1] + 1)
        drawing.box(zone.low, far, "note", hatched=True, edge="note", dashed=True)
    for x, y in params.rain[:_MOST_RAIN]:
        drawing.dot((x + 0.5, y + 0.5), "water", radius=3, tip=f"rain at {x}, {y}")
    drawing.text((0, 0), "x →", "quiet", anchor="start", shift=(14, 10))
    drawing.text((0, 0), "y ↑", "quiet", shift=(-8, -14), size=10)
    return drawing


def read_world(params: Params, verdicts: Verdicts) -> World:
    """Return the relevant part of the world in a verdict."""
    metrics = verdicts.metrics
    rock = cells_from_text(metrics["rock"], params.width, params.height)
    fallen = cells_from_text(metrics["fallen_rock"], params.width, params.height)
    water = cells_from_text(metrics["water"], params.width, params.height)
    wrong = wrong_water(water, verdicts)
    drains = [(x, y) for x, y in metrics.get("drains", ())]
    changed = np.any(water | (rock ^ earthworks.ground(params)), axis=2)
    for x, y in [*drains, *params.rain]:
        changed[x, y] = True
    part = window(changed)
    x = part[0].start
    y = part[1].start
    return World(
        rock[part],
        fallen[part],
        water[part],
        wrong[part],
        [lake[part] for lake in lake_cells(water)],
        (x, y),
        [(a - x, b - y) for a, b in drains],
        [(a - x, b - y) for a, b in params.rain],
    )


def cells_from_text(text: str, width: int, height: int) -> Cells:
    """Return the cells in a text of `scbench.graders.fluid_simulation.columns_as_text`.

    Shape (width, width, height), indexed by x, y, z; empty where the text is too short.
    """
    # Each word is a column in hexadecimal, bit z for cell z, and how often it repeats.
    masks = np.zeros(width * width, np.uint8)
    at = 0
    for word in text.split():
        mask, _, count = word.partition("x")
        end = at + int(count or 1)
        masks[at:end] = int(mask, 16)
        at = end
    bits = np.unpackbits(masks[:, None], axis=1, bitorder="little")[:, :height]
    return bits.astype(bool).reshape(width, width, height)


def wrong_water(water: Cells, verdicts: Verdicts) -> Cells:
    """Return the water in forbidden places: visible from above, or on levels that must be dry."""
    wrong = np.zeros_like(water)
    for x, y in verdicts.failures.get("no_visible_water", ()):
        wet = np.nonzero(water[x, y])[0]
        if len(wet):
            wrong[x, y, wet[-1]] = True
    for z in verdicts.failures.get("dry_levels", ()):
        wrong[:, :, z] = water[:, :, z]
    return wrong


def lake_cells(water: Cells) -> list[Cells]:
    """Return the first lakes (cells joined by faces) in the order of verdicts."""
    space = earthworks.padded(water)
    parts = earthworks.parts(
        earthworks.pack(space), earthworks.padded_strides(water.shape)
    )
    _, depth, height = water.shape
    lakes = []
    for part in islice(parts, _MOST_LAKES):
        lake = earthworks.unpack(part, space.shape)
        lakes.append(lake[:, :depth, :height])
    return lakes


def window(changed: Cells) -> tuple[slice, slice]:
    """Return the x and y of a square around all changed columns, with some margin."""
    world = len(changed)
    if world <= _UNCUT:
        return slice(0, world), slice(0, world)
    places = np.argwhere(changed)
    low = np.maximum(places.min(axis=0) - _ROOM, 0)
    high = np.minimum(places.max(axis=0) + 1 + _ROOM, world)
    width = min(max(int((high - low).max()), _LEAST_WIDE), world)
    x, y = np.clip((low + high - width) // 2, 0, world - width).tolist()
    return slice(x, x + width), slice(y, y + width)


def cut_open(world: World, cut: int) -> World:
    """Return the half of a world behind a row, counted from the world's corner."""
    behind = np.zeros_like(world.rock)
    behind[:, cut:] = True
    return world._replace(
        rock=world.rock & behind,
        fallen=world.fallen & behind,
        water=world.water & behind,
        wrong=world.wrong & behind,
        drains=[(x, y) for x, y in world.drains if y >= cut],
    )


def cut_row(world: World, verdicts: Verdicts) -> int:
    """Return the row for a cut: through a fault, the goal's water, or any water."""
    if world.wrong.any():
        return int(np.argwhere(world.wrong)[0][1])
    column = verdicts.details("goal").get("column")
    if column:
        return int(column[1]) - world.corner[1]
    if world.lakes:
        largest = max(world.lakes, key=lambda lake: int(lake.sum()))
        return middle_cell(np.any(largest, axis=2))[1]
    if world.drains:
        return world.drains[0][1]
    return world.width // 2


def middle_cell(mask: Cells) -> tuple[int, int]:
    """Return the cell of a map, indexed x, y, that is nearest to the middle of all its cells."""
    places = np.argwhere(mask)
    off = ((places - places.mean(axis=0)) ** 2).sum(axis=1)
    x, y = places[off.argmin()].tolist()
    return x, y


def height_stretch(width: int) -> float:
    """Return the vertical exaggeration, so that wide worlds do not look flat."""
    return max(1.0, width / 24)


def stretched(mesh: Mesh, stretch: float) -> Mesh:
    """Return a mesh with stretched heights."""
    scale = np.array([1.0, 1.0, stretch])
    lines = tuple(line * scale for line in mesh.outline)
    return replace(mesh, points=mesh.points * scale, outline=lines)


def vertical_line(x: int, y: int, start: float, end: float) -> Points:
    """Return a line through the middle of a column, from one height to another."""
    return np.array([(x + 0.5, y + 0.5, start), (x + 0.5, y + 0.5, end)])


def zone_wire(
    low: Sequence[int], high_cell: Sequence[int], stretch: float, role: str, name: str
) -> Lines:
    """Return the edges of a box of cells, the highest cell included."""
    a, b, c = low
    d, e, f = high_cell
    high = (d + 1, e + 1, (f + 1) * stretch)
    return wire((a, b, c * stretch), high, role, width=2, name=name)


def world_scene(
    params: Params, world: World, answer: Answer | None, verdicts: Verdicts
) -> Scene:
    """Return the world in 3D; zones and boxes only with an answer."""
    width = world.width
    stretch = height_stretch(world.width)
    top = params.height * stretch
    solid = world.rock | world.water
    parts: list[Shape] = [
        wire((0, 0, 0), (width, width, top), "faint", name="the world")
    ]
    for mask, role, name in (
        (world.rock & ~world.fallen, "rock", "rock"),
        (world.fallen & world.rock, "wrong", "rock that fell"),
        (world.water & ~world.wrong, "water", "water"),
        (world.wrong, "wrong", "water in a forbidden place"),
    ):
        if mask.any():
            mesh = voxels(mask, role, neighbours=solid, name=name)
            parts.append(stretched(mesh, stretch))
    for x, y, z in np.argwhere(world.wrong)[:_MOST_LAKES].tolist():
        sight = (vertical_line(x, y, (z + 1) * stretch, top * 1.2),)
        parts.append(Lines(sight, "wrong", 2, dashed=True, name="visible from above"))
    drains = [
        vertical_line(x, y, top * 1.2, -top * 0.2)
        for x, y in world.drains[:_MOST_LAKES]
    ]
    if drains:
        name = "water runs out at z = 0"
        parts.append(Lines(tuple(drains), "wrong", 3, dashed=True, name=name))
    if answer is not None:
        shift = (*world.corner, 0)
        for zone in params.protected:
            low_cell = np.subtract(zone.low, shift).tolist()
            high_cell = np.subtract(zone.high, shift).tolist()
            parts.append(zone_wire(low_cell, high_cell, stretch, "note", "protected"))
        parts += ignored_boxes(world, answer, verdicts)
    parts += lake_marks(world, stretch)
    return Scene(tuple(parts), azimuth=-60, elevation=35)


def ignored_boxes(world: World, answer: Answer, verdicts: Verdicts) -> list[Lines]:
    """Return the nearby boxes that the verdict names as ignored."""
    stretch = height_stretch(world.width)
    frames = []
    for i, _ in verdicts.failures.get("boxes", ()):
        box = answer.earthworks[i] if i < len(answer.earthworks) else None
        if box is None:
            continue
        # A box may have its corners the wrong way round.
        corners = (near_cell(box.xyzMin, world), near_cell(box.xyzMax, world))
        low = [min(pair) for pair in zip(*corners, strict=True)]
        high = [max(pair) for pair in zip(*corners, strict=True)]
        frames.append(zone_wire(low, high, stretch, "wrong", f"box {i}, ignored"))
    return frames


def near_cell(cell: Sequence[float], world: World) -> list[int]:
    """Return a cell relative to the world's corner, clipped: answers may name any cell."""
    start = (*world.corner, 0)
    size = (world.width, world.width, world.height)
    near = []
    for value, first, count in zip(cell, start, size, strict=True):
        pulled = min(max(value - first, -_AHEAD), count + _AHEAD)
        near.append(int(pulled))
    return near


def lake_marks(world: World, stretch: float) -> list[Marks]:
    """Return the number of each lake above its middle, if there are several lakes."""
    spots = []
    names = []
    for i, lake in enumerate(world.lakes):
        # A lake may lie outside the half of the world that is shown.
        if (lake & world.water).any():
            x, y = middle_cell(np.any(lake, axis=2))
            z = int(np.nonzero(lake[x, y])[0][-1])
            spots.append((x + 0.5, y + 0.5, (z + 1.6) * stretch))
            names.append(str(i + 1))
    if not spots or len(world.lakes) == 1:
        return []
    return [Marks(np.array(spots), "ink", 0, tuple(names), name="lakes")]


def level_maps(world: World, verdicts: Verdicts) -> Drawing:
    """Return a map of every level that is not all rock or all air, the highest first."""
    dry = verdicts.failures.get("dry_levels", ())
    width = world.width
    levels = mixed_levels(world)
    columns = min(_PER_ROW, len(levels))
    rows = -(-len(levels) // columns)
    # A whole number of pixels for each cell, so that no seams show between boxes.
    cell = max(_MAP // width, 2)
    pitch = (width + 16 / cell, width + 24 / cell)
    frame = (0, 0, columns * pitch[0], rows * pitch[1])
    drawing = Drawing(frame, size=cell * max(frame[2:]), margin=8)
    for k, z in enumerate(levels):
        corner = (k % columns * pitch[0], (rows - 1 - k // columns) * pitch[1])
        draw_level(drawing, world, z, corner)
        if z == 0:
            for x, y in world.drains:
                drawing.cross(middle(x, y, corner), "wrong", radius=4, width=2)
        role = "ink"
        words = f"z = {z}"
        if z in dry:
            role = "wrong"
            words = f"z = {z}: must be dry"
        place = (corner[0], corner[1] + width)
        drawing.text(place, words, role, anchor="start", shift=(0, -9), bold=z in dry)
    return drawing


def mixed_levels(world: World) -> list[int]:
    """Return the levels that are not all rock or all air, the highest first; else the lowest."""
    levels = []
    for z in reversed(range(world.height)):
        rock = world.rock[:, :, z]
        if world.water[:, :, z].any() or (rock.any() and not rock.all()):
            levels.append(z)
    return levels or [0]


def draw_level(drawing: Drawing, world: World, z: int, corner: XY) -> None:
    """Draw the map of one level, with numbers on lakes that are largest there."""
    width = world.width
    paint_cut(drawing, world, np.s_[:, :, z], corner, 0.55)
    wrong = np.argwhere(world.wrong[:, :, z]).tolist()
    # More rings would overlap.
    if len(wrong) <= _MOST_LAKES:
        for x, y in wrong:
            drawing.ring(middle(x, y, corner), "wrong", radius=7)
    opposite = (corner[0] + width, corner[1] + width)
    drawing.outline(corner, opposite, "quiet", width=1)
    for i, lake in enumerate(world.lakes):
        levels = lake.sum(axis=(0, 1))
        if int(levels.argmax()) == z:
            place = middle(*middle_cell(lake[:, :, z]), corner)
            drawing.text(place, i + 1, size=13, bold=True)


def middle(x: int, y: int, corner: XY) -> XY:
    """Return the middle of a cell of a map; `corner` is the corner of cell (0, 0)."""
    return corner[0] + x + 0.5, corner[1] + y + 0.5


def side_cut(world: World, cut: int) -> Drawing:
    """Return a side view of the world cut along x at a row, relative to the world's corner."""
    width = world.width
    height = world.height
    cell = max(_CUT // width, 4)
    drawing = Drawing((0, 0, width, height), size=cell * max(width, height), margin=22)
    paint_cut(drawing, world, np.s_[:, cut], (0, 0), 0.75)
    for x, z in np.argwhere(world.wrong[:, cut]).tolist():
        ends = [(x + 0.5, z + 1), (x + 0.5, height)]
        drawing.line(ends, "wrong", width=1.5, dashed=True)
    for x, y in world.drains:
        if y == cut:
            drain_ends = [(x + 0.5, 1), (x + 0.5, -0.4)]
            drawing.line(drain_ends, "wrong", width=2.5, arrow=True)
    for x in sorted({x for x, y in world.rain if y == cut}):
        ends = [(x + 0.5, height), (x + 0.5, height - 1)]
        drawing.line(ends, "water", width=2, arrow=True)
    drawing.outline((0, 0), (width, height), "quiet", width=1)
    for z in range(height):
        drawing.text((0, z + 0.5), z, "quiet", size=9, anchor="end", shift=(-4, 0))
    start = world.corner[0]
    words = f"x = {start}"
    drawing.text((0, 0), words, "quiet", size=10, anchor="start", shift=(0, 12))
    end = start + width - 1
    drawing.text((width, 0), end, "quiet", size=10, anchor="end", shift=(0, 12))
    return drawing


def paint_cut(
    drawing: Drawing,
    world: World,
    part: Part,
    corner: XY,
    opacity: float,
) -> None:
    """Paint the cells of a flat cut through a world; `opacity` applies to rock."""
    rock = world.rock[part]
    fallen = world.fallen[part]
    water = world.water[part]
    wrong = world.wrong[part]
    paint_cells(drawing, rock & ~fallen, corner, "rock", opacity=opacity)
    paint_cells(drawing, rock & fallen, corner, "wrong", opacity=0.8)
    paint_cells(drawing, water & ~wrong, corner, "water")
    paint_cells(drawing, wrong, corner, "wrong", hatched=True)


def paint_cells(
    drawing: Drawing,
    mask: Cells,
    corner: XY,
    role: str,
    **fill: Unpack[Fill],
) -> None:
    """Paint the cells of a map, indexed x, y, as few boxes; `corner` is the corner of (0, 0)."""
    x, y = corner
    boxes = [(x + a, y + b, x + c, y + d) for a, b, c, d in rectangles(mask)]
    drawing.mosaic(boxes, role, crisp=True, **fill)


def lake_table(verdicts: Verdicts) -> Drawing:
    """Return the figures of the first lakes; lakes that meet the goal are ticked."""
    metrics = verdicts.metrics
    details = verdicts.details("goal")
    good = {*details.get("lakes", ()), details.get("lake")}
    lakes = metrics["lakes"][:_MOST_LAKES]
    height = _TABLE_ROW * (len(lakes) + 2)
    drawing = pixel_canvas(_TABLE_WIDTH, height, margin=16)
    for title, place in _TABLE_COLUMNS.items():
        drawing.text((place, 8), title, "quiet", size=11)
    # Water may be visible unless the goal forbids it.
    forbidden = verdicts.passed("no_visible_water") is not None
    for i, lake in enumerate(lakes):
        y = (i + 1) * _TABLE_ROW + 8
        wrong = forbidden and lake["visible"]
        if i in good:
            drawing.tick((next(iter(_TABLE_COLUMNS.values())) + 20, y), "right")
        for place, value in zip(
            _TABLE_COLUMNS.values(), lake_values(i, lake), strict=True
        ):
            role = "right" if i in good else "ink"
            if wrong and value == "visible":
                role = "wrong"
            drawing.text((place, y), value, role, size=12, bold=role != "ink")
    remainder = metrics["lake_count"] - len(lakes)
    if remainder > 0:
        y = (len(lakes) + 1) * _TABLE_ROW + 8
        drawing.text((0, y), f"and {remainder} more", "quiet", anchor="start", size=11)
    return drawing


def lake_values(i: int, lake: Mapping[str, Any]) -> list[object]:
    """Return the row of a lake in the table of lakes."""
    levels = [z for z, count in enumerate(lake["levels"]) if count]
    span = f"{levels[0]}-{levels[-1]}" if len(levels) > 1 else levels[0]
    return [
        i + 1,
        lake["voxels"],
        lake["columns"],
        span,
        "visible" if lake["visible"] else "hidden",
    ]


def goal_gauges(params: Params, verdicts: Verdicts) -> list[Gauge]:
    """Return the gauges of the goal and of forbidden water; none without a verdict."""
    goal = verdicts.check("goal")
    if goal is None or "wanted" not in goal.details:
        return []
    kind = params.goal.kind
    reached = goal.details["reached"]
    target = goal.details["wanted"]
    sense = "at least"
    if kind == "exact_volume":
        reached = verdicts.metrics["water_voxels"]
        sense = "exactly"
    gauges = [Gauge(_COUNTED[kind], reached, target, goal.passed, sense)]
    for check_id, label in _FAULT_GAUGES.items():
        check = verdicts.check(check_id)
        if check is not None:
            count = check.details.get("count", 0)
            gauges.append(Gauge(label, count, 0, check.passed, "at most"))
    return gauges


def answer_legend(params: Params, world: World, verdicts: Verdicts) -> Legend:
    """Return the legend of a world after the rain."""
    legend = [("rock", "rock"), *zone_line(params)]
    if world.water.any():
        legend.append(("water", "water"))
    clauses = {
        "rock that fell": world.fallen.any(),
        "hatched: water in a forbidden place": world.wrong.any(),
        "crosses and dashed lines: water runs out at z = 0": world.drains,
        "frames: ignored boxes": verdicts.failures.get("boxes"),
    }
    return legend + wrong_line(clauses)


def answer_caption(goal: str, verdicts: Verdicts) -> str:
    """Return the goal, the water that remains, and the faults."""
    metrics = verdicts.metrics
    lakes = metrics["lake_count"]
    water = metrics["water_voxels"]
    if water:
        summary = (
            f"Result: {counted(water, 'voxel')} of water in {counted(lakes, 'lake')}"
        )
    else:
        summary = "No water stays"
        fates = set(metrics.get("last_round", ()))
        sides = {"side": "over the sides", "bottom": "out at the bottom"}
        ways = [words for fate, words in sides.items() if fate in fates]
        if ways:
            summary += f"; it runs {' and '.join(ways)}"
    visible = verdicts.fault_count("no_visible_water")
    if visible:
        summary += f", visible from above in {counted(visible, 'column')}"
    if verdicts.failed("roofs"):
        summary += "; too many columns are roofed"
    if verdicts.failed("box_count"):
        summary += "; the list has more boxes than allowed"
    boxes = verdicts.fault_count("boxes")
    if boxes:
        noun = "box was" if boxes == 1 else "boxes were"
        summary += f"; {boxes} {noun} ignored"
    return f"Goal: {goal}. {summary}. {verdicts.fraction.capitalize()}."


def lake_text(world: World) -> str:
    """Return the lakes from above in characters, the highest y first."""
    table = [["."] * world.width for _ in range(world.width)]
    for x, y in np.argwhere(world.water.any(axis=2)).tolist():
        table[y][x] = "~"
    for name, lake in zip(_LAKE_NAMES, world.lakes, strict=False):
        for x, y in np.argwhere(np.any(lake, axis=2)).tolist():
            table[y][x] = name
    for x, y, _ in np.argwhere(world.wrong).tolist():
        table[y][x] = "!"
    lines = ["".join(row) for row in reversed(table)]
    x, y = world.corner
    key = f"x from {x}, y up from {y}; lakes by number, from above; !: water in a forbidden place"
    return "\n".join([*lines, "", key])
