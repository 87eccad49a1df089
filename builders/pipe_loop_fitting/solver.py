"""A solver for pipe loops: it goes through families of loops until one keeps every rule.

A loop on a lattice grows by pushing steps sideways into free nodes; it can shrink and fold its
corners the same way. Different nodes lie at least 0.86 apart and steps only meet in nodes, so that
no such loop crosses or touches itself.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from scbench.base.seeding import Stream
from scbench.graders.pipe_loop_fitting import grade
from scbench.schemas.pipe_loop_fitting import Answer, FixedStart, Params

# Families of loops that do not cross themselves.
FAMILIES = (
    "squares",
    "inset squares",
    "triangles",
    "stars",
    "turning",
    "turning squares",
)
# The one that does.
CROSSED = "crossed stars"
# Loops grown in each family.
TRIES = 4
_MOST_TURNING = 120
_WIDTHS = (0.1, 0.15, 0.05)
_DECIMALS = 9
Node = tuple[int, int]
XY = tuple[float, float]
Joints = tuple[XY, ...]
_SQUARE: tuple[Node, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))

# Columns count half steps here, so that every node has whole coordinates.
_TRIANGULAR: tuple[Node, ...] = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))
_ROW = math.sqrt(3) / 2


def loops(family: str, pipes: int, side: int, crossings: int = 0) -> Iterator[Joints]:
    """Yield different loops of a family, the same ones in the same order at every call.

    Loops of stars are only nearly sure to keep the rules; those of other families are.
    """
    middle = (side / 2, side / 2)
    if family == "stars":
        for radius in radii(side):
            yield from _there(star(pipes, radius, middle))
    elif family == CROSSED:
        for width in _WIDTHS:
            for radius in radii(side):
                yield from _there(crossed_star(pipes, crossings, radius, middle, width))
    else:
        for k in range(TRIES):
            rng = Stream("pipe loops", family, pipes, side, k)
            yield from _there(_grow_family(family, pipes, side, k, rng))


def solve(params: Params) -> Joints | None:
    """Return the first loop found that the grader takes, or None."""
    families = (CROSSED,) if params.crossings else FAMILIES
    for family in families:
        for loop in loops(family, params.pipes, params.side, params.crossings):
            candidate = started(loop, params)
            if accepted(params, candidate):
                return candidate
    return None


def accepted(params: Params, loop: Joints) -> bool:
    """Return whether a loop keeps every rule of an instance."""
    return grade(params, to_answer(loop)).score == 1


def to_answer(loop: Joints) -> Answer:
    """Return a loop in the form of an answer."""
    return Answer.model_validate({"points": [{"x": x, "y": y} for x, y in loop]})


def _grow_family(
    family: str, pipes: int, side: int, k: int, rng: Stream
) -> Joints | None:
    if family == "squares":
        return grown_on_squares(pipes, side, 0.0, rng)
    if family == "inset squares":
        return grown_on_squares(pipes, side, 0.5, rng)
    if family == "triangles":
        return grown_on_triangles(pipes, side, k % 2, rng)
    if pipes > _MOST_TURNING:
        return None
    if family == "turning":
        return grown_on_triangles(pipes, side, k % 2, rng, turning=True)
    return turning_on_squares(pipes, side, rng)


def _there(loop: Joints | None) -> Iterator[Joints]:
    if loop is not None:
        yield loop


def started(loop: Joints, params: Params) -> Joints:
    """Let a loop start at the joint nearest to where it is to start."""
    for constraint in params.constraints:
        if isinstance(constraint, FixedStart):
            x, y = constraint.x, constraint.y
            at = min(
                range(len(loop)),
                key=lambda i: (loop[i][0] - x) ** 2 + (loop[i][1] - y) ** 2,
            )
            return loop[at:] + loop[:at]
    return loop


def star(pipes: int, radius: float, centre: XY) -> Joints | None:
    """Return a zig-zag around a centre, its tips at a distance; None if there is no such loop.

    The pipes lead from each tip to a joint nearer to the centre and on to the next tip.
    """
    if pipes % 2 or pipes < 8:
        return None
    half = 2 * math.pi / pipes
    inner = _inner_radius(half, radius)
    if inner is None:
        return None
    return tuple(
        _at(centre, half * k, 0.0, inner if k % 2 else radius) for k in range(pipes)
    )


def crossed_star(
    pipes: int, crossings: int, radius: float, centre: XY, width: float
) -> Joints | None:
    """Return a star whose loop crosses itself; None if there is no such loop.

    Evenly spaced inner joints give way to a small lozenge that points to the centre and whose two
    pipes cross. Each adds four joints and one crossing. ``radius`` is the distance of the tips from
    the centre, ``width`` half that of a lozenge's mouth, below 0.3.
    """
    corners = pipes - 4 * crossings
    base = star(corners, radius, centre)
    if base is None or crossings > corners // 2:
        return None
    half = 2 * math.pi / corners
    reach = radius * math.sin(half) - width
    belly = 0.7
    if not 0 < reach < 1:
        return None
    mouth = radius * math.cos(half) - math.sqrt(1 - reach**2)
    waist = mouth - math.sqrt(1 - (width + belly) ** 2)
    point = waist - math.sqrt(1 - belly**2)
    if point <= 0:
        return None
    lozenge = (
        (-width, mouth),
        (belly, waist),
        (0.0, point),
        (-belly, waist),
        (width, mouth),
    )
    lozenges = {2 * (k * (corners // 2) // crossings) + 1 for k in range(crossings)}
    joints: list[XY] = []
    for i, joint in enumerate(base):
        if i in lozenges:
            joints += [_at(centre, half * i, across, out) for across, out in lozenge]
        else:
            joints.append(joint)
    return tuple(joints)


def many_pointed(pipes: int, side: int) -> Joints | None:
    """Return a regular star polygon: every pipe of 1 m, every angle alike, but full of crossings.

    None if no such star with angles of at least 10 degrees fits into the square.
    """
    for step in range(int(pipes * 17 / 36), 1, -1):
        radius = 0.5 / math.sin(math.pi * step / pipes)
        if math.gcd(step, pipes) == 1 and radius <= side / 2:
            turn = 2 * math.pi * step / pipes
            return tuple(
                _at((side / 2, side / 2), turn * k, 0.0, radius) for k in range(pipes)
            )
    return None


def radii(side: int) -> Iterator[float]:
    """Yield radii of stars that fit into a square, the largest first."""
    for tenth in range(5 * side, 4, -1):
        yield tenth / 10


def _inner_radius(half: float, radius: float) -> float | None:
    reach = radius * math.sin(half)
    if reach >= 1:
        return None
    inner = radius * math.cos(half) - math.sqrt(1 - reach**2)
    return inner if inner > 0 else None


def _at(centre: XY, angle: float, across: float, out: float) -> XY:
    """Return the place this far out from the centre at an angle, and this far to its left."""
    cos, sin = math.cos(angle), math.sin(angle)
    return (
        round(centre[0] + out * cos - across * sin, _DECIMALS),
        round(centre[1] + out * sin + across * cos, _DECIMALS),
    )


@dataclass(frozen=True)
class Lattice:
    """The nodes of a lattice in a square, each with its place in metres.

    ``steps`` are the directions to a node's neighbours, counter-clockwise.
    """

    steps: tuple[Node, ...]
    places: dict[Node, XY]

    @property
    def triangular(self) -> bool:
        """Whether a node has six neighbours instead of four."""
        return len(self.steps) == 6

    def detours(self, a: Node, b: Node) -> Iterator[tuple[Node, ...]]:
        """Yield the nodes of the shortest ways around the step from a to b, left and right."""
        k = self.steps.index((b[0] - a[0], b[1] - a[1]))
        n = len(self.steps)
        for side in (1, -1):
            dx, dy = self.steps[(k + side) % n]
            c = a[0] + dx, a[1] + dy
            yield (c,) if self.triangular else (c, (b[0] + dx, b[1] + dy))


def square_lattice(side: int, inset: float = 0.0) -> Lattice:
    """Return the nodes one metre apart, the first ``inset`` metres from the left and bottom."""
    n = math.floor(side - 2 * inset) + 1
    return Lattice(
        _SQUARE, {(i, j): (i + inset, j + inset) for i in range(n) for j in range(n)}
    )


def triangular_lattice(side: int, shift: int = 0) -> Lattice:
    """Return nodes in centred rows, from the first or second on every other half a metre right."""
    rows = math.floor(side / _ROW) + 1
    low = (side - (rows - 1) * _ROW) / 2
    return Lattice(
        _TRIANGULAR,
        {
            (u, r): (u / 2, round(low + r * _ROW, _DECIMALS))
            for r in range(rows)
            for u in range((r + shift) % 2, 2 * side + 1, 2)
        },
    )


def grow(
    lattice: Lattice,
    start: list[Node],
    pipes: int,
    rng: Stream,
    *,
    turning: bool = False,
    steps: int = 20_000,
) -> Joints | None:
    """Grow a loop of nodes to a length by random moves; None if it takes more than these steps.

    If it must turn at every node, it is grown by annealing.
    """
    state = _State(lattice, start, turning)
    for _ in range(steps):
        if len(state.order) == pipes and (not turning or state.straights() == 0):
            return state.places()
        state.try_a_move(pipes, rng)
    return None


class _State:
    def __init__(self, lattice: Lattice, start: list[Node], turning: bool) -> None:
        self.lattice = lattice
        self.turning = turning
        self.order = list(start)  # in no particular order, once moves were made
        self.index = {node: i for i, node in enumerate(start)}
        self.after = dict(zip(start, start[1:] + start[:1], strict=True))
        self.before = {b: a for a, b in self.after.items()}
        self.straight = {node for node in start if self._is_straight(node)}

    def straights(self) -> int:
        return len(self.straight)

    def places(self) -> Joints:
        node = first = min(self.after)
        ring = [self.lattice.places[first]]
        while (node := self.after[node]) != first:
            ring.append(self.lattice.places[node])
        return tuple(ring)

    def try_a_move(self, pipes: int, rng: Stream) -> None:
        """Replace the nodes after a random one by others, if chance and the free nodes let it."""
        a = self.order[rng.below(len(self.order))]
        b = self.after[a]
        kind = rng.below(4)
        if kind < 2:
            if len(self.order) >= pipes and not self.turning:
                kind = 2
            else:
                new = list(self.lattice.detours(a, b))[kind]
                self._replace(a, (), new, b, pipes, rng)
                return
        c = self.after[b]
        if kind == 2:
            corner = (a[0] + c[0] - b[0], a[1] + c[1] - b[1])
            self._replace(a, (b,), (corner,), c, pipes, rng)
        elif self.turning:
            gone = (b,) if self.lattice.triangular else (b, c)
            end = c if self.lattice.triangular else self.after[c]
            if (end[0] - a[0], end[1] - a[1]) in self.lattice.steps:
                self._replace(a, gone, (), end, pipes, rng)

    def _replace(
        self,
        a: Node,
        old: tuple[Node, ...],
        new: tuple[Node, ...],
        end: Node,
        pipes: int,
        rng: Stream,
    ) -> None:
        length = len(self.order) + len(new) - len(old)
        if length < 3 or any(
            node in self.after or node not in self.lattice.places for node in new
        ):
            return
        cost = abs(length - pipes) - abs(len(self.order) - pipes)
        count = len(self.straight)
        self._swap(a, old, new, end)
        if not self.turning:
            return
        cost += len(self.straight) - count
        # Uphill by c with a chance of 1 in 4 ** c.
        if cost > 0 and rng.getrandbits(2 * cost) != 0:
            self._swap(a, new, old, end)

    def _swap(
        self, a: Node, old: tuple[Node, ...], new: tuple[Node, ...], end: Node
    ) -> None:
        for node in old:
            self.straight.discard(node)
            del self.after[node], self.before[node]
            i = self.index.pop(node)
            last = self.order.pop()
            if last != node:
                self.order[i] = last
                self.index[last] = i
        for node in new:
            self.index[node] = len(self.order)
            self.order.append(node)
        way = (a, *new, end)
        for p, q in pairwise(way):
            self.after[p] = q
            self.before[q] = p
        for node in way:
            if self._is_straight(node):
                self.straight.add(node)
            else:
                self.straight.discard(node)

    def _is_straight(self, node: Node) -> bool:
        p, q = self.before[node], self.after[node]
        return p[0] + q[0] == 2 * node[0] and p[1] + q[1] == 2 * node[1]


def rectangle(width: int, height: int, x: int = 0, y: int = 0) -> list[Node]:
    """Return the nodes of a rectangle's outline on the square lattice, from its lower left."""
    return [
        *((x + i, y) for i in range(width)),
        *((x + width, y + j) for j in range(height)),
        *((x + width - i, y + height) for i in range(width)),
        *((x, y + height - j) for j in range(height)),
    ]


