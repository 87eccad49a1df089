"""Every rung of every ladder: an instance of it is solved, judged in time, and short enough.

All instances of the published ladder are proven when a release is frozen and when it is verified.
"""

import pytest

from scbench.base.seeding import Stream
from scbench.catalog import get_task
from scbench.freezing.ladder import MOST_ANSWER, MOST_PROMPT, ladder
from scbench.freezing.ladder_check import check_ladder


@pytest.mark.parametrize("task", [get_task(name) for name in ladder().tasks], ids=str)
def test_every_rung_can_be_drawn_solved_and_judged(task):
    held = ladder().tasks[task.id]
    result = list(check_ladder(ladder(), [task.id], count=1, rising=False))
    assert [problem for report in result for problem in report.problems] == []
    assert len(held.rungs) >= 8
    assert len(result) == len(held.all_rungs) > len(held.rungs), (
        "something is beyond the top"
    )
    for report in result:
        assert len(report.measures) == 1
        assert 0 < report.prompt < MOST_PROMPT
        assert 0 < report.answer < MOST_ANSWER


@pytest.mark.parametrize("task", [get_task(name) for name in ladder().tasks], ids=str)
def test_the_measure_is_the_same_each_time_and_depends_on_the_instance_alone(task):
    drawn = task.builder().draw(task.builder.space(), Stream("measured"))
    params = next((item.params for item in task.builder().paper()), drawn)
    read = task.params_model.model_validate_json(params.model_dump_json())
    assert get_task(task.id).builder().measure(read) == task.builder().measure(params)
