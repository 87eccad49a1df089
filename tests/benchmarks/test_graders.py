"""How fast answers are judged, one core, validation included.

``pytest tests/benchmarks --benchmark-enable -n0``; the column OPS is rounds, each of which judges
every answer once, so answers per second are OPS times ``answers`` in the extra figures. Judged are
the right answers or the wrong ones, of all paper instances of a task (twenty fresh ones, if it has
none) or of the largest, which is the one with the longest right answer.
"""

import pytest

from scbench.catalog import available_tasks
from scbench.scoring.judge import judge

LIGHT = [task for task in available_tasks() if not task.heavy and task.package == "scbench"]


def answers(task, params, kind):
    """The right answer of an instance, or its wrong ones."""
    builder = task.builder()
    if kind == "counter_reference":
        return list(builder.counter_references(params).values())
    return [builder.reference(params).model_dump(mode="json")]


@pytest.mark.parametrize("which", ["paper", "largest"])
@pytest.mark.parametrize("kind", ["reference", "counter_reference"])
@pytest.mark.parametrize("task", LIGHT, ids=str)
def test_judging(benchmark, task, kind, which):
    builder = task.builder()
    instances = [item.params for item in builder.paper()] or [
        task.params_model.model_validate(builder.case(builder.space(), seed).instance)
        for seed in range(20)
    ]
    if benchmark.disabled:  # as a test, two instances are enough
        del instances[2:]
    if which == "largest":
        instances = [
            max(instances, key=lambda params: len(str(answers(task, params, "reference"))))
        ]
    pairs = [(params, answer) for params in instances for answer in answers(task, params, kind)]
    benchmark.extra_info["answers"] = len(pairs)

    def judge_all():
        return [judge(task, params, answer)[0].score for params, answer in pairs]

    scores = benchmark(judge_all)
    assert all((score == 1) == (kind == "reference") for score in scores)
