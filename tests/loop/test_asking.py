"""Settings probe and act, with the real tasks and with a simple one."""

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.base.errors import CannotGrade
from scbench.base.model import Prediction, Status
from scbench.catalog import SECONDS
from scbench.graders.shared.interaction import Action, Query, QueryError
from scbench.loop import Environment, Setup, grade_line, playable
from scbench.loop.asking import Act, Probe
from scbench.release.load import find_release

PROBE, ACT = playable("probe"), playable("act")
RELEASED = [name for name in (*PROBE, *ACT) if name in find_release().manifest.tasks]

JUNK = st.one_of(
    st.text(max_size=50),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps({"query": value, "action": value})),
)

QUICK = [name for name in ACT if name in RELEASED and name != "terrain_levelling"]

MOVES = {
    ("probe", "csg_union"): lambda _: {"query": "volume", "solids": [1]},
    ("probe", "fluid_simulation"): lambda right: {"query": "rain", **right},
    ("probe", "hyper_snake"): lambda right: {
        "query": "walk", "path": [cell["pos"] for cell in right["path"]][:9],
    },
    ("probe", "lego_hemispherical_shell"): lambda right: {
        "query": "bricks", "bricks": right["bricks"][:3],
    },
    ("probe", "maze_3d"): lambda right: {
        "query": "reach", "maze": right["maze"], "start": [0, 0],
    },
    ("probe", "terrain_levelling"): lambda right: {"query": "blast", "blasts": right["blasts"][:2]},
    ("probe", "tetrahedra_shadow_projection"): lambda right: {
        "query": "shadow", "tetrahedrons": right["tetrahedrons"][:3],
    },
    ("act", "hyper_snake"): lambda right: {
        "action": "move", "cells": [cell["pos"] for cell in right["path"]][1:9],
    },
    ("act", "terrain_levelling"): lambda right: {"action": "blast", "blasts": right["blasts"][:2]},
    ("act", "hamiltonian_loop"): lambda _: {"action": "go", "cells": [[2, 1]]},
    ("act", "shikaku_rectangles"): lambda right: {
        "action": "place", "rectangles": right["rectangles"][:2],
    },
    ("act", "voxel_grid_projection"): lambda right: {
        "action": "place", "cells": [voxel["xyz"] for voxel in right["voxels"][:9]],
    },
    ("act", "pipe_loop_fitting"): lambda right: {"action": "place", "joints": right["points"][:9]},
    ("act", "pack_rectangular_prisms"): lambda right: {
        "action": "place", "boxes": right["boxes"][:2],
    },
}  # fmt: skip
"""A possible move for each task, made from its correct answer."""

PLAYED = [("probe", name) for name in PROBE if name in RELEASED]


class Side(Query):
    """Ask how long a side is.

    {"query": "side", "number": 0}
    """

    query: Literal["side"]
    number: int
    price: int = 1

    def cost(self):
        return self.price // abs(self.price) * self.price

    def observe(self, _):
        if self.number < 0:
            raise QueryError("sides are counted from 0")
        if self.number == 13:
            raise CannotGrade("there is no ruler")
        return {"length": 10 // (self.number - 7)}


@pytest.fixture
def probe(all_stored):
    stored = all_stored["two_segments"]
    setup = Setup(setting="probe", budget=3)
    return Probe(setup, stored.task, stored.params, (Side,), 20), stored


def test_query_is_answered_and_its_cost_counted(probe):
    game, stored = probe
    assert "Ask how long a side is." in game.rules
    assert "may not exceed 3;" in game.rules
    move = game.play(
        'Let me see: ```json\n{"query": "side", "number": 8, "price": 2}\n```'
    )
    assert move.observation == '{"length":10}\nBudget left: 1 of 3. Replies left: 8.'
    assert (
        "exceeds the remaining budget"
        in game.play('{"query": "side", "number": 8, "price": 2}').observation
    )
    assert game.used == 2
    assert "counted from 0" in game.play('{"query": "side", "number": -1}').observation
    assert game.used == 3  # it was read
    last = game.play(stored.right)
    assert (game.over, last.outcome.score) == (True, 1)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ('{"query": "angle"}', "must be one of side; it is angle"),
        ('{"query": 5}', "it is missing or not text"),
        ('{"query": "side"}', "number: is missing"),
        ('{"query": "side", "number": "x"}', "number: must be a whole number"),
        ('{"query": "side", "number": 8, "more": 1}', "more: is not a known key"),
        ('{"query": "side", "number": 1e999}', "no readable query or answer"),
        ('{"query": "side", ', "no readable query or answer"),
        ('{"query": "side", "number": 8, "price": 0}', "its cost cannot be computed"),
        ("Hm.", "no readable query or answer"),
        ("", "no readable query or answer"),
        ('<think>{"query": "side", "number": 8}</think>', "no readable query"),
    ],
)  # fmt: skip
def test_bad_query_is_explained_and_takes_a_reply(probe, reply, message):
    game, _ = probe
    move = game.play(reply)
    assert message in move.observation
    assert "Replies left: 8." in move.observation
    assert (game.over, game.used) == (False, 0)


