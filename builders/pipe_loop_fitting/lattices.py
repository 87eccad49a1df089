"""Loops that grow on lattices.

A loop grows by pushing steps sideways into free nodes; it can shrink and fold its corners the same
way. Nodes are at least 0.86 m apart and steps meet only in nodes, so no such loop crosses or
touches itself.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting.stars import DECIMALS, XY, Joints

# Column and row of a node.
Node = tuple[int, int]
_SQUARE: tuple[Node, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
# Columns count half steps here, so that every node has whole coordinates.
_TRIANGULAR: tuple[Node, ...] = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))
# Distance between rows of the triangular lattice.
_ROW = math.sqrt(3) / 2


@dataclass(frozen=True)
class Lattice:
    """The nodes of a lattice in a square.

    Attributes:
        steps: directions to a node's neighbours, counter-clockwise.
        places: the place of each node in metres.
    """

    steps: tuple[Node, ...]
    places: dict[Node, XY]

    @property
    def triangular(self) -> bool:
        """Whether a node has six neighbours instead of four."""
        return len(self.steps) == 6

    def detour(self, a: Node, b: Node, side: int) -> tuple[Node, ...]:
        """Return the nodes of the shortest way around a step, to its left (1) or right (-1)."""
        direction = self.steps.index(step_between(a, b))
        sideways = self.steps[(direction + side) % len(self.steps)]
        detour = (after_step(a, sideways),)
        # On triangles, the first node of a detour is a neighbour of both ends.
        return detour if self.triangular else (*detour, after_step(b, sideways))


def step_between(a: Node, b: Node) -> Node:
    """Return the step from one node to another."""
    return b[0] - a[0], b[1] - a[1]


def after_step(node: Node, step: Node) -> Node:
    """Return the node that a step from a node leads to."""
    return node[0] + step[0], node[1] + step[1]


class Move(NamedTuple):
    """A change of a loop that replaces the nodes between two others."""

    start: Node
    old: tuple[Node, ...]
    new: tuple[Node, ...]
    end: Node


def grown_on_squares(pipes: int, side: int, inset: float, rng: Stream) -> Joints | None:
    """Grow a loop from the longest outline that is not too long; None if that fails.

    The lattice keeps a distance of ``inset`` metres from the walls.
    """
    # A loop on squares has equal numbers of steps back and forth, so their sum is even.
    span = math.floor(side - 2 * inset)
    if pipes % 2 or pipes < 4 or span < 1 or pipes > (span + 1) ** 2:
        return None
    width = min(span, max(1, pipes // 4))
    height = min(span, max(1, (pipes - 2 * width) // 2))
    lattice = square_lattice(side, inset)
    start = rectangle(width, height)
    return Growth(lattice, start, pipes, turning=False).run(60 * pipes + 4000, rng)


def turning_on_squares(pipes: int, side: int, rng: Stream) -> Joints | None:
    """Grow a loop that turns at every joint, on the square lattice."""
    # Steps along x and y alternate, and the number of each is even.
    if pipes % 4 or pipes > (side + 1) ** 2:
        return None
    lattice = square_lattice(side, 0.0)
    return Growth(lattice, rectangle(1, 1), pipes, turning=True).run(400 * pipes, rng)


def grown_on_triangles(
    pipes: int, side: int, shift: int, rng: Stream, *, turning: bool = False
) -> Joints | None:
    """Grow a loop from a triangle in the middle; None if that fails."""
    lattice = triangular_lattice(side, shift)
    triangles = []
    for x, y in lattice.places:
        triangle = [(x, y), (x + 2, y), (x + 1, y + 1)]
        if lattice.places.keys() >= set(triangle):
            triangles.append(triangle)
    if not triangles or pipes > len(lattice.places):
        return None
    start = triangles[len(triangles) // 2]
    steps = 400 * pipes if turning else 60 * pipes + 4000
    return Growth(lattice, start, pipes, turning=turning).run(steps, rng)


def square_lattice(side: int, inset: float) -> Lattice:
    """Return the nodes one metre apart, the first ``inset`` metres from the left and bottom."""
    span = range(math.floor(side - 2 * inset) + 1)
    places = {(i, j): (i + inset, j + inset) for i in span for j in span}
    return Lattice(_SQUARE, places)


def triangular_lattice(side: int, shift: int) -> Lattice:
    """Return nodes in centred rows; odd or even rows are shifted half a metre to the right."""
    rows = math.floor(side / _ROW) + 1
    low = (side - (rows - 1) * _ROW) / 2
    places = {}
    for row in range(rows):
        y = round(low + row * _ROW, DECIMALS)
        for column in range((row + shift) % 2, 2 * side + 1, 2):
            places[column, row] = (column / 2, y)
    return Lattice(_TRIANGULAR, places)


def rectangle(width: int, height: int) -> list[Node]:
    """Return the nodes of a rectangle's outline on the square lattice, from its lower left."""
    bottom = [(x, 0) for x in range(width)]
    right = [(width, y) for y in range(height)]
    top = [(x, height) for x in range(width, 0, -1)]
    left = [(0, y) for y in range(height, 0, -1)]
    return bottom + right + top + left


