"""Boolean logic: one expression of NOT, AND, XOR and OR, true as often as false."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import Field, JsonValue

from scbench.base.seeding import Stream
from scbench.builders.shared.brackets import depth_of, draw_brackets, join_tokens
from scbench.builders.shared.builder import (
    Case,
    Point,
    chance,
    parameter,
    prompt_template,
    under,
)
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.schemas.boolean import LITERALS, Answer, Format, Params

# Most NOTs before one term or bracket.
_CHAIN = 4
# From the one that is worked out last.
_OPERATORS = ("OR", "XOR", "AND")


_RANKS = {"OR": 1, "XOR": 2, "AND": 3}


class Space(Point):
    """Parameters of expressions."""

    length: int = parameter(10, "number of truth values", "scale", ge=3, le=200)
    max_depth: int = parameter(
        3, "most brackets inside each other", "depth", ge=0, le=8
    )
    prob_open: float = chance(0.4, "chance to open brackets before a term", "depth")
    prob_negation: float = chance(
        0.3,
        f"chance of a NOT before a term or bracket, and then of one more, up to {_CHAIN}",
        "semantic",
    )
    format: Format = parameter("TRUE_FALSE", "how truth values are written", "semantic")
    prob_dewhitespace: float = chance(
        0.0, "chance that a blank is left out", "interference"
    )
    expressions: int = parameter(
        1,
        "number of expressions; an answer has the values of all",
        "scale",
        later=True,
        ge=1,
        le=20,
    )


class BooleanCase(Case):
    """A case of Boolean logic."""

    depth: int = Field(ge=0, description="depth of brackets reached")


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Expressions over truth values, drawn so that blind guessing is right half the time.

    With OR worked out last, most long expressions would be true. So the truth value is drawn first,
    and then truth values of the terms that lead to it.
    """

    task = "boolean"
    version = 2
    case_model = BooleanCase
    extremes = (
        {"length": 3, "max_depth": 0, "prob_negation": 0, "format": "BINARY"},
        {
            "length": 200,
            "max_depth": 8,
            "prob_open": 0.9,
            "prob_negation": 0.9,
            "format": "T_F",
        },
        {"prob_negation": 1, "prob_dewhitespace": 1, "format": "ON_OFF"},
        {"length": 40, "prob_dewhitespace": 1, "format": "YES_NO"},
        {"prob_open": 1, "prob_dewhitespace": 0.5},
        {"expressions": 6, "length": 5},
    )

    def prompt(self, params: Params) -> str:
        """Return the expressions and the rules they are read by."""
        true, false = LITERALS[params.format]
        n = len(params.expression.splitlines())
        rules = prompt_template(__name__).format(
            which="this expression"
            if n == 1
            else f"each of these {n} expressions, one on a line",
            expression=params.expression,
            true=true,
            false=false,
        )
        what = f"{true} or {false}"
        if n > 1:
            values = f"the truth values of the {n} expressions in order"
            what = f"{values}, each {what}, with blanks between"
        return rules + reply_short(what)

    def reference(self, params: Params) -> Answer:
        """Work each out by recursion over the ranks of the operators."""
        return Answer(answer=_in_format(_truth_values(params), params.format))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the other value in several forms, and answers that are not truth values."""
        values = _truth_values(params)
        opposites = [not value for value in values]
        word, opposite = (
            _in_format(each, params.format) for each in (values, opposites)
        )
        strange = _in_format(
            opposites, "YES_NO" if params.format == "TRUE_FALSE" else "TRUE_FALSE"
        )
        wrong: dict[str, JsonValue] = {
            "other": opposite,
            "other_in_small_letters": f" {opposite.lower()}.",
            "other_in_another_format": strange,
            "other_as_json": opposites[0],
            "other_as_number": int(opposites[0]),
            "both": f"{word} {opposite}",
            "negated": f"NOT {opposite}",
            "neither": "UNKNOWN",
            "listed": [word],
            "expression": params.expression,
        }
        if len(values) > 1:
            wrong["first_one_other"] = _in_format(
                [opposites[0], *values[1:]], params.format
            )
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the depth of brackets reached."""
        return {"depth": depth_of(params.expression)}

    def measure(self, params: Params) -> float:
        """Return the number of operations, NOT included, and of pairs of brackets."""
        return len(re.findall(r"NOT|AND|XOR|OR|\(", params.expression))

    def blind_floor(self, params: Params) -> float:
        """Return one half for each value: it is drawn first, each as often as the other."""
        return float(0.5 ** len(params.expression.splitlines()))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw values, and for each brackets, operators and NOTs, then terms that give it."""
        lines = []
        for _ in range(point.expressions):
            value = rng.below(2) == 1
            tokens = _tokens(
                _draw_row(point, rng), LITERALS[point.format], rng, value=value
            )
            lines.append(join_tokens(tokens, point.prob_dewhitespace, rng))
        return Params(expression="\n".join(lines), format=point.format)


class _Row(NamedTuple):
    """What stands between two brackets: terms with operators between them.

    A term is the number of NOTs before it, and the row in its brackets if it is not a plain value.
    """

    terms: "list[tuple[int, _Row | None]]"
    operators: list[str]


def _draw_row(point: Space, rng: Stream) -> _Row:
    opened, closed = draw_brackets(point.length, point.max_depth, point.prob_open, rng)
    rows = [_Row([], [])]
    for i in range(point.length):
        if i:
            rows[-1].operators.append(rng.choice(_OPERATORS))
        for _ in range(opened[i]):
            inside = _Row([], [])
            rows[-1].terms.append((_draw_chain(point, rng), inside))
            rows.append(inside)
        rows[-1].terms.append((_draw_chain(point, rng), None))
        del rows[len(rows) - closed[i] :]
    return rows[0]


def _draw_chain(point: Space, rng: Stream) -> int:
    length = 0
    while length < _CHAIN and rng.chance(point.prob_negation):
        length += 1
    return length


def _tokens(
    row: _Row, words: tuple[str, str], rng: Stream, *, value: bool
) -> list[str]:
    """Return the tokens of a row whose terms are drawn so that it has the given value."""
    values = _spread(row.operators, value, rng)
    tokens: list[str] = []
    for i, ((chain, inside), term) in enumerate(zip(row.terms, values, strict=True)):
        if i:
            tokens.append(row.operators[i - 1])
        tokens += ["NOT"] * chain
        inner = term != (chain % 2 == 1)
        if inside is None:
            tokens.append(words[0] if inner else words[1])
        else:
            tokens += ["(", *_tokens(inside, words, rng, value=inner), ")"]
    return tokens


def _spread(
    operators: Sequence[str], value: bool, rng: Stream, rank: int = 0
) -> list[bool]:
    """Return values of terms with these operators between them that give the value together."""
    if not operators:
        return [value]
    parts: list[list[str]] = [[]]
    for operator in operators:
        if operator == _OPERATORS[rank]:
            parts.append([])
        else:
            parts[-1].append(operator)
    shares = _shares(_OPERATORS[rank], value, len(parts), rng)
    return [
        term
        for part, share in zip(parts, shares, strict=True)
        for term in _spread(part, share, rng, rank + 1)
    ]


def _shares(operator: str, value: bool, n: int, rng: Stream) -> list[bool]:
    """Return values of n terms that the operator makes the value of, each way equally likely."""
    if n == 1:
        return [value]
    if operator == "XOR":
        bits = [rng.below(2) == 1 for _ in range(n - 1)]
        return [*bits, (sum(bits) % 2 == 1) != value]
    if value != (operator == "OR"):
        return [value] * n
    deciding = 1 + rng.below(2**n - 1)
    return [(deciding >> i & 1 == 1) == value for i in range(n)]


def _in_format(values: Sequence[bool], notation: Format) -> str:
    return " ".join(LITERALS[notation][0 if value else 1] for value in values)


def _truth_values(params: Params) -> list[bool]:
    true, false = LITERALS[params.format]
    # NOT comes before NO: after a value no word begins with T.
    token = re.compile(rf"NOT|AND|XOR|OR|[()]|{true}|{false}")
    lines = map(token.findall, params.expression.splitlines())
    return [_truth_of_ranks(tokens, true, 0, 1)[0] for tokens in lines]


def _truth_of_ranks(
    tokens: Sequence[str], true: str, at: int, least: int
) -> tuple[bool, int]:
    """Return the value of the operations of this rank and higher from a place on, and its end."""
    negated = False
    while tokens[at] == "NOT":
        negated, at = not negated, at + 1
    if tokens[at] == "(":
        value, at = _truth_of_ranks(tokens, true, at + 1, 1)
    else:
        value = tokens[at] == true
    value, at = value != negated, at + 1
    while at < len(tokens) and _RANKS.get(tokens[at], 0) >= least:
        operator = tokens[at]
        right, at = _truth_of_ranks(tokens, true, at + 1, _RANKS[operator] + 1)
        if operator == "AND":
            value = value and right
        elif operator == "XOR":
            value = value != right
        else:
            value = value or right
    return value, at
