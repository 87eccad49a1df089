"""Lists of things: what each parameter moves."""

import re

import pytest
from pydantic import ValidationError

from scbench.base.seeding import Stream
from scbench.builders.objects import Space, TaskBuilder
from scbench.builders.shared.nouns import things

BUILDER = TaskBuilder()


def drawn(count=200, **parameters):
    return BUILDER.generate_random(count=count, **parameters)


def test_more_groups_than_entries_are_refused_with_both_values():
    with pytest.raises(ValidationError, match=r"target_groups \(3\) is more than length \(2\)"):
        BUILDER.generate_random(length=2, target_groups=3)


def test_each_parameter_moves_what_it_says():
    plain = drawn(prob_adjective=0, max_count=1, distractors=0)
    assert {case["adjectives"] for case in plain} == {0}
    assert {case["distracting"] for case in plain} == {0}
    assert {case["target"] for case in plain} == {"6"}
    dressed = drawn(prob_adjective=1, length=20, distractors=10)
    assert {case["adjectives"] for case in dressed} == {30}
    some = [case["adjectives"] for case in drawn(prob_adjective=0.3, length=20, distractors=10)]
    assert 0.25 < sum(some) / (30 * len(some)) < 0.35
    large = drawn(max_count=999, length=10)
    assert max(int(case["target"]) for case in large) > 5_000
    assert min(case["distracting"] for case in drawn(distractors=20)) >= 20


def test_quantities_are_in_words_as_often_as_in_digits():
    cases = drawn(length=20, max_count=50)
    share = sum(case["in_words"] for case in cases) / (24 * len(cases))
    assert 0.45 < share < 0.55
    assert any("hundred and" in case["input"] for case in drawn(20, max_count=999))


def test_articles_fit_the_word_after_them():
    said = [entry for case in drawn(300, max_count=1, length=10)
            for entry in case["instance"]["entries"]]  # fmt: skip
    for quantity, adjective, noun, _ in said:
        if quantity in {"a", "an"}:
            assert (quantity == "an") == ((adjective or noun)[0] in "aeiou")
    assert {entry[0] for entry in said} == {"a", "an", "one", "1"}


def test_nouns_agree_with_their_quantities():
    for case in drawn(100, max_count=3, length=10):
        for quantity, _, noun, group in case["instance"]["entries"]:
            one, many = next(pair for pair in things().groups[group] if noun in pair)
            assert noun == (one if quantity in {"a", "an", "one", "1"} else many)


def test_a_noun_comes_again_only_after_all_others():
    for case in drawn(30, length=20):
        assert case["repeated"] == 0
    for case in drawn(20, length=100, distractors=0):
        (group,) = case["instance"]["groups"]
        assert case["repeated"] == 100 - len(things().groups[group])


def test_every_group_and_opening_comes_up():
    cases = drawn(400)
    assert {case["instance"]["groups"][0] for case in cases} == set(things().groups)
    assert {case["instance"]["opening"] for case in cases} == set(range(len(things().openings)))


@pytest.mark.parametrize(
    ("form", "begins"),
    [("number", r"1\. "), ("roman", r"I\. "), ("hex", "0x1: "), ("letter", r"a\) "),
     ("bullet", "- ")],
)  # fmt: skip
def test_anchors_stand_before_every_entry(form, begins):
    prompt = drawn(1, anchor_format=form)[0]["input"]
    lines = prompt.split("\n\n")[1].splitlines()
    assert len(lines) == 10
    assert re.match(begins, lines[0])
    assert ("marks the line and is no quantity" in prompt) == (form != "bullet")


def test_one_sentence_without_anchors():
    params = BUILDER.draw(Space(length=3, distractors=0), Stream("one sentence"))
    sentence = BUILDER.prompt(params).split("\n\n")[1]
    assert re.fullmatch(r"[^,]+, [^,]+ and [^,]+\.", sentence)
