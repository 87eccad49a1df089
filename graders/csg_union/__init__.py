"""How much of the union of the printed solids is this mesh, if it is one clean solid?

The mesh must pass every check of `mesh_checks` before its volume counts. Bodies are not grown
before they are compared, and D is the plain symmetric difference. Volumes are sums over cones that
no sliver or coplanar face can upset (`convex_parts`), and are rounded before they are used, so that
a score has the same bytes on every machine.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from scbench.base.model import Verdict
from scbench.graders.csg_union.mesh_checks import (
    MESH_CHECKS,
    TOLERANCE,
    ClosedSurface,
    judge_mesh,
)
from scbench.graders.csg_union.solids import (
    common_volume,
    union_body,
    union_parts,
    union_volume,
)
from scbench.graders.csg_union.surface_areas import (
    inner_area,
    surface_area,
    union_area,
    void_area,
)
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.meshes import differences
from scbench.schemas.csg_union import Answer, Params

__all__ = ["CHECKS", "TOLERANCE", "VERSION", "grade"]

VERSION = 4

CHECKS = MESH_CHECKS | {
    "area": "The mesh has at most 1.1 times the surface area of the union, voids included.",
    "inner_walls": "At most a tenth of that area is deep in solids, or walls of further voids.",
    "union": "The body is the union: its score by volume is above 0.95.",
}
_LAST_CHECKS = ("area", "inner_walls", "union")

# The score by volume is the common part less this share of the difference; above the second number
# it is 1, as few answers with so small a difference have the wrong shape.
_DIFFERENCE_WEIGHT = 0.5
_FULL_MARKS_ABOVE = 0.95
# A mesh with more than so many times the area of the union has walls that the union has not. It
# keeps only this share of its score.
_MOST_AREA = 1.1
_LARGE_FACTOR = 0.5
# Share of the union's area that inner walls may have, and the highest score of a mesh with more.
_MOST_INSIDE = 0.1
_WALLED_SCORE = 0.25
# Differences of less than this share of the union are no more than rounding.
_LEAST_DIFFERENCE = 1e-3
# Last bits differ by machine.
_DECIMALS = 6
_SCORE_DECIMALS = 9


class Volumes(NamedTuple):
    """Volumes of the union and the answer, rounded, which decide the score."""

    common: float
    union: float
    answer: float
    difference: float
    """In one of the two only."""


class Walls(NamedTuple):
    """Consequences of walls that the union does not have."""

    factor: float
    """Share of the score that the mesh keeps."""
    highest_score: float


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the score by volume if the mesh is clean, less with false walls; else 0."""
    checks = Checklist(CHECKS)
    vertices = [vertex.xyz for vertex in answer.polyhedron.vertex]
    faces = tuple(face.vertex for face in answer.polyhedron.faces)
    surface, notes = judge_mesh(checks, vertices, faces)
    if surface is None:
        checks.skip(_LAST_CHECKS, "The mesh bounds no solid.")
        return replace(checks.binary(), notes=notes)
    clean = checks.all_passed
    volumes = measure_volumes(params, surface)
    if volumes is None:
        wrong = (
            "Too many planes of the solids lie behind too many triangles of the mesh."
        )
        checks.expect("resource_limit", False, wrong)
        checks.skip(_LAST_CHECKS, wrong)
        return replace(checks.binary(), notes=notes)
    walls = judge_walls(checks, params, surface)
    by_volume = score_by_volume(volumes)
    full_marks = checks.expect(
        "union",
        by_volume > _FULL_MARKS_ABOVE,
        f"The union has volume {volumes.union:.6g}, the body {volumes.answer:.6g}, their common "
        f"part {volumes.common:.6g}.",
    )
    score = 1.0 if full_marks else max(0.0, by_volume)
    score = min(walls.highest_score, score * walls.factor)
    surplus, missing = difference_pieces(params, surface, volumes)
    verdict = checks.partial(
        score if clean else 0.0,
        volume_common=volumes.common,
        volume_union=volumes.union,
        volume_answer=volumes.answer,
        volume_difference=volumes.difference,
        score_by_volume=by_volume,
        surplus=surplus,
        missing=missing,
    )
    return replace(verdict, notes=notes)


def measure_volumes(params: Params, surface: ClosedSurface) -> Volumes | None:
    """Return the volumes of the union and the answer; None if that is too much work."""
    parts = union_parts(params)
    common = common_volume(parts, surface.points[surface.corners])
    if common is None:
        return None
    common = round(common, _DECIMALS)
    union = round(union_volume(parts), _DECIMALS)
    volume = round(surface.volume, _DECIMALS)
    difference = max(0.0, round(union + volume - 2 * common, _DECIMALS))
    return Volumes(common, union, volume, difference)


def score_by_volume(volumes: Volumes) -> float:
    """Return the common share of the union less half the share of the difference; may be < 0."""
    # Rounding must not give more common volume than the answer has.
    share = min(volumes.common, volumes.answer) / volumes.union
    penalty = _DIFFERENCE_WEIGHT * volumes.difference / volumes.union
    return round(share - penalty, _SCORE_DECIMALS)


def judge_walls(checks: Checklist, params: Params, surface: ClosedSurface) -> Walls:
    """Check that a mesh has hardly any walls that the union does not have."""
    corners = surface.points[surface.corners]
    further_voids = max(0.0, surface.void_area - void_area(params))
    inside = round(inner_area(union_parts(params), corners) + further_voids, _DECIMALS)
    area = round(surface_area(corners), _DECIMALS)
    union = round(union_area(params), _DECIMALS)
    small = checks.expect(
        "area",
        area <= round(_MOST_AREA * union, _DECIMALS),
        f"The mesh has a surface area of {area:.6g}, the union of {union:.6g}; that halves the "
        "score.",
        area=area,
        union=union,
    )
    plain = checks.expect(
        "inner_walls",
        inside <= round(_MOST_INSIDE * union, _DECIMALS),
        f"The mesh has inner walls with an area of {inside:.6g}, where the union has a surface of "
        f"{union:.6g}; that leaves a quarter of a point at most.",
        area=inside,
        union=union,
    )
    factor = 1.0 if small else _LARGE_FACTOR
    highest_score = 1.0 if plain else _WALLED_SCORE
    return Walls(factor, highest_score)


def difference_pieces(
    params: Params, surface: ClosedSurface, volumes: Volumes
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the largest surplus and missing pieces, as JSON; none where the bodies agree."""
    if volumes.difference <= _LEAST_DIFFERENCE * volumes.union:
        return [], []
    pieces = differences(
        surface.points,
        surface.corners,
        union_body(params),
        surplus=volumes.answer - volumes.common,
        missing=volumes.union - volumes.common,
    )
    if pieces is None:
        return [], []
    surplus, missing = pieces
    return (
        [piece._asdict() for piece in surplus],
        [piece._asdict() for piece in missing],
    )
