"""Polynomial curve fitting: prompts, fresh pictures, and a solver by linear programming.

`separate` solves a linear program over products of Chebyshev polynomials, rounds its solution and
checks the rounded polynomial in integers; `row_by_row` needs no solver and never fails.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Builder,
    Point,
    data_file,
    parameter,
    prompt_template,
    under,
)
from scbench.builders.shared.png import indexed_png, magnified
from scbench.graders import polynomial_curve_fitting as rules
from scbench.graders.polynomial_curve_fitting import formula, formula_values
from scbench.schemas.polynomial_curve_fitting import Answer, Params

_TRIES = 60
# Terms of polynomials times cells that one draw may look at.
_WORK = 5_000_000
_MAX_DEGREE = 10
# Up to this degree a linear program is quicker than grading the answers without
# insight.
_FEW = 3
_IMAGE_FROM = 48
_WHITE_BLACK = ((255, 255, 255), (0, 0, 0))
_LEAST_GAP = 1e-9
_LEAST_SHARE = 0.1
_SCALE = 1e6
_ROUNDS = 60
_BATCH = 200
_STRIDE = 4
# A margin from here on is real; below a hundredth of it there is none. Between them, a
# solver's tolerance decides.
_CLEAR = 1e-6

# Of the solver: one thread that takes the same steps each time.
_OPTIONS: dict[str, bool | int | str] = {
    "output_flag": False,
    "presolve": "on",
    "solver": "simplex",
    "parallel": "off",
    "threads": 1,
    "random_seed": 0,
}
_SCALES = tuple(4**k for k in range(3, 16))
Array = NDArray[Any]


class Space(Point):
    """Parameters of pictures: bright blobs, dark hollows and waves, smoothed, cut at a level."""

    size: int = parameter(
        24,
        "rows and columns; from 48 on the prompt shows the picture as an image",
        ge=8,
        le=128,
    )
    fill: float = parameter(0.45, "share of black cells", ge=0.2, le=0.8)
    blobs: int = parameter(4, "number of bright blobs", ge=1, le=12)
    hollows: int = parameter(1, "number of dark blobs", ge=0, le=6)
    waves: int = parameter(2, "number of faint waves", ge=0, le=4)
    frequency: int = parameter(
        2, "most periods of a wave across the picture", ge=1, le=3
    )
    swell: int = parameter(
        1,
        "how many times as high waves are; above 1 they wind the edge",
        ge=1,
        le=10,
        later=True,
    )
    smoothing: int = parameter(2, "times that the field is smoothed", ge=0, le=6)
    min_degree: int = parameter(
        3, "least total degree that can draw every cell right", ge=1, le=10
    )
    max_degree: int = parameter(
        6, "largest value that this least degree may have", ge=1, le=10
    )

    greedy: float = parameter(
        1.0,
        "most that a line or conic by least squares may score",
        gt=0, le=1, later=True,
    )  # fmt: skip

    @model_validator(mode="after")
    def _ordered(self) -> "Space":
        if self.min_degree > self.max_degree:
            raise ValueError(
                f"min_degree {self.min_degree} is above max_degree {self.max_degree}"
            )
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Pictures that some polynomial of low degree draws without an error."""

    task = "polynomial_curve_fitting"
    version = 4
    form = '{"function": text}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the picture, or where to find it, and the limits of a formula."""
        n = len(params.grid)
        if n >= _IMAGE_FROM:
            factor = _pixels_per_cell(n)
            picture = prompt_template(__package__, "prompt_image.txt").format(
                n=n, factor=factor, side=n * factor
            )
            brief = prompt_template(__package__, "prompt_image_brief.txt").format(n=n)
        else:
            picture = prompt_template(__package__, "prompt_text.txt").format(
                n=n, grid="\n".join(_ruled(params.grid))
            )
            brief = picture
        return {
            "picture": picture,
            "n": n,
            "last": n - 1,
            "cells": n * n,
            "number": formula.MAX_NUMBER,
            "exponent": formula.MAX_EXPONENT,
            "degree": formula.MAX_DEGREE,
            "characters": formula.MAX_CHARACTERS,
            "brackets": formula.MAX_BRACKETS,
            "bits": formula_values.MAX_BITS,
            "scale": formula.MAX_SCALE,
            "shown": brief,
        }

    def images(self, params: Params) -> tuple[bytes, ...]:
        """Return the picture as a PNG file if the prompt does not print it."""
        n = len(params.grid)
        if n < _IMAGE_FROM:
            return ()
        cells = [[int(cell == "#") for cell in row] for row in params.grid]
        return (indexed_png(magnified(cells, _pixels_per_cell(n)), _WHITE_BLACK),)

    def reference(self, params: Params) -> Answer:
        """Solve linear programs of rising degree; failing that, draw row by row."""
        return Answer(function=_solve(params))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return other readings of the picture, near misses, and what older graders let pass."""
        text = _solve(params)
        wrong: dict[str, JsonValue] = dict(_misreadings(params.grid, text))
        wrong |= _loopholes(params.grid, text)
        return under("function", wrong) | {
            "no_function": {},
            "misspelt_key": {"formula": text},
            "coefficients": {"function": [[1, 0], [0, -1]]},
            "bare_text": text,
        }

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the line and the conic that are nearest to the picture by least squares."""
        kinds = {"line by least squares": 1, "conic by least squares": 2}
        return under("function", {name: _fitted(params, kinds[name]) for name in kinds})

    def measure(self, params: Params) -> float:
        """Return the least total degree that draws every cell right."""
        for degree in range(1, _MAX_DEGREE + 1):
            if separate(params.grid, degree).possible:
                return degree
        raise GenerationError(f"no degree up to {_MAX_DEGREE} draws this picture")

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw pictures until one needs a degree in the wanted range."""
        terms = (point.max_degree + 1) * (point.max_degree + 2) // 2
        tries = min(_TRIES, max(2, _WORK // (terms * point.size**2)))
        for _ in range(tries if point.greedy == 1 else 20 * tries):
            grid = _cut_at_level(field(point, rng), point.fill)
            if grid is None:
                continue
            black = sum(row.count("#") for row in grid) / point.size**2
            # All must hold; of few terms, whether they can be is told soonest, and seldom so.
            if (
                _LEAST_SHARE <= black <= 1 - _LEAST_SHARE
                and (point.max_degree <= _FEW or self._is_far(point, grid))
                and separate(grid, point.max_degree).possible is True
                and separate(grid, point.min_degree - 1).possible is False
                and (point.max_degree > _FEW or self._is_far(point, grid))
            ):
                return Params(grid=grid)
        raise GenerationError(
            f"no picture of {point.size} x {point.size} cells that needs a degree from "
            f"{point.min_degree} to {point.max_degree} came up in {tries} tries; ask for a wider "
            "range of degrees, more blobs and waves if the degree is to be high, or a larger greedy"
        )

    def _is_far(self, point: Space, grid: tuple[str, ...]) -> bool:
        """Return whether no answer without insight comes nearer than the point allows."""
        if point.greedy == 1:
            return True
        return self.best_baseline(Params(grid=grid), rules.grade) <= point.greedy


@lru_cache(maxsize=64)
def _solve(params: Params) -> str:
    for degree in range(1, _MAX_DEGREE + 1):
        separation = separate(params.grid, degree)
        if separation.coefficients is not None:
            return as_text(separation.coefficients, len(params.grid))
    return row_by_row(params.grid)


def field(point: Space, rng: Stream) -> NDArray[np.float64]:
    """Return the smooth field that a picture is cut from, as a (row, column) array.

    The numbers are drawn in the order of the paper's generator.
    """
    n = point.size
    line = np.arange(n, dtype=float)
    total = np.zeros((n, n))

    def blob(
        spread: tuple[float, float], height: tuple[float, float]
    ) -> NDArray[np.float64]:
        cx, cy = rng.uniform(0, n - 1), rng.uniform(0, n - 1)
        width = rng.uniform(spread[0] * n, spread[1] * n)
        peak = rng.uniform(*height)
        across, down = (
            np.array([math.exp(-((k - c) ** 2) / (2 * width * width)) for k in line])
            for c in (cx, cy)
        )
        return np.asarray(peak * down[:, None] * across[None, :])

    for _ in range(point.blobs):
        total += blob((0.18, 0.38), (0.9, 1.6))
    for _ in range(point.hollows):
        total -= blob((0.25, 0.5), (0.4, 0.9))
    for _ in range(point.waves):
        fx, fy = rng.between(1, point.frequency), rng.between(1, point.frequency)
        phase = rng.uniform(0, 2 * math.pi)
        height = point.swell * rng.uniform(0.05, 0.12)
        height = height if rng.unit() > 0.5 else -height
        across = [2 * math.pi * k * fx / n for k in range(n)]
        down = [2 * math.pi * k * fy / n + phase for k in range(n)]
        sin_x, cos_x = (np.array([f(a) for a in across]) for f in (math.sin, math.cos))
        sin_y, cos_y = (np.array([f(a) for a in down]) for f in (math.sin, math.cos))
        total += height * (
            sin_y[:, None] * cos_x[None, :] + cos_y[:, None] * sin_x[None, :]
        )
    for _ in range(point.smoothing):
        for axis in (0, 1):
            edged = np.pad(
                total, [(1, 1) if k == axis else (0, 0) for k in (0, 1)], mode="edge"
            )
            low, middle, high = (
                np.take(edged, np.arange(start, start + n), axis) for start in range(3)
            )
            total = (low + 2 * middle + high) / 4
    return total


def _cut_at_level(total: NDArray[np.float64], fill: float) -> tuple[str, ...] | None:
    """Return the picture of what reaches this share's level; None if machines could differ."""
    ordered = np.sort(total, axis=None)
    k = int((1 - fill) * (total.size - 1))
    if k == 0 or ordered[k] - ordered[k - 1] < _LEAST_GAP:
        return None
    level = (ordered[k] + ordered[k - 1]) / 2
    return tuple(
        "".join("#" if value > level else "." for value in row) for row in total
    )


