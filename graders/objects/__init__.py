"""Is this how many things of the groups are in the list?

Quantities in words are put together from their parts: tens and ones are added, a hundred multiplies
what came before it.
"""

from functools import lru_cache

from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import integer, shown
from scbench.model import Verdict
from scbench.schemas.objects import Answer, Params

VERSION = 2

CHECKS = {
    "readable": "The answer is one whole number.",
    "value": "It is the number of things of the groups.",
}

_UNITS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {
    "a": 1,
    "an": 1,
    **{word: n for n, word in enumerate(_UNITS.split(), 1)},
    **{word: 10 * n for n, word in enumerate(_TENS.split(), 2)},
}


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer is the number of things that count, else 0."""
    checks = Checklist(CHECKS)
    given = integer(answer.answer)
    wrong = f"{shown(answer.answer)} is not one whole number."
    if checks.readable(given, wrong, "There is no number."):
        right = 0
        for quantity, _, _, group in params.entries:
            right += quantity_of(quantity) if group in params.groups else 0
        checks.expect("value", given == right, f"There are {right}, not {shown(answer.answer)}.")
    return checks.binary()


@lru_cache(maxsize=4096)
def quantity_of(text: str) -> int:
    """Return a quantity written in digits, as an article, or in words up to 999.

    Raises:
        ValueError: it is not a quantity.
    """
    if text.isascii() and text.isdigit():
        return int(text)
    value = 0
    for word in text.replace("-", " ").split():
        if word == "hundred":
            value *= 100
        elif word in _VALUES:
            value += _VALUES[word]
        elif word != "and":
            raise ValueError(f"{text!r} is no quantity: it holds {word!r}")
    if not value:
        raise ValueError(f"{text!r} is no quantity")
    return value
