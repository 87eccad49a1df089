"""Checks whether a truth value is the value of an expression.

Rows without brackets are evaluated by splitting them at OR, each part at XOR, and each
of these parts at AND. The remaining parts are values with NOTs before them.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.answer_text import Value, quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import entries, truth
from scbench.schemas.boolean import LITERALS, Answer, Params

VERSION = 2

CHECKS = {
    "readable": "The answer is one truth value for each expression.",
    "value": "The answer is the truth value of each expression.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("readable",)

# This order makes the split unique: no operator begins with T, F or OF.
_WORD = re.compile(r"NOT|AND|XOR|OR|TRUE|FALSE|YES|NO|ON|OFF|[TF01()]| +")
# Operators and truth values, without brackets.
Row = Sequence[str | bool]


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer is the truth value, in the words of any notation, else 0.

    If there are several expressions, all values must be right.
    """
    checks = Checklist(CHECKS)
    true, false = LITERALS[params.format]
    right = [evaluate(line, true, false) for line in params.expression.splitlines()]
    values = read_values(answer.answer, len(right))
    amount = counted(len(right), "truth value")
    wrong = f"{quote(answer.answer)} is not {amount}."
    if checks.readable(values, wrong, "There is no truth value to compare."):
        words = " ".join(true if value else false for value in right)
        subject = "The value is" if len(right) == 1 else "The values are"
        wrong = f"{subject} {words}, not {quote(answer.answer)}."
        checks.expect("value", values == right, wrong)
    return checks.binary()


def read_values(answer: Value, n: int) -> list[bool] | None:
    """Return the truth values that an answer lists; None unless there are exactly n."""
    parts = [answer] if n == 1 else entries(answer) or ()
    values = [value for value in map(truth, parts) if value is not None]
    return values if len(values) == len(parts) == n else None


@lru_cache(maxsize=1024)
def evaluate(expression: str, true: str, false: str) -> bool:
    """Return the truth value of an expression, given the words for true and false.

    Raises:
        ValueError: the expression is not well formed.
    """
    # One row for each open bracket, and one outside all brackets.
    rows: list[list[str | bool]] = [[]]
    end = 0
    for match in _WORD.finditer(expression):
        if match.start() != end:
            break
        word = match.group()
        end = match.end()
        if word == "(":
            rows.append([])
        elif word == ")" and len(rows) > 1:
            value = row_value(rows.pop())
            rows[-1].append(value)
        elif word in {true, false}:
            rows[-1].append(word == true)
        elif word.strip():
            rows[-1].append(word)
    if end != len(expression) or len(rows) != 1:
        raise ValueError(f"{expression!r} is not well formed at position {end}")
    return row_value(rows[0])


def row_value(row: Row) -> bool:
    """Return the truth value of a row without brackets.

    Raises:
        ValueError: the row is not well formed.
    """
    return any(_exclusive_value(part) for part in _split(row, "OR"))


def _exclusive_value(row: Row) -> bool:
    """Return the truth value of a row without OR: whether an odd number of its parts are true."""
    true_parts = 0
    for part in _split(row, "XOR"):
        if all(_literal_value(term) for term in _split(part, "AND")):
            true_parts += 1
    return true_parts % 2 == 1


def _literal_value(words: Row) -> bool:
    """Evaluate a truth value with NOTs before it."""
    *chain, value = words or [""]
    if not isinstance(value, bool) or any(word != "NOT" for word in chain):
        raise ValueError(f"{words!r} is not a value with NOTs before it")
    return value != (len(chain) % 2 == 1)


def _split(row: Row, operator: str) -> list[Row]:
    parts = []
    start = 0
    for at, word in enumerate(row):
        if word == operator:
            parts.append(row[start:at])
            start = at + 1
    return [*parts, row[start:]]
