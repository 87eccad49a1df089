"""An arithmetic expression as a tree with the value of every step."""

import operator
from collections.abc import Iterator, Sequence
from fractions import Fraction

from scbench.builders.arithmetic import read_tokens
from scbench.graders.shared.short_answers import number
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.expression_trees import Rules, tree_picture
from scbench.schemas.arithmetic import Answer, Params

# Operators of higher rank bind closer.
_RANKS = {"+": 1, "-": 1, "*": 2, "/": 2}
_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the tree; for a wrong answer, mark the first slip that would explain it."""
    answered = None if answer is None else number(answer.answer)
    return tree_picture(read_tokens(params.expression), rules(), answered, verdicts)


def rules() -> Rules:
    """Return the rules of arithmetic, with exact values."""
    return Rules(_RANKS, node_value, str, slips)


def node_value(words: str, below: Sequence[Fraction]) -> Fraction | None:
    """Return the value of a number or a step; None for a division by zero."""
    if not below:
        return Fraction(words)
    first, second = below
    if words == "/":
        return first / second if second else None
    result: Fraction = _OPERATORS[words](first, second)
    return result


def slips(_: str, below: Sequence[Fraction], value: Fraction) -> Iterator[Fraction]:
    """Yield values that a solver may mistake for the value of a step."""
    first, second = below
    # A lost sign, or a different operator.
    yield from (-value, abs(value), first + second, first - second)
    yield from (second - first, first * second)
    yield from (first + abs(second), abs(first) + second)
    # Off by one, or by ten.
    yield from (value + 1, value - 1, value + 10, value - 10)
    # A quotient rounded down, towards zero, or to the nearest integer.
    if second:
        yield from map(Fraction, (first // second, int(first / second), round(value)))
