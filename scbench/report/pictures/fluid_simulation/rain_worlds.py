"""Voxel worlds after rain, read from the text in verdicts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from scbench.base.model import Verdict
from scbench.graders.fluid_simulation.bitsets import (
    Cells,
    pack,
    padded,
    padded_strides,
    parts,
    unpack,
)
from scbench.graders.fluid_simulation.earthworks import ground
from scbench.report.picture import failures
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


def read_world(params: Params, metrics: Mapping[str, Any], verdicts: Sequence[Verdict]) -> World:
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
    failed = failures(verdicts)
    wrong = np.zeros_like(water)
    for x, y in failed.get("no_visible_water", ()):
        wet = np.nonzero(water[x, y])[0]
        if len(wet):
            wrong[x, y, wet[-1]] = True
    for z in failed.get("dry_levels", ()):
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
