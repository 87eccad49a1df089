"""Stories of swaps: their sentences, what each parameter moves, and that no option stands out."""

import re
from collections import Counter
from itertools import pairwise
from typing import get_args

import pytest

from scbench.builders.shuffle import TaskBuilder, names, stories
from scbench.schemas.shuffle import Domain

BUILDER = TaskBuilder()
DOMAINS = get_args(Domain)


def draw_cases(count=300, **parameters):
    return BUILDER.generate_random(count=count, **parameters)


@pytest.mark.parametrize("domain", DOMAINS)
def test_sentences_are_different_and_name_whom_they_are_about(domain):
    story = stories()[domain]
    for sentences in (story.openings, story.swaps, story.idle):
        assert len(set(sentences)) == len(sentences) >= 3
    assert all(sentence.count("{people}") == 1 for sentence in story.openings)
    for sentence in (*story.swaps, *story.idle):
        assert set(re.findall(r"{(\w+)}", sentence)) == {"a", "b"}
        assert sentence.endswith(".")
    assert len(set(story.things)) == len(story.things)
    assert len(story.things) >= 12 or domain == "dancing"
    assert not {word for thing in story.things for word in thing.split()} & set(names())
    assert not any(thing.startswith("the ") for thing in story.things)


def test_events_are_as_many_as_the_parameters_say_and_no_swap_is_undone_at_once():
    for case in draw_cases(100, max_depth=20, confounders=7, people=3):
        events = case["instance"]["events"]
        swaps = [{a, b} for swaps, a, b, _ in events if swaps]
        assert (len(swaps), len(events)) == (20, 27)
        assert all(len(pair) == 2 for pair in swaps)
        assert all(first != second for first, second in pairwise(swaps))


def test_what_is_asked_for_moves_more_often_in_longer_stories():
    means = []
    for depth in (1, 4, 16, 64):
        depths = [case["depth"] for case in draw_cases(100, max_depth=depth)]
        assert 1 <= min(depths) <= max(depths) <= depth
        means.append(sum(depths) / len(depths))
    assert all(b > 1.5 * a for a, b in pairwise(means))


def test_confounders_mention_the_person_asked_about():
    assert {case["misleading"] for case in draw_cases(50, confounders=0)} == {0}
    assert sum(case["misleading"] for case in draw_cases(100, confounders=20, people=5)) > 500


@pytest.mark.parametrize("people", [3, 5, 12])
def test_the_right_option_can_have_any_letter(people):
    letters = Counter(case["target"] for case in draw_cases(100 * people, people=people))
    assert len(letters) == people
    assert 60 < min(letters.values()) <= max(letters.values()) < 145
    for case in draw_cases(5, people=people):
        assert BUILDER.blind_floor(BUILDER.params_model(**case["instance"])) == 1 / people


def test_what_the_person_had_at_first_is_no_better_guess_than_any():
    cases = draw_cases(1000, max_depth=20, people=5)
    stayed = [
        case["instance"]["things"][case["instance"]["asked"]]
        == case["instance"]["options"]["ABCDE".index(case["target"])]
        for case in cases
    ]
    assert 0.15 < sum(stayed) / len(stayed) < 0.26


@pytest.mark.parametrize(
    ("form", "begins"),
    [("number", "1. "), ("roman", "I. "), ("hex", "0x1: "), ("letter", "a) "), ("bullet", "- "),
     ("ordinal", "1st: "), ("step", "Step 1: "), ("clock", "09:01 ")],
)  # fmt: skip
def test_anchors_stand_before_every_event(form, begins):
    prompt = draw_cases(1, anchor_format=form)[0]["input"]
    lines = prompt.split("\n\n")[2].splitlines()
    assert len(lines) == 7
    assert lines[0].startswith(begins)
    assert ("only tells the order" in prompt) == (form != "bullet")
