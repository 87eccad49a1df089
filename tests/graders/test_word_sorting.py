"""Word sorting, checked with an order that compares letters one by one."""

from functools import cmp_to_key

from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.word_sorting import Space, TaskBuilder
from scbench.catalog import get_task
from scbench.scoring.judge import judge

TASK = get_task("word_sorting")
BUILDER = TaskBuilder()


@st.composite
def spaces(draw):
    return Space(
        words=draw(st.integers(3, 24)),
        prefix=draw(st.integers(0, 4)),
        case_mode=draw(st.sampled_from(["lower", "upper", "mixed"])),
        case_sensitive=draw(st.booleans()),
        order=draw(st.sampled_from(["ascending", "descending"])),
    )


def sorted_by_letters(params):
    """Sort the words by the prompt's rule: the first different letter decides."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    def compare(a, b):
        if not params.case_sensitive:
            a, b = a.lower(), b.lower()
        for x, y in zip(a, b, strict=False):
            if x != y:
                return alphabet.index(x) - alphabet.index(y)
        return len(a) - len(b)

    words = sorted(params.words, key=cmp_to_key(compare))
    return words if params.order == "ascending" else words[::-1]


@settings(max_examples=150)
@given(spaces(), st.integers(0, 2**63))
def test_grader_builder_and_comparison_agree(point, seed):
    params = BUILDER.draw(point, Stream("sorting", seed))
    right = sorted_by_letters(params)
    assert list(BUILDER.reference(params).answer) == right
    assert judge(TASK, params, {"answer": right})[0].score == 1
    assert judge(TASK, params, {"answer": ", ".join(right)})[0].score == 1
    assert judge(TASK, params, {"answer": right[::-1]})[0].score == 0
    assert len(right) == len({word.lower() for word in right}) == point.words
    assert list(params.words) != right
    for word in params.words:
        others = [other.lower() for other in params.words if other != word]
        assert any(other.startswith(word.lower()[: point.prefix]) for other in others)


def test_missing_and_surplus_words_are_listed():
    params = BUILDER.draw(Space(), Stream("sorting", 1))
    first, *others = BUILDER.reference(params).answer
    (verdict,) = judge(TASK, params, {"answer": ["stranger", *others]})
    (check,) = [check for check in verdict.checks if check.id == "words"]
    assert not check.passed
    assert check.details == {"missing": [first], "surplus": ["stranger"]}
