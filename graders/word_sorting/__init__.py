"""Checks whether a list has all words of the prompt in order.

The order is checked pair by pair, by the positions of letters in the alphabet of the
prompt. The answer may capitalise words in any way, because no two words of a prompt
differ only in case.
"""

from itertools import pairwise
from string import ascii_lowercase, ascii_uppercase

from scbench.base.model import Verdict
from scbench.graders.shared.answer_text import quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import entries
from scbench.schemas.word_sorting import Answer, Params

VERSION = 4

CHECKS = {
    "readable": "The answer is a list of words, most of them from the prompt.",
    "words": "The list has every word once and no other words.",
    "order": "The words are in order.",
}
OWN_FAULTS = ("readable",)

# Maximum number of words in a check's details, and of characters of each.
_MAX_WORDS = 50
_MAX_CHARACTERS = 60
# Ranks of letters with capitals before small letters, and with both equal.
_CASED = {letter: i for i, letter in enumerate(ascii_uppercase + ascii_lowercase)}
_FOLDED = {letter: ascii_lowercase.index(letter.lower()) for letter in _CASED}


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer has all words in order, else 0."""
    checks = Checklist(CHECKS)
    spelling = {word.lower(): word for word in params.words}
    words = entries(answer.answer) or ()
    folded = [word.lower() for word in words]
    in_answer_order = [spelling[word] for word in folded if word in spelling]
    readable = 2 * len(in_answer_order) > len(words)
    wrong = f"{quote(answer.answer)} is not a list of words from the prompt."
    why = "There is no list to compare."
    if not checks.readable(words if readable else None, wrong, why):
        return checks.binary()
    different = set(folded)
    missing = [word for word in params.words if word.lower() not in different]
    surplus = [word for word in words if word.lower() not in spelling]
    checks.expect(
        "words",
        sorted(folded) == sorted(spelling),
        f"Missing words: {len(missing)} of {len(spelling)}; words not in the prompt: "
        f"{len(surplus)}; repeated words: {len(folded) - len(different)}.",
        missing=missing[:_MAX_WORDS],
        surplus=[word[:_MAX_CHARACTERS] for word in surplus[:_MAX_WORDS]],
    )
    pairs = pairwise(in_answer_order)
    misplaced = [[a, b] for a, b in pairs if not is_before(a, b, params)]
    checks.forbid(
        "order",
        misplaced,
        lambda pair: f"{pair[0]!r} must come after {pair[1]!r}.",
    )
    return checks.binary()


def is_before(a: str, b: str, params: Params) -> bool:
    """Return whether a word may come before another in the order of the prompt."""
    places = _CASED if params.case_sensitive else _FOLDED
    first = [places[letter] for letter in a]
    second = [places[letter] for letter in b]
    if params.order == "descending":
        return first >= second
    return first <= second
