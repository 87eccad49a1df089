"""A solver that separates black from white cells by a polynomial, with linear programming.

It solves a linear program over products of Chebyshev polynomials, rounds the solution and checks
the rounded polynomial in integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scbench.builders.polynomial_curve_fitting.polynomials import (
    Array,
    cell_values,
    coefficient_table,
    in_powers,
    positions,
    terms_in_cells,
    whole_coefficients,
)

# Maximum number of rounds that add cells to the linear program, and cells added in a round.
_ROUNDS = 60
_BATCH = 200
# The first cells are those at the border of the colours, and those in every fourth row and
# column.
_STRIDE = 4
# A margin of at least this is real; below a hundredth of it, there is no margin. Between the
# two, the solver's tolerance decides.
_CLEAR = 1e-6
# Scales for rounding, the coarsest first.
_SCALES = tuple(4**k for k in range(3, 16))
# Options of the solver: one thread, so that it takes the same steps each time.
_OPTIONS: dict[str, bool | int | str] = {
    "output_flag": False,
    "presolve": "on",
    "solver": "simplex",
    "parallel": "off",
    "threads": 1,
    "random_seed": 0,
}


@dataclass(frozen=True, slots=True)
class Separation:
    """The result of a search for a polynomial of one degree.

    Attributes:
        possible: whether there is such a polynomial; None if that is too close to call.
        coefficients: integers [i][j] by powers of 2x-(n-1) and 2y-(n-1); None without one.
    """

    possible: bool | None
    coefficients: list[list[int]] | None = None


class Optimum(NamedTuple):
    """The solution of a linear program: the largest margin, and the coefficients of the terms."""

    margin: float
    coefficients: Array


def separate(rows: Sequence[str], degree: int) -> Separation:
    """Look for a polynomial of at most this total degree: > 0 at every #, < 0 at every other cell.

    It is the polynomial with the largest margin among those with Chebyshev coefficients in -1..1.
    Its coefficients are rounded as coarsely as possible.
    """
    n = len(rows)
    sign = np.array([[1 if cell == "#" else -1 for cell in row] for row in rows])
    optimum = widest_margin(sign, degree)
    if optimum is None:
        return Separation(None)
    if optimum.margin < _CLEAR:
        is_clear = optimum.margin < _CLEAR / 100
        return Separation(False if is_clear else None)
    chebyshev = coefficient_table(optimum.coefficients, degree)
    powers = in_powers(chebyshev, np.polynomial.chebyshev.cheb2poly)
    powers = powers / np.abs(powers).max()
    for scale in _SCALES:
        rounded = whole_coefficients(powers, scale, n)
        if (cell_values(rounded, n) * sign > 0).all():
            return Separation(True, rounded)
    return Separation(None)


def widest_margin(sign: Array, degree: int) -> Optimum | None:
    """Return the polynomial with the largest margin over all cells; None if the solver gave up.

    A cell joins the linear program once a solution falls short of its margin there. The search ends
    when there is no such cell, so the margin is that over all cells.
    """
    factors = np.polynomial.chebyshev.chebvander(positions(len(sign)), degree)
    # The terms in every cell, times the sign of its colour.
    terms = terms_in_cells(factors, degree) * sign.reshape(-1, 1)
    active = first_cells(sign)
    optimum: Optimum | None = None
    for _ in range(_ROUNDS):
        cells = np.flatnonzero(active)
        optimum = solve_linear_program(terms[cells])
        # More cells can only make the margin smaller.
        if optimum is None or optimum.margin < _CLEAR / 100:
            return optimum
        short = terms @ optimum.coefficients - optimum.margin
        short[cells] = 0.0
        worst = np.argsort(short, kind="stable")[:_BATCH]
        worst = worst[short[worst] < -_CLEAR / 1000]
        if not len(worst):
            return optimum
        active[worst] = True
    return optimum


def first_cells(sign: Array) -> Array:
    """Return a mask of cells next to the other colour, and of every fourth row and column."""
    active = np.zeros(sign.shape, dtype=bool)
    active[::_STRIDE, ::_STRIDE] = True
    across = sign[:, 1:] != sign[:, :-1]
    active[:, 1:] |= across
    active[:, :-1] |= across
    down = sign[1:] != sign[:-1]
    active[1:] |= down
    active[:-1] |= down
    return active.ravel()


def solve_linear_program(terms: Array) -> Optimum | None:
    """Find the coefficients in -1..1 that maximise the smallest value in the cells.

    The terms are a (cell, term) array. Return None if the solver gave up.
    """
    import highspy  # noqa: PLC0415  (an extra that only building needs)

    # A row for each coefficient and one for the margin: in every cell, margin - value <= 0.
    matrix = np.column_stack([-terms, np.ones(len(terms))]).T
    nonzero = matrix != 0
    limits = np.append(np.ones(len(matrix) - 1), highspy.kHighsInf)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = matrix.shape
    program.col_cost_ = np.append(np.zeros(len(matrix) - 1), -1.0)
    program.col_lower_ = -limits
    program.col_upper_ = limits
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
    solution = np.array(solver.getSolution().col_value)
    return Optimum(float(solution[-1]), solution[:-1])
