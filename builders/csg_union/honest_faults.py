"""Meshes with honest mistakes, and their scores by volume."""

from collections.abc import Sequence

import numpy as np
from manifold3d import Manifold
from pydantic import JsonValue

from scbench.builders.csg_union.faults import as_answer
from scbench.builders.csg_union.meshes import polygon_mesh
from scbench.graders.csg_union.solids import solid_body, union_body
from scbench.graders.shared.mesh_bodies import unite
from scbench.schemas.csg_union import Params, Prism, Solid, UvSphere

_SHIFT = (0.15, 0.1, 0.12)
# Factor on the lengths of a union that is a little too small.
_SCALE = 0.97
# Number of sides of round solids that are drawn coarsely.
_SIDES = 12
# Scores by volume above this count as 1.
_FULL_MARKS_ABOVE = 0.95
# A score by volume within this distance of the limit may be rounded to either side of it.
_UNSURE = 1e-4


def honest_faults(params: Params) -> dict[str, tuple[JsonValue, float]]:
    """Return answers with honest mistakes, by name, each with its score by volume."""
    union = union_body(params)
    low, high = np.array(union.bounding_box()).reshape(2, 3)
    box = Manifold.cube(tuple((high - low).tolist())).translate(tuple(low.tolist()))
    bodies = {
        "shifted": union.translate(_SHIFT),
        "scaled": union.scale((_SCALE, _SCALE, _SCALE)),
        "coarse_rounds": union_of_solids(tuple(map(coarse, params.solids))),
        "bounding_box": box,
    }
    if len(params.solids) > 1:
        bodies["without_the_first_solid"] = union_of_solids(params.solids[1:])
        bodies["without_the_last_solid"] = union_of_solids(params.solids[:-1])
    faults: dict[str, tuple[JsonValue, float]] = {}
    for name, body in bodies.items():
        by_volume = score_by_volume(union, body)
        if abs(by_volume - _FULL_MARKS_ABOVE) > _UNSURE:
            score = 1.0 if by_volume > _FULL_MARKS_ABOVE else max(0.0, by_volume)
            faults[name] = (as_answer(polygon_mesh(body)), score)
    return faults


def union_of_solids(solids: Sequence[Solid]) -> Manifold:
    """Return the union of some solids."""
    return unite([solid_body(solid) for solid in solids])


def coarse(solid: Solid) -> Solid:
    """Return a solid with fewer sides if it is round."""
    if isinstance(solid, Prism | UvSphere) and solid.segments > _SIDES:
        return solid.model_copy(update={"segments": _SIDES})
    return solid


def score_by_volume(union: Manifold, body: Manifold) -> float:
    """Return the formula's score before full marks are given, from volumes of mesh booleans."""
    union_volume = union.volume()
    body_volume = body.volume()
    common = (union ^ body).volume()
    difference = union_volume + body_volume - 2 * common
    return float((min(common, body_volume) - difference / 2) / union_volume)
