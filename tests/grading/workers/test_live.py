"""Answers that come one by one: graded in processes, light ones past heavy ones."""

import json
import os
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import cache

import pytest

import scbench
from scbench.grading.workers.live import LiveGrader, line_of
from scbench.loop import Environment, Setup

LIGHT = "two_segments/00"
HEAVY = "fluid_simulation/00"


@cache
def instances():
    return scbench.load_release().instances()


@cache
def references():
    """Answers by instance and score."""
    stored = scbench.load_release().references()
    return {(ref.id, ref.score): json.loads(ref.answer) for ref in stored}


@pytest.fixture
def grader():
    made = LiveGrader(2)
    yield made
    made.close()


def submitted(grader, row_id):
    return grader.submit(
        instances()[row_id], line_of(row_id, answer=references()[row_id, 1.0])
    )


def test_light_answers_are_done_while_every_heavy_one_waits(grader, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    blocked = [grader._call(True, 600, gate.read_text) for _ in range(2)]
    heavy = [submitted(grader, HEAVY) for _ in range(8)]
    light = [submitted(grader, LIGHT).result() for _ in range(64)]
    assert {one.score for one in light} == {1.0}
    assert scbench.scores([LIGHT] * 2, [references()[LIGHT, 1.0], "no"], workers=2) == [
        1.0,
        0.0,
    ]
    assert not any(one.done() for one in (*blocked, *heavy))
    while not all(one.done() for one in blocked):
        with suppress(OSError):  # nobody waits for it at this moment
            os.close(
                os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
            )  # lets those through that wait
        time.sleep(0.01)
    assert {one.result().score for one in heavy} == {1.0}


@pytest.mark.parametrize(
    ("errors", "status", "reason"),
    [
        ([TimeoutError()], "answered", ""),
        (
            [TimeoutError(), ValueError("x")],
            "grader_error",
            "no verdict within 5 s, then ValueError",
        ),
        ([TimeoutError()] * 2, "grader_error", "no verdict within 5 s (tried twice)"),
    ],
)
def test_what_fails_is_tried_once_more_and_is_no_zero(
    monkeypatch, errors, status, reason
):
    grader, left = LiveGrader(1, 5), [*errors]

    def call(heavy, seconds, function, *arguments):
        future = Future()
        if left:
            future.set_exception(left.pop(0))
        else:
            future.set_result(function(*arguments))
        return future

    monkeypatch.setattr(grader, "_call", call)
    result = submitted(grader, LIGHT).result()
    assert result.status == status
    assert reason in result.reason
    assert result.score == (1.0 if status == "answered" else None)


def test_scores_and_steps_from_processes_are_those_made_here(grader):
    ids = [LIGHT, HEAVY, HEAVY, "interlocking_parts/00"]
    answers = [
        references()[LIGHT, 1.0],
        references()[HEAVY, 1.0],
        "no \ud800 answer",
        {"parts": []},
    ]
    assert scbench.scores(ids, answers, workers=2) == scbench.scores(ids, answers)
    for setting, reply in (
        ("retry", "{}"),
        ("probe", '{"query": "rain", "earthworks": []}'),
    ):
        steps = []
        for run in (None, grader.run):
            environment = Environment(Setup(setting=setting), run)
            environment.reset(instances()[HEAVY])
            steps.append((environment.step(reply), environment.state))
        assert steps[0] == steps[1]
