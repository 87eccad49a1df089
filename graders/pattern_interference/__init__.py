"""Checks whether a list has the next terms of a sequence.

The sequence is computed again: each rule is a function of the position, the value so far and the
earlier terms.
"""

from collections.abc import Collection
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.answer_text import quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import entries, integer
from scbench.schemas.pattern_interference import Answer, BaseRule, Interference, Params

VERSION = 4

CHECKS = {
    "readable": "The answer is a list of whole numbers.",
    "count": "The list has the requested number of terms.",
    "terms": "Every term is right.",
}
OWN_FAULTS = ("readable", "count")


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer is the list of next terms, else 0."""
    checks = Checklist(CHECKS)
    words = entries(answer.answer) or ()
    numbers = [number for number in map(integer, words) if number is not None]
    readable = bool(numbers) and len(numbers) == len(words)
    wrong = f"{quote(answer.answer)} is not a list of whole numbers."
    if not checks.expect("readable", readable, wrong):
        checks.skip(("count", "terms"), "There is no list of numbers to compare.")
        return checks.binary()
    right = next_terms(params)
    wrong = f"The answer has {counted(len(numbers), 'term')} instead of {len(right)}."
    checks.expect("count", len(numbers) == len(right), wrong)
    first_place = params.shown + 1
    pairs = enumerate(zip(numbers, right, strict=False), first_place)
    wrong_places = [place for place, (number, term) in pairs if number != term]
    checks.forbid(
        "terms",
        wrong_places,
        lambda place: (
            f"Term {place} is {right[place - first_place]}, not "
            f"{quote(numbers[place - first_place])}."
        ),
    )
    return checks.binary()


@lru_cache(maxsize=1024)
def next_terms(params: Params) -> tuple[int, ...]:
    """Return the requested terms."""
    term = params.start
    before = {term}
    terms: list[int] = []
    for place in range(2, params.shown + params.asked + 1):
        # Base rules are used cyclically.
        rule = params.base[(place - 2) % len(params.base)]
        term = next_term(rule, term) % params.modulus
        for change in params.interference:
            if applies(change, place, term, before):
                term = (term + change.amount) % params.modulus
        before.add(term)
        if place > params.shown:
            terms.append(term)
    return tuple(terms)


def next_term(rule: BaseRule, term: int) -> int:
    """Return the result of a base rule for the previous term."""
    match rule.kind:
        case "add":
            return term + rule.amount
        case "subtract":
            return term - rule.amount
        case "multiply":
            return term * rule.amount
        case _:
            # At most three digits.
            return term + term // 100 + term // 10 % 10 + term % 10


def applies(
    change: Interference, place: int, term: int, before: Collection[int]
) -> bool:
    """Return whether an interference rule changes a term at a position."""
    match change.kind:
        case "every":
            return place % change.n == 0
        case "divisible":
            return term % change.n == 0
        case _:
            return term in before
