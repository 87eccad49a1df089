"""Delaunay triangulation: prompts, fresh point sets, and an exact solver."""

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
from scbench.graders.shared import plane_geometry
from scbench.graders.shared.plane_geometry import XY
from scbench.schemas.delaunay_triangulation import Answer, Params

_TRIES = 200


class Space(Point):
    """Parameters of fresh point sets."""

    points: int = parameter(20, "number of points", ge=3, le=200)
    layout: Literal["uniform", "clusters", "ring", "lattice"] = parameter(
        "uniform",
        "uniform in the unit square, in clusters, near a circle, or a jittered lattice",
    )
    decimals: int = parameter(3, "decimals printed", ge=2, le=6)
    min_margin: float = parameter(
        0.0,
        "least distance of the in-circle determinant from 0 across an inner edge, "
        "in units of the square's side to the fourth power; larger is easier",
        ge=0.0,
        le=0.01,
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Point sets in the unit square with exactly one Delaunay triangulation."""

    task = "delaunay_triangulation"
    version = 2
    form = '{"triangles": [[i, j, k], ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the points."""
        rows = "\n".join(
            f"{i}: ({x:.{params.decimals}f}, {y:.{params.decimals}f})"
            for i, (x, y) in enumerate(params.points)
        )
        return {"n": len(params.points), "points": rows}

    def reference(self, params: Params) -> Answer:
        """Sweep and flip with exact predicates."""
        triangles, _ = plane_geometry.triangulate(
            plane_geometry.to_integers(params.points, params.decimals)
        )
        return Answer(triangles=tuple(triangles))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return lists with one mistake each, and the filler that models write for large sets."""
        triangles: list[JsonValue] = [list(t) for t in self.reference(params).triangles]
        n = len(params.points)
        first = self.reference(params).triangles[0]
        lists: dict[str, JsonValue] = {
            "empty": [],
            "one_missing": triangles[1:],
            "one_repeated": [*triangles, triangles[0]],
            "one_listed_twice_reordered": [*triangles, list(reversed(first))],
            "repeated_index": [*triangles, [0, 0, 1]],
            "index_out_of_range": [*triangles, [0, 1, n]],
            "fan_of_slivers": [
                [i, i + 1, (i + 2) % n] for i in range(n - 1 if n > 3 else 0)
            ]
            or [[0, 1]],
            "booleans": [[False, True, 2], *triangles[1:]],
        }
        flipped = _one_flip(params, self.reference(params).triangles)
        if flipped is not None:
            lists["one_edge_flipped"] = flipped
        return under("triangles", lists)

    def measure(self, params: Params) -> float:
        """Return the bits of precision that the circle tests across all inner edges need."""
        points = plane_geometry.to_integers(params.points, params.decimals)
        precision: int = (10 ** (4 * params.decimals)).bit_length() + 1
        return sum(precision - abs(det).bit_length() for det in _inner_tests(points))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw points, round them, and keep the set if it is in general position."""
        scale = 10**point.decimals
        for _ in range(_TRIES):
            points = tuple(
                (round(x * scale), round(y * scale))
                for x, y in _LAYOUTS[point.layout](point, rng)
            )
            if _general_position(points, point.min_margin * float(scale) ** 4):
                return Params(
                    points=tuple((x / scale, y / scale) for x, y in points),
                    decimals=point.decimals,
                )
        raise GenerationError(
            f"no {point.layout} set of {point.points} points with {point.decimals} decimals is in "
            f"general position with margin {point.min_margin}, in {_TRIES} tries; "
            "ask for fewer points, more decimals or a smaller margin"
        )


def _one_flip(
    params: Params, triangles: tuple[tuple[int, ...], ...]
) -> list[JsonValue] | None:
    """Return the triangles with one inner edge flipped, if some edge can be."""
    points = plane_geometry.to_integers(params.points, params.decimals)
    third = plane_geometry.third_corners(points, triangles)
    for (a, b), c in third.items():
        d = third.get((b, a))
        if (
            d is None
            or plane_geometry.in_circle(points[a], points[b], points[c], points[d]) == 0
        ):
            continue
        to_a, to_b = (
            plane_geometry.orient(points[c], points[d], points[end]) for end in (a, b)
        )
        if to_b > 0 > to_a:
            gone = ({a, b, c}, {a, b, d})
            intact: list[JsonValue] = [list(t) for t in triangles if set(t) not in gone]
            return [*intact, [a, c, d], [b, c, d]]
    return None


def _general_position(points: tuple[XY, ...], margin: float) -> bool:
    """Whether no two points coincide, no three are on a line, and the triangulation is unique."""
    for i, a in enumerate(points):
        directions = set()
        for b in points[i + 1 :]:
            dx, dy = b[0] - a[0], b[1] - a[1]
            if dx == dy == 0:
                return False
            divisor = math.gcd(dx, dy) * (-1 if (dx, dy) < (0, 0) else 1)
            directions.add((dx // divisor, dy // divisor))
        if len(directions) < len(points) - 1 - i:
            return False
    return all(abs(det) > margin for det in _inner_tests(points))


def _inner_tests(points: Sequence[XY]) -> Iterator[int]:
    """Yield the in-circle determinant across every inner edge of a triangulation, both ways."""
    third = plane_geometry.third_corners(points, plane_geometry.triangulate(points)[0])
    for (a, b), c in third.items():
        if (b, a) in third:
            yield plane_geometry.in_circle(
                points[a], points[b], points[c], points[third[b, a]]
            )


def _uniform(point: Space, rng: Stream) -> list[tuple[float, float]]:
    return [(rng.unit(), rng.unit()) for _ in range(point.points)]


def _clusters(point: Space, rng: Stream) -> list[tuple[float, float]]:
    centres = [(rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8)) for _ in range(3)]

    def spread() -> float:
        # The sum of four uniforms is close enough to a bell, and exact everywhere.
        return 0.1 * (sum(rng.unit() for _ in range(4)) - 2)

    near = [rng.choice(centres) for _ in range(point.points)]
    return [(x + spread(), y + spread()) for x, y in near]


def _point_ring(point: Space, rng: Stream) -> list[tuple[float, float]]:
    def near() -> tuple[float, float]:
        x, y = draw_direction(rng)
        radius = rng.uniform(0.42, 0.48)
        return 0.5 + radius * x, 0.5 + radius * y

    return [near() for _ in range(point.points)]


def _lattice(point: Space, rng: Stream) -> list[tuple[float, float]]:
    side = math.isqrt(point.points - 1) + 1
    cells = rng.sample(range(side * side), point.points)
    return [
        tuple((i + rng.uniform(0.3, 0.7)) / side for i in divmod(cell, side))
        for cell in cells
    ]  # type: ignore[misc]


_LAYOUTS = {
    "uniform": _uniform,
    "clusters": _clusters,
    "ring": _point_ring,
    "lattice": _lattice,
}
