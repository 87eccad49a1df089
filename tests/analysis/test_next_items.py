"""The most informative items: where they are, how they spread, and how many they save."""

import ladder_simulation as sim
import numpy as np
import polars as pl
import pytest
from ladders import ladder_results

from scbench.analysis.ladder import on_ladder
from scbench.analysis.next_items import asked_of, next_items, nothing_asked
from scbench.base.model import rung_of

TASKS = ["two_segments", "enumerate_edges", "csg_union"]


def test_model_without_answers_starts_in_the_middle_of_every_task():
    table = next_items(nothing_asked(sim.item_ids()), len(sim.TASKS))
    assert sorted(table["task"]) == sorted(sim.TASKS)
    assert set(table["rung"]) <= {4, 5}
    assert table["id"].n_unique() == table.height


@pytest.mark.parametrize("level", [2.0, 6.5])
def test_items_are_asked_near_the_level(level):
    ids = [f"two_segments/ladder-{r:02d}-{k}" for r in range(1, 9) for k in (1, 2, 3)]
    results = ladder_results(
        {"m": level}, ["two_segments"], slope=2.5, asked={"m": ids}
    )
    table = next_items(asked_of(on_ladder(results)), 4)
    assert abs(table["rung"].mean() - level) <= 1
    assert not set(table["id"]) & set(ids)


def test_well_measured_tasks_wait_for_others():
    reference = [
        name for name in sim.item_ids(["two_segments"]) if not name.endswith("-6")
    ]
    results = ladder_results({"m": 4.0}, TASKS, asked={"m": reference})
    table = next_items(asked_of(on_ladder(results)), 6)
    assert set(table["task"]) == {"enumerate_edges", "csg_union"}
    assert (table["error"] > 0).all()


def test_failed_calls_are_asked_again_and_blocked_ones_are_not():
    results = ladder_results({"m": 4.0}, ["two_segments"])
    lost = pl.col("id").is_in(["two_segments/ladder-04-1", "two_segments/ladder-04-2"])
    blocked = pl.when(pl.col("id") == "two_segments/ladder-04-1").then(
        pl.lit("blocked")
    )
    results = results.with_columns(
        status=pl.when(lost)
        .then(blocked.otherwise(pl.lit("api_error")))
        .otherwise("status"),
        score=pl.when(lost).then(None).otherwise("score"),
    )
    assert next_items(asked_of(on_ladder(results)), 9)["id"].to_list() == [
        "two_segments/ladder-04-2"
    ]


def test_nine_scores_are_one_item():
    table = next_items(nothing_asked(sim.item_ids(["interlocking_parts"])), 48)
    assert table["id"].n_unique() == 48
    assert [rung_of(name) for name in table["id"]] == table["rung"].to_list()


@pytest.mark.slow
def test_a_fifth_of_the_items_gives_the_overall_level_within_one_rung():
    result = sim.adaptive_lengths(6, (0.1, 0.2), draws=200)
    fifth, even = result["20%"], result["17%, one on each rung"]
    assert (fifth[:, 2] < 1.0).all(), "the overall level's interval"
    assert np.median(result["10%"][:, 2]) < 1.0
    assert abs(fifth[:, 0].mean()) < 0.2
    assert np.median(fifth[:, 3]) < np.median(even[:, 3]), "and of tasks"
    assert np.median(fifth[:, 2]) < 2.5 * np.median(result["100%"][:, 2])
