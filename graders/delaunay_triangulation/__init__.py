"""Checks whether triangles form a Delaunay triangulation of the printed points.

All decisions use integers. Any triangulation of the hull with empty circumcircles is
right, so several answers pass if four points share an empty circle.
"""

from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
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
    "indices": "The three points of every triangle are different.",
    "repeats": "No triangle is listed twice.",
    "area": "No triangle has its three corners on one line.",
    "all_points": "Every point is a corner of a triangle.",
    "overlap": "No two triangles lie on the same side of a common edge.",
    "hull": "The outline of the triangles is the convex hull, with every point on it as a corner.",
    "empty_circle": "No point lies strictly inside the circumcircle of a triangle.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("indices", "repeats", "area", "all_points", "overlap")

# Checks of different triangles with valid indices.
_GEOMETRY = ("area", "all_points", "overlap", "hull", "empty_circle")
# Indices of three points, ascending.
Triple = tuple[int, ...]


class Frame(NamedTuple):
    """The points of an instance, and a correct answer."""

    points: tuple[XY, ...]
    triangles: frozenset[Triple]
    hull: frozenset[Edge]
    """Edges of the convex hull, counter-clockwise."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the triangles are a Delaunay triangulation of the points, else 0."""
    frame = frame_of(params)
    reference = frame.triangles
    n = len(frame.points)
    checks = Checklist(CHECKS)
    if len(answer.triangles) > 20 * n:
        return checks.too_large(
            f"{len(answer.triangles):,} triangles are listed; a triangulation of {n} points has "
            f"fewer than {2 * n}."
        )

    triangles = [tuple(sorted(triangle)) for triangle in answer.triangles]
    counts = Counter(triangles)
    bad: list[int] = []
    # All triangles of the right answer have valid indices.
    if not counts.keys() <= reference:
        bad = [i for i, (a, b, c) in enumerate(triangles) if not a < b < c < n]
    bad_triangles = counted(len(bad), "triangle names", "triangles name")
    checks.forbid(
        "indices",
        bad,
        lambda i: (
            f"{bad_triangles} an index outside 0 to {n - 1} or the same point twice; the first is "
            f"[{', '.join(map(brief, answer.triangles[i]))}] at position {i}."
        ),
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
        # This is the right triangulation, so its geometry needs no check.
        for check_id in _GEOMETRY:
            checks.forbid(check_id, (), str)
    if checks.all_passed:
        # It may be another right triangulation, if four points share an empty circle.
        missing = []
        surplus = []
    return checks.binary(
        missing=[list(triple) for triple in missing],
        surplus=[list(triple) for triple in surplus],
    )


@lru_cache(maxsize=256)
def frame_of(params: Params) -> Frame:
    """Return the frame of an instance, cached for further answers to it."""
    points = to_integers(params.points, params.decimals)
    triangles, hull = triangulate(points)
    edges = zip(hull, hull[1:] + hull[:1], strict=True)
    return Frame(points, frozenset(triangles), frozenset(edges))


def judge_geometry(
    checks: Checklist, frame: Frame, triangles: Collection[Triple]
) -> None:
    """Check area, coverage and circumcircles of different triangles with valid indices."""
    points = frame.points
    flat: list[Triple] = []
    # Every edge, with its triangle on its left.
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
        lambda triple: f"The corners of triangle {list(triple)} lie on one line.",
    )
    unused = sorted(set(range(len(points))).difference(*triangles))
    total = f"of {len(points)} points"
    lonely = counted(len(unused), f"{total} is", f"{total} are")
    checks.forbid(
        "all_points", unused, lambda i: f"{lonely} in no triangle; the first is {i}."
    )
    doubled_edges = counted(len(doubled), "edge has", "edges have")
    checks.forbid(
        "overlap",
        sorted(doubled),
        lambda edge: (
            f"Triangles overlap: {doubled_edges} two triangles on the same side; the first is "
            f"{list(edge)}."
        ),
    )
    judge_hull(checks, edges, frame.hull)
    circles = []
    # The circles of triangles in the right answer are empty.
    for triple in sorted(set(triangles) - frame.triangles):
        inside = first_inside(points, triple)
        if inside is not None:
            circles.append((*triple, inside))
    filled = counted(len(circles), "circumcircle contains", "circumcircles contain")
    checks.forbid(
        "empty_circle",
        circles,
        lambda item: (
            f"{filled} a point; the first, of triangle {list(item[:3])}, contains point {item[3]}."
        ),
    )


def judge_hull(checks: Checklist, edges: set[Edge], hull: frozenset[Edge]) -> None:
    """Check the outline of triangles with these edges.

    If all triangles are counter-clockwise and use no edge twice, and their outline is the hull,
    they cover the hull exactly once.
    """
    outline = {edge for edge in edges if (edge[1], edge[0]) not in edges}
    strays = counted(
        len(outline - hull),
        "outline edge is not a hull edge",
        "outline edges are not hull edges",
    )
    uncovered = counted(len(hull - outline), "hull edge has", "hull edges have")
    checks.forbid(
        "hull",
        sorted(outline ^ hull),
        lambda edge: (
            f"The outline of the triangles is not the convex hull: {strays}, and "
            f"{uncovered} no triangle; the first such edge is {list(edge)}."
        ),
    )
