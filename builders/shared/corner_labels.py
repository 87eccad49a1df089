"""What the builders of the square tasks share: orders, the fifteen squares, the rules."""

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
# How names of corners or sides follow each other.
Order = Literal["any", "ring", "crossing"]
ORDERS_ARE = "any order, a walk round the ring (ring), or any order that is no such walk (crossing)"

RENAME = Field(
    default=True,
    description="give the classes of each square random numbers from 1 to 9; otherwise they are "
    "numbered from 1 round the ring, as in the paper",
)

# The labels of every square up to renaming, on the ring from the bottom-left corner. The position
# in this list is the case number of the research data.
_CASES = "1111 1112 1121 1122 1123 1211 1212 1213 1221 1222 1223 1231 1232 1233 1234"
CASES = tuple(tuple(map(int, case)) for case in _CASES.split())
_SQUARES = prompt_template(__package__, "corner_squares.txt")
RULES = prompt_template(__package__, "corner_rules.txt")


def is_walk(order: Sequence[str], ring: Sequence[str]) -> bool:
    """Return whether each name in the order is next to the one before it on the ring."""
    at = [ring.index(name) for name in order]
    return all((b - a) % len(ring) in {1, len(ring) - 1} for a, b in pairwise(at))


@cache
def _orders(ring: tuple[str, ...], kind: Order) -> list[tuple[str, ...]]:
    orders = list(permutations(ring))
    return [o for o in orders if kind == "any" or is_walk(o, ring) == (kind == "ring")]


def draw_order(ring: tuple[NameT, ...], kind: Order, rng: Stream) -> tuple[NameT, ...]:
    """Return the names of a ring of at most eight in a random order of the kind asked for."""
    orders: Any = _orders(ring, kind)
    return rng.choice(orders)


def show_case(
    case: int, order: Sequence[Corner], rng: Stream, *, rename: bool
) -> tuple[int, ...]:
    """Return the labels of a case as a prompt shows them: in the given order of corners."""
    at = dict(zip(CORNERS, CASES[case], strict=True))
    labels = tuple(at[corner] for corner in order)
    if not rename:
        return labels
    names = rng.sample(range(1, 10), 4)
    return tuple(names[name] for name in canonical(labels))


def ring_labels(square: Sequence[int], order: Sequence[Corner]) -> tuple[int, ...]:
    """Return a shown square's labels in ring order."""
    return on_ring(square, order, CORNERS)


def print_squares(squares: Sequence[Sequence[int]], order: Sequence[Corner]) -> str:
    """Return the part of a prompt that shows the squares, numbered from 0."""
    rows = (
        f"  square {i}: ({', '.join(map(str, labels))})"
        for i, labels in enumerate(squares)
    )
    return _SQUARES.format(corners=", ".join(order), squares="\n".join(rows))


def draw_squares(squares: Sequence[Sequence[int]], order: Sequence[Corner]) -> Canvas:
    """Draw the squares, five in a row, with the label of each corner beside it."""
    side, pitch, row, edge = 96, 190, 208, 3
    down = -(-len(squares) // 5)
    canvas = Canvas(pitch * min(5, len(squares)), row * down)
    for i, labels in enumerate(squares):
        left, top = i % 5 * pitch + 47, i // 5 * row + 62
        canvas.text_in((left, top - 58, side, 14), f"square {i}", 2, GREY)
        canvas.frame(left, top, side, side, BLACK, edge)
        low, high = top + side + 3, top - 31
        places = [
            (left - 31, low),
            (left + side + 3, low),
            (left + side + 3, high),
            (left - 31, high),
        ]
        for (x, y), label in zip(places, ring_labels(labels, order), strict=True):
            canvas.text_in((x, y, 28, 28), str(label), 4)
    return canvas


def picture_words(order: Sequence[Corner]) -> dict[str, str]:
    """Return what a prompt says in place of the squares where a picture shows them."""
    return {
        "squares": prompt_template(__package__, "corner_pictures.txt").format(
            corners=", ".join(order)
        )
    }
