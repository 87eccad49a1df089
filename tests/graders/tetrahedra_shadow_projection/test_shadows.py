"""Areas of covers, checked with exact fractions."""

from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
import shapely
from shapely import Polygon

from scbench.graders.tetrahedra_shadow_projection import corners, cover

SLACK = 0.05


def ring(polygon):
    """Return the corners of a convex polygon, counter-clockwise, as fractions."""
    oriented = shapely.orient_polygons(polygon)
    return [
        (Fraction(x), Fraction(y))
        for x, y in shapely.get_coordinates(oriented)[:-1].tolist()
    ]


def clipped(points, by):
    """Clip a convex ring to another, by half planes."""
    for (ax, ay), (bx, by_) in pairwise([*by, by[0]]):
        sides = [(bx - ax) * (y - ay) - (by_ - ay) * (x - ax) for x, y in points]
        kept = []
        for i, (x, y) in enumerate(points):
            j = (i + 1) % len(points)
            if sides[i] >= 0:
                kept.append((x, y))
            if sides[i] * sides[j] < 0:
                t = sides[i] / (sides[i] - sides[j])
                next_x, next_y = points[j]
                kept.append((x + t * (next_x - x), y + t * (next_y - y)))
        points = kept
    return points


def turns_left(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0


def hull(points):
    """Return the convex hull by Andrew's monotone chain."""
    halves = []
    for order in (sorted(set(points)), sorted(set(points), reverse=True)):
        chain = []
        for point in order:
            while len(chain) > 1 and not turns_left(chain[-2], chain[-1], point):
                chain.pop()
            chain.append(point)
        halves += chain[:-1]
    return halves


def grown(points, slack):
    """Return a convex ring, grown by a square of this half side."""
    corners = []
    for x, y in points:
        for dx, dy in product((-slack, slack), repeat=2):
            corners.append((x + dx, y + dy))
    return hull(corners)


def height(points, x):
    """Return the lowest and highest point of a convex ring on a vertical line, or None."""
    result = []
    for (ax, ay), (bx, by) in pairwise([*points, points[0]]):
        if min(ax, bx) < x < max(ax, bx):
            result.append(ay + (by - ay) * (x - ax) / (bx - ax))
    return (min(result), max(result)) if result else None


def edges_of(points):
    return list(pairwise([*points, points[0]]))


def crossing_x(one, other):
    """Return where two edges meet on the first one, as x; None if they do not."""
    ((ax, ay), (bx, by)), ((cx, cy), (dx, dy)) = one, other
    cross = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if cross == 0:
        return None
    t = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / cross
    return ax + t * (bx - ax) if 0 <= t <= 1 else None


def exact_area(rings, expected):
    """Return the area where a rule on ring membership is true, by vertical strips."""
    edges, cuts = [], set()
    for points in rings:
        edges += edges_of(points)
        cuts.update(x for x, _ in points)
    for one, other in combinations(edges, 2):
        cuts.add(crossing_x(one, other))
    cuts.discard(None)
    total = Fraction(0)
    for left, right in pairwise(sorted(cuts)):
        # Between two cuts, no edges meet, so the middle of a strip gives its area.
        x = (left + right) / 2
        spans = [height(points, x) for points in rings]
        levels = set()
        for span in spans:
            levels.update(span or ())
        for low, high in pairwise(sorted(levels)):
            y = (low + high) / 2
            member = [span is not None and span[0] < y < span[1] for span in spans]
            if expected(member):
                total += (high - low) * (right - left)
    return total


def triangles(seed, count):
    """Return shadows of tetrahedra around the origin."""
    rng = np.random.default_rng(seed)
    moves = np.hstack([rng.uniform(-0.8, 0.2, (count, 2)), np.zeros((count, 1))])
    bodies = corners(np.hstack([moves, rng.normal(size=(count, 4))]))
    return shapely.convex_hull(shapely.multipoints(bodies[:, :, :2]))


@pytest.mark.parametrize("seed", range(6))
def test_areas_agree_with_exact_fractions(seed):
    target = Polygon([(-0.7, -0.6), (0.8, -0.5), (0.9, 0.4), (-0.2, 0.9)])
    shapes = triangles(seed, 3)
    outlines = [ring(shape) for shape in shapes]
    inner = [clipped(outline, ring(target)) for outline in outlines]
    near = [grown(points, Fraction(SLACK)) for points in inner if len(points) > 2]
    rings = [ring(target), *outlines, *near]
    n = 1 + len(outlines)

    # Of each point: is it in the target, in each shadow, and near each shadow's part inside?
    def is_covered(member):
        return member[0] and any(member[1:n])

    def is_different(member):
        return any(member[:n]) and not any(member[n:])

    def is_spill(member):
        return not member[0] and is_different(member)

    covered = exact_area(rings[:n], is_covered)
    difference = exact_area(rings, is_different)
    spill = exact_area(rings, is_spill)
    shadow = cover(target, shapes, SLACK)
    assert shadow.covered == pytest.approx(float(covered), abs=1e-9)
    assert shadow.difference == pytest.approx(float(difference), abs=1e-9)
    assert shadow.spill == pytest.approx(float(spill), abs=1e-9)
    assert 0 < shadow.spill < shadow.difference
