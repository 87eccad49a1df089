"""Pictures: the paper's are re-made from their seeds, and each has a polynomial of known degree."""

import pytest

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.polynomial_curve_fitting import (
    Space,
    TaskBuilder,
    as_text,
    row_by_row,
    separate,
)
from scbench.catalog import get_task
from scbench.graders.polynomial_curve_fitting import grade
from scbench.graders.polynomial_curve_fitting.formula import MAX_CHARACTERS
from scbench.graders.polynomial_curve_fitting.formula_values import MAX_BITS, MAX_WORK
from scbench.schemas.polynomial_curve_fitting import Answer, Params
from scbench.scoring.judge import judge

BUILDER = TaskBuilder()
PAPER = BUILDER.paper()
DEGREES = [2, 3, 4, 4, 4, 6, 6, 6, 7]


@pytest.mark.parametrize("which", range(9))
def test_no_lower_degree_draws_a_paper_picture(which):
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
def test_any_picture_can_be_drawn_row_by_row(rows):
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
        {"size": 16, "min_degree": 3, "max_degree": 3, "waves": 2, "swell": 6, "greedy": 0.6},
    ],
    ids=str,
)
def test_fresh_pictures_need_a_degree_in_the_wanted_range(parameters):
    point = Space(**parameters)
    params = BUILDER.draw(point, Stream("pictures", 1))
    assert len(params.grid) == point.size
    black = sum(row.count("#") for row in params.grid) / point.size**2
    assert abs(black - point.fill) < 0.03
    assert separate(params.grid, point.min_degree - 1).possible is False
    assert separate(params.grid, point.max_degree).possible is True
    assert grade(params, BUILDER.reference(params)).score == 1
    plain = map(Answer.model_validate, BUILDER.baselines(params).values())
    assert max(grade(params, answer).score for answer in plain) <= point.greedy


def test_high_waves_need_high_degrees_and_are_measured():
    point = Space(size=24, min_degree=8, max_degree=8, frequency=3, swell=4, blobs=6, fill=0.5)
    params = BUILDER.draw(point, Stream("swell", 1))
    assert BUILDER.measure(params) == 8
    assert grade(params, BUILDER.reference(params)).score == 1
    assert not {"swell", "greedy"} & set(Space().model_dump())


def test_impossible_points_end_with_a_reason():
    with pytest.raises(GenerationError, match="wider range"):
        BUILDER.draw(
            Space(size=8, blobs=1, hollows=0, waves=0, min_degree=8, max_degree=8), Stream("degree")
        )
    with pytest.raises(ValueError, match="min_degree"):
        Space(min_degree=5, max_degree=4)
    with pytest.raises(ValueError, match="not square"):
        Params(grid=("#.", "#"))
    with pytest.raises(ValueError, match="one colour"):
        Params(grid=("##", "##"))


def test_the_prompt_says_every_bound_and_the_bounds_hold():
    prompt = " ".join(BUILDER.prompt(PAPER[0].params).split())
    rules = [
        "an exponent is from -308 to 308",
        "a whole number other than 0 does not begin with 0",
        "a backslash right before a line break, which makes one line of two",
        f"the text has at most {MAX_CHARACTERS:,} characters, with brackets nested at most 150",
        f"no numerator or denominator on the way to the value of a cell has more than {MAX_BITS:,}",
        f"are counted and not timed, come to at most {MAX_WORK // 10**9} s",
        "nothing is rounded: f is worked out in fractions",
        "or divides by 0, scores 0",
    ]
    assert [rule for rule in rules if rule not in prompt] == []

    def failed(body):
        text = f"def f(x, y):\n    return {body}"
        (verdict,) = judge(
            get_task("polynomial_curve_fitting"), PAPER[0].params, {"function": text}
        )
        failed = [check.id for check in verdict.failed]
        return {name for name in failed if name in {"text", "resource_limit"}}

    assert not failed("x + y \\\n - 1.7976931348623159e+308")
    assert failed("x + y - 1e309") == {"text"} == failed("x + y - 0e-309")
    assert failed("x + y - 07") == {"text"}
    assert failed("x + y \\ - 1") == {"text"}
    assert not failed("x + y - 10**400*10**400")
    assert failed("x + y" + " " * MAX_CHARACTERS + "- 3") == {"resource_limit"}
    assert failed("x + y - " + "*".join(["2**512"] * (MAX_BITS // 512))) == {"resource_limit"}
    assert not failed("x + y - 2**511*" + "*".join(["2**512"] * (MAX_BITS // 512 - 1)))


def test_the_prompt_neither_counts_work_nor_says_how_to_redraw_any_picture():
    prompt = BUILDER.prompt(PAPER[8].params)
    assert "units" not in prompt
    assert "each row" not in prompt
