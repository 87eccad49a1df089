"""The domain's types: their values, and the values they refuse."""

import hashlib
import json

import pytest
from pydantic import ValidationError

from scbench.base.model import (
    Check,
    Instance,
    Prediction,
    Status,
    Usage,
    Verdict,
)

# Status.

FIELDS = {
    "task": "csg_union",
    "bucket": "constructive",
    "subtask": 3,
    "difficulty": "hard",
    "prompt": "Join the two.",
    "images": (b"\x89PNG one", b"\x89PNG two"),
    "params": '{"a":1}',
    "answer_schema": '{"type":"object"}',
    "scores": 1,
    "seed": None,
    "point": '{"depth":2}',
}

CHANGES = {
    "task": "csg_unions",
    "bucket": "planning",
    "subtask": 4,
    "difficulty": "easy",
    "prompt": "Join the two. ",
    "params": '{"a":2}',
    "answer_schema": '{"type":"array"}',
    "scores": 9,
    "seed": 0,
    "point": None,
}
IMAGES = {
    "none": (),
    "one_fewer": FIELDS["images"][:1],
    "exchanged": FIELDS["images"][::-1],
    "one_byte": (b"\x89PNG one", b"\x89PNG twO"),
    "cut_elsewhere": (b"\x89PNG one\x89", b"PNG two"),
}


def test_every_status_is_scored_or_unscored():
    assert {status.value for status in Status if status.scored} == {
        "answered",
        "unparsed",
        "truncated",
        "refused",
    }
    assert {status.value for status in Status if not status.scored} == {
        "blocked",
        "missing",
        "api_error",
        "not_run",
        "grader_error",
    }


# Check and Verdict.


@pytest.mark.parametrize(
    "score",
    [-5e-324, -1, 1.0000000000000002, 2, float("nan"), float("inf"), float("-inf")],
    ids=repr,
)
def test_verdict_refuses_scores_out_of_range(score):
    with pytest.raises(ValueError, match=r"a score must be in \[0, 1\], got"):
        Verdict(score, ())


def test_failed_lists_unpassed_checks_in_order():
    checks = (
        Check("b", False, "Wrong."),
        Check("a", True, "Right."),
        Check("c", None, "Not evaluated."),
    )
    assert [check.id for check in Verdict(0.0, checks).failed] == ["b", "c"]
    assert Verdict(1.0, checks[1:2]).failed == ()


# Instance.


def test_content_hash_equals_that_of_the_canonical_row():
    row = {key: value for key, value in FIELDS.items() if key != "images"}
    row["id"] = "csg_union/03"
    row["images"] = [hashlib.sha256(image).hexdigest() for image in FIELDS["images"]]
    text = json.dumps(row, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert Instance.freeze(**FIELDS).content_hash == digest
    assert digest == "f9b1a5c03e61cf01ad534954d070dddc620b06f6c7190d73817a203187ef8f99"


@pytest.mark.parametrize("field", CHANGES)
def test_content_hash_depends_on_every_field(field):
    changed = Instance.freeze(**FIELDS | {field: CHANGES[field]})
    assert changed.content_hash != Instance.freeze(**FIELDS).content_hash


def test_content_hash_depends_on_every_change_of_the_images():
    hashes = {
        Instance.freeze(**FIELDS | {"images": images}).content_hash
        for images in IMAGES.values()
    }
    assert len(hashes | {Instance.freeze(**FIELDS).content_hash}) == len(IMAGES) + 1


# Prediction.


def predict(**given):
    return Prediction.model_validate({"id": "csg_union/03", **given})


@pytest.mark.parametrize("answer", [{}, [], 0, False, ""])
@pytest.mark.parametrize("response", ["", "text"])
def test_answer_and_response_cannot_both_be_given(answer, response):
    with pytest.raises(ValidationError, match="answer or response, not both"):
        predict(answer=answer, response=response)


@pytest.mark.parametrize("status", ["unparsed", "grader_error"])
def test_internal_statuses_cannot_be_given(status):
    with pytest.raises(ValidationError, match="only the grader may give") as caught:
        predict(status=status)
    listed = str(caught.value).split("use one of ")[1].split(" [")[0].split(", ")
    assert {*listed} == {status.value for status in Status if status.reportable}


@pytest.mark.parametrize("status", ["blocked", "missing", "api_error", "not_run"])
def test_unscored_status_has_no_answer(status):
    assert predict(status=status).status == status
    # A text may go with it, such as the words of the provider's filter.
    assert predict(status=status, response="withheld").status == status
    with pytest.raises(
        ValidationError, match="means that there is no answer, but the line has one"
    ):
        predict(status=status, answer={})


@pytest.mark.parametrize("status", ["answered", "truncated", "refused"])
def test_scored_status_may_have_an_answer(status):
    assert predict(status=status, answer={}).status == status
    assert predict(status=status, response="text").status == status


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "x" * 201),
        ("response", ["text"]),
        ("model", ""),
        ("model", "x" * 201),
        ("setting", "with_tools"),
        ("sample", True),
        ("sample", -1),
        ("sample", 2**53),
        ("sample", 1.0),
        ("budget", -1),
        ("budget", 4096.0),
        ("status", "Answered"),
        ("finish_reason", "x" * 201),
        ("error", {"code": 500}),
        ("usage", 100),
        ("usage", {"input_tokens": True}),
        ("usage", {"output_tokens": -1}),
        ("usage", {"reasoning_tokens": 1.5}),
        ("usage", {"attempts": "2"}),
        ("usage", {"seconds": -0.1}),
        ("usage", {"seconds": float("inf")}),
        ("usage", {"cost": float("nan")}),
        ("usage", {"cost": -1}),
    ],
)
def test_types_and_bounds_are_strict(field, value):
    with pytest.raises(ValidationError) as caught:
        predict(**{field: value})
    (error,) = caught.value.errors()
    assert error["loc"][0] == field


def test_bounds_include_their_ends():
    prediction = predict(
        id="x" * 200, model="m" * 200, sample=0, budget=0, finish_reason="f" * 200,
        usage={"input_tokens": 0, "seconds": 0, "cost": 0.0},
    )  # fmt: skip
    assert (
        len(prediction.id)
        == len(prediction.model)
        == len(prediction.finish_reason)
        == 200
    )
    assert prediction.usage == Usage(input_tokens=0, seconds=0.0, cost=0.0)
