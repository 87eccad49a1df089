"""Numbers in words."""

from scbench.graders.shared.spoken_numbers import spoken_numbers

ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = [
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
    "eighteen", "nineteen",
]  # fmt: skip
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_words(number: int) -> str:
    if number < 10:
        return ONES[number - 1]
    if number < 20:
        return TEENS[number - 10]
    if number < 100:
        tens, rest = TENS[number // 10 - 2], number % 10
        return f"{tens}-{ONES[rest - 1]}" if rest else tens
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    count, rest = divmod(number, size)
    words = f"{in_words(count)} {name}"
    return f"{words} and {in_words(rest)}" if rest else words


def test_numbers_below_ten_thousand_are_read():
    for number in range(1, 10_000):
        assert list(spoken_numbers(f"there are {in_words(number)} pears")) == [number]
