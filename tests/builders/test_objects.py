"""Lists of things: the effect of each parameter."""

from scbench.builders.objects import TaskBuilder
from scbench.builders.shared.words import things

BUILDER = TaskBuilder()


def draw_cases(count=200, **parameters):
    return BUILDER.generate_random(count=count, **parameters)


def test_half_of_the_quantities_are_in_words():
    cases = draw_cases(length=20, max_count=50)
    share = sum(case["in_words"] for case in cases) / (24 * len(cases))
    assert 0.45 < share < 0.55
    assert any("hundred and" in case["input"] for case in draw_cases(20, max_count=999))


def test_nouns_repeat_only_after_all_others():
    for case in draw_cases(30, length=20):
        assert case["repeated"] == 0
    for case in draw_cases(20, length=100, distractors=0):
        (group,) = case["instance"]["groups"]
        assert case["repeated"] == 100 - len(things().groups[group])
