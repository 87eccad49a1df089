"""How long one blast takes, on the smallest and the largest map: ``pytest -n0 --benchmark-enable``.

Shallow blasts throw up 3 balls, deep ones 16. Extra figures: milliseconds for each blast, and the
number of wrong plans that one round judges.
"""

import random

import pytest
from plain_blast import plain_blast, random_blasts

from scbench.catalog import get_task
from scbench.graders.terrain_levelling.blast_simulation import blast_cell
from scbench.scoring.judge import judge

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


def test_thousands_of_blasts_are_byte_for_byte_those_of_fresh_clients(benchmark):
    maps = [item.params.heights for item in PAPER]
    blasts = random_blasts(random.Random(8), maps, 5000 if benchmark.enabled else 5)

    def compare():
        for rows, n, x, y, z in blasts:
            heights = [height for row in rows for height in row]
            blast_cell(heights, n, x, y, z)
            plain_blast(rows, n, x, y, z)
            assert heights == [height for row in rows for height in row]

    benchmark.pedantic(compare, rounds=1)


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
