"""What `scbench.score` costs beside the verdict itself."""

import json

import pytest

import scbench
from scbench.catalog import get_task
from scbench.release.load import find_release
from scbench.scoring.judge import judge

ITEMS = ("two_segments/07", "topology_enumeration/03", "shikaku_rectangles/02")


def answer_of(instance_id):
    found = next(
        ref
        for ref in find_release().references()
        if ref.id == instance_id and ref.kind == "reference"
    )
    return json.loads(found.answer)


@pytest.mark.parametrize("instance_id", ITEMS)
@pytest.mark.parametrize("how", ["judge", "answer", "response"])
def test_score_beside_judging(benchmark, instance_id, how):
    task = get_task(instance_id.partition("/")[0])
    instance = find_release().instances()[instance_id]
    params = task.params_model.model_validate_json(instance.all_params)
    answer = answer_of(instance_id)
    benchmark.group = f"score {instance_id}"
    if how == "judge":
        benchmark(judge, task, params, answer)
        return
    given = answer if how == "answer" else f"So it is.\n\n```json\n{json.dumps(answer)}\n```\n"
    assert benchmark(scbench.score, instance_id, given) == 1
