"""Fluid simulation: the fast rain matches the plain one, and each goal is graded at its limits."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.graders.fluid_simulation import earthworks, grade, rainfall
from scbench.graders.fluid_simulation.earthworks import settle
from scbench.graders.fluid_simulation.lakes import dry_island, survey
from scbench.graders.fluid_simulation.rainfall import rain_on
from scbench.schemas.fluid_simulation import Answer, Params

plain = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).with_name("plain_water.py")))
)
VOLUME = {"kind": "exact_volume", "voxels": 9}
POND = {"xyzMin": [6, 6, 2], "xyzMax": [8, 8, 2], "material": "Air"}
BAD_BOXES = [
    None, 3, "box", [], [6, 6, 2], {},
    POND | {"material": "Dirt"}, POND | {"material": "air"}, POND | {"material": None},
    POND | {"xyzMin": [6, 6]}, POND | {"xyzMin": [6, 6, 2, 2]}, POND | {"xyzMin": ["6", "6", "2"]},
    POND | {"xyzMin": [True, 6, 2]}, POND | {"xyzMin": {"x": 6, "y": 6, "z": 2}},
    POND | {"xyzMax": [float("nan"), 8, 2]}, POND | {"xyzMax": [float("inf"), 8, 2]},
    POND | {"xyzMax": [10**400, 8, 2]}, POND | {"xyzMax": [1e300, 8, 2]},
    POND | {"xyzMax": [16, 8, 2]}, POND | {"xyzMax": [8, 8, 8]}, POND | {"xyzMin": [-1, 6, 2]},
    POND | {"xyzMin": [8, 6, 2], "xyzMax": [6, 8, 2]}, {"xyzMin": [6, 6, 2], "material": "Air"},
]  # fmt: skip
# Two ponds, of 9 and 6 voxels.
TWO = [
    {"xyzMin": [3, 3, 2], "xyzMax": [5, 5, 2], "material": "Air"},
    {"xyzMin": [9, 9, 2], "xyzMax": [11, 10, 2], "material": "Air"},
]
TOWER = [
    {"xyzMin": [5, 5, 3], "xyzMax": [11, 11, 5], "material": "Rock"},
    {"xyzMin": [6, 6, 5], "xyzMax": [10, 10, 5], "material": "Air"},
]
# A pillar, and a roof on it over POND.
ROOF = [
    {"xyzMin": [5, 5, 3], "xyzMax": [5, 5, 4], "material": "Rock"},
    {"xyzMin": [5, 5, 5], "xyzMax": [9, 9, 5], "material": "Rock"},
]


def centre(width):
    c = width // 2
    return ((c, c), (c + 1, c), (c, c + 1), (c + 1, c + 1))


def world(goal, width=16, **changes):
    return Params.model_validate(
        {
            "width": width, "height": 8, "rock_layers": 3, "ground": (), "protected": (),
            "rain": centre(width), "max_boxes": None, "goal": goal,
        }
        | changes
    )  # fmt: skip


def air(*corners):
    return {"xyzMin": list(corners[:3]), "xyzMax": list(corners[3:]), "material": "Air"}


def rock(*corners):
    return air(*corners) | {"material": "Rock"}


def verdict(params, *boxes):
    return grade(params, Answer.model_validate({"earthworks": boxes}))


def failed(params, *boxes):
    return {check.id for check in verdict(params, *boxes).failed}


def array(cells, width, height=8):
    built = np.zeros((width, width, height), bool)
    for cell in cells:
        built[cell] = True
    return built


def cells(grid):
    return {tuple(int(v) for v in cell) for cell in np.argwhere(grid)}


# The simulator.


@st.composite
def worlds(draw):
    width, height = draw(st.integers(4, 10)), draw(st.integers(3, 8))
    built = plain.flat(width, height, draw(st.integers(1, height - 1)))
    column = st.tuples(st.integers(0, width - 1), st.integers(0, width - 1))
    corner = st.tuples(*(st.integers(0, n - 1) for n in (width, width, height)))
    material = st.sampled_from(["Air", "Rock"])
    boxes = draw(st.lists(st.tuples(corner, corner, material), max_size=8))
    for one, other, filling in boxes:
        box = {
            "xyzMin": np.minimum(one, other).tolist(),
            "xyzMax": np.maximum(one, other).tolist(),
            "material": filling,
        }
        built = plain.carve(built, [box], width, height)
    built ^= draw(st.sets(corner, max_size=40))  # single cells added and removed
    columns = draw(st.lists(column, min_size=1, max_size=5))
    return built, width, height, columns


def columns_of(cells):
    return {(x, y) for x, y, _ in cells}


def test_drops_take_another_way_when_an_exit_is_full():
    # Rows y = 0 to 3 of each layer, from below. Drops start at (2, 2) in the top layer and can
    # leave it at (2, 1) and (1, 2) until water stands there.
    layers = [
        ["####", "####", "####", "####"],
        ["####", "#..#", "####", "####"],
        ["####", "##.#", "#.##", "####"],
        ["####", "##.#", "#..#", "####"],
    ]
    is_rock = np.array([[list(row) for row in layer] for layer in layers]) == "#"
    rock = is_rock.transpose(2, 1, 0)
    assert np.array_equal(rain_on(rock, [(2, 2)]).water, ~rock)


@given(worlds())
def test_fast_and_plain_simulations_agree(built):
    start, width, height, columns = built
    settled = plain.settle(start)
    fast_rock, fallen = settle(array(start, width, height))
    assert cells(fast_rock) == settled
    assert cells(fallen) >= settled - start
    wet = plain.rain_on(settled, columns, width, height)
    rained = rain_on(fast_rock, columns)
    assert cells(rained.water) == wet
    measured = survey(fast_rock, rained.water)
    lakes = plain.pieces(wet)
    assert [lake.voxels for lake in measured.lakes] == [len(lake) for lake in lakes]
    surfaces = [len(columns_of(lake)) for lake in lakes]
    assert [lake.surface for lake in measured.lakes] == surfaces

    open_columns, roofed_columns = set(), set()
    for x, y, z in wet:
        if not any((x, y, above) in settled for above in range(z, height - 1)):
            open_columns.add((x, y))
    for x, y, z in settled:
        if any((x, y, below) not in settled for below in range(z)):
            roofed_columns.add((x, y))
    assert set(measured.visible_columns) == open_columns
    assert measured.roofed == len(roofed_columns)

    deepest = 0
    for x, y, z in wet:
        depth = 0
        while (x, y, z + depth) in wet:
            depth += 1
        deepest = max(deepest, depth)
    assert measured.depth == deepest


# The earthworks.


@pytest.mark.parametrize("box", BAD_BOXES, ids=str)
def test_bad_boxes_are_ignored_and_reported(box):
    alone = verdict(world(VOLUME), box)
    assert alone.score == 0
    with_good = verdict(world(VOLUME), POND, box)
    assert with_good.score == 1
    (check,) = with_good.failed
    assert check.id == "boxes"
    assert check.details["offenders"][0][0] == 1


def test_boxes_in_protected_zones_are_ignored():
    params = world(VOLUME, protected=({"low": (9, 6, 0), "high": (9, 6, 2)},))
    assert verdict(params, POND).score == 1
    assert verdict(params, air(7, 6, 2, 9, 8, 2)).score == 0
    assert "boxes" in failed(params, air(7, 6, 2, 9, 8, 2))
    assert verdict(params, air(9, 6, 3, 9, 6, 7), POND).score == 1


def test_too_many_boxes_score_0_but_are_simulated():
    params = world(VOLUME, max_boxes=2)
    assert verdict(params, POND, POND).score == 1
    result = verdict(params, POND, POND, None)
    assert result.score == 0
    assert [check.id for check in result.failed] == ["box_count", "boxes"]
    assert result.metrics["water_voxels"] == 9


# The goals, each at its boundary.


@pytest.mark.parametrize(
    ("goal", "boxes", "score"),
    [
        ({"kind": "lake_surface", "min_columns": 9}, [POND], 1),
        ({"kind": "lake_surface", "min_columns": 10}, [POND], 0.9),
        ({"kind": "lake_surface", "min_columns": 9}, [POND, *ROOF], 1),  # with a roof as well
        ({"kind": "wide_lakes", "lakes": 2, "side": 2}, TWO, 1),
        ({"kind": "wide_lakes", "lakes": 2, "side": 3}, TWO, 0.5),
        ({"kind": "wide_lakes", "lakes": 3, "side": 2}, TWO, 2 / 3),
        # Two blocks of one lake are one lake; columns on different levels make a block.
        ({"kind": "wide_lakes", "lakes": 2, "side": 2}, [*TWO, air(5, 5, 2, 9, 9, 2)], 0.5),
        ({"kind": "wide_lakes", "lakes": 1, "side": 2}, [air(6, 6, 2, 7, 6, 2),
                                                         air(6, 7, 1, 7, 7, 2)], 1),
        ({"kind": "high_water", "min_z": 5, "min_voxels": 25}, TOWER, 1),
        ({"kind": "high_water", "min_z": 5, "min_voxels": 50}, TOWER, 0.5),
        ({"kind": "hidden_water", "min_voxels": 9}, [POND, *ROOF], 1),
        ({"kind": "hidden_water", "min_voxels": 12}, [POND, *ROOF], 0.75),
        ({"kind": "hidden_water", "min_voxels": 9}, [POND], 0),
        ({"kind": "hidden_water", "min_voxels": 9}, [POND, *ROOF, air(12, 12, 2, 12, 12, 2)], 0),
        ({"kind": "hidden_water", "min_voxels": 9}, [POND, ROOF[1]], 0),  # the roof falls
        ({"kind": "lakes_on_levels", "lakes": 2, "levels": 2}, TWO, 0.5),
        ({"kind": "lakes_on_levels", "lakes": 2, "levels": 2},
         [air(2, 2, 2, 3, 3, 2), *TOWER], 1),
        ({"kind": "deep_water", "min_depth": 3}, [air(6, 6, 1, 8, 8, 2)], 2 / 3),
        # Rock interrupts a run: two voxels above one are not three.
        ({"kind": "deep_water", "min_depth": 3},
         [rock(7, 7, 3, 9, 9, 5), air(8, 8, 4, 8, 8, 5), air(8, 6, 2, 8, 8, 2)], 2 / 3),
        ({"kind": "large_lakes", "lakes": 2, "min_voxels": 6}, TWO, 1),
        ({"kind": "large_lakes", "lakes": 2, "min_voxels": 7}, TWO, 0.5),
        ({"kind": "water_levels", "water_at": [2, 5], "dry_at": [3, 4]},
         [air(2, 2, 2, 3, 3, 2), *TOWER], 1),
        ({"kind": "water_levels", "water_at": [2, 5], "dry_at": [3, 4]}, TOWER, 0.5),
        ({"kind": "water_levels", "water_at": [2, 5], "dry_at": [5]}, TOWER, 0),
        ({"kind": "exact_volume", "voxels": 9}, [POND], 1),
        ({"kind": "exact_volume", "voxels": 10}, [POND], 0.9),
        ({"kind": "exact_volume", "voxels": 8}, [POND], 0.875),
        ({"kind": "exact_volume", "voxels": 4}, [POND], 0),
        ({"kind": "hidden_lakes", "lakes": 1, "min_voxels": 9}, [POND, *ROOF], 1),
        ({"kind": "hidden_lakes", "lakes": 2, "min_voxels": 9}, [POND, *ROOF], 0.5),
        ({"kind": "hidden_lakes", "lakes": 1, "min_voxels": 9}, [POND], 0),
    ],
)  # fmt: skip
def test_goals_at_their_boundaries(goal, boxes, score):
    assert verdict(world(goal), *boxes).score == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    "goal",
    [
        {"kind": "hidden_water", "min_voxels": 9},
        {"kind": "hidden_lakes", "min_voxels": 9, "lakes": 1},
    ],
    ids=["hidden_water", "hidden_lakes"],
)
def test_roof_in_top_layer_hides_nothing(goal):
    for z, score, checks in (
        (7, 0, {"no_visible_water"}),
        (6, 1, set()),
        (5, 1, set()),
    ):
        roof = [rock(5, 5, 3, 5, 5, z), rock(5, 5, z, 9, 9, z)]
        assert verdict(world(goal), POND, *roof).score == score
        assert failed(world(goal), POND, *roof) == checks


def squares(columns, side):
    """Yield the cells of every square whose lowest corner is one of some columns."""
    for x, y in columns:
        yield {(x + i, y + j) for i in range(side) for j in range(side)}


def test_roofs_may_cover_a_quarter_of_the_columns():
    # A world with a hole that fills without work, and a hill that supports fallen rock.
    hill = {"low": (3, 3, 3), "high": (4, 4, 4), "material": "Rock"}
    hole = {"low": (9, 9, 2), "high": (11, 11, 7), "material": "Air"}
    zone = {"low": (6, 0, 0), "high": (7, 15, 7)}
    params = world(
        {"kind": "hidden_water", "min_voxels": 9},
        ground=(hill, hole),
        protected=(zone,),
    )
    for z in (5, 6):
        strips = [rock(0, 0, z, 5, 15, z), rock(8, 0, z, 15, 15, z)]
        assert failed(params, rock(15, 15, 3, 15, 15, z), *strips) == {"roofs"}
        assert verdict(params, rock(15, 15, 3, 15, 15, z), *strips).score == 0
    small = [rock(8, 8, 3, 8, 8, 5), rock(8, 8, 5, 12, 12, 5)]
    assert verdict(params, *small).score == 1
    # 64 of 256 columns are a quarter: 24 are roofed so far, and 36 more.
    small += [rock(10, 0, 5, 15, 5, 5), rock(15, 6, 3, 15, 11, 5)]
    assert verdict(params, *small, rock(9, 2, 5, 9, 5, 5)).score == 1
    assert failed(params, *small, rock(9, 1, 5, 9, 5, 5)) == {"roofs"}


# The ring.


def has_dry_island(lakes, side, width):
    """Return whether some lake encloses a dry square, searching region by region."""
    every = plain.flat(width, layers=1)
    wet = columns_of(set().union(*lakes))
    for lake in lakes:
        outside = every - {(x, y, 0) for x, y in columns_of(lake)}
        for region in map(columns_of, plain.pieces(outside)):
            touches_border = any({0, width - 1} & {x, y} for x, y in region)
            if touches_border:
                continue
            if any(square <= region - wet for square in squares(region, side)):
                return True
    return False


@given(
    st.sets(
        st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(0, 1)), max_size=60
    ),
    st.integers(1, 3),
)
def test_dry_island_matches_region_search(wet, side):
    grid = array(wet, 9, 4)
    result = dry_island(survey(np.zeros_like(grid), grid), side)
    assert (result is not None) == has_dry_island(plain.pieces(wet), side, 9)


# Bounds and pictures.


def test_work_is_limited(monkeypatch):
    monkeypatch.setattr(rainfall, "MOST_STEPS", 200)
    assert "resource_limit" in failed(world(VOLUME), POND, air(2, 2, 1, 13, 13, 2))
    assert "resource_limit" not in failed(world(VOLUME), air(6, 6, 2, 6, 6, 2))
    monkeypatch.setattr(earthworks, "MOST_PARTS", 1)
    one, other = rock(3, 3, 6, 3, 3, 6), rock(9, 9, 6, 9, 9, 6)
    assert "resource_limit" not in failed(world(VOLUME), one)
    assert "resource_limit" in failed(world(VOLUME), one, other)
