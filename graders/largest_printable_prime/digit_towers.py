"""Digits of seven segments, printed on top of each other without supports.

What may be printed how, and what it may stand on. Heights are in tenths of a millimetre, so that
sums are exact.
"""

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import NamedTuple

from scbench.schemas.largest_printable_prime import Orientation

_LETTERS = "abcdefg"
_TURNS: Mapping[str, str] = {
    "flat": "abcdefg",
    "flippedX": "afedcbg",
    "flippedY": "dcbafeg",
    "rotate180Z": "defabcg",
}
"""Where each of the segments a to g goes."""


class Stand(Enum):
    """How a digit is printed."""

    FLAT = "flat"
    ON_SIDE = "on its long side"
    """The bars at its right are at the bottom, the others rise from them."""
    ON_HEAD = "on its head"
    """A 7 on its top bar."""
    ON_END = "on its end"
    """A 1 as a post."""


HEIGHTS: Mapping[Stand, int] = {
    Stand.FLAT: 12,
    Stand.ON_SIDE: 112,
    Stand.ON_HEAD: 212,
    Stand.ON_END: 212,
}
"""What each adds to the tower, the air above it included, in tenths of a millimetre."""


class Pose(NamedTuple):
    """A digit as it is printed; the segments matter only if it is flat."""

    stand: Stand
    segments: frozenset[str] = frozenset()


_UPRIGHT: Mapping[tuple[int, str], Stand] = {
    (1, "rotate90X"): Stand.ON_END,
    (7, "rotate90X"): Stand.ON_HEAD,
    (7, "rotate90Y"): Stand.ON_SIDE,
    (3, "rotate90X"): Stand.ON_SIDE,
    (3, "rotate90Y"): Stand.ON_SIDE,
}
"""What can be printed upright. A 3 has one upright pose, known by both names."""


@cache
def pose(digit: int, orientation: Orientation, segments: str) -> Pose | None:
    """Return how a digit is printed; None if that is impossible.

    Args:
        digit: 0 to 9.
        orientation: how it is turned.
        segments: its segments before it is turned, as letters.
    """
    if orientation in _TURNS:
        goes = dict(zip(_LETTERS, _TURNS[orientation], strict=True))
        return Pose(Stand.FLAT, frozenset(goes[segment] for segment in segments))
    if (digit, orientation) == (1, "rotate90Y"):
        return Pose(Stand.FLAT, frozenset(segments))  # the same bar as when flat
    stand = _UPRIGHT.get((digit, orientation))
    return None if stand is None else Pose(stand)


def rests(upper: Pose, lower: Pose) -> bool:
    """Whether a digit can be printed on another."""
    if lower.stand is not Stand.FLAT:
        return upper.stand is Stand.ON_END
    match upper.stand:
        case Stand.FLAT:
            return upper.segments <= lower.segments
        case Stand.ON_SIDE:
            return {"b", "c"} <= lower.segments or {"e", "f"} <= lower.segments
        case Stand.ON_HEAD:
            return not lower.segments.isdisjoint("adg")
        case _:
            return True


def groups(number: str, length: int) -> list[str]:
    """Cut a number into groups from its end; the first one may be shorter."""
    first = len(number) % length
    full_groups = [number[i : i + length] for i in range(first, len(number), length)]
    return [number[:first], *full_groups] if first else full_groups
