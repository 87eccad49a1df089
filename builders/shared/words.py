"""The word list of the text tasks: plain English words of 3 to 12 small letters, in order."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal, NamedTuple

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import data_file

# How words are written: small letters, capitals, or each word in a way of its own.
CaseMode = Literal["lower", "upper", "mixed"]
_WAYS = (str.lower, str.capitalize, str.upper)


_ROMAN = (
    *(
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
    ),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_FIRST_MINUTE = 9 * 60


@cache
def word_list() -> tuple[str, ...]:
    """Return every word, in alphabetical order."""
    return tuple(data_file(__package__, "word_list.json")["words"])


@cache
def families(prefix: int) -> Mapping[str, tuple[str, ...]]:
    """Return the words that share a prefix of this length with another word, by prefix."""
    members: dict[str, list[str]] = {}
    for word in word_list():
        if len(word) > prefix:
            members.setdefault(word[:prefix], []).append(word)
    return {start: tuple(words) for start, words in members.items() if len(words) > 1}


def in_case(word: str, mode: CaseMode, rng: Stream) -> str:
    """Return a word as the mode writes it; in mixed mode small, capitalised or all capitals."""
    if mode == "mixed":
        return rng.choice(_WAYS)(word)
    return word.upper() if mode == "upper" else word


class Things(NamedTuple):
    """Nouns of each group with their plurals, adjectives for any, openings of any list."""

    groups: Mapping[str, list[list[str]]]
    adjectives: list[str]
    openings: list[str]


@cache
def things() -> Things:
    """Return the nouns, adjectives and openings."""
    return Things(**data_file(__package__, "nouns.json"))


def enumeration(words: tuple[str, ...] | list[str]) -> str:
    """Return words as a sentence lists them: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def capitalised(sentence: str) -> str:
    """Return a sentence with its first letter as a capital."""
    return sentence[0].upper() + sentence[1:]


def anchor(form: str, n: int) -> str:
    """Return the marker of the n-th line (``clock`` to 900), with the blank; ``none`` is empty."""
    return _FORMS[form](n)


def roman(n: int) -> str:
    """Return a number from 1 to 3999 in Roman numerals."""
    text = ""
    for value, sign in _ROMAN:
        text += sign * (n // value)
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
    ending = (
        "th" if n // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    )
    return f"{n}{ending}"


def clock(n: int) -> str:
    """Return the time of day n minutes after nine, such as ``09:01``."""
    hour, minute = divmod(_FIRST_MINUTE + n, 60)
    return f"{hour:02d}:{minute:02d}"


_FORMS: dict[str, Callable[[int], str]] = {
    "none": lambda _: "",
    "number": lambda n: f"{n}. ",
    "roman": lambda n: f"{roman(n)}. ",
    "hex": lambda n: f"0x{n:X}: ",
    "letter": lambda n: f"{letters(n)}) ",
    "bullet": lambda _: "- ",
    "ordinal": lambda n: f"{ordinal(n)}: ",
    "step": lambda n: f"Step {n}: ",
    "clock": lambda n: f"{clock(n)} ",
}
