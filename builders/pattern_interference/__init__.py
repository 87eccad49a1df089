"""Pattern interference: go on with a sequence whose rules get in each other's way."""

from collections.abc import Mapping, Sequence

from pydantic import Field, JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Case, Composed, Point, parameter, under
from scbench.builders.shared.text_task import TextBuilder, answer_text, reply_short
from scbench.schemas import pattern_interference as schema
from scbench.schemas.pattern_interference import Answer, BaseRule, Interference, Params

_MODULUS = 100
_TRIES = 100
# Adding may come twice.
_MAKING: tuple[schema.Making, ...] = (
    "add",
    "subtract",
    "multiply",
    "add_digits",
    "add",
)
_IN_WORDS: Mapping[schema.Making, str] = {
    "add": "add {} to the term before",
    "subtract": "subtract {} from the term before",
    "multiply": "multiply the term before by {}",
    "add_digits": "add the sum of its own digits to the term before",
}
_CHANGING: tuple[schema.Changing, ...] = ("every", "divisible", "repeat")


class Space(Point):
    """Parameters of sequences."""

    base_rules: int = parameter(2, "number of rules used in turn", "depth", ge=1, le=3)
    interference_rules: int = parameter(
        1, "number of rules that change some terms", "interference", ge=0, le=3
    )
    length_shown: int = parameter(8, "number of terms shown", "scale", ge=3, le=60)
    length_asked: int = parameter(3, "number of terms asked for", "scale", ge=1, le=200)


