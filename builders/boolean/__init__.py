"""Boolean logic: an expression with NOT, AND, XOR and OR, true half of the time.

An example of the puzzle, with the answer TRUE (AND comes before XOR, and XOR before OR):

    FALSE OR NOT (TRUE XOR TRUE AND TRUE)
"""

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

# Maximum number of NOTs before one term or bracket.
_CHAIN = 4
# Operators from the last to the first to be evaluated.
_OPERATORS = ("OR", "XOR", "AND")
_RANKS = {"OR": 1, "XOR": 2, "AND": 3}
# The parts that `measure` counts.
_OPERATION = re.compile(r"NOT|AND|XOR|OR|\(")
# Separators of the words of an expression in which no space is missing.
_GAP = re.compile(r"[ ()\n]+")
# A bracket without a space on its outer side.
_TIGHT_BRACKET = re.compile(r"[^ (\n]\(|\)[^ )\n]")


class Space(Point):
    """Parameters of expressions."""

    length: int = parameter(10, "number of truth values", "scale", ge=3, le=200)
    max_depth: int = parameter(
        3, "maximum nesting depth of brackets", "depth", ge=0, le=8
    )
    prob_open: float = chance(
        0.4, "probability that brackets open before a term", "depth"
    )
    prob_negation: float = chance(
        0.3,
        f"probability of a NOT before a term or bracket, and of each further NOT, up to {_CHAIN} "
        "in a row",
        "semantic",
    )
    format: Format = parameter("TRUE_FALSE", "how truth values are written", "semantic")
    prob_dewhitespace: float = chance(
        0.0, "probability that a space is omitted", "interference"
    )
    expressions: int = parameter(
        1,
        "number of expressions; the answer lists all their values",
        "scale",
        later=True,
        ge=1,
        le=20,
    )


class BooleanCase(Case):
    """A case of Boolean logic."""

    depth: int = Field(ge=0, description="nesting depth of brackets")


class Term(NamedTuple):
    """A term of a row: any number of NOTs before a value, or before a row in brackets."""

    negations: int
    inside: "Row | None"


class Row(NamedTuple):
    """Terms with operators between them: a whole expression, or the content of a bracket."""

    terms: list[Term]
    operators: list[str]


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Expressions over truth values, drawn so that blind guessing is right half of the time.

    OR is evaluated last, so most long random expressions are true. Therefore the value of the
    expression is drawn first, and then values of the terms that produce it.
    """

    task = "boolean"
    version = 3
    draws = 2
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
        """Return the expressions and the rules for reading them."""
        true, false = LITERALS[params.format]
        n = len(params.expression.splitlines())
        which = "this expression"
        answer = f"{true} or {false}"
        notes = []
        meaning = ""
        if params.format != "TRUE_FALSE":
            meaning = f"{true} means true and {false} means false.\n"
        if has_missing_spaces(params):
            notes.append("Spaces have no meaning, and some are missing.")
        if n > 1:
            which = f"each of these {n} expressions, one per line"
            values = f"the truth values of the {n} expressions in order"
            answer = f"{values}, each {answer}, separated by spaces"
            notes.append("The answer is right only if all values are right.")
        rules = prompt_template(__name__).format(
            which=which,
            expression=params.expression,
            true=true,
            meaning=meaning,
            notes="".join(f"{note}\n" for note in notes),
        )
        return rules + reply_short(answer)

    def reference(self, params: Params) -> Answer:
        """Evaluate each expression by recursion over the ranks of the operators."""
        return Answer(answer=in_format(truth_values(params), params.format))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the other value in several forms, and answers that are not truth values."""
        values = truth_values(params)
        opposites = [not value for value in values]
        right = in_format(values, params.format)
        opposite = in_format(opposites, params.format)
        strange: Format = "TRUE_FALSE"
        if params.format == "TRUE_FALSE":
            strange = "YES_NO"
        wrong: dict[str, JsonValue] = {
            "other": opposite,
            "other_in_small_letters": f" {opposite.lower()}.",
            "other_in_another_format": in_format(opposites, strange),
            "other_as_json": opposites[0],
            "other_as_number": int(opposites[0]),
            "both": f"{right} {opposite}",
            "negated": f"NOT {opposite}",
            "neither": "UNKNOWN",
            "listed": [right],
            "expression": params.expression,
        }
        if len(values) > 1:
            first_wrong = [opposites[0], *values[1:]]
            wrong["first_one_other"] = in_format(first_wrong, params.format)
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the nesting depth of brackets."""
        return {"depth": depth_of(params.expression)}

    def measure(self, params: Params) -> float:
        """Return the number of operations, including NOT, plus the number of bracket pairs."""
        return len(_OPERATION.findall(params.expression))

    def blind_floor(self, params: Params) -> float:
        """Return one half to the power of the number of values; both values are equally likely."""
        return float(0.5 ** len(params.expression.splitlines()))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw values; for each, draw a row of terms, then values of the terms that give it."""
        lines = []
        for _ in range(point.expressions):
            value = rng.below(2) == 1
            row = draw_row(point, rng)
            tokens = tokens_with_value(row, LITERALS[point.format], rng, value=value)
            lines.append(join_tokens(tokens, point.prob_dewhitespace, rng))
        return Params(expression="\n".join(lines), format=point.format)


