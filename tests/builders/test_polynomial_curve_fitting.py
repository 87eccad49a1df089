"""Pictures: each needs a polynomial of a known degree."""

import pytest

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.polynomial_curve_fitting import (
    Space,
    TaskBuilder,
    fit_score,
    least_fit_score,
)
from scbench.builders.polynomial_curve_fitting.polynomials import as_text, row_by_row
from scbench.builders.polynomial_curve_fitting.separation import separate
from scbench.graders.polynomial_curve_fitting import grade
from scbench.schemas.polynomial_curve_fitting import Answer, Params

BUILDER = TaskBuilder()
PAPER = BUILDER.paper()
DEGREES = [2, 3, 4, 4, 4, 6, 6, 6, 7]


@pytest.mark.parametrize("which", range(9))
def test_paper_pictures_need_their_degrees(which):
    grid = PAPER[which].params.grid
    assert separate(grid, DEGREES[which] - 1).possible is False
    separation = separate(grid, DEGREES[which])
    assert separation.possible
    text = as_text(separation.coefficients, len(grid))
    assert grade(PAPER[which].params, Answer(function=text)).score == 1
    assert BUILDER.reference(PAPER[which].params).function == text


@pytest.mark.parametrize(
    "rows",
    [
        ["#.", ".."], ["..", ".#"], ["##", ".."], ["#.", "#."], ["#.#.", ".#.#", "#.#.", ".#.#"],
        ["....", ".##.", ".##.", "...."], ["#..#", "....", "....", "#..#"],
    ],
)  # fmt: skip
def test_row_by_row_draws_any_picture(rows):
    params = Params(grid=rows)
    assert grade(params, Answer(function=row_by_row(rows))).score == 1
    assert grade(params, BUILDER.reference(params)).score == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"size": 8, "min_degree": 2, "max_degree": 3},
        {"size": 30, "min_degree": 5, "max_degree": 8, "blobs": 8, "hollows": 3},
        {"size": 64, "fill": 0.2},
        {"size": 128, "min_degree": 4, "max_degree": 8},
        {"size": 8, "min_degree": 1, "max_degree": 1, "blobs": 1, "waves": 0},
        {
            "size": 16,
            "min_degree": 3,
            "max_degree": 3,
            "blobs": 2,
            "waves": 2,
            "swell": 6,
            "fill": 0.4,
            "greedy": 0.6,
            "limited": True,
        },
    ],
    ids=str,
)
def test_fresh_pictures_need_a_degree_in_range(parameters):
    point = Space(**parameters)
    params = BUILDER.draw(point, Stream("pictures", 1))
    assert len(params.grid) == point.size
    black = sum(row.count("#") for row in params.grid) / point.size**2
    assert abs(black - point.fill) < 0.03
    assert separate(params.grid, point.min_degree - 1).possible is False
    assert separate(params.grid, point.max_degree).possible is True
    assert grade(params, BUILDER.reference(params)).score == 1
    assert fit_score(params.grid, params.max_degree) <= point.greedy
    # The quick measure of a picture is never above the exact one.
    quick = least_fit_score(params.grid, params.max_degree)
    assert 0 <= quick <= fit_score(params.grid, params.max_degree)
    if point.limited:
        assert params.max_degree == point.max_degree
        plain = map(Answer.model_validate, BUILDER.baselines(params).values())
        assert max(grade(params, answer).score for answer in plain) <= point.greedy


def test_high_waves_need_high_degrees():
    point = Space(
        size=24, min_degree=8, max_degree=8, frequency=3, swell=4, blobs=6, fill=0.5
    )
    params = BUILDER.draw(point, Stream("swell", 1))
    assert BUILDER.measure(params) == 8
    assert grade(params, BUILDER.reference(params)).score == 1
    assert not {"swell", "greedy"} & set(Space().model_dump())


def test_impossible_parameters_are_reported():
    with pytest.raises(GenerationError, match="wider range"):
        BUILDER.draw(
            Space(size=8, blobs=1, hollows=0, waves=0, min_degree=8, max_degree=8),
            Stream("degree"),
        )
    with pytest.raises(ValueError, match="min_degree"):
        Space(min_degree=5, max_degree=4)
    with pytest.raises(ValueError, match="not square"):
        Params(grid=("#.", "#"))
    with pytest.raises(ValueError, match="one colour"):
        Params(grid=("##", "##"))
