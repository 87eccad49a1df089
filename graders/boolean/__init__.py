"""Is this the truth value of the expression?

Rows without brackets are worked out by splitting them: at OR, each part at XOR, each of those at
AND, and what is left is a value with NOTs before it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, reduce
from operator import xor

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import Value, entries, quote, truth
from scbench.schemas.boolean import LITERALS, Answer, Params

VERSION = 2

CHECKS = {
    "readable": "The answer is one truth value.",
    "value": "It is the truth value of the expression.",
}
OWN_FAULTS = ("readable",)

# In this order, no text can be split in two ways: no operator begins with T, F or OF.
_WORD = re.compile(r"NOT|AND|XOR|OR|TRUE|FALSE|YES|NO|ON|OFF|[TF01()]| +")


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer is the truth value, in the words of any format, else 0.

    Of several expressions all values must be right.
    """
    checks = Checklist(CHECKS)
    words = LITERALS[params.format]
    right = [evaluate(line, *words) for line in params.expression.splitlines()]
    values = read_values(answer.answer, len(right))
    amount = "one truth value" if len(right) == 1 else f"{len(right)} truth values"
    wrong = f"{quote(answer.answer)} is not {amount}."
    if checks.readable(values, wrong, "There is no truth value."):
        said = " ".join(words[not value] for value in right)
        wrong = f"The value is {said}, not {quote(answer.answer)}."
        checks.expect("value", values == right, wrong)
    return checks.binary()


def read_values(answer: Value, n: int) -> list[bool] | None:
    """Return the truth values that an answer lists; None unless there are so many."""
    parts = [answer] if n == 1 else entries(answer) or ()
    values = [value for value in map(truth, parts) if value is not None]
    return values if len(values) == len(parts) == n else None


@lru_cache(maxsize=1024)
def evaluate(expression: str, true: str, false: str) -> bool:
    """Return the truth value of values, NOT, AND, XOR, OR and brackets, given the words for both.

    Raises:
        ValueError: it is not well formed.
    """
    rows: list[list[str | bool]] = [[]]
    end = 0
    for match in _WORD.finditer(expression):
        if match.start() != end:
            break
        word, end = match.group(), match.end()
        if word == "(":
            rows.append([])
        elif word == ")" and len(rows) > 1:
            value = _row_value(rows.pop())
            rows[-1].append(value)
        elif word in {true, false}:
            rows[-1].append(word == true)
        elif word.strip():
            rows[-1].append(word)
    if end != len(expression) or len(rows) != 1:
        raise ValueError(f"{expression!r} is not well formed at place {end}")
    return _row_value(rows[0])


def _row_value(row: Sequence[str | bool]) -> bool:
    return any(
        reduce(
            xor,
            (all(map(_negated, _terms(term, "AND"))) for term in _terms(part, "XOR")),
        )
        for part in _terms(row, "OR")
    )


def _terms(row: Sequence[str | bool], operator: str) -> Iterator[Sequence[str | bool]]:
    start = 0
    for at, word in enumerate(row):
        if word == operator:
            yield row[start:at]
            start = at + 1
    yield row[start:]


def _negated(words: Sequence[str | bool]) -> bool:
    chain, value = words[:-1], words[-1] if words else None
    if not isinstance(value, bool) or any(word != "NOT" for word in chain):
        raise ValueError(f"{words!r} is no value with NOTs before it")
    return value != (len(chain) % 2 == 1)
