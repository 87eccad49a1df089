"""Integers in English words, from zero to many millions."""

import re
from collections.abc import Iterator, Mapping

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
WORDS: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_SMALL.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), 2)},
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
}
_ANY_WORD = "|".join(WORDS)
_WORD = re.compile(r"[^\W\d_]+")
_RUN = re.compile(
    rf"""
    # "this one" and the like are not numbers.
    (?<!\bthis[ ])(?<!\bthat[ ])(?<!\bthe[ ])(?<!\bonly[ ])
    \b(?P<minus>(?:minus|negative)\s+)?
    (?P<words>
        (?:an?\s+(?=hundred|thousand|million))?
        (?:{_ANY_WORD})\b
        (?:(?:\s+and)?[\s-]+(?:{_ANY_WORD})\b)*
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)


def spoken_number(text: str) -> int | None:
    """Return the integer that the whole text means; None if it is not a number."""
    if _RUN.fullmatch(text) is None:
        return None
    return next(spoken_numbers(text))


def spoken_numbers(text: str) -> Iterator[int | None]:
    """Yield the integers written as words in a text; None for words that form no number."""
    for run in _RUN.finditer(text):
        words = [word.casefold() for word in _WORD.findall(run["words"])]
        value = number_of_words(words)
        yield -value if value is not None and run["minus"] else value


def number_of_words(words: list[str]) -> int | None:
    """Return the number that words form together; None if they form none."""
    total = 0
    # The words since the last thousand or million, which must become smaller and smaller.
    part = 0
    smallest = 10**9
    for word in words:
        if word == "and":
            continue
        number = 1 if word in {"a", "an"} else WORDS[word]
        if number >= 1_000:
            if not 0 < part < 1_000 or number >= smallest:
                return None
            total += part * number
            part = 0
            smallest = number
        elif number == 100:
            if not 0 < part < 10:
                return None
            part *= 100
        elif not can_follow(part, number) or (number == 0 and len(words) > 1):
            return None
        else:
            part += number
    return total + part


def can_follow(part: int, number: int) -> bool:
    """Whether a number below 100 can follow another: five after twenty, but not after fifteen."""
    below = part % 100
    return below == 0 or (below >= 20 and below % 10 == 0 and number < 10)
