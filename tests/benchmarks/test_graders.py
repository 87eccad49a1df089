"""How fast answers are judged, one core, validation included.

``pytest tests/benchmarks --benchmark-enable -n0``; the column OPS is rounds, each of which judges
every paper instance of the task once, so answers per second are OPS times ``answers``.
"""

import pytest

from scbench.catalog import available_tasks
from scbench.judge import judge

LIGHT = [task for task in available_tasks() if not task.heavy and not task.package]


@pytest.mark.parametrize("kind", ["reference", "counter_reference"])
@pytest.mark.parametrize("task", LIGHT, ids=str)
def test_judging_the_paper_instances(benchmark, task, kind):
    builder = task.builder()
    pairs = []
    for item in builder.paper():
        answers = [builder.reference(item.params).model_dump(mode="json")]
        if kind == "counter_reference":
            answers = list(builder.counter_references(item.params).values())
        pairs += [(item.params, answer) for answer in answers]
    benchmark.extra_info["answers"] = len(pairs)

    def judge_all():
        return [judge(task, params, answer)[0].score for params, answer in pairs]

    scores = benchmark(judge_all)
    assert all((score == 1) == (kind == "reference") for score in scores)


@pytest.mark.parametrize("task", LIGHT, ids=str)
def test_judging_the_largest_instance(benchmark, task):
    builder = task.builder()
    largest = max(builder.paper(), key=lambda item: len(item.params.model_dump_json()))
    answer = builder.reference(largest.params).model_dump(mode="json")
    verdicts = benchmark(judge, task, largest.params, answer)
    assert verdicts[0].score == 1
