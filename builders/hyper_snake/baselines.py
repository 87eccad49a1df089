"""Paths that look no further than the next cell."""

from collections.abc import Sequence

from pydantic import JsonValue

from scbench.schemas.hyper_snake import Params

Cell = tuple[int, ...]


def baselines(params: Params) -> dict[str, JsonValue]:
    """Return a path that turns only when it must, and one into the narrowest cell each time."""
    return {
        "straight on": _path(params, narrow=False),
        "narrowest cell first": _path(params, narrow=True),
    }


def _path(params: Params, *, narrow: bool) -> JsonValue:
    """Move on until there is no free cell beside the last one; ways are tried axis by axis."""
    blocked = {tuple(cell) for cell in params.walls}
    here: Cell = tuple(params.start)
    path, way = [here], 0

    def free(cell: Cell) -> list[tuple[int, Cell]]:
        beside = ((i, _next_cell(cell, i)) for i in range(2 * len(params.size)))
        return [
            (i, near)
            for i, near in beside
            if 0 <= near[i // 2] < params.size[i // 2] and near not in blocked
        ]

    while True:
        blocked.add(here)
        ways = free(here)
        if not ways:
            return {"path": [{"pos": list(cell)} for cell in path]}
        if narrow:
            way, here = min(ways, key=lambda option: (len(free(option[1])), option[0]))
        else:
            way, here = min(ways, key=lambda option: (option[0] != way, option[0]))
        path.append(here)


def _next_cell(cell: Sequence[int], way: int) -> Cell:
    """Return the next cell, up an axis for even ways and down it for odd ones."""
    axis, back = divmod(way, 2)
    return (*cell[:axis], cell[axis] + (-1 if back else 1), *cell[axis + 1 :])
