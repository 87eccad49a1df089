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
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("indices", "repeats", "area", "all_points", "overlap")

# Checks of different triangles with usable indices.
_GEOMETRY = ("area", "all_points", "overlap", "hull", "empty_circle")
# Indices of three points, ascending.
Triple = tuple[int, ...]


class Frame(NamedTuple):
    """The points of an instance, and a right answer."""

    points: tuple[XY, ...]
    triangles: frozenset[Triple]
    hull: frozenset[Edge]
    """Edges of the convex hull, counter-clockwise."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the triangles are a Delaunay triangulation of the points, else 0."""
    frame = frame_of(params)
    reference, n = frame.triangles, len(frame.points)
    checks = Checklist(CHECKS)
    if len(answer.triangles) > 20 * n:
        return checks.too_large(
            f"{len(answer.triangles)} triangles are listed; {n} points have fewer than {2 * n}."
        )

    triangles = [tuple(sorted(triangle)) for triangle in answer.triangles]
    counts = Counter(triangles)
    bad: list[int] = []
    # Those of the frame are all usable.
    if not counts.keys() <= reference:
        bad = [i for i, (a, b, c) in enumerate(triangles) if not a < b < c < n]
    checks.forbid_many(
        "indices",
        bad,
        f"triangles name an index outside 0..{n - 1} or a point twice",
        lambda i: f"is [{', '.join(map(brief, answer.triangles[i]))}] at position {i}",
    )
    for i in bad:
        counts.pop(triangles[i], None)
    again: list[Triple] = []
    if len(counts) < len(triangles) - len(bad):
        again = sorted(triple for triple, count in counts.items() if count > 1)
    checks.forbid(
        "repeats",
        again,
        lambda triple: f"Triangle {list(triple)} is listed {counts[triple]} times.",
    )
    missing = sorted(reference - counts.keys())
    surplus = sorted(counts.keys() - reference)
    if missing or surplus:
        judge_geometry(checks, frame, counts)
    else:
        # One of the right triangulations, so the geometry need not be gone through.
        for check_id in _GEOMETRY:
            checks.forbid(check_id, (), str)
    if checks.all_passed:
        # Maybe another right one, where four points share an empty circle.
        missing, surplus = [], []
    return checks.binary(
        missing=[list(triple) for triple in missing],
        surplus=[list(triple) for triple in surplus],
    )


@lru_cache(maxsize=256)
def frame_of(params: Params) -> Frame:
    """Return the frame of an instance, kept for the next answers to it."""
    points = to_integers(params.points, params.decimals)
    triangles, hull = triangulate(points)
    edges = zip(hull, hull[1:] + hull[:1], strict=True)
    return Frame(points, frozenset(triangles), frozenset(edges))


def judge_geometry(
    checks: Checklist, frame: Frame, triangles: Collection[Triple]
) -> None:
    """Check area, coverage and circumcircles of different triangles with usable indices."""
    points = frame.points
    flat: list[Triple] = []
    # Every edge, with its triangle on the left.
    edges: set[Edge] = set()
    doubled: set[Edge] = set()
    for a, b, c in triangles:
        turn = orient(points[a], points[b], points[c])
        if turn == 0:
            flat.append((a, b, c))
            continue
        sides = ((a, b), (b, c), (c, a)) if turn > 0 else ((a, c), (c, b), (b, a))
        doubled.update(edges.intersection(sides))
        edges.update(sides)
    checks.forbid(
        "area",
        sorted(flat),
        lambda triple: f"The corners of {list(triple)} lie on one line.",
    )
    unused = sorted(set(range(len(points))).difference(*triangles))
    fault = f"of {len(points)} points are in no triangle"
    checks.forbid_many("all_points", unused, fault, lambda i: f"is {i}")
    fault = "edges have two triangles on the same side, so triangles overlap"
    checks.forbid_many(
        "overlap", sorted(doubled), fault, lambda edge: f"is {list(edge)}"
    )
    judge_hull(checks, edges, frame.hull)
    circles = []
    # The circles of the triangles that are also in the frame's own triangulation are empty.
    for triple in sorted(set(triangles) - frame.triangles):
        inside = first_inside(points, triple)
        if inside is not None:
            circles.append((*triple, inside))
    checks.forbid_many(
        "empty_circle",
        circles,
        "circumcircles hold a point",
        lambda item: f"is that of {list(item[:3])}, which holds point {item[3]}",
    )


def judge_hull(checks: Checklist, edges: set[Edge], hull: frozenset[Edge]) -> None:
    """Check the outline of triangles with these edges.

    With every triangle counter-clockwise and no edge used twice, an outline that is exactly the
    hull means that the triangles cover it once.
    """
    outline = {edge for edge in edges if (edge[1], edge[0]) not in edges}
    checks.forbid(
        "hull",
        sorted(outline ^ hull),
        lambda edge: (
            f"The outline of the triangles is not the convex hull: {len(outline - hull)} "
            f"free edges inside it, {len(hull - outline)} hull edges without a triangle; the first "
            f"is {list(edge)}."
        ),
    )
