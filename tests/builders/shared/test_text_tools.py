"""What builders of text tasks share: brackets, parameters, the closing of prompts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from scbench.base.seeding import Stream
from scbench.builders.shared.brackets import draw_brackets, join_tokens
from scbench.builders.shared.builder import Point, kinds_of, parameter
from scbench.builders.shared.text_task import reply_short


@given(st.integers(1, 60), st.integers(0, 9), st.floats(0, 1), st.integers(0, 2**32))
def test_brackets_match_and_none_is_idle(length, max_depth, prob_open, seed):
    opened, closed = draw_brackets(length, max_depth, prob_open, Stream("brackets", seed))
    spans, stack, deepest = [], [], 0
    for i in range(length):
        stack += [i] * opened[i]
        deepest = max(deepest, len(stack))
        spans += [(stack.pop(), i) for _ in range(closed[i])]
    assert not stack
    assert deepest <= max_depth
    assert all(end > start for start, end in spans)
    assert len(set(spans)) == len(spans)
    assert (0, length - 1) not in spans


def test_blanks_are_dropped_with_their_chance_and_never_inside_a_token():
    tokens = ["(", "NOT", "A", ")", "AND", "-", "12"]
    assert join_tokens(tokens, 0.0, Stream("blanks")) == "(NOT A) AND - 12"
    assert join_tokens(tokens, 1.0, Stream("blanks")) == "(NOTA)AND-12"
    row = ["x"] * 2001
    blanks = join_tokens(row, 0.25, Stream("blanks")).count(" ")
    assert 1400 < blanks < 1600


def test_a_parameter_has_bounds_a_default_and_a_kind_in_the_schema():
    class Space(Point):
        size: int = parameter(3, "how many", "scale", ge=1, le=5)
        noise: float = parameter(0.0, "how much", "interference", ge=0, le=1)
        plain: int = 1

    assert Space().size == 3
    assert kinds_of(Space) == {"size": "scale", "noise": "interference"}
    assert Space.model_json_schema()["properties"]["size"] == {
        "default": 3, "description": "how many", "kind": "scale", "maximum": 5, "minimum": 1,
        "title": "Size", "type": "integer",
    }  # fmt: skip
    with pytest.raises(ValidationError, match="less than or equal to 5"):
        Space(size=6)


def test_the_closing_ends_with_the_form():
    assert reply_short("a whole number", quoted=False).endswith('\n\n{"answer": ...}\n')
    assert reply_short("TRUE or FALSE").endswith('\n\n{"answer": ...}\n')
    assert reply_short("TRUE or FALSE").startswith(
        "Your answer must be TRUE or FALSE, as a JSON string.\n"
    )
    assert all(len(line) <= 100 for line in reply_short("x").splitlines())
