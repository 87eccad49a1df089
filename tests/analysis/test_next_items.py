"""The most informative items: where they are, how they spread, and how many they save."""

import ladder_simulation as sim
import numpy as np
import polars as pl
import pytest
from ladders import ladder_results

from scbench.analysis.curves import Answers
from scbench.analysis.ladder import on_ladder
from scbench.analysis.next_items import (
    asked_of,
    is_passed,
    next_items,
    nothing_asked,
)
from scbench.base.model import rung_of

TASKS = ["two_segments", "enumerate_edges", "csg_union"]


def test_model_without_answers_starts_in_the_middle_of_every_task():
    table = next_items(nothing_asked(sim.item_ids()), len(sim.TASKS))
    assert sorted(table["task"]) == sorted(sim.TASKS)
    assert set(table["rung"]) <= {4, 5}
    assert table["id"].n_unique() == table.height


@pytest.mark.parametrize("level", [2.0, 6.5])
def test_items_are_asked_near_the_level(level):
    ids = []
    for rung in range(1, 9):
        ids += [f"two_segments/ladder-{rung:02d}-{number}" for number in (1, 2, 3)]
    asked = {"m": ids}
    results = ladder_results({"m": level}, ["two_segments"], slope=2.5, asked=asked)
    table = next_items(asked_of(on_ladder(results)), 4)
    assert abs(table["rung"].mean() - level) <= 1
    assert not set(table["id"]) & set(ids)


def test_well_measured_tasks_wait_for_others():
    # Only the sixth item of each rung of two_segments is left; the others have no answer.
    ids = sim.item_ids(["two_segments"])
    asked = [row_id for row_id in ids if not row_id.endswith("-6")]
    results = ladder_results({"m": 4.0}, TASKS, asked={"m": asked})
    table = next_items(asked_of(on_ladder(results)), 6)
    assert set(table["task"]) == {"enumerate_edges", "csg_union"}
    assert (table["error"] > 0).all()


def test_failed_calls_are_asked_again_and_blocked_ones_are_not():
    results = ladder_results({"m": 4.0}, ["two_segments"])
    is_blocked = pl.col("id") == "two_segments/ladder-04-1"
    has_failed = pl.col("id") == "two_segments/ladder-04-2"
    status = pl.when(is_blocked).then(pl.lit("blocked"))
    status = status.when(has_failed).then(pl.lit("api_error"))
    results = results.with_columns(
        status=status.otherwise("status"),
        score=pl.when(is_blocked | has_failed).then(None).otherwise("score"),
    )
    table = next_items(asked_of(on_ladder(results)), 9)
    assert table["id"].to_list() == ["two_segments/ladder-04-2"]


@pytest.mark.parametrize(
    ("floor", "right", "passed"),
    [
        (0.0, 4, False),
        (0.0, 6, True),
        (0.5, 7, False),
        (0.5, 8, True),
        (1.0, 10, False),
    ],
)
def test_top_rung_is_passed_above_half_of_the_way_from_the_floor(floor, right, passed):
    scores = np.array([1.0] * right + [0.0] * (10 - right))
    answers = Answers(np.full(10, 8.0), scores, np.full(10, floor), top=8)
    assert is_passed(answers) is passed


def test_nine_scores_are_one_item():
    table = next_items(nothing_asked(sim.item_ids(["interlocking_parts"])), 48)
    assert table["id"].n_unique() == 48
    assert [rung_of(name) for name in table["id"]] == table["rung"].to_list()


@pytest.mark.slow
def test_a_fifth_of_the_items_gives_the_overall_level_within_one_rung():
    result = sim.adaptive_lengths(6, (0.1, 0.2), draws=200)
    error, _, overall, of_tasks, _ = result["20%"].T
    assert abs(error.mean()) < 0.2
    # Lengths of intervals, in rungs.
    assert (overall < 1.0).all()
    assert np.median(result["10%"][:, 2]) < 1.0
    assert np.median(overall) < 2.5 * np.median(result["100%"][:, 2])
    even = result["17%, one on each rung"]
    assert np.median(of_tasks) < np.median(even[:, 3])