def _pixels_per_cell(n: int) -> int:
    return max(8, min(16, 768 // n))


def _ruled(grid: tuple[str, ...]) -> Iterator[str]:
    n = len(grid)
    if n > 10:
        yield "       " + "".join(
            str(x // 10) if x % 10 == 0 else " " for x in range(n)
        )
    yield "    x  " + "".join(str(x % 10) for x in range(n))
    for y, row in enumerate(grid):
        yield f"y = {y:<2} {row}" if n > 10 else f"y = {y}  {row}"


def _misreadings(grid: tuple[str, ...], text: str) -> Iterator[tuple[str, str]]:
    """Yield right formulas spoilt by one mistake that changes the picture."""
    n = len(grid)
    head, _, body = text.partition("return ")
    yield "black_and_white_exchanged", f"{head}return -({body})"
    # The factor is negative in one cell only.
    yield (
        "one_cell_wrong",
        f"{head}return ({body})*(2*(x-{n // 2})**2+2*(y-{n // 3})**2-1)",
    )
    if grid != tuple("".join(column) for column in zip(*grid, strict=True)):
        exchanged = body.translate(str.maketrans("xy", "yx"))
        yield "x_and_y_exchanged", f"{head}return {exchanged}"
    if grid != grid[::-1]:
        yield (
            "rows_from_the_bottom",
            head + "return " + body.replace("y", f"({n - 1}-y)"),
        )
    if grid != tuple(row[::-1] for row in grid):
        yield (
            "columns_from_the_right",
            head + "return " + body.replace("x", f"({n - 1}-x)"),
        )
    yield "all_black", f"{head}return x**2 + y**2 + 1"
    yield "all_white", f"{head}return 0*x*y"


def _loopholes(grid: tuple[str, ...], text: str) -> dict[str, JsonValue]:
    """Return texts that draw the picture if they are run as Python, and others that must not be."""
    head, _, body = text.partition("return ")
    table = (
        "["
        + ", ".join(f"[{', '.join(str(int(c == '#')) for c in row)}]" for row in grid)
        + "]"
    )
    n = len(grid)
    bits = int("".join(grid)[::-1].translate(str.maketrans("#.", "10")), 2)
    parts = {
        "head": head,
        "body": body,
        "text": text,
        "table": table,
        "n": n,
        "half": n // 2,
        "bits": f"{bits:#x}",
        "alike": body.replace("x", "\N{MATHEMATICAL ITALIC SMALL X}"),
        "carets": body.replace("**", "^"),
        "opened": "(" * 1_000,
        "closed": ")" * 1_000,
    }
    templates: dict[str, str] = data_file(__package__, "loopholes.json")
    return {name: template.format(**parts) for name, template in templates.items()}


def _fitted(params: Params, degree: int) -> str:
    """Return the polynomial nearest to 1 in black cells and -1 in white ones."""
    n = len(params.grid)
    target = np.array(
        [[1.0 if cell == "#" else -1.0 for cell in row] for row in params.grid]
    )
    line = np.polynomial.legendre.legvander(
        (2 * np.arange(n) - (n - 1)) / (n - 1), degree
    )
    pairs = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    terms = np.stack(
        [np.multiply.outer(line[:, j], line[:, i]).ravel() for i, j in pairs], axis=1
    )
    solution = np.linalg.lstsq(terms, target.ravel(), rcond=None)[0]
    coefficients = np.zeros((degree + 1, degree + 1))
    for (i, j), value in zip(pairs, solution, strict=True):
        coefficients[i, j] = value
    powers = _in_powers(coefficients, np.polynomial.legendre.leg2poly)
    return as_text(_whole_coefficients(powers, _SCALE, n), n)


def _in_powers(coefficients: Array, to_powers: Callable[[Array], Array]) -> Array:
    """Return coefficients [i][j] of orthogonal polynomials in u and v as those of their powers."""
    table = _powers_table(len(coefficients), to_powers)
    powers: Array = table.T @ coefficients @ table
    return powers


@lru_cache(maxsize=64)
def _powers_table(size: int, to_powers: Callable[[Array], Array]) -> Array:
    return np.array([np.pad(to_powers(row), (0, size))[:size] for row in np.eye(size)])


def _whole_coefficients(powers: Array, scale: float, n: int) -> list[list[int]]:
    """Return coefficients [i][j] as whole numbers, by powers of 2x-(n-1) and 2y-(n-1)."""
    degree = len(powers) - 1
    return [
        [
            round(power * scale) * (n - 1) ** max(0, degree - i - j)
            for j, power in enumerate(row)
        ]
        for i, row in enumerate(powers.tolist())
    ]


@dataclass(frozen=True, slots=True)
class Separation:
    """Whether there is a polynomial of one degree, None if that is too close to call, and which.

    Its coefficients are whole numbers by powers of 2x-(n-1) and 2y-(n-1), as [i][j].
    """

    possible: bool | None
    coefficients: list[list[int]] | None = None


def separate(rows: Sequence[str], degree: int) -> Separation:
    """Look for a polynomial of at most this total degree: > 0 at every #, < 0 at every other cell.

    The polynomial is the one with the largest margin whose Chebyshev coefficients lie in -1..1, and
    its coefficients are rounded as coarsely as they can be.
    """
    n = len(rows)
    sign = np.array([[1 if cell == "#" else -1 for cell in row] for row in rows])
    margin, chebyshev = _widest_margin(sign, degree)
    if not margin >= _CLEAR:
        return Separation(False if margin < _CLEAR / 100 else None)
    powers = _in_powers(chebyshev, np.polynomial.chebyshev.cheb2poly)
    powers = powers / np.abs(powers).max()
    line = [2 * i - (n - 1) for i in range(n)]
    for scale in _SCALES:
        rounded = _whole_coefficients(powers, scale, n)
        if bool((_cell_values(rounded, line) * sign > 0).all()):
            return Separation(True, rounded)
    return Separation(None)


def _widest_margin(sign: Array, degree: int) -> tuple[float, Array]:
    """Return the largest margin, NaN if the solver gave up, and coefficients of T_i(u) T_j(v).

    Cells are taken into the linear program only once the last solution falls short at them; it
    ends when none does, so the margin is that over all cells.
    """
    n = len(sign)
    grade = np.polynomial.chebyshev.chebvander(
        (2 * np.arange(n) - (n - 1)) / (n - 1), degree
    )
    pairs = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    # A row for every cell: the terms there, times the wanted sign.
    terms = np.stack(
        [np.multiply.outer(grade[:, j], grade[:, i]) for i, j in pairs], axis=-1
    )
    terms = (terms * sign[:, :, None]).reshape(n * n, len(pairs))
    active = _first_cells(sign)
    solution, margin = np.zeros(len(pairs)), 0.0
    for _ in range(_ROUNDS):
        cells = np.flatnonzero(active)
        optimum = _solve_linear_program(terms[cells])
        if optimum is None:
            return math.nan, np.zeros((degree + 1, degree + 1))
        solution, margin = optimum[:-1], float(optimum[-1])
        if margin < _CLEAR / 100:
            break  # more cells can only make it smaller
        short = terms @ solution - margin
        short[cells] = 0.0
        worst = np.argsort(short, kind="stable")[:_BATCH]
        worst = worst[short[worst] < -_CLEAR / 1000]
        if not len(worst):
            break
        active[worst] = True
    coefficients = np.zeros((degree + 1, degree + 1))
    for (i, j), value in zip(pairs, solution, strict=True):
        coefficients[i, j] = value
    return margin, coefficients


def _solve_linear_program(terms: Array) -> Array | None:
    """Return coefficients in -1..1 and, last, the rows' largest margin; None if it gave up."""
    import highspy  # noqa: PLC0415  (an extra that only building needs)

    matrix = np.column_stack([-terms, np.ones(len(terms))]).T
    nonzero = matrix != 0
    limits = np.append(np.ones(len(matrix) - 1), highspy.kHighsInf)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = matrix.shape
    program.col_cost_ = np.append(np.zeros(len(matrix) - 1), -1.0)
    program.col_lower_, program.col_upper_ = -limits, limits
    program.row_lower_ = np.full(len(terms), -highspy.kHighsInf)
    program.row_upper_ = np.zeros(len(terms))
    program.a_matrix_.num_col_, program.a_matrix_.num_row_ = matrix.shape
    program.a_matrix_.start_ = np.append(0, nonzero.sum(axis=1).cumsum())
    program.a_matrix_.index_ = nonzero.nonzero()[1]
    program.a_matrix_.value_ = matrix[nonzero]
    solver = highspy.Highs()  # type: ignore[no-untyped-call]  # it has no annotations
    for option, value in _OPTIONS.items():
        solver.setOptionValue(option, value)
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value)


def _first_cells(sign: Array) -> Array:
    """Return a mask of cells beside the other colour, and of every fourth row and column."""
    active = np.zeros(sign.shape, dtype=bool)
    active[::_STRIDE, ::_STRIDE] = True
    across, down = sign[:, 1:] != sign[:, :-1], sign[1:] != sign[:-1]
    active[:, 1:] |= across
    active[:, :-1] |= across
    active[1:] |= down
    active[:-1] |= down
    return active.ravel()


def _cell_values(coefficients: list[list[int]], line: list[int]) -> Array:
    """Return the values in all cells, as Python's whole numbers in a (row, column) array."""
    powers = np.array(
        [[u**k for u in line] for k in range(len(coefficients))], dtype=object
    )
    values: Array = powers.T @ np.array(coefficients, dtype=object).T @ powers
    return values


def as_text(coefficients: list[list[int]], n: int) -> str:
    """Return the function's text for coefficients as in `Separation`; both x and y occur."""
    u, v = f"(2*x-{n - 1})", f"(2*y-{n - 1})"
    terms = []
    for i, row in enumerate(coefficients):
        for j, value in enumerate(row):
            if value:
                factors = [str(abs(value)), _power(u, i), _power(v, j)]
                product = "*".join(factor for factor in factors if factor)
                terms.append(f"{'-' if value < 0 else '+'} {product}")
    body = " ".join(terms).removeprefix("+ ")
    return _function(body)


def _power(name: str, exponent: int) -> str:
    return "" if exponent == 0 else name if exponent == 1 else f"{name}**{exponent}"


def row_by_row(rows: Sequence[str]) -> str:
    """Return the text of a polynomial for any picture, made without a solver.

    Every row has a term that vanishes in all others and changes sign where the row changes colour.
    """
    n = len(rows)
    terms = []
    for r, row in enumerate(rows):
        if "#" in row:
            changes = [c for c in range(n - 1) if row[c] != row[c + 1]]
            factors = [f"(y-{j})**2" for j in range(n) if j != r]
            factors += [f"(2*x-{2 * c + 1})" for c in changes]
            terms.append(f"{'+' if row[-1] == '#' else '-'} {'*'.join(factors)}")
    return _function(" ".join(terms).removeprefix("+ "))


def _function(body: str) -> str:
    absent = "".join(f" + 0*{name}" for name in "xy" if name not in body)
    return f"def f(x, y):\n    return {body}{absent}"
