"""Are these the words, in this order?

The order is checked pair by pair, by the places of letters in the alphabet that the prompt gives.
How a word is capitalised in the answer does not matter: no two words differ in that alone.
"""

from itertools import pairwise
from string import ascii_lowercase, ascii_uppercase

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import entries, quote
from scbench.schemas.word_sorting import Answer, Params

VERSION = 3

CHECKS = {
    "readable": "The answer is a list of words, most of them of the prompt.",
    "words": "It holds every word once, and no others.",
    "order": "The words are in order.",
}
OWN_FAULTS = ("readable",)

_CASED = {letter: i for i, letter in enumerate(ascii_uppercase + ascii_lowercase)}
_FOLDED = {letter: ascii_lowercase.index(letter.lower()) for letter in _CASED}


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer holds the words in order, else 0."""
    checks = Checklist(CHECKS)
    spelling = {word.lower(): word for word in params.words}
    words = entries(answer.answer)
    known = sum(word.lower() in spelling for word in words or ())
    words = words if words and 2 * known > len(words) else None
    wrong = f"{quote(answer.answer)} is not a list of words of the prompt."
    if not checks.readable(words, wrong, "There is no list."):
        return checks.binary()
    folded = [word.lower() for word in words]
    lacking = [word for word in params.words if word.lower() not in set(folded)]
    strange = [word for word in words if word.lower() not in spelling]
    checks.expect(
        "words",
        sorted(folded) == sorted(spelling),
        f"{len(lacking)} of {len(spelling)} words are missing, {len(strange)} do not belong, and "
        f"{len(folded) - len(set(folded))} are repeated.",
        missing=lacking[:50],
        surplus=[word[:60] for word in strange[:50]],
    )
    in_answer_order = [spelling[word] for word in folded if word in spelling]
    checks.forbid(
        "order",
        [[a, b] for a, b in pairwise(in_answer_order) if not _is_before(a, b, params)],
        lambda pair: f"{pair[0]!r} must not stand before {pair[1]!r}.",
    )
    return checks.binary()


def _is_before(a: str, b: str, params: Params) -> bool:
    places = _CASED if params.case_sensitive else _FOLDED
    first, second = [places[letter] for letter in a], [places[letter] for letter in b]
    return first >= second if params.order == "descending" else first <= second
