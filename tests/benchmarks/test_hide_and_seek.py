"""How fast the largest crowd is judged, one core, validation included.

``pytest tests/benchmarks --benchmark-enable -n0 -k hide``; one round judges the answers counted in
the extra figures once each.
"""

import pytest

from scbench.catalog import get_task
from scbench.scoring.judge import judge

TASK = get_task("hide_and_seek")


@pytest.mark.parametrize("kind", ["reference", "counter_reference"])
def test_judging_two_hundred_people(benchmark, kind):
    builder = TASK.builder()
    params = max((item.params for item in builder.paper()), key=lambda params: params.people)
    answers = [builder.reference(params).model_dump(mode="json")]
    if kind == "counter_reference":
        answers = list(builder.counter_references(params).values())
    benchmark.extra_info["answers"] = len(answers)

    def judge_all():
        return [judge(TASK, params, answer)[0].score for answer in answers]

    scores = benchmark(judge_all)
    assert all((score == 1) == (kind == "reference") for score in scores)
