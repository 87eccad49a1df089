"""Run every test of the contract for every task of the catalogue."""

import pytest

from scbench.catalog import Task, available_tasks, get_task


@pytest.fixture(params=[task.id for task in available_tasks()])
def task(request) -> Task:
    return get_task(request.param)
