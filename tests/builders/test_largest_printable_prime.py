"""The search for the longest prime, compared with exhaustive search, and the paper's optimum."""

import pytest

from scbench.base.seeding import Stream
from scbench.builders.largest_printable_prime import (
    Space,
    TaskBuilder,
    own_length,
)
from scbench.builders.largest_printable_prime.search import (
    Graph,
    greedy_number,
    longest_prime,
)
from scbench.builders.largest_printable_prime.towers import tallest
from scbench.graders.largest_printable_prime import HEIGHTS, is_prime, pose, rests

BUILDER = TaskBuilder()
PAPER = BUILDER.paper()[0].params
LONGEST = "88888899999996969966699696669666995555552525522255222225252257111"


def with_params(**changes):
    return PAPER.model_copy(update=changes)


def poses_on_top(digit, params, tops):
    """Return the poses in which a digit can rest on a tower, with the heights they give."""
    poses = set()
    for name in params.orientations:
        body = pose(digit, name, params.segments[digit])
        if body is None:
            continue
        for lower, height in tops:
            if lower is None or rests(body, lower):
                poses.add((body, height + HEIGHTS[body.stand]))
    return poses


def towers(params, first, number, tops):
    """Yield every number that can be printed, trying each digit in each orientation.

    Args:
        params: the rules.
        first: digits of the first group; later ones are whole.
        number: the digits so far.
        tops: poses of its last digit, each with the height of the tower.
    """
    yield number, tops
    size = params.group
    for digit in params.digits:
        longer = number + str(digit)
        starts = range(first % size, len(longer) - size + 1, size)
        groups = [longer[i : i + size] for i in starts]
        if longer == "0" or len(set(groups)) < len(groups):
            continue
        poses = poses_on_top(digit, params, tops)
        if poses:
            yield from towers(params, first, longer, poses)


def longest_by_enumeration(params):
    """Return the longest prime, the largest of equal length, except 2 and 5."""
    target = round(10 * params.target_height_mm)
    primes = []
    for first in range(1, params.group + 1):
        for number, tops in towers(params, first, "", {(None, 0)}):
            if number in {"", "2", "5"} or (len(number) - first) % params.group:
                continue
            is_tall = max(height for _, height in tops) > target
            if is_tall and is_prime(number):
                primes.append(number)
    return max(primes, key=lambda number: (len(number), number))


@pytest.mark.parametrize(
    "changes",
    [
        {"digits": (1, 4, 7), "target_height_mm": 60.0},
        {"digits": (0, 1, 7), "target_height_mm": 40.0},
        {
            "digits": (1, 3, 6),
            "target_height_mm": 40.0,
            "orientations": ("flat", "rotate90X"),
        },
        {
            "digits": (1, 6, 9),
            "target_height_mm": 0.0,
            "orientations": ("flat", "rotate180Z"),
        },
        {"digits": (1, 7, 8), "target_height_mm": 20.0, "max_digits": 6},
    ],
    ids=repr,
)
def test_search_agrees_with_enumeration(changes):
    params = with_params(group=2, **changes)
    limit = params.max_digits
    if limit is None:
        assert longest_prime(params).number == longest_by_enumeration(params)
    else:
        assert (
            len(longest_prime(params).number)
            == limit
            < len(longest_by_enumeration(params))
        )


def test_65_digits_are_optimal_under_the_paper_rules():
    result = longest_prime(PAPER)
    assert result.number == LONGEST
    assert Graph(PAPER).longest() == 66
    assert not list(Graph(PAPER).numbers(66))
    # Even without a target height, no prime is longer.
    assert longest_prime(with_params(target_height_mm=0.0)).number == LONGEST


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"group": 2, "digits": 5},
        {"group": 4, "max_digits": 60},
        {"font": "tailless", "forbidden": 3, "digits": 10},
        {"font": "exchanged", "group": 2, "digits": 6, "max_digits": 10},
        {"min_height_mm": 100.0, "max_height_mm": 120.0},
    ],
    ids=repr,
)
def test_fresh_rules_satisfy_their_parameters_and_state_their_optimum(parameters):
    point = Space(**parameters)
    params = BUILDER.draw(point, Stream("towers", parameters))
    assert params.group == point.group
    assert len(params.digits) == point.digits
    assert len(params.orientations) == 6 - point.forbidden
    assert point.min_height_mm <= params.target_height_mm <= point.max_height_mm
    if point.font == "exchanged":
        assert sorted(params.segments) == sorted(PAPER.segments)
    else:
        assert params.segments[9] == ("abcdfg" if point.font == "standard" else "abcfg")
    assert params.best_digits == len(BUILDER.reference(params).numberSequence)
    assert params.best_digits <= (point.max_digits or 1000)
    prompt = BUILDER.prompt(params)
    assert f"n / {params.best_digits}, capped at 1" in prompt
    for name in set(PAPER.orientations) - set(params.orientations):
        assert name not in prompt
    listed = "".join(line[0] for line in prompt.splitlines() if line[1:3] == ": ")
    assert listed == "".join(map(str, params.digits))


def test_rules_that_suit_greedy_search_are_redrawn():
    shares = {1.0: [], 0.4: []}
    for limit, outcome in shares.items():
        point = Space(
            group=2,
            digits=7,
            max_digits=8,
            min_height_mm=5.0,
            max_height_mm=20.0,
            greedy=limit,
        )
        for seed in range(6):
            params = BUILDER.draw(point, Stream("greedy", seed))
            outcome.append(len(greedy_number(params)) / params.best_digits)
    assert max(shares[0.4]) <= 0.4 < max(shares[1.0])


def test_tall_targets_need_towers_built_for_height():
    point = Space(
        group=2,
        digits=6,
        forbidden=2,
        max_digits=8,
        fewer_digits=2,
        tall=True,
        short_factor=0.1,
    )
    limits = set()
    for seed in range(6):
        params = BUILDER.draw(point, Stream("tall", seed))
        limits.add(params.max_digits)
        target = round(10 * params.target_height_mm)
        reached = tallest(params, longest_prime(params).number)
        ignoring = params.model_copy(update={"target_height_mm": 0.0})
        unaware = tallest(params, longest_prime(ignoring).number)
        assert unaware.height <= target < reached.height
        # The tower for all orientations uses forbidden ones, so it is not right either.
        every = params.model_copy(update={"orientations": PAPER.orientations})
        turns = {turn for _, turn in longest_prime(every).tower}
        assert not turns <= {*params.orientations}
    assert len(limits) > 1
    assert limits <= {6, 7, 8}


def test_exchanged_shapes_must_be_read():
    point = Space(group=2, digits=6, max_digits=10, tall=True, font="exchanged")
    fonts = set()
    for seed in range(6):
        params = BUILDER.draw(point, Stream("exchanged", seed))
        fonts.add(params.segments)
        assert [params.segments[digit] for digit in (1, 3, 7)] == ["bc", "abcdg", "abc"]
        assert 2 * own_length(params) <= params.best_digits
        prompt = BUILDER.prompt(params)
        assert "Some digits have the usual shape of another digit." in prompt
        assert "looks like a 2" not in prompt
        assert "looks like a 9" not in prompt
    assert len(fonts) == 6
