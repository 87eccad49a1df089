"""Blasts planned on the printed map, as if no rubble came down anywhere."""

import math

from pydantic import JsonValue

from scbench.schemas.terrain_levelling import Params

_SIDE = 20
"""Of the corner that is worked on; larger plans take minutes to simulate and gain no more."""


def baselines(params: Params) -> dict[str, JsonValue]:
    """Return a plan that cuts the hills of one corner to its middle height, the highest first."""
    cells = sorted(
        (
            (h, x, y)
            for y, row in enumerate(params.heights[:_SIDE])
            for x, h in enumerate(row[:_SIDE])
        ),
        reverse=True,
    )
    level = cells[len(cells) // 2][0]
    blasts: list[JsonValue] = []
    for height, x, y in cells[: params.max_blasts]:
        # Rounded down: no cell may be lowered by more than its height.
        depth = math.floor(round(100 * (height - level), 6)) / 100
        if depth > params.flat_tolerance / 2:
            blasts.append({"x": x, "y": y, "z": depth})
    return {"hills cut to the middle height": {"blasts": blasts}}
