"""Arithmetic: the exact value of one expression with brackets and signs.

An example of the puzzle, with the answer -11 (with division, answers can be fractions):

    3 - (4 + -2) * 7

`read_tokens` reads it as 3, -, (, 4, +, -2, ), *, 7: a sign belongs to its number.
"""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import product

from pydantic import Field, JsonValue, model_validator

from scbench.base.seeding import Stream
from scbench.builders.shared.brackets import depth_of, draw_brackets, join_tokens
from scbench.builders.shared.builder import (
    Case,
    Composed,
    Point,
    chance,
    parameter,
    under,
)
from scbench.builders.shared.text_task import ComposingBuilder, reply_short
from scbench.schemas.arithmetic import Answer, Params

# Rank of each operator: higher ranks bind more tightly.
USUAL: Mapping[str, int] = {"+": 1, "-": 1, "*": 2, "/": 2}
_ALL_EQUAL = {"+": 1, "-": 1, "*": 1, "/": 1}
_SUMS_FIRST = {"+": 2, "-": 2, "*": 1, "/": 1}
_SIGN_RULE = (
    "A minus sign at the start, after an operator or after an opening bracket is the sign of the\n"
    "number that follows it: 5 - -3 is 8."
)
_WHOLE_NUMBER = reply_short("a whole number", quoted=False)
_FRACTION = reply_short("a whole number, or a fraction in lowest terms such as -2/3")
# A number without its sign, an operator or a bracket.
_PART = re.compile(r"\d+|[-+*/()]")
_NUMBER = re.compile(r"\d+")
# A minus sign that belongs to a number, because no value comes before it.
_SIGN = re.compile(r"(?:^|[-+*/(]) ?-")
# An operator without a space on one of its sides.
_TIGHT_OPERATOR = re.compile(r"[\d)](?:[-+*/]| [-+*/][^ ])")


class Space(Point):
    """Parameters of expressions."""

    length: int = parameter(
        10, "number of terms (whole numbers)", "scale", ge=3, le=500
    )
    max_depth: int = parameter(
        3, "maximum nesting depth of brackets", "depth", ge=0, le=8
    )
    min_number: int = parameter(-9, "smallest number", "scale", ge=-9, le=9)
    max_number: int = parameter(9, "largest number", "scale", ge=-9, le=9)
    prob_open: float = chance(
        0.4, "probability that brackets open before a term", "depth"
    )
    prob_dewhitespace: float = chance(
        0.0, "probability that a space is omitted", "interference"
    )
    division: bool = parameter(
        False,
        "whether to use /, so that answers can be fractions",
        "semantic",
    )

    @model_validator(mode="after")
    def _ordered(self) -> "Space":
        if self.min_number > self.max_number:
            raise ValueError(
                f"min_number ({self.min_number}) is above max_number ({self.max_number})"
            )
        return self


class ArithmeticCase(Case):
    """A case of arithmetic."""

    depth: int = Field(ge=0, description="nesting depth of brackets")


class ZeroDivisor(ZeroDivisionError):  # noqa: N818  (the name of the divisor)
    """A divisor is zero; ``at`` is the position of the operator."""

    def __init__(self, at: int) -> None:
        super().__init__(f"the divisor of operator {at} is zero")
        self.at = at


