"""Arithmetic: one expression in brackets and signs, to be worked out exactly."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

from pydantic import Field, JsonValue, model_validator

from scbench.base.seeding import Stream
from scbench.builders.shared.brackets import depth_of, draw_brackets, join_tokens
from scbench.builders.shared.builder import Case, Composed, Point, chance, parameter
from scbench.builders.shared.text_task import ComposingBuilder, reply_short
from scbench.schemas.arithmetic import Answer, Params

_WHOLE_NUMBER = reply_short("a whole number", quoted=False)
_FRACTION = reply_short("a whole number, or a fraction in lowest terms such as -2/3")
# Rank of each operator: the higher binds closer.
USUAL: Mapping[str, int] = {"+": 1, "-": 1, "*": 2, "/": 2}
_PART = re.compile(r"\d+|[-+*/()]")


class Space(Point):
    """Parameters of expressions."""

    length: int = parameter(
        10, "number of terms, which are whole numbers", "scale", ge=3, le=500
    )
    max_depth: int = parameter(
        3, "most brackets inside each other", "depth", ge=0, le=8
    )
    min_number: int = parameter(-9, "smallest number", "scale", ge=-9, le=9)
    max_number: int = parameter(9, "largest number", "scale", ge=-9, le=9)
    prob_open: float = chance(0.4, "chance to open brackets before a term", "depth")
    prob_dewhitespace: float = chance(
        0.0, "chance that a blank is left out", "interference"
    )
    division: bool = parameter(
        False,
        "whether / is among the operators, and answers can be fractions",
        "semantic",
    )

    @model_validator(mode="after")
    def _ordered(self) -> "Space":
        if self.min_number > self.max_number:
            raise ValueError(
                f"min_number {self.min_number} is above max_number {self.max_number}"
            )
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
        {
            "length": 50,
            "max_depth": 8,
            "prob_open": 0.9,
            "prob_dewhitespace": 1,
            "division": True,
        },
        {
            "length": 20,
            "max_depth": 4,
            "min_number": 0,
            "max_number": 1,
            "division": True,
        },
        {"min_number": -9, "max_number": -9, "prob_dewhitespace": 0.5},
        {"min_number": 0, "max_number": 0, "division": True},
    )

    def prompt(self, params: Params) -> str:
        """Return the expression and the rules it is read by."""
        return _expression_prompt(params.expression)

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
            "brackets_ignored": _attempt(
                [t for t in tokens if t not in {"(", ")"}], USUAL
            ),
            "signs_ignored": _attempt(
                [t if t == "-" else t.lstrip("-") for t in tokens], USUAL
            ),
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

    def measure(self, params: Params) -> float:
        """Return the number of operations, and one more for each pair of brackets."""
        operations = len(re.findall(r"\d+", params.expression)) - 1
        return operations + params.expression.count("(")

    def blind_floor(self, params: Params) -> float:
        """Return what the best constant earns for so many terms, everything else at its default.

        Of more than 64 terms it is taken to earn as much as of 64, which is hardly anything.
        """
        terms = min(64, len(re.findall(r"\d+", params.expression)))
        return self.constant_floor(length=terms, division="/" in params.expression)

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw numbers, operators and brackets; a division by zero becomes a multiplication."""
        brackets = draw_brackets(point.length, point.max_depth, point.prob_open, rng)
        terms = _signed_terms(
            point.min_number, point.max_number, division=point.division
        )
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
            _expression_prompt(expression),
            str(usual_value(tokens)),
            {"depth": brackets.depth()},
        )


@cache
def _signed_terms(
    low: int, high: int, *, division: bool
) -> tuple[tuple[str, str], ...]:
    operators = "+-*/" if division else "+-*"
    return tuple(product(operators, map(str, range(low, high + 1))))


def _expression_prompt(expression: str) -> str:
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


class ZeroDivisor(ZeroDivisionError):  # noqa: N818  (the name of what was met)
    """Something is divided by zero; ``at`` is the position of the operator."""

    def __init__(self, at: int) -> None:
        super().__init__(f"the divisor of operator {at} is zero")
        self.at = at


def read_tokens(text: str) -> list[str]:
    """Return numbers with their signs, operators and brackets, from left to right."""
    tokens: list[str] = []
    signed = False
    for part in _PART.findall(text):
        if signed:
            tokens[-1] += part
            signed = False
        else:
            # After a number or a closing bracket it takes away; else it belongs to what follows.
            signed = part == "-" and not (
                tokens and (tokens[-1] == ")" or tokens[-1][-1].isdigit())
            )
            tokens.append(part)
    return tokens


def usual_value(tokens: Sequence[str]) -> int | Fraction:
    """Return what `value_of` gives by the usual rules, quicker; the same error."""
    return _sum(tokens, 0)[0]


def _sum(tokens: Sequence[str], at: int) -> tuple[int | Fraction, int]:
    """Return the value of what stands from a place to the end of its bracket, and that end."""
    total: int | Fraction = 0
    term: int | Fraction = 1
    operator, place, end = "*", at, len(tokens)
    while True:
        right: int | Fraction
        if tokens[at] == "(":
            right, at = _sum(tokens, at + 1)
        else:
            right = int(tokens[at])
        if operator == "*":
            term *= right
        elif operator == "+":
            total += term
            term = right
        elif operator == "-":
            total += term
            term = -right
        elif right:
            term = Fraction(term) / right
        else:
            raise ZeroDivisor(place)
        at += 1
        if at >= end or tokens[at] == ")":
            return total + term, at
        operator, place = tokens[at], at
        at += 1


def value_of(
    tokens: Sequence[str], ranks: Mapping[str, int], *, from_right: bool = False
) -> Fraction:
    """Return the exact value of what `read_tokens` gave, with operators ranked from 1.

    Raises:
        ZeroDivisor: it divides by zero.
    """
    value, _ = _value_of_ranks(tokens, ranks, 0, 1, step=0 if from_right else 1)
    return value


def _value_of_ranks(
    tokens: Sequence[str], ranks: Mapping[str, int], at: int, least: int, step: int
) -> tuple[Fraction, int]:
    """Return the value of the operations of this rank and higher from a place on, and its end."""
    if tokens[at] == "(":
        value, at = _value_of_ranks(tokens, ranks, at + 1, 1, step)
    else:
        value = Fraction(int(tokens[at]))
    at += 1
    while at < len(tokens) and ranks.get(tokens[at], 0) >= least:
        place, operator = at, tokens[at]
        right, at = _value_of_ranks(tokens, ranks, at + 1, ranks[operator] + step, step)
        if operator == "+":
            value += right
        elif operator == "-":
            value -= right
        elif operator == "*":
            value *= right
        elif right:
            value /= right
        else:
            raise ZeroDivisor(place)
    return value, at


def without_zero_divisors(tokens: list[str]) -> None:
    """Turn every division by zero into a multiplication, in place."""
    while True:
        try:
            usual_value(tokens)
        except ZeroDivisor as met:
            tokens[met.at] = "*"
        else:
            return
