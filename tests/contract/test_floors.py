"""Answers without insight: they can be judged anywhere, and releases hold what they earn."""

import re

import pytest
from contract import FRESH_SEEDS, fresh_cases, lengthy

from scbench.catalog import MANIFOLDS, available_tasks
from scbench.freezing.floors import Floor, floor_of, floor_record, floors_of
from scbench.release.load import find_release
from scbench.scoring.judge import validate

NAME = re.compile(r"[a-z][a-z0-9, -]{2,39}")
FEW = 3
"""Instances of a list that a heavy task's floors are judged for; of others it is all."""
SPREAD = 40
"""Of drawn instances, one in so many."""


def drawn(task):
    """One case at each extreme and three at the default point, or what a minute allows."""
    cases = fresh_cases(task.id)
    return (
        cases[-1:]
        if lengthy(task)
        else [*cases[: -len(FRESH_SEEDS) : 3], *cases[-FEW:]]
    )


def test_answers_without_insight_can_be_judged_wherever_an_instance_is_drawn(task):
    builder = task.builder()
    for case in drawn(task):
        params = task.params_model.model_validate(case.instance)
        answers = builder.baselines(params)
        assert answers == task.builder().baselines(params), (
            "the same whenever they are asked for"
        )
        assert all(NAME.fullmatch(name) for name in answers)
        for name, answer in answers.items():
            valid = validate(task.answer_model, answer)
            assert isinstance(valid, task.answer_model), f"{name}: {valid}"
        assert all(0 < floor.score <= 1 for floor in floors_of(task, params))


def instances_to_judge(task, release):
    rows = list(release.instances([task.id]).values())
    if task.bucket == MANIFOLDS:
        return rows[::SPREAD]
    return (
        rows[:1]
        if lengthy(task)
        else rows[:: -(-len(rows) // FEW)]
        if task.heavy
        else rows
    )


HELD = [
    task.id for task in available_tasks() if task.id in find_release().manifest.tasks
]


@pytest.fixture(scope="module")
def stored():
    references = find_release().references()
    return {
        ref.id: Floor(ref.floor, ref.floor_strategy) for ref in references
    }, references


@pytest.mark.parametrize("task_id", HELD)
def test_the_floors_of_the_newest_release_are_judged_anew(task_id, stored):
    """All of them are when a release is verified."""
    floors, references = stored
    release = find_release()
    (task,) = (task for task in available_tasks() if task.id == task_id)
    for row in instances_to_judge(task, release):
        params = task.params_model.model_validate_json(row.all_params)
        assert floor_of(task, params) == floors[row.id], row.id
    ids = release.instances([task_id]).keys()
    record = floor_record(ref for ref in references if ref.id in ids)
    assert record == release.manifest.tasks[task_id].floor
    assert (record.mean > 0) == bool(record.strategies)