class TaskBuilder(ComposingBuilder[Params, Answer, Space]):
    """Expressions over small integers."""

    task = "arithmetic"
    version = 3
    draws = 2
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
        """Return the expression and the rules for reading it."""
        return prompt_of(params.expression)

    def reference(self, params: Params) -> Answer:
        """Evaluate the expression, products first, with recursion into brackets."""
        value = usual_value(read_tokens(params.expression))
        return Answer(answer=answer_of(value))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return values by wrong rules, near misses, and answers that are not numbers."""
        tokens = read_tokens(params.expression)
        right = value_of(tokens, USUAL)
        mistakes = misreadings(tokens)
        mistakes["one_more"] = right + 1
        mistakes["one_less"] = right - 1
        mistakes["other_sign"] = -right
        if right:
            mistakes["upside_down"] = 1 / right
        mistakes["rounded_down"] = Fraction(right.numerator // right.denominator)
        wrong: dict[str, JsonValue] = {}
        # A mistake can lead to the right value by chance.
        for name, value in mistakes.items():
            if value != right:
                wrong[name] = answer_of(value)
        wrong["expression"] = params.expression
        wrong["listed"] = [str(right)]
        wrong["two_numbers"] = f"{right} or {right + 1}"
        wrong["boolean"] = right == 1
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the nesting depth of brackets."""
        return {"depth": depth_of(params.expression)}

    def measure(self, params: Params) -> float:
        """Return the number of operations plus the number of pairs of brackets."""
        operations = terms_of(params) - 1
        return operations + params.expression.count("(")

    def blind_floor(self, params: Params) -> float:
        """Return the score of the best constant for this number of terms, with default parameters.

        More than 64 terms count as 64, where the score is already close to 0.
        """
        terms = min(64, terms_of(params))
        return self.constant_floor(length=terms, division="/" in params.expression)

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw numbers, operators and brackets; a division by zero becomes a multiplication."""
        brackets = draw_brackets(point.length, point.max_depth, point.prob_open, rng)
        terms = signed_terms(
            point.min_number, point.max_number, division=point.division
        )
        # One draw for all terms is faster than one for each.
        picks = rng.several(len(terms), point.length)
        tokens: list[str] = []
        for pick, opened, closed in zip(picks, *brackets, strict=True):
            operator, number = terms[pick]
            tokens.append(operator)
            tokens.extend("(" * opened)
            tokens.append(number)
            tokens.extend(")" * closed)
        del tokens[0]  # the operator before the first term
        if point.division:
            without_zero_divisors(tokens)
        expression = join_tokens(tokens, point.prob_dewhitespace, rng)
        return (
            {"expression": expression},
            prompt_of(expression),
            str(usual_value(tokens)),
            {"depth": depth_of(expression)},
        )


def prompt_of(expression: str) -> str:
    """Return the prompt, with only the rules that the expression needs."""
    products = "*"
    closing = _WHOLE_NUMBER
    if "/" in expression:
        products = "* and /"
        closing = _FRACTION
    rules = [
        f"The usual rules apply: brackets first, then {products}, then + and -.",
        "Operators of the same rank are worked out from left to right.",
    ]
    if _SIGN.search(expression):
        rules.append(_SIGN_RULE)
    if _TIGHT_OPERATOR.search(expression):
        rules.append("Spaces have no meaning, and some are missing.")
    if "/" in expression:
        rules.append("Use exact fractions; do not round.")
    rules_text = "\n".join(rules)
    return f"""\
Work out the value of this expression:

{expression}

{rules_text}

