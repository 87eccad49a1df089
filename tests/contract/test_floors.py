"""Baselines: they can be graded for any parameters, and releases record their scores."""

import re

import pytest
from contract import FRESH_SEEDS, fresh_cases, lengthy

from scbench.catalog import available_tasks
from scbench.freezing.floors import floor_record, floors_of
from scbench.release.load import find_release
from scbench.scoring.judge import validate

NAME = re.compile(r"[a-z][a-z0-9, -]{2,39}")
# The number of graded cases with default parameters.
FEW = 3
RELEASED = [
    task.id for task in available_tasks() if task.id in find_release().manifest.tasks
]


def cases_to_grade(task):
    """Return cases at every third extreme and at the default point; one of a lengthy task."""
    cases = fresh_cases(task.id)
    if lengthy(task):
        return cases[-1:]
    return [*cases[: -len(FRESH_SEEDS) : 3], *cases[-FEW:]]


def test_baselines_can_be_graded_for_any_parameters(task):
    builder = task.builder()
    for case in cases_to_grade(task):
        params = task.params_model.model_validate(case.instance)
        answers = builder.baselines(params)
        assert answers == task.builder().baselines(params), "repeatable"
        for name, answer in answers.items():
            assert NAME.fullmatch(name)
            valid = validate(task.answer_model, answer)
            assert isinstance(valid, task.answer_model), f"{name}: {valid}"
        assert all(0 < floor.score <= 1 for floor in floors_of(task, params))


@pytest.fixture(scope="module")
def references():
    return find_release().references()


@pytest.mark.parametrize("task_id", RELEASED)
def test_floor_of_a_task_follows_from_its_items(task_id, references):
    """Combine stored floors; `test_frozen.py` grades the floors of all items again."""
    release = find_release()
    ids = release.instances([task_id]).keys()
    record = floor_record(ref for ref in references if ref.id in ids)
    assert record == release.manifest.tasks[task_id].floor
    assert (record.mean > 0) == bool(record.strategies)
