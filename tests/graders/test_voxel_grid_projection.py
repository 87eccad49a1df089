"""Voxels: each rule, and all symmetries compared with geometry."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.catalog import get_task
from scbench.graders.shared.interaction import QueryError
from scbench.graders.voxel_grid_projection import grade
from scbench.graders.voxel_grid_projection.actions import Place, Play
from scbench.schemas.voxel_grid_projection import Answer, Params

BUILDER = get_task("voxel_grid_projection").builder()
PAPER = [item.params for item in BUILDER.paper()]
SMALL = Params(size=3, cells=12)
# A Latin square and three cells that break its symmetries.
RIGHT = [(x, y, (x + y) % 3) for x in range(3) for y in range(3)] + [
    (0, 0, 1),
    (0, 2, 1),
    (1, 2, 2),
]


def verdict(cells, params=SMALL):
    return grade(params, Answer(voxels=[{"xyz": list(cell)} for cell in cells]))


def failed(cells, params=SMALL):
    checks = verdict(cells, params).checks
    return [check.id for check in checks if check.passed is False]


def doubled(cells, size):
    """Return doubled coordinates around the centre of the grid, which are whole numbers."""
    return 2 * np.array(sorted(cells)) - (size - 1)


def as_set(array):
    return {tuple(row) for row in array.tolist()}


def with_count(cells, **changes):
    return Params(size=3, cells=len(cells), **changes)


@pytest.mark.parametrize(
    "cell",
    [
        (1, 2, 3),
        (1, 3, 2),
        (3, 1, 2),
        (-1, 2, 2),
        (1, -1, 2),
        (1, 2, -1),
        (1, 2, 2.5),
        (1, 1e300, 0),
        (2.9999999999, 0, 0),
        (-0.9999999999, 0, 0),
    ],
)
def test_invalid_cells_fail(cell):
    assert failed([*RIGHT[:-1], cell])[0] == "cells"
    assert verdict([*RIGHT[:-1], cell]).score == 0


@pytest.mark.parametrize(
    ("error", "score"), [(0, 1), (1e-9, 1), (-9e-10, 1), (1.1e-9, 0)]
)
def test_coordinates_may_be_off_by_the_stated_tolerance(error, score):
    assert verdict([(0 + error, 0, 0), *RIGHT[1:]]).score == score
    x, y, z = RIGHT[8]
    assert (
        verdict([*RIGHT[:8], (x + error, y + error, z + error), *RIGHT[9:]]).score
        == score
    )


@pytest.mark.parametrize("digit", range(10))
def test_digit_rule_uses_decimal_digits(digit):
    params = Params(size=20, cells=500, forbidden_digit=digit)
    for total in range(58):
        x = min(total, 19)
        y = min(total - x, 19)
        cell = (x, y, total - x - y)
        barred = str(digit) in list(str(total))
        assert ("permitted" in failed([cell], params)) == barred, total


@pytest.mark.parametrize(
    ("more", "apart"),
    [
        ([(1, 1, 1)], []),
        ([(1, 0, 0), (1, 1, 0)], []),
        ([(1, 1, 0)], [[1, 1, 0]]),
        ([(1, 2, 2)], [[1, 2, 2]]),
        ([(2, 2, 2), (2, 2, 1)], [[2, 2, 1], [2, 2, 2]]),
    ],
)
def test_cells_connect_through_faces(more, apart):
    cells = [(0, 0, 0), (0, 0, 1), (0, 1, 1), *more]
    check = verdict(cells, with_count(cells, connected=True)).checks[-1]
    assert check.id == "connected"
    assert check.details.get("offenders", []) == apart


def test_empty_set_scores_0_and_is_connected():
    empty = verdict([], with_count(RIGHT, connected=True))
    assert empty.score == 0
    passed = {check.id: check.passed for check in empty.checks}
    assert passed["count"] is False
    assert passed["connected"] is True


def rotations_and_reflections():
    """Yield the 48 signed permutation matrices."""
    for axes in permutations(range(3)):
        for signs in product((1, -1), repeat=3):
            matrix = np.zeros((3, 3), dtype=int)
            for row, (axis, sign) in enumerate(zip(axes, signs, strict=True)):
                matrix[row, axis] = sign
            yield matrix


@settings(max_examples=40)
@given(
    size=st.integers(2, 5),
    element=st.integers(0, 47),
    seeds=st.lists(st.integers(0, 124), min_size=1, max_size=12),
)
def test_symmetries_match_cube_symmetries(size, element, seeds):
    matrices = list(rotations_and_reflections())
    cells = set()
    for seed in seeds:
        place = np.unravel_index(seed % size**3, (size,) * 3)
        cells.add(tuple(int(v) for v in place))
    # Close the set under one element, so that symmetric sets are as common as others.
    for _ in range(12):
        image = (doubled(cells, size) @ matrices[element].T + size - 1) // 2
        cells |= as_set(image)
    centred = doubled(cells, size)
    symmetries = 0
    for matrix in matrices:
        symmetries += as_set(centred @ matrix.T) == as_set(centred)
    checks = {c.id: c for c in verdict(cells, Params(size=size, cells=9)).checks}
    check = checks["no_symmetry"]
    assert check.details.get("count", 0) == symmetries - 1
    assert check.passed == (symmetries == 1)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), which=st.integers(0, 5))
def test_projections_match_boolean_array(seed, which):
    params = PAPER[which]
    n = params.size
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, n, (params.cells, 3)).tolist()
    array = np.zeros((n, n, n), dtype=bool)
    for x, y, z in cells:
        array[x, y, z] = True
    checks = {check.id: check for check in verdict(cells, params).checks}
    for name, axis in (("xy", 2), ("xz", 1), ("yz", 0)):
        holes = np.argwhere(~array.any(axis=axis)).tolist()
        check = checks[f"projection_{name}"]
        assert check.details.get("count", 0) == len(holes)
        assert check.details.get("offenders", []) == holes[:50]
    assert checks["repeats"].passed == (int(array.sum()) == params.cells)


def test_twice_the_required_cells_may_be_chosen():
    play = Play(with_count(RIGHT[:1]))
    assert play.step(Place(action="place", cells=((0, 0, 0), (0, 0, 1))))["chosen"] == 2
    with pytest.raises(QueryError, match="that would be 3 cells"):
        play.step(Place(action="place", cells=((0, 0, 2),)))
