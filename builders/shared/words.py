"""Word lists of the text tasks, and markers of lines.

The word list has plain English words of 3 to 12 lowercase letters, in alphabetical order.
"""

from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import data_file

# Case of words: lowercase, uppercase, or random for each word.
CaseMode = Literal["lower", "upper", "mixed"]
_WAYS = (str.lower, str.capitalize, str.upper)
_ROMAN = {
    "M": 1000,
    "CM": 900,
    "D": 500,
    "CD": 400,
    "C": 100,
    "XC": 90,
    "L": 50,
    "XL": 40,
    "X": 10,
    "IX": 9,
    "V": 5,
    "IV": 4,
    "I": 1,
}
# Clocks start at nine.
_FIRST_MINUTE = 9 * 60


class Things(NamedTuple):
    """Nouns of each group with plurals, adjectives for any noun, and openings for any list."""

    groups: Mapping[str, list[list[str]]]
    adjectives: list[str]
    openings: list[str]


@cache
def word_list() -> tuple[str, ...]:
    """Return every word, in alphabetical order."""
    return tuple(data_file(__package__, "word_list.json")["words"])


@cache
def families(prefix: int) -> Mapping[str, tuple[str, ...]]:
    """Return the words that share a prefix of this length with another word, grouped by prefix."""
    members: dict[str, list[str]] = {}
    for word in word_list():
        if len(word) > prefix:
            members.setdefault(word[:prefix], []).append(word)
    return {start: tuple(words) for start, words in members.items() if len(words) > 1}


@cache
def things() -> Things:
    """Return the nouns, adjectives and openings."""
    return Things(**data_file(__package__, "nouns.json"))


def in_case(word: str, mode: CaseMode, rng: Stream) -> str:
    """Return a word in a case mode; in mixed mode lowercase, capitalised or uppercase at random."""
    if mode == "mixed":
        return rng.choice(_WAYS)(word)
    return word.upper() if mode == "upper" else word


def enumeration(words: tuple[str, ...] | list[str]) -> str:
    """Return words as a list in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} and {words[-1]}"


def capitalised(sentence: str) -> str:
    """Return a sentence with its first letter capitalised."""
    return sentence[0].upper() + sentence[1:]


def anchor(form: str, n: int) -> str:
    """Return the marker of the n-th line, followed by a space; empty for the form ``none``.

    A ``clock`` can mark 900 lines.
    """
    match form:
        case "number":
            return f"{n}. "
        case "roman":
            return f"{roman(n)}. "
        case "hex":
            return f"0x{n:X}: "
        case "letter":
            return f"{letters(n)}) "
        case "bullet":
            return "- "
        case "ordinal":
            return f"{ordinal(n)}: "
        case "step":
            return f"Step {n}: "
        case "clock":
            return f"{clock(n)} "
    return ""


def roman(n: int) -> str:
    """Return a number from 1 to 3999 in Roman numerals."""
    text = ""
    for numeral, value in _ROMAN.items():
        text += numeral * (n // value)
        n %= value
    return text


def letters(n: int) -> str:
    """Return a, b, ..., z, aa, ab and so on for 1, 2, ..."""
    text = ""
    while n:
        n, place = divmod(n - 1, 26)
        text = chr(ord("a") + place) + text
    return text


def ordinal(n: int) -> str:
    """Return 1st, 2nd, 3rd, 4th and so on."""
    endings = {1: "st", 2: "nd", 3: "rd"}
    is_teen = n // 10 % 10 == 1
    ending = "th" if is_teen else endings.get(n % 10, "th")
    return f"{n}{ending}"


def clock(n: int) -> str:
    """Return the time of day n minutes after nine, such as ``09:01``."""
    hour, minute = divmod(_FIRST_MINUTE + n, 60)
    return f"{hour:02d}:{minute:02d}"
