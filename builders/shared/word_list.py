"""The word list of the text tasks: plain English words of 3 to 12 small letters, in order."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from scbench.base.seeding import Stream

CaseMode = Literal["lower", "upper", "mixed"]
"""How words are written: small letters, capitals, or each word in a way of its own."""
_WAYS = (str.lower, str.capitalize, str.upper)


@cache
def word_list() -> tuple[str, ...]:
    """Return every word, in alphabetical order."""
    text = files(__package__).joinpath("word_list.json").read_text("utf-8")
    return tuple(json.loads(text)["words"])


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
