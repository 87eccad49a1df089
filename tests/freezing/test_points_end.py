"""Points that produce nothing for minutes end, with a case or with the reason.

`tools/sweep_spaces.py` looks at corners of all spaces.
"""

import runpy
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest

from scbench.base.seeding import Stream
from scbench.builders.but_for_causation import Space, TaskBuilder
from scbench.catalog import available_tasks

TOOL = Path(__file__).parents[2] / "tools" / "sweep_spaces.py"
sweep = SimpleNamespace(**runpy.run_path(str(TOOL)))
HARD = [
    (task, point) for task, points in sweep.KNOWN_HARD.items() for point in points[:1]
]


@pytest.mark.parametrize(("task", "parameters"), HARD, ids=str)
def test_hard_points_end_within_a_minute(task, parameters):
    _, reason = sweep.outcome_in_time(sweep.SECONDS, task, parameters)
    assert not reason.startswith(("TIME", "CRASH")), reason
    assert not reason or "ask for" in reason


def test_every_space_has_corners_to_check():
    for task in available_tasks():
        ends = sweep.ends_of(task)
        assert ends.keys() == task.builder.space.model_fields.keys() - {"count"}
        corners = list(sweep.corners(task, 3))
        assert len(corners) > len(ends)
        for parameters in corners:
            task.builder.space.model_validate(parameters)


def test_some_event_is_necessary_if_chance_replaces_causes():
    for events, depth, over, stand_in, others, question in product(
        (3, 12), (1, 8), (0, 1), (0, 1), (0, 8), ("but_for", "necessary_set")
    ):
        point = Space(
            events=events,
            max_depth=depth,
            prob_overdetermination=over,
            prob_preemption=stand_in,
            distractors=others,
            question=question,
        )
        TaskBuilder().draw(point, Stream("corner", 1))  # raises if there is none
