"""Programs that see only part of an item: their answers, and the reports on them."""

import pytest
from contract import lengthy

from scbench.catalog import MANIFOLDS, get_task
from scbench.freezing.floors import mean_score
from scbench.freezing.ladder import ladder, parse_ladder
from scbench.freezing.ladder_check import check_ladder
from scbench.freezing.shortcuts import (
    EXCHANGED,
    Shortcut,
    best_of,
    chance_of,
    fresh_items,
    programs,
    shortcuts_of,
    without_content,
)
from scbench.freezing.trials import Draws

MAZE = {"size": 7, "jumps": 2}
# A path that fills the box passes food at any place.
SNAKE = {"dims": 2, "min_side": 4, "max_side": 4, "walls": 0, "food": 1}
TABLE = """
seed = 5
count = 2
[hyper_snake]
measure = "cells"
words = "Longer paths."
rungs = [{ dims = 2, min_side = 4, max_side = 4, walls = 0, food = 1 }]
"""

TEXT_TASKS = [
    get_task(name) for name in ladder().tasks if get_task(name).bucket == MANIFOLDS
]

# Rungs take turns, so that low and high ones are tried.
RUNGS = (1, 4, 2, 3)
FEW = 8
# The same of a task whose verdicts take seconds.
FEW_LENGTHY = 3


def test_each_varying_parameter_is_hidden_and_implied_ones_are_not():
    task = get_task("hyper_snake")
    items = fresh_items(Draws(task, SNAKE), 3)
    names = [name for name, _ in programs(task, items, ())]
    # The size is the same in all items, and there are no walls.
    assert {"food emptied", f"food{EXCHANGED}", f"start{EXCHANGED}"} <= {*names}
    assert not any(name.startswith(("size", "walls")) for name in names)
    named = [name for name, _ in programs(task, items, {"food"})]
    assert not any(name.startswith("food") for name in named)
    assert named[-1] == "empty answer"


def test_unneeded_parameter_is_found():
    results = {
        result.name: result
        for result in shortcuts_of(Draws(get_task("hyper_snake"), SNAKE), 4)
    }
    assert results["food emptied"].score == 1
    assert results["food emptied"].costs == 0
    assert results["empty answer"].score == 0
    assert "costs" not in results["empty answer"].problem


def test_fresh_items_depend_only_on_the_seed():
    task = get_task("maze_3d")
    first = fresh_items(Draws(task, MAZE), 3)
    assert first == fresh_items(Draws(task, MAZE), 3)
    other = fresh_items(Draws(task, MAZE, seed=1), 3)
    assert not {str(item.values) for item in first} & {
        str(item.values) for item in other
    }


def test_fresh_items_are_among_the_counted_draws(monkeypatch):
    task = get_task("maze_3d")
    real = task.builder.draw
    drawn = []

    def draw(self, point, rng):
        drawn.append(real(self, point, rng))
        return drawn[-1]

    monkeypatch.setattr(task.builder, "draw", draw)
    draws = Draws(task, MAZE)
    assert draws.trials(6).attempts == 6
    assert [item.params for item in fresh_items(draws, 4)] == drawn[:4]
    assert len(drawn) == 6
    assert len(draws.fresh(8)) == len(drawn) == 8


@pytest.mark.parametrize("task", TEXT_TASKS, ids=str)
def test_answers_to_fresh_text_items_are_right(task):
    (first, *_) = ladder().tasks[task.id].rungs
    for item in fresh_items(Draws(task, first), 2):
        assert mean_score(task, item.params, "ours", item.answer, where=task.id) == 1


def test_fresh_items_have_as_many_of_each_group():
    task = get_task("lego_hemispherical_shell")
    (first, *_) = ladder().tasks[task.id].rungs
    items = Draws(task, first).fresh(8)
    walls = [item.outer_radius_mm - item.inner_radius_mm for item in items]
    assert sum(wall <= 12 for wall in walls) == 4


@pytest.mark.parametrize(
    ("result", "part"),
    [
        (Shortcut("walls emptied", 0.31, 0.2, 0.9, 1000), ""),
        (Shortcut("walls emptied", 0.35, 0.2, 0.9, 1000), "scores 0.35 on average"),
        # Five of twelve are too many by chance where 0.1 may be right, four are not.
        (Shortcut("walls emptied", 5 / 12, 0.0, 0.6, 12), "scores 0.42 on average"),
        (Shortcut("walls emptied", 4 / 12, 0.0, 0.7, 12), ""),
        # A floor near 1 leaves no room.
        (Shortcut("walls emptied", 1.0, 0.95, 0.0, 1000), ""),
        (
            Shortcut(f"a{EXCHANGED}", 0.9, 0.0, 1 / 12, 12, True),
            "lowers the score on 8 %",
        ),
        (Shortcut(f"a{EXCHANGED}", 0.9, 0.0, 2 / 12, 12, True), ""),
        (
            Shortcut(f"a{EXCHANGED}", 0.9, 0.0, 0.4, 1000, True),
            "lowers the score on 40 %",
        ),
        (Shortcut(f"a{EXCHANGED}", 0.9, 0.0, 0.5, 1000, True), ""),
    ],
)
def test_shortcut_limits(result, part):
    assert part in result.problem
    assert bool(part) == bool(result.problem)


def test_chances_are_those_of_independent_trials():
    assert chance_of(0, 12, 0.1) == pytest.approx(1)
    assert chance_of(12, 12, 0.5) == pytest.approx(0.5**12)
    assert chance_of(2, 3, 0.5) == pytest.approx(0.5)
    assert chance_of(3, 3, 1.0) == 1


def test_shown_program_has_a_problem():
    fine = Shortcut(f"a{EXCHANGED}", 0.9, 0.0, 0.5, 12, True)
    wrong = Shortcut("walls emptied", 0.8, 0.2, 1.0, 12)
    assert best_of([fine, wrong]) == wrong
    assert best_of([fine]) == fine


def test_empty_answer_has_the_form_of_an_answer():
    answer = {"path": [1, 2], "name": "x", "size": 3, "is_it": True, "none": None}
    assert without_content(answer) == {
        "path": [],
        "name": "",
        "size": 0,
        "is_it": False,
        "none": None,
    }


def test_checker_reports_shortcuts():
    table = parse_ladder(TABLE)
    (report,) = check_ladder(table, fresh=8)
    assert any(problem.startswith("'food") for problem in report.problems)
    implied = table.tasks["hyper_snake"].model_copy(
        update={"implied": {"food": "All."}}
    )
    excused = table.model_copy(update={"tasks": {"hyper_snake": implied}})
    (report,) = check_ladder(excused, fresh=8)
    assert not any("food" in problem for problem in report.problems)
    assert report.shortcuts


def test_implied_parameters_exist():
    for name, table in ladder().tasks.items():
        assert table.implied.keys() <= get_task(name).params_model.model_fields.keys()


# Deep: a few fresh items of one rung of every task. Few tasks take more than some seconds.


@pytest.mark.parametrize(
    ("task", "rung"),
    [(get_task(name), RUNGS[k % len(RUNGS)]) for k, name in enumerate(ladder().tasks)],
    ids=str,
)
def test_no_program_that_ignores_part_of_an_item_beats_the_floor(task, rung):
    table = ladder().tasks[task.id]
    count = FEW_LENGTHY if lengthy(task) else FEW
    draws = Draws(task, table.rungs[rung - 1])
    results = shortcuts_of(draws, count, implied=table.implied)
    assert [result.problem for result in results if result.problem] == []
