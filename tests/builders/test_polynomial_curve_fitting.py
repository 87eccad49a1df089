"""Pictures: the paper's are re-made from their seeds, and each has a polynomial of known degree."""

import io
import random

import numpy as np
import pytest
from PIL import Image

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.polynomial_curve_fitting import (
    Space,
    TaskBuilder,
    _cut_at_level,
    as_text,
    field,
    row_by_row,
    separate,
)
from scbench.catalog import get_task
from scbench.graders.polynomial_curve_fitting import grade
from scbench.graders.polynomial_curve_fitting.formula import MAX_CHARACTERS
from scbench.graders.polynomial_curve_fitting.formula_values import MAX_BITS
from scbench.schemas.polynomial_curve_fitting import Answer, Params
from scbench.scoring.judge import judge

BUILDER = TaskBuilder()
PAPER = BUILDER.paper()
SETTINGS = [
    (0.45, 2, 3, 1, 2),
    (0.5, 2, 4, 2, 2),
    (0.38, 2, 5, 2, 3),
    (0.55, 2, 2, 1, 2),
    (0.42, 3, 7, 3, 4),
    (0.45, 3, 8, 3, 4),
    (0.45, 3, 8, 3, 4),
    (0.3, 3, 12, 2, 1),
    (0.45, 3, 8, 3, 4),
]
"""Share of black cells, frequency, blobs, waves and smoothings of the paper's pictures."""
DEGREES = [2, 3, 4, 4, 4, 6, 6, 6, 7]


class PaperSource(random.Random):
    between = random.Random.randint
    unit = random.Random.random


@pytest.mark.parametrize("which", range(9))
def test_the_papers_pictures_are_those_of_their_seeds(which):
    item = PAPER[which]
    fill, frequency, blobs, waves, smoothing = SETTINGS[which]
    point = Space(
        size=len(item.params.grid),
        fill=fill,
        frequency=frequency,
        blobs=blobs,
        hollows=max(1, blobs // 3),
        waves=waves,
        smoothing=smoothing,
    )
    assert _cut_at_level(field(point, PaperSource(item.seed)), fill) == item.params.grid


def test_the_field_is_the_sum_it_is_said_to_be():
    point = Space(size=9, blobs=2, hollows=1, waves=1, smoothing=0, frequency=2)
    values = field(point, PaperSource(3))
    rng = random.Random(3)
    blobs = []
    for sign, spread, height in ((1, (0.18, 0.38), (0.9, 1.6)),) * 2 + (
        (-1, (0.25, 0.5), (0.4, 0.9)),
    ):
        centre = rng.uniform(0, 8), rng.uniform(0, 8)
        blobs.append(
            (*centre, rng.uniform(9 * spread[0], 9 * spread[1]), sign * rng.uniform(*height))
        )
    fx, fy = rng.randint(1, 2), rng.randint(1, 2)
    phase, faint = rng.uniform(0, 2 * np.pi), rng.uniform(0.05, 0.12)
    faint = faint if rng.random() > 0.5 else -faint
    y, x = np.mgrid[:9, :9]
    expected = faint * np.sin(2 * np.pi * (x * fx + y * fy) / 9 + phase)
    for cx, cy, width, peak in blobs:
        expected = expected + peak * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * width**2))
    assert np.allclose(values, expected, atol=1e-12)
    smooth = field(point.model_copy(update={"smoothing": 1}), PaperSource(3))
    edged = np.pad(expected, 1, mode="edge")
    kernel = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16
    blurred = sum(kernel[i, j] * edged[i : i + 9, j : j + 9] for i in range(3) for j in range(3))
    assert np.allclose(smooth, blurred, atol=1e-12)


@pytest.mark.parametrize("which", range(9))
def test_no_lower_degree_draws_a_paper_picture(which):
    grid = PAPER[which].params.grid
    assert separate(grid, DEGREES[which] - 1).possible is False
    separation = separate(grid, DEGREES[which])
    assert separation.possible
    text = as_text(separation.coefficients, len(grid))
    assert grade(PAPER[which].params, Answer(function=text)).score == 1
    assert BUILDER.reference(PAPER[which].params).function == text


@pytest.mark.parametrize("which", [0, 1, 3, 7])
def test_references_have_room_for_a_solvers_tolerance(which):
    # Coefficients off by a part in a million, as another solver might give, draw the same picture.
    params = PAPER[which].params
    n = len(params.grid)
    coefficients = separate(params.grid, DEGREES[which]).coefficients
    rng = random.Random(which)
    for _ in range(5):
        disturbed = [[10**6 * c + rng.randint(-1, 1) * c for c in row] for row in coefficients]
        assert grade(params, Answer(function=as_text(disturbed, n))).score == 1


