"""Delaunay triangulation of points in the plane; no four of them are on one empty circle.

An example of the puzzle, with the answer [0, 1, 3], [0, 2, 3], [1, 2, 3]:

    0: (0.1, 0.1)
    1: (0.9, 0.2)
    2: (0.5, 0.8)
    3: (0.5, 0.4)
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Builder,
    Point,
    draw_direction,
    parameter,
    under,
)
from scbench.graders.shared.plane_geometry import (
    XY,
    in_circle,
    orient,
    third_corners,
    to_integers,
    triangulate,
)
from scbench.schemas.delaunay_triangulation import Answer, Params

# Maximum number of point sets that one draw tries. With few decimals and many points, three are
# often on a line.
_TRIES = 200
Place = tuple[float, float]


class Space(Point):
    """Parameters of fresh point sets."""

    points: int = parameter(20, "number of points", ge=3, le=200)
    layout: Literal["uniform", "clusters", "ring", "lattice"] = parameter(
        "uniform",
        "layout of the points: uniform in the unit square, in clusters, near a circle (ring), or "
        "on a jittered lattice",
    )
    decimals: int = parameter(
        3, "number of decimals in the printed coordinates", ge=2, le=6
    )
    min_margin: float = parameter(
        0.0,
        "minimum absolute value of the in-circle determinant across an inner edge, in units "
        "of the square's side to the fourth power; larger is easier",
        ge=0.0,
        le=0.01,
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Point sets in the unit square with exactly one Delaunay triangulation."""

    task = "delaunay_triangulation"
    version = 3
    draws = 2
    form = '{"triangles": [[i, j, k], ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the points."""
        digits = params.decimals
        rows = []
        for i, (x, y) in enumerate(params.points):
            place = f"({x:.{digits}f}, {y:.{digits}f})"
            rows.append(f"{i}: {place}")
        return {"n": len(rows), "points": "\n".join(rows)}

    def reference(self, params: Params) -> Answer:
        """Sweep and flip with exact predicates."""
        triangles, _ = triangulate(to_integers(params.points, params.decimals))
        return Answer(triangles=tuple(triangles))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return lists with one mistake each, and the filler that models write for large sets."""
        right = self.reference(params).triangles
        triangles: list[JsonValue] = [list(corners) for corners in right]
        n = len(params.points)
        # With three points, every such triangle is right.
        slivers: list[JsonValue] = [[0, 1]]
        if n > 3:
            slivers = [[i, i + 1, (i + 2) % n] for i in range(n - 1)]
        lists: dict[str, JsonValue] = {
            "empty": [],
            "one_missing": triangles[1:],
            "one_repeated": [*triangles, triangles[0]],
            "one_listed_twice_reordered": [*triangles, list(reversed(right[0]))],
            "repeated_index": [*triangles, [0, 0, 1]],
            "index_out_of_range": [*triangles, [0, 1, n]],
            "fan_of_slivers": slivers,
            "booleans": [[False, True, 2], *triangles[1:]],
        }
        points = to_integers(params.points, params.decimals)
        flipped = flip_one_edge(points, right)
        if flipped is not None:
            lists["one_edge_flipped"] = flipped
        return under("triangles", lists)

    def measure(self, params: Params) -> float:
        """Return the number of bits in the circle tests across all inner edges."""
        precision: int = (10 ** (4 * params.decimals)).bit_length() + 1
        tests = inner_tests(to_integers(params.points, params.decimals))
        return sum(precision - abs(determinant).bit_length() for determinant in tests)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw points, round them, and keep the set if it is in general position."""
        scale = 10**point.decimals
        # The determinant has the dimension of a length to the fourth power.
        margin = point.min_margin * float(scale) ** 4
        for _ in range(_TRIES):
            places = draw_places(point, rng)
            # The tests use the printed coordinates, as integers.
            points = tuple((round(x * scale), round(y * scale)) for x, y in places)
            if in_general_position(points, margin):
                rounded = tuple((x / scale, y / scale) for x, y in points)
                return Params(points=rounded, decimals=point.decimals)
        raise GenerationError(
            f"no {point.layout} set of {point.points} points with {point.decimals} decimals is in "
            f"general position with margin {point.min_margin}, in {_TRIES} tries; "
            "ask for fewer points, more decimals or a smaller margin"
        )


