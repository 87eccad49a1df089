"""Closed outlines of ten kinds of shape, and how to write them as SVG paths."""

from collections.abc import Sequence
from itertools import pairwise
from math import cos, dist, pi, radians, sin, tan
from typing import Literal, NamedTuple

from scbench.base.seeding import Stream
from scbench.schemas.svg_shapes import Kind

Vector = tuple[float, float]
Corner = tuple[Vector, Vector | None]
"""A point of an outline and, if a curve leads on from it, the angles where the curve begins and
ends; without them a straight line does."""

_ALMOST_HALF = pi - 1e-6


class Frame(NamedTuple):
    """How an outline is laid on the page: mirrored, turned, enlarged and moved, in that order."""

    mirror: Literal[1, -1]
    degrees: int
    size: float
    centre: Vector

    def turn(self, vector: Vector) -> Vector:
        """Return a vector on the page, in hundredths of a unit."""
        x, y = vector[0], self.mirror * vector[1]
        c, s = cos(radians(self.degrees)), sin(radians(self.degrees))
        return 100 * self.size * (x * c - y * s), 100 * self.size * (x * s + y * c)

    def place(self, point: Vector) -> tuple[int, int]:
        """Return a point on the page, rounded to whole hundredths of a unit."""
        x, y = self.turn(point)
        return round(x + 100 * self.centre[0]), round(y + 100 * self.centre[1])


def outline(kind: Kind, stretch: float, segments: int, rng: Stream) -> list[Corner]:
    """Return the points of a shape about 2 high and ``2 * stretch`` wide, round the origin.

    The proportions keep the kinds apart: what makes a kind (equal sides, parallel sides) is far
    from what makes another, so that small errors leave it recognisable.
    """
    points: list[Vector]
    if kind == "ellipse":
        return _arc(0, 2 * pi, max(2, segments), stretch)[:-1]
    if kind == "half_ellipse":
        start = 0 if rng.below(2) else pi / 2
        return _arc(start, start + pi, segments, stretch)
    if kind == "sector":
        start = rng.uniform(0, 2 * pi)
        return [((0, 0), None), *_arc(start, start + rng.uniform(0.9, 2.2), segments, stretch)]
    if kind == "rectangle":
        points = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    elif kind == "trapezoid":
        top, height = rng.uniform(0.35, 0.5), rng.uniform(0.7, 1)
        points = [(1, -height), (top, height), (-top, height), (-1, -height)]
    elif kind == "kite":
        width, cut = rng.uniform(0.5, 0.8), 1 - 2 * rng.uniform(0.15, 0.28)
        points = [(1, 0), (cut, width), (-1, 0), (cut, -width)]
    else:
        n = {"triangle": 3, "pentagon": 5, "hexagon": 6, "star": 10}[kind]
        start = rng.uniform(0, 2 * pi)
        inner = rng.uniform(0.38, 0.48) if kind == "star" else 1
        points = [
            (cos(at) * far, sin(at) * far)
            for at, far in ((start + 2 * pi * i / n, inner if i % 2 else 1) for i in range(n))
        ]
    return [((x * stretch, y), None) for x, y in points]


def _arc(start: float, end: float, segments: int, stretch: float) -> list[Corner]:
    """Return the points of a piece of an ellipse; from the last of them a straight line leads."""
    at = [start + (end - start) * i / segments for i in range(segments + 1)]
    angles: list[Vector | None] = [*pairwise(at), None]
    return [((stretch * cos(a), sin(a)), piece) for a, piece in zip(at, angles, strict=True)]


def roughened(corners: Sequence[Corner], noise: float, rng: Stream) -> list[Corner]:
    """Return the outline with each point moved by at most ``noise`` times the narrowest gap.

    The narrowest gap is the smallest distance between two of the points.
    """
    if not noise:
        return list(corners)
    points = [point for point, _ in corners]
    gap = min(dist(p, q) for i, p in enumerate(points) for q in points[:i])
    shifted: list[Corner] = []
    for (x, y), piece in corners:
        far, way = noise * gap * rng.unit(), rng.uniform(0, 2 * pi)
        shifted.append(((x + far * cos(way), y + far * sin(way)), piece))
    return shifted


def divided(corners: Sequence[Corner], pieces: int, rng: Stream) -> list[Corner]:
    """Return the outline with more points on its straight sides, until it has so many pieces.

    Long sides get more of them. An outline without straight sides stays as it is.
    """
    ends = [*corners[1:], corners[0]]
    length = [
        0.0 if piece else dist(point, end[0])
        for (point, piece), end in zip(corners, ends, strict=True)
    ]
    parts = [1] * len(corners)
    while any(length) and sum(parts) < pieces:
        each = [far / n for far, n in zip(length, parts, strict=True)]
        parts[rng.choice([i for i, far in enumerate(each) if far >= max(each) / 2])] += 1
    points: list[Corner] = []
    for ((x, y), piece), ((u, v), _), n in zip(corners, ends, parts, strict=True):
        points.append(((x, y), piece))
        for i in range(1, n):
            share = (i + rng.uniform(-0.25, 0.25)) / n
            points.append(((x + share * (u - x), y + share * (v - y)), None))
    return points


