"""Grades a mesh by how much of the union of the given solids it fills.

The mesh must pass every check of `mesh_checks` before its volume counts. The difference is the
plain symmetric difference of mesh and union, without a tolerance at their surfaces. Volumes are
computed by a method that slivers and coplanar faces do not disturb (`convex_parts`). They are
rounded before use, so that scores are identical on every machine.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.csg_union.convex_parts import (
    common_volumes,
    signed_sum,
    union_volume,
)
from scbench.graders.csg_union.inner_walls import inner_wall_area
from scbench.graders.csg_union.mesh_checks import (
    MESH_CHECKS,
    TOLERANCE,
    ClosedSurface,
    judge_mesh,
)
from scbench.graders.csg_union.separate_bodies import (
    most_bodies,
    solids_in_mesh,
    union_bodies,
)
from scbench.graders.csg_union.solids import union_body, union_parts
from scbench.graders.csg_union.surface_areas import areas_of, single_solids
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.mesh_bodies import differences
from scbench.graders.shared.vectors import Array
from scbench.schemas.csg_union import Answer, Params

__all__ = ["CHECKS", "TOLERANCE", "VERSION", "grade"]

VERSION = 6

CHECKS = MESH_CHECKS | {
    "inner_walls": "Inner walls are too small to lower the score.",
    "bodies": "The mesh has no more separate bodies than the union.",
    "union": "The body is the union: its score by volume is above 0.95.",
}
_LAST_CHECKS = ("inner_walls", "bodies", "union")

# The score by volume is the common volume minus this fraction of the difference, over the union.
_DIFFERENCE_WEIGHT = 0.5
# A score by volume above this becomes 1: answers with so small a difference rarely have the wrong
# shape.
_FULL_MARKS_ABOVE = 0.95
# Inner walls with this share of the union's area reduce the score to 0. If uniting the solids hides
# a smaller area of their surfaces, that area is the limit.
_MOST_INNER_WALLS = 0.1
# Inner walls up to this fraction of that limit are free: at a sharp notch of the union, a mesh that
# is slightly out of place has some.
_FREE_SHARE = 0.2
# A mesh with too many separate bodies gets this fraction of its score.
_BODIES_FACTOR = 0.5
# A difference up to this share of the union counts as rounding error; no pieces are reported.
_LEAST_DIFFERENCE = 1e-3
# Volumes, areas and scores are rounded, because their last bits differ between machines.
_DECIMALS = 6
_SCORE_DECIMALS = 9


class Volumes(NamedTuple):
    """The rounded volumes that decide the score.

    Attributes:
        common: volume of the intersection of union and answer.
        union: volume of the union.
        answer: volume of the answer.
        difference: volume that is in exactly one of the two.
    """

    common: float
    union: float
    answer: float
    difference: float


class DifferencePieces(NamedTuple):
    """Pieces of the difference as JSON, the largest of each kind.

    Attributes:
        surplus: pieces of the answer outside the union.
        missing: pieces of the union outside the answer.
    """

    surplus: list[dict[str, Any]]
    missing: list[dict[str, Any]]


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the score by volume, reduced for inner walls and extra bodies; 0 for a faulty mesh."""
    checks = Checklist(CHECKS)
    # In an answer, `vertex` is the list of points; in a face, it is the list of their indices.
    vertices = [vertex.xyz for vertex in answer.polyhedron.vertex]
    faces = tuple(face.vertex for face in answer.polyhedron.faces)
    surface, notes = judge_mesh(checks, vertices, faces)
    if surface is None:
        checks.skip(_LAST_CHECKS, "The mesh bounds no solid.")
        return replace(checks.binary(), notes=notes)
    # Asked before the checks below are added: they reduce the score but do not make it 0.
    is_clean = checks.all_passed
    triangles = surface.points[surface.corners]
    # The mesh's volume in each common part of the solids. Everything below uses it.
    part_volumes = common_volumes(union_parts(params), triangles)
    if part_volumes is None:
        too_much_work = (
            "The mesh has too many triangles to compare with all planes of the solids."
        )
        checks.expect("resource_limit", False, too_much_work)
        checks.skip(_LAST_CHECKS, too_much_work)
        return replace(checks.binary(), notes=notes)
    volumes = rounded_volumes(params, surface, part_volumes)
    factor = judge_walls(checks, params, triangles, part_volumes)
    factor *= judge_bodies(checks, params, surface, part_volumes)
    by_volume = score_by_volume(volumes)
    # The last argument is the message if the check fails.
    is_union = checks.expect(
        "union",
        by_volume > _FULL_MARKS_ABOVE,
        f"The union has volume {volumes.union:.6g}, the body {volumes.answer:.6g}, their common "
        f"part {volumes.common:.6g}.",
    )
    volume_score = 1.0 if is_union else max(0.0, by_volume)
    score = round(volume_score * factor, _SCORE_DECIMALS)
    pieces = difference_pieces(params, surface, volumes)
    verdict = checks.partial(
        score if is_clean else 0.0,
        volume_common=volumes.common,
        volume_union=volumes.union,
        volume_answer=volumes.answer,
        volume_difference=volumes.difference,
        score_by_volume=by_volume,
        surplus=pieces.surplus,
        missing=pieces.missing,
    )
    return replace(verdict, notes=notes)


