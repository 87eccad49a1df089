"""Points and straight pieces in the plane, to find where a mark belongs; nothing is judged here."""

import math
from collections.abc import Sequence

XY = tuple[float, float]
Piece = tuple[XY, XY]


def crossing(first: Piece, second: Piece) -> XY:
    """Return where two straight pieces that cross do so."""
    (ax, ay), (bx, by) = first
    (cx, cy), (dx, dy) = second
    bottom = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if bottom == 0:
        return contact(first, second)
    share = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / bottom
    share = min(max(share, 0.0), 1.0)
    return ax + share * (bx - ax), ay + share * (by - ay)


def contact(first: Piece, second: Piece) -> XY:
    """Return where two straight pieces that do not cross come nearest to each other."""
    tries = [(_distance(p, second), p) for p in first] + [(_distance(p, first), p) for p in second]
    return min(tries)[1]


def _distance(p: XY, piece: Piece) -> float:
    (ax, ay), (bx, by) = piece
    ux, uy = bx - ax, by - ay
    square = ux * ux + uy * uy
    share = 0.0 if square == 0 else ((p[0] - ax) * ux + (p[1] - ay) * uy) / square
    share = min(max(share, 0.0), 1.0)
    x, y = p[0] - ax - share * ux, p[1] - ay - share * uy
    return math.hypot(x, y)


def angle(points: Sequence[XY], i: int) -> float:
    """Return the angle inside a closed line at one of its points, in degrees."""
    (ax, ay), (bx, by), (cx, cy) = points[i - 1], points[i], points[(i + 1) % len(points)]
    turn = math.atan2(ay - by, ax - bx) - math.atan2(cy - by, cx - bx)
    return abs(math.degrees(math.remainder(turn, 2 * math.pi)))


def hull(points: Sequence[XY]) -> list[XY]:
    """Return the corners of the convex hull of points, counter-clockwise."""
    ordered = sorted(set(points))
    corners: list[XY] = []
    for chain in (ordered, ordered[::-1]):
        base = len(corners)
        for x, y in chain:
            while len(corners) >= base + 2:
                (ax, ay), (bx, by) = corners[-2:]
                if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                    break
                corners.pop()
            corners.append((x, y))
        corners.pop()
    return corners
