"""Is this mesh one clean solid, and how much of it is the union of the printed solids?

The mesh must pass every check before its volume counts. Bodies are not grown before they are
compared, and D is the plain symmetric difference. Volumes are sums over cones that no sliver or
coplanar face can upset, and are rounded before anything is made of them, so that a score has the
same bytes on every machine.
"""

from dataclasses import replace
from typing import Any

from scbench.base.model import Verdict
from scbench.graders.csg_union.clean_mesh import MESH_CHECKS, judge_mesh
from scbench.graders.csg_union.solids import (
    body_count,
    common_volume,
    union_body,
    union_parts,
    union_volume,
)
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.meshes import differences
from scbench.schemas.csg_union import Answer, Params

VERSION = 2

CHECKS = MESH_CHECKS | {
    "bodies": "The mesh has no more separate bodies than the union.",
    "union": "The body is the union: its score by volume is above 0.95.",
}

_FULL_MARKS_ABOVE = 0.95
_DIFFERENCE_WEIGHT = 0.5
_SCATTERED = 0.5
"""What is left of the score of a mesh with more separate bodies than the union."""
_VOLUME_DECIMALS = 6
_SCORE_DECIMALS = 9
_LEAST_DIFFERENCE = 1e-3
"""Differences of less than this share of the union are no more than rounding."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the score by volume, halved for a scattered body, if the mesh is clean; else 0."""
    checks = Checklist(CHECKS)
    vertices = [vertex.xyz for vertex in answer.polyhedron.vertex]
    faces = tuple(face.vertex for face in answer.polyhedron.faces)
    surface, notes = judge_mesh(checks, vertices, faces)
    if surface is None:
        checks.skip(("bodies", "union"), "The mesh bounds no solid.")
        return replace(checks.binary(), notes=notes)
    clean = checks.all_passed
    bodies = body_count(params)
    compact = checks.expect(
        "bodies",
        surface.bodies <= bodies,
        f"The mesh has {surface.bodies} separate bodies, the union {bodies}; that halves the "
        "score.",
        bodies=surface.bodies,
        union=bodies,
    )
    parts = union_parts(params)
    common = common_volume(parts, surface.points[surface.corners])
    if common is None:
        wrong = "Too many planes of the solids lie behind too many triangles of the mesh."
        checks.expect("resource_limit", False, wrong)
        checks.skip("union", wrong)
        return replace(checks.binary(), notes=notes)
    # Volumes of what lies in both, in the union, in the answer, in one of the two only.
    i, r, v = (round(x, _VOLUME_DECIMALS) for x in (common, union_volume(parts), surface.volume))
    d = max(0.0, round(r + v - 2 * i, _VOLUME_DECIMALS))
    raw = round(min(i, v) / r - _DIFFERENCE_WEIGHT * d / r, _SCORE_DECIMALS)
    wrong = f"The union has volume {r:.6g}, the body {v:.6g}, their common part {i:.6g}."
    full = checks.expect("union", raw > _FULL_MARKS_ABOVE, wrong)
    score = (1.0 if full else max(0.0, raw)) * (1.0 if compact else _SCATTERED)
    surplus: list[dict[str, Any]] = []
    missing: list[dict[str, Any]] = []
    if d > _LEAST_DIFFERENCE * r:
        both = differences(surface.points, surface.corners, union_body(params), v - i, r - i)
        surplus, missing = ([piece._asdict() for piece in side] for side in both or ((), ()))
    verdict = checks.partial(
        score if clean else 0.0,
        volume_common=i,
        volume_union=r,
        volume_answer=v,
        volume_difference=d,
        score_by_volume=raw,
        surplus=surplus,
        missing=missing,
    )
    return replace(verdict, notes=notes)
