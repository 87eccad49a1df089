"""Arithmetic: three ways to compute a value, formats of the answer, malformed expressions."""

import ast
import operator
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.arithmetic import USUAL, Space, TaskBuilder, read_tokens, value_of
from scbench.graders.arithmetic import evaluate
from scbench.schemas.arithmetic import Params

BUILDER = TaskBuilder()

OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def by_python(node):
    """Evaluate an expression parsed by Python."""
    match node:
        case ast.Expression(body=body):
            return by_python(body)
        case ast.Constant(value=int(value)):
            return Fraction(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return Fraction(-value)
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATIONS[type(op)](by_python(left), by_python(right))
    raise AssertionError(ast.dump(node))


@st.composite
def spaces(draw):
    low, high = sorted((draw(st.integers(-9, 9)), draw(st.integers(-9, 9))))
    return Space(
        length=draw(st.integers(3, 50)),
        max_depth=draw(st.integers(0, 8)),
        min_number=low,
        max_number=high,
        prob_open=draw(st.floats(0, 1)),
        prob_dewhitespace=draw(st.sampled_from([0, 0.3, 1])),
        division=draw(st.booleans()),
    )


def deepest(text):
    """Return the depth by removing innermost brackets, round by round."""
    marks, rounds = re.sub(r"[^()]", "", text), 0
    while marks:
        marks, rounds = marks.replace("()", ""), rounds + 1
    return rounds


@settings(max_examples=250)
@given(spaces(), st.integers(0, 2**63))
def test_builder_grader_and_python_agree(point, seed):
    params = BUILDER.draw(point, Stream("arithmetic", seed))
    expected = by_python(ast.parse(params.expression, mode="eval"))
    assert evaluate(params.expression) == expected
    assert value_of(read_tokens(params.expression), USUAL) == expected
    assert Fraction(BUILDER.target(params)) == expected
    assert BUILDER.target(params) == str(expected)


@settings(max_examples=150)
@given(spaces(), st.integers(0, 2**63))
def test_items_satisfy_their_parameters(point, seed):
    params = BUILDER.draw(point, Stream("knobs", seed))
    tokens = read_tokens(params.expression)
    numbers = [int(token) for token in tokens if token[-1].isdigit()]
    assert len(numbers) == point.length
    assert all(point.min_number <= number <= point.max_number for number in numbers)
    assert point.division or "/" not in params.expression
    depth = BUILDER.facts(params)["depth"]
    assert depth == deepest(params.expression) <= point.max_depth
    if point.prob_dewhitespace == 1:
        assert " " not in params.expression
    if point.prob_dewhitespace == 0:
        assert (
            " ".join(tokens).replace("( ", "(").replace(" )", ")") == params.expression
        )


@pytest.mark.parametrize(
    "expression",
    ["", "1 +", "(1", "1)", "1 2", "()", "* 2", "1 + * 2", "- 3", "-(3)", "--3"],
)
def test_malformed_expressions_are_rejected(expression):
    with pytest.raises((ValueError, IndexError)):
        evaluate(expression)


def test_counter_references_are_typical_mistakes():
    params = Params(expression="2 - 3 * (4 - -5) - 1")
    counters = BUILDER.counter_references(params)
    assert counters["left_to_right"] == {"answer": -10}
    assert counters["sums_first"] == {"answer": -8}
    assert counters["right_to_left"] == {"answer": 2 - (27 - 1)}
    assert counters["brackets_ignored"] == {"answer": 2 - 12 + 5 - 1}
    assert counters["signs_ignored"] == {"answer": 2 + 3 - 1}