{closing}"""


def answer_of(value: int | Fraction) -> int | str:
    """Return an integer unchanged, and a fraction as text such as -2/3."""
    return value.numerator if value.denominator == 1 else str(value)


def terms_of(params: Params) -> int:
    """Return the number of terms of the expression."""
    return len(_NUMBER.findall(params.expression))


def misreadings(tokens: list[str]) -> dict[str, Fraction]:
    """Return the values that wrong rules give, without those that divide by zero."""
    unbracketed = [token for token in tokens if token not in {"(", ")"}]
    # A single minus is an operator and is kept.
    unsigned = [token.lstrip("-") or "-" for token in tokens]
    readings = {
        "left_to_right": partial(value_of, tokens, _ALL_EQUAL),
        "sums_first": partial(value_of, tokens, _SUMS_FIRST),
        "right_to_left": partial(value_of, tokens, USUAL, from_right=True),
        "brackets_ignored": partial(value_of, unbracketed, USUAL),
        "signs_ignored": partial(value_of, unsigned, USUAL),
    }
    values = {}
    for name, read in readings.items():
        try:
            values[name] = read()
        except ZeroDivisor:
            continue
    return values


@cache
def signed_terms(low: int, high: int, *, division: bool) -> tuple[tuple[str, str], ...]:
    """Return all pairs of an operator and the number after it."""
    operators = "+-*/" if division else "+-*"
    numbers = [str(number) for number in range(low, high + 1)]
    return tuple(product(operators, numbers))


def without_zero_divisors(tokens: list[str]) -> None:
    """Turn every division by zero into a multiplication, in place."""
    # The new multiplication can make another divisor zero, so everything is computed again.
    while True:
        try:
            usual_value(tokens)
        except ZeroDivisor as error:
            tokens[error.at] = "*"
        else:
            return


def read_tokens(text: str) -> list[str]:
    """Return numbers with their signs, operators and brackets, from left to right."""
    tokens: list[str] = []
    is_sign = False
    for part in _PART.findall(text):
        if is_sign:
            tokens[-1] += part
            is_sign = False
            continue
        # A minus after a number or a closing bracket subtracts; any other is a sign.
        after_value = bool(tokens) and (tokens[-1] == ")" or tokens[-1][-1].isdigit())
        is_sign = part == "-" and not after_value
        tokens.append(part)
    return tokens


def usual_value(tokens: Sequence[str]) -> int | Fraction:
    """Return the value by the usual rules; faster than `value_of`, with the same error."""
    # It stays with integers until it has to divide.
    value, _ = _sum_from(tokens, 0)
    return value


def _sum_from(tokens: Sequence[str], at: int) -> tuple[int | Fraction, int]:
    """Return the value from a position to the end of its bracket, and that end."""
    total: int | Fraction = 0
    # The product so far; the first number multiplies 1.
    factors: int | Fraction = 1
    operator = "*"
    operator_at = at
    while True:
        right: int | Fraction
        if tokens[at] == "(":
            right, at = _sum_from(tokens, at + 1)
        else:
            right = int(tokens[at])
        if operator == "*":
            factors *= right
        elif operator == "+":
            total += factors
            factors = right
        elif operator == "-":
            total += factors
            factors = -right
        elif right:
            factors = Fraction(factors) / right
        else:
            raise ZeroDivisor(operator_at)
        at += 1
        if at >= len(tokens) or tokens[at] == ")":
            return total + factors, at
        operator = tokens[at]
        operator_at = at
        at += 1


def value_of(
    tokens: Sequence[str], ranks: Mapping[str, int], *, from_right: bool = False
) -> Fraction:
    """Return the exact value of the tokens of `read_tokens`, with operators ranked from 1.

    Operators of equal rank are evaluated from the left, or optionally from the right.

    Raises:
        ZeroDivisor: the expression divides by zero.
    """
    # The right side of an operator contains only operators of higher rank, or also of equal rank.
    step = 0 if from_right else 1
    value, _ = _value_of_ranks(tokens, ranks, 0, 1, step)
    return value


def _value_of_ranks(
    tokens: Sequence[str], ranks: Mapping[str, int], at: int, least: int, step: int
) -> tuple[Fraction, int]:
    """Evaluate operations of at least this rank from a position; return the value and the end."""
    if tokens[at] == "(":
        value, at = _value_of_ranks(tokens, ranks, at + 1, 1, step)
    else:
        value = Fraction(int(tokens[at]))
    at += 1
    while at < len(tokens) and ranks.get(tokens[at], 0) >= least:
        operator = tokens[at]
        operator_at = at
        next_least = ranks[operator] + step
        right, at = _value_of_ranks(tokens, ranks, at + 1, next_least, step)
        if operator == "+":
            value += right
        elif operator == "-":
            value -= right
        elif operator == "*":
            value *= right
        elif right:
            value /= right
        else:
            raise ZeroDivisor(operator_at)
    return value, at
