"""CSG union: the surface of several solids together, as one clean mesh.

An example of the puzzle, in brief:

    1. Box with edges 10, 10 and 10, centred on the origin; left where it is.
    2. Box with edges 4, 4 and 20, centred on the origin; left where it is.

The union is the large box with a column on its top and its bottom. Where a column touches the large
face, that face has a hole, so it has to be split into faces without holes.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from textwrap import fill

import numpy as np
from manifold3d import Manifold
from numpy.typing import NDArray
from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.csg_union.descriptions import (
    description_in_own_frame,
    short_description,
)
from scbench.builders.csg_union.faults import as_answer, counterexamples
from scbench.builders.csg_union.honest_faults import honest_faults
from scbench.builders.csg_union.meshes import polygon_mesh
from scbench.builders.csg_union.scenes import Space, draw_scene
from scbench.builders.shared.builder import Builder, prompt_template
from scbench.graders.csg_union import grade
from scbench.graders.csg_union.convex_parts import MOST_PAIRS
from scbench.graders.csg_union.solids import solid_body, union_body, union_parts
from scbench.graders.csg_union.surface_areas import areas_of
from scbench.graders.shared.vectors import Array
from scbench.schemas import csg_union as schema
from scbench.schemas.csg_union import Answer, Params

# Number of triangles that a mesh may have. The prompt states the grader's limit on pairs of a
# triangle and a face only if a mesh of this size could exceed it.
_UNMENTIONED_LIMIT = 10_000
# Follows an item of a list in the prompt.
_LIMIT = """
- Count the pairs of a triangle and a face of a solid that the triangle hides from a point inside
  the solid. At most {most_pairs} are allowed; a mesh of {least} triangles never has more."""
# Follows the definition of B if B is 0, because no solids meet.
_NO_ROOM = " (B is 0 here, so any inner wall makes the score 0.)"
# Number of scenes to try until the baselines (convex hull, largest solid) score low enough.
_DRAWS = 60
# Coordinates that differ by less count as equal; separate bodies are always much farther apart.
_SAME = 1e-4


class TaskBuilder(Builder[Params, Answer, Space]):
    """Two to six solids, and the mesh of their union."""

    task = "csg_union"
    version = 5
    draws = 4
    form = (
        '{"polyhedron": {"vertex": [{"xyz": [x, y, z]}, ...], "faces": [{"vertex": '
        "[i, j, k, ...]}, ...]}}"
    )

    def words(self, params: Params) -> dict[str, object]:
        """Return the solids in full and in brief, the meaning of turns and moves, and limits."""
        in_full = []
        in_brief = []
        for i, solid in enumerate(params.solids, 1):
            text = f"{i}. {description_in_own_frame(solid)}"
            in_full.append(fill(text, 100, subsequent_indent="   "))
            in_brief.append(f"- {short_description(solid)}")
        turns = any(any(solid.rotation_deg_xyz) for solid in params.solids)
        moves = any(any(solid.translation) for solid in params.solids)
        frame = ""
        if turns:
            frame += prompt_template(__package__, "prompt_turning.txt")
        if moves:
            frame += prompt_template(__package__, "prompt_moving.txt")
        units = "Lengths are in centimetres."
        if turns:
            units = "Lengths are in centimetres, angles in degrees."
        # `sizes` has an entry for each facet.
        facets = sum(len(part.convex.sizes) for part in union_parts(params))
        # Even if every triangle hides every facet, a mesh of this size is within the limit.
        safe_triangles = MOST_PAIRS // facets
        limit = ""
        if safe_triangles < _UNMENTIONED_LIMIT:
            limit = _LIMIT.format(least=safe_triangles, most_pairs=MOST_PAIRS)
        return {
            "n": len(params.solids),
            "solids": "\n".join(in_full),
            "units": units,
            "frame": f"\n{frame}" if frame else "",
            "example": prompt_template(__name__, "prompt_example.txt"),
            "no_room": "" if areas_of(params).hidden > 0 else _NO_ROOM,
            "limit": limit,
            "brief": "\n".join(in_brief),
        }

    def reference(self, params: Params) -> Answer:
        """Unite the solids and merge the triangles that lie in one plane."""
        mesh = polygon_mesh(union_body(params))
        vertices = [schema.Vertex(xyz=tuple(point)) for point in mesh.points.tolist()]
        faces = [schema.Face(vertex=face) for face in mesh.faces]
        return Answer(
            polyhedron=schema.Mesh(vertex=tuple(vertices), faces=tuple(faces))
        )

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return meshes with one fault each, meshes of other bodies, and malformed answers."""
        return counterexamples(params)

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return the bounding box, and the union shifted, scaled, coarsened or without a solid."""
        return honest_faults(params)

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the convex hull of all solids, and the largest solid."""
        bodies = [solid_body(solid) for solid in params.solids]
        hull = union_body(params).hull()
        largest = max(bodies, key=lambda body: float(body.volume()))
        return {
            "convex hull": as_answer(polygon_mesh(hull)),
            "largest solid": as_answer(polygon_mesh(largest)),
        }

    def measure(self, params: Params) -> float:
        """Return the number of things to work out before the union can be written down.

        The sum of:

        - the pairs of solids that meet;
        - the corners of solids that are not corners of the union;
        - the corners of the union; corners of a turned solid and crossings of surfaces count
          twice;
        - two for each coordinate of a crossing that is not that of an axis-aligned face.
        """
        bodies = [solid_body(solid) for solid in params.solids]
        union = polygon_mesh(union_body(params)).points
        meeting = 0
        for a, b in combinations(bodies, 2):
            # The second argument bounds the search; a gap beyond it is returned as this length.
            if a.min_gap(b, 2 * _SAME) < _SAME:
                meeting += 1

        vanished = 0
        # Masks over the corners of the union: which ones are corners of a solid.
        union_at_straight = np.zeros(len(union), dtype=bool)
        union_at_turned = np.zeros(len(union), dtype=bool)
        straight_bodies = []
        for solid, body in zip(params.solids, bodies, strict=True):
            corners = polygon_mesh(body).points
            vanished += int((~is_among(corners, union)).sum())
            # The other way round: corners of the union that are corners of this solid.
            in_solid = is_among(union, corners)
            if any(solid.rotation_deg_xyz):
                union_at_turned |= in_solid
            else:
                union_at_straight |= in_solid
                straight_bodies.append(body)

        # The other corners are crossings of surfaces. Coordinates that a crossing shares with an
        # axis-aligned face can be read off; the solver has to compute the others.
        crossings = union[~(union_at_turned | union_at_straight)]
        computed = 0
        for axis, levels in enumerate(square_levels(straight_bodies)):
            # Indexing with a list keeps the shape (n, 1).
            computed += int((~is_among(crossings[:, [axis]], levels)).sum())
        # `len(union)` already counts corners of turned solids and crossings once.
        return (
            meeting
            + vanished
            + len(union)
            + int(union_at_turned.sum())
            + len(crossings)
            + 2 * computed
        )

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw a scene (see `draw_scene`) on which no baseline scores more than ``greedy``."""
        for _ in range(_DRAWS):
            params = draw_scene(point, rng)
            if not self.has_baseline_above(point.greedy, params, grade):
                return params
        raise GenerationError(
            f"in each of {_DRAWS} draws, the hull or the largest solid scored above "
            f"{point.greedy}; raise greedy"
        )


def is_among(points: Array, candidates: Array) -> NDArray[np.bool_]:
    """Return for each point (n, d) whether it equals one of the candidates (m, d)."""
    if not len(candidates):
        return np.zeros(len(points), dtype=bool)
    # For each pair, the largest difference between coordinates.
    gaps = np.abs(points[:, None] - candidates[None]).max(axis=2)
    return np.asarray(gaps.min(axis=1) < _SAME)


def square_levels(bodies: Sequence[Manifold]) -> list[Array]:
    """Return, for each axis, the coordinates (n, 1) of the bodies' faces square to it."""
    levels: list[list[float]] = [[], [], []]
    for body in bodies:
        mesh = polygon_mesh(body)
        for face in mesh.faces:
            corners = mesh.points[list(face)]
            # A face is square to the axes along which its corners do not vary.
            for axis in np.flatnonzero(np.ptp(corners, axis=0) < _SAME):
                levels[axis].append(float(corners[0, axis]))
    return [np.array(values).reshape(-1, 1) for values in levels]
