"""Finds whole-number polynomials whose sign redraws a picture.

`separate` solves a linear program over products of Chebyshev polynomials, rounds its solution and
checks the rounded polynomial in integers; `row_by_row` needs no solver and never fails.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 60
_BATCH = 200
_STRIDE = 4
_CLEAR = 1e-6
"""A margin from here on is real; below a hundredth of it there is none. Between them, a solver's
tolerance decides."""
_OPTIONS = {
    "output_flag": False,
    "presolve": "on",
    "solver": "simplex",
    "parallel": "off",
    "threads": 1,
    "random_seed": 0,
}
"""Of the solver: one thread that takes the same steps each time."""
_SCALES = tuple(4**k for k in range(3, 16))

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Separation:
    """What came of looking for a polynomial of one degree.

    Attributes:
        possible: True if there is one, False if there is none, None if it is too close to call.
        coefficients: whole numbers by powers of 2x-(n-1) and 2y-(n-1), as [i][j]; None if there
            is none.
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
    to_powers = _chebyshev_powers(degree)
    powers = to_powers.T @ chebyshev @ to_powers
    powers = powers / np.abs(powers).max()
    line = [2 * i - (n - 1) for i in range(n)]
    lift = [
        [(n - 1) ** max(0, degree - i - j) for j in range(degree + 1)] for i in range(degree + 1)
    ]
    for scale in _SCALES:
        rounded = [
            [int(np.rint(powers[i, j] * scale)) * lift[i][j] for j in range(degree + 1)]
            for i in range(degree + 1)
        ]
        if bool((_values(rounded, line) * sign > 0).all()):
            return Separation(True, rounded)
    return Separation(None)


def _widest_margin(sign: Array, degree: int) -> tuple[float, Array]:
    """Return the largest margin and the coefficients [i][j] of T_i(u) T_j(v) that reach it.

    The margin is NaN if the solver gave up.

    Cells are taken into the linear program only once the last solution falls short at them; it
    ends when none does, so the margin is that over all cells.
    """
    n = len(sign)
    grade = np.polynomial.chebyshev.chebvander((2 * np.arange(n) - (n - 1)) / (n - 1), degree)
    pairs = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    # A row for every cell: the terms there, times the wanted sign.
    terms = np.stack([np.multiply.outer(grade[:, j], grade[:, i]) for i, j in pairs], axis=-1)
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
    """Return coefficients in -1..1 and, last, the largest margin that every row of terms has.

    None if the solver gave up.
    """
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
    solver = highspy.Highs()
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


def _chebyshev_powers(degree: int) -> Array:
    """Return the coefficients of T_0, T_1 ... by powers, a row each."""
    rows = [np.polynomial.chebyshev.cheb2poly(row) for row in np.eye(degree + 1)]
    return np.array([np.pad(row, (0, degree + 1 - len(row))) for row in rows])


def _values(coefficients: list[list[int]], line: list[int]) -> Array:
    """Return the values in all cells, as Python's whole numbers in a (row, column) array."""
    powers = np.array([[u**k for u in line] for k in range(len(coefficients))], dtype=object)
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
    """Return the function with this formula; a letter that does not occur is put in, times 0."""
    absent = "".join(f" + 0*{name}" for name in "xy" if name not in body)
    return f"def f(x, y):\n    return {body}{absent}"
