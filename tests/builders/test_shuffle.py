"""Stories of swaps: no option stands out."""

from collections import Counter

import pytest

from scbench.builders.shuffle import TaskBuilder

BUILDER = TaskBuilder()


def draw_cases(count=300, **parameters):
    return BUILDER.generate_random(count=count, **parameters)


@pytest.mark.parametrize("people", [3, 5, 12])
def test_right_option_can_have_any_letter(people):
    cases = draw_cases(100 * people, people=people)
    letters = Counter(case["target"] for case in cases)
    assert len(letters) == people
    assert 60 < min(letters.values()) <= max(letters.values()) < 145
    for case in draw_cases(5, people=people):
        params = BUILDER.params_model(**case["instance"])
        assert BUILDER.blind_floor(params) == 1 / people


def test_initial_thing_is_no_better_than_a_guess():
    cases = draw_cases(1000, max_depth=20, people=5)
    stayed = 0
    for case in cases:
        params = BUILDER.params_model(**case["instance"])
        right = params.options["ABCDE".index(case["target"])]
        stayed += params.things[params.asked] == right
    assert 0.15 < stayed / len(cases) < 0.26
