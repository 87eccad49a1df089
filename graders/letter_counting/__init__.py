"""Checks whether a number is the count of certain letters in the marked words."""

from scbench.base.model import Verdict
from scbench.graders.shared.answer_text import quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import integer
from scbench.schemas.letter_counting import Answer, Params

VERSION = 4

CHECKS = {
    "readable": "The answer is one whole number.",
    "value": "The number is the count of all occurrences.",
}
OWN_FAULTS = ("readable",)


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer is the count of all occurrences, else 0."""
    checks = Checklist(CHECKS)
    count = integer(answer.answer)
    wrong = f"{quote(answer.answer)} is not a single whole number."
    if checks.readable(count, wrong, "There is no number to compare."):
        # Bars between the words prevent matches across two words.
        text = "|".join(word for word, counts in params.words if counts).casefold()
        right = sum(map(text.count, params.letters))
        wrong = f"The count is {right}, not {quote(answer.answer)}."
        checks.expect("value", count == right, wrong)
    return checks.binary()
