from collections import Counter

import pytest

from scbench.base.seeding import Stream
from scbench.builders.shared.words import families, in_case, word_list


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
