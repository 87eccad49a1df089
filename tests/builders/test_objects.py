"""Lists of things: what each parameter moves."""

from scbench.builders.objects import TaskBuilder
from scbench.builders.shared.words import things

BUILDER = TaskBuilder()


def draw_cases(count=200, **parameters):
    return BUILDER.generate_random(count=count, **parameters)


def test_each_parameter_moves_what_it_says():
    plain = draw_cases(prob_adjective=0, max_count=1, distractors=0)
    assert {case["adjectives"] for case in plain} == {0}
    assert {case["distracting"] for case in plain} == {0}
    assert {case["target"] for case in plain} == {"6"}
    dressed = draw_cases(prob_adjective=1, length=20, distractors=10)
    assert {case["adjectives"] for case in dressed} == {30}
    some = [
        case["adjectives"] for case in draw_cases(prob_adjective=0.3, length=20, distractors=10)
    ]
    assert 0.25 < sum(some) / (30 * len(some)) < 0.35
    large = draw_cases(max_count=999, length=10)
    assert max(int(case["target"]) for case in large) > 5_000
    assert min(case["distracting"] for case in draw_cases(distractors=20)) >= 20


def test_quantities_are_in_words_as_often_as_in_digits():
    cases = draw_cases(length=20, max_count=50)
    share = sum(case["in_words"] for case in cases) / (24 * len(cases))
    assert 0.45 < share < 0.55
    assert any("hundred and" in case["input"] for case in draw_cases(20, max_count=999))


def test_a_noun_comes_again_only_after_all_others():
    for case in draw_cases(30, length=20):
        assert case["repeated"] == 0
    for case in draw_cases(20, length=100, distractors=0):
        (group,) = case["instance"]["groups"]
        assert case["repeated"] == 100 - len(things().groups[group])
