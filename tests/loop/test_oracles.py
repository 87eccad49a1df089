"""Settings probe and act can be won: players that know only what they are told get full scores.

`python tests/fixtures/loop_simulation.py` plays whole lists.
"""

import ast
import json
from pathlib import Path

import blast_player
import pytest
import rain_player
from loop_simulation import trial

from scbench.base.model import Prediction
from scbench.catalog import get_task
from scbench.loop import grade_line
from scbench.release.load import find_release


@pytest.fixture(scope="module")
def ladder():
    return find_release().ladder().instances(["fluid_simulation", "terrain_levelling"])


@pytest.fixture(scope="module")
def paper():
    return find_release().instances(["fluid_simulation"])


def won(instance, setting):
    environment, info, longest = trial(instance, setting)
    assert info["score"] == 1
    assert longest < 2600
    task = get_task(instance.task)
    line = Prediction.model_validate_json(json.dumps(environment.prediction()))
    params = task.params_model.model_validate_json(instance.all_params)
    again = grade_line(line, task, params)
    assert again.score == 1
    assert again.trial.used == info["used"]
    return info["used"]


def test_rain_is_led_where_every_goal_of_the_paper_wants_it(paper):
    assert [won(instance, "probe") for instance in paper.values()] == [1] * 7 + [2] + [1] * 3


def test_holes_that_the_rain_shows_are_filled(ladder):
    assert won(ladder["fluid_simulation/ladder-08-4"], "probe") == 3


@pytest.mark.parametrize("setting", ["probe", "act"])
def test_ground_is_levelled_by_looking_at_what_blasts_left(ladder, setting):
    assert 2 <= won(ladder["terrain_levelling/ladder-03-3"], setting) <= 10


@pytest.mark.parametrize("player", [rain_player, blast_player], ids=lambda player: player.__name__)
def test_players_know_nothing_of_the_benchmark(player):
    tree = ast.parse(Path(player.__file__).read_text("utf-8"))
    imported = {
        name.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (node.names if isinstance(node, ast.Import) else [ast.alias(node.module)])
    }
    assert imported <= {"heapq", "json", "math", "re"}
