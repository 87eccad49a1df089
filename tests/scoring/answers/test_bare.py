"""Values without their key: limits on length."""

import pytest

from scbench.scoring.answers.bare import BareValues, answer_lines
from scbench.scoring.answers.shape import Shape

WORDS = Shape(
    ("answer",),
    types={"answer": frozenset({"array"})},
    entries={"answer": frozenset({"string"})},
    is_short=True,
)
NUMBER = Shape(("answer",), types={"answer": frozenset({"integer"})}, is_short=True)
LONGEST = 10_000


@pytest.mark.parametrize(("extra", "is_read"), [("", True), ("a", False)])
def test_lines_may_have_20000_characters_in_all(extra, is_read):
    text = "\n".join([*["a" * 199] * 99, "a" * 200]) + extra
    assert len(text) == 2 * LONGEST + len(extra)
    assert (answer_lines(text, WORDS) == text) == is_read


def test_value_after_a_mark_may_have_10000_characters():
    words = " " + "ab, " * (LONGEST // 4 - 1) + "abc"
    assert len(words) == LONGEST
    values = BareValues(
        f"Final answer:{words}", [], WORDS, lambda _: True, is_cut=False
    )
    candidate = values.last_marked()
    assert candidate is not None
    assert candidate.end == len("Final answer:") + LONGEST


@pytest.mark.parametrize(
    ("text", "answer"),
    [("Is it wet: no\nAnswer: 7", "7"), ("There is no answer: 7", None)],
)
def test_no_before_a_mark_counts_on_its_line_only(text, answer):
    values = BareValues(text, [], NUMBER, lambda _: True, is_cut=False)
    candidate = values.last_marked()
    value = candidate and candidate.extraction and candidate.extraction.value["answer"]
    assert value == answer
