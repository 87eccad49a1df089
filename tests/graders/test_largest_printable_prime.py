"""Digit towers: the rules compared with the geometry of bars, each fault, and the score."""

import json
import math
from itertools import pairwise
from pathlib import Path

import pytest
from bounds import a_minute_of_work
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.catalog import get_task
from scbench.graders.largest_printable_prime import MAX_DIGITS, is_prime
from scbench.scoring.judge import judge

TASK = get_task("largest_printable_prime")
PAPER = TASK.builder().paper()[0].params
REFERENCES = Path(__file__).parent.parent / "data" / "spec_references"
STORED = json.loads((REFERENCES / "largest_printable_prime.json").read_text())
BEST = STORED[0][0]["numberSequence"]

STANDING = {(1, "X"), (3, "X"), (3, "Y"), (7, "X"), (7, "Y")}

ON_LONG_SIDE = {(3, "X"), (3, "Y"), (7, "Y")}
"""Of these, the digits that stand on two bars of a vertical side."""
"""Digits that stand if rotated by 90 degrees; 1 rotated about y lies flat."""
CODES = {
    "f": "flat", "x": "flippedX", "y": "flippedY", "z": "rotate180Z", "X": "rotate90X",
    "Y": "rotate90Y",
}  # fmt: skip
FLAT = "fxyz"
# The two towers that the paper prints.
LARGEST = (
    "8f 8f 8f 9f 9f 9f 9f 9f 6z 9f 6z 9f 6z 9f 9f 6z 9f 6z 6z 6z 9f 6z 6z 6z 3f 3f 3f 3f "
    "7f 7f 7f 7f 7f 7f 1f 1f 1f 1f 1f 1f 7Y 1X"
)
TALLEST = (
    "8f 8f 8f 8f 8f 9f 9f 9f 9f 9f 6z 9f 6z 9f 6z 9f 9f 6z 9f 6z 6z 6z 9f 6z 6z 6z "
    "3f 3f 3f 3f 3f 7f 7f 7f 3Y 1X 1X 1X"
)
# The centres of both halves of each bar, from the coordinates that the prompt prints. Bars are
# rotated by rotating these points.
BARS = {
    "a": [(-2, 10), (2, 10)], "b": [(5, 2), (5, 8)], "c": [(5, -2), (5, -8)],
    "d": [(-2, -10), (2, -10)], "e": [(-5, -2), (-5, -8)], "f": [(-5, 2), (-5, 8)],
    "g": [(-2, 0), (2, 0)],
}  # fmt: skip
TURNS = {
    "f": lambda x, y: (x, y),
    "x": lambda x, y: (-x, y),
    "y": lambda x, y: (x, -y),
    "z": lambda x, y: (-x, -y),
}
# Mostly digits that can rest on each other, so that legal towers occur.
likely = st.lists(
    st.tuples(st.sampled_from([8, 9, 6, 3, 7, 1, 1, 1]), st.sampled_from("fffffzXXY")),
    max_size=8,
).map(lambda items: sorted(items, key=lambda item: [8, 9, 6, 3, 7, 1].index(item[0])))
wild = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("fxyzXY")), max_size=8)


def tower(text):
    items = []
    for item in text.split():
        digit, code = int(item[:-1]), item[-1]
        items.append({"digit": digit, "orientation": CODES[code]})
    return items


def verdict(text, params=PAPER):
    items = tower(text) if isinstance(text, str) else text
    (only,) = judge(TASK, params, {"numberSequence": items})
    return only


def failed(text, params=PAPER):
    return {check.id for check in verdict(text, params).checks if check.passed is False}


def with_params(**changes):
    return PAPER.model_copy(update=changes)


@pytest.mark.parametrize(
    ("items", "digits", "height"),
    [(tower(LARGEST), 42, 80.4), (tower(TALLEST), 38, 115.6), (BEST, 65, 158.0)],
)
def test_known_numbers_score_their_share_of_65_digits(items, digits, height):
    given = verdict(items)
    assert given.score == digits / 65
    assert given.metrics["height_mm"] == height
    assert given.metrics["digits"] == digits
    assert failed(items) == (set() if digits == 65 else {"length"})


