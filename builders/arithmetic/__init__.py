"""Arithmetic: one expression in brackets and signs, to be worked out exactly."""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import product

from pydantic import Field, JsonValue, model_validator

from scbench.base.seeding import Stream
from scbench.builders.arithmetic.expressions import (
    USUAL,
    read_tokens,
    usual_value,
    value_of,
    without_zero_divisors,
)
from scbench.builders.shared.brackets import depth_of, draw_brackets, join_tokens
from scbench.builders.shared.builder import Case, Composed, Point
from scbench.builders.shared.parameters import parameter
from scbench.builders.shared.text_task import ComposingBuilder, reply_short
from scbench.schemas.arithmetic import Answer, Params

_WHOLE_NUMBER = reply_short("a whole number", quoted=False)
_FRACTION = reply_short("a whole number, or a fraction in lowest terms such as -2/3")


class Space(Point):
    """Parameters of expressions."""

    length: int = parameter(10, "number of terms, which are whole numbers", "scale", ge=3, le=500)
    max_depth: int = parameter(3, "most brackets inside each other", "depth", ge=0, le=8)
    min_number: int = parameter(-9, "smallest number", "scale", ge=-9, le=9)
    max_number: int = parameter(9, "largest number", "scale", ge=-9, le=9)
    prob_open: float = parameter(0.4, "chance to open brackets before a term", "depth", ge=0, le=1)
    prob_dewhitespace: float = parameter(
        0.0, "chance that a blank is left out", "interference", ge=0, le=1
    )
    division: bool = parameter(
        False, "whether / is among the operators, and answers can be fractions", "semantic"
    )

    @model_validator(mode="after")
    def _ordered(self) -> "Space":
        if self.min_number > self.max_number:
            raise ValueError(f"min_number {self.min_number} is above max_number {self.max_number}")
        return self


class ArithmeticCase(Case):
    """A case of arithmetic."""

    depth: int = Field(ge=0, description="depth of brackets reached")


class TaskBuilder(ComposingBuilder[Params, Answer, Space]):
    """Expressions over small whole numbers."""

    task = "arithmetic"
    version = 2
    case_model = ArithmeticCase
    extremes = (
        {"length": 3, "max_depth": 0},
        {"length": 50, "max_depth": 8, "prob_open": 0.9, "prob_dewhitespace": 1, "division": True},
        {"length": 20, "max_depth": 4, "min_number": 0, "max_number": 1, "division": True},
        {"min_number": -9, "max_number": -9, "prob_dewhitespace": 0.5},
        {"min_number": 0, "max_number": 0, "division": True},
    )

    def prompt(self, params: Params) -> str:
        """Return the expression and the rules it is read by."""
        return _text(params.expression)

    def reference(self, params: Params) -> Answer:
        """Work it out, products first, with recursion into brackets."""
        return Answer(answer=_exact_text(usual_value(read_tokens(params.expression))))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return what other reading rules give, near misses, and answers that are not numbers."""
        tokens = read_tokens(params.expression)
        right = value_of(tokens, USUAL)
        mistakes: dict[str, Fraction | None] = {
            "left_to_right": _attempt(tokens, dict.fromkeys("+-*/", 1)),
            "sums_first": _attempt(tokens, {"*": 1, "/": 1, "+": 2, "-": 2}),
            "right_to_left": _attempt(tokens, USUAL, from_right=True),
            "brackets_ignored": _attempt([t for t in tokens if t not in {"(", ")"}], USUAL),
            "signs_ignored": _attempt([t if t == "-" else t.lstrip("-") for t in tokens], USUAL),
            "one_more": right + 1,
            "one_less": right - 1,
            "other_sign": -right,
            "upside_down": 1 / right if right else None,
            "rounded_down": Fraction(right.numerator // right.denominator),
        }
        wrong: dict[str, JsonValue] = {
            name: {"answer": _exact_text(value)}
            for name, value in mistakes.items()
            if value is not None and value != right
        }
        digits = str(right)
        return wrong | {
            "expression": {"answer": params.expression},
            "listed": {"answer": [digits]},
            "two_numbers": {"answer": f"{digits} or {right + 1}"},
            "boolean": {"answer": right == 1},
        }

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the depth of brackets reached."""
        return {"depth": depth_of(params.expression)}

    def blind_floor(self, params: Params) -> float:
        """Return what the best constant earns for so many terms, everything else at its default."""
        terms = len(re.findall(r"\d+", params.expression))
        return self.constant_floor(length=terms, division="/" in params.expression)

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw numbers, operators and brackets; a division by zero becomes a multiplication."""
        brackets = draw_brackets(point.length, point.max_depth, point.prob_open, rng)
        terms = _terms(point.min_number, point.max_number, division=point.division)
        picks = rng.several(len(terms), point.length)
        tokens: list[str] = []
        for term, opened, closed in zip(picks, *brackets, strict=True):
            if opened or closed:
                operator, number = terms[term]
                tokens += (operator, *"(" * opened, number, *")" * closed)
            else:
                tokens += terms[term]
        del tokens[0]  # the operator before the first term
        if point.division:
            without_zero_divisors(tokens)
        expression = join_tokens(tokens, point.prob_dewhitespace, rng)
        return (
            {"expression": expression},
            _text(expression),
            str(usual_value(tokens)),
            {"depth": brackets.depth()},
        )


@cache
def _terms(low: int, high: int, *, division: bool) -> tuple[tuple[str, str], ...]:
    """Return every operator with every number."""
    operators = "+-*/" if division else "+-*"
    return tuple(product(operators, map(str, range(low, high + 1))))


def _text(expression: str) -> str:
    """Return the expression and the rules it is read by."""
    products, exact, closing = "* comes", "", _WHOLE_NUMBER
    if "/" in expression:
        products, closing = "* and / come", _FRACTION
        exact = " Work exactly with fractions; nothing\nis rounded."
    return f"""\
Work out the value of this expression:

{expression}

The rules are the usual ones. What stands in brackets comes first. {products} before + and -;
operators of the same rank are worked out from left to right. A minus sign at the beginning, after
an operator or after an opening bracket belongs to the number that follows it: 5 - -3 is 8. Blanks
mean nothing, and some may be missing: 5--3 is 8, too.{exact}

{closing}"""


def _attempt(
    tokens: list[str], ranks: Mapping[str, int], *, from_right: bool = False
) -> Fraction | None:
    """Return what another reading gives; None if that divides by zero."""
    try:
        return value_of(tokens, ranks, from_right=from_right)
    except ZeroDivisionError:
        return None


def _exact_text(value: int | Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)
