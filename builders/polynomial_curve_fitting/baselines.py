"""Formulas too simple for any of the pictures."""

import numpy as np
from pydantic import JsonValue

from scbench.builders.polynomial_curve_fitting.separating_polynomial import as_text
from scbench.schemas.polynomial_curve_fitting import Params

_SCALE = 1e6


def baselines(params: Params) -> dict[str, JsonValue]:
    """Return the line and the conic that are nearest to the picture by least squares."""
    kinds = {"line by least squares": 1, "conic by least squares": 2}
    return {name: {"function": _fitted(params, degree)} for name, degree in kinds.items()}


def _fitted(params: Params, degree: int) -> str:
    """Return the polynomial nearest to 1 in black cells and -1 in white ones."""
    n = len(params.grid)
    target = np.array([[1.0 if cell == "#" else -1.0 for cell in row] for row in params.grid])
    line = np.polynomial.legendre.legvander((2 * np.arange(n) - (n - 1)) / (n - 1), degree)
    pairs = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    terms = np.stack([np.multiply.outer(line[:, j], line[:, i]).ravel() for i, j in pairs], axis=1)
    solution = np.linalg.lstsq(terms, target.ravel(), rcond=None)[0]
    coefficients = np.zeros((degree + 1, degree + 1))
    for (i, j), value in zip(pairs, solution, strict=True):
        coefficients[i, j] = value
    to_powers = np.array(
        [
            np.pad(np.polynomial.legendre.leg2poly(row), (0, degree))[: degree + 1]
            for row in np.eye(degree + 1)
        ]
    )
    powers = to_powers.T @ coefficients @ to_powers
    rounded = [
        [
            round(float(powers[i, j]) * _SCALE) * (n - 1) ** max(0, degree - i - j)
            for j in range(degree + 1)
        ]
        for i in range(degree + 1)
    ]
    return as_text(rounded, n)