def rounded_volumes(
    params: Params, surface: ClosedSurface, part_volumes: Sequence[float]
) -> Volumes:
    """Return the volumes of the union and the answer."""
    parts = union_parts(params)
    common = round(signed_sum(parts, part_volumes), _DECIMALS)
    union = round(union_volume(parts), _DECIMALS)
    answer = round(surface.volume, _DECIMALS)
    # Rounding can make it slightly negative.
    difference = max(0.0, round(union + answer - 2 * common, _DECIMALS))
    return Volumes(common, union, answer, difference)


def score_by_volume(volumes: Volumes) -> float:
    """Return ``(common - difference / 2) / union``, which can be negative."""
    # Rounding can make the common volume larger than the answer's; that must not raise the score.
    share = min(volumes.common, volumes.answer) / volumes.union
    penalty = _DIFFERENCE_WEIGHT * volumes.difference / volumes.union
    return round(share - penalty, _SCORE_DECIMALS)


def judge_walls(
    checks: Checklist,
    params: Params,
    triangles: Array,
    part_volumes: Sequence[float],
) -> float:
    """Check that a mesh has almost no inner walls; return the factor for the score."""
    areas = areas_of(params)
    walls = inner_wall_area(single_solids(params), triangles, areas.union)
    if walls > 0:
        # Walls around the gap that a missing solid leaves between other solids do not count.
        included = solids_in_mesh(params, part_volumes)
        if included != params:
            walls = inner_wall_area(single_solids(included), triangles, areas.union)
    walls = round(walls, _DECIMALS)
    factor = factor_of_walls(walls, min(_MOST_INNER_WALLS * areas.union, areas.hidden))
    checks.expect(
        "inner_walls",
        factor == 1,
        f"The mesh has inner walls with an area of {walls:.6g}. The surface of the union has an "
        f"area of {areas.union:.6g}; uniting the solids hides an area of {areas.hidden:.6g}.",
        area=walls,
        union=areas.union,
        hidden=areas.hidden,
    )
    return factor


def factor_of_walls(walls: float, most: float) -> float:
    """Return the factor for the score, given an area of inner walls; 0 from ``most`` on."""
    if walls == 0:
        return 1.0
    # Solids that do not meet hide nothing.
    if most == 0:
        return 0.0
    return min(1.0, max(0.0, (1 - walls / most) / (1 - _FREE_SHARE)))


def judge_bodies(
    checks: Checklist,
    params: Params,
    surface: ClosedSurface,
    part_volumes: Sequence[float],
) -> float:
    """Check that a mesh has no more separate bodies than allowed; return the score's factor."""
    most_allowed = union_bodies(params)
    if surface.bodies > most_allowed:
        most_allowed = most_bodies(params, part_volumes)
    is_allowed = checks.expect(
        "bodies",
        surface.bodies <= most_allowed,
        f"The mesh has {counted(surface.bodies, 'separate body', 'separate bodies')}; at most "
        f"{most_allowed} are allowed. That halves the score.",
        bodies=surface.bodies,
        most=most_allowed,
    )
    return 1.0 if is_allowed else _BODIES_FACTOR


def difference_pieces(
    params: Params, surface: ClosedSurface, volumes: Volumes
) -> DifferencePieces:
    """Return the largest surplus and missing pieces; none if the bodies agree."""
    if volumes.difference <= _LEAST_DIFFERENCE * volumes.union:
        return DifferencePieces([], [])
    pieces = differences(
        surface.points,
        surface.corners,
        union_body(params),
        surplus=volumes.answer - volumes.common,
        missing=volumes.union - volumes.common,
    )
    if pieces is None:
        return DifferencePieces([], [])
    surplus, missing = pieces
    return DifferencePieces(
        surplus=[piece._asdict() for piece in surplus],
        missing=[piece._asdict() for piece in missing],
    )
