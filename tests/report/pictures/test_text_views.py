"""Views of text tasks: their marks, and values that agree with the graders."""

from itertools import islice

import pytest
from contract import items

from scbench.builders.arithmetic import read_tokens
from scbench.graders.arithmetic import evaluate
from scbench.graders.boolean import evaluate as evaluate_boolean
from scbench.report.pictures.arithmetic import rules
from scbench.report.pictures.shared.expression_trees import (
    first_slip,
    parsed,
    worked_out,
)
from scbench.schemas.boolean import LITERALS, Params


def test_trees_have_the_value_that_graders_find():
    for params, _, _ in items("arithmetic"):
        nodes = parsed(read_tokens(params.expression), rules())
        assert worked_out(nodes, rules())[-1] == evaluate(params.expression), (
            params.expression
        )


def test_logic_has_the_value_that_graders_find(drawn):
    for params, right, _ in islice(items("boolean"), 40):
        expression, *_ = params.expression.splitlines()
        value = LITERALS[params.format][
            not evaluate_boolean(expression, *LITERALS[params.format])
        ]
        text = drawn("boolean", right, params=params).text
        first = text.split("\n")[0]
        assert first.endswith(f"= {value}") or first == value or "too many" in first


@pytest.mark.parametrize(
    ("expression", "given", "step", "value"),
    [
        ("(2 + 3) * 4 - 7", 12, "*", 19),
        ("10 - 4 * -2", 2, "*", 8),
        ("2 * (3 - 5) + 1", 5, "-", 2),
    ],
)
def test_first_step_whose_slip_gives_the_answer(expression, given, step, value):
    nodes = parsed(read_tokens(expression), rules())
    at, slip = first_slip(nodes, rules(), given)
    assert (nodes[at].words, slip) == (step, value)
    assert first_slip(nodes, rules(), 10**6) is None


def test_first_wrong_expression_is_drawn(drawn):
    params = Params(
        expression="TRUE OR FALSE\nTRUE AND FALSE\nNOT FALSE", format="TRUE_FALSE"
    )
    picture = drawn("boolean", {"answer": "TRUE TRUE FALSE"}, params=params)
    assert picture.caption.startswith("Expression 2 of 3. ")
    assert picture.text.startswith("AND = FALSE  <- TRUE?")
