"""Exact plane geometry on integer coordinates: predicates, hull, Delaunay triangulation.

Python's integers do not overflow, so the sign of every determinant here is exact. Only
`hull_corners` also accepts doubles.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from scbench.base.errors import GenerationError

XY = tuple[int, int]
Point = tuple[float, float]
Triangle = tuple[int, int, int]
Edge = tuple[int, int]


def hull_corners(points: Iterable[Point]) -> list[Point]:
    """Return the corners of the convex hull of points, counter-clockwise from the leftmost.

    Returns the two ends for collinear points, and an empty list without points.
    """
    ordered = sorted(set(points))
    hull: list[Point] = []
    # Andrew's monotone chain: the lower side from left to right, then the upper one back.
    for chain in (ordered, ordered[::-1]):
        base = len(hull)
        for x, y in chain:
            while len(hull) >= base + 2:
                (ax, ay), (bx, by) = hull[-2:]
                if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                    break
                hull.pop()
            hull.append((x, y))
        # The last corner of a chain is the first of the next.
        del hull[-1:]
    return hull or ordered


def to_integers(points: Sequence[Sequence[float]], decimals: int) -> tuple[XY, ...]:
    """Return points of at most ``decimals`` decimals as integers, in units of the last decimal."""
    scale = 10**decimals
    return tuple((round(x * scale), round(y * scale)) for x, y in points)


def orient(a: XY, b: XY, c: XY) -> int:
    """Return twice the signed area of a, b, c: positive if they turn counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def in_circle(a: XY, b: XY, c: XY, d: XY) -> int:
    """Return a positive number if d lies strictly inside the circle through a, b, c.

    0 if it lies on the circle, negative outside. a, b, c must turn counter-clockwise.
    """
    ax = a[0] - d[0]
    ay = a[1] - d[1]
    bx = b[0] - d[0]
    by = b[1] - d[1]
    cx = c[0] - d[0]
    cy = c[1] - d[1]
    return (
        (ax * ax + ay * ay) * (bx * cy - by * cx)
        + (bx * bx + by * by) * (cx * ay - cy * ax)
        + (cx * cx + cy * cy) * (ax * by - ay * bx)
    )


def first_inside(points: Sequence[XY], triangle: Sequence[int]) -> int | None:
    """Return the index of the first point strictly inside the circumcircle of three of the points.

    None if there is none, or if the three lie on one line.
    """
    a, b, c = triangle
    ax, ay = points[a]
    bx = points[b][0] - ax
    by = points[b][1] - ay
    cx = points[c][0] - ax
    cy = points[c][1] - ay
    b_square = bx * bx + by * by
    c_square = cx * cx + cy * cy
    # The in-circle determinant relative to a, expanded by the row of the point, so that
    # its minors are computed only once for many points. The last of them is twice the
    # triangle's signed area.
    u = b_square * cy - by * c_square
    v = bx * c_square - b_square * cx
    double_area = bx * cy - by * cx
    if double_area == 0:
        return None
    if double_area < 0:
        u = -u
        v = -v
        double_area = -double_area
    for i, (px, py) in enumerate(points):
        x = px - ax
        y = py - ay
        if u * x + v * y > double_area * (x * x + y * y):
            return i
    return None


def triangulate(points: Sequence[XY]) -> tuple[list[Triangle], list[int]]:
    """Return the Delaunay triangles and the hull of distinct points.

    A sweep from left to right gives a triangulation, and edge flips make it Delaunay.
    Where four points share an empty circle, one of the right triangulations is
    returned. Triangles are index triples, all ascending; the hull runs
    counter-clockwise from the leftmost point, with points in the middle of its sides.

    Raises:
        GenerationError: all points lie on one line, or two are equal.
    """
    third, hull = sweep_triangulation(points)
    flip_to_delaunay(points, third)
    triangles: set[Triangle] = set()
    for (a, b), c in third.items():
        low, middle, high = sorted((a, b, c))
        triangles.add((low, middle, high))
    return sorted(triangles), hull


def third_corners(
    points: Sequence[XY], triangles: Iterable[Sequence[int]]
) -> dict[Edge, int]:
    """Map each directed edge of the triangles, taken counter-clockwise, to its third corner."""
    third: dict[Edge, int] = {}
    for a, b, c in triangles:
        if orient(points[a], points[b], points[c]) > 0:
            add_triangle(third, a, b, c)
        else:
            add_triangle(third, a, c, b)
    return third


def add_triangle(third: dict[Edge, int], a: int, b: int, c: int) -> None:
    """Add the three directed edges of a counter-clockwise triangle to a map of third corners."""
    third[a, b] = c
    third[b, c] = a
    third[c, a] = b


def sweep_triangulation(points: Sequence[XY]) -> tuple[dict[Edge, int], list[int]]:
    """Return the third corner of each directed edge of some triangulation, and the hull.

    Points are added in order of x. For errors see `triangulate`.
    """
    if len(set(points)) < len(points):
        raise GenerationError("two of the points are equal")
    order = sorted(range(len(points)), key=lambda i: points[i])
    apex = first_off_line(points, order)
    # The first points are on a line; the first one off it forms a fan with them.
    third: dict[Edge, int] = {}
    line = order[:apex]
    top = order[apex]
    if orient(points[line[0]], points[line[1]], points[top]) < 0:
        line.reverse()
    for a, b in pairwise(line):
        add_triangle(third, a, b, top)
    # The hull as a ring: each corner with its counter-clockwise successor and its
    # predecessor.
    after = dict(pairwise(line))
    after[line[-1]] = top
    after[top] = line[0]
    before = {b: a for a, b in after.items()}

    newest = top
    for p in order[apex + 1 :]:
        # The newest hull point is the rightmost, so p sees the sides next to it.
        up = newest
        while orient(points[up], points[after[up]], points[p]) < 0:
            add_triangle(third, after[up], up, p)
            up = after[up]
        down = newest
        while orient(points[before[down]], points[down], points[p]) < 0:
            add_triangle(third, down, before[down], p)
            down = before[down]
        after[down] = p
        before[p] = down
        after[p] = up
        before[up] = p
        newest = p
    hull = [order[0]]
    while after[hull[-1]] != order[0]:
        hull.append(after[hull[-1]])
    return third, hull


def first_off_line(points: Sequence[XY], order: Sequence[int]) -> int:
    """Return the position of the first point that is not collinear with those before.

    Raises:
        GenerationError: all points are collinear.
    """
    for place in range(2, len(order)):
        if orient(points[order[0]], points[order[1]], points[order[place]]):
            return place
    raise GenerationError("all points lie on one line, so there is no triangulation")


def flip_to_delaunay(points: Sequence[XY], third: dict[Edge, int]) -> None:
    """Flip edges until no circumcircle contains the opposite corner (Lawson)."""
    # Each edge once, from its lower to its higher end.
    waiting = [edge for edge in sorted(third) if edge[0] < edge[1]]
    while waiting:
        a, b = waiting.pop()
        c = third.get((a, b))
        d = third.get((b, a))
        if c is None or d is None:
            continue
        if in_circle(points[a], points[b], points[c], points[d]) <= 0:
            continue
        del third[a, b], third[b, a]
        add_triangle(third, c, d, b)
        add_triangle(third, d, c, a)
        waiting += [(a, c), (c, b), (b, d), (d, a)]
