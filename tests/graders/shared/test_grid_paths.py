"""Neighbours by code and by coordinates, and whole numbers in different notations."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from scbench.graders.shared.grid_paths import grid, jumps, repeats, touch
from scbench.schemas.base import WholeNumber

WHOLE = TypeAdapter(WholeNumber)


def side_by_side(a, b):
    distances = [abs(p - q) for p, q in zip(a, b, strict=True)]
    return sum(distances) == 1


@pytest.mark.parametrize(
    "size", [(1,), (5,), (4, 4), (1, 6), (3, 2, 4), (2, 1, 3, 2), (2,) * 6]
)
@pytest.mark.parametrize("first", [0, 1])
def test_neighbours_by_code_match_coordinates(size, first):
    box = grid(size, first)
    cells = list(product(*(range(first, first + n) for n in size)))
    assert list(box.codes) == cells
    assert len(set(box.codes.values())) == len(cells)
    for a in cells:
        for b in cells:
            pair = [a, b]
            assert (jumps(box, pair, box.encode(pair)) == []) == side_by_side(a, b)
            assert touch(a, b) == side_by_side(a, b)


@given(st.lists(st.tuples(*[st.integers(-1, 3)] * 3), min_size=1, max_size=12))
def test_jumps_and_repeats_of_random_cells(cells):
    box = grid((2, 3, 2), 0)
    codes = box.encode(cells)
    expected_jumps, expected_repeats = [], []
    for i, cell in enumerate(cells):
        if i and not side_by_side(cells[i - 1], cell):
            expected_jumps.append(i)
        if cell in cells[:i]:
            expected_repeats.append(i)
    assert jumps(box, cells, codes) == expected_jumps
    assert repeats(cells, codes) == expected_repeats


@pytest.mark.parametrize("value", [0, 3, -2, 10**30, 3.0, -0.0, 1e300])
def test_whole_numbers_become_integers(value):
    taken = WHOLE.validate_python(value)
    assert taken == value
    assert type(taken) is int


@pytest.mark.parametrize(
    "value",
    [True, False, "3", 2.5, 1e-300, float("nan"), float("inf"), None, [], [1], {}],
    ids=repr,
)
def test_other_values_are_rejected_with_one_message(value):
    with pytest.raises(ValidationError) as caught:
        WHOLE.validate_python(value)
    assert [error["msg"] for error in caught.value.errors()] == [
        "must be a whole number"
    ]
