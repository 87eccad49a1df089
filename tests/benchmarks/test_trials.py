"""Time of 64 simultaneous trials of mixed tasks, with heavy steps in worker processes."""

import threading
import time

import pytest

from scbench.grading.workers.live import live_grader
from scbench.loop import Environment, Setup
from scbench.release.load import find_release

HEAVY = "fluid_simulation/09"
SCRIPTS = {
    "two_segments/00": ("retry", ['{"segments": []}'] * 3),
    "hamiltonian_loop/03": ("act", ['{"action": "ask", "cells": [[2, 1]]}'] * 20),
    "maze_3d/00": ("probe", ['{"query": "walk", "path": [[0, 0], [0, 1]]}'] * 20),
    HEAVY: ("probe", ['{"query": "rain", "earthworks": []}'] * 5),
}


@pytest.mark.parametrize("trials", [4, 64])
def test_trials_at_once(benchmark, trials):
    rows = find_release().instances()
    run, light_steps = live_grader().run, []

    def play(name):
        setting, replies = SCRIPTS[name]
        environment = Environment(Setup(setting=setting), run)
        environment.reset(rows[name])
        for reply in replies:
            start = time.perf_counter()
            environment.step(reply)
            if name != HEAVY:
                light_steps.append(time.perf_counter() - start)

    def all_at_once():
        names = [*SCRIPTS] * (trials // len(SCRIPTS))
        threads = [threading.Thread(target=play, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    benchmark.pedantic(all_at_once, rounds=1, warmup_rounds=1)
    light_steps.sort()
    last = len(light_steps) - 1
    figures = [light_steps[int(share * last)] for share in (0.5, 0.99, 1)]
    benchmark.extra_info["light step, ms: median, 99 %, slowest"] = [
        round(1000 * seconds, 1) for seconds in figures
    ]
