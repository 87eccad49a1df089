"""Reading short answers: numbers, truth values, options, dates, lists and strings.

Each function takes the value under an answer's key ``answer`` and returns what it says, or None if
it cannot be read as what is asked for. An answer that says two things says nothing. Nothing longer
than `MOST` is looked at, and every step is linear in that.
"""

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

MOST = 10_000
"""Longest string, in characters, and longest list, in entries, that is read."""

Value = bool | int | float | str | Sequence[int | str]
"""What the types of `scbench.schemas.short_answers` let through."""

_LAYERS = 10
_MOST_DIGITS = 1_000
_SHOWN = 60
_PAIRS = (
    *(('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»")),
    *(("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")),
    *((f"\\{name}{{", "}") for name in ("boxed", "text", "textbf", "mathrm", "mathbf", "texttt")),
)
_MINUS = str.maketrans(dict.fromkeys("\u2012\u2013\u2212\ufe63\uff0d", "-"))
_DECIMAL = re.compile(
    r"(\d{1,3}(?:[,\u00a0\u2009\u202f '\u2019]\d{3})+|\d+)?(?:\.(\d*))?(?:[eE]([-+]?\d{1,3}))?",
    re.ASCII,
)
"""Whole part, with or without something between groups of three digits; decimals; exponent."""
_IN_BRACKETS = re.compile(r"([-+]?)\s*\(([^()]*)\)")
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}")
_LABEL_FIRST = re.compile(
    r"(?:(?:option|choice)\s)?[(\[]?(\w{1,5})[)\]]?\s?[).:,\u2013\u2014-]?(?:\s(.*))?",
    re.IGNORECASE | re.DOTALL,
)
_LABEL_LAST = re.compile(r"(.*\S)\s?[(\[](\w{1,5})[)\]]", re.DOTALL)
_US_DATE = re.compile(r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})", re.ASCII)
_ISO_DATE = re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})", re.ASCII)
_BETWEEN = re.compile(r"->|[,;|\n>\u2192\u3001]")
_BULLET = re.compile(r"(?:[-*\u2022]|\d{1,3}[.)])\s")

TRUTHS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}
"""Words for a truth value, in small letters."""


def tidy(text: str) -> str:
    """Return text without what merely surrounds it: blanks, quotes, emphasis, LaTeX, a full stop.

    Up to ten layers of it are taken off.
    """
    for _ in range(_LAYERS):
        before = text
        text = text.strip(" \t\r\n*_`").removesuffix(".")
        for opening, closing in _PAIRS:
            if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening):
                inside = text[len(opening) : -len(closing)]
                if _is_whole(inside, opening, closing):
                    text = inside
        if text == before:
            break
    return text


def _is_whole(inside: str, opening: str, closing: str) -> bool:
    """Whether the marks before and after a text belong together."""
    if closing != "}":
        return opening not in inside and closing not in inside
    depth = 0
    for character in inside:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def _text(value: Value) -> str | None:
    """Return a word or whole number as tidy text."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    if isinstance(value, int):
        return str(value) if value.bit_length() < _MOST_DIGITS else None
    return tidy(value) if len(value) <= MOST else None


def number(value: Value) -> Fraction | None:
    """Return a number exactly: whole, decimal, or a fraction such as ``-2/3``.

    Signs of all kinds, groups of three digits, LaTeX fractions and brackets round the whole are
    understood; of an equation, the right side counts.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(repr(value)) if math.isfinite(value) else None
    text = _text(value)
    if text is None:
        return None
    text = _LATEX_FRACTION.sub(r"\1/\2", text.rpartition("=")[2].strip().translate(_MINUS))
    bracketed = _IN_BRACKETS.fullmatch(text)
    outside, text = bracketed.groups() if bracketed else ("", text)
    top, _, bottom = text.partition("/")
    above, below = _decimal(top), _decimal(bottom) if bottom else Fraction("/" not in text)
    if above is None or not below:
        return None
    return -above / below if outside == "-" else above / below


