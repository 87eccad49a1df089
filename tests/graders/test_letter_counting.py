"""Letter counting, checked by counting in the prompt's text."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.letter_counting import Space, TaskBuilder
from scbench.catalog import get_task
from scbench.scoring.judge import judge

TASK = get_task("letter_counting")
BUILDER = TaskBuilder()


@st.composite
def spaces(draw):
    words = draw(st.integers(3, 24))
    return Space(
        words=words,
        confounders=draw(st.integers(0, min(24, 40 - words))),
        letters=draw(st.integers(1, 3)),
        case_mode=draw(st.sampled_from(["lower", "upper", "mixed"])),
    )


def count_from_prompt(prompt):
    """Count the letters, from the prompt alone."""
    row = prompt.split("\n\n")[1]
    letters = re.findall(r'"([a-z])"', prompt.partition("Count how often")[2])
    inside = "".join(re.findall(r"\[([A-Za-z]+)\]", row))
    return sum(character.lower() in letters for character in inside)


@settings(max_examples=150)
@given(spaces(), st.integers(0, 2**63))
def test_grader_builder_and_prompt_agree(point, seed):
    params = BUILDER.draw(point, Stream("letters", seed))
    right = count_from_prompt(BUILDER.prompt(params))
    assert BUILDER.target(params) == str(right)
    assert judge(TASK, params, {"answer": right})[0].score == 1
    assert judge(TASK, params, {"answer": right + 1})[0].score == 0
    marked = [word for word, counts in params.words if counts]
    assert len(marked) == point.words
    assert len(params.words) == point.words + point.confounders
    assert len(set(params.letters)) == point.letters
    assert len({word.lower() for word, _ in params.words}) == len(params.words)
