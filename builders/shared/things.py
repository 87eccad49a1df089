"""Nouns in groups that share none, adjectives, and numbers in words."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


class Things(NamedTuple):
    """The data file.

    Attributes:
        groups: singular and plural of the nouns of each group.
        adjectives: what can be said of any thing, animals and clothes alike.
        openings: sentences that a list of any things can follow.
    """

    groups: Mapping[str, tuple[tuple[str, str], ...]]
    adjectives: tuple[str, ...]
    openings: tuple[str, ...]


@cache
def things() -> Things:
    """Return the nouns, adjectives and openings."""
    text = files(__package__).joinpath("things.json").read_text("utf-8")
    data = json.loads(text)
    return Things(
        groups={
            group: tuple((one, many) for one, many in nouns)
            for group, nouns in data["groups"].items()
        },
        adjectives=tuple(data["adjectives"]),
        openings=tuple(data["openings"]),
    )


@cache
def in_words(n: int) -> str:
    """Return a number from 0 to 999 in words, such as ``one hundred and twenty-one``."""
    hundreds, rest = divmod(n, 100)
    if hundreds:
        return f"{_SMALL[hundreds]} hundred" + (f" and {in_words(rest)}" if rest else "")
    tens, ones = divmod(n, 10)
    if tens < 2:
        return _SMALL[n]
    return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")


@cache
def numbers_in_words() -> Mapping[str, int]:
    """Return every number from 1 to 999 by its words; ``a`` and ``an`` are 1."""
    return {"a": 1, "an": 1, **{in_words(n): n for n in range(1, 1000)}}


def listed(words: tuple[str, ...] | list[str]) -> str:
    """Return words as a sentence lists them: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