def bar_points(digit, code):
    turn = TURNS[code]
    points = set()
    for segment in PAPER.segments[digit]:
        points |= {turn(x, y) for x, y in BARS[segment]}
    return points


@pytest.mark.parametrize(("target", "factor"), [(115.5, 1), (115.6, 0.9)])
def test_tower_must_exceed_target_height(target, factor):
    params = with_params(target_height_mm=target)
    assert verdict(TALLEST, params).score == 38 / 65 * factor


def test_forbidden_digits_orientations_and_lengths_score_0():
    assert failed(LARGEST, with_params(digits=(1, 3, 6, 7, 8))) == {"allowed", "length"}
    assert failed(LARGEST, with_params(orientations=("flat", "rotate180Z", "rotate90Y"))) == {
        "allowed", "length",
    }  # fmt: skip
    assert failed(LARGEST, with_params(max_digits=41)) == {"max_digits", "length"}
    assert failed(LARGEST, with_params(max_digits=42)) == {"length"}
    assert verdict(LARGEST, with_params(max_digits=41)).score == 0


def test_long_numbers_are_rejected_quickly():
    with a_minute_of_work():
        assert failed("9f " * (MAX_DIGITS + 1)) == {"resource_limit"}
        assert "resource_limit" not in failed("9f " * MAX_DIGITS)
        # 1031 ones have no small factor and are a probable prime: the slowest case of the test.
        assert failed("1f " * 1031) == {"resource_limit"}
        assert is_prime("1" * 317)


def plain_prime(n):
    return n > 1 and all(n % k for k in range(2, math.isqrt(n) + 1))


def test_primes_match_trial_division():
    for n in range(20_000):
        assert is_prime(str(n)) == plain_prime(n), n


def is_valid_number(number):
    """Return whether a number is a prime whose groups of three digits all differ."""
    if not number or number[0] == "0":
        return False
    groups = [number[max(0, end - 3) : end] for end in range(len(number), 0, -3)]
    return len(set(groups)) == len(groups) and plain_prime(int(number))


def rests_on(item, below):
    """Return whether a digit can rest on the one below."""
    digit, code = item
    below_digit, below_code = below
    if item == (1, "X"):
        return True
    if below_code not in FLAT:
        return False
    points = bar_points(below_digit, below_code)
    if code in FLAT:
        return bar_points(digit, code) <= points
    if item in ON_LONG_SIDE:
        sides = [{(x, -8), (x, -2), (x, 2), (x, 8)} for x in (-5, 5)]
        return any(side <= points for side in sides)
    bars = [{(-2, y), (2, y)} for y in (-10, 0, 10)]
    return any(bar <= points for bar in bars)


def tenths_of_height(item):
    if item[1] in FLAT:
        return 12
    return 112 if item in ON_LONG_SIDE else 212


@pytest.mark.parametrize(
    "number",
    [
        561, 1729, 2047, 3277, 5459, 5777, 3215031751, 3825123056546413051,
        318665857834031151167461, 3317044064679887385961981, 2**61 - 3, (2**61 - 1) * (2**31 - 1),
    ],
)  # fmt: skip
def test_pseudoprimes_are_composite(number):
    assert not is_prime(str(number))


def plain_score(items):
    """Score a tower by the rules of the prompt, with bars as points."""
    if not is_valid_number("".join(str(digit) for digit, _ in items)):
        return 0
    items = [(1, "f") if item == (1, "Y") else item for item in items]
    for item in items:
        if item[1] in "XY" and item not in STANDING:
            return 0
    if not all(rests_on(item, below) for below, item in pairwise(items)):
        return 0
    score = min(1.0, len(items) / 65)
    height = sum(map(tenths_of_height, items))
    return score * 0.9 if height <= 700 else score


@given(likely | wild)
@settings(max_examples=150)
def test_scores_follow_prompt_rules(items):
    text = " ".join(f"{digit}{code}" for digit, code in items)
    assert verdict(text).score == plain_score(items)
