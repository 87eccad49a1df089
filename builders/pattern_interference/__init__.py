"""Pattern interference: continue a sequence whose rules interfere with each other.

An example of the puzzle, with the answer 16, 18:

    Give the next 2 terms of this sequence: 5, 8, 10, 13

    Each later term is made in these steps: add 3 to the term before; if the number of the new term
    is a multiple of 3, subtract 1.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from pydantic import Field, JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Composed,
    Point,
    parameter,
    under,
    without_right,
)
from scbench.builders.shared.text_task import TextBuilder, answer_text, reply_short
from scbench.builders.shared.words import capitalised
from scbench.schemas import pattern_interference as schema
from scbench.schemas.pattern_interference import Answer, BaseRule, Interference, Params

# Terms are remainders of a division by this number, so that they stay short.
_MODULUS = 100
_TRIES = 100
# Addition may occur twice.
_MAKING: tuple[schema.Making, ...] = (
    "add",
    "subtract",
    "multiply",
    "add_digits",
    "add",
)
_IN_WORDS: Mapping[schema.Making, str] = {
    "add": "add {} to the previous term",
    "subtract": "subtract {} from the previous term",
    "multiply": "multiply the previous term by {}",
    "add_digits": "add the sum of the digits of the previous term to that term",
}
_CHANGING: tuple[schema.Changing, ...] = ("every", "divisible", "repeat")


class Space(Point):
    """Parameters of sequences."""

    base_rules: int = parameter(
        2, "number of rules that take turns to make the next term", "depth", ge=1, le=3
    )
    interference_rules: int = parameter(
        1, "number of rules that change some terms", "interference", ge=0, le=3
    )
    length_shown: int = parameter(8, "number of terms shown", "scale", ge=3, le=60)
    length_asked: int = parameter(3, "number of requested terms", "scale", ge=1, le=200)
    interference_matters: bool = parameter(
        False,
        "whether the requested terms must depend on each of the rules that change terms",
        "interference",
        later=True,
    )

    @model_validator(mode="after")
    def _something_matters(self) -> Self:
        if self.interference_matters and not self.interference_rules:
            raise ValueError(
                "interference_matters needs interference_rules of at least 1"
            )
        return self


class PatternCase(Case):
    """A case of a sequence."""

    hits: int = Field(
        ge=0,
        description="number of times that an interference rule changes a shown or requested term",
    )


class Sequel(NamedTuple):
    """The shown and requested terms of a sequence, and the number of changes by interference."""

    terms: list[int]
    hits: int


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Sequences of remainders. The prompt states all rules, so nothing has to be guessed."""

    task = "pattern_interference"
    version = 3
    draws = 2
    case_model = PatternCase
    extremes = (
        {
            "base_rules": 1,
            "interference_rules": 0,
            "length_shown": 3,
            "length_asked": 1,
        },
        {
            "base_rules": 3,
            "interference_rules": 3,
            "length_shown": 60,
            "length_asked": 20,
        },
        {"base_rules": 1, "interference_rules": 3, "length_asked": 20},
        {"interference_rules": 2, "length_asked": 6, "interference_matters": True},
    )

    def prompt(self, params: Params) -> str:
        """Return the question, the first terms, and all rules in the order in which they apply."""
        return prompt_text(params, sequence_of(params).terms)

    def reference(self, params: Params) -> Answer:
        """Compute the terms step by step."""
        return Answer(answer=tuple(next_terms(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the terms without one of the rules, and lists that are shifted by one."""
        terms = sequence_of(params).terms
        right = next_terms(params)
        plain = params.model_copy(update={"interference": ()})
        milder = params.model_copy(update={"interference": params.interference[:-1]})
        backwards = params.model_copy(update={"base": params.base[::-1]})
        lists = {
            "without_interference": next_terms(plain),
            "without_the_last_rule": next_terms(milder),
            "rules_in_the_other_order": next_terms(backwards),
            "one_term_early": terms[params.shown - 1 : -1],
            "last_one_off": [*right[:-1], (right[-1] + 1) % params.modulus],
            "one_more": [*right, right[-1]],
            "all_terms": terms,
        }
        wrong = without_right(lists, right)
        wrong["none"] = ""
        wrong["words"] = "the next terms"
        wrong["halves"] = [term + 0.5 for term in right]
        return under("answer", wrong)

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the shown terms, continued without the rules that change terms."""
        if not params.interference:
            return {}
        shown_terms = sequence_of(params).terms[: params.shown]
        unchanged = params.model_copy(update={"interference": ()})
        terms = continued(unchanged, shown_terms).terms
        following_terms: list[JsonValue] = [*terms[params.shown :]]
        return {"base rules only": {"answer": following_terms}}

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return how often interference changes a term."""
        return {"hits": sequence_of(params).hits}

    def measure(self, params: Params) -> float:
        """Return the number of requested terms, times the number of rules."""
        return params.asked * (len(params.base) + len(params.interference))

    def blind_floor(self, params: Params) -> float:
        """Return the probability of guessing every requested remainder."""
        return float(params.modulus**-params.asked)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw rules until the sequence has enough distinct terms."""
        for _ in range(_TRIES):
            params = Params(
                start=rng.below(_MODULUS),
                modulus=_MODULUS,
                base=draw_base_rules(point.base_rules, rng),
                interference=draw_interference(point.interference_rules, rng),
                shown=point.length_shown,
                asked=point.length_asked,
            )
            terms = sequence_of(params).terms
            # Two thirds must be distinct; a long sequence of remainders has to repeat itself.
            if len(set(terms)) * 3 < min(len(terms), 30) * 2:
                continue
            if point.interference_matters and not each_change_matters(params, terms):
                continue
            return params
        raise GenerationError(
            f"no suitable sequence in {_TRIES} draws; use more base_rules, a smaller length_shown "
            "or a larger length_asked"
        )

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw an instance, and compute its terms once for all parts of a case."""
        params = self.draw(point, rng)
        terms, hits = sequence_of(params)
        target = answer_text(terms[params.shown :])
        return self.as_json(params), prompt_text(params, terms), target, {"hits": hits}


def draw_base_rules(n: int, rng: Stream) -> tuple[BaseRule, ...]:
    """Draw rules that make a term from the one before it."""
    rules = []
    for kind in rng.sample(_MAKING, n):
        amount = 0
        # Terms are below 100, and a larger factor would require long multiplication.
        if kind == "multiply":
            amount = rng.between(2, 3)
        elif kind != "add_digits":
            amount = rng.between(2, 29)
        rules.append(BaseRule(kind=kind, amount=amount))
    return tuple(rules)


def draw_interference(n: int, rng: Stream) -> tuple[Interference, ...]:
    """Draw rules that change some of the new terms."""
    rules = []
    for kind in rng.sample(_CHANGING, n):
        amount = rng.between(1, 9)
        if not rng.below(2):
            amount = -amount
        divisor = 0
        if kind == "every":
            divisor = rng.between(2, 5)
        elif kind == "divisible":
            divisor = rng.choice((3, 4, 5, 7))
        rules.append(Interference(kind=kind, n=divisor, amount=amount))
    return tuple(rules)


def sequence_of(params: Params) -> Sequel:
    """Compute all shown and requested terms."""
    return continued(params, [params.start])


def continued(params: Params, first_terms: Sequence[int]) -> Sequel:
    """Compute the terms that follow the first ones."""
    terms = list(first_terms)
    hits = 0
    for number in range(len(terms) + 1, params.shown + params.asked + 1):
        # The second term is the first one that a rule makes.
        rule = params.base[(number - 2) % len(params.base)]
        term = term_after(rule, terms[-1]) % params.modulus
        # A change acts on the result of the changes before it.
        for change in params.interference:
            if is_hit(change, number, term, terms):
                term = (term + change.amount) % params.modulus
                hits += 1
        terms.append(term)
    return Sequel(terms, hits)


def each_change_matters(params: Params, terms: Sequence[int]) -> bool:
    """Return whether the requested terms are different without any change, and without each one."""
    changes = params.interference
    fewer = [changes[:k] + changes[k + 1 :] for k in range(len(changes))]
    right = terms[params.shown :]
    for remaining_changes in [(), *fewer]:
        milder = params.model_copy(update={"interference": remaining_changes})
        # A solver may begin with the first term, or continue the terms that the prompt shows.
        for given_terms in (1, params.shown):
            if continued(milder, terms[:given_terms]).terms[params.shown :] == right:
                return False
    return True


def next_terms(params: Params) -> list[int]:
    """Return the requested terms."""
    return sequence_of(params).terms[params.shown :]


def term_after(rule: BaseRule, term: int) -> int:
    """Return the result of applying a base rule to the preceding term."""
    match rule.kind:
        case "add":
            return term + rule.amount
        case "subtract":
            return term - rule.amount
        case "multiply":
            return term * rule.amount
    return term + sum(map(int, str(term)))


def is_hit(
    change: Interference, number: int, term: int, earlier: Sequence[int]
) -> bool:
    """Return whether a rule changes a term with this number, counted from 1."""
    match change.kind:
        case "every":
            return number % change.n == 0
        case "divisible":
            return term % change.n == 0
    return term in earlier


def prompt_text(params: Params, terms: Sequence[int]) -> str:
    """Return the prompt of a sequence, which shows its first terms."""
    sequence = ", ".join(map(str, terms[: params.shown]))
    steps = "\n".join([f"{i}. {step}" for i, step in enumerate(steps_of(params), 1)])
    request = "the next term"
    answer = "a whole number"
    note = ""
    if params.asked > 1:
        request = f"the next {params.asked} terms"
        answer = f"the list of these {params.asked} numbers in order"
        note = "The answer is right only if all terms are right.\n"
    return f"""\
Give {request} of this sequence of whole numbers:

{sequence}

The first number is term 1. Each later term is computed from the previous term in these steps:

{steps}

{note}{reply_short(answer, quoted=False)}"""


def steps_of(params: Params) -> list[str]:
    """Return the rules as sentences: how to make a term, its remainder, then the changes."""
    rules = [_IN_WORDS[rule.kind].format(rule.amount) for rule in params.base]
    making = capitalised(f"{rules[0]}.")
    if len(rules) > 1:
        turns = []
        for first, rule in enumerate(rules, 2):
            numbers = [str(first + k * len(rules)) for k in range(3)]
            turns.append(f"for terms {', '.join(numbers)} and so on, {rule}")
        making = capitalised(f"{'; '.join(turns)}.")
    limit = params.modulus
    remainder = (
        f"If the result is below 0 or above {limit - 1}, add or subtract {limit} until it is "
        f"from 0 to {limit - 1}."
    )
    if params.interference:
        remainder += " Repeat this step after every step below."
    return [making, remainder, *map(change_in_words, params.interference)]


def change_in_words(change: Interference) -> str:
    """Return a sentence for a rule that changes terms."""
    action = "add" if change.amount > 0 else "subtract"
    action += f" {abs(change.amount)}"
    match change.kind:
        case "every":
            first = ", ".join([str(change.n * k) for k in (1, 2, 3)])
            return (
                f"If the number of the new term is a multiple of {change.n} ({first} and so on), "
                f"{action}."
            )
        case "divisible":
            return (
                f"If the result so far is divisible by {change.n} (as 0 is), {action}."
            )
    return (
        f"If the result so far is equal to any earlier term, {action} (once per term)."
    )
