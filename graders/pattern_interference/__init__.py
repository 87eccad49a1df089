"""Are these the terms that follow?

The sequence is computed again: each rule is a function of the place, the value so far and the
values before it.
"""

from collections.abc import Callable, Collection
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import entries, integer, quote
from scbench.schemas.pattern_interference import Answer, BaseRule, Interference, Params

VERSION = 3

CHECKS = {
    "readable": "The answer is a list of whole numbers.",
    "count": "It has as many terms as were asked for.",
    "terms": "Each is the term that follows.",
}
OWN_FAULTS = ("readable", "count")

_APPLIES: dict[str, Callable[[int, int, Collection[int], int], bool]] = {
    "every": lambda place, _value, _before, n: place % n == 0,
    "divisible": lambda _place, value, _before, n: value % n == 0,
    "repeat": lambda _place, value, before, _n: value in before,
}
_MAKES: dict[str, Callable[[int, int], int]] = {
    "add": lambda term, amount: term + amount,
    "subtract": lambda term, amount: term - amount,
    "multiply": lambda term, amount: term * amount,
    "add_digits": lambda term, _amount: (
        term + term // 100 + term // 10 % 10 + term % 10
    ),
}


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer holds the terms that follow, in order, else 0."""
    checks = Checklist(CHECKS)
    words = entries(answer.answer)
    numbers = None if words is None else [integer(entry) for entry in words]
    readable = bool(numbers) and None not in (numbers or ())
    wrong = f"{quote(answer.answer)} is not a list of whole numbers."
    checks.expect("readable", readable, wrong)
    if not numbers or not readable:
        checks.skip(("count", "terms"), "There is no list of numbers.")
        return checks.binary()
    right = following(params)
    wrong = f"There are {len(numbers)} terms, not {len(right)}."
    checks.expect("count", len(numbers) == len(right), wrong)
    pairs = zip(numbers, right, strict=False)
    checks.forbid(
        "terms",
        [params.shown + i for i, (value, term) in enumerate(pairs, 1) if value != term],
        lambda place: f"Term {place} is {right[place - params.shown - 1]}.",
    )
    return checks.binary()


@lru_cache(maxsize=1024)
def following(params: Params) -> tuple[int, ...]:
    """Return the terms asked for."""
    before: dict[int, None] = {params.start: None}
    term = params.start
    answer: list[int] = []
    for place in range(2, params.shown + params.asked + 1):
        rule: BaseRule = params.base[(place - 2) % len(params.base)]
        term = _MAKES[rule.kind](term, rule.amount) % params.modulus
        for change in params.interference:
            term = _changed(change, place, term, before, params.modulus)
        before[term] = None
        if place > params.shown:
            answer.append(term)
    return tuple(answer)


def _changed(
    change: Interference, place: int, term: int, before: Collection[int], modulus: int
) -> int:
    if not _APPLIES[change.kind](place, term, before, change.n):
        return term
    return (term + change.amount) % modulus
