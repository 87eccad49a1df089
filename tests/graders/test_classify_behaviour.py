"""Classify behaviour: the ambiguous squares, the number of labels, and each check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.catalog import get_task
from scbench.schemas.classify_behaviour import Params
from scbench.scoring.judge import judge

TASK = get_task("classify_behaviour")
RING = ("bottom-left", "bottom-right", "top-right", "top-left")
KNOWN, THREE, AMBIGUOUS = "known behaviour", "three domains meeting", "ambiguous"
ONE_OF_EACH = Params(
    corner_order=RING,
    squares=(
        (5, 5, 5, 5), (1, 1, 2, 1), (2, 2, 1, 1), (1, 1, 2, 3), (1, 2, 1, 2), (1, 2, 1, 3),
        (1, 2, 3, 4),
    ),
)  # fmt: skip
RIGHT = [KNOWN, KNOWN, KNOWN, THREE, AMBIGUOUS, KNOWN, AMBIGUOUS]


def verdict(params, labels):
    return judge(TASK, params, {"labels": labels})[0]


@pytest.mark.parametrize(
    "labels", [[*RIGHT, KNOWN], RIGHT[:-1], [], [AMBIGUOUS] * 5000]
)
def test_number_of_labels_must_match(labels):
    result = verdict(ONE_OF_EACH, labels)
    failed = [(check.id, check.passed) for check in result.failed]
    assert failed == [("length", False), ("names", None)]


def opposite(corner):
    return RING[(RING.index(corner) + 2) % 4]


@given(st.permutations(RING), st.tuples(*[st.integers(1, 4)] * 4))
def test_names_by_opposite_corners(order, labels):
    at = dict(zip(order, labels, strict=True))
    classes = len(set(labels))
    equal_opposite = sum(at[corner] == at[opposite(corner)] for corner in RING[:2])
    name = {
        (1, 2): KNOWN,
        (2, 0): KNOWN,  # two neighbours against the other two
        (2, 1): KNOWN,  # one corner against three
        (2, 2): AMBIGUOUS,
        (3, 0): THREE,
        (3, 1): KNOWN,
        (4, 0): AMBIGUOUS,
    }[classes, equal_opposite]
    params = Params(corner_order=tuple(order), squares=(labels,))
    for given_name in (KNOWN, THREE, AMBIGUOUS):
        assert verdict(params, [given_name]).score == (given_name == name)
