"""Exact plane geometry on integer coordinates: predicates, hull, Delaunay triangulation.

Python's integers do not overflow, so the sign of every determinant here is right. `hull_corners`
alone takes doubles, too.
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

    Of points on one line, the two ends are returned; of no point, none.
    """
    ordered = sorted(set(points))
    hull: list[Point] = []
    for chain in (ordered, ordered[::-1]):
        base = len(hull)
        for x, y in chain:
            while len(hull) >= base + 2:
                (ax, ay), (bx, by) = hull[-2:]
                if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                    break
                hull.pop()
            hull.append((x, y))
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
    ax, ay = a[0] - d[0], a[1] - d[1]
    bx, by = b[0] - d[0], b[1] - d[1]
    cx, cy = c[0] - d[0], c[1] - d[1]
    return (
        (ax * ax + ay * ay) * (bx * cy - by * cx)
        + (bx * bx + by * by) * (cx * ay - cy * ax)
        + (cx * cx + cy * cy) * (ax * by - ay * bx)
    )


def first_inside(points: Sequence[XY], triangle: Sequence[int]) -> int | None:
    """Return the index of the first point strictly inside the circumcircle of three of the points.

    None if there is none, or if the three lie on one line.
    """
    (ax, ay), (bx, by), (cx, cy) = (points[i] for i in triangle)
    bx, by, cx, cy = bx - ax, by - ay, cx - ax, cy - ay
    bb, cc = bx * bx + by * by, cx * cx + cy * cy
    # The in-circle determinant seen from a, expanded by the row of the point: for many points its
    # minors need be made only once. The last of them is twice the triangle's signed area.
    u, v, w = bb * cy - by * cc, bx * cc - bb * cx, bx * cy - by * cx
    if w < 0:
        u, v, w = -u, -v, -w
    for i, (px, py) in enumerate(points):
        x, y = px - ax, py - ay
        if u * x + v * y > w * (x * x + y * y):
            return i if w else None
    return None


def triangulate(points: Sequence[XY]) -> tuple[list[Triangle], list[int]]:
    """Return the Delaunay triangles and the hull of different points.

    A sweep from left to right makes some triangulation, edge flips make it Delaunay. Where four
    points share an empty circle, one of the right triangulations is returned. Triangles are index
    triples, all ascending; the hull runs counter-clockwise from the leftmost point, with points in
    the middle of its sides.

    Raises:
        GenerationError: all points lie on one line, or two are equal.
    """
    opposite, hull = _sweep(points)
    _flip_edges(points, opposite)
    triangles = {tuple(sorted((a, b, c))) for (a, b), c in opposite.items()}
    return sorted(triangles), hull  # type: ignore[arg-type]


def third_corners(
    points: Sequence[XY], triangles: Iterable[Sequence[int]]
) -> dict[Edge, int]:
    """Map each directed edge of the triangles, taken counter-clockwise, to its third corner."""
    third: dict[Edge, int] = {}
    for a, b, c in triangles:
        ring = (a, b, c) if orient(points[a], points[b], points[c]) > 0 else (a, c, b)
        for i in range(3):
            third[ring[i], ring[i - 2]] = ring[i - 1]
    return third


def _sweep(points: Sequence[XY]) -> tuple[dict[Edge, int], list[int]]:
    """Triangulate by adding points in order of x; map each directed edge to its third corner."""
    order = sorted(range(len(points)), key=lambda i: points[i])
    if len(set(points)) < len(points):
        raise GenerationError("two of the points are equal")
    apex = next(
        (
            k
            for k in range(2, len(order))
            if orient(points[order[0]], points[order[1]], points[order[k]])
        ),
        None,
    )
    if apex is None:
        raise GenerationError(
            "all points lie on one line, so there is no triangulation"
        )
    opposite: dict[Edge, int] = {}

    def add(a: int, b: int, c: int) -> None:
        opposite[a, b], opposite[b, c], opposite[c, a] = c, a, b

    # The first points lie on a line; the first one off it makes a fan with them.
    line, top = order[:apex], order[apex]
    counter_clockwise = orient(points[line[0]], points[line[1]], points[top]) > 0
    if not counter_clockwise:
        line.reverse()
    for a, b in pairwise(line):
        add(a, b, top)
    after = dict(pairwise(line)) | {line[-1]: top, top: line[0]}
    before = {b: a for a, b in after.items()}

    newest = top
    for p in order[apex + 1 :]:
        # The newest hull point is the rightmost, so p sees the sides next to it.
        up = newest
        while orient(points[up], points[after[up]], points[p]) < 0:
            add(after[up], up, p)
            up = after[up]
        down = newest
        while orient(points[before[down]], points[down], points[p]) < 0:
            add(down, before[down], p)
            down = before[down]
        after[down], before[p], after[p], before[up] = p, down, up, p
        newest = p
    hull = [order[0]]
    while after[hull[-1]] != order[0]:
        hull.append(after[hull[-1]])
    return opposite, hull


def _flip_edges(points: Sequence[XY], opposite: dict[Edge, int]) -> None:
    """Flip edges until no circle holds the corner across them (Lawson)."""
    todo = [edge for edge in sorted(opposite) if edge[0] < edge[1]]
    while todo:
        a, b = todo.pop()
        c, d = opposite.get((a, b)), opposite.get((b, a))
        if c is None or d is None:
            continue
        if in_circle(points[a], points[b], points[c], points[d]) <= 0:
            continue
        del opposite[a, b], opposite[b, a]
        for x, y, z in ((c, d, b), (d, c, a)):
            opposite[x, y], opposite[y, z], opposite[z, x] = z, x, y
        todo += [(a, c), (c, b), (b, d), (d, a)]
