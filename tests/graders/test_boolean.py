"""Boolean logic: three ways to compute a value, five notations, and balanced targets."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.boolean import Space, TaskBuilder
from scbench.catalog import get_task
from scbench.graders.boolean import evaluate
from scbench.schemas.boolean import LITERALS, Params
from scbench.scoring.judge import judge

BUILDER = TaskBuilder()
FORMATS = list(LITERALS)


def words_of(text, true, false):
    """Split a text into words from left to right, by the words allowed at each place."""
    words, operand = [], True
    while text := text.lstrip(" "):
        known = ["NOT", "(", true, false] if operand else ["AND", "XOR", "OR", ")"]
        word = next(word for word in known if text.startswith(word))
        words.append(word)
        operand = word in {"NOT", "(", "AND", "XOR", "OR"}
        text = text[len(word) :]
    return words


def by_rewriting(words, true, false):
    """Evaluate by rewriting words, one rule at a time, until one is left."""
    signs = {true: "1", false: "0", "NOT": "~", "AND": "&", "XOR": "^", "OR": "|"}
    text = "".join(signs.get(word, word) for word in words)
    rules = [
        (r"\(([01])\)", lambda m: m[1]),
        (r"~([01])", lambda m: "10"[int(m[1])]),
        (r"(?<![~])([01])&([01])", lambda m: str(int(m[1]) & int(m[2]))),
        (r"(?<![~&])([01])\^([01])(?!&)", lambda m: str(int(m[1]) ^ int(m[2]))),
        (r"(?<![~&^])([01])\|([01])(?![&^])", lambda m: str(int(m[1]) | int(m[2]))),
    ]
    while len(text) > 1:
        for pattern, value in rules:
            text, changed = re.subn(pattern, value, text, count=1)
            if changed:
                break
        else:
            raise AssertionError(text)
    return text == "1"


@st.composite
def spaces(draw):
    return Space(
        length=draw(st.integers(3, 40) | st.integers(3, 200)),
        max_depth=draw(st.integers(0, 8)),
        prob_open=draw(st.floats(0, 1)),
        prob_negation=draw(st.floats(0, 1)),
        format=draw(st.sampled_from(FORMATS)),
        prob_dewhitespace=draw(st.sampled_from([0, 0.3, 1])),
    )


@settings(max_examples=150)
@given(spaces(), st.integers(0, 2**63))
def test_builder_grader_and_rewriting_agree(point, seed):
    params = BUILDER.draw(point, Stream("boolean", seed))
    true, false = LITERALS[params.format]
    words = words_of(params.expression, true, false)
    expected = by_rewriting(words, true, false)
    assert evaluate(params.expression, true, false) is expected
    assert BUILDER.target(params) == (true if expected else false)
    assert sum(word in {true, false} for word in words) == point.length
    assert BUILDER.facts(params)["depth"] <= point.max_depth
    if point.prob_dewhitespace == 1:
        assert " " not in params.expression
    if point.prob_dewhitespace == 0:
        spaced = " ".join(words).replace("( ", "(").replace(" )", ")")
        assert spaced == params.expression


@pytest.mark.parametrize(
    "expression",
    ["", "T AND", "AND T", "T F", "(T", "T)", "()", "NOT", "T NOT F", "X", "TRUE AND T",
     "T XOR OR F"],
)  # fmt: skip
def test_malformed_expressions_are_rejected(expression):
    with pytest.raises(ValueError, match=r"is not (well formed|a value)"):
        evaluate(expression, "T", "F")


@pytest.mark.parametrize(
    "parameters", [{}, {"length": 60, "max_depth": 0}, {"prob_negation": 0}], ids=str
)
def test_true_and_false_are_equally_likely(parameters):
    targets = [
        case["target"] for case in BUILDER.generate_random(count=600, **parameters)
    ]
    assert 240 < targets.count("TRUE") < 360


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("TRUE FALSE TRUE", 1),
        ("true, false, true", 1),
        ("1. TRUE\n2. FALSE\n3. TRUE", 1),
        ("T F yes", 1),
        ("TRUE FALSE", 0),
        ("TRUE FALSE TRUE TRUE", 0),
        ("TRUE FALSE FALSE", 0),
        ("TRUE FALSE maybe", 0),
        ("TRUE", 0),
        (True, 0),
    ],
)
def test_every_value_must_be_right(answer, score):
    text = "TRUE OR FALSE\nTRUE AND FALSE\nNOT FALSE"
    params = Params(expression=text, format="TRUE_FALSE")
    (verdict,) = judge(get_task("boolean"), params, {"answer": answer})
    assert verdict.score == score


def test_items_with_several_expressions():
    builder = TaskBuilder(Stream("several"))
    for case in builder.generate_random(count=20, expressions=6, length=5):
        params = Params.model_validate(case["instance"])
        expected = []
        for expression in params.expression.splitlines():
            words = words_of(expression, "TRUE", "FALSE")
            is_true = by_rewriting(words, "TRUE", "FALSE")
            expected.append("TRUE" if is_true else "FALSE")
        assert case["target"].split() == expected
        assert builder.blind_floor(params) == 0.5**6
        assert "each of these 6 expressions" in case["input"]
