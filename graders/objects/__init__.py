"""Checks whether a number is the sum of the quantities in some groups of a list."""

from functools import lru_cache

from scbench.base.model import Verdict
from scbench.graders.shared.answer_text import quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import integer
from scbench.graders.shared.spoken_numbers import spoken_number
from scbench.schemas.objects import Answer, Params

VERSION = 4

CHECKS = {
    "readable": "The answer is one whole number.",
    "value": "The number is the sum for the requested groups.",
}
OWN_FAULTS = ("readable",)


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer is the sum for the requested groups, else 0."""
    checks = Checklist(CHECKS)
    count = integer(answer.answer)
    wrong = f"{quote(answer.answer)} is not a single whole number."
    if checks.readable(count, wrong, "There is no number to compare."):
        right = 0
        for quantity, _, _, group in params.entries:
            if group in params.groups:
                right += quantity_of(quantity)
        wrong = f"The sum is {right}, not {quote(answer.answer)}."
        checks.expect("value", count == right, wrong)
    return checks.binary()


@lru_cache(maxsize=4096)
def quantity_of(text: str) -> int:
    """Return a quantity written in digits, as an article, or in words up to 999.

    Raises:
        ValueError: the text is not a quantity.
    """
    if text.isascii() and text.isdigit():
        return int(text)
    value = 1 if text in {"a", "an"} else spoken_number(text)
    if not value:
        raise ValueError(f"{text!r} is not a quantity")
    return value
