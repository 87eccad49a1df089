"""Bracket stack, checked with a recursive parser and a search over all short endings."""

from itertools import accumulate, product

from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.bracket_stack import Space, TaskBuilder
from scbench.catalog import get_task
from scbench.schemas.bracket_stack import PAIRS
from scbench.scoring.judge import judge

TASK = get_task("bracket_stack")
BUILDER = TaskBuilder()
SPACES = st.builds(
    Space,
    length=st.integers(4, 60) | st.integers(4, 400),
    max_depth=st.integers(2, 32),
    kinds=st.integers(1, 4),
)


def is_balanced(text):
    """Return whether a text consists of matched pairs, removing the first pair each time."""
    while text:
        opening = text[0]
        closing = dict(PAIRS).get(opening)
        if closing is None:
            return False
        changes = ((sign == opening) - (sign == closing) for sign in text)
        depths = list(accumulate(changes))
        if 0 not in depths:
            return False
        end = depths.index(0)
        if not is_balanced(text[1:end]):
            return False
        text = text[end + 1 :]
    return True


@settings(max_examples=150)
@given(SPACES, st.integers(0, 2**63))
def test_target_balances_the_sequence(point, seed):
    params = BUILDER.draw(point, Stream("brackets", seed))
    target = BUILDER.target(params)
    assert is_balanced(params.sequence + target)
    assert set(target) <= set(")]}>")
    assert judge(TASK, params, {"answer": target})[0].score == 1
    assert len(params.sequence) == point.length
    assert len(set(params.sequence) & set("([{<")) <= point.kinds
    assert 1 <= BUILDER.facts(params)["depth"] <= point.max_depth


@settings(max_examples=40)
@given(st.integers(0, 2**63))
def test_no_other_ending_scores(seed):
    point = Space(length=9, max_depth=3, kinds=2)
    params = BUILDER.draw(point, Stream("endings", seed))
    right = []
    for size in range(1, 5):
        for signs in product(")]", repeat=size):
            ending = "".join(signs)
            if judge(TASK, params, {"answer": ending})[0].score == 1:
                right.append(ending)
    assert right == [BUILDER.target(params)]


def test_entity_with_thousands_of_digits_scores_zero():
    params = BUILDER.draw(Space(length=20, max_depth=4, kinds=2), Stream("brackets", 1))
    answer = BUILDER.target(params) + "&#" + "1" * 5_000 + ";"
    assert judge(TASK, params, {"answer": answer})[0].score == 0