def path_of(
    corners: Sequence[Corner],
    frame: Frame,
    stretch: float,
    rng: Stream,
    *,
    relative: bool,
    rough: bool,
    cubics: int,
) -> str:
    """Return the SVG path of an outline.

    It begins at any of the points. Curves are elliptical arcs or cubic Bezier curves, the latter if
    points are off. A straight piece is a line or a cubic Bezier curve whose control points are its
    ends; so many are of the latter kind that numbers of commands say nothing of the shape. A
    straight piece back to the start is drawn or left to the closing command.

    Args:
        corners: the outline.
        frame: where it lies.
        stretch: how much wider than high it is, before it is laid there.
        rng: what is free is drawn from it.
        relative: whether coordinates are counted from the last point.
        rough: whether points are off.
        cubics: least number of cubic Bezier curves, if there are no arcs.
    """
    straight = [i for i, (_, piece) in enumerate(corners) if piece is None]
    # Between points that are a little off, arcs of the right radii would meet in corners.
    arcs = rng.below(2) == 1 and not rough
    closes = rng.below(2) == 1 and bool(straight)
    first = 1 + (rng.choice(straight) if closes else rng.below(len(corners)))
    corners = [*corners[first:], *corners[:first]]
    strokes = [piece for _, piece in corners[: -1 if closes else None]]
    lines = [i for i, piece in enumerate(strokes) if piece is None]
    curves = len(strokes) - len(lines)
    limit = len(lines) if curves and arcs else len(strokes)
    least = 0 if curves and arcs else max(curves, min(cubics, limit))
    flat = rng.sample(lines, rng.between(least, limit) - (0 if arcs else curves)) if lines else []
    places = [frame.place(point) for point, _ in [*corners, corners[0]]]
    words = [_command("m" if relative else "M", [places[0]], (0, 0))]
    for i, piece in enumerate(strokes):
        here, there = places[i], places[i + 1]
        origin = here if relative else (0, 0)
        if piece and arcs:
            half = piece[1] - piece[0] > _ALMOST_HALF
            words.append(_arc_command(frame, stretch, there, origin, half=half, relative=relative))
        elif piece or i in flat:
            handles = _handles(piece, frame, stretch, here, there) if piece else [here, there]
            words.append(_command("c" if relative else "C", [*handles, there], origin))
        else:
            words.append(_command("l" if relative else "L", [there], origin))
    return " ".join([*words, "z" if relative else "Z"])


def _handles(
    piece: Vector, frame: Frame, stretch: float, here: tuple[int, int], there: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return the inner control points; they move with the ends, so that joints stay smooth."""
    begin, end = piece
    pull = 4 / 3 * tan((end - begin) / 4)
    out = frame.turn((-stretch * sin(begin) * pull, cos(begin) * pull))
    back = frame.turn((-stretch * sin(end) * pull, cos(end) * pull))
    return [
        (round(here[0] + out[0]), round(here[1] + out[1])),
        (round(there[0] - back[0]), round(there[1] - back[1])),
    ]


def _arc_command(
    frame: Frame,
    stretch: float,
    end: tuple[int, int],
    origin: tuple[int, int],
    *,
    half: bool,
    relative: bool,
) -> str:
    # Radii that are too small for the distance are enlarged by every reader of SVG, which makes
    # exactly half of an ellipse. Ones that are too large by an error of rounding make less.
    less = 2 if half else 0
    rx, ry = (round(100 * frame.size * along) - less for along in (stretch, 1))
    sweep = 1 if frame.mirror == 1 else 0
    word = f"{'a' if relative else 'A'} {_number(rx)} {_number(ry)} {frame.degrees} 0 {sweep}"
    return _command(word, [end], origin)


def _command(word: str, points: Sequence[tuple[int, int]], origin: tuple[int, int]) -> str:
    x, y = origin
    return " ".join([word, *[f"{_number(p - x)},{_number(q - y)}" for p, q in points]])


def _number(hundredths: int) -> str:
    """Return a number of hundredths as a decimal without idle zeros."""
    integer, fraction = divmod(abs(hundredths), 100)
    digits = f"{integer}.{fraction:02}".rstrip("0").rstrip(".")
    return f"-{digits}" if hundredths < 0 else digits
