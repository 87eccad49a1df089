"""Brackets that builders of text tasks draw."""

from hypothesis import given
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.shared.brackets import draw_brackets


@given(st.integers(1, 60), st.integers(0, 9), st.floats(0, 1), st.integers(0, 2**32))
def test_brackets_match_and_none_is_redundant(length, max_depth, prob_open, seed):
    opened, closed = draw_brackets(
        length, max_depth, prob_open, Stream("brackets", seed)
    )
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
