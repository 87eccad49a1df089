"""Reading arithmetic expressions and working them out, by the usual rules or by mistaken ones."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

USUAL: Mapping[str, int] = {"+": 1, "-": 1, "*": 2, "/": 2}
"""Rank of each operator: the higher binds closer."""

_PART = re.compile(r"\d+|[-+*/()]")


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
    """Return the exact value of an expression by the usual rules; what `value_of` gives, quicker.

    Raises:
        ZeroDivisor: it divides by zero.
    """
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
    """Return the exact value of an expression.

    Args:
        tokens: as `read_tokens` gives them.
        ranks: rank of each operator, at least 1; the usual ones are `USUAL`.
        from_right: whether operators of one rank are worked out from right to left.

    Raises:
        ZeroDivisor: it divides by zero.
    """
    value, _ = _chain(tokens, ranks, 0, 1, step=0 if from_right else 1)
    return value


def _chain(
    tokens: Sequence[str], ranks: Mapping[str, int], at: int, least: int, step: int
) -> tuple[Fraction, int]:
    """Return the value of the operations of this rank and higher from a place on, and its end."""
    if tokens[at] == "(":
        value, at = _chain(tokens, ranks, at + 1, 1, step)
    else:
        value = Fraction(int(tokens[at]))
    at += 1
    while at < len(tokens) and ranks.get(tokens[at], 0) >= least:
        place, operator = at, tokens[at]
        right, at = _chain(tokens, ranks, at + 1, ranks[operator] + step, step)
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