def test_model_that_only_talks_ends_after_five_replies_in_a_row(probe):
    game, _ = probe
    for reply in ["Hm."] * 2 + ['{"query": "side", "number": 8}'] + ["Hm."] * 2:
        game.play(reply)
    again = Probe(game.setup, game.task, game.params, (Side,), 20)
    again.restore(game.state)
    for left in (2, 1, 0):
        assert again.play("Hm.").observation.endswith("The trial is over.") == (
            not left
        )
    assert again.over
    assert again.replies_left


def test_internal_failure_ends_the_trial_without_a_score(probe):
    game, _ = probe
    move = game.play('{"query": "side", "number": 13}')
    assert (game.over, move.outcome.status, move.outcome.score) == (
        True,
        Status.NOT_RUN,
        None,
    )
    game.over = False
    move = game.play('{"query": "side", "number": 7}')  # divides by zero
    assert (game.over, move.outcome.status) == (True, Status.GRADER_ERROR)


def test_last_reply_must_be_the_answer(probe):
    game, _ = probe
    message = [
        game.play('{"query": "side", "number": 8}').observation for _ in range(9)
    ]
    assert game.over
    assert game.used == 3
    assert "not an answer" in message[-1]
    assert sum("exceeds the remaining budget" in item for item in message) == 5


class Add(Action):
    """Add a number."""

    action: Literal["add"]
    amount: int


class Sum:
    def __init__(self, _):
        self.total = 0

    def look(self):
        return {"total": self.total}

    def step(self, action):
        if action.amount < 0:
            raise QueryError("only more can be added")
        self.total += action.amount
        return self.look()

    @property
    def answer(self):
        return {"answer": self.total}

    @property
    def over(self):
        return self.total > 10**6


@pytest.fixture
def act(all_stored):
    stored = all_stored["arithmetic"]
    params = stored.params.model_copy(update={"expression": "5"})
    return Act(Setup(setting="act"), stored.task, params, (Add,), 4, Sum)


def test_actions_change_the_state_and_form_the_answer(act):
    assert act.rules.endswith('{"total":0}')
    first = act.play('{"action": "add", "amount": 3}')
    assert first.observation == '{"total":3}\nBudget left: 3 of 4. Replies left: 9.'
    assert first.outcome.score == 0
    refused = act.play('{"action": "add", "amount": -3}')
    assert "only more" in refused.observation
    assert refused.outcome is None
    assert act.play('{"action": "add", "amount": 2}').outcome.score == 1
    assert not act.over
    state = json.loads(json.dumps(act.state))
    last = act.play('I am {"done": true}')
    assert (act.over, last.outcome.score) == (True, 1)
    act.restore(state)
    assert act.state == state
    act.play('{"action": "add", "amount": 2}')
    assert act.over  # the budget is spent
    assert act.final().score == 0


def test_trial_of_junk_is_scored_as_nothing_done(act):
    while not act.over:
        move = act.play("Hm.")
    assert act.turn == 10
    assert (move.outcome.status, move.outcome.score) == (Status.ANSWERED, 0)


@given(replies=st.lists(JUNK, max_size=4), name=st.sampled_from(["maze_3d", *QUICK]))
def test_any_reply_has_an_observation(all_stored, replies, name):
    stored = all_stored[name]
    for setting in (
        setting for setting in ("probe", "act") if name in playable(setting)
    ):
        environment, steps = stored.played(replies, setting=setting)
        assert all(
            step.observation and len(step.observation) <= 20_000 for step in steps
        )
        line = Prediction.model_validate(environment.prediction(status="refused"))
        assert not grade_line(line, stored.task, stored.params).forged


PLAYED += [("act", name) for name in ACT if name in RELEASED]


@pytest.mark.parametrize(("setting", "name"), PLAYED)
def test_traces_of_real_tasks_replay_to_the_same_score(all_stored, setting, name):
    stored = all_stored[name]
    key = {"probe": "query", "act": "action"}[setting]
    environment = Environment(Setup(setting=setting, budget=2))
    first = environment.reset(stored.instance)
    assert first.startswith(stored.instance.prompt)
    assert f'"{key}"' in first
    assert len(first) - len(stored.instance.prompt) < 6_000
    step = environment.step(f'{{"{key}": "dance"}}')
    assert "must be one of" in step.observation
    step = environment.step(json.dumps(MOVES[setting, name](json.loads(stored.right))))
    assert step.observation.startswith("{"), step.observation
    assert step.info["used"] == 1
    quick = stored.task.seconds <= SECONDS
    right = stored.right if quick else '{"blasts": []}'
    step = environment.step(right if setting == "probe" else '{"done": true}')
    assert step.done
    assert step.info["score"] == 1 or setting == "act" or not quick
    line = stored.prediction(environment)
    assert line.loop.budget == 2
    outcome = grade_line(line, stored.task, stored.params)
    assert (outcome.score, outcome.trial.used) == (step.info["score"], 1)
    bad = line.model_copy(update={"turns": (*line.turns, line.turns[1])})
    assert grade_line(bad, stored.task, stored.params).reason.startswith("turn 4: ")
