"""Outlines of the ten kinds of shape: their points, small shifts, and divided straight sides."""

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import cos, dist, pi, sin
from typing import NamedTuple

from scbench.base.seeding import Stream
from scbench.schemas.svg_shapes import Kind

Vector = tuple[float, float]
# Number of corners of the shapes whose corners are on one circle, or alternately on two.
_CORNERS = {"triangle": 3, "pentagon": 5, "hexagon": 6, "star": 10}


class Corner(NamedTuple):
    """A point of an outline, and the line or curve to the next point.

    Attributes:
        point: x and y.
        arc: the angles at which the curve to the next point begins and ends; None for a line.
    """

    point: Vector
    arc: Vector | None


def outline(kind: Kind, stretch: float, segments: int, rng: Stream) -> list[Corner]:
    """Return the points of a shape about 2 high and ``2 * stretch`` wide, around the origin.

    The proportions keep the kinds distinct: the features of a kind (such as equal or parallel
    sides) differ clearly from those of any other, so it stays recognisable despite small errors.
    """
    if kind == "ellipse":
        # The curve ends where it begins.
        return _arc(0, 2 * pi, max(2, segments), stretch)[:-1]
    if kind == "half_ellipse":
        start = 0 if rng.below(2) else pi / 2
        return _arc(start, start + pi, segments, stretch)
    if kind == "sector":
        start = rng.uniform(0, 2 * pi)
        rim = _arc(start, start + rng.uniform(0.9, 2.2), segments, stretch)
        return [Corner((0, 0), None), *rim]
    points = _polygon(kind, rng)
    return [Corner((x * stretch, y), None) for x, y in points]


def _arc(start: float, end: float, segments: int, stretch: float) -> list[Corner]:
    """Return the points of a part of an ellipse; a straight line leads on from the last point."""
    angles = [start + (end - start) * i / segments for i in range(segments + 1)]
    arcs: list[Vector | None] = [*pairwise(angles), None]
    corners = []
    for angle, arc in zip(angles, arcs, strict=True):
        corners.append(Corner((stretch * cos(angle), sin(angle)), arc))
    return corners


def _polygon(kind: Kind, rng: Stream) -> list[Vector]:
    """Return the corners of a shape with straight sides, within about 1 of the origin."""
    if kind == "rectangle":
        return [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    if kind == "trapezoid":
        top = rng.uniform(0.35, 0.5)
        height = rng.uniform(0.7, 1)
        return [(1, -height), (top, height), (-top, height), (-1, -height)]
    if kind == "kite":
        width = rng.uniform(0.5, 0.8)
        cut = 1 - 2 * rng.uniform(0.15, 0.28)
        return [(1, 0), (cut, width), (-1, 0), (cut, -width)]
    n = _CORNERS[kind]
    start = rng.uniform(0, 2 * pi)
    # Every second corner of a star points inwards.
    inner = rng.uniform(0.38, 0.48) if kind == "star" else 1
    points = []
    for i in range(n):
        angle = start + 2 * pi * i / n
        radius = inner if i % 2 else 1
        points.append((cos(angle) * radius, sin(angle) * radius))
    return points


def shift_points(corners: Sequence[Corner], noise: float, rng: Stream) -> list[Corner]:
    """Return the outline with each point moved by at most ``noise`` times the narrowest gap.

    The narrowest gap is the smallest distance between two of the points.
    """
    if not noise:
        return list(corners)
    points = [corner.point for corner in corners]
    gap = min(dist(p, q) for p, q in combinations(points, 2))
    moved: list[Corner] = []
    for (x, y), arc in corners:
        length = noise * gap * rng.unit()
        angle = rng.uniform(0, 2 * pi)
        point = (x + length * cos(angle), y + length * sin(angle))
        moved.append(Corner(point, arc))
    return moved


def divide_sides(corners: Sequence[Corner], pieces: int, rng: Stream) -> list[Corner]:
    """Return the outline with more points on its straight sides, until it has enough pieces.

    Long sides get more points. An outline without straight sides is unchanged.
    """
    ends = [*corners[1:], corners[0]]
    lengths = []
    for corner, end in zip(corners, ends, strict=True):
        # A curve counts as having length 0, so it is never divided.
        length = 0.0 if corner.arc else dist(corner.point, end.point)
        lengths.append(length)
    # Number of parts of each side.
    counts = [1] * len(corners)
    while any(lengths) and sum(counts) < pieces:
        parts = [length / n for length, n in zip(lengths, counts, strict=True)]
        least = max(parts) / 2
        long_sides = [i for i, part in enumerate(parts) if part >= least]
        counts[rng.choice(long_sides)] += 1
    points: list[Corner] = []
    for corner, end, n in zip(corners, ends, counts, strict=True):
        points.append(corner)
        x, y = corner.point
        end_x, end_y = end.point
        for i in range(1, n):
            share = (i + rng.uniform(-0.25, 0.25)) / n
            point = (x + share * (end_x - x), y + share * (end_y - y))
            points.append(Corner(point, None))
    return points
