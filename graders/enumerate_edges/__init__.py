"""Are these, for every square, the pairs of sides that a curve must join?

The right pairs follow from the types of the crossed sides; pairs are written with the smaller index
first and once, as the prompt asks, and one wrong square fails the answer.
"""

from collections import Counter
from functools import lru_cache
from typing import Any, NamedTuple

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist, all_passed
from scbench.graders.shared.corner_labels import Pair, joined_sides, letters, on_ring
from scbench.schemas.corner_labels import CORNERS, SIDES
from scbench.schemas.enumerate_edges import Answer, Params

VERSION = 2

CHECKS = {
    "length": "There is one list of pairs for each square.",
    "indices": "Every pair names two different sides.",
    "ascending": "Every pair has its smaller index first.",
    "repeats": "No pair is given twice for the same square.",
    "certain": "Every pair given is joined in every drawing of its square.",
    "complete": "Every pair that is joined in every drawing is given.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("length", "indices", "ascending", "repeats")

_PASSED = all_passed(CHECKS)
# Lists and pairs read in one answer, or 20 for each square if that is more.
_LIMIT = 2000
# A pair of a square, as JSON.
Fault = dict[str, Any]


class Square(NamedTuple):
    """A square of the instance."""

    shape: str
    """Classes round the ring, such as abac."""
    pairs: frozenset[Pair]
    """The right pairs, each ascending."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if every square has exactly its joined pairs, each once and ascending, else 0."""
    right = right_squares(params)
    # A right answer has no pair twice and none turned round.
    targets = [(len(square.pairs), square.pairs) for square in right]
    if [(len(pairs), frozenset(pairs)) for pairs in answer.edges] == targets:
        return Verdict(
            1.0, _PASSED, {"missing": [], "surplus": [], "squares_right": len(right)}
        )
    checks = Checklist(CHECKS)
    size = len(answer.edges) + sum(map(len, answer.edges))
    if size > most_entries(len(right)):
        return checks.too_large(
            f"The answer has {size} lists and pairs; {len(right)} squares need fewer."
        )

    wrong = f"There are {len(answer.edges)} lists for {len(right)} squares."
    aligned = checks.expect("length", len(answer.edges) == len(right), wrong)
    listings = judge_pairs(checks, answer)
    if not aligned:
        why = "The lists cannot be matched with the squares, because their number is wrong."
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
    for check_id, faults, fault in (
        ("certain", surplus, "pairs are not joined in every drawing"),
        ("complete", missing, "joined pairs are missing"),
    ):
        checks.forbid_many(
            check_id,
            faults,
            fault,
            lambda item: (
                f"is {item['pair']} of square {item['square']}, which reads {item['shape']} round "
                "the ring"
            ),
        )
    wrong_squares = {item["square"] for item in surplus + missing}
    return checks.binary(
        missing=missing, surplus=surplus, squares_right=len(right) - len(wrong_squares)
    )


def most_entries(squares: int) -> int:
    """Return how many lists and pairs are read in an answer on so many squares."""
    return max(_LIMIT, 20 * squares)


@lru_cache(maxsize=256)
def right_squares(params: Params) -> tuple[Square, ...]:
    """Return the squares of an instance, kept for the next answers to it."""
    index = [params.edge_order.index(side) for side in SIDES]
    squares = []
    for labels in params.squares:
        ring = on_ring(labels, params.corner_order, CORNERS)
        joined = [(index[a], index[b]) for a, b in joined_sides(ring) or ()]
        pairs = frozenset((min(pair), max(pair)) for pair in joined)
        squares.append(Square(letters(ring), pairs))
    return tuple(squares)


def judge_pairs(checks: Checklist, answer: Answer) -> list[Counter[Pair]]:
    """Check the pairs by themselves; return how often each square has each, ascending."""
    listings: list[Counter[Pair]] = []
    bad: list[Fault] = []
    turned: list[Fault] = []
    repeated: list[Fault] = []
    for i, pairs in enumerate(answer.edges):
        counts: Counter[Pair] = Counter()
        for at, (a, b) in enumerate(pairs):
            if a == b or max(a, b) > 3:
                bad.append({"square": i, "position": at})
                continue
            if a > b:
                turned.append({"square": i, "pair": [a, b]})
            counts[min(a, b), max(a, b)] += 1
        for pair, count in sorted(counts.items()):
            if count > 1:
                repeated.append({"square": i, "pair": list(pair)})
        listings.append(counts)
    checks.forbid_many(
        "indices",
        bad,
        "pairs name an index above 3 or one side twice",
        lambda item: f"is pair {item['position']} of square {item['square']}",
    )
    checks.forbid_many(
        "ascending",
        turned,
        "pairs have the larger index first",
        lambda item: f"is {item['pair']} of square {item['square']}",
    )
    checks.forbid(
        "repeats",
        repeated,
        lambda item: (
            f"Pair {item['pair']} is given more than once for square {item['square']}."
        ),
    )
    return listings
