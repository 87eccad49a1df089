"""Polynomials in x and y over the cells of a square picture: coefficients, values and texts.

Coefficients are tables [i][j]: i is the exponent or degree of the factor in x, and j that of the
factor in y.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def positions(n: int) -> Array:
    """Return the places of n rows or columns, evenly spaced from -1 to 1."""
    places: Array = (2 * np.arange(n) - (n - 1)) / (n - 1)
    return places


def exponents(degree: int) -> list[tuple[int, int]]:
    """Return the pairs of exponents with at most this sum."""
    return [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]


def terms_in_cells(factors: Array, degree: int) -> Array:
    """Return the terms up to a total degree in every cell, as (cell, term), row by row.

    The factors are polynomials of degree 0, 1 and so on at `positions`, as (position, degree).
    """
    products = [
        np.multiply.outer(factors[:, j], factors[:, i]).ravel()
        for i, j in exponents(degree)
    ]
    terms: Array = np.stack(products, axis=1)
    return terms


def coefficient_table(solution: Array, degree: int) -> Array:
    """Return coefficients in the order of `exponents` as a table."""
    table = np.zeros((degree + 1, degree + 1))
    for (i, j), value in zip(exponents(degree), solution, strict=True):
        table[i, j] = value
    return table


def in_powers(coefficients: Array, to_powers: Callable[[Array], Array]) -> Array:
    """Convert coefficients of products of orthogonal polynomials to coefficients of powers.

    ``to_powers`` converts those of one variable, such as `np.polynomial.chebyshev.cheb2poly`.
    """
    table = _powers_table(len(coefficients), to_powers)
    powers: Array = table.T @ coefficients @ table
    return powers


@lru_cache(maxsize=64)
def _powers_table(size: int, to_powers: Callable[[Array], Array]) -> Array:
    """Return the powers of each orthogonal polynomial, as (degree, exponent)."""
    rows = []
    for row in np.eye(size):
        # Polynomials of lower degree have fewer powers.
        powers = np.pad(to_powers(row), (0, size))
        rows.append(powers[:size])
    return np.array(rows)


def whole_coefficients(powers: Array, scale: float, n: int) -> list[list[int]]:
    """Return scaled coefficients as integers, by powers of 2x-(n-1) and 2y-(n-1)."""
    degree = len(powers) - 1
    table = []
    for i, row in enumerate(powers.tolist()):
        coefficients = []
        for j, power in enumerate(row):
            # Positions are divided by n - 1, so terms of lower degree need more factors n - 1.
            factor = (n - 1) ** max(0, degree - i - j)
            coefficients.append(round(power * scale) * factor)
        table.append(coefficients)
    return table


def cell_values(coefficients: list[list[int]], n: int) -> Array:
    """Return the values in all cells, as Python integers in a (row, column) array."""
    places = [2 * i - (n - 1) for i in range(n)]
    rows = []
    for k in range(len(coefficients)):
        row = [place**k for place in places]
        rows.append(row)
    powers = np.array(rows, dtype=object)
    values: Array = powers.T @ np.array(coefficients, dtype=object).T @ powers
    return values


def as_text(coefficients: list[list[int]], n: int) -> str:
    """Return the function's text for coefficients by powers of 2x-(n-1) and 2y-(n-1)."""
    terms = []
    for i, row in enumerate(coefficients):
        for j, value in enumerate(row):
            if value:
                sign = "-" if value < 0 else "+"
                x_factor = _power(f"(2*x-{n - 1})", i)
                y_factor = _power(f"(2*y-{n - 1})", j)
                terms.append(f"{sign} {abs(value)}{x_factor}{y_factor}")
    return _function(terms)


def _power(name: str, exponent: int) -> str:
    """Return a factor of a term, with the sign of multiplication; empty for exponent 0."""
    if exponent == 0:
        return ""
    return f"*{name}" if exponent == 1 else f"*{name}**{exponent}"


def row_by_row(rows: Sequence[str]) -> str:
    """Return the text of a polynomial for any picture, made without a solver.

    Every row has a term that is 0 in all other rows and changes sign where the row changes colour.
    """
    n = len(rows)
    terms = []
    for y, row in enumerate(rows):
        if "#" not in row:
            continue
        factors = [f"(y-{j})**2" for j in range(n) if j != y]
        changes = [x for x in range(n - 1) if row[x] != row[x + 1]]
        factors += [f"(2*x-{2 * x + 1})" for x in changes]
        # To the right of all changes, the product is positive.
        sign = "+" if row[-1] == "#" else "-"
        terms.append(f"{sign} {'*'.join(factors)}")
    return _function(terms)


def _function(terms: Sequence[str]) -> str:
    """Return the text of a function for signed terms; it contains both x and y."""
    body = " ".join(terms).removeprefix("+ ")
    for name in "xy":
        # A missing name is also absent from the addition for the other name.
        if name not in body:
            body += f" + 0*{name}"
    return f"def f(x, y):\n    return {body}"
