"""The steps of a formula."""

from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple


class Op(IntEnum):
    """The operation of a node on the values of its children (at most two)."""

    CONSTANT = 0
    NAME = 1
    NEGATE = 2
    ADD = 3
    SUBTRACT = 4
    MULTIPLY = 5
    DIVIDE = 6
    POWER = 7


class Node(NamedTuple):
    """One step of a formula."""

    op: Op
    first: int
    """Number of the first child, an earlier node."""
    second: int
    """Number of the second child, an earlier node; the exponent of a power."""
    value: int | Fraction
    """The value of a constant."""
    axes: int
    """Which of x (1) and y (2) occur in it."""
    degree: int
