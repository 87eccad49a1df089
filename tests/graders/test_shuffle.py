"""Swaps, checked by reading and playing the story in the prompt's text."""

import re
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.shuffle import Space, TaskBuilder, names
from scbench.catalog import get_task
from scbench.graders.shuffle import outcome
from scbench.schemas.shuffle import AnchorFormat, Domain
from scbench.scoring.judge import judge

TASK = get_task("shuffle")
BUILDER = TaskBuilder()

N = f"({'|'.join(names())})"
SWAPS = [
    re.compile(pattern + "$")
    for pattern in (
        rf"(?:^|^When the music changes, |^The coach has ){N} and {N} swap \w+\.",
        rf"^{N} (?:has read enough and )?swaps \w+ with {N}\.",
        rf"^{N} asks {N} to swap \w+, and they swap\.",
        rf"^{N} (?:walks over to|calls to|likes) {N}(?:'s gift better)?, and the two swap.*\.",
    )
]
IDLE = re.compile(
    "says no|decide|smile|laugh|keep|gets one|turn|shoelace|song|aloud|first chapter|shoulder|"
    "passes the ball|heads the ball|after a fall|cheer|admires|cake|scissors|winks|not let go|"
    "how long"
)
BEGINNING = re.compile(rf"{N}|When the music|The coach")
STARTS = re.compile(
    rf"(?:^|, | and ){N} (?:dances with|has|plays as|gets the|holds the) (.*?)"
    rf"(?=$|, {N} | and {N} )"
)


def play(prompt):
    """Return the right option's letter, from the prompt alone, and the number of swaps."""
    question, first, _, report, _, _, options, *_ = prompt.split("\n\n")
    start = first.partition("At first, ")[2].removesuffix(".")
    held = {match[1]: match[2] for match in STARTS.finditer(start)}
    if BEGINNING.match(report):  # events without a mark are in one paragraph
        events = re.split(r"(?<=\.) (?=[A-Z])", report)
    else:
        events = report.splitlines()
    swaps = 0
    for event in events:
        text = event[BEGINNING.search(event).start() :]
        matches = [match for pattern in SWAPS if (match := pattern.search(text))]
        assert bool(matches) != bool(IDLE.search(text)), event
        if matches:
            a, b = matches[0].groups()
            held[a], held[b] = held[b], held[a]
            swaps += 1
    person = re.search(N, question)[1]
    known = dict(re.findall(r"\((\w)\) (.*)", options))
    assert sorted(known.values()) == sorted(held.values())
    letter_of = {text: letter for letter, text in known.items()}
    return letter_of[held[person]], swaps


@st.composite
def spaces(draw):
    return Space(
        people=draw(st.integers(3, 12)),
        max_depth=draw(st.integers(1, 15) | st.integers(1, 100)),
        confounders=draw(st.integers(0, 10) | st.integers(0, 100)),
        anchor_format=draw(st.sampled_from(get_args(AnchorFormat))),
        domain=draw(st.sampled_from(get_args(Domain))),
    )


@settings(max_examples=200)
@given(spaces(), st.integers(0, 2**63))
def test_builder_grader_and_prompt_agree(point, seed):
    params = BUILDER.draw(point, Stream("shuffle", seed))
    right, swaps = play(BUILDER.prompt(params))
    assert swaps == point.max_depth
    assert len(params.events) == point.max_depth + point.confounders
    assert BUILDER.target(params) == right
    assert params.options["ABCDEFGHIJKL".index(right)] == outcome(params)
    for label, text in zip("ABCDEFGHIJKL", params.options, strict=False):
        assert judge(TASK, params, {"answer": label})[0].score == (label == right)
        assert judge(TASK, params, {"answer": text})[0].score == (label == right)