def has_missing_spaces(params: Params) -> bool:
    """Return whether two words, or a word and a bracket, have no space between them."""
    words = {*LITERALS[params.format], *_OPERATORS, "NOT", ""}
    parts = _GAP.split(params.expression)
    is_tight = _TIGHT_BRACKET.search(params.expression) is not None
    return is_tight or not words.issuperset(parts)


def in_format(values: Sequence[bool], notation: Format) -> str:
    """Return truth values in the words of a format, separated by spaces."""
    true, false = LITERALS[notation]
    words = {True: true, False: false}
    return " ".join(words[value] for value in values)


def truth_values(params: Params) -> list[bool]:
    """Evaluate the expressions, one on each line."""
    true, false = LITERALS[params.format]
    # NOT comes before NO. After a value no word begins with T.
    token = re.compile(rf"NOT|AND|XOR|OR|[()]|{true}|{false}")
    values = []
    for line in params.expression.splitlines():
        value, _ = _value_of_ranks(token.findall(line), true, 0, 1)
        values.append(value)
    return values


def _value_of_ranks(
    tokens: Sequence[str], true: str, at: int, least: int
) -> tuple[bool, int]:
    """Evaluate from a position while operators have at least this rank; return value and end."""
    is_negated = False
    while tokens[at] == "NOT":
        is_negated = not is_negated
        at += 1
    if tokens[at] == "(":
        term, at = _value_of_ranks(tokens, true, at + 1, 1)
    else:
        term = tokens[at] == true
    value = term != is_negated
    at += 1
    while at < len(tokens) and _RANKS.get(tokens[at], 0) >= least:
        operator = tokens[at]
        # The right side contains only operators of higher rank.
        right, at = _value_of_ranks(tokens, true, at + 1, _RANKS[operator] + 1)
        if operator == "AND":
            value = value and right
        elif operator == "XOR":
            value = value != right
        else:
            value = value or right
    return value, at


def draw_row(point: Space, rng: Stream) -> Row:
    """Draw brackets, operators and NOTs; the values of the terms are drawn later."""
    brackets = draw_brackets(point.length, point.max_depth, point.prob_open, rng)
    # The rows of the open brackets, from the outermost.
    open_rows = [Row([], [])]
    # The order of draws is fixed: operator, brackets with their NOTs, NOTs of the value.
    for i in range(point.length):
        if i > 0:
            open_rows[-1].operators.append(rng.choice(_OPERATORS))
        for _ in range(brackets.opened[i]):
            inside = Row([], [])
            negations = _draw_negations(point, rng)
            open_rows[-1].terms.append(Term(negations, inside))
            open_rows.append(inside)
        open_rows[-1].terms.append(Term(_draw_negations(point, rng), None))
        for _ in range(brackets.closed[i]):
            open_rows.pop()
    return open_rows[0]


def _draw_negations(point: Space, rng: Stream) -> int:
    """Draw the number of NOTs before a term."""
    negations = 0
    while negations < _CHAIN and rng.chance(point.prob_negation):
        negations += 1
    return negations


def tokens_with_value(
    row: Row, words: tuple[str, str], rng: Stream, *, value: bool
) -> list[str]:
    """Return the tokens of a row whose terms are drawn so that it has the given value.

    Args:
        row: the terms and operators.
        words: the words for true and false.
        rng: the source of the draws.
        value: the value of the row.
    """
    true, false = words
    values = draw_values(row.operators, value, rng)
    tokens: list[str] = []
    for i, (term, term_value) in enumerate(zip(row.terms, values, strict=True)):
        if i > 0:
            tokens.append(row.operators[i - 1])
        tokens += ["NOT"] * term.negations
        inner_value = term_value != (term.negations % 2 == 1)
        if term.inside is not None:
            inner = tokens_with_value(term.inside, words, rng, value=inner_value)
            tokens += ["(", *inner, ")"]
        else:
            tokens.append(true if inner_value else false)
    return tokens


def draw_values(
    operators: Sequence[str], value: bool, rng: Stream, rank: int = 0
) -> list[bool]:
    """Draw values for the terms around these operators, so that the result has a given value.

    The rank is the position in `_OPERATORS` of the operator that is evaluated last.
    """
    if not operators:
        return [value]
    # The operator evaluated last joins parts that contain only operators of higher rank.
    joint = _OPERATORS[rank]
    ends = [i for i, operator in enumerate(operators) if operator == joint]
    shares = _draw_shares(joint, value, len(ends) + 1, rng)
    values: list[bool] = []
    start = 0
    for end, share in zip([*ends, len(operators)], shares, strict=True):
        values += draw_values(operators[start:end], share, rng, rank + 1)
        start = end + 1
    return values


def _draw_shares(operator: str, value: bool, n: int, rng: Stream) -> list[bool]:
    """Draw values for n terms, uniformly among those for which an operator gives a value."""
    if n == 1:
        return [value]
    if operator == "XOR":
        bits = [rng.below(2) == 1 for _ in range(n - 1)]
        is_odd = sum(bits) % 2 == 1
        return [*bits, is_odd != value]
    # Only false makes an AND false, and only true makes an OR true: these values decide.
    decides = operator == "OR"
    if value != decides:
        return [value] * n
    # At least one of the terms decides; each bit is for a term.
    deciding = 1 + rng.below(2**n - 1)
    values = []
    for i in range(n):
        is_deciding = deciding >> i & 1 == 1
        values.append(value if is_deciding else not value)
    return values
