"""Rungs above those of a release: one item of each is solved, graded in time, and short enough.

`test_frozen.py` verifies the newest release, which draws and judges all items of the others.
"""

import pytest

from scbench.base.seeding import Stream
from scbench.catalog import get_task
from scbench.freezing.ladder import MOST_ANSWER, MOST_PROMPT, ladder
from scbench.freezing.ladder_check import check_ladder


@pytest.mark.parametrize("task", [get_task(name) for name in ladder().tasks], ids=str)
def test_rungs_above_the_top_can_be_drawn_solved_and_graded(task):
    table = ladder().tasks[task.id]
    published = len(table.rungs)
    assert published >= 8
    assert len(table.all_rungs) > published, "something is beyond the top"
    for rung in range(published + 1, len(table.all_rungs) + 1):
        (report,) = check_ladder(ladder(), [task.id], count=1, rung=rung, rising=False)
        assert report.problems == ()
        assert len(report.measures) == 1
        assert 0 < report.prompt < MOST_PROMPT
        assert 0 < report.answer < MOST_ANSWER


@pytest.mark.parametrize("task", [get_task(name) for name in ladder().tasks], ids=str)
def test_measure_is_repeatable_and_depends_only_on_the_item(task):
    drawn = task.builder().draw(task.builder.space(), Stream("measured"))
    params = next((item.params for item in task.builder().paper()), drawn)
    read = task.params_model.model_validate_json(params.model_dump_json())
    assert get_task(task.id).builder().measure(read) == task.builder().measure(params)
