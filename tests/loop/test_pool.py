"""Many concurrent trials: heavy steps run in processes, and light ones never wait for them."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice

import pytest

from scbench.grading.workers.live import LiveGrader
from scbench.loop import Environment, Setup
from scbench.release.load import find_release

LIGHT = {
    "retry": [
        "two_segments",
        "enumerate_edges",
        "hamiltonian_loop",
        "shikaku_rectangles",
    ],
    "probe": ["maze_3d", "hyper_snake"],
    "act": ["hamiltonian_loop", "pack_rectangular_prisms"],
}
REPLIES = {
    "retry": ['{"segments": []}', '{"edges": []}', "no"],
    "probe": ['{"query": "walk", "path": [[0, 0], [0, 1]]}', "?", "?", "?", "?", "?"],
    "act": [
        '{"action": "remove", "places": [0]}',
        '{"action": "back", "count": 1}',
        '{"done": true}',
    ],
}
HEAVY = {
    ("act", "terrain_levelling/00"): [
        '{"action": "blast", "blasts": [{"x": 5, "y": 5, "z": 1.0}]}',
        '{"action": "blast", "blasts": [{"x": -1, "y": 5, "z": 1.0}]}',
        '{"done": true}',
    ],
    ("probe", "fluid_simulation/00"): [
        '{"query": "rain", "earthworks": []}',
        '{"earthworks": []}',
    ],
    ("retry", "csg_union/00"): ['{"vertices": [], "faces": []}', "no", "no"],
}


@pytest.fixture(scope="module")
def rows():
    return find_release().instances()


def played(row, setting, replies, run=None):
    environment = Environment(Setup(setting=setting), run)
    environment.reset(row)
    for reply in replies:
        if environment.step(reply).done:
            break
    return environment.prediction()


@pytest.fixture(scope="module")
def heavy_trials(rows):
    """The predictions of the heavy trials, played in this thread."""
    trials = []
    for (setting, name), replies in HEAVY.items():
        trials.append(played(rows[name], setting, replies))
    return trials


def test_light_trials_finish_while_every_heavy_step_waits(rows, heavy_trials):
    gate, begun = threading.Event(), threading.Semaphore(0)

    def run(function, *arguments):
        begun.release()
        assert gate.wait(600)
        return function(*arguments)

    def heavy(key):
        setting, name = key
        return played(rows[name], setting, HEAVY[key], run)

    kinds = []
    for setting, tasks in LIGHT.items():
        kinds += [(setting, f"{task}/00") for task in tasks]
    with ThreadPoolExecutor(8) as threads:
        # Six heavy trials, each of which waits in its first step.
        waiting = [threads.submit(heavy, key) for key in [*HEAVY, *HEAVY]]
        try:
            for _ in waiting:
                assert begun.acquire(timeout=600)
            for setting, name in islice(cycle(kinds), 58):
                assert played(rows[name], setting, REPLIES[setting])["turns"]
            assert not any(item.done() for item in waiting)
        finally:
            gate.set()
        results = [item.result() for item in waiting]
    assert results == heavy_trials * 2


def test_two_heavy_steps_run_concurrently(tmp_path):
    """Each end of a pipe opens only when the other does: both calls run, or neither ends."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    grader = LiveGrader(2)
    try:
        with ThreadPoolExecutor(2) as threads:
            reading = threads.submit(grader.run, os.open, pipe, os.O_RDONLY)
            writing = threads.submit(grader.run, os.open, pipe, os.O_WRONLY)
            assert reading.result(120) >= 0
            assert writing.result(120) >= 0
    finally:
        grader.close()


def test_trials_in_processes_equal_those_of_one_thread(rows, heavy_trials):
    grader = LiveGrader(2)
    try:
        trials = []
        for (setting, name), replies in HEAVY.items():
            trials.append(played(rows[name], setting, replies, grader.run))
        assert trials == heavy_trials
    finally:
        grader.close()
