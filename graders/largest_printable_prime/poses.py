"""Poses in which a digit is printed."""

from enum import Enum
from typing import NamedTuple


class Stand(Enum):
    """The pose in which a digit is printed."""

    FLAT = "flat"
    ON_SIDE = "on its long side"
    """The bars on its right are at the bottom; the others rise from them."""
    ON_HEAD = "on its head"
    """A 7 on its top bar."""
    ON_END = "on its end"
    """A 1 as a post."""


class Pose(NamedTuple):
    """A digit as it is printed; the segments matter only if it is flat."""

    stand: Stand
    segments: frozenset[str] = frozenset()
