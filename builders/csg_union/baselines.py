"""Bodies that take no thought of how the solids meet."""

from pydantic import JsonValue

from scbench.builders.csg_union.counterexamples import as_answer
from scbench.builders.csg_union.polygon_faces import polygon_mesh
from scbench.graders.csg_union.solids import solid_body, union_body
from scbench.schemas.csg_union import Params


def baselines(params: Params) -> dict[str, JsonValue]:
    """Return the convex hull of all solids, and the largest of them."""
    bodies = [solid_body(solid) for solid in params.solids]
    bodies_by_name = {
        "convex hull": union_body(params).hull(),
        "largest solid": max(bodies, key=lambda body: float(body.volume())),
    }
    return {name: as_answer(polygon_mesh(body)) for name, body in bodies_by_name.items()}
