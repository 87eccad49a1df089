"""An instance of every task of the newest release, with stored answers to it."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from scbench.base.model import Instance, Prediction
from scbench.catalog import Task, available_tasks, get_task
from scbench.loop import Environment, Setup
from scbench.release.load import find_release

RELEASED = find_release().manifest.tasks
"""Tasks are tested once a release contains them."""


@dataclass
class Stored:
    """One instance, a correct answer and wrong ones, as JSON texts."""

    __repr__ = object.__repr__
    instance: Instance
    right: str
    wrong: list[str]

    @property
    def task(self) -> Task:
        return get_task(self.instance.task)

    @property
    def params(self):
        return self.task.params_model.model_validate_json(self.instance.all_params)

    def played(self, replies: list[str], **setup) -> tuple[Environment, list]:
        """Play replies until the trial is over; return the environment and its steps."""
        environment = Environment(Setup(**{"setting": "retry", "closed": True} | setup))
        environment.reset(self.instance)
        steps = []
        for reply in replies:
            steps.append(environment.step(reply))
            if steps[-1].done:
                break
        return environment, steps

    def prediction(self, environment: Environment, **fields) -> Prediction:
        return Prediction.model_validate(environment.prediction(**fields))


class _Quiet(dict):
    __repr__ = (
        object.__repr__
    )  # of all tasks it is a megabyte, and hypothesis writes it


@pytest.fixture(scope="session")
def all_stored() -> Mapping[str, Stored]:
    release = find_release()
    by_id = defaultdict(list)
    for reference in release.references():
        by_id[reference.id].append(reference)
    result: dict[str, Stored] = {}
    for instance in release.instances().values():
        if instance.task not in result and by_id[instance.id]:
            right = next(
                item for item in by_id[instance.id] if item.kind == "reference"
            )
            wrong = [item.answer for item in by_id[instance.id] if item.score < 1]
            result[instance.task] = Stored(instance, right.answer, wrong)
    return _Quiet(result)


@pytest.fixture(params=[task.id for task in available_tasks() if task.id in RELEASED])
def stored(request, all_stored) -> Stored:
    return all_stored[request.param]
