"""The wire format: text and numbers only; unwritable outcomes fail in the worker."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.base.canonical import canonical_json
from scbench.base.model import Check, Status, Verdict
from scbench.grading.rows.wire import to_wire
from scbench.grading.workers import worker
from scbench.grading.workers.jobs import WorkItem
from scbench.grading.workers.worker import grade_item
from scbench.scoring.outcomes import Outcome

CHECKS = (
    Check("shape", True, "It fits.", {"n": (1, 2), "é": None}),
    Check("size", False, "Too \u2028 large 💥."),
    Check("gap", None, "Not looked at."),
)
VERDICT = Verdict(0.25, CHECKS, {"area": 1.5}, ("ignored 1 unknown key: 'a'",))

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
OBJECTS = st.dictionaries(WORDS, VALUES, max_size=4)

UNFIT = {
    "numpy number": Verdict(1.0, (Check("a", True, "", {"n": np.int64(3)}),)),
    "NaN": Verdict(1.0, (Check("a", True, "", {"n": float("nan")}),)),
    "set": Verdict(1.0, (Check("a", True, "", {"n": {1}}),)),
    "surrogate": Verdict(1.0, (Check("a", True, "\ud800"),)),
    "surrogate in a note": Verdict(1.0, (), {}, ("\ud800",)),
    "digits": Verdict(1.0, (), {"n": 10**5000}),
    "check is text": Verdict(1.0, ("a",)),
}


def test_wire_format_keeps_the_outcome():
    verdicts, repairs = (VERDICT, VERDICT), ("unwrapped_fence",)
    outcome = Outcome(Status.ANSWERED, verdicts, "", "{}", "fence", repairs)
    wire = to_wire(outcome)
    assert wire.status == "answered"
    assert (wire.reason, wire.answer, wire.source) == ("", "{}", "fence")
    assert wire.repairs == ["unwrapped_fence"]
    assert wire.scores[0] == wire.scores[1]
    first = wire.scores[0]
    assert first.score == 0.25
    assert first.failed_checks == ["size", "gap"]
    assert json.loads(first.metrics) == {"area": 1.5}
    assert first.notes == ["ignored 1 unknown key: 'a'"]
    assert json.loads(first.checks) == [
        {
            "id": "shape",
            "passed": True,
            "message": "It fits.",
            "details": {"n": [1, 2], "é": None},
        },
        {
            "id": "size",
            "passed": False,
            "message": "Too \u2028 large 💥.",
            "details": {},
        },
        {"id": "gap", "passed": None, "message": "Not looked at.", "details": {}},
    ]
    assert pickle.loads(pickle.dumps(wire)) == wire  # noqa: S301


@given(WORDS, WORDS, st.sampled_from([True, False, None]), OBJECTS, OBJECTS)
def test_texts_are_canonical_json(check_id, message, passed, details, metrics):
    check = Check(check_id, passed, message, details)
    verdict = Verdict(0.5, (check, check), metrics)
    [scored] = to_wire(Outcome(Status.ANSWERED, (verdict,))).scores
    whole = {"id": check_id, "passed": passed, "message": message, "details": details}
    assert scored.checks == canonical_json([whole, whole])
    assert scored.metrics == canonical_json(metrics)
    assert scored.failed_checks == ([] if passed else [check_id] * 2)


@pytest.mark.parametrize("score", [1, True, np.float64(1), np.float32(1)])
def test_scores_become_plain_floats(score):
    [scored] = to_wire(Outcome(Status.ANSWERED, (Verdict(score, ()),))).scores
    assert type(scored.score) is float


@pytest.mark.parametrize("verdict", UNFIT.values(), ids=UNFIT)
def test_unwritable_verdict_costs_its_row_and_not_the_run(monkeypatch, verdict):
    def grade(item):
        return Outcome(Status.ANSWERED, (verdict,), "", "{}", "answer")

    monkeypatch.setattr(worker, "judge_item", grade)
    wire = grade_item(WorkItem(1, b"", "made_up/00"))
    assert (wire.status, wire.scores, wire.answer) == ("grader_error", (), None)
    assert wire.reason.encode()
