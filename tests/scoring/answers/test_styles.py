"""Every task's answers are read by one rule, in more than a hundred styles."""

import json
from functools import cache

import pytest
from reply_styles import NOTHING, STYLES

from scbench.catalog import get_task
from scbench.release.load import find_release
from scbench.scoring.answers.extract import from_response
from scbench.scoring.answers.shape import shape_of

TASKS = tuple(find_release().manifest.tasks)


@cache
def answers() -> dict[str, list[dict[str, object]]]:
    """Return two different answers of every task: short references, else others of the release."""
    found: dict[str, dict[str, tuple[bool, int]]] = {task: {} for task in TASKS}
    for reference in find_release().references():
        task, text = reference.id.split("/")[0], reference.answer
        keys = shape_of(get_task(task).answer_model).keys
        if all(f'"{key}":' in text for key in keys):
            rank = reference.kind != "reference", len(text)
            found[task][text] = min(rank, found[task].get(text, rank))
    return {
        task: [json.loads(text) for text in sorted(some, key=lambda text: (some[text], text))[:2]]
        for task, some in found.items()
    }


def read(task: str, reply: str):
    found = from_response(reply, shape_of(get_task(task).answer_model))
    return None if found is None else found.value


def test_there_are_more_than_a_hundred_styles_and_every_task():
    assert len(STYLES) + len(NOTHING) > 100
    assert len(TASKS) == 34


@pytest.mark.parametrize("task", TASKS)
def test_the_answer_meant_is_read_in_every_style(task):
    one, other = answers()[task]
    misread = [
        name
        for name, style in STYLES.items()
        for meant, draft in ((one, other), (other, one))
        if not holds(read(task, style(meant, draft)), meant)
    ]
    assert misread == []


def holds(found, meant) -> bool:
    """Whether what was read is the answer meant, whatever stands beside it."""
    return isinstance(found, dict) and all(found.get(key) == meant[key] for key in meant)


@pytest.mark.parametrize("task", TASKS)
def test_no_answer_is_read_where_none_counts(task):
    one, other = answers()[task]
    misread = [name for name, style in NOTHING.items() if read(task, style(one, other)) is not None]
    assert misread == []
