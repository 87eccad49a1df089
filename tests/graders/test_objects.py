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
BELOW_100 = list(BELOW_20)
for ten in TENS:
    BELOW_100 += [ten, *(f"{ten}-{one}" for one in BELOW_20[:9])]
WORDS = list(BELOW_100)
for one in BELOW_20[:9]:
    WORDS += [f"{one} hundred", *(f"{one} hundred and {rest}" for rest in BELOW_100)]
VALUES = {"a": 1, "an": 1} | {word: n for n, word in enumerate(WORDS, 1)}
GROUP_OF = {}
for group, nouns in things().groups.items():
    for forms in nouns:
        GROUP_OF |= dict.fromkeys(forms, group)

# Longest words first, so that a word is not read as a shorter one.
QUANTITY = "|".join(sorted(VALUES, key=len, reverse=True))
ADJECTIVE = "|".join(sorted(things().adjectives, key=len, reverse=True))
NOUN = "|".join(sorted(GROUP_OF, key=len, reverse=True))
ENTRY = re.compile(
    rf"(?<![\w-])(\d+|{QUANTITY}) (?:(?:{ADJECTIVE}) )?({NOUN})(?![\w-])"
)


def read(prompt):
    """Return the number of entries and the sum asked for, from the prompt alone."""
    question, _, listing, rules, *_ = prompt.split("\n\n")
    asked = re.search("How many (.*) are there", question)[1]
    groups = re.split(", | and ", asked)
    printed = " ".join(rules.rpartition("words:\n")[2].rstrip(".").split("\n"))
    printed_groups = re.split(", | and ", printed)
    in_order = [name for name in things().groups if name in printed_groups]
    assert printed_groups == in_order
    assert set(groups) < set(printed_groups)
    entries = ENTRY.findall(listing)
    total = 0
    for quantity, noun in entries:
        assert GROUP_OF[noun] in printed_groups
        if GROUP_OF[noun] in groups:
            total += VALUES.get(quantity) or int(quantity)
    return len(entries), total


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
    counting = [group for *_, group in params.entries if group in params.groups]
    assert len(counting) == point.length
    assert set(counting) == set(params.groups)
    assert len(set(params.groups)) == point.target_groups
    for quantity, _, noun, group in params.entries:
        assert quantity in VALUES or int(quantity) <= point.max_count
        assert GROUP_OF[noun] == group


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
