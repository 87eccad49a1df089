"""A right answer is extracted from any reply that obeys the prompt, unless hidden or cut off."""

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replies import Answer, make, make_words

from scbench.base.model import Prediction
from scbench.catalog import MANIFOLDS, get_task
from scbench.release.load import find_release
from scbench.scoring.judge import judge
from scbench.scoring.outcomes import Outcome, seek_answer

TASKS = tuple(find_release().manifest.tasks)
_LONGEST = 20_000
PIECES = [
    *"{}[](),:\"'`\\\n. 01-+#<>*_$",
    "```", "```json", "<think>", "</think>", "<answer>", "</answer>", "Final answer:",
    "answer is =", '"answer":', '"triangles"', "'triangles':", "'''", "True", "null", "NaN",
    "1e999", "\\ud800", "\ud800", "[[0, 1, 2]]", "or", "none", "\\boxed{", "<|channel|>",
    "analysis", "<|message|>", "\u200e", "&quot;", "> ", "{answer",
]  # fmt: skip


@cache
def answers(task_id: str) -> tuple[object, Answer, Answer]:
    """Return an item's parameters, its right answer, and another answer of the same kind."""
    task, release = get_task(task_id), find_release()
    instances = release.instances([task_id])
    stored = [ref for ref in release.references() if ref.id in instances]
    right = {ref.id: ref.answer for ref in stored if ref.kind == "reference"}
    # The shortest right answers first.
    for row_id, text in sorted(right.items(), key=lambda item: (len(item[1]), item[0])):
        params = task.params_model.model_validate_json(instances[row_id].all_params)
        meant = json.loads(text)
        others = [ref.answer for ref in stored if ref.id == row_id]
        if task.bucket != MANIFOLDS:
            others += right.values()
        for other in map(json.loads, others):
            if other != meant and _is_alike(task, params, meant, other):
                return params, meant, other
    raise AssertionError(f"{task_id} has no two answers of a kind")


def _is_alike(task, params, meant: Answer, other: object) -> bool:
    if not isinstance(other, dict) or other.keys() != meant.keys():
        return False
    if len(json.dumps(other)) > _LONGEST:
        return False
    (meant_value,), (other_value,) = meant.values(), other.values()
    if type(meant_value) is not type(other_value):
        return False
    if not meant_value or not other_value:
        return False
    for check in judge(task, params, other)[0].checks:
        if check.id in {"answer_schema", "readable"} and not check.passed:
            return False
    return True


def extract(task_id: str, params: object, reply: str) -> object:
    """Return the answer extracted from a reply to an item; None if there is none."""
    prediction = Prediction(id=f"{task_id}/00", response=reply)
    result = seek_answer(prediction, get_task(task_id), params)
    return None if isinstance(result, Outcome) else result.value


def is_meant(task_id: str, params: object, result: object, meant: Answer) -> bool:
    """Return whether a result is the meant answer; words may differ if they score the same."""
    if not isinstance(result, dict) or not result.keys() >= meant.keys():
        return False
    if all(result[key] == meant[key] for key in meant):
        return True
    task = get_task(task_id)
    if task.bucket != MANIFOLDS:
        return False
    scores = [judge(task, params, answer)[0].score for answer in (result, meant)]
    return scores[0] == scores[1]


@pytest.mark.parametrize("task_id", TASKS)
@settings(max_examples=25)
@given(data=st.data())
def test_replies_are_read_as_intended(task_id, data):
    params, meant, other = answers(task_id)
    reply = make(lambda options: data.draw(st.sampled_from(options)), meant, other)
    result = extract(task_id, params, reply.text)
    if reply.is_answer:
        assert is_meant(task_id, params, result, meant), reply
    else:
        assert result is None, reply


@pytest.mark.parametrize("task_id", ["arithmetic", "boolean", "dates", "movies"])
@given(data=st.data())
def test_words_are_read_unless_withdrawn(task_id, data):
    params, meant, other = answers(task_id)
    reply = make_words(
        lambda options: data.draw(st.sampled_from(options)),
        str(meant["answer"]),
        str(other["answer"]),
    )
    result = extract(task_id, params, reply.text)
    if reply.is_answer:
        assert is_meant(task_id, params, result, meant), reply
    else:
        assert result is None, reply


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text())
def test_any_text_gives_json_or_none(text):
    for task_id in (
        "delaunay_triangulation",
        "maze_3d",
        "arithmetic",
        "word_sorting",
        "csg_union",
    ):
        params, *_ = answers(task_id)
        result = extract(task_id, params, text)
        assert result is None or isinstance(json.loads(json.dumps(result)), dict)
