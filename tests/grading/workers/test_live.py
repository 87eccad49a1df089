"""Answers that arrive one at a time: graded in processes, light ones ahead of heavy ones."""

import json
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import cache

import daemonic
import pytest

import scbench
from scbench.grading.workers.live import LiveGrader, line_of, live_grader
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


def test_light_answers_finish_while_every_heavy_one_waits(grader, tmp_path):
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
        with suppress(OSError):  # no caller waits for it at this moment
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
def test_failure_is_retried_once_and_has_no_score(monkeypatch, errors, status, reason):
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


def test_processes_give_the_same_scores_and_steps(grader):
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


def rewards():
    """Scores of a correct answer to a heavy task."""
    return daemonic.rewards(HEAVY, right_text())


def right_text():
    answer = references()[HEAVY, 1.0]
    return answer if isinstance(answer, str) else json.dumps(answer)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_daemonic_process_grades_by_itself(method):
    # In a fork of a process in which Polars has run, it cannot read a release, so that must
    # happen before.
    assert scbench.score(HEAVY, right_text()) == 1
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(
        target=daemonic.put_rewards, args=(queue, HEAVY, right_text()), daemon=True
    )
    child.start()
    assert queue.get(timeout=120) == [1.0, 1.0]
    child.join()
    assert child.exitcode == 0


def test_fork_grades_with_its_own_workers_and_leaves_its_parents():
    assert rewards() == [1.0, 1.0]
    pid = os.fork()
    if not pid:
        signal.alarm(120)
        code = 1
        try:
            code = rewards() != [1.0, 1.0]
            live_grader(2, None).close()
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    assert rewards() == [1.0, 1.0]


def test_exiting_fork_ends_no_workers_of_its_parent():
    assert rewards() == [1.0, 1.0]
    before = worker_pids(live_grader(2, None))
    pid = os.fork()
    if not pid:
        signal.alarm(60)
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
        try:
            live_grader(2, None).close()
        finally:
            os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert rewards() == [1.0, 1.0]
    assert worker_pids(live_grader(2, None)) == before


def worker_pids(grader):
    pool = grader._pools[True]._pool
    return {*pool._pool_manager.worker_manager.workers}


def test_worker_that_dies_idle_costs_no_answer():
    grader = LiveGrader(1)
    try:
        for seconds in (0, 0, 0.5):
            assert submitted(grader, HEAVY).result().score == 1.0
            for pid in worker_pids(grader):
                os.kill(pid, signal.SIGKILL)
            time.sleep(seconds)
        assert submitted(grader, HEAVY).result().score == 1.0
    finally:
        grader.close()
