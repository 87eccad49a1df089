"""CSG union: prompts, fresh sets of solids, and the union as a tidy mesh."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from textwrap import fill

import numpy as np
from manifold3d import Manifold
from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.csg_union.meshes import as_answer, counterexamples, polygon_mesh
from scbench.builders.csg_union.scenes import Space, draw_scene
from scbench.builders.shared.builder import Builder, data_file, prompt_template
from scbench.graders.csg_union import grade
from scbench.graders.csg_union.solids import (
    MOST_PAIRS,
    solid_body,
    union_body,
    union_parts,
)
from scbench.graders.shared.meshes import Array
from scbench.schemas import csg_union as schema
from scbench.schemas.csg_union import Answer, Params, Solid

_UNLIMITED = 10_000
_DRAWS = 60
_LIMIT = """ A mesh of more than {least} triangles may also be refused because too many of them
  hide too many faces of the solids from inside these."""
# Coordinates that differ by less are equal; bodies that do not meet are drawn far more
# apart.
_SAME = 1e-4


class TaskBuilder(Builder[Params, Answer, Space]):
    """Two to six solids, and the mesh of their union."""

    task = "csg_union"
    version = 4
    form = (
        '{"polyhedron": {"vertex": [{"xyz": [x, y, z]}, ...], "faces": [{"vertex": '
        "[i, j, k, ...]}, ...]}}"
    )

    def words(self, params: Params) -> dict[str, object]:
        """Return the solids, in full and in brief, and the limits of a mesh."""
        solids = [
            fill(f"{i}. {described(solid)}", 100, subsequent_indent="   ")
            for i, solid in enumerate(params.solids, 1)
        ]
        turned = any(any(solid.rotation_deg_xyz) for solid in params.solids)
        least = MOST_PAIRS // sum(
            len(part.convex.sizes) for part in union_parts(params)
        )
        return {
            "n": len(params.solids),
            "solids": "\n".join(solids),
            "turning": prompt_template(__package__, "prompt_turning.txt")
            if turned
            else "",
            "example": prompt_template(__name__, "prompt_example.txt"),
            "limit": _LIMIT.format(least=least) if least < _UNLIMITED else "",
            "brief": "\n".join(f"- {_brief_solid(solid)}" for solid in params.solids),
        }

    def reference(self, params: Params) -> Answer:
        """Unite the solids and merge what lies in one plane."""
        mesh = polygon_mesh(union_body(params))
        return Answer(
            polyhedron=schema.Mesh(
                vertex=tuple(
                    schema.Vertex(xyz=tuple(point)) for point in mesh.points.tolist()
                ),
                faces=tuple(schema.Face(vertex=face) for face in mesh.faces),
            )
        )

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return meshes with one fault each, meshes of other bodies, and malformed answers."""
        return counterexamples(params)

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the convex hull of all solids, and the largest of them."""
        bodies = [solid_body(solid) for solid in params.solids]
        bodies_by_name = {
            "convex hull": union_body(params).hull(),
            "largest solid": max(bodies, key=lambda body: float(body.volume())),
        }
        return {
            name: as_answer(polygon_mesh(body)) for name, body in bodies_by_name.items()
        }

    def measure(self, params: Params) -> float:
        """Return how much there is to find out before the union can be written down.

        The sum of the pairs of solids that meet, the corners of solids that are no corners of the
        union, and the corners of the union. Those that belong to a turned solid count twice, and
        those where surfaces cross as well, plus two for each coordinate that no face square to an
        axis gives.
        """
        bodies = [solid_body(solid) for solid in params.solids]
        corners = [polygon_mesh(body).points for body in bodies]
        turned = [any(solid.rotation_deg_xyz) for solid in params.solids]
        union = polygon_mesh(union_body(params)).points
        meeting = sum(
            bool(a.min_gap(b, 2 * _SAME) < _SAME) for a, b in combinations(bodies, 2)
        )
        gone = sum(int((~_among(points, union)).sum()) for points in corners)
        straight_corners = np.zeros(len(union), dtype=bool)
        turned_corners = np.zeros(len(union), dtype=bool)
        for points, is_turned in zip(corners, turned, strict=True):
            matches = _among(union, points)
            turned_corners |= matches & is_turned
            straight_corners |= matches & (not is_turned)
        crossings = union[~(turned_corners | straight_corners)]
        square_levels = _axis_levels(
            [
                body
                for body, is_turned in zip(bodies, turned, strict=True)
                if not is_turned
            ]
        )
        computed = sum(
            int((~_among(crossings[:, [axis]], levels)).sum())
            for axis, levels in enumerate(square_levels)
        )
        return (
            meeting
            + gone
            + len(union)
            + int(turned_corners.sum())
            + len(crossings)
            + 2 * computed
        )

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw solids whose union has no edge or point contact, each adding to it."""
        for _ in range(_DRAWS):
            params = draw_scene(point, rng)
            if point.greedy == 1 or self.best_baseline(params, grade) <= point.greedy:
                return params
        raise GenerationError(
            f"{_DRAWS} unions are near a hull or solid; ask for a larger greedy"
        )


