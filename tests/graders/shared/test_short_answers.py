"""Short answers as they are written: what is read, and what is not."""

import math
from datetime import date as day
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.graders.shared.short_answers import (
    MOST,
    date,
    entries,
    integer,
    number,
    option,
    shown,
    tidy,
    truth,
    unspaced,
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
    "6 * 7 = 42": 42,
}  # fmt: skip
NO_NUMBERS = [
    True, False, "", " ", "x", "forty-two", "4 2", "42 apples", "1,23", "1,2345", "1.2.3", "1/0",
    "1/2/3", "/2", "2/", "--2", "+-2", "0x10", "1_000", "1e9999", "inf", "nan", "-", ".", "e5",
    "1,234,56", "٤٢", "²", "42 or 43", "42 = 6 * 7", "50%", math.inf, math.nan, ["42"], [],
    "9" * 1001, "9" * (MOST + 1), "()", "((5))",
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), NUMBERS.items(), ids=map(repr, NUMBERS))
def test_numbers_are_read_exactly(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: repr(value)[:20])
def test_what_is_no_number_is_none(value):
    assert number(value) is None
    assert integer(value) is None


def test_only_whole_numbers_are_integers():
    assert [integer(value) for value in ("42", "42.0", "84/2", 42.0, "1,000")] == [42] * 4 + [1000]
    assert [integer(value) for value in ("4.2", "1/2", 0.5)] == [None] * 3
    assert integer(10**5000) == 10**5000


@given(st.fractions(), st.sampled_from(["{}", " {} ", "**{}**", "({})", "x = {}", "${}$.", '"{}"']))
def test_any_fraction_is_read_in_any_dress(value, dress):
    assert number(dress.format(value)) == value


@given(st.integers(-(10**40), 10**40))
def test_any_integer_is_read_with_any_separators(value):
    for text in (f"{value:,}", f"{value:,}".replace(",", " "), str(value).replace("-", "−")):
        assert integer(text) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_the_decimals_they_are_written_as(value):
    assert number(value) == number(repr(value)) == Fraction(repr(value))


@pytest.mark.parametrize("value", ["TRUE", "t", "Yes", "y", "on", "1", 1, True, "**True**", "On."])
def test_truth(value):
    assert truth(value) is True


@pytest.mark.parametrize("value", ["False", "F", "no", "N", "OFF", "0", 0, False, '"false"'])
def test_falsehood(value):
    assert truth(value) is False


@pytest.mark.parametrize(
    "value", ["", "maybe", "TRUE FALSE", "NOT TRUE", 2, -1, 1.0, "10", ["TRUE"], "x" * MOST * 2]
)
def test_what_is_no_truth_value_is_none(value):
    assert truth(value) is None


CITIES = ("Rome", "Paris", "A Coruña", "New York")


@pytest.mark.parametrize(
    "value",
    [
        *("B", "b", "(B)", "(b)", "B)", "B.", "[B]", "B:", "**B**", "Option B", "choice b"),
        "B) Paris",
        *("B. Paris", "B: Paris", "B - Paris", "B – paris", "(B) Paris", "B Paris", "Paris"),
        " PARIS ",
        *("**Paris**", '"Paris"', "Paris (B)", "Paris [b]", "B) **Paris**", "Option B: Paris"),
    ],
)  # fmt: skip
def test_an_option_is_named_by_letter_or_text(value):
    assert option(value, CITIES) == 1


@pytest.mark.parametrize(
    "value",
    [
        *("", "E", "AB", "B) Rome", "Rome (B)", "B or C", "A, B", "A and B", "Berlin", "2", 2),
        True,
        *("Rome Paris", "B) Paris or Rome", ["B"], "Option", "()", "B" * (MOST + 1)),
    ],
)  # fmt: skip
def test_no_option_or_two_are_none(value):
    assert option(value, CITIES) is None


def test_texts_of_options_beat_letters_and_labels_can_be_chosen():
    assert option("A Coruña", CITIES) == 2
    assert option("new  york", CITIES) == 3
    assert option("3", CITIES, labels="1234") == 2
    assert option(3, CITIES, labels="1234") == 2
    assert option("iv) New York", CITIES, labels=["i", "ii", "iii", "iv"]) == 3
    assert option("D", CITIES[:3]) is None
    assert option("same", ("same", "Same")) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("03/04/2021", (2021, 3, 4)),
        ("3/4/2021", (2021, 3, 4)),
        ("2021-03-04", (2021, 3, 4)),
        ("**12/31/1999**.", (1999, 12, 31)),
        ("02/29/2024", (2024, 2, 29)),
        ("02/29/2000", (2000, 2, 29)),
        ("02/29/2023", None),
        ("02/29/1900", None),
        ("13/01/2021", None),
        ("04/31/2021", None),
        ("00/10/2021", None),
        ("01/00/2021", None),
        ("01/01/0000", None),
        ("03-04-2021", None),
        ("03/04/21", None),
        ("03/04/2021 or 03/05/2021", None),
        ("٠٣/04/2021", None),
        (20210304, None),
    ],
)
def test_dates(value, expected):
    assert date(value) == expected


