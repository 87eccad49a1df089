"""Checks whether an answer lists exactly the pairs of sides that curves must join.

The classes at the corners of a square decide its pairs. Each pair is listed once, smaller index
first. One wrong square fails the answer.
"""

from collections import Counter
from functools import lru_cache
from typing import Any, NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist, all_passed
from scbench.graders.shared.corner_labels import Pair, joined_sides, letters, on_ring
from scbench.schemas.corner_labels import CORNERS, SIDES
from scbench.schemas.enumerate_edges import Answer, Params

VERSION = 2

CHECKS = {
    "length": "The answer has one list of pairs for each square.",
    "indices": "Every pair names two different sides.",
    "ascending": "Every pair has its smaller index first.",
    "repeats": "No pair is listed twice for the same square.",
    "certain": "Every listed pair is joined in every drawing of its square.",
    "complete": "Every pair that is joined in every drawing is listed.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("length", "indices", "ascending", "repeats")

_PASSED = all_passed(CHECKS)
# Maximum number of lists and pairs read in one answer, or 20 for each square if that is
# more.
_LIMIT = 2000
# A faulty pair of a square, as JSON.
Fault = dict[str, Any]


class Square(NamedTuple):
    """A square of the instance."""

    shape: str
    """Classes counter-clockwise around the square, such as abac."""
    pairs: frozenset[Pair]
    """The right pairs, each with its smaller index first."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if every square has exactly its joined pairs, each once and ascending, else 0."""
    right = right_squares(params)
    # A right answer repeats no pair and puts the smaller index of every pair first.
    targets = [(len(square.pairs), square.pairs) for square in right]
    if [(len(pairs), frozenset(pairs)) for pairs in answer.edges] == targets:
        return Verdict(
            1.0, _PASSED, {"missing": [], "surplus": [], "squares_right": len(right)}
        )
    checks = Checklist(CHECKS)
    size = len(answer.edges) + sum(map(len, answer.edges))
    limit = most_entries(len(right))
    if size > limit:
        return checks.too_large(
            f"The answer has {size:,} lists and pairs in total; at most {limit:,} are read."
        )

    lists = counted(len(answer.edges), "list")
    wrong = f"The answer has {lists} for {counted(len(right), 'square')}."
    aligned = checks.expect("length", len(answer.edges) == len(right), wrong)
    listings = judge_pairs(checks, answer)
    if not aligned:
        why = "The lists cannot be matched to the squares because there are too few or too many."
        checks.skip(("certain", "complete"), why)
        return checks.binary()

    surplus: list[Fault] = []
    missing: list[Fault] = []
    for i, (square, listing) in enumerate(zip(right, listings, strict=True)):
        for faults, pairs in (
            (surplus, listing.keys() - square.pairs),
            (missing, square.pairs - listing.keys()),
        ):
            for pair in sorted(pairs):
                faults.append({"square": i, "pair": list(pair), "shape": square.shape})
    uncertain = counted(
        len(surplus), "listed pair is not certain", "listed pairs are not certain"
    )
    checks.forbid(
        "certain",
        surplus,
        lambda item: f"{uncertain} to be joined; the first is {pair_words(item)}.",
    )
    absent = counted(
        len(missing), "certain pair is missing", "certain pairs are missing"
    )
    checks.forbid(
        "complete",
        missing,
        lambda item: f"{absent}; the first is {pair_words(item)}.",
    )
    wrong_squares = {item["square"] for item in surplus + missing}
    return checks.binary(
        missing=missing, surplus=surplus, squares_right=len(right) - len(wrong_squares)
    )


def pair_words(fault: Fault) -> str:
    """Return a pair and its square in words, for a message."""
    return (
        f"{fault['pair']} of square {fault['square']} "
        f"({fault['shape']} counter-clockwise)"
    )


def most_entries(squares: int) -> int:
    """Return the maximum number of lists and pairs read in an answer about n squares."""
    return max(_LIMIT, 20 * squares)


@lru_cache(maxsize=256)
def right_squares(params: Params) -> tuple[Square, ...]:
    """Return the squares of an instance, cached for further answers to it."""
    index = [params.edge_order.index(side) for side in SIDES]
    squares = []
    for labels in params.squares:
        ring = on_ring(labels, params.corner_order, CORNERS)
        joined = [(index[a], index[b]) for a, b in joined_sides(ring) or ()]
        pairs = frozenset((min(pair), max(pair)) for pair in joined)
        squares.append(Square(letters(ring), pairs))
    return tuple(squares)


def judge_pairs(checks: Checklist, answer: Answer) -> list[Counter[Pair]]:
    """Check the form of the pairs; return the counts of each pair for each square.

    In these pairs the smaller index comes first.
    """
    listings: list[Counter[Pair]] = []
    invalid: list[Fault] = []
    descending: list[Fault] = []
    repeated: list[Fault] = []
    for i, pairs in enumerate(answer.edges):
        counts: Counter[Pair] = Counter()
        for at, (a, b) in enumerate(pairs):
            if a == b or max(a, b) > 3:
                invalid.append({"square": i, "position": at})
                continue
            if a > b:
                descending.append({"square": i, "pair": [a, b]})
            counts[min(a, b), max(a, b)] += 1
        for pair, count in sorted(counts.items()):
            if count > 1:
                repeated.append({"square": i, "pair": list(pair)})
        listings.append(counts)
    bad_pairs = counted(len(invalid), "pair names", "pairs name")
    checks.forbid(
        "indices",
        invalid,
        lambda item: (
            f"{bad_pairs} an index above 3 or the same side twice; the first is pair "
            f"{item['position']} of square {item['square']}, both counted from 0."
        ),
    )
    reversed_pairs = counted(len(descending), "pair has", "pairs have")
    checks.forbid(
        "ascending",
        descending,
        lambda item: (
            f"{reversed_pairs} the larger index first; the first is {item['pair']} "
            f"of square {item['square']}."
        ),
    )
    checks.forbid(
        "repeats",
        repeated,
        lambda item: (
            f"Pair {item['pair']} is listed more than once for square {item['square']}."
        ),
    )
    return listings