def grown_on_squares(pipes: int, side: int, inset: float, rng: Stream) -> Joints | None:
    """Grow a loop from the longest outline that is not too long; None if it does not get there."""
    span = math.floor(side - 2 * inset)
    if pipes % 2 or pipes < 4 or span < 1 or pipes > (span + 1) ** 2:
        return None
    width = min(span, max(1, pipes // 4))
    height = min(span, max(1, (pipes - 2 * width) // 2))
    lattice = square_lattice(side, inset)
    return grow(lattice, rectangle(width, height), pipes, rng, steps=60 * pipes + 4000)


def grown_on_triangles(
    pipes: int, side: int, shift: int, rng: Stream, *, turning: bool = False
) -> Joints | None:
    """Grow a loop from a triangle in the middle; None if it does not get there."""
    lattice = triangular_lattice(side, shift)
    triangles = [
        [node, (node[0] + 2, node[1]), (node[0] + 1, node[1] + 1)]
        for node in lattice.places
        if {(node[0] + 2, node[1]), (node[0] + 1, node[1] + 1)} <= lattice.places.keys()
    ]
    if not triangles or pipes > len(lattice.places):
        return None
    start = triangles[len(triangles) // 2]
    steps = 400 * pipes if turning else 60 * pipes + 4000
    return grow(lattice, start, pipes, rng, turning=turning, steps=steps)


def turning_on_squares(pipes: int, side: int, rng: Stream) -> Joints | None:
    """Grow a loop that turns at every joint, on the square lattice."""
    if pipes % 4 or pipes > (side + 1) ** 2:
        return None
    return grow(
        square_lattice(side),
        rectangle(1, 1),
        pipes,
        rng,
        turning=True,
        steps=400 * pipes,
    )
