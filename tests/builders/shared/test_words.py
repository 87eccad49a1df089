import pytest

from scbench.builders.shared.words import (
    anchor,
    clock,
    families,
    letters,
    ordinal,
    roman,
)


@pytest.mark.parametrize("prefix", range(1, 5))
def test_families_share_first_letters(prefix):
    assert sum(map(len, families(prefix).values())) > 200
    for start, words in families(prefix).items():
        assert len(words) > 1
        assert all(word.startswith(start) and len(word) > prefix for word in words)


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        ("none", ["", "", ""]), ("number", ["1. ", "2. ", "29. "]),
        ("roman", ["I. ", "II. ", "XXIX. "]), ("hex", ["0x1: ", "0x2: ", "0x1D: "]),
        ("letter", ["a) ", "b) ", "ac) "]), ("bullet", ["- ", "- ", "- "]),
        ("ordinal", ["1st: ", "2nd: ", "29th: "]), ("step", ["Step 1: ", "Step 2: ", "Step 29: "]),
        ("clock", ["09:01 ", "09:02 ", "09:29 "]),
    ],
)  # fmt: skip
def test_anchors(form, texts):
    assert [anchor(form, n) for n in (1, 2, 29)] == texts


def test_line_numbers():
    assert [roman(n) for n in (4, 9, 14, 40, 90, 199)] == [
        "IV",
        "IX",
        "XIV",
        "XL",
        "XC",
        "CXCIX",
    ]
    assert [letters(n) for n in (1, 26, 27, 52, 53, 703)] == [
        "a",
        "z",
        "aa",
        "az",
        "ba",
        "aaa",
    ]
    assert [ordinal(n) for n in (3, 11, 12, 13, 21, 22, 111, 101)] == [
        "3rd", "11th", "12th", "13th", "21st", "22nd", "111th", "101st",
    ]  # fmt: skip
    assert clock(200) == "12:20"
    for make in (roman, letters, ordinal, clock):
        assert len({make(n) for n in range(1, 201)}) == 200
