"""Brackets around the terms of an expression, none of them redundant.

A bracket contains at least two terms, no two brackets contain the same terms, and no bracket
contains all terms.
"""

from itertools import pairwise
from typing import NamedTuple

from scbench.base.seeding import Stream

# Probability of opening two brackets at the same place. More than two would mostly be
# redundant.
_TWO = 0.25
# Probability of closing a bracket after each of its terms except the first.
_CLOSE = 0.4


class Brackets(NamedTuple):
    """How many brackets open before each term, and how many close after it."""

    opened: list[int]
    closed: list[int]


def draw_brackets(
    length: int, max_depth: int, prob_open: float, rng: Stream
) -> Brackets:
    """Draw brackets for a row of one or more terms; at most ``max_depth`` surround any term."""
    opened = [0] * length
    closed = [0] * length
    if not max_depth:
        return Brackets(opened, closed)
    # The first term of each bracket that is open.
    starts: list[int] = []
    for i in range(length - 1):
        if len(starts) < max_depth and rng.chance(prob_open):
            opened[i] = 1
            if len(starts) + 1 < max_depth and rng.chance(_TWO):
                opened[i] = 2
            starts += [i] * opened[i]
        # A bracket with a single term, or a second bracket around the same terms, may
        # not close here.
        last_start = -1
        while starts and starts[-1] not in {i, last_start} and rng.chance(_CLOSE):
            last_start = starts.pop()
            closed[i] += 1
    # Brackets that are still open close at the end. If several start at the same term,
    # only one is kept.
    for position, start in enumerate(starts):
        if start == 0 or start in starts[:position]:
            opened[start] -= 1
        else:
            closed[-1] += 1
    return Brackets(opened, closed)


def depth_of(text: str) -> int:
    """Return the nesting depth of the brackets in a text."""
    depth = 0
    deepest = 0
    for character in text:
        if character == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ")":
            depth -= 1
    return deepest


def join_tokens(tokens: list[str], prob_dewhitespace: float, rng: Stream) -> str:
    """Join tokens with spaces, but not on the inner side of a bracket.

    Each space is omitted with probability ``prob_dewhitespace``.
    """
    if not prob_dewhitespace:
        return " ".join(tokens).replace("( ", "(").replace(" )", ")")
    parts = [tokens[0]]
    for before, after in pairwise(tokens):
        is_separable = before != "(" and after != ")"
        if is_separable and not rng.chance(prob_dewhitespace):
            parts.append(" ")
        parts.append(after)
    return "".join(parts)
