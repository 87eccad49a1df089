"""Numbered points on a ruled plane, a pixel for the last decimal that is printed."""

from collections.abc import Sequence
from itertools import pairwise

from scbench.builders.shared.canvas import BLACK, LIGHT, RED, Canvas, text_size
from scbench.graders.shared.plane_geometry import (
    in_circle,
    third_corners,
    to_integers,
    triangulate,
)
from scbench.schemas.delaunay_triangulation import Params

_SIDE, _LEFT, _TOP, _RIGHT = 1000, 42, 10, 10
_STEP = 100
# Pixels by which each point may be misread, along x and y, without another
# triangulation.
_SHIFT = 2
_MARK = 3
Interval = tuple[int, int]


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the points, if no misreading by two pixels changes the triangulation."""
    points = to_integers(params.points, params.decimals)
    inside = all(0 <= value <= _SIDE for point in points for value in point)
    if 10**params.decimals != _SIDE or not inside or not stands(points, _SHIFT):
        return ()
    canvas = Canvas(_LEFT + _SIDE + 1 + _RIGHT, _TOP + _SIDE + 1 + 24)
    for at in range(0, _SIDE + 1, _STEP):
        x, y, text = _LEFT + at, _TOP + _SIDE - at, f"{at / _SIDE:.1f}"
        canvas.fill(x, _TOP, 1, _SIDE + 1, LIGHT)
        canvas.fill(_LEFT, y, _SIDE + 1, 1, LIGHT)
        canvas.text(min(x - 17, _LEFT + _SIDE + _RIGHT - 35), _TOP + _SIDE + 8, text, 2)
        canvas.text(2, max(0, y - 7), text, 2)
    canvas.text(_LEFT + _SIDE - 55, _TOP + _SIDE + 8, "x", 2)
    canvas.text(14, _TOP + 43, "y", 2)
    marks = [(_LEFT + x, _TOP + _SIDE - y) for x, y in points]
    for x, y in marks:
        canvas.fill(x - _MARK, y - _MARK, 2 * _MARK + 1, 2 * _MARK + 1, RED)
        canvas.fill(x, y, 1, 1, BLACK)
    labels: list[tuple[int, int, int, int]] = []
    for i, mark in enumerate(marks):
        label = _label(mark, str(i), marks, labels)
        if label is None:
            return ()
        labels.append(label)
        canvas.fill(*label, 0)
        canvas.text(label[0] + 1, label[1] + 1, str(i), 2)
    return (canvas,)


def _label(
    mark: tuple[int, int],
    text: str,
    marks: Sequence[tuple[int, int]],
    labels: Sequence[tuple[int, int, int, int]],
) -> tuple[int, int, int, int] | None:
    """Return a place for a number: beside its mark, farther from all others, on no other number."""
    (x, y), (wide, high) = mark, (size + 2 for size in text_size(text, 2))
    columns, rows = (
        (x + 5, x - wide - 4, x - wide // 2),
        (y - high // 2, y - high - 4, y + 5),
    )
    for left, top in [(c, r) for c in columns for r in rows][:-3] + [
        (columns[2], r) for r in rows[1:]
    ]:
        box = (left, top, wide, high)
        apart = all(_gap(box, (*other, 1, 1)) > 12 for other in marks if other != mark)
        clear = all(_gap(box, other) > 4 for other in labels)
        fits = (
            left > _LEFT
            and left + wide < _LEFT + _SIDE
            and _TOP < top < _TOP + _SIDE - high
        )
        if apart and clear and fits:
            return box
    return None


def _gap(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> int:
    """Return how far two rectangles are apart along the axis where they are farther apart."""
    across = max(a[0] - b[0] - b[2], b[0] - a[0] - a[2])
    return max(across, a[1] - b[1] - b[3], b[1] - a[1] - a[3])


def stands(points: Sequence[tuple[int, int]], shift: int) -> bool:
    """Return whether the triangulation is the same wherever each point is moved.

    Each may move by the shift along either axis. Every triangle must keep its sense, and the corner
    beyond each of its sides must stay outside its circle, by interval arithmetic on integers; so
    True is certain, and False means that nothing is certain.
    """
    triangles, _ = triangulate(points)
    beyond = third_corners(points, triangles)
    for (a, b), c in beyond.items():
        if _oriented(points, (a, b, c), shift)[0] <= 0:
            return False
        d = beyond.get((b, a))
        if d is not None and _circle_bounds(points, (a, b, c), d, shift)[1] >= 0:
            return False
    return _hull_stands(
        points, {edge for edge in beyond if edge[::-1] not in beyond}, shift
    )


def _hull_stands(
    points: Sequence[tuple[int, int]], edges: set[tuple[int, int]], shift: int
) -> bool:
    """Return whether every corner of the hull turns left wherever points are moved."""
    after = dict(edges)
    ring = [min(after)]
    while len(ring) < len(after) + 2:
        ring.append(after[ring[-1]])
    corners = ((a, b, c) for (a, b), c in zip(pairwise(ring), ring[2:], strict=False))
    return all(_oriented(points, corner, shift)[0] > 0 for corner in corners)


def _minus(
    p: tuple[int, int], q: tuple[int, int], shift: int
) -> tuple[Interval, Interval]:
    x, y = p[0] - q[0], p[1] - q[1]
    return (x - 2 * shift, x + 2 * shift), (y - 2 * shift, y + 2 * shift)


def _times(a: Interval, b: Interval) -> Interval:
    products = [x * y for x in a for y in b]
    return min(products), max(products)


def _cross(p: tuple[Interval, Interval], q: tuple[Interval, Interval]) -> Interval:
    (a, b), (c, d) = _times(p[0], q[1]), _times(p[1], q[0])
    return a - d, b - c


def _oriented(
    points: Sequence[tuple[int, int]], corner: tuple[int, int, int], shift: int
) -> Interval:
    a, b, c = (points[i] for i in corner)
    return _cross(_minus(b, a, shift), _minus(c, a, shift))


def _circle_bounds(
    points: Sequence[tuple[int, int]],
    corner: tuple[int, int, int],
    other: int,
    shift: int,
) -> Interval:
    """Return bounds of a determinant that is negative if the other point is outside the circle.

    They are its value as the points stand, and how far it can change: the bounds of its slopes.
    """
    triangle = [points[i] for i in corner]
    three = [_minus(point, points[other], shift) for point in triangle]
    slopes: list[list[Interval]] = []
    for i, p in enumerate(three):
        q, r = three[i - 2], three[i - 1]
        turn, size_q, size_r = _cross(q, r), _size(q), _size(r)
        x = _sum(
            _times(q[1], size_r),
            _less(_times(r[1], size_q)),
            _times((2, 2), _times(p[0], turn)),
        )
        y = _sum(
            _times(r[0], size_q),
            _less(_times(q[0], size_r)),
            _times((2, 2), _times(p[1], turn)),
        )
        slopes.append([x, y])
    slopes.append([_less(_sum(*(slope[axis] for slope in slopes))) for axis in (0, 1)])
    change = shift * sum(max(map(abs, slope)) for pair in slopes for slope in pair)
    value = in_circle(triangle[0], triangle[1], triangle[2], points[other])
    return value - change, value + change


def _sum(*terms: Interval) -> Interval:
    return sum(low for low, _ in terms), sum(high for _, high in terms)


def _less(a: Interval) -> Interval:
    return -a[1], -a[0]


def _size(p: tuple[Interval, Interval]) -> Interval:
    """Return bounds of the square of a length."""
    ends = [sorted((low * low, high * high)) for low, high in p]
    lows = (
        0 if low <= 0 <= high else least
        for (low, high), (least, _) in zip(p, ends, strict=True)
    )
    return sum(lows), sum(most for _, most in ends)
