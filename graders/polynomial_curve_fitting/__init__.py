"""Grades how well the sign of a polynomial redraws a picture.

The formula's text is parsed, never run, and computed exactly in every cell. The score is the fourth
power of the share of cells that match, or 0 if that share is below three quarters.
"""

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from scbench.base.model import Verdict
from scbench.graders.polynomial_curve_fitting.formula import (
    MAX_BRACKETS,
    MAX_CHARACTERS,
    X_AXIS,
    Y_AXIS,
    Formula,
    FormulaError,
    bracket_depth,
    foreign_tokens,
    parse,
    plain_lines,
)
from scbench.graders.polynomial_curve_fitting.formula_values import (
    FormulaCostError,
    UndefinedError,
    positive_cells,
)
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.sentences import with_total
from scbench.schemas.polynomial_curve_fitting import Answer, Params

VERSION = 4

CHECKS = {
    "text": "The text contains only the permitted words, signs and numbers.",
    "form": "The text is one function f(x, y) with a single return.",
    "polynomial": "Divisors are constants, exponents are whole numbers, the degree is allowed.",
    "variables": "Both x and y occur in the formula.",
    "defined": "No divisor is 0.",
    "two_colours": "The formula is positive in some cells but not in all.",
    "floor": "At least three quarters of the cells match.",
    "missed": "The formula is positive in every black cell.",
    "surplus": "The formula is positive in no white cell.",
}
# The checks of a formula that has values.
_PICTURE = ("two_colours", "floor", "missed", "surplus")
Mask = NDArray[np.bool_]


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the fourth power of the matched share, or 0 below three quarters."""
    checks = Checklist(CHECKS)
    formula = read_formula(
        checks, plain_lines(answer.function.strip()), params.max_degree
    )
    if formula is None or not checks.all_passed:
        checks.skip(("defined", *_PICTURE), "There is no valid formula to evaluate.")
        return checks.binary()
    try:
        positive = positive_cells(formula, len(params.grid))
    except FormulaCostError as error:
        return checks.too_large(f"Computing the formula {error}.")
    except UndefinedError:
        checks.expect("defined", False, "A divisor is 0.")
        checks.skip(_PICTURE, "The formula cannot be evaluated.")
        return checks.binary()
    checks.expect("defined", True, "")
    return compare_pictures(checks, black_cells(params), positive)


@lru_cache(maxsize=64)
def black_cells(params: Params) -> Mask:
    """Return a mask (row, column) of the black cells."""
    black: Mask = np.array([list(row) for row in params.grid]) == "#"
    return black


def read_formula(
    checks: Checklist, text: str, max_degree: int | None
) -> Formula | None:
    """Parse the text; return None if there is no formula."""
    too_large = ""
    if len(text) > MAX_CHARACTERS:
        too_large = f"The text has {len(text)} characters; at most {MAX_CHARACTERS} are allowed."
    elif bracket_depth(text) > MAX_BRACKETS:
        too_large = f"Brackets are nested more than {MAX_BRACKETS} levels deep."
    if too_large:
        checks.expect("resource_limit", False, too_large)
        return None
    foreign = foreign_tokens(text)
    checks.forbid(
        "text",
        foreign,
        lambda item: with_total(
            f"At character {item[0]}, {item[1]} is not allowed", len(foreign), "faults"
        ),
    )
    if foreign:
        checks.skip(
            ("form", "polynomial", "variables"),
            "The text contains more than a polynomial.",
        )
        return None
    try:
        formula = parse(text)
    except FormulaError as error:
        checks.expect("form", False, str(error))
        checks.skip(
            ("polynomial", "variables"), "There is no function f(x, y) to check."
        )
        return None
    checks.expect("form", True, "")
    faults = list(formula.faults)
    if max_degree is not None and formula.degree > max_degree:
        faults.append(f"the total degree is {formula.degree}, above {max_degree}")
    wrong = f"The formula is not an allowed polynomial: {'; '.join(faults)}."
    checks.expect("polynomial", not faults, wrong)
    variables = {"x": X_AXIS, "y": Y_AXIS}
    missing = [name for name, axis in variables.items() if not formula.axes & axis]
    wrong = f"The formula does not contain {' or '.join(missing)}."
    checks.expect("variables", not missing, wrong)
    return formula


def cell_sentence(wrong_cells: Sequence[list[int]], fault: str, cell: list[int]) -> str:
    """Return a sentence about the first wrong cell."""
    x, y = cell
    sentence = f"The formula {fault} x = {x}, y = {y}"
    return with_total(sentence, len(wrong_cells), "cells")


def compare_pictures(checks: Checklist, black: Mask, positive: Mask) -> Verdict:
    """Check the picture of the formula, and return the verdict."""
    cells = black.size
    positive_count = int(positive.sum())
    two_colours = checks.expect(
        "two_colours",
        0 < positive_count < cells,
        f"The formula is positive in {'every cell' if positive_count else 'no cell'}.",
        positive=positive_count,
    )
    matched = int((positive == black).sum())
    wrong = f"The share of cells that match is {matched}/{cells}, below three quarters."
    enough = checks.expect("floor", 4 * matched >= 3 * cells, wrong, matched=matched)
    for check_id, mask, fault in (
        ("missed", black & ~positive, "is not positive in the black cell"),
        ("surplus", positive & ~black, "is positive in the white cell"),
    ):
        wrong_cells = [[int(x), int(y)] for y, x in np.argwhere(mask)]
        checks.forbid(check_id, wrong_cells, partial(cell_sentence, wrong_cells, fault))
    score = matched**4 / cells**4 if two_colours and enough else 0.0
    return checks.partial(
        score,
        matched=matched,
        cells=cells,
        drawn=[row.tobytes().decode() for row in np.where(positive, b"#", b".")],
    )
