"""Brackets round the terms of an expression, none of them idle.

A bracket holds at least two terms, no two brackets hold the same terms, and none holds them all.
"""

from itertools import pairwise
from typing import NamedTuple

from scbench.base.seeding import Stream

# Chance to open two at once.
_TWO = 0.25
# Chance to close a bracket after each of its terms but the first.
_CLOSE = 0.4


class Brackets(NamedTuple):
    """How many brackets open before each term, and how many close after it."""

    opened: list[int]
    closed: list[int]

    def depth(self) -> int:
        """Return how deep the brackets lie inside each other."""
        depth = deepest = 0
        for opened, closed in zip(*self, strict=True):
            if opened:
                depth += opened
                deepest = max(deepest, depth)
            depth -= closed
        return deepest


def draw_brackets(
    length: int, max_depth: int, prob_open: float, rng: Stream
) -> Brackets:
    """Draw brackets for a row of at least one term, at most ``max_depth`` round any of them."""
    opened, closed = [0] * length, [0] * length
    if not max_depth:
        return Brackets(opened, closed)
    starts: list[int] = []
    chance = rng.chance
    for i in range(length - 1):
        if len(starts) < max_depth and chance(prob_open):
            # More than two at once would mostly be idle in the end.
            opened[i] = 2 if len(starts) + 1 < max_depth and chance(_TWO) else 1
            starts += [i] * opened[i]
        last = -1
        while starts and starts[-1] not in {i, last} and chance(_CLOSE):
            last = starts.pop()
            closed[i] += 1
    # What is still open closes at the end; there, of several with one start only one is not idle.
    for k, start in enumerate(starts):
        if start == 0 or start in starts[:k]:
            opened[start] -= 1
        else:
            closed[-1] += 1
    return Brackets(opened, closed)


def depth_of(text: str) -> int:
    """Return how deep the brackets of a text lie inside each other."""
    depth = deepest = 0
    if "(" not in text:
        return 0
    for character in text:
        if character == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ")":
            depth -= 1
    return deepest


def join_tokens(tokens: list[str], prob_dewhitespace: float, rng: Stream) -> str:
    """Return tokens with a blank between any two but those next to a bracket's inside.

    Each blank is left out with the chance ``prob_dewhitespace``.
    """
    if not prob_dewhitespace:
        return " ".join(tokens).replace("( ", "(").replace(" )", ")")
    parts = [tokens[0]]
    for before, after in pairwise(tokens):
        blank = before != "(" and after != ")"
        if blank and not rng.chance(prob_dewhitespace):
            parts.append(" ")
        parts.append(after)
    return "".join(parts)
