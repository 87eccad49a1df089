"""Word sorting: put words in alphabetical order, with capitals first or equal.

An example of the puzzle, in which capitals come first, with the answer Lamp, Tin, lamb, oak:

    oak, Tin, lamb, Lamp
"""

import math
from bisect import bisect, insort
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pydantic import Field, JsonValue

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Point,
    parameter,
    prompt_template,
    under,
)
from scbench.builders.shared.text_task import TextBuilder, reply_short
from scbench.builders.shared.words import CaseMode, families, in_case, word_list
from scbench.schemas.word_sorting import Answer, Order, Params

# The rule on letters, by the order of the words and whether case matters.
_ALPHABETS = {
    (
        "ascending",
        True,
    ): "Uppercase letters come before lowercase ones: A, B, ..., Z, a, b, ..., z.",
    (
        "descending",
        True,
    ): "Lowercase letters come before uppercase ones: z, y, ..., a, Z, Y, ..., A.",
    ("ascending", False): "Case is ignored.",
    ("descending", False): "Case is ignored.",
}


class Space(Point):
    """Parameters of lists of words."""

    words: int = parameter(10, "number of words", "scale", ge=3, le=150)
    prefix: int = parameter(
        0,
        "minimum number of leading letters that each word shares with another word",
        "depth",
        ge=0,
        le=4,
    )
    case_mode: CaseMode = parameter("lower", "how words are written", "interference")
    case_sensitive: bool = parameter(
        False,
        "whether uppercase letters come before lowercase; matters only if words have mixed case",
        "semantic",
    )
    order: Order = parameter(
        "ascending", "ascending: from A to Z; descending: from Z to A", "semantic"
    )


class WordSortingCase(Case):
    """A case of word sorting."""

    swaps: int = Field(
        ge=0,
        description="number of pairs of words that are in the wrong order at first",
    )


class TaskBuilder(TextBuilder[Params, Answer, Space]):
    """Lists of different words that are never already in order."""

    task = "word_sorting"
    version = 3
    draws = 2
    case_model = WordSortingCase
    extremes = (
        {"words": 3, "prefix": 4},
        {"words": 24, "prefix": 4, "case_mode": "mixed", "case_sensitive": True},
        {"words": 24, "case_mode": "upper", "order": "descending"},
        {"words": 5, "prefix": 2, "case_mode": "mixed", "order": "descending"},
    )

    def prompt(self, params: Params) -> str:
        """Return the words and the order to sort them in."""
        is_ascending = params.order == "ascending"
        direction = "from A to Z" if is_ascending else "from Z to A"
        rules = [
            "Compare words letter by letter from the left; the first difference decides."
        ]
        if has_prefix(params):
            side = "before" if is_ascending else "after"
            rules.append(f"A word comes {side} longer words that begin with it.")
        letters = "".join(params.words)
        if not letters.islower() and not letters.isupper():
            if params.case_sensitive:
                first_case = "uppercase" if is_ascending else "lowercase"
                direction = f"with {first_case} letters first"
            rules.append(_ALPHABETS[params.order, params.case_sensitive])
        prompt = prompt_template(__name__).format(
            n=len(params.words),
            order=params.order,
            direction=direction,
            words=", ".join(params.words),
            rules="\n".join(rules),
        )
        return prompt + reply_short("the list of words in order", quoted=False)

    def reference(self, params: Params) -> Answer:
        """Sort the words."""
        return Answer(answer=tuple(sorted_words(params)))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return other orders, and lists in which a word is missing or repeated."""
        right = sorted_words(params)
        swapped = [right[1], right[0], *right[2:]]
        misread = params.model_copy(
            update={"case_sensitive": not params.case_sensitive}
        )
        orders: dict[str, Sequence[str]] = {
            "as_given": params.words,
            "turned_round": right[::-1],
            "first_two_swapped": swapped,
            "last_moved_to_the_front": [right[-1], *right[:-1]],
            "capitals_the_other_way": sorted_words(misread),
            "by_length": sorted(params.words, key=lambda word: (len(word), word)),
            "last_left_out": right[:-1],
            "first_given_twice": [right[0], *right],
            "another_word": ["aardvark", *right],
        }
        wrong: dict[str, JsonValue] = {}
        for name, order in orders.items():
            words: list[Any] = list(order)
            # A misreading can lead to the right order.
            if words != right:
                wrong[name] = words
        wrong |= {
            "one_word": right[0],
            "number": len(right),
            "swapped_text": ", ".join(swapped),
        }
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the number of inversions."""
        _, facts = self.solved(params)
        return facts

    def solved(self, params: Params) -> tuple[str, dict[str, JsonValue]]:
        """Return the target and the facts of an instance; the words are sorted once for both."""
        right = sorted_words(params)
        return ", ".join(right), {"swaps": inversions(params.words, right)}

    def measure(self, params: Params) -> float:
        """Return the number of letters needed to compare neighbours in order."""
        words = sorted_words(params)
        if not params.case_sensitive:
            words = [word.lower() for word in words]
        return sum(letters_compared(first, second) for first, second in pairwise(words))

    def blind_floor(self, params: Params) -> float:
        """Return 1 over the number of orders, not counting the given one, which is never right."""
        return 1 / (math.factorial(len(params.words)) - 1)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw words, in families if they must share a prefix, and shuffle them."""
        if point.prefix:
            words = draw_families(point, rng)
            rng.shuffle(words)
        else:
            words = rng.sample(word_list(), point.words)
        if point.case_mode != "lower":
            words = [in_case(word, point.case_mode, rng) for word in words]
        params = Params(
            words=tuple(words), order=point.order, case_sensitive=point.case_sensitive
        )
        if sorted_words(params) == words:
            # A different first word always gives a different order.
            return params.model_copy(update={"words": (words[-1], *words[:-1])})
        return params


def sorted_words(params: Params) -> list[str]:
    """Return the words in the requested order."""
    key = None if params.case_sensitive else str.lower
    return sorted(params.words, key=key, reverse=params.order == "descending")


def has_prefix(params: Params) -> bool:
    """Return whether a word of the list is the beginning of another."""
    words = params.words
    if not params.case_sensitive:
        words = tuple(word.lower() for word in words)
    # Sorted, a word comes right before the words that begin with it.
    pairs = pairwise(sorted(words))
    return any(longer.startswith(word) for word, longer in pairs)


def inversions(words: Sequence[str], right: Sequence[str]) -> int:
    """Return the number of pairs of words that are in the wrong order."""
    places = {word: i for i, word in enumerate(right)}
    # The right places of the words so far, in ascending order.
    passed: list[int] = []
    count = 0
    for word in words:
        place = places[word]
        # Words before this one that belong after it.
        count += len(passed) - bisect(passed, place)
        insort(passed, place)
    return count


def letters_compared(first: str, second: str) -> int:
    """Count letters up to the first difference, or one past the end of the shorter word."""
    for i, (a, b) in enumerate(zip(first, second, strict=False), 1):
        if a != b:
            return i
    return 1 + min(len(first), len(second))


def draw_families(point: Space, rng: Stream) -> list[str]:
    """Draw words in groups of two or more with the same first letters."""
    words_of = families(point.prefix)
    starts = sorted(words_of)
    rng.shuffle(starts)
    words: list[str] = []
    for start in starts:
        family = words_of[start]
        missing = point.words - len(words)
        if missing <= len(family):
            return words + rng.sample(family, missing)
        limit = len(family)
        if missing == limit + 1:
            # No single word may remain, because it would be a group of one.
            limit -= 1
        if limit >= 2:
            words += rng.sample(family, rng.between(2, limit))
    return words