@given(st.dates())
def test_every_day_and_no_other_is_a_date(value):
    after = value + timedelta(days=1) if value < day.max else value
    for written in (value, after):
        expected = (written.year, written.month, written.day)
        assert date(written.isoformat()) == expected
        assert date(f"{written.month:02}/{written.day:02}/{written.year:04}") == expected
    if after.month != value.month:
        assert date(f"{value.year:04}-{value.month:02}-{value.day + 1:02}") is None


LISTS = {
    "apple, Pear, fig": ("apple", "Pear", "fig"),
    "apple Pear fig": ("apple", "Pear", "fig"),
    "apple; Pear; fig.": ("apple", "Pear", "fig"),
    "apple > Pear > fig": ("apple", "Pear", "fig"),
    "apple -> Pear → fig": ("apple", "Pear", "fig"),
    "apple | Pear | fig": ("apple", "Pear", "fig"),
    "apple\nPear\r\nfig": ("apple", "Pear", "fig"),
    "1. apple\n2. Pear\n3) fig": ("apple", "Pear", "fig"),
    "- apple\n- Pear\n* fig": ("apple", "Pear", "fig"),
    "[apple, Pear, fig]": ("apple", "Pear", "fig"),
    "['apple', \"Pear\", fig]": ("apple", "Pear", "fig"),
    "{apple, Pear, fig}": ("apple", "Pear", "fig"),
    "apple, Pear and fig": ("apple", "Pear", "fig"),
    "apple, Pear, and fig": ("apple", "Pear", "fig"),
    "and, band, sand": ("and", "band", "sand"),
    "band, sand, and": ("band", "sand", "and"),
    "apple,": ("apple",),
    "**apple**, `Pear`": ("apple", "Pear"),
    "3, 1, -2": ("3", "1", "-2"),
    "": (),
    "[]": (),
    ("apple", " Pear "): ("apple", "Pear"),
    (3, 1, "x"): ("3", "1", "x"),
    (): (),
    5: ("5",),
}


@pytest.mark.parametrize(("value", "expected"), LISTS.items(), ids=map(repr, LISTS))
def test_lists(value, expected):
    assert entries(value) == expected


@pytest.mark.parametrize(
    "value", [True, 1.5, (True,), ("a", 1.5), ("x",) * (MOST + 1), "x" * 10**5]
)
def test_what_is_no_list_is_none(value):
    assert entries(value) is None


@given(st.lists(st.from_regex(r"[a-zA-Z]{1,8}", fullmatch=True), min_size=1, max_size=24))
def test_any_words_survive_any_separator(words):
    for between in (", ", ",", "; ", " > ", " -> ", "\n", " | "):
        if len(words) > 1:
            assert entries(between.join(words)) == tuple(words)
    assert entries(" ".join(words)) == entries(words) == tuple(words)


def test_blanks_are_removed():
    assert unspaced(" ) ] }\n>") == ")]}>"
    assert unspaced('") ]"') == ")]"
    assert unspaced(7) == "7"
    assert unspaced(True) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  **`x`** . ", "x"), ("\\text{B}", "B"), ("\\boxed{\\text{B}}", "B"), ("$x$", "x"),
        ("“a”", "a"), ("'a' and 'b'", "'a' and 'b'"), ('"', '"'), ("$", "$"), ("$1$ or $2$",
        "$1$ or $2$"),
        ("...", ""), ("", ""), ("\\(", "\\("), ("\\text{a}{b}", "\\text{a}{b}"),
    ],
)  # fmt: skip
def test_what_surrounds_an_answer_is_dropped(text, expected):
    assert tidy(text) == expected


@given(st.text(alphabet="*_`\"'.$\\(){}[]tex boxed1,/-=eE>\n", max_size=80))
def test_no_text_raises_and_tidying_twice_changes_nothing(text):
    for read in (number, integer, truth, date, entries, unspaced, shown):
        read(text)
    option(text, CITIES)
    assert tidy(tidy(text)) == tidy(text) or len(text) > 10


@pytest.mark.parametrize("unit", ["*.", '"', "'", "\\text{", "$", "(", "1,", "\\frac{", " ", "a "])
def test_long_texts_take_no_time(unit):
    text = (unit * MOST)[:MOST]
    for read in (number, truth, date, entries, unspaced, shown):
        read(text)
    option(text, CITIES)


def test_answers_are_quoted_shortly():
    assert shown("a\nb") == r"'a\nb'"
    assert shown(42) == "42"
    assert shown([1, "b"]) == "[1, 'b']"
    assert len(shown("x" * 10**6)) < 100
    assert len(shown(["x" * 10**6] * 100)) < 500
    assert shown(10**5000) == "a number of 16610 bits"
