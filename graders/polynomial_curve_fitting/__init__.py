"""Does the sign of this polynomial redraw the picture?

The formula's text is parsed, never run, and worked out exactly in every cell. The score is the
fourth power of the share of cells that match, from three quarters on.
"""

from functools import lru_cache

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
from scbench.schemas.polynomial_curve_fitting import Answer, Params

VERSION = 3

CHECKS = {
    "text": "The text holds nothing but the permitted words, signs and numbers.",
    "form": "It is one function f(x, y) with a single return.",
    "polynomial": "Divisors are constants, exponents whole numbers, and the degree is permitted.",
    "variables": "Both x and y occur in the formula.",
    "defined": "No divisor is 0.",
    "two_colours": "The formula is positive in some cells but not in all.",
    "floor": "At least three quarters of the cells match.",
    "missed": "Every # cell is positive.",
    "surplus": "No . cell is positive.",
}
# Those of a formula that has values.
_PICTURE = ("two_colours", "floor", "missed", "surplus")
Mask = NDArray[np.bool_]


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the fourth power of the matched share, or 0 below three quarters."""
    checks = Checklist(CHECKS)
    formula = read_formula(checks, plain_lines(answer.function.strip()))
    if formula is None or not checks.all_passed:
        checks.skip(
            ("defined", *_PICTURE), "There is no formula that could be worked out."
        )
        return checks.binary()
    try:
        positive = positive_cells(formula, len(params.grid))
    except FormulaCostError as error:
        return checks.too_large(f"Working out the formula {error}.")
    except UndefinedError:
        checks.expect("defined", False, "A divisor is 0.")
        checks.skip(_PICTURE, "The formula has no value.")
        return checks.binary()
    checks.expect("defined", True, "")
    return compare_pictures(checks, black_cells(params), positive)


@lru_cache(maxsize=64)
def black_cells(params: Params) -> Mask:
    """Return where the picture is #, as a (row, column) array."""
    black: Mask = np.array([list(row) for row in params.grid]) == "#"
    return black


def read_formula(checks: Checklist, text: str) -> Formula | None:
    """Parse the text; return None if there is no formula."""
    too_large = ""
    if len(text) > MAX_CHARACTERS:
        too_large = (
            f"The text has {len(text)} characters; up to {MAX_CHARACTERS} are read."
        )
    elif bracket_depth(text) > MAX_BRACKETS:
        too_large = f"Brackets are nested deeper than {MAX_BRACKETS}."
    if too_large:
        checks.expect("resource_limit", False, too_large)
        return None
    foreign = foreign_tokens(text)
    checks.forbid_many(
        "text",
        foreign,
        "things do not belong in the text of a polynomial",
        lambda item: f"is {item[1]} at character {item[0]}",
    )
    if foreign:
        checks.skip(
            ("form", "polynomial", "variables"), "The text is not that of a polynomial."
        )
        return None
    try:
        formula = parse(text)
    except FormulaError as error:
        checks.expect("form", False, str(error))
        checks.skip(
            ("polynomial", "variables"), "There is no function f(x, y) to look at."
        )
        return None
    checks.expect("form", True, "")
    wrong = f"This is refused: {'; '.join(formula.faults)}."
    checks.expect("polynomial", not formula.faults, wrong)
    missing = [
        name for name, axis in (("x", X_AXIS), ("y", Y_AXIS)) if not formula.axes & axis
    ]
    wrong = f"Not in the formula: {' and '.join(missing)}."
    checks.expect("variables", not missing, wrong)
    return formula


def compare_pictures(checks: Checklist, black: Mask, positive: Mask) -> Verdict:
    """Check the picture of the formula, and return the verdict."""
    cells, positive_count = black.size, int(positive.sum())
    two_colours = checks.expect(
        "two_colours",
        0 < positive_count < cells,
        f"The formula is positive in {'every cell' if positive_count else 'no cell'}.",
        positive=positive_count,
    )
    matched = int((positive == black).sum())
    wrong = f"{matched} of {cells} cells match, which is less than three quarters."
    enough = checks.expect("floor", 4 * matched >= 3 * cells, wrong, matched=matched)
    for check_id, mask, fault in (
        ("missed", black & ~positive, "black cells are not positive"),
        ("surplus", positive & ~black, "white cells are positive"),
    ):
        checks.forbid_many(
            check_id,
            [[int(x), int(y)] for y, x in np.argwhere(mask)],
            fault,
            lambda cell: f"is x = {cell[0]}, y = {cell[1]}",
        )
    score = matched**4 / cells**4 if two_colours and enough else 0.0
    return checks.partial(
        score,
        matched=matched,
        cells=cells,
        drawn=[row.tobytes().decode() for row in np.where(positive, b"#", b".")],
    )
