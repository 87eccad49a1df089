"""Counting things, checked by adding up the quantities in the prompt's text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.objects import Space, TaskBuilder
from scbench.builders.shared.words import things
from scbench.catalog import get_task
from scbench.graders.objects import quantity_of
from scbench.scoring.judge import judge

TASK = get_task("objects")
BUILDER = TaskBuilder()

BELOW_20 = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
BELOW_100 = BELOW_20 + [
    ten + one for ten in TENS for one in ("", *(f"-{w}" for w in BELOW_20[:9]))
]
WORDS = BELOW_100 + [
    hundred + rest
    for hundred in (f"{word} hundred" for word in BELOW_20[:9])
    for rest in ("", *(f" and {word}" for word in BELOW_100))
]
VALUES = {"a": 1, "an": 1} | {word: n for n, word in enumerate(WORDS, 1)}
GROUP_OF = {
    form: group
    for group, nouns in things().groups.items()
    for noun in nouns
    for form in noun
}


def one_of(words):
    return "|".join(sorted(words, key=len, reverse=True))


ENTRY = re.compile(
    rf"(?<![\w-])(\d+|{one_of(VALUES)}) (?:(?:{one_of(things().adjectives)}) )?"
    rf"({one_of(GROUP_OF)})(?![\w-])"
)


def read(prompt):
    """Return the number of entries and the sum asked for, from the prompt alone."""
    question, _, listing, rules, *_ = prompt.split("\n\n")
    asked = re.search("How many (.*) are there", question)[1]
    groups = re.split(", | and ", asked)
    printed = " ".join(rules.rpartition("words:\n")[2].rstrip(".").split("\n"))
    printed_groups = re.split(", | and ", printed)
    assert printed_groups == [
        name for name in things().groups if name in printed_groups
    ]
    assert set(groups) < set(printed_groups)
    result = ENTRY.findall(listing)
    assert {GROUP_OF[noun] for _, noun in result} <= set(printed_groups)
    total = sum(
        VALUES[quantity] if quantity in VALUES else int(quantity)
        for quantity, noun in result
        if GROUP_OF[noun] in groups
    )
    return len(result), total


@st.composite
def spaces(draw):
    length = draw(st.integers(1, 12) | st.integers(1, 100))
    return Space(
        length=length,
        max_count=draw(st.integers(1, 20) | st.integers(1, 999)),
        distractors=draw(st.integers(0, 12) | st.integers(0, 100)),
        target_groups=draw(st.integers(1, min(10, length))),
        prob_adjective=draw(st.floats(0, 1)),
        anchor_format=draw(
            st.sampled_from(["none", "number", "roman", "hex", "letter", "bullet"])
        ),
    )  # fmt: skip


@settings(max_examples=200)
@given(spaces(), st.integers(0, 2**63))
def test_builder_grader_and_prompt_agree(point, seed):
    params = BUILDER.draw(point, Stream("objects", seed))
    entries, right = read(BUILDER.prompt(params))
    assert entries == len(params.entries) == point.length + point.distractors
    assert BUILDER.target(params) == str(right)
    assert judge(TASK, params, {"answer": right})[0].score == 1
    assert judge(TASK, params, {"answer": right + 1})[0].score == 0
    counting = [entry for entry in params.entries if entry[3] in params.groups]
    assert len(counting) == point.length
    assert {entry[3] for entry in counting} == set(params.groups)
    assert len(set(params.groups)) == point.target_groups
    assert all(VALUES.get(q) or int(q) <= point.max_count for q, *_ in params.entries)
    assert all(GROUP_OF[noun] == group for _, _, noun, group in params.entries)


def test_quantities_up_to_999_are_read():
    assert len(WORDS) == 999
    for n, words in enumerate(WORDS, 1):
        assert quantity_of(words) == quantity_of(str(n)) == n
    assert quantity_of("a") == quantity_of("an") == 1


@pytest.mark.parametrize(
    "text", ["", "dozen", "and", "-1", "1.5", "two dozens", "hundred"]
)
def test_non_quantities_are_rejected(text):
    with pytest.raises(ValueError, match="is not a quantity"):
        quantity_of(text)
