"""Is this list of triangles the Delaunay triangulation of the printed points?

Decided in integers: any triangulation of the whole hull with empty circumcircles is right, so where
four points share an empty circle each of the possible answers passes.
"""

from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist, brief
from scbench.graders.shared.plane_geometry import (
    XY,
    Edge,
    first_inside,
    orient,
    to_integers,
    triangulate,
)
from scbench.schemas.delaunay_triangulation import Answer, Params

VERSION = 2

CHECKS = {
    "indices": "Every triangle names three different points of the list.",
    "repeats": "No triangle is listed twice.",
    "area": "No triangle has its corners on one line.",
    "all_points": "Every point is a corner of some triangle.",
    "overlap": "No two triangles lie on the same side of an edge.",
    "hull": "The triangles cover the convex hull, every hull point splitting its side.",
    "empty_circle": "No point lies strictly inside the circumcircle of a triangle.",
}
OWN_FAULTS = ("indices", "repeats", "area", "all_points", "overlap")

_GEOMETRY = ("area", "all_points", "overlap", "hull", "empty_circle")
Triple = tuple[int, ...]


class _Frame(NamedTuple):
    points: tuple[XY, ...]
    triangles: frozenset[Triple]
    hull: frozenset[Edge]


@lru_cache(maxsize=256)
def _frame(params: Params) -> _Frame:
    """Return what follows from the instance alone: integer points, a right answer, hull edges."""
    points = to_integers(params.points, params.decimals)
    triangles, hull = triangulate(points)
    edges = zip(hull, hull[1:] + hull[:1], strict=True)
    return _Frame(points, frozenset(triangles), frozenset(edges))


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the triangles are a Delaunay triangulation of the points, else 0."""
    frame = _frame(params)
    reference, n = frame.triangles, len(frame.points)
    checks = Checklist(CHECKS)
    if len(answer.triangles) > 20 * n:
        return checks.too_large(
            f"{len(answer.triangles)} triangles are listed; {n} points have fewer than {2 * n}."
        )

    # Each triangle once, its corners ascending; those of the frame are all usable.
    triangles = [*map(tuple, map(sorted, answer.triangles))]
    counts = Counter(triangles)
    bad: list[int] = []
    if not counts.keys() <= reference:
        bad = [i for i, (a, b, c) in enumerate(triangles) if not a < b < c < n]
    fault = f"triangles name an index outside 0..{n - 1} or a point twice"
    checks.forbid_many(
        "indices",
        bad,
        fault,
        lambda i: f"is [{', '.join(map(brief, answer.triangles[i]))}] at position {i}",
    )
    for i in bad:
        counts.pop(triangles[i], None)
    again: list[Triple] = []
    if len(counts) < len(triangles) - len(bad):
        again = sorted(t for t, count in counts.items() if count > 1)
    checks.forbid(
        "repeats",
        again,
        lambda t: f"Triangle {list(t)} is listed {counts[t]} times.",
    )
    if counts.keys() == reference:
        # One of the right triangulations, so the geometry need not be gone through.
        for check_id in _GEOMETRY:
            checks.forbid(check_id, (), str)
        return checks.binary(missing=[], surplus=[])
    _judge_geometry(checks, frame, counts)
    if checks.all_passed:  # another right one, where four points share an empty circle
        return checks.binary(missing=[], surplus=[])
    return checks.binary(
        missing=[list(t) for t in sorted(reference - counts.keys())],
        surplus=[list(t) for t in sorted(counts.keys() - reference)],
    )


def _judge_geometry(
    checks: Checklist, frame: _Frame, triangles: Collection[Triple]
) -> None:
    """Check area, coverage and circumcircles of different triangles with usable indices."""
    points, hull = frame.points, frame.hull
    flat: list[Triple] = []
    third: dict[Edge, int] = {}
    doubled: set[Edge] = set()
    for a, b, c in triangles:
        turn = orient(points[a], points[b], points[c])
        if turn == 0:
            flat.append((a, b, c))
            continue
        ring = (a, b, c) if turn > 0 else (a, c, b)
        for i in range(3):
            edge = (ring[i], ring[i - 2])
            if edge in third:
                doubled.add(edge)
            third[edge] = ring[i - 1]
    checks.forbid(
        "area", sorted(flat), lambda t: f"The corners of {list(t)} lie on one line."
    )
    unused = sorted(set(range(len(points))).difference(*triangles))
    fault = f"of {len(points)} points are in no triangle"
    checks.forbid_many("all_points", unused, fault, lambda i: f"is {i}")
    fault = "edges have two triangles on the same side, so triangles overlap"
    checks.forbid_many(
        "overlap", sorted(doubled), fault, lambda edge: f"is {list(edge)}"
    )
    # With every triangle counter-clockwise and no edge used twice, an outline that is exactly the
    # hull means that the triangles cover it once.
    outline = {edge for edge in third if (edge[1], edge[0]) not in third}
    wrong = sorted(outline ^ hull)
    checks.forbid(
        "hull",
        wrong,
        lambda edge: (
            f"The outline of the triangles is not the convex hull: {len(outline - hull)} "
            f"free edges inside it, {len(hull - outline)} hull edges without a triangle; the first "
            f"is {list(edge)}."
        ),
    )
    # The circles of the triangles that are also in the frame's own triangulation are empty.
    circles = [
        (*t, inside)
        for t in sorted(set(triangles) - frame.triangles)
        if (inside := first_inside(points, t)) is not None
    ]
    fault = "circumcircles hold a point"
    checks.forbid_many(
        "empty_circle",
        circles,
        fault,
        lambda item: f"is that of {list(item[:3])}, which holds point {item[3]}",
    )
