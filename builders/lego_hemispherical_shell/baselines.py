"""Columns of bricks that stand on the table, each by itself."""

import numpy as np
from pydantic import JsonValue

from scbench.builders.lego_hemispherical_shell.brick_layers import lattice
from scbench.graders.lego_hemispherical_shell.bricks import HEIGHT, STUD, body
from scbench.schemas.lego_hemispherical_shell import Params

_SIDES = ((4, 2), (2, 4))


def baselines(params: Params) -> dict[str, JsonValue]:
    """Return columns in rows, and columns put greedily wherever one adds most."""
    return {
        "rows of brick columns": _columns(params, in_rows=True),
        "brick columns": _columns(params, in_rows=False),
    }


def _columns(params: Params, *, in_rows: bool) -> JsonValue:
    """Stack bricks where that adds to the score, as high as it does, on one grid of studs."""
    cells = lattice(body(params), params.outer_radius_mm, (0.0, 0.0))
    found = []
    for turned, (a, b) in enumerate(_SIDES[:1] if in_rows else _SIDES):
        windows = np.lib.stride_tricks.sliding_window_view(cells.shares, (a, b), axis=(1, 2))
        # What a brick adds if its share f lies in the target is 2 f - 1/2, see `brick_layers`.
        # A column ends below the first brick that lies in none of it.
        shares = windows.mean(axis=(3, 4)).round(6)
        standing = np.logical_and.accumulate(shares > 0, axis=0)
        gains = np.where(standing, 2 * shares - 0.5, -np.inf).cumsum(axis=0)
        highest, best = gains.argmax(axis=0), gains.max(axis=0)
        found += [
            (-best[i, j], turned, i, j, int(highest[i, j]) + 1)
            for i, j in np.argwhere(best > 0).tolist()
            if not in_rows or (i % a == 0 and j % b == 0)
        ]
    taken = np.zeros((cells.width, cells.width), bool)
    bricks: list[JsonValue] = []
    for _, turned, i, j, height in sorted(found):
        a, b = _SIDES[turned]
        if taken[i : i + a, j : j + b].any():
            continue
        taken[i : i + a, j : j + b] = True
        x, y = ((k - cells.width / 2) * STUD for k in (i + a / 2, j + b / 2))
        bricks += [
            {"Centroid": [x, y, HEIGHT * (level + 0.5)], "RotationDegrees": 90.0 * turned}
            for level in range(height)
        ]
    return {"bricks": bricks}