class PatternCase(Case):
    """A case of a sequence."""

    hits: int = Field(
        ge=0, description="changes by interference, in terms shown and asked for"
    )


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Sequences of remainders. All rules are told; nothing has to be guessed."""

    task = "pattern_interference"
    version = 2
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
    )

    def prompt(self, params: Params) -> str:
        """Return the terms shown, all rules in the order they act, and what is asked for."""
        return _sequence_prompt(params, _sequence_terms(params)[0])

    def reference(self, params: Params) -> Answer:
        """Go on step by step."""
        terms, _ = _sequence_terms(params)
        return Answer(answer=tuple(terms[params.shown :]))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return what comes out if a rule is forgotten, and lists that are off by one."""
        terms, _ = _sequence_terms(params)
        right = terms[params.shown :]

        def changed(**rules: object) -> list[int]:
            return _sequence_terms(params.model_copy(update=rules))[0][params.shown :]

        lists: dict[str, Sequence[int]] = {
            "without_interference": changed(interference=()),
            "without_the_last_rule": changed(interference=params.interference[:-1]),
            "rules_in_the_other_order": changed(base=params.base[::-1]),
            "one_term_early": terms[params.shown - 1 : -1],
            "last_one_off": [*right[:-1], (right[-1] + 1) % params.modulus],
            "one_more": [*right, right[-1]],
            "all_terms": terms,
        }
        wrong: dict[str, JsonValue] = {
            name: list(terms) for name, terms in lists.items() if list(terms) != right
        }
        wrong |= {
            "none": "",
            "words": "the next terms",
            "halves": [term + 0.5 for term in right],
        }
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return how often interference changes a term."""
        _, hits = _sequence_terms(params)
        return {"hits": hits}

    def measure(self, params: Params) -> float:
        """Return the number of terms asked for, by the number of rules."""
        return params.asked * (len(params.base) + len(params.interference))

    def blind_floor(self, params: Params) -> float:
        """Return the chance to guess every remainder that is asked for."""
        return float(params.modulus**-params.asked)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw rules until the sequence neither stands still nor soon repeats itself."""
        return self._draw(point, rng)[0]

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw an instance; the terms found in drawing are all that a case needs."""
        params, terms, hits = self._draw(point, rng)
        instance = self.as_json(params)
        target = answer_text(terms[params.shown :])
        return instance, _sequence_prompt(params, terms), target, {"hits": hits}

    def _draw(self, point: Space, rng: Stream) -> tuple[Params, list[int], int]:
        for _ in range(_TRIES):
            params = Params(
                start=rng.below(_MODULUS),
                modulus=_MODULUS,
                base=tuple(_base_rules(point.base_rules, rng)),
                interference=tuple(_interference(point.interference_rules, rng)),
                shown=point.length_shown,
                asked=point.length_asked,
            )
            terms, hits = _sequence_terms(params)
            if len(set(terms)) * 3 >= min(len(terms), 30) * 2:
                return params, terms, hits
        raise GenerationError(
            f"no lively sequence in {_TRIES} tries; use more base_rules or a smaller length_shown"
        )


def _base_rules(n: int, rng: Stream) -> list[BaseRule]:
    rules: list[BaseRule] = []
    for kind in rng.sample(_MAKING, n):
        largest = 3 if kind == "multiply" else 29
        amount = 0 if kind == "add_digits" else rng.between(2, largest)
        rules.append(BaseRule(kind=kind, amount=amount))
    return rules


def _interference(n: int, rng: Stream) -> list[Interference]:
    rules: list[Interference] = []
    for kind in rng.sample(_CHANGING, n):
        amount = rng.between(1, 9) * (1 if rng.below(2) else -1)
        at = rng.between(2, 5) if kind == "every" else 0
        at = rng.choice((3, 4, 5, 7)) if kind == "divisible" else at
        rules.append(Interference(kind=kind, n=at, amount=amount))
    return rules


def _sequence_terms(params: Params) -> tuple[list[int], int]:
    """Return all terms, shown and asked for, and how often interference changed one."""
    terms = [params.start]
    hits = 0
    for place in range(2, params.shown + params.asked + 1):
        rule = params.base[(place - 2) % len(params.base)]
        term = _follow(rule, terms[-1]) % params.modulus
        for change in params.interference:
            match change.kind:
                case "every":
                    hit = place % change.n == 0
                case "divisible":
                    hit = term % change.n == 0
                case _:
                    hit = term in terms
            if hit:
                term = (term + change.amount) % params.modulus
                hits += 1
        terms.append(term)
    return terms, hits


def _follow(rule: BaseRule, term: int) -> int:
    match rule.kind:
        case "add":
            return term + rule.amount
        case "subtract":
            return term - rule.amount
        case "multiply":
            return term * rule.amount
    return term + sum(map(int, str(term)))


def _sequence_prompt(params: Params, terms: Sequence[int]) -> str:
    sequence = ", ".join(map(str, terms[: params.shown]))
    steps = "\n".join([f"{i}. {step}" for i, step in enumerate(_steps(params), 1)])
    if params.asked == 1:
        request, closing = "term", reply_short("a whole number", quoted=False)
    else:
        request = f"{params.asked} terms"
        closing = reply_short(
            f"the list of these {params.asked} numbers in order", quoted=False
        )
    return f"""\
A sequence of whole numbers begins like this:

{sequence}

These are its rules. The first term is given. Every other term is made from the term before it in
these steps:

{steps}

Give the next {request}.

{closing}"""


def _steps(params: Params) -> list[str]:
    rules = [_IN_WORDS[rule.kind].format(rule.amount) for rule in params.base]
    if len(rules) == 1:
        steps = [f"{rules[0]}."]
    else:
        turns = "; ".join(
            f"for term {', '.join(str(2 + i + k * len(rules)) for k in range(3))} and so on, {what}"
            for i, what in enumerate(rules)
        )
        steps = [f"Take turns: {turns}."]
    limit = params.modulus
    again = (
        " Do this again after each of the steps below." if params.interference else ""
    )
    steps.append(
        f"If the result is {limit} or more, or negative, add or subtract {limit} until it lies "
        f"from 0 to {limit - 1}.{again}"
    )
    return steps + [_change_in_words(change) for change in params.interference]


def _change_in_words(change: Interference) -> str:
    amount = abs(change.amount)
    do = f"add {amount}" if change.amount > 0 else f"subtract {amount}"
    match change.kind:
        case "every":
            first = ", ".join(str(change.n * k) for k in (1, 2, 3))
            return f"If this is term number {first} or any other multiple of {change.n}, {do}."
        case "divisible":
            return f"If the result so far is divisible by {change.n} (0 is), {do}."
    return f"If the result so far is equal to any earlier term of the sequence, {do}, once."
