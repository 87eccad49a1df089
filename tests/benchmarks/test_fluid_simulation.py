"""Speed of the rain simulation, compared with the plain cell-by-cell simulation.

``pytest tests/benchmarks --benchmark-enable -n0 -k fluid``. The plain simulation only runs when
timing is on; it takes about half a minute.
"""

import json
import runpy
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scbench.catalog import get_task
from scbench.graders.fluid_simulation.earthworks import settle
from scbench.graders.fluid_simulation.rainfall import rain_on
from scbench.scoring.judge import judge

TESTS = Path(__file__).parent.parent
TASK = get_task("fluid_simulation")
PAPER = [item.params for item in TASK.builder().paper()]
PLANS = json.loads(
    (TESTS / "data" / "spec_references" / "fluid_simulation.json").read_text()
)


def test_all_references(benchmark):
    pairs = [(params, answers[0]) for params, answers in zip(PAPER, PLANS, strict=True)]
    benchmark.extra_info["answers"] = len(pairs)
    scores = benchmark(lambda: [judge(TASK, *pair)[0].score for pair in pairs])
    assert scores == [1] * 11


@pytest.mark.parametrize("kind", ["reference", "counter_reference"])
def test_largest_world(benchmark, kind):
    params = PAPER[10]
    builder = TASK.builder()
    answers = list(builder.counter_references(params).values())
    if kind == "reference":
        answers = [builder.reference(params).model_dump(mode="json")]
    benchmark.extra_info["answers"] = len(answers)
    scores = benchmark(
        lambda: [judge(TASK, params, answer)[0].score for answer in answers]
    )
    assert all((score == 1) == (kind == "reference") for score in scores)


@pytest.mark.parametrize("subtask", [0, 3, 6])
def test_against_the_plain_simulation(benchmark, versus, subtask):
    params, boxes = PAPER[subtask], PLANS[subtask][0]["earthworks"]
    plain = SimpleNamespace(**runpy.run_path(str(TESTS / "graders" / "plain_water.py")))
    start = plain.carve(plain.flat(params.width), boxes, params.width)
    grid = np.zeros((params.width, params.width, params.height), bool)
    grid[tuple(np.array(sorted(start)).T)] = True
    fast = benchmark(lambda: rain_on(settle(grid)[0], params.rain).water)
    if benchmark.enabled or subtask == 0:
        started = time.perf_counter()
        wet = plain.rain_on(plain.settle(start), params.rain, params.width)
        plain_time = time.perf_counter() - started
        assert {tuple(map(int, cell)) for cell in np.argwhere(fast)} == wet
    if benchmark.enabled:
        ours = benchmark.stats["min"]
        versus(
            f"rain on fluid_simulation/{subtask:02d}", "plain Python", ours, plain_time
        )
