import re
from collections import Counter
from itertools import combinations

import pytest

from scbench.base.seeding import Stream
from scbench.builders.objects import numbers_in_words
from scbench.builders.shared.words import (
    anchor,
    clock,
    enumeration,
    families,
    in_case,
    letters,
    ordinal,
    roman,
    things,
    word_list,
)
from scbench.builders.shuffle import names


def test_words_are_plain_different_and_in_order():
    words = word_list()
    assert len(words) > 1_500
    assert list(words) == sorted(set(words))
    assert all(word.isascii() and word.islower() and 3 <= len(word) <= 12 for word in words)
    # Letter counting looks for three different letters until it has them.
    assert all(len(set(word)) >= 3 for word in words)


@pytest.mark.parametrize("prefix", range(1, 5))
def test_families_share_their_first_letters(prefix):
    assert sum(map(len, families(prefix).values())) > 200
    for start, words in families(prefix).items():
        assert len(words) > 1
        assert all(word.startswith(start) and len(word) > prefix for word in words)


def test_mixed_case_takes_three_ways_evenly():
    rng = Stream("words")
    ways = Counter(in_case("apple", "mixed", rng) for _ in range(900))
    assert set(ways) == {"apple", "Apple", "APPLE"}
    assert min(ways.values()) > 220
    assert in_case("apple", "upper", rng) == "APPLE"
    assert in_case("apple", "lower", rng) == "apple"


def test_eleven_groups_of_at_least_twenty_nouns_share_none():
    groups = things().groups
    assert len(groups) == 11
    assert all(len(nouns) >= 20 for nouns in groups.values())
    # A plural must not be another's singular either.
    forms = Counter(form for nouns in groups.values() for noun in nouns for form in set(noun))
    assert [form for form, times in forms.items() if times > 1] == []
    assert all(singular != plural for nouns in groups.values() for singular, plural in nouns)
    assert all(re.fullmatch("[a-z]+( [a-z]+)*", form) for form in forms)


def test_no_noun_begins_with_a_sound_unlike_its_letter():
    """The article is chosen by the letter."""
    silent = re.compile("hour|honest|heir|honou?r|uni|use|usu(?!al)|uk|eu|ewe|one\\b|once")
    words = [noun[0] for nouns in things().groups.values() for noun in nouns]
    assert [word for word in [*words, *things().adjectives] if silent.match(word)] == []


def test_no_word_of_a_list_can_be_taken_for_a_quantity():
    quantities = {*numbers_in_words(), "hundred", "dozen", "pair", "couple", "half", "few"}
    words = [*things().adjectives]
    words += [word for nouns in things().groups.values() for n in nouns for form in n
              for word in form.split()]  # fmt: skip
    assert not quantities & set(words)


def test_adjectives_and_openings_are_different():
    assert len(set(things().adjectives)) == len(things().adjectives) >= 20
    assert len(set(things().openings)) == len(things().openings) >= 5
    assert all(opening.endswith(":") for opening in things().openings)
    nouns = {form for nouns in things().groups.values() for noun in nouns for form in noun}
    assert not nouns & set(things().adjectives)


def test_every_number_has_words_of_its_own():
    assert sorted(numbers_in_words().values()) == [1, 1, *range(1, 1000)]


def test_lists_in_sentences():
    assert enumeration(["a"]) == "a"
    assert enumeration(["a", "b"]) == "a and b"
    assert enumeration(("a", "b", "c")) == "a, b and c"


def test_names_are_different_by_more_than_a_letter():
    assert list(names()) == sorted(set(names()))
    assert len(names()) >= 60
    assert all(re.fullmatch("[A-Z][a-z]{2,9}", name) for name in names())
    for a, b in combinations(names(), 2):
        if len(a) == len(b):
            assert sum(x != y for x, y in zip(a, b, strict=True)) > 1, (a, b)
        assert a + "s" != b, "a name must not look like another's possessive"
        assert not b.startswith(a), (a, b)


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


def test_numbers_of_lines():
    assert [roman(n) for n in (4, 9, 14, 40, 90, 199)] == ["IV", "IX", "XIV", "XL", "XC", "CXCIX"]
    assert [letters(n) for n in (1, 26, 27, 52, 53, 703)] == ["a", "z", "aa", "az", "ba", "aaa"]
    assert [ordinal(n) for n in (3, 11, 12, 13, 21, 22, 111, 101)] == [
        "3rd", "11th", "12th", "13th", "21st", "22nd", "111th", "101st",
    ]  # fmt: skip
    assert clock(200) == "12:20"
    for make in (roman, letters, ordinal, clock):
        assert len({make(n) for n in range(1, 201)}) == 200
