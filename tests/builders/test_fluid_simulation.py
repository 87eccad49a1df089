"""Fluid simulation worlds: every goal can be drawn and solved, and baselines stay low."""

from itertools import product

import pytest

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.fluid_simulation import (
    Space,
    TaskBuilder,
    blind_plans,
    share_of_open_places,
)
from scbench.builders.fluid_simulation.drafts import GOAL_KINDS, HEIGHT, LAYERS
from scbench.builders.fluid_simulation.structures import (
    as_answer,
    basin,
    reservoir,
    roofed_pits,
    shaft,
)
from scbench.catalog import get_task
from scbench.freezing.floors import floor_of
from scbench.graders.fluid_simulation import grade
from scbench.graders.fluid_simulation.earthworks import ground, settle
from scbench.schemas.fluid_simulation import Answer, Params

TASK = get_task("fluid_simulation")
BUILDER = TaskBuilder()
PAPER = [item.params for item in BUILDER.paper()]


def draw(seed, **parameters):
    return BUILDER.draw(Space(**parameters), Stream("test", seed))


@pytest.mark.parametrize("kind", GOAL_KINDS)
@pytest.mark.parametrize(
    "parameters",
    [
        {
            "width": 16,
            "side": 3,
            "hills": 0,
            "holes": 0,
            "zones": 0,
            "spare_boxes": None,
        },
        {"width": 40, "side": 8, "hills": 6, "holes": 5, "zones": 3, "slack": 0},
    ],
    ids=["bare", "rough"],
)
def test_every_goal_can_be_drawn_and_needs_work(kind, parameters):
    params = draw(1, goal=kind, **parameters)
    assert params.goal.kind == kind
    assert (len(params.ground) > 0) == (parameters["hills"] > 0)
    assert grade(params, Answer(earthworks=())).score < 1
    reference = BUILDER.reference(params)
    verdict = grade(params, reference)
    assert verdict.score == 1
    assert not verdict.failed, "the reference uses every box it lists"
    if params.max_boxes is not None:
        assert len(reference.earthworks) <= params.max_boxes


def test_drawn_ground_is_stable():
    point = {"hills": 8, "holes": 8, "width": 24, "goal": "wide_lakes", "side": 3}
    for seed in range(10):
        params = draw(seed, zones=0, **point)
        _, fallen = settle(ground(params))
        assert not fallen.any()


def test_goal_without_slack_equals_reference_size():
    bare = {"hills": 0, "holes": 0, "zones": 0}
    sizes = set()
    for seed in range(8):
        params = draw(seed, goal="lake_surface", slack=0, **bare)
        sizes.add(params.goal.min_columns)
    # Lakes have sides of 2 to 5 columns.
    assert sizes <= {w * d for w in range(2, 6) for d in range(2, 6)}
    assert len(sizes) > 2


def test_impossible_parameters_are_reported():
    rough = {"width": 16, "zones": 4, "hills": 8, "holes": 8}
    with pytest.raises(GenerationError, match="ask for smaller or fewer lakes"):
        draw(0, goal="hidden_lakes", side=10, lakes=4, **rough)


@pytest.mark.parametrize(
    ("voxels", "levels"), [(1, 1), (7, 1), (7, 2), (29, 2), (101, 1)]
)
def test_reservoir_has_exact_cell_count(voxels, levels):
    part = reservoir(LAYERS, voxels, levels)
    cells = set()
    for box in part.boxes(5, 7):
        sides = [range(a, b + 1) for a, b in zip(box.low, box.high, strict=True)]
        cells.update(product(*sides))
    assert len(cells) == voxels
    # All cells are inside the border of the part, whose lowest corner is (5, 7).
    for x, y, _ in cells:
        assert 6 <= x < 5 + part.width - 1
        assert 8 <= y < 7 + part.depth - 1


@pytest.mark.parametrize(
    ("part", "voxels"),
    [
        (basin(LAYERS, 3, 4, 2, 2), 12),
        (basin(LAYERS, 3, 4, 5, 5), 12),
        (roofed_pits(LAYERS, 3, 2, 2), 12),
        (shaft(LAYERS, (9, 8), 7), 7),
        (shaft(LAYERS, (8, 8), 2), 2),
    ],
)
def test_structures_collect_their_voxels(part, voxels):
    flat = Params.model_validate(
        {
            "width": 16, "height": HEIGHT, "rock_layers": LAYERS, "ground": (), "protected": (),
            "rain": PAPER[0].rain, "max_boxes": None,
            "goal": {"kind": "exact_volume", "voxels": voxels},
        }
    )  # fmt: skip
    assert grade(flat, as_answer(part.boxes(*(part.at or (4, 4))))).score == 1


def test_zones_limit_open_places():
    point = {"goal": "hidden_water", "width": 24, "side": 3, "holes": 2, "zones": 0}
    roomy = draw(3, **point)
    assert not roomy.protected
    crowded = draw(3, **point, open_share=0.1)
    assert share_of_open_places(crowded) <= 0.1 < share_of_open_places(roomy)
    assert grade(crowded, BUILDER.reference(crowded)).score == 1


def test_open_holes_flood_dry_ground():
    params = draw(0, goal="water_levels", holes=1, dry_ground=True)
    assert params.goal.dry_at[0] == LAYERS - 1 < min(params.goal.water_at)
    assert grade(params, Answer(earthworks=())).score == 0
    plans = blind_plans(params)
    blind = grade(params, as_answer(plans["plan that ignores hills and holes"]))
    assert "dry_levels" in {check.id for check in blind.failed}


def test_greedy_limits_the_floor():
    point = {"goal": "water_levels", "width": 16, "side": 3, "dry_ground": True}
    for seed in range(3):
        params = draw(seed, **point, zones=2, open_share=0.3, greedy=0.5)
        assert floor_of(TASK, params).score <= 0.5


@pytest.mark.parametrize("number", [3, 7, 8, 10])
def test_baseline_solves_these_paper_items(number):
    assert floor_of(TASK, PAPER[number]).score == 1