def flip_one_edge(
    points: Sequence[XY], triangles: Sequence[tuple[int, ...]]
) -> list[JsonValue] | None:
    """Return the triangles with one inner edge flipped, if any edge can be flipped."""
    third = third_corners(points, triangles)
    for (a, b), c in third.items():
        d = third.get((b, a))
        if d is None:
            continue
        # If all four points are on one circle, the flipped edge is right as well.
        if in_circle(points[a], points[b], points[c], points[d]) == 0:
            continue
        # The other diagonal lies inside only if it separates the ends of this one.
        side_of_a = orient(points[c], points[d], points[a])
        side_of_b = orient(points[c], points[d], points[b])
        if side_of_b > 0 > side_of_a:
            flipped: list[JsonValue] = []
            for corners in triangles:
                is_replaced = set(corners) in ({a, b, c}, {a, b, d})
                if not is_replaced:
                    flipped.append(list(corners))
            return [*flipped, [a, c, d], [b, c, d]]
    return None


def in_general_position(points: Sequence[XY], margin: float) -> bool:
    """Return whether points differ, no three are on a line, and the triangulation is unique."""
    for i, (ax, ay) in enumerate(points):
        # Two points on a line through this point are in the same or in opposite directions.
        directions = set()
        for bx, by in points[i + 1 :]:
            dx = bx - ax
            dy = by - ay
            if dx == dy == 0:
                return False
            divisor = math.gcd(dx, dy)
            if (dx, dy) < (0, 0):
                divisor = -divisor
            directions.add((dx // divisor, dy // divisor))
        if len(directions) < len(points) - 1 - i:
            return False
    return all(abs(determinant) > margin for determinant in inner_tests(points))


def inner_tests(points: Sequence[XY]) -> Iterator[int]:
    """Yield the in-circle determinant across every inner edge, from both sides."""
    triangles, _ = triangulate(points)
    third = third_corners(points, triangles)
    for (a, b), c in third.items():
        if (b, a) in third:
            d = third[b, a]
            yield in_circle(points[a], points[b], points[c], points[d])


def draw_places(point: Space, rng: Stream) -> list[Place]:
    """Draw places in or near the unit square, in the point's layout."""
    n = point.points
    match point.layout:
        case "uniform":
            return [(rng.unit(), rng.unit()) for _ in range(n)]
        case "clusters":
            return draw_clusters(n, rng)
        case "ring":
            return draw_ring(n, rng)
        case "lattice":
            return draw_lattice(n, rng)


def draw_clusters(n: int, rng: Stream) -> list[Place]:
    """Draw n places around three centres."""
    centres = [(rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8)) for _ in range(3)]
    # All centres are chosen before the first deviation is drawn.
    centre_of_each = [rng.choice(centres) for _ in range(n)]

    def deviation() -> float:
        # The sum of four uniform numbers is close to a bell curve, and the same on every machine.
        total = sum(rng.unit() for _ in range(4))
        return 0.1 * (total - 2)

    return [(x + deviation(), y + deviation()) for x, y in centre_of_each]


def draw_ring(n: int, rng: Stream) -> list[Place]:
    """Draw n places near a circle around the middle of the square."""
    places = []
    for _ in range(n):
        x, y = draw_direction(rng)
        radius = rng.uniform(0.42, 0.48)
        places.append((0.5 + radius * x, 0.5 + radius * y))
    return places


def draw_lattice(n: int, rng: Stream) -> list[Place]:
    """Draw n places in different cells of a square lattice."""
    # The smallest square with a cell for each point.
    side = math.isqrt(n - 1) + 1
    places = []
    for cell in rng.sample(range(side * side), n):
        column, row = divmod(cell, side)
        # Between 0.3 and 0.7 of a cell, so that neighbours stay apart.
        x = (column + rng.uniform(0.3, 0.7)) / side
        y = (row + rng.uniform(0.3, 0.7)) / side
        places.append((x, y))
    return places
