"""Polynomials with honest mistakes, and their scores by the rules of the prompt."""

from collections.abc import Sequence

from scbench.builders.polynomial_curve_fitting.polynomials import (
    Array,
    as_text,
    cell_values,
)

# Significant digits of rounded coefficients.
_DIGITS = 3
# The numbers in the prompt's rules for the score.
_LEAST_SHARE = 0.75
_POWER = 4


def faulty_polynomials(
    coefficients: Sequence[Sequence[int]], black: Array
) -> dict[str, tuple[str, float]]:
    """Return texts of a correct polynomial with honest mistakes, by name, each with its score.

    Args:
        coefficients: coefficients of the polynomial, by powers of 2x-(n-1) and 2y-(n-1).
        black: the picture as a (row, column) array, true in black cells.
    """
    n = len(black)
    rounded = []
    tenfold = []
    for row in coefficients:
        rounded.append([round_digits(value) for value in row])
        tenfold.append([10 * value for value in row])
    tables = {
        "rounded_to_three_digits": rounded,
        "constant_a_tenth_larger": with_constant(coefficients, 11, 10),
        "constant_left_out": with_constant(coefficients, 0, 1),
        "all_coefficients_tenfold": tenfold,
    }
    return {
        name: (as_text(table, n), score_of_table(table, black))
        for name, table in tables.items()
    }


def with_constant(
    coefficients: Sequence[Sequence[int]], numerator: int, denominator: int
) -> list[list[int]]:
    """Return coefficients whose constant term is multiplied by a fraction and rounded."""
    table = [list(row) for row in coefficients]
    table[0][0] = table[0][0] * numerator // denominator
    return table


def round_digits(value: int) -> int:
    """Round a whole number to a few digits."""
    return round(value, _DIGITS - len(str(abs(value))))


def score_of_table(coefficients: list[list[int]], black: Array) -> float:
    """Return the score of a polynomial by the prompt's formula."""
    positive = cell_values(coefficients, len(black)) > 0
    share = float((positive == black).mean())
    if share < _LEAST_SHARE or positive.all() or not positive.any():
        return 0.0
    return share**_POWER
