"""Every task's picture: of an instance alone, of right answers, and of wrong ones."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
from pydantic import ValidationError

from scbench.canonical import canonical_json
from scbench.catalog import SECONDS, available_tasks, get_task
from scbench.judge import judge
from scbench.model import Check, Verdict
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Picture, draw_of

TASKS = [task.id for task in available_tasks() if task.has("report.pictures")]
MOST_BYTES = 600_000
"""Of one flat panel; a report holds hundreds."""


def plain(data):
    return json.loads(canonical_json(dict(data)))


def read_back(verdicts):
    """The verdicts as a report has them: read from the JSON in the results."""
    return tuple(
        Verdict(
            verdict.score,
            tuple(
                Check(check.id, check.passed, check.message, plain(check.details))
                for check in verdict.checks
            ),
            plain(verdict.metrics),
        )
        for verdict in verdicts
    )


def examine(picture: Picture) -> None:
    assert picture.panels
    assert picture.caption.strip()
    for panel in picture.panels:
        assert panel.title
        assert panel.alt
        if isinstance(panel.view, Drawing):
            text = panel.view.render(panel.alt)
            ET.fromstring(text)  # noqa: S314  (our own text; malformed XML raises)
            assert len(text) < MOST_BYTES
            assert not re.search(r"\b(?:nan|inf)\b", text)


@pytest.mark.parametrize("task_id", TASKS)
def test_every_instance_has_a_picture(task_id):
    task = get_task(task_id)
    for item in task.builder().paper():
        examine(draw_of(task)(item.params, None, ()))


@pytest.mark.parametrize("task_id", TASKS)
def test_answers_right_and_wrong_have_pictures(task_id):
    task = get_task(task_id)
    builder = task.builder()
    items = builder.paper()
    if task.seconds > SECONDS:
        items = []  # its own tests draw short answers
    elif task.heavy:
        items = items[:3]
    else:
        items = items[:: len(items) // 3 or 1]
    for i, item in enumerate(items):
        right = builder.reference(item.params).model_dump(mode="json")
        counters = builder.counter_references(item.params)
        for answer in (right, *list(counters.values())[: 5 if i or task.heavy else None]):
            try:
                valid = task.answer_model.model_validate(answer)
            except ValidationError:
                valid = None
            verdicts = read_back(judge(task, item.params, answer))
            examine(draw_of(task)(item.params, valid, verdicts))
