"""Grades the water that remains after earthworks and rain.

The earthworks are carried out, loose rock falls, it rains, and the remaining water is compared with
the goal. The modules `earthworks`, `rainfall` and `lakes` implement the steps, all in
integers.
"""

from itertools import groupby
from typing import Any

import numpy as np

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.fluid_simulation.earthworks import (
    Cells,
    TooMuchWorkError,
    carry_out,
    settle,
)
from scbench.graders.fluid_simulation.lakes import (
    HIDDEN,
    Lake,
    Water,
    goal_progress,
    survey,
)
from scbench.graders.fluid_simulation.rainfall import rain_on
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.fluid_simulation import Answer, Params, WaterLevels

VERSION = 2

CHECKS = {
    "box_count": "The list has no more boxes than allowed.",
    "boxes": "Every box can be read, is inside the world, and stays out of protected zones.",
    "some_water": "Some water stays in the world.",
    "no_visible_water": "All water has rock above it, not counting the top layer.",
    "roofs": "At most a quarter of all columns have rock above air or water.",
    "dry_levels": "No water is on a level that must stay dry.",
    "goal": "The water meets the goal completely.",
}

# More than the number of cells in the largest world.
MOST_BOXES = 40_000
# Maximum length of a list in the metrics.
_MAX_ENTRIES = 50


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the share of the goal that the remaining water meets."""
    checks = Checklist(CHECKS)
    count = len(answer.earthworks)
    if count > MOST_BOXES:
        return checks.too_large(
            f"The list has {count:,} boxes; at most {MOST_BOXES:,} are graded."
        )
    allowed = True
    if params.max_boxes is not None:
        wrong = f"The list has {counted(count, 'box', 'boxes')}; the limit is {params.max_boxes}."
        allowed = checks.expect("box_count", count <= params.max_boxes, wrong)
    rock, ignored = carry_out(params, answer.earthworks)
    checks.forbid_many(
        "boxes",
        ignored,
        f"of {count} boxes are ignored",
        lambda item: f"is at position {item[0]}: {item[1]}",
        one=f"of {counted(count, 'box', 'boxes')} is ignored",
    )
    try:
        rock, fallen = settle(rock)
        rained = rain_on(rock, params.rain)
    except TooMuchWorkError as error:
        return checks.too_large(f"The simulation was stopped: {error}.")
    water = survey(rock, rained.water)
    share = judge_goal(checks, params, water)
    drains = sorted(rained.drains)
    return checks.partial(
        share if allowed else 0.0,
        **water_figures(water),
        drain_count=len(drains),
        drains=[list(column) for column in drains[:_MAX_ENTRIES]],
        last_round=list(rained.last_round),
        rock=columns_as_text(rock),
        fallen_rock=columns_as_text(fallen),
        water=columns_as_text(rained.water),
    )


def judge_goal(checks: Checklist, params: Params, water: Water) -> float:
    """Check the water against the goal; return the share reached, 0 if a rule is broken."""
    goal = params.goal
    checks.expect("some_water", water.voxels > 0, "No water stays in the world.")
    fit = True
    if goal.kind in HIDDEN:
        visible = [list(column) for column in water.visible_columns]
        fit = checks.forbid(
            "no_visible_water",
            visible,
            lambda column: (
                f"Water is visible from above in {counted(len(visible), 'column')}, such as "
                f"{column}."
            ),
        )
        area = water.width**2
        wrong = (
            f"Of {area} columns, {water.roofed} have rock above air or water; at most "
            f"{area // 4} may."
        )
        fit &= checks.expect("roofs", 4 * water.roofed <= area, wrong)
    if isinstance(goal, WaterLevels):
        wet = [z for z in goal.dry_at if water.levels[z]]
        fit = checks.forbid(
            "dry_levels",
            wet,
            lambda z: (
                f"Level z = {z} must stay dry, but has {counted(water.levels[z], 'voxel')} of "
                "water."
            ),
        )
    share = goal_progress(goal, water)
    checks.expect(
        "goal",
        share.score == 1,
        share.sentence,
        reached=int(share.part),
        wanted=share.target,
        **share.details,
    )
    return share.score if fit else 0.0


def water_figures(water: Water) -> dict[str, Any]:
    """Return the metrics of the remaining water."""
    return {
        "water_voxels": water.voxels,
        "water_per_level": list(water.levels),
        "depth": water.depth,
        "lake_count": len(water.lakes),
        "lakes": list(map(lake_figures, water.lakes[:_MAX_ENTRIES])),
    }


def lake_figures(lake: Lake) -> dict[str, Any]:
    """Return the figures of one lake."""
    return {
        "voxels": lake.voxels,
        "columns": lake.surface,
        "levels": list(lake.levels),
        "main_level": lake.main_level,
        "visible": lake.visible,
    }


def columns_as_text(cells: Cells) -> str:
    """Return a set of cells as run-length text for pictures.

    Each column is a number of two hexadecimal digits whose bit z is the cell at z; columns follow
    each other with y innermost. ``07x30 00 07`` is 30 columns of 07, one of 00, one of 07.
    A world of 64 x 64 columns takes at most 12 kB.
    """
    masks = np.packbits(cells, axis=2, bitorder="little").ravel().tolist()
    runs = []
    for mask, run in groupby(masks):
        count = len(list(run))
        runs.append(f"{mask:02x}x{count}" if count > 1 else f"{mask:02x}")
    return " ".join(runs)
