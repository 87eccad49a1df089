"""Nouns in groups that share none, adjectives, and how sentences list them."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple


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
    text = files(__package__).joinpath("nouns.json").read_text("utf-8")
    data = json.loads(text)
    return Things(
        groups={
            group: tuple((singular, plural) for singular, plural in nouns)
            for group, nouns in data["groups"].items()
        },
        adjectives=tuple(data["adjectives"]),
        openings=tuple(data["openings"]),
    )


def enumeration(words: tuple[str, ...] | list[str]) -> str:
    """Return words as a sentence lists them: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
