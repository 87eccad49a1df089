"""Programs that see only part of an item: what they answer, and what is said of them."""

import pytest

from scbench.catalog import get_task
from scbench.freezing.ladder import ladder, parse_ladder
from scbench.freezing.ladder_check import check_ladder
from scbench.freezing.shortcuts import (
    EXCHANGED,
    Shortcut,
    best_of,
    emptied,
    fresh_items,
    programs,
    shortcuts_of,
)

MAZE = {"size": 7, "jumps": 2}
# A path that fills the box passes the food wherever it is.
SNAKE = {"dims": 2, "min_side": 4, "max_side": 4, "walls": 0, "food": 1}
TABLE = """
seed = 5
count = 2
[hyper_snake]
measure = "cells"
words = "Longer paths."
rungs = [{ dims = 2, min_side = 4, max_side = 4, walls = 0, food = 1 }]
"""


def test_each_parameter_that_differs_is_hidden_and_implied_ones_are_not():
    task = get_task("hyper_snake")
    builder = task.builder()
    items = fresh_items(task, builder, SNAKE, 3, 0)
    names = [name for name, _ in programs(builder, items, ())]
    # The size is the same in all items, and there are no walls.
    assert {"food emptied", f"food{EXCHANGED}", f"start{EXCHANGED}"} <= {*names}
    assert not any(name.startswith(("size", "walls")) for name in names)
    named = [name for name, _ in programs(builder, items, {"food"})]
    assert not any(name.startswith("food") for name in named)
    assert named[-1] == "empty answer"


def test_a_parameter_that_need_not_be_read_is_found():
    results = {
        result.name: result
        for result in shortcuts_of(get_task("hyper_snake"), SNAKE, 4)
    }
    assert results["food emptied"].score == 1
    assert results["food emptied"].costs == 0
    assert results["empty answer"].score == 0
    assert "costs" not in results["empty answer"].problem


def test_fresh_items_are_the_same_each_time_and_others_for_another_seed():
    task = get_task("maze_3d")
    builder = task.builder()
    first = fresh_items(task, builder, MAZE, 3, 0)
    assert first == fresh_items(task, builder, MAZE, 3, 0)
    other = fresh_items(task, builder, MAZE, 3, 1)
    assert not {str(item.values) for item in first} & {
        str(item.values) for item in other
    }


@pytest.mark.parametrize(
    ("result", "part"),
    [
        (Shortcut("walls emptied", 0.31, 0.2, 0.9), "scores a mean of 0.31"),
        (Shortcut("walls emptied", 0.3, 0.2, 0.1), ""),
        # One standard error is allowed for.
        (Shortcut("walls emptied", 0.35, 0.2, 0.1, error=0.06), ""),
        (
            Shortcut("walls emptied", 0.35, 0.2, 0.1, error=0.04),
            "scores a mean of 0.35",
        ),
        (Shortcut(f"a{EXCHANGED}", 0.9, 0.0, 0.4, True, error=0.11), ""),
        (Shortcut(f"a{EXCHANGED}", 0.9, 0.0, 0.4, True), "costs score on 40 %"),
        (Shortcut(f"a{EXCHANGED}", 0.9, 0.0, 0.5, True), ""),
    ],
)
def test_the_limits(result, part):
    assert part in result.problem
    assert bool(part) == bool(result.problem)


def test_the_program_to_show_is_one_with_a_problem():
    fine = Shortcut(f"a{EXCHANGED}", 0.9, 0.0, 0.5, True)
    wrong = Shortcut("walls emptied", 0.4, 0.2, 1.0)
    assert best_of([fine, wrong]) == wrong
    assert best_of([fine]) == fine


def test_an_empty_answer_has_the_form_of_an_answer():
    answer = {"path": [1, 2], "name": "x", "size": 3, "is_it": True, "none": None}
    assert emptied(answer) == {
        "path": [],
        "name": "",
        "size": 0,
        "is_it": False,
        "none": None,
    }


def test_the_checker_reports_shortcuts():
    table = parse_ladder(TABLE)
    (report,) = check_ladder(table, fresh=4)
    assert any(problem.startswith("'food") for problem in report.problems)
    implied = table.tasks["hyper_snake"].model_copy(
        update={"implied": {"food": "All."}}
    )
    excused = table.model_copy(update={"tasks": {"hyper_snake": implied}})
    (report,) = check_ladder(excused, fresh=4)
    assert not any("food" in problem for problem in report.problems)
    assert report.shortcuts


def test_implied_parameters_exist():
    for name, table in ladder().tasks.items():
        assert table.implied.keys() <= get_task(name).params_model.model_fields.keys()


# Deep: fresh items of two rungs of every task, which take about two minutes in all.

RUNGS = (1, 4)


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("task", [get_task(name) for name in ladder().tasks], ids=str)
def test_no_program_that_ignores_part_of_an_item_beats_the_floor(task, rung):
    table = ladder().tasks[task.id]
    results = shortcuts_of(task, table.rungs[rung - 1], implied=table.implied)
    assert [result.problem for result in results if result.problem] == []
