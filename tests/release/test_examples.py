"""Examples of tasks: short items of the first rung, with correct answers."""

import json

import pytest

from scbench.base.model import rung_of
from scbench.catalog import get_task
from scbench.release.examples import beginning, examples
from scbench.release.load import find_release
from scbench.scoring.judge import judge


def test_every_task_has_an_example_that_no_baseline_solves():
    found = examples(find_release(), find_release().manifest.tasks)
    assert found.keys() == find_release().manifest.tasks.keys()
    for task, example in found.items():
        assert rung_of(example.instance.id) == 1
        assert example.instance.task == task
        assert example.floor < 1
        assert not example.instance.images


@pytest.mark.parametrize("task", ["two_segments", "csg_union", "hyper_snake", "movies"])
def test_answer_of_an_example_is_correct(task):
    example = examples(find_release(), [task])[task]
    params = get_task(task).params_model.model_validate_json(
        example.instance.all_params
    )
    (verdict,) = judge(get_task(task), params, json.loads(example.answer))
    assert verdict.score == 1


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("short\n", "short"),
        ("One two.\n\nThree four five six.", "One two."),
        ("One two three\nfour five six", "One two three"),
        ("[1,22,333,4444,55555]", "[1,22,333,4444"),
        ("x" * 40, "x" * 17),
        ("A line.\n\nA list:\n\n- one\n- two", "A line."),
    ],
)
def test_texts_are_cut_at_natural_ends(text, start):
    assert beginning(text, 17) == start
