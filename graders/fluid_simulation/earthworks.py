"""Boxes that change a voxel world."""

from collections.abc import Sequence

import numpy as np

from scbench.graders.fluid_simulation.bitsets import Cells
from scbench.schemas.fluid_simulation import Earthwork, Params, Zone

Box = tuple[slice, slice, slice]


def ground(params: Params) -> Cells:
    """Return the rock at the start, as a boolean array [x, y, z]."""
    rock = np.zeros((params.width, params.width, params.height), bool)
    rock[:, :, : params.rock_layers] = True
    for box in params.ground:
        rock[_slices(box.low, box.high)] = box.material == "Rock"
    return rock


def carry_out(
    params: Params, boxes: Sequence[Earthwork | None]
) -> tuple[Cells, list[list[object]]]:
    """Change the ground box by box; an invalid box is ignored as a whole.

    Returns:
        The rock, not yet settled, and [position, reason] of every box passed over.
    """
    rock = ground(params)
    ignored: list[list[object]] = []
    for i, box in enumerate(boxes):
        problem = "it is not a box of Air or Rock with three numbers for each corner"
        if box is not None:
            low, high = [int(v) for v in box.xyzMin], [int(v) for v in box.xyzMax]
            problem = _problem(params, low, high)
            if not problem:
                rock[_slices(low, high)] = box.material == "Rock"
        if problem:
            ignored.append([i, problem])
    return rock, ignored


def _problem(params: Params, low: Sequence[int], high: Sequence[int]) -> str:
    end = (params.width, params.width, params.height)
    if any(a > b for a, b in zip(low, high, strict=True)):
        return "xyzMin is above xyzMax"
    if min(low) < 0 or any(b >= n for b, n in zip(high, end, strict=True)):
        return "it is not wholly inside the world"
    if any(_meet(low, high, zone) for zone in params.protected):
        return "it reaches into a protected zone"
    return ""


def _meet(low: Sequence[int], high: Sequence[int], zone: Zone) -> bool:
    return all(a <= d and c <= b for a, b, c, d in zip(low, high, zone.low, zone.high, strict=True))


def _slices(low: Sequence[int], high: Sequence[int]) -> Box:
    (x, y, z), (u, v, w) = low, high
    return (slice(x, u + 1), slice(y, v + 1), slice(z, w + 1))
