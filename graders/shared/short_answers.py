"""Reading short answers: numbers, truth values, options, lists and strings.

Each function takes the value of an answer's key ``answer`` and returns its meaning, or
None if it cannot be read as this type. An ambiguous answer has no meaning.
Values longer than `MAX_LENGTH` are not read, and every step is linear in the length.
"""

import math
import re
from collections.abc import Mapping
from fractions import Fraction

from scbench.graders.shared.answer_text import (
    ANSWER_IS,
    HEDGES,
    MAX_DIGITS,
    MAX_LENGTH,
    REASON,
    Value,
    first_read,
    plain_text,
    tidy,
    without_entities,
)
from scbench.graders.shared.spoken_numbers import spoken_numbers

# Words for a truth value, in lowercase.
TRUTHS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}
_MINUS = str.maketrans(dict.fromkeys("\u2012\u2013\u2212\ufe63\uff0d", "-"))
_DECIMAL = re.compile(
    r"""
    # Whole part, with or without a mark between groups of three digits.
    (\d{1,3}(?:[,\u00a0\u2009\u202f '\u2019]\d{3})+|\d+)?
    # Decimals.
    (?:\.(\d*))?
    # Exponent.
    (?:[eE]([-+]?\d{1,3}))?
    """,
    re.ASCII | re.VERBOSE,
)
_NUMERAL = re.compile(
    r"""
    # Not inside a word, a longer number or a sum; a minus, but not one between two numbers.
    (?<![\w.,/+-])(?:(?<!\d[ ])-)?
    (?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:/\d+)?
    (?![\w/%]|[.,]\d)
    """,
    re.ASCII | re.VERBOSE,
)
_SPOKEN_MINUS = re.compile(r"\b(?:minus|negative)\s+(?=\d)", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"([-+]?)\s*\(([^()]*)\)")
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}")
# Words and signs that make a written number inexact.
_VAGUE = re.compile(
    r"""
    \b(?:about|around|approximately|approx|roughly|nearly|almost|between|least|most|more|less|
    fewer|over|under|dozen|half)\b
    # A function, an operator, a difference, a sign of comparison.
    | \w\( | [*+^\u00d7\u00f7] | [\d)]\s*-\s*[\d(] | [~\u2248\u2264\u2265\u00b1<>%]
    """,
    re.IGNORECASE | re.VERBOSE,
)
_VERDICT = re.compile(r"(true|false|yes|no)\b(?=\W|$)", re.IGNORECASE)
_LAST_VERDICT = re.compile(rf"[^.]*?\b{_VERDICT.pattern}\W*", re.IGNORECASE)
_NEGATION = re.compile(r"\bnot\b|n['\u2019]t\b", re.IGNORECASE)
# Marks after a truth value, before a comment on it.
_COMMENT_MARKS = "(,;:\u2013\u2014-"
_BETWEEN = re.compile(r"->|[,;|\n>\u2192\u3001]|\s&\s")
_BULLET = re.compile(r"(?:[-*\u2022]|\d{1,3}[.)])\s")
_LIST_INTRODUCTION = re.compile(
    r"""
    .{0,200}
    \b(?:words?|numbers?|terms?|events?|letters?|order|list|options?|sequence)\b
    [^,;|\n\[\]:]{0,60}\b(?:is|are)\b:?\s+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AFTERTHOUGHT = re.compile(
    r"""
    \s(?:
        # In brackets, after "because", or four or more words after a dash.
        \((?:since|because|as|in|by|which|that)\b[^()]*\)
        | (?:because|since)\s.*
        | [\u2013\u2014-]\s+\w+(?:\s+[\w']+){2,}.*
    )\Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LEAD = re.compile(r"[^:,;|\n\[\]\"]*")
# Closing brackets alone, in quotes or at the end.
_BRACKET_RUN = r"[)\]}>](?:[\s,;'\"`\\]*[)\]}>])*"
_CLOSING_BEGINS = re.compile(r"(?:^|(?<=[\s\"'`:]))(?=[)\]}>])")
_CLOSING = re.compile(rf"({_BRACKET_RUN})(?=[\"'`]|[.!,;\s]*\Z)")
_LONGEST_RUN = re.compile(_BRACKET_RUN)


# Numbers


def number(value: Value) -> Fraction | None:
    """Return a number exactly: whole, decimal, or a fraction such as ``-2/3``.

    All kinds of signs, groups of three digits, LaTeX fractions and surrounding brackets
    are accepted. For an equation, the right side is used.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(repr(value)) if math.isfinite(value) else None
    return first_read(read_number, value)


def integer(value: Value) -> int | None:
    """Return an integer, in any form that `number` reads."""
    exact = number(value)
    if exact is None or exact.denominator != 1:
        return None
    return exact.numerator


def read_number(text: str) -> Fraction | None:
    """Return the number that a tidy text is, or the only number in a phrase."""
    right_side = text.rpartition("=")[2].strip().translate(_MINUS)
    text = _LATEX_FRACTION.sub(r"\1/\2", right_side)
    bracketed = _IN_BRACKETS.fullmatch(text)
    sign, inside = bracketed.groups() if bracketed else ("", text)
    value = read_fraction(inside)
    if value is not None:
        return -value if sign == "-" else value
    if HEDGES.search(text) or _VAGUE.search(text):
        return None
    return only_number(_SPOKEN_MINUS.sub("-", text))


def only_number(text: str) -> Fraction | None:
    """Return the one number in a phrase such as "19 pears" or "nineteen (19)"."""
    if any(map(str.isdecimal, _NUMERAL.sub("", text))):
        return None
    values = {read_fraction(numeral) for numeral in _NUMERAL.findall(text)}
    for spoken in spoken_numbers(text):
        values.add(None if spoken is None else Fraction(spoken))
    return values.pop() if len(values) == 1 else None


def read_fraction(text: str) -> Fraction | None:
    """Return a decimal number or a quotient of two."""
    top, slash, bottom = text.partition("/")
    above = read_decimal(top)
    below = read_decimal(bottom) if slash else Fraction(1)
    if above is None or not below:
        return None
    return above / below


def read_decimal(text: str) -> Fraction | None:
    """Return a number in digits, with or without a sign, decimals and an exponent."""
    digits = text.strip()
    sign = ""
    if digits.startswith(("+", "-")):
        sign = digits[0]
        digits = digits[1:].lstrip()
    if len(digits) > MAX_DIGITS:
        return None
    match = _DECIMAL.fullmatch(digits)
    if match is None or not (match[1] or match[2]):
        return None
    integer_part = re.sub(r"\D", "", match[1] or "0")
    value = Fraction(f"{integer_part}.{match[2] or 0}e{match[3] or 0}")
    return -value if sign == "-" else value


# Truth values


def truth(value: Value) -> bool | None:
    """Return a truth value: JSON's own, 0 or 1, or a word of any notation, in any case."""
    if isinstance(value, bool):
        return value
    return first_read(read_truth, value)


def read_truth(text: str) -> bool | None:
    """Return the truth value that a tidy text consists of, begins with, or ends with."""
    plain = TRUTHS.get(text.casefold())
    if plain is not None:
        return plain
    verdicts = _VERDICT.findall(text)
    first = _VERDICT.match(text)
    if first:
        tail = text[first.end() :].lstrip()
        has_reason = REASON.match(tail) is not None
        if has_reason or (tail[:1] in _COMMENT_MARKS and len(verdicts) == 1):
            # "False, it is not ..." explains the answer; other hedges retract it.
            hedged = HEDGES.search(_NEGATION.sub("", tail))
            return TRUTHS[first[1].casefold()] if has_reason or not hedged else None
    text = text.rpartition("=")[2]
    last = _LAST_VERDICT.fullmatch(text)
    if last is None or len(_VERDICT.findall(text)) != 1 or HEDGES.search(text):
        return None
    return TRUTHS[last[1].casefold()]


# Lists and strings


def entries(value: Value) -> tuple[str, ...] | None:
    """Return the words of a list, in their order and case.

    A string is split at commas, semicolons, bars, arrows and ends of lines; if it has none, at
    spaces. Brackets around the list, bullets, line numbers and an "and" before the last
    word are dropped.
    """
    if isinstance(value, str | int | float):
        text = plain_text(value)
        return None if text is None else split_list(text)
    if len(value) > MAX_LENGTH:
        return None
    words = []
    for entry in value:
        word = plain_text(entry)
        if word is None:
            return None
        words.append(word)
    return tuple(words)


def split_list(text: str) -> tuple[str, ...]:
    """Return the words of a tidied text that is a list."""
    if text[:1] + text[-1:] in {"[]", "()", "{}"}:
        text = text[1:-1]
    text = ANSWER_IS.sub("", text, count=1)
    text = _AFTERTHOUGHT.sub("", text, count=1)
    lead = _LIST_INTRODUCTION.match(text)
    if lead:
        text = tidy(text[lead.end() :])
    text = re.sub(r"\A(?:only|just)\s", "", text, flags=re.IGNORECASE)
    head, colon, tail = text.partition(": ")
    if colon and " " in head and _LEAD.fullmatch(head):
        text = tail  # "Here they are: ..."
    separated = _BETWEEN.search(text) is not None
    parts = _BETWEEN.split(text) if separated else text.split()
    bare_parts = [tidy(_BULLET.sub("", part.strip(), count=1)) for part in parts]
    words = [part for part in bare_parts if part]
    if separated and words:
        # Not the end of a word, as in "the stagehand pulled the rope".
        before, _, last = f" {words.pop()}".rpartition(" and ")
        words += [word.strip() for word in (before, last) if word.strip()]
    return tuple(words)


def without_spaces(value: Value) -> str | None:
    """Return a string, or a list's strings joined, without spaces, commas and quotes."""
    if not isinstance(value, str | int | float):
        words = entries(value)
        return None if words is None else "".join(words)
    text = plain_text(value)
    if text is None:
        return None
    text = re.sub(r"</?[a-z]+>", "", without_entities(text))
    text = _AFTERTHOUGHT.sub("", text, count=1)
    has_words = re.search(r"[^\W_]", text) is not None
    if has_words and not HEDGES.search(text):
        # The only separate run of brackets among words.
        runs = closing_runs(text)
        if len(runs) == 1:
            text = runs[0]
    return re.sub(r"[\s,;'\"`\\]", "", text)


def closing_runs(text: str) -> list[str]:
    """Return the runs of closing brackets that are alone, in quotes or at the end."""
    runs = []
    at = 0
    while begin := _CLOSING_BEGINS.search(text, at):
        run = _CLOSING.match(text, begin.start())
        if run:
            runs.append(run[1])
        else:
            # A later beginning in the same brackets has the same ends, so it fails, too. Trying
            # each would take quadratic time.
            run = _LONGEST_RUN.match(text, begin.start())
        at = run.end() if run else begin.end()
    return runs