@pytest.mark.parametrize(
    "rows",
    [
        ["#.", ".."],
        ["..", ".#"],
        ["##", ".."],
        ["#.", "#."],
        ["#.#.", ".#.#", "#.#.", ".#.#"],
        ["....", ".##.", ".##.", "...."],
        ["#..#", "....", "....", "#..#"],
    ],
)
def test_any_picture_can_be_drawn_row_by_row(rows):
    params = Params(grid=rows)
    assert grade(params, Answer(function=row_by_row(rows))).score == 1
    assert grade(params, BUILDER.reference(params)).score == 1


def test_random_noise_can_be_drawn():
    rng = random.Random(4)
    rows = ["".join(rng.choice("#.") for _ in range(24)) for _ in range(24)]
    params = Params(grid=rows)
    assert separate(rows, 6).possible is False
    assert grade(params, Answer(function=row_by_row(rows))).score == 1
    assert BUILDER.reference(params).function == row_by_row(rows)


def test_the_largest_picture_can_be_drawn_row_by_row_within_the_limits():
    params = PAPER[8].params
    assert grade(params, Answer(function=row_by_row(params.grid))).score == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"size": 8, "min_degree": 2, "max_degree": 3},
        {"size": 30, "min_degree": 5, "max_degree": 8, "blobs": 8, "hollows": 3},
        {"size": 64, "fill": 0.2},
        {"size": 128, "min_degree": 4, "max_degree": 8},
        {"size": 8, "min_degree": 1, "max_degree": 1, "blobs": 1, "waves": 0},
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


def test_high_waves_need_high_degrees_and_are_measured():
    point = Space(size=24, min_degree=8, max_degree=8, frequency=3, swell=4, blobs=6, fill=0.5)
    params = BUILDER.draw(point, Stream("swell", 1))
    assert BUILDER.measure(params) == 8
    assert grade(params, BUILDER.reference(params)).score == 1
    assert "swell" not in Space().model_dump()


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


@pytest.mark.parametrize("which", range(9))
def test_the_picture_is_in_the_prompt_or_in_the_image(which):
    params = PAPER[which].params
    n = len(params.grid)
    prompt, images = BUILDER.prompt(params), BUILDER.images(params)
    if n < 48:
        assert images == ()
        printed = [line for line in prompt.splitlines() if line.startswith("y = ")]
        assert [line.split()[-1] for line in printed] == list(params.grid)
        return
    assert params.grid[n // 2] not in prompt
    with Image.open(io.BytesIO(images[0])) as image:
        pixels = np.asarray(image.convert("L"))
    factor = len(pixels) // n
    assert factor >= 8
    assert f"{factor} x {factor}" in prompt
    assert f"{n * factor} x {n * factor} pixels" in prompt
    expected = [[0 if cell == "#" else 255 for cell in row] for row in params.grid]
    assert (pixels == np.kron(expected, np.ones((factor, factor)))).all()


def test_columns_are_numbered_above_text_pictures():
    lines = BUILDER.prompt(PAPER[2].params).splitlines()
    tens, units = (line for line in lines if line.startswith("   "))
    start = next(line.index("#") for line in lines if line.startswith("y = ") and "#" in line)
    first = next(line for line in lines if line.startswith("y = 0"))
    assert units[len("y = 0  ") :] == "012345678901234567890123"
    assert first.index(PAPER[2].params.grid[0]) == len("y = 0  ")
    assert tens[7::10] == "012"
    assert start >= 7


def test_the_prompt_says_every_bound_and_the_bounds_hold():
    prompt = " ".join(BUILDER.prompt(PAPER[0].params).split())
    rules = [
        "one with a point or an exponent is at most 1.7976931348623157e+308",
        "a whole number other than 0 does not begin with 0",
        "a backslash right before a line break, which makes one line of two",
        f"the text has at most {MAX_CHARACTERS:,} characters, with brackets nested at most 150 deep,",
        f"and no whole number on the way to the value of a cell has more than {MAX_BITS:,} bits",
        "if f or anything on the way to it is not finite (infinity, not a number)",
    ]
    assert [rule for rule in rules if rule not in prompt] == []

    def failed(body):
        text = f"def f(x, y):\n    return {body}"
        (verdict,) = judge(
            get_task("polynomial_curve_fitting"), PAPER[0].params, {"function": text}
        )
        failed = [check.id for check in verdict.failed]
        return {name for name in failed if name in {"text", "resource_limit"}}

    assert not failed("x + y \\\n - 1.7976931348623157e+308")
    assert failed("x + y - 1.7976931348623159e+308") == {"text"}
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