class Growth:
    """A loop of nodes that grows to a number of pipes by random moves.

    A loop that must turn at every node grows by annealing.
    """

    def __init__(
        self, lattice: Lattice, start: list[Node], pipes: int, *, turning: bool
    ) -> None:
        self.lattice = lattice
        self.pipes = pipes
        self.turning = turning
        # The nodes, in no particular order after the first move, and the index of each.
        self.order = list(start)
        self.index = {node: i for i, node in enumerate(start)}
        self.after = dict(zip(start, start[1:] + start[:1], strict=True))
        self.before = {b: a for a, b in self.after.items()}
        self.straight = {node for node in start if self._is_straight(node)}

    def run(self, steps: int, rng: Stream) -> Joints | None:
        """Grow the loop and return its joints; None if that takes more than these steps."""
        for _ in range(steps):
            is_grown = len(self.order) == self.pipes
            if is_grown and not (self.turning and self.straight):
                return self.joints()
            move = self.draw_move(rng)
            if move is not None and self.is_possible(move):
                self.make(move, rng)
        return None

    def joints(self) -> Joints:
        """Return the places of the nodes around the loop."""
        # The start must not depend on the moves.
        first = min(self.after)
        ring = [self.lattice.places[first]]
        node = self.after[first]
        while node != first:
            ring.append(self.lattice.places[node])
            node = self.after[node]
        return tuple(ring)

    def draw_move(self, rng: Stream) -> Move | None:
        """Draw a move after a random node: a detour, a folded corner, or a shortcut."""
        a = self.order[rng.below(len(self.order))]
        b = self.after[a]
        kind = rng.below(4)
        is_detour = kind < 2
        if is_detour and (self.turning or len(self.order) < self.pipes):
            side = 1 if kind == 0 else -1
            return Move(a, (), self.lattice.detour(a, b, side), b)
        c = self.after[b]
        # A loop that is long enough folds a corner instead of growing.
        if is_detour or kind == 2:
            corner = after_step(a, step_between(b, c))
            return Move(a, (b,), (corner,), c)
        if not self.turning:
            return None
        if self.lattice.triangular:
            shortcut = Move(a, (b,), (), c)
        else:
            shortcut = Move(a, (b, c), (), self.after[c])
        is_step = step_between(a, shortcut.end) in self.lattice.steps
        return shortcut if is_step else None

    def is_possible(self, move: Move) -> bool:
        """Return whether the new nodes are free, and enough nodes remain for a loop."""
        if len(self.order) + len(move.new) - len(move.old) < 3:
            return False
        places = self.lattice.places
        return all(node in places and node not in self.after for node in move.new)

    def make(self, move: Move, rng: Stream) -> None:
        """Make a move; if it leads away from the goal, it may be undone."""
        cost = -self._distance()
        self._swap(move)
        cost += self._distance()
        # A move uphill by c is kept with a probability of 1 in 4 ** c.
        if self.turning and cost > 0 and rng.getrandbits(2 * cost) != 0:
            self._swap(Move(move.start, move.new, move.old, move.end))

    def _distance(self) -> int:
        """Return the distance from the goal: surplus or missing pipes, plus straight nodes."""
        return abs(len(self.order) - self.pipes) + len(self.straight)

    def _swap(self, move: Move) -> None:
        """Replace the old nodes of a move with the new ones."""
        for node in move.old:
            self.straight.discard(node)
            del self.after[node], self.before[node]
            # The last node takes the index of the removed one.
            i = self.index.pop(node)
            last = self.order.pop()
            if last != node:
                self.order[i] = last
                self.index[last] = i
        for node in move.new:
            self.index[node] = len(self.order)
            self.order.append(node)
        way = (move.start, *move.new, move.end)
        for p, q in pairwise(way):
            self.after[p] = q
            self.before[q] = p
        # Only the neighbours of these nodes have changed.
        for node in way:
            if self._is_straight(node):
                self.straight.add(node)
            else:
                self.straight.discard(node)

    def _is_straight(self, node: Node) -> bool:
        """Return whether the loop continues straight at a node."""
        step = step_between(self.before[node], node)
        return step == step_between(node, self.after[node])
