"""An arithmetic expression as a tree with the value of every step."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from scbench.base.model import Verdict
from scbench.builders.arithmetic import read_tokens
from scbench.graders.shared.short_answers import number
from scbench.report.picture import Picture
from scbench.report.pictures.shared.expression_trees import Rules, tree_picture
from scbench.schemas.arithmetic import Answer, Params


def draw(params: Params, answer: Answer | None, verdicts: Sequence[Verdict]) -> Picture:
    """Draw the tree; with a wrong answer, the first step whose slip would give it."""
    given = None if answer is None else number(answer.answer)
    return tree_picture(read_tokens(params.expression), _RULES, given, verdicts)


def _value(words: str, below: Sequence[Fraction]) -> Fraction | None:
    if not below:
        return Fraction(words)
    left, right = below
    match words:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return left / right if right else None


def _slips(_: str, below: Sequence[Fraction], value: Fraction) -> Iterator[Fraction]:
    """Yield what a step is easily taken for: a sign lost, another operator, a miscount by one."""
    left, right = below
    yield from (-value, abs(value), left + right, left - right, right - left, left * right)
    yield from (left + abs(right), abs(left) + right, value + 1, value - 1, value + 10, value - 10)
    if right:
        yield from (Fraction(left // right), Fraction(int(left / right)), Fraction(round(value)))


_RULES = Rules({"+": 1, "-": 1, "*": 2, "/": 2}, _value, str, _slips)