def described(solid: Solid) -> str:
    """Return what a solid is in its own frame, and how it gets to its place."""
    values, kind = _solid_words(solid)
    shape = data_file(__package__, "solids.json")[kind]["full"].format(**values)
    steps = []
    if any(solid.rotation_deg_xyz):
        steps.append(f"turned by {_point_text(solid.rotation_deg_xyz)}")
    if any(solid.translation):
        steps.append(f"moved by {_point_text(solid.translation)}")
    return f"{shape}; {', then '.join(steps) or 'left where it is'}."


def _brief_solid(solid: Solid) -> str:
    """Return a solid with its size and place, but without its corners unless it has no name."""
    values, kind = _solid_words(solid)
    shape = data_file(__package__, "solids.json")[kind]["brief"].format(**values)
    middle = "moved by" if kind == "polyhedron" else "centred at"
    if isinstance(solid, schema.Prism) and not solid.centred_z:
        middle = "the centre of its base at"
    turns = zip("xyz", solid.rotation_deg_xyz, strict=True)
    turned = "".join(f", turned {_digits(t)} about {axis}" for axis, t in turns if t)
    return f"{shape}{turned}, {middle} {_point_text(solid.translation)}"


def _solid_words(solid: Solid) -> tuple[dict[str, object], str]:
    """Return what the texts on a kind of solid are filled with, and its kind."""
    match solid:
        case schema.Box():
            return dict(zip("xyz", map(_digits, solid.size), strict=True)), "box"
        case schema.Prism(segments=n):
            low = -solid.height / 2 if solid.centred_z else 0.0
            lengths = {
                "below": solid.radius_bottom,
                "above": solid.radius_top,
                "low": low,
            }
            lengths |= {"high": low + solid.height, "height": solid.height}
            even = solid.radius_top == solid.radius_bottom
            kind = "pyramid" if not solid.radius_top else "prism" if even else "frustum"
            words = {name: _digits(length) for name, length in lengths.items()}
            return {**words, "n": n, "last": n - 1}, kind
        case schema.UvSphere(segments=n):
            rings = n // 2
            counts = {"n": n, "last": n - 1, "rings": rings, "top": rings - 1}
            return {**counts, "r": _digits(solid.radius)}, "sphere"
        case schema.Polyhedron():
            points = [_point_text(corner) for corner in solid.vertices]
            return {
                "corners": ", ".join(points),
                "points": ", ".join(
                    f"{i} at {point}" for i, point in enumerate(points)
                ),
                "faces": ", ".join(str(list(face)) for face in solid.faces),
            }, "polyhedron"


def _point_text(values: Sequence[float]) -> str:
    return f"({', '.join(map(_digits, values))})"


def _digits(value: float) -> str:
    """Return a number as JSON would print it, whole ones without a point."""
    return str(int(value)) if value == int(value) else repr(value)


def _among(
    points: Array, candidates: Array
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    if not len(candidates):
        return np.zeros(len(points), dtype=bool)
    gaps = np.abs(points[:, None] - candidates[None]).max(axis=2)
    return np.asarray(gaps.min(axis=1) < _SAME)


def _axis_levels(bodies: list[Manifold]) -> list[Array]:
    """Return, for each axis, where flat faces of bodies lie square to it, as a column."""
    levels: list[list[float]] = [[], [], []]
    for body in bodies:
        mesh = polygon_mesh(body)
        for face in mesh.faces:
            points = mesh.points[list(face)]
            for axis in np.flatnonzero(np.ptp(points, axis=0) < _SAME):
                levels[axis].append(float(points[0, axis]))
    return [np.array(values).reshape(-1, 1) for values in levels]
