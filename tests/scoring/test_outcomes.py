"""Outcomes: the status of each row, and containment of errors in graders."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.base.canonical import parse_json
from scbench.base.model import Prediction, Status, Verdict
from scbench.catalog import get_task
from scbench.scoring.judge import MAX_VALUES
from scbench.scoring.outcomes import MAX_ANSWER_CHARACTERS, Outcome, grade_prediction
from scbench.scoring.refusals import declines

PARITY = get_task("parity")
ODD = PARITY.params_model(bits="1")
RIGHT = {"bit": 1}
FOUND = '```json\n{"bit": 1}\n```'
PROSE = "It is odd."
REFUSAL = "I'm sorry, but I can't help with that."

answered, unparsed, truncated, refused = (
    Status.ANSWERED,
    Status.UNPARSED,
    Status.TRUNCATED,
    Status.REFUSED,
)
blocked, missing, api_error, not_run = (
    Status.BLOCKED,
    Status.MISSING,
    Status.API_ERROR,
    Status.NOT_RUN,
)
ROWS = {
    # the call fails, times out or returns nothing
    "nothing": ({}, missing, None, "the line contains neither answer nor response"),
    "blank": ({"response": " \n"}, unparsed, 0, "the response is empty"),
    "blank, answered": (
        {"response": "", "status": "answered"},
        unparsed,
        0,
        "is empty",
    ),
    "error": ({"error": "timeout"}, api_error, None, "timeout"),
    "error and half a text": (
        {"error": "reset", "response": "The"},
        api_error,
        None,
        "reset",
    ),
    "error, yet an answer": ({"error": "slow", "response": FOUND}, answered, 1, ""),
    "error at the limit": (
        {"error": "x", "finish_reason": "length"},
        api_error,
        None,
        "x",
    ),
    "long error": ({"error": "e" * 9000}, api_error, None, "e" * 500),
    # malformed JSON
    "prose": ({"response": PROSE}, unparsed, 0, "no answer can be read from the text"),
    "NaN": ({"response": '{"bit": NaN}'}, unparsed, 0, "no answer can be read"),
    "a number in a string": (
        {"response": '{"bit": "1"}'},
        unparsed,
        0,
        "no answer can be read",
    ),
    "Python": ({"response": "{'bit': 1,}"}, answered, 1, ""),
    "only thoughts": (
        {"response": f"<think>{FOUND}</think>"},
        unparsed,
        0,
        "no answer can be",
    ),
    # empty object, wrong keys
    "empty object in text": ({"response": "{}"}, unparsed, 0, "no answer can be read"),
    "false as answer": ({"answer": False}, answered, 0, ""),
    "wrong key": ({"answer": {"bits": 1}}, answered, 0, ""),
    # truncated at the output cap
    "cut off, blank": (
        {"response": "", "finish_reason": "length"},
        truncated,
        0,
        "no text",
    ),
    "cut off, no text": ({"finish_reason": "max_tokens"}, truncated, 0, "no text"),
    "cut off in prose": (
        {"response": PROSE, "finish_reason": "length"},
        truncated,
        0,
        "length",
    ),
    "cut off in JSON": (
        {"response": '{"bit": ', "finish_reason": "length"},
        truncated,
        0,
        "",
    ),
    "cut off after all": (
        {"response": FOUND, "finish_reason": "length"},
        answered,
        1,
        "",
    ),
    "status truncated": (
        {"status": "truncated"},
        truncated,
        0,
        "given in the predictions file",
    ),
    "status truncated, response": (
        {"status": "truncated", "response": FOUND},
        answered,
        1,
        "",
    ),
    "status truncated, answer": (
        {"status": "truncated", "answer": RIGHT},
        answered,
        1,
        "",
    ),
    # provider policy block
    "filtered": ({"finish_reason": "content_filter"}, blocked, None, "content_filter"),
    "filtered midway": (
        {"response": "Th", "finish_reason": "refusal"},
        blocked,
        None,
        "refusal",
    ),
    "filtered with error": (
        {"error": "policy", "finish_reason": "content_filter"},
        blocked,
        None,
        "content_filter",
    ),
    "filtered, yet answered": (
        {"response": FOUND, "finish_reason": "safety"},
        answered,
        1,
        "",
    ),
    "status blocked": (
        {"status": "blocked", "error": "policy"},
        blocked,
        None,
        "policy",
    ),
    # model refuses in words
    "refusal": (
        {"response": REFUSAL},
        refused,
        0,
        "the text declines to answer",
    ),
    "refusal, then fence": ({"response": f"{REFUSAL} But:\n{FOUND}"}, answered, 1, ""),
    "refusal in thought": (
        {"response": f"<think>{REFUSAL}</think>{PROSE}"},
        unparsed,
        0,
        "",
    ),
    "status refused": (
        {"status": "refused", "response": PROSE},
        refused,
        0,
        "given in th",
    ),
    "status refused, no text": (
        {"status": "refused"},
        refused,
        0,
        "given in the predictions file",
    ),
    "status refused, response": (
        {"status": "refused", "response": FOUND},
        answered,
        1,
        "",
    ),
    # other statuses that a predictions file may give
    "not run": ({"status": "not_run"}, not_run, None, "given in the predictions file"),
    "missing": ({"status": "missing", "error": "lost"}, missing, None, "lost"),
    "api_error with text": (
        {"status": "api_error", "response": FOUND},
        api_error,
        None,
        "",
    ),
    "answered": ({"status": "answered", "response": FOUND}, answered, 1, ""),
    "answered with refusal": (
        {"status": "answered", "response": REFUSAL},
        refused,
        0,
        "",
    ),
    # graded
    "wrong": ({"answer": {"bit": 0}}, answered, 0, ""),
    # grader raises
    "raises": (
        {"answer": RIGHT | {"mood": "raise"}},
        Status.GRADER_ERROR,
        None,
        "RuntimeError: ",
    ),
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


class MuteError(Exception):
    """An exception whose message cannot be written."""

    def __str__(self) -> str:
        raise ValueError("not this either")


def outcome(**fields) -> Outcome:
    prediction = Prediction.model_validate({"id": "parity/01", **fields})
    return grade_prediction(prediction, PARITY, ODD)


@pytest.mark.parametrize(
    ("fields", "status", "score", "reason"), ROWS.values(), ids=ROWS
)
def test_rows_get_the_right_status(fields, status, score, reason):
    found = outcome(**fields)
    assert found.status is status
    assert status.scored == (score is not None)
    assert [verdict.score for verdict in found.verdicts] == (
        [] if score is None else [score]
    )
    assert reason in found.reason
    assert (found.reason == "") == (status is answered)
    assert (found.answer is not None) == (status is answered)
    if status in {unparsed, truncated, refused}:
        [check] = found.verdicts[0].checks
        assert (check.id, check.passed) == ("answer_found", False)
        assert check.message == f"There is no answer: {found.reason}."


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("length", truncated), ("MAX_TOKENS", truncated), ("FinishReason.MAX_TOKENS", truncated),
        ("max_output_tokens", truncated), ("model_length", truncated), (" length ", truncated),
        ("model_context_window_exceeded", truncated),
        ("content_filter", blocked), ("SAFETY", blocked), ("FinishReason.SAFETY", blocked),
        ("RECITATION", blocked), ("BLOCKLIST", blocked), ("PROHIBITED_CONTENT", blocked),
        ("SPII", blocked), ("refusal", blocked), ("guardrail_intervened", blocked),
        ("content_filtered", blocked),
        ("stop", unparsed), ("end_turn", unparsed), ("STOP", unparsed), ("tool_calls", unparsed),
        ("", unparsed), (" ", unparsed),
        ("odd", api_error),
    ],
)  # fmt: skip
def test_finish_reasons_of_all_providers_are_understood(reason, status):
    assert outcome(response=PROSE, finish_reason=reason).status is status


def test_unscored_rows_have_no_verdicts(make_task):
    task, params = make_task(grader_raising(AssertionError), scores=9)
    assert grade_prediction(Prediction(id="a"), task, params).verdicts == ()
    prose = grade_prediction(Prediction(id="a", response="Hm."), task, params)
    assert [verdict.score for verdict in prose.verdicts] == [0.0] * 9


# Graders that fail.


def grader_raising(error):
    def grade(params, answer):
        raise error

    return grade


def grader_returning(verdict):
    def grade(params, answer):
        return verdict

    return grade


def graded(make_task, grade) -> Outcome:
    task, params = make_task(grade)
    return grade_prediction(
        Prediction(id="made_up/00", answer={"values": [1]}), task, params
    )


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("no"), "RuntimeError: no"),
        (
            FileNotFoundError(2, "No such file", "/home/me/lib/mesh.stl"),
            "FileNotFoundError: [Errno 2] No such file: 'mesh.stl'",
        ),
        (
            ImportError("cannot import name x from y (/usr/lib/python3/y.py)"),
            "ImportError: cannot import name x from y (y.py)",
        ),
        (OSError(r"bad C:\Users\me\a.txt"), "OSError: bad a.txt"),
        (ValueError("x" * 10_000_000), f"ValueError: {'x' * 300}"),
        (ValueError("\ud800"), "ValueError: ?"),
        (MuteError(), "MuteError: its message cannot be displayed"),
        (KeyError(10**5000), "KeyError: its message cannot be displayed"),
    ],
    ids=["plain", "path", "path in prose", "drive", "long", "surrogate", "mute", "digits"],
)  # fmt: skip
def test_exceptions_become_grader_errors_without_paths(make_task, error, reason):
    found = graded(make_task, grader_raising(error))
    assert found.status is Status.GRADER_ERROR
    assert found.verdicts == ()
    assert found.reason.startswith(f"{reason} (test_outcomes.py:")
    assert len(found.reason) < 500
    found.reason.encode()


def test_memory_errors_propagate(make_task):
    with pytest.raises(MemoryError):
        graded(make_task, grader_raising(MemoryError()))


# Hostile answers.


def test_oversized_answers_score_0_without_a_grader_error(make_task):
    task, params = make_task(grader_raising(AssertionError))
    values = [""] * (MAX_VALUES + 10)
    prediction = Prediction(id="a", answer={"values": values})
    found = grade_prediction(prediction, task, params)
    assert found.status is answered
    assert found.answer is None
    assert found.verdicts[0].score == 0
    [check] = found.verdicts[0].checks
    assert (check.id, check.passed) == ("resource_limit", False)


def test_long_answers_are_graded_but_not_copied(make_task):
    task, params = make_task(grader_returning(Verdict(1.0, ())))
    for spare, copied in ((0, True), (1, False)):
        why = "x" * (MAX_ANSWER_CHARACTERS - len('{"values":[1],"why":""}') + spare)
        prediction = Prediction(id="a", answer={"values": [1], "why": why})
        found = grade_prediction(prediction, task, params)
        assert found.verdicts[0].score == 1
        assert (found.answer is not None) == copied


@pytest.mark.parametrize(
    "response",
    [
        "{'bit': 0x" + "f" * 5000 + "}",
        r"{'bit': 1, 'why': '\ud800'}",
        "{'bit': 1, 'why': 1e999}",
        "{'bit': -True}",
        '{"bit": ' + "9" * 4300 + "}",
        '{"bit": [' * 90,
        "[" * 5000,
    ],
)
def test_hostile_replies_score_0_and_can_be_written(response):
    found = outcome(response=response)
    assert found.status in {answered, unparsed}
    assert found.verdicts[0].score == 0
    json.dumps([found.answer, found.reason]).encode()
    (found.answer or "").encode()


@given(json_values | st.fixed_dictionaries({"bit": json_values}))
def test_any_answer_gets_a_status(answer):
    found = outcome(answer=answer)
    assert found.status in {answered, missing}
    if found.answer is not None:
        parse_json(found.answer.encode())


@pytest.mark.parametrize(
    ("text", "is_refusal"),
    [
        ("I'd rather not answer.", True),
        ("I don't know.", True),
        ("This is impossible to solve.", True),
        ("I refuse to do this.", True),
        ("It is not possible to go left, so I go right.", False),
        ("First, I refuse the obvious cut and take the other.", False),
        ("We don't know x yet. Let us compute it.", False),
        ("I can't place the second one there, so I move it.", False),
    ],
)
def test_reasoning_is_not_a_refusal(text, is_refusal):
    assert declines(text) is is_refusal
