"""Short answers as models write them: which are read, and which are not."""

import math
from fractions import Fraction

import pytest
from bounds import a_minute_of_work
from hypothesis import given
from hypothesis import strategies as st

from scbench.graders.shared.answer_text import MAX_LENGTH, quote, tidy
from scbench.graders.shared.short_answers import (
    closing_runs,
    entries,
    integer,
    number,
    truth,
    without_spaces,
)

NUMBERS = {
    42: 42, -3: -3, 2.5: Fraction(5, 2), 0.1: Fraction(1, 10), 1e22: 10**22, -0.0: 0,
    "42": 42, " 42 ": 42, "+42": 42, "-42": -42, "- 42": -42, "−42": -42, "–42": -42, "007": 7,
    "1,234": 1234, "-1,234,567": -1234567, "1 234": 1234, "1\u202f234": 1234, "1'234": 1234,
    "1,234.5": Fraction(2469, 2), "3.50": Fraction(7, 2), ".5": Fraction(1, 2), "5.": 5,
    "42.": 42, "42.0": 42, "1e3": 1000, "2.5E-1": Fraction(1, 4),
    "2/3": Fraction(2, 3), "4/6": Fraction(2, 3), "-2/3": Fraction(-2, 3), "2/-3": Fraction(-2, 3),
    "2 / 3": Fraction(2, 3), "(−2/3)": Fraction(-2, 3), "-(2/3)": Fraction(-2, 3), "(5)": 5,
    "0.5/2": Fraction(1, 4), "\\frac{2}{3}": Fraction(2, 3), "-\\dfrac{2}{3}": Fraction(-2, 3),
    "$\\frac{1}{2}$": Fraction(1, 2), "\\(7\\)": 7, "\\boxed{7}": 7, "$$7$$": 7,
    "**42**": 42, "`42`": 42, '"42"': 42, "“42”": 42, "**42**.": 42, "x = 42": 42, "= 42": 42,
    "6 * 7 = 42": 42, "42 apples": 42, "There are 42 apples.": 42, "forty-two": 42,
    "Forty two": 42,
    "forty-two apples": 42, "42 (forty-two)": 42, "minus forty-two": -42,
    "one hundred and five": 105,
    "two thousand three hundred six": 2306, "a hundred": 100, "zero": 0, "eleven": 11,
    "It is -42": -42, "42. That is 6 times 7.": 42, "((5))": 5, "42!": 42, "42 = forty-two": 42,
}  # fmt: skip
NO_NUMBERS = [
    True, False, "", " ", "x", "4 2", "1,23", "1,2345", "1.2.3", "1/0",
    "1/2/3", "/2", "2/", "--2", "+-2", "0x10", "1_000", "1e9999", "inf", "nan", "-", ".", "e5",
    "1,234,56", "٤٢", "²", "42 or 43", "42 = 6 * 7", "50%", math.inf, math.nan, ["42"], [],
    "9" * 1001, "9" * (MAX_LENGTH + 1), "()", "two three", "1 of 2", "12 (not 13)",
    "about 42", "not 42", "0 * (0 - 0)",
    "0 - 0", "5 + 5", "42?", "at least 42", "a dozen", "x42", "42nd", "f(42)",
    "42. Or maybe 43.",
    "42. Wait, 43.", "either 42", "42 or so", "twenty fifteen", "hundred",
]  # fmt: skip
LISTS = {
    "apple, Pear, fig": ("apple", "Pear", "fig"), "apple Pear fig": ("apple", "Pear", "fig"),
    "apple; Pear; fig.": ("apple", "Pear", "fig"), "apple > Pear > fig": ("apple", "Pear", "fig"),
    "apple -> Pear → fig": ("apple", "Pear", "fig"), "apple | Pear | fig": ("apple", "Pear", "fig"),
    "apple\nPear\r\nfig": ("apple", "Pear", "fig"),
    "1. apple\n2. Pear\n3) fig": ("apple", "Pear", "fig"),
    "- apple\n- Pear\n* fig": ("apple", "Pear", "fig"),
    "[apple, Pear, fig]": ("apple", "Pear", "fig"),
    "['apple', \"Pear\", fig]": ("apple", "Pear", "fig"),
    "{apple, Pear, fig}": ("apple", "Pear", "fig"), "apple, Pear and fig": ("apple", "Pear", "fig"),
    "apple, Pear, and fig": ("apple", "Pear", "fig"), "and, band, sand": ("and", "band", "sand"),
    "band, sand, and": ("band", "sand", "and"), "apple,": ("apple",),
    "**apple**, `Pear`": ("apple", "Pear"), "3, 1, -2": ("3", "1", "-2"),
    "Here they are: apple, Pear, fig.": ("apple", "Pear", "fig"), "A & C": ("A", "C"), "": (),
    "the bell; my hand hurt": ("the bell", "my hand hurt"),
    "[]": (), ("apple", " Pear "): ("apple", "Pear"), (3, 1, "x"): ("3", "1", "x"), (): (),
    5: ("5",), "1. a - b\n2. c": ("a - b", "c"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), NUMBERS.items(), ids=map(repr, NUMBERS))
