"""Voxel worlds after rain, read from the text in verdicts."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from scbench.graders.fluid_simulation.earthworks import (
    Cells,
    ground,
    pack,
    padded,
    padded_strides,
    parts,
    unpack,
)
from scbench.report.draw.svg import Drawing
from scbench.report.draw.voxels import rectangles
from scbench.report.picture import Verdicts
from scbench.schemas.fluid_simulation import Params

MOST_LAKES = 12
"""Lakes told apart; there may be hundreds of puddles."""

_UNCUT = 16
"""Width up to which all of a world is drawn."""
_ROOM = 2
_LEAST_WIDE = 9
"""Cells around what the answer changed, and in all, that are drawn of a larger world."""


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


def read_world(params: Params, metrics: Mapping[str, Any], verdicts: Verdicts) -> World:
    """Return what a verdict's metrics and failed checks tell of the world.

    Args:
        params: the world before.
        metrics: of the verdict; they must hold the world.
        verdicts: whose failed checks tell which water is wrong.
    """
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
    changed = np.any(water | (rock ^ ground(params)), axis=2)
    for x, y in [*drains, *params.rain]:
        changed[x, y] = True
    x, y, width = _window(changed)
    part = np.s_[x : x + width, y : y + width]
    return World(
        rock[part],
        fallen[part],
        water[part],
        wrong[part],
        [lake[part] for lake in bodies(water, MOST_LAKES)],
        (x, y),
        [(a - x, b - y) for a, b in drains],
        [(a - x, b - y) for a, b in params.rain],
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
        min(max(0, int(a + b - width) // 2), world - width) for a, b in zip(low, high, strict=True)
    )
    return x, y, width


def cut_open(world: World, cut: int) -> World:
    """Return the world without what lies before a row."""
    behind = np.zeros_like(world.rock)
    behind[:, cut:] = True
    return world._replace(
        rock=world.rock & behind,
        fallen=world.fallen & behind,
        water=world.water & behind,
        wrong=world.wrong & behind,
        drains=[(x, y) for x, y in world.drains if y >= cut],
    )


def cells_from_text(text: str, width: int, height: int) -> Cells:
    """Return the cells that `scbench.graders.fluid_simulation.columns_as_text` wrote down.

    Args:
        text: such as ``07x30 00 07``.
        width: cells along x and along y.
        height: cells along z.

    Returns:
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


def bodies(water: Cells, limit: int) -> list[Cells]:
    """Return the bodies of water, joined face to face, in the order in which verdicts list them."""
    space = padded(water)
    lakes: list[Cells] = []
    for part in parts(pack(space), padded_strides(water.shape)):
        if len(lakes) == limit:
            break
        lakes.append(unpack(part, space.shape)[:, : water.shape[1], : water.shape[2]])
    return lakes


def middle_cell(mask: Cells) -> tuple[int, int]:
    """Return the cell of a map that is nearest to the middle of them all."""
    places = np.argwhere(mask)
    off = ((places - places.mean(axis=0)) ** 2).sum(axis=1)
    x, y = places[off.argmin()].tolist()
    return x, y


_PER_ROW = 4
_MAP = 168
_CUT = 400
"""Pixels of a map of one level and of the cut, about."""


def level_maps(world: World, dry: Collection[int]) -> Drawing:
    """Return a map of every level that is not all rock or all air, the highest first.

    Args:
        world: what is drawn.
        dry: levels that should have stayed dry.
    """
    width = world.width
    mixed = [
        z
        for z in range(world.rock.shape[2])
        if world.water[:, :, z].any()
        or not (world.rock[:, :, z].all() or not world.rock[:, :, z].any())
    ] or [0]
    mixed.reverse()
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


def _level_map(drawing: Drawing, world: World, z: int, corner: tuple[float, float]) -> None:
    width = world.width
    x, y = corner
    rock, fallen = world.rock[:, :, z], world.fallen[:, :, z]
    water, wrong = world.water[:, :, z], world.wrong[:, :, z]
    paint(drawing, rock & ~fallen, corner, "rock", opacity=0.55)
    paint(drawing, rock & fallen, corner, "wrong", opacity=0.8)
    paint(drawing, water & ~wrong, corner, "water")
    if wrong.any():
        paint(drawing, wrong, corner, "wrong", hatched=True)
        places = np.argwhere(wrong).tolist()
        for a, b in places if len(places) <= MOST_LAKES else ():
            drawing.ring((x + a + 0.5, y + b + 0.5), "wrong", radius=7)
    edge = [(x, y), (x + width, y), (x + width, y + width), (x, y + width)]
    drawing.line(edge, "quiet", closed=True, width=1)
    for i, lake in enumerate(world.lakes):
        levels = lake.sum(axis=(0, 1))
        if int(levels.argmax()) == z:
            a, b = middle_cell(lake[:, :, z])
            drawing.text((x + a + 0.5, y + b + 0.5), i + 1, size=13, bold=True)


def section(world: World, cut: int) -> Drawing:
    """Return the world cut along x at a row, counted from the world's corner, from the side."""
    width, height = world.width, world.rock.shape[2]
    cell = max(_CUT // width, 4)
    drawing = Drawing((0, 0, width, height), size=cell * max(width, height), margin=22)
    rock, fallen, water, wrong = (
        cells[:, cut] for cells in (world.rock, world.fallen, world.water, world.wrong)
    )
    paint(drawing, rock & ~fallen, (0, 0), "rock", opacity=0.75)
    paint(drawing, rock & fallen, (0, 0), "wrong", opacity=0.8)
    paint(drawing, water & ~wrong, (0, 0), "water")
    paint(drawing, wrong, (0, 0), "wrong", hatched=True)
    for x, z in np.argwhere(wrong).tolist():
        drawing.line([(x + 0.5, z + 1), (x + 0.5, height)], "wrong", width=1.5, dashed=True)
    for x, y in world.drains:
        if y == cut:
            drawing.line([(x + 0.5, 1), (x + 0.5, -0.4)], "wrong", width=2.5, arrow=True)
    for x in sorted({x for x, y in world.rain if y == cut}):
        drawing.line([(x + 0.5, height), (x + 0.5, height - 1)], "water", width=2, arrow=True)
    edge = [(0, 0), (width, 0), (width, height), (0, height)]
    drawing.line(edge, "quiet", closed=True, width=1)
    for z in range(height):
        drawing.text((0, z + 0.5), z, "quiet", size=9, anchor="end", shift=(-4, 0))
    drawing.text((0, 0), f"x = {world.corner[0]}", "quiet", size=10, anchor="start", shift=(0, 12))
    drawing.text(
        (width, 0), world.corner[0] + width - 1, "quiet", size=10, anchor="end", shift=(0, 12)
    )
    return drawing


def paint(
    drawing: Drawing,
    mask: Cells,
    corner: tuple[float, float],
    role: str,
    *,
    opacity: float = 1,
    hatched: bool = False,
) -> None:
    """Paint the cells of a map as few boxes.

    Args:
        drawing: where.
        mask: indexed x, y.
        corner: where the map's cell (0, 0) has its lower left corner.
        role: the colour.
        opacity: 1 is solid.
        hatched: whether they are hatched.
    """
    x, y = corner
    boxes = [(x + a, y + b, x + c, y + d) for a, b, c, d in rectangles(mask)]
    drawing.mosaic(boxes, role, opacity=opacity, hatched=hatched, crisp=True)
