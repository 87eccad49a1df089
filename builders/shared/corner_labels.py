"""Code shared by the square tasks: orders of corners, the fifteen squares, and the rules.

A square has a class at each corner, written as a number. Curves inside the square separate the
classes. A prompt shows squares as lists of labels, and states the order of the corners:

    square 0: (1, 2, 1, 1)
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise, permutations
from typing import Any, Literal, TypeVar

from pydantic import Field

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import prompt_template
from scbench.builders.shared.canvas import BLACK, GREY, Canvas
from scbench.graders.shared.corner_labels import canonical, on_ring
from scbench.schemas.corner_labels import CORNERS, Corner

NameT = TypeVar("NameT", bound=str)
# Kinds of orders of corners or sides.
Order = Literal["any", "ring", "crossing"]
ORDERS_ARE = (
    "in any order (any), in order around the ring (ring), or not in order around the ring "
    "(crossing)"
)

RENAME = Field(
    default=True,
    description="whether the classes of each square get random numbers from 1 to 9; otherwise they "
    "are numbered from 1 around the ring, as in the paper",
)

# The labels of every square up to renaming, around the ring from the bottom-left corner. The
# position in this list is the case number in the research data.
CASES = (
    (1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 2, 1), (1, 1, 2, 2), (1, 1, 2, 3),
    (1, 2, 1, 1), (1, 2, 1, 2), (1, 2, 1, 3), (1, 2, 2, 1), (1, 2, 2, 2),
    (1, 2, 2, 3), (1, 2, 3, 1), (1, 2, 3, 2), (1, 2, 3, 3), (1, 2, 3, 4),
)  # fmt: skip
_SQUARES = prompt_template(__package__, "corner_squares.txt")
RULES = prompt_template(__package__, "corner_rules.txt")

# Pixels of a picture: the side of a square, and the distances between squares.
_SIDE = 96
_PITCH = 190
_PITCH_DOWN = 208
_PER_ROW = 5
_EDGE = 3
# Side of the box of a label, which is outside its corner.
_LABEL = 28


def is_walk(order: Sequence[str], ring: Sequence[str]) -> bool:
    """Return whether neighbouring names in the order are also neighbours on the ring."""
    places = [ring.index(name) for name in order]
    for place, following in pairwise(places):
        step = (following - place) % len(ring)
        if step not in {1, len(ring) - 1}:
            return False
    return True


def draw_order(ring: tuple[NameT, ...], kind: Order, rng: Stream) -> tuple[NameT, ...]:
    """Return the names of a ring (at most eight) in a random order of the given kind."""
    orders: Any = orders_of(ring, kind)
    return rng.choice(orders)


@cache
def orders_of(ring: tuple[str, ...], kind: Order) -> list[tuple[str, ...]]:
    """Return all orders of the given kind of the names of a ring."""
    orders = list(permutations(ring))
    if kind == "any":
        return orders
    wants_walks = kind == "ring"
    return [order for order in orders if is_walk(order, ring) == wants_walks]


def show_case(
    case: int, order: Sequence[Corner], rng: Stream, *, rename: bool
) -> tuple[int, ...]:
    """Return the labels of a case in a prompt's order of corners."""
    label_at = dict(zip(CORNERS, CASES[case], strict=True))
    labels = tuple(label_at[corner] for corner in order)
    if not rename:
        return labels
    names = rng.sample(range(1, 10), 4)
    return tuple(names[name] for name in canonical(labels))


def show_cases(
    cases: Sequence[int], order: Sequence[Corner], rng: Stream, *, rename: bool
) -> tuple[tuple[int, ...], ...]:
    """Return the labels of each case, see `show_case`."""
    return tuple(show_case(case, order, rng, rename=rename) for case in cases)


def ring_labels(square: Sequence[int], order: Sequence[Corner]) -> tuple[int, ...]:
    """Return a shown square's labels in ring order."""
    return on_ring(square, order, CORNERS)


def print_squares(squares: Sequence[Sequence[int]], order: Sequence[Corner]) -> str:
    """Return the part of a prompt with the squares, numbered from 0."""
    rows = []
    for i, labels in enumerate(squares):
        texts = ", ".join(map(str, labels))
        rows.append(f"  square {i}: ({texts})")
    return _SQUARES.format(corners=", ".join(order), squares="\n".join(rows))


def draw_squares(squares: Sequence[Sequence[int]], order: Sequence[Corner]) -> Canvas:
    """Draw the squares, five in a row, with each label outside its corner."""
    rows = math.ceil(len(squares) / _PER_ROW)
    canvas = Canvas(_PITCH * min(_PER_ROW, len(squares)), _PITCH_DOWN * rows)
    for i, labels in enumerate(squares):
        row, column = divmod(i, _PER_ROW)
        # The square is in the middle of its cell, below its title and upper labels.
        left = column * _PITCH + 47
        top = row * _PITCH_DOWN + 62
        canvas.text_in((left, top - 58, _SIDE, 14), f"square {i}", 2, GREY)
        canvas.frame(left, top, _SIDE, _SIDE, BLACK, _EDGE)
        west = left - _LABEL - _EDGE
        east = left + _SIDE + _EDGE
        north = top - _LABEL - _EDGE
        south = top + _SIDE + _EDGE
        # The ring runs from the bottom-left corner, counter-clockwise.
        places = [(west, south), (east, south), (east, north), (west, north)]
        for (x, y), label in zip(places, ring_labels(labels, order), strict=True):
            canvas.text_in((x, y, _LABEL, _LABEL), str(label), 4)
    return canvas


def picture_words(order: Sequence[Corner]) -> dict[str, str]:
    """Return the words that replace the squares in a prompt with pictures."""
    text = prompt_template(__package__, "corner_pictures.txt")
    return {"squares": text.format(corners=", ".join(order))}
