"""Rain and level queries, checked with the plain simulation, and their limits."""

import json
import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from scbench.base.seeding import Stream
from scbench.catalog import get_task
from scbench.graders.fluid_simulation import queries
from scbench.graders.fluid_simulation.earthworks import TooMuchWorkError
from scbench.graders.fluid_simulation.queries import MOST_BOXES, Level, Rain
from scbench.graders.shared.interaction import QueryError
from scbench.schemas.fluid_simulation import Params

plain = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parent.parent / "plain_water.py"))
)
BUILDER = get_task("fluid_simulation").builder()


def ask(kind, params, boxes, **fields):
    line = json.dumps({"query": kind.__name__.lower(), "earthworks": boxes} | fields)
    return kind.model_validate_json(line).observe(params)


def world(width, height, layers=3, **changes):
    c = width // 2
    fields = {
        "width": width, "height": height, "rock_layers": layers, "ground": (), "protected": (),
        "rain": ((c, c), (c + 1, c), (1, 2)), "max_boxes": None,
        "goal": {"kind": "lake_surface", "min_columns": 4},
    }  # fmt: skip
    return Params.model_validate(fields | changes)


def random_boxes(rng, width, height):
    """Return pits in the ground, then boxes anywhere, some partly outside the world."""
    boxes = []
    for _ in range(rng.between(0, 4)):
        low = [rng.between(1, width - 3), rng.between(1, width - 3), rng.between(1, 2)]
        high = [low[0] + rng.between(0, 1), low[1] + rng.between(0, 2), 2]
        boxes.append({"xyzMin": low, "xyzMax": high, "material": "Air"})
    for _ in range(rng.between(1, 5)):
        size = (width, width, height)
        low = [rng.between(0, n - 1) for n in size]
        high = [min(n, a + rng.between(0, 4)) for n, a in zip(size, low, strict=True)]
        boxes.append(
            {"xyzMin": low, "xyzMax": high, "material": rng.choice(("Air", "Rock"))}
        )
    return boxes


def levels_of(cells):
    counts = Counter(z for _, _, z in cells)
    return {str(z): count for z, count in counts.items()}


def columns_of(cells):
    return {(x, y) for x, y, _ in cells}


def is_open_above(cell, rock, height):
    """Return whether drops can fall to a cell from the layer where they start."""
    x, y, z = cell
    return not any((x, y, level) in rock for level in range(z, height - 1))


def facts_of(lake, open_air):
    """Return the entry of a lake in the report of a rain query."""
    return {
        "voxels": len(lake),
        "columns": len(columns_of(lake)),
        "levels": levels_of(lake),
        "low": [min(cell[i] for cell in lake) for i in range(3)],
        "high": [max(cell[i] for cell in lake) for i in range(3)],
        "visible": bool(lake & open_air),
    }


def depth_from(cell, wet):
    """Count the wet cells from a cell upwards, without a gap."""
    x, y, z = cell
    depth = 0
    while (x, y, z + depth) in wet:
        depth += 1
    return depth


def mark(cell, wet, rock):
    """Return the character of a cell in a level map."""
    if cell in wet:
        return "~"
    return "#" if cell in rock else "."


@pytest.mark.parametrize("seed", range(12))
def test_queries_match_plain_simulation(seed):
    rng = Stream("rain asked for", seed)
    width, height = rng.between(8, 10), rng.between(5, 8)
    params, boxes = world(width, height), random_boxes(rng, width, height)
    carved = plain.carve(plain.flat(width, height), boxes, width, height)
    rock = plain.settle(carved)
    wet = plain.rain_on(rock, params.rain, width, height)
    report = ask(Rain, params, boxes)

    assert report["water"]["voxels"] == len(wet)
    assert report["water"]["levels"] == levels_of(wet)
    open_air = {cell for cell in wet if is_open_above(cell, rock, height)}
    assert report["visible"]["count"] == len(columns_of(open_air))
    lakes = sorted(plain.pieces(wet), key=len, reverse=True)
    assert report["lakes"]["count"] == len(lakes)
    facts = [facts_of(lake, open_air) for lake in lakes[:8]]
    assert report["lakes"]["first"] == facts
    deepest = max((depth_from(cell, wet) for cell in wet), default=0)
    assert report["deepest"]["voxels"] == deepest
    assert (report["fallen_rock"]["voxels"] == 0) == (carved == rock)

    z = rng.between(0, height - 1)
    left, right = sorted((rng.between(0, width - 1), rng.between(0, width - 1)))
    near, far = sorted((rng.between(0, width - 1), rng.between(0, width - 1)))
    level = ask(Level, params, boxes, z=z, low=[left, near], high=[right, far])
    rows = []
    for y in range(near, far + 1):
        marks = [mark((x, y, z), wet, rock) for x in range(left, right + 1)]
        rows.append("".join(marks))
    assert level["rows"] == rows


def test_report_lists_fallen_rock_and_lost_drops():
    slab = {"xyzMin": [2, 2, 5], "xyzMax": [4, 3, 6], "material": "Rock"}
    pit = {"xyzMin": [6, 6, 0], "xyzMax": [7, 6, 2], "material": "Air"}
    params = world(10, 8, rain=((6, 6), (2, 2)))
    report = ask(Rain, params, [slab, pit, {"xyzMin": [0, 0, 0], "material": "Air"}])
    assert report["fallen_rock"] == {"voxels": 12, "low": [2, 2, 3], "high": [4, 3, 4]}
    assert report["drained"] == {"count": 2, "first": [[6, 6], [7, 6]]}
    assert report["last_round"] == ["bottom", "bottom"]
    assert report["ignored"]["count"] == 1
    assert report["ignored"]["first"][0].startswith("box 2: ")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"z": 8, "low": [0, 0], "high": [1, 1]}, "z must be in 0..7"),
        ({"z": 1, "low": [3, 0], "high": [1, 1]}, "low must not be above high"),
        ({"z": 1, "low": [0, 0], "high": [64, 10**300]}, "in 0..63"),
        ({"z": 1, "low": [0, 0], "high": [63, 63]}, "at most 1,600 voxels"),
        ({"z": 1, "low": [0, 0], "high": [39, 40]}, "at most 1,600 voxels"),
    ],
)
def test_level_outside_world_or_too_large_is_rejected(fields, why):
    with pytest.raises(QueryError, match=why):
        ask(Level, world(64, 8), [], **fields)


def test_level_map_may_show_1600_voxels():
    rows = ask(Level, world(64, 8), [], z=1, low=[0, 0], high=[39, 39])["rows"]
    assert [len(row) for row in rows] == [40] * 40


def test_too_many_boxes_are_rejected():
    with pytest.raises(QueryError, match="the list has 2 boxes; the limit is 1"):
        ask(Rain, world(16, 8, max_boxes=1), [{"bad": 1}] * 2)
    with pytest.raises(ValueError, match="at most 1000 items"):
        ask(Rain, world(16, 8), [{}] * (MOST_BOXES + 1))


@pytest.mark.parametrize("step", ["settle", "rain_on"])
def test_excessive_work_is_rejected(step, monkeypatch):
    def stop(*_):
        raise TooMuchWorkError("drops searched more than 5 voxels")

    monkeypatch.setattr(queries, step, stop)
    with pytest.raises(
        QueryError, match="the simulation was stopped: drops searched more"
    ):
        ask(Rain, world(12, 8), [])
