"""What holds of every task's queries and actions: their words, their forms, and bad input."""

import json

import pytest

from scbench.catalog import all_tasks

ASKED = [task for task in all_tasks().values() if task.offers("queries")]
PLAYED = [task for task in all_tasks().values() if task.offers("actions")]
KINDS = [kind for task in ASKED for kind in task.queries.QUERIES]
KINDS += [kind for task in PLAYED for kind in task.actions.ACTIONS]


def names(kinds, field):
    return [kind.model_fields[field].annotation.__args__[0] for kind in kinds]


@pytest.mark.parametrize("task", PLAYED, ids=str)
def test_a_play_begins_with_something_to_see_and_do(task):
    called = names(task.actions.ACTIONS, "action")
    assert len(set(called)) == len(called) > 0
    assert task.actions.BUDGET > 0
    for item in task.builder().paper():
        play = task.actions.Play(item.params)
        assert not play.over
        assert 0 < len(json.dumps(play.look())) <= 2500
        task.answer_model.model_validate(play.answer)
