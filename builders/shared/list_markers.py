"""Markers of the lines of a list: none, numbers of several kinds, letters, bullets."""

from collections.abc import Callable

_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_FIRST_MINUTE = 9 * 60


def anchor(form: str, n: int) -> str:
    """Return the marker of the n-th line, with the blank after it; ``none`` is empty.

    Args:
        form: a name of the task's ``AnchorFormat``.
        n: number of the line, from 1; for ``clock`` up to 900.
    """
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
    ending = "th" if n // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
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
