"""How long one blast takes, on the smallest and the largest map: ``pytest -n0 --benchmark-enable``.

Shallow blasts throw up 3 balls, deep ones 16. Extra figures: milliseconds for each blast, and the
number of wrong plans that one round judges.
"""

import platform
import resource

import pytest

from scbench.catalog import get_task
from scbench.judge import judge

TASK = get_task("terrain_levelling")
PAPER = TASK.builder().paper()


@pytest.mark.parametrize("subtask", [0, 8])
@pytest.mark.parametrize("depth", [0.3, 4.0])
def test_one_blast(benchmark, subtask, depth):
    params = PAPER[subtask].params
    high = [
        {"x": x, "y": y, "z": depth}
        for y, row in enumerate(params.heights)
        for x, height in enumerate(row)
        if height > depth + 1
    ][:20]
    verdict = benchmark.pedantic(
        lambda: judge(TASK, params, {"blasts": high})[0], rounds=3, warmup_rounds=1
    )
    assert verdict.metrics["simulated"] == len(high)
    if benchmark.enabled:
        benchmark.extra_info["ms_per_blast"] = round(1000 * benchmark.stats["min"] / len(high), 2)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators are left alone")
def test_memory_is_kept_between_blasts():
    blasts = [{"x": 12, "y": 12, "z": 0.1}] * 20
    judge(TASK, PAPER[0].params, {"blasts": blasts})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    judge(TASK, PAPER[0].params, {"blasts": blasts})
    # Without it a blast fetches 7000 pages.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 700 * len(blasts)


@pytest.mark.parametrize("subtask", [0])
def test_a_whole_plan(benchmark, subtask):
    params = PAPER[subtask].params
    reference = TASK.builder().reference(params).model_dump(mode="json")
    verdict = benchmark.pedantic(lambda: judge(TASK, params, reference)[0], rounds=1)
    assert verdict.score == 1


@pytest.mark.parametrize("subtask", [0, 8])
def test_wrong_plans(benchmark, subtask):
    params = PAPER[subtask].params
    wrong = list(TASK.builder().counter_references(params).values())
    benchmark.extra_info["answers"] = len(wrong)
    verdicts = benchmark.pedantic(
        lambda: [judge(TASK, params, answer)[0] for answer in wrong], rounds=1
    )
    assert all(verdict.score < 1 for verdict in verdicts)
