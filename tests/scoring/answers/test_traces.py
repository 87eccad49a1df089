"""Replies with long reasoning, and answers that are repeated, wrapped or withdrawn."""

import json

import pytest
from pydantic import BaseModel

from scbench.base.model import Prediction, Status
from scbench.catalog import get_task
from scbench.release.load import find_release
from scbench.scoring.answers import scan as scan_module
from scbench.scoring.answers.extract import from_response
from scbench.scoring.answers.scan import scan
from scbench.scoring.answers.shape import Shape, shape_of
from scbench.scoring.outcomes import Outcome, grade_prediction, seek_answer

PATH = Shape(("path",), {"path": "path"}, {"path": frozenset({"array"})})
ANSWER = {"path": [2, 3]}
TEXT = json.dumps(ANSWER)


def read(reply: str) -> object:
    """Return the answer in a reply; None if there is none."""
    result = from_response(reply, PATH)
    return result and result.value


@pytest.mark.parametrize("bracket", list("{[("))
@pytest.mark.parametrize("form", ['push "{}"', 'stack.append("{}")', 'Push "{}".'])
@pytest.mark.parametrize("end", ["{}", "So:\n```json\n{}\n```", "<answer>{}</answer>"])
def test_open_brackets_do_not_hide_an_answer(bracket, form, end):
    for count in (1, 100, 101, 500):
        trace = "\n".join([form.format(bracket)] * count)
        assert read(f"{trace}\n\n{end.format(TEXT)}") == ANSWER
        draft = json.dumps({"path": [1]})
        assert read(f"{draft}\n{trace}\n\n{end.format(TEXT)}") == ANSWER


def test_only_the_last_brackets_count_if_there_are_too_many():
    trace = '["' * 150_000
    assert read(f"{trace}\n{TEXT}") == ANSWER
    # An earlier object does not replace one that was skipped.
    assert read(f"{TEXT}\n{trace}") is None


@pytest.mark.parametrize("unit", ["[1 # ", "[1 // ", '["', '[\\"', "{'a ", "[1,[1,"])
def test_brackets_are_read_at_most_once(unit, monkeypatch):
    starts = []
    read_value = scan_module._Reader.read

    def counted_read(reader, start):
        starts.append(start)
        return read_value(reader, start)

    monkeypatch.setattr(scan_module._Reader, "read", counted_read)
    scan(unit * 2000, {"path"})
    assert len(starts) == len(set(starts)) <= 4000


@pytest.mark.parametrize("keep", range(1, len(TEXT)))
@pytest.mark.parametrize("again", ["", "Once more:\n\n", "```json\n"])
def test_repeat_that_is_cut_off_is_ignored(keep, again):
    assert read(f"{TEXT}\n\n{again}{TEXT[:keep]}") == ANSWER


def test_new_answer_that_is_cut_off_leaves_no_answer():
    assert read(f'{TEXT}\nBetter: {{"path": [2, 4') is None
    assert read(f'{TEXT}\nBetter: {{"path": [1') is None
    # These incomplete objects do not start with the answer's key.
    assert read(f'{TEXT}\nPush "{{"') == ANSWER
    assert read(f'{TEXT}\n{{"checks": 5, "ok') == ANSWER


def test_open_tag_hides_all_but_a_final_object():
    fence = f"```json\n{TEXT}\n```"
    assert read(f"<thinking>It is [1].\n{fence}") == ANSWER
    assert read(f"<thinking>It is [1]. <answer>{TEXT}</answer>") == ANSWER
    assert read(f"<thinking>\n```json\n{{}}\n```\n{fence}\n") == ANSWER
    assert read(f"<thinking>It is\n{fence}\nor not") is None
    assert read(f"<thinking>It is {TEXT}") is None


@pytest.mark.parametrize(
    "reply",
    [
        [{"type": "text", "text": TEXT}],
        [{"type": "thinking", "thinking": "[1]"}, {"type": "text", "text": TEXT}],
        {"role": "assistant", "content": TEXT},
        {"role": "assistant", "content": [{"type": "text", "text": TEXT}]},
        {"type": "message", "content": [{"type": "output_text", "text": TEXT}]},
        {"parts": [{"text": "[1]", "thought": True}, {"text": TEXT}], "role": "model"},
        {"choices": [{"message": {"content": f"So {TEXT}"}}]},
        {"content": TEXT},
        {"text": TEXT},
    ],
)
def test_api_messages_are_read(reply):
    result = from_response(json.dumps(reply), PATH)
    assert result.value == ANSWER
    assert result.repairs[0] == "unwrapped_message"


def test_spelling_and_unicode_signs_are_repaired():
    shape = shape_of(get_task("half_subdivision_neighbours").answer_model)
    result = from_response('{"neighbours": ["1"]}', shape)
    assert (result.value, result.repairs) == ({"neighbors": ["1"]}, ("key_case",))
    result = from_response('{"path"\uff1a [\u22122, \uff13]}', PATH)
    assert (result.value, result.repairs) == ({"path": [-2, 3]}, ("ascii_twins",))


def params_of(task_id: str) -> BaseModel:
    """Return the parameters of the first item of a task."""
    instance = find_release().instances([task_id])[f"{task_id}/00"]
    return get_task(task_id).params_model.model_validate_json(instance.all_params)


def outcome(task_id: str, reply: str, finish_reason: str | None = None) -> str:
    """Return the value read from a reply to a text task, or its status."""
    prediction = Prediction(
        id=f"{task_id}/00", response=reply, finish_reason=finish_reason
    )
    task = get_task(task_id)
    result = seek_answer(prediction, task, params_of(task_id))
    if isinstance(result, Outcome):
        return result.status.value
    return result.value["answer"]


@pytest.mark.parametrize(
    ("reply", "result"),
    [
        ("The answer is **39**.", "39"),
        ("Thoughts.\n#### 39", "39"),
        ("\u7b54\u6848\u662f 39\u3002", "39"),
        ("\u7b54\u3048\u306f39\u3067\u3059\u3002", "39"),
        ("The answer is 39.\n\nWait, let me check: 3 x 13 = 39.", "39"),
        ("The answer is **39** or **49**.", "unparsed"),
        ("The answer is 39. Wait, no, that's wrong. I give up.", "refused"),
        ("The answer is 39.\n\nNo, that is wrong.", "unparsed"),
        ("If the rule were different, the answer would be 39.", "unparsed"),
        ("The answer is ~~39~~.", "unparsed"),
        ("~~The answer is 39.~~", "unparsed"),
        ("#### Step 39\nThen we add.", "unparsed"),
    ],
)
def test_words_count_unless_withdrawn(reply, result):
    assert outcome("arithmetic", reply) == result


def test_whole_truncated_reply_is_not_an_answer():
    assert outcome("arithmetic", "39") == "39"
    assert outcome("arithmetic", "39", "length") == "truncated"
    assert outcome("arithmetic", "39", "content_filter") == "blocked"
    assert outcome("arithmetic", "```\n39\n```\nThis is", "length") == "39"


def test_code_that_calls_a_function_is_not_an_answer():
    task = get_task("polynomial_curve_fitting")
    params = params_of(task.id)
    code = "```python\ndef build():\n    return 1\nprint(build())\n```"
    prediction = Prediction(id=f"{task.id}/00", response=code)
    assert grade_prediction(prediction, task, params).status is Status.UNPARSED


def test_declining_to_show_reasoning_is_not_a_refusal():
    reply = "Sorry, I can't share my detailed chain of thought. Here are some leaves."
    assert outcome("arithmetic", reply) == "unparsed"
    assert outcome("arithmetic", "Sorry, I can't help with that.") == "refused"
