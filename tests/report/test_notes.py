"""The notes at the top of a report about its coverage."""

import polars as pl
import pytest

from scbench.catalog import MANIFOLDS, all_tasks
from scbench.release.load import find_release
from scbench.report.run_warnings import warnings_of

SPATIAL = list(find_release().manifest.default_tasks)
TEXTS = [task.id for task in all_tasks().values() if task.bucket == MANIFOLDS]


def notes_on(tasks):
    rows = pl.DataFrame(
        {
            "id": [f"{task}/00" for task in tasks],
            "task": tasks,
            "status": ["answered"] * len(tasks),
            "score": [1.0] * len(tasks),
            "grader_version": [all_tasks()[task].grader_version for task in tasks],
        }
    )
    return list(warnings_of(rows, find_release(), []))


@pytest.mark.parametrize("tasks", [SPATIAL, TEXTS, SPATIAL + TEXTS])
def test_run_of_a_whole_part_of_the_release_is_not_called_partial(tasks):
    assert notes_on(tasks) == []