def _decimal(text: str) -> Fraction | None:
    text = text.strip()
    sign, digits = (text[0], text[1:].lstrip()) if text[:1] in {"+", "-"} else ("", text)
    if len(digits) > _MOST_DIGITS:
        return None
    found = _DECIMAL.fullmatch(digits)
    if found is None or not (found[1] or found[2]):
        return None
    whole = re.sub(r"\D", "", found[1] or "0")
    value = Fraction(f"{whole}.{found[2] or 0}e{found[3] or 0}")
    return -value if sign == "-" else value


def integer(value: Value) -> int | None:
    """Return a whole number, in any form that `number` reads."""
    found = number(value)
    return found.numerator if found is not None and found.denominator == 1 else None


def truth(value: Value) -> bool | None:
    """Return a truth value: JSON's own, 0 or 1, or a word of any notation, in any case."""
    if isinstance(value, bool):
        return value
    text = _text(value)
    return None if text is None else TRUTHS.get(text.casefold())


def option(
    value: Value, options: Sequence[str], labels: Sequence[str] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
) -> int | None:
    """Return the position of an option that is named by its label, its text, or both.

    ``B``, ``(b)``, ``B.``, ``Option B``, ``B) Paris``, ``Paris (B)`` and ``paris`` are all the
    second option if that is Paris; ``B) Rome`` is no option.

    Args:
        value: the answer.
        options: texts of the options.
        labels: the label of each in the prompt; at least as many.
    """
    text = _text(value)
    if text is None:
        return None
    texts = [_folded(name) for name in options]
    if texts.count(_folded(text)) == 1:
        return texts.index(_folded(text))
    known = {label.casefold(): i for i, label in enumerate(labels[: len(options)])}
    found: list[tuple[str | None, str | None]] = []
    if first := _LABEL_FIRST.fullmatch(text):
        found.append((first[1], first[2]))
    if last := _LABEL_LAST.fullmatch(text):
        found.append((last[2], last[1]))
    for label, rest in found:
        place = known.get((label or "").casefold())
        if place is not None and _folded(tidy(rest or "")) in {"", texts[place]}:
            return place
    return None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def date(value: Value) -> tuple[int, int, int] | None:
    """Return year, month and day of MM/DD/YYYY or YYYY-MM-DD; only of days that there are."""
    text = _text(value)
    found = text and (_US_DATE.fullmatch(text) or _ISO_DATE.fullmatch(text))
    if not found:
        return None
    year, month, day = (int(found[part]) for part in ("year", "month", "day"))
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return (year, month, day) if year and 0 < month <= 12 and 0 < day <= days[month - 1] else None


def entries(value: Value) -> tuple[str, ...] | None:
    """Return the words of a list, in order and case as given.

    A string is split at commas, semicolons, bars, arrows and ends of lines; if it has none, at
    blanks. Brackets round the list, bullets, numbers of lines and an "and" before the last word are
    dropped.
    """
    if isinstance(value, str | int | float):
        text = _text(value)
        return None if text is None else _split(text)
    found = [_text(item) for item in value[: MOST + 1]]
    words = tuple(word for word in found if word is not None)
    return words if len(words) == len(found) <= MOST else None


def _split(text: str) -> tuple[str, ...]:
    if text[:1] + text[-1:] in {"[]", "()", "{}"}:
        text = text[1:-1]
    listed = _BETWEEN.search(text) is not None
    words = [
        tidy(_BULLET.sub("", part.strip(), count=1))
        for part in (_BETWEEN.split(text) if listed else text.split())
    ]
    words = [word for word in words if word]
    if listed and words:
        before, _, last = words.pop().rpartition("and ")
        words += [word for word in (before.rstrip(), last) if word]
    return tuple(words)


def unspaced(value: Value) -> str | None:
    """Return a string without any blanks in it."""
    text = _text(value)
    return None if text is None else "".join(text.split())


def shown(value: Value) -> str:
    """Return an answer as a message quotes it: short, on one line."""
    if isinstance(value, int) and value.bit_length() > _MOST_DIGITS:
        return f"a number of {value.bit_length()} bits"
    if not isinstance(value, int | float | str):
        return f"[{', '.join(map(shown, value[:5]))}{', ...' * (len(value) > 5)}]"
    text = repr(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN + 2 else f"{text[:_SHOWN]}..."
