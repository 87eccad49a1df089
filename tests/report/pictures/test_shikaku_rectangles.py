"""Colours of the rectangles in pictures of Shikaku."""

from itertools import combinations

import pytest

from scbench.builders.shikaku_rectangles import TaskBuilder
from scbench.report.pictures.shikaku_rectangles import are_neighbours, colours_of

PAPER = [item.params for item in TaskBuilder().paper()]


@pytest.mark.parametrize("params", PAPER, ids=range(len(PAPER)))
def test_neighbouring_rectangles_have_different_colours(params):
    rectangles = {
        i: (left, top, right + 1, bottom + 1)
        for i, (left, top, right, bottom) in enumerate(
            TaskBuilder().reference(params).rectangles
        )
    }
    colours = colours_of(rectangles)
    assert colours.keys() == rectangles.keys()
    for i, j in combinations(rectangles, 2):
        if are_neighbours(rectangles[i], rectangles[j]):
            assert colours[i] != colours[j]


def test_rectangles_in_one_place_all_get_colours():
    assert len(colours_of(dict.fromkeys(range(9), (0, 0, 2, 2)))) == 9


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ((2, 0, 3, 1), True),
        ((1, 1, 4, 4), True),
        ((2, 2, 3, 3), False),
        ((3, 0, 4, 2), False),
    ],
)
def test_neighbours_overlap_or_share_a_piece_of_a_side(second, expected):
    assert are_neighbours((0, 0, 2, 2), second) is expected
