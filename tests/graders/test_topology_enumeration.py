"""Topology enumeration: faults of the research grader, and each check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.catalog import get_task
from scbench.schemas.topology_enumeration import Params
from scbench.scoring.judge import judge

TASK = get_task("topology_enumeration")
RING = ("bottom-left", "bottom-right", "top-right", "top-left")
TWO = Params(n_classes=2, corner_order=RING)
THREE = Params(n_classes=3, corner_order=RING)
SEVEN = [[0, *map(int, f"{bits:03b}")] for bits in range(1, 8)]
FOUR = [[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 0], [0, 1, 2, 2]]


def verdict(params, configs):
    return judge(TASK, params, {"configs": configs})[0]


def failed(params, configs):
    return [check.id for check in verdict(params, configs).failed]


def renamed(patterns, names):
    return [[names[label] for label in pattern] for pattern in patterns]


def test_patterns_may_have_any_order_and_names():
    assert failed(TWO, SEVEN) == []
    assert failed(TWO, SEVEN[::-1]) == []
    assert failed(TWO, renamed(SEVEN, (5, 9))) == []
    assert failed(THREE, renamed(FOUR, (9, -4, 10**30))) == []


@pytest.mark.parametrize("bad", [[0, 0, 1], [0] * 9, "0001", 1])
def test_patterns_must_have_a_label_for_each_corner(bad):
    assert failed(TWO, [*SEVEN, bad]) == ["answer_schema"]
    assert failed(TWO, [*SEVEN, [0, 0, 0, 0, 1]]) == ["corners"]


def test_long_lists_are_rejected():
    assert failed(TWO, SEVEN * 285) == ["repeats"]
    assert failed(TWO, SEVEN * 286) == ["resource_limit"]


def test_known_corners_narrow_the_list():
    params = Params(n_classes=3, corner_order=RING, known="x?yx")
    assert failed(params, [[0, 1, 2, 0]]) == []
    assert failed(params, FOUR) == ["known"]
    # The wrong pattern omits a class, or is not forced, and contradicts the known corners.
    assert failed(params, [[0, 1, 2, 0], [0, 0, 0, 1]]) == ["all_classes", "known"]
    assert failed(params, [[0, 1, 2, 0], [0, 1, 0, 2]]) == ["known", "forced"]


# Patterns of two classes, one of them under other names, of one class, and of three.
@given(
    st.lists(
        st.sampled_from([*SEVEN, [2, 2, 2, 0], [0, 0, 0, 0], [0, 1, 1, 2]]), max_size=9
    )
)
def test_only_the_seven_patterns_once_each_score(configs):
    usual_names = [[0, 0, 0, 1] if p == [2, 2, 2, 0] else p for p in configs]
    is_right = sorted(usual_names) == SEVEN
    assert verdict(TWO, configs).score == is_right