def test_numbers_are_read_exactly(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize("value", ["minus 12", "Negative 12", "It is minus 12."])
def test_minus_may_be_a_word(value):
    assert number(value) == -12
    assert number("15 minus 3") is None


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: repr(value)[:20])
def test_non_numbers_are_none(value):
    assert number(value) is None
    assert integer(value) is None


@given(
    st.fractions(),
    st.sampled_from(["{}", " {} ", "**{}**", "({})", "x = {}", "${}$.", '"{}"']),
)
def test_fractions_are_read_in_any_markup(value, markup):
    assert number(markup.format(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_read_as_their_shortest_decimal(value):
    assert number(value) == number(repr(value)) == Fraction(repr(value))


@pytest.mark.parametrize(
    "value",
    [
        "TRUE", "t", "Yes", "y", "on", "1", 1, True, "**True**", "On.",
        "TRUE (since FALSE is not it)", "Yes, it would still have happened.", "It is true",
        "The expression evaluates to **TRUE**.", "TRUE because FALSE OR TRUE is TRUE", "x = TRUE",
        "Yes. The owl hoots anyway.",
    ],
)  # fmt: skip
def test_true_values(value):
    assert truth(value) is True


@pytest.mark.parametrize(
    "value",
    [
        "False", "F", "no", "N", "OFF", "0", 0, False, '"false"', "false",
        "FALSE (since TRUE XOR TRUE is FALSE)", "No, it would not have happened.",
        "so it is false",
    ],
)  # fmt: skip
def test_false_values(value):
    assert truth(value) is False


@pytest.mark.parametrize(
    "value",
    [
        "", "maybe", "TRUE FALSE", "NOT TRUE", 2, -1, 1.0, "10", ["TRUE"], "x" * MAX_LENGTH * 2,
        "true or false", "TRUE/FALSE", "not true", "Yes and no", "yes, or no", "either true",
        "no doubt", "Yes? No.", "True. No, wait: false.", "is it true?",
    ],
)  # fmt: skip
def test_non_truth_values_are_none(value):
    assert truth(value) is None


@pytest.mark.parametrize(("value", "expected"), LISTS.items(), ids=map(repr, LISTS))
def test_lists_are_read(value, expected):
    assert entries(value) == expected


@pytest.mark.parametrize(
    "value", [True, 1.5, (True,), ("a", 1.5), ("x",) * (MAX_LENGTH + 1), "x" * 10**5]
)
def test_non_lists_are_none(value):
    assert entries(value) is None


@given(
    st.lists(st.from_regex(r"[a-zA-Z]{1,8}", fullmatch=True), min_size=1, max_size=24)
)
def test_words_are_split_at_any_separator(words):
    for between in (", ", ",", "; ", " > ", " -> ", "\n", " | "):
        if len(words) > 1:
            assert entries(between.join(words)) == tuple(words)
    assert entries(" ".join(words)) == entries(words) == tuple(words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  **`x`** . ", "x"), ("\\text{B}", "B"), ("\\boxed{\\text{B}}", "B"), ("$x$", "x"),
        ("“a”", "a"), ("'a' and 'b'", "'a' and 'b'"), ('"', '"'), ("$", "$"), ("$1$ or $2$",
        "$1$ or $2$"),
        ("...", ""), ("", ""), ("\\(", "\\("), ("\\text{a}{b}", "\\text{a}{b}"),
    ],
)  # fmt: skip
def test_markup_around_answers_is_removed(text, expected):
    assert tidy(text) == expected


@given(st.text(alphabet="*_`\"'.$\\(){}[]tex boxed1,/-=eE>\n", max_size=80))
def test_any_text_is_read_and_tidy_is_idempotent(text):
    for read in (number, integer, truth, entries, without_spaces, quote):
        read(text)
    assert tidy(tidy(text)) == tidy(text) or len(text) > 10


def test_many_separate_brackets_are_read_in_linear_time():
    with a_minute_of_work():  # under a second if linear, minutes if quadratic
        for _ in range(100):
            assert without_spaces("a " + ") " * 4_990 + "x") is not None


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("the brackets ) ] > close it", []),
        ("it is ) ] >", [") ] >"]),
        ('it is ") ]" then `>`', [") ]", ">"]),
        ("a) b] ) c", []),
    ],
)
def test_separate_brackets_are_found(text, runs):
    assert closing_runs(text) == runs


def test_long_answers_are_quoted_in_part():
    assert quote("x" * 60) == repr("x" * 60)
    assert quote("x" * 61) == "'" + "x" * 59 + "..."
    assert quote([1, "two", 3, 4, 5]) == "[1, 'two', 3, 4, 5]"
    assert quote([1, 2, 3, 4, 5, 6]) == "[1, 2, 3, 4, 5, ...]"
