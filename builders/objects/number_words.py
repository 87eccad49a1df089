"""Numbers in words."""

from collections.abc import Mapping
from functools import cache

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


@cache
def in_words(n: int) -> str:
    """Return a number from 0 to 999 in words, such as ``one hundred and twenty-one``."""
    hundreds, remainder = divmod(n, 100)
    if hundreds:
        return f"{_SMALL[hundreds]} hundred" + (f" and {in_words(remainder)}" if remainder else "")
    tens, ones = divmod(n, 10)
    if tens < 2:
        return _SMALL[n]
    return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")


@cache
def numbers_in_words() -> Mapping[str, int]:
    """Return every number from 1 to 999 by its words; ``a`` and ``an`` are 1."""
    return {"a": 1, "an": 1, **{in_words(n): n for n in range(1, 1000)}}
