"""Checks whether a number is the value of an expression.

The expression is evaluated in exact fractions with two stacks: one for values, one for operators
that wait for their right operand.
"""

from fractions import Fraction
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.graders.shared.answer_text import quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import number
from scbench.schemas.arithmetic import Answer, Params

VERSION = 3

CHECKS = {
    "readable": "The answer is a number.",
    "value": "The number is the value of the expression.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("readable",)

# Operators of higher rank bind closer. An open bracket blocks the operators before it.
_RANK = {"(": 0, "+": 1, "-": 1, "*": 2, "/": 2}


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the number is exactly the value, else 0."""
    checks = Checklist(CHECKS)
    value = number(answer.answer)
    wrong = f"{quote(answer.answer)} is not a number."
    if checks.readable(value, wrong, "There is no number to compare."):
        right = evaluate(params.expression)
        wrong = f"The value is {right}, not {quote(answer.answer)}."
        checks.expect("value", value == right, wrong)
    return checks.binary()


@lru_cache(maxsize=1024)
def evaluate(expression: str) -> Fraction:
    """Return the exact value of an expression.

    Raises:
        ValueError: the expression is not well formed.
        ZeroDivisionError: the expression divides by zero.
    """
    values: list[Fraction] = []
    waiting: list[str] = []
    at = 0
    wants_operand = True
    while at < len(expression):
        mark = expression[at]
        at += 1
        if mark == " ":
            continue
        if wants_operand and (mark.isdigit() or mark == "-"):
            start = at - 1
            while at < len(expression) and expression[at].isdigit():
                at += 1
            values.append(Fraction(int(expression[start:at])))
            wants_operand = False
        elif wants_operand and mark == "(":
            waiting.append(mark)
        elif not wants_operand and mark == ")":
            while waiting[-1] != "(":
                _apply(waiting.pop(), values)
            waiting.pop()
        elif not wants_operand and mark in _RANK:
            # Operators of equal rank are applied from left to right.
            while waiting and _RANK[waiting[-1]] >= _RANK[mark]:
                _apply(waiting.pop(), values)
            waiting.append(mark)
            wants_operand = True
        else:
            raise ValueError(
                f"{expression!r}: unexpected {mark!r} at position {at - 1}"
            )
    while waiting:
        _apply(waiting.pop(), values)
    (value,) = values
    return value


def _apply(operator: str, values: list[Fraction]) -> None:
    """Replace the last two values with the result of an operator."""
    second = values.pop()
    first = values.pop()
    if operator == "+":
        values.append(first + second)
    elif operator == "-":
        values.append(first - second)
    elif operator == "*":
        values.append(first * second)
    else:
        values.append(first / second)
