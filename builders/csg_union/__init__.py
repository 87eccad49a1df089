"""CSG union: prompts, fresh sets of solids, and the union as a tidy mesh."""

from collections.abc import Mapping, Sequence
from textwrap import fill

from pydantic import JsonValue

from scbench.builders.csg_union.counterexamples import counterexamples
from scbench.builders.csg_union.polygon_faces import polygon_mesh
from scbench.builders.csg_union.scenes import Space, draw_scene
from scbench.builders.shared.builder import Builder, reply_as
from scbench.graders.csg_union.convex_parts import MOST_PAIRS
from scbench.graders.csg_union.solids import union_body, union_parts
from scbench.schemas.csg_union import (
    Answer,
    Box,
    Face,
    Mesh,
    Params,
    Polyhedron,
    Prism,
    Solid,
    UvSphere,
    Vertex,
)
from scbench.seeding import Stream

_PROMPT = """\
Below are {n} solids. Write down the surface of their union: one closed mesh of flat polygons around
everything that lies in at least one of them. All lengths are in centimetres, all angles in degrees;
in your answer write bare numbers.

{solids}

Every solid is described in a frame of its own and then brought into the common frame.
{turning}Moving by (a, b, c) adds this vector to each of its points. All faces are flat: what
looks round is exactly the polyhedron described.

The mesh is the outer surface of the union, and the wall of every void in it. What of a solid's
surface lies inside another solid, or where two solids touch, does not belong to it.

The mesh has a list of vertices and a list of faces. A face lists its corners as positions in the
list of vertices, counted from 0, in counter-clockwise order seen from outside the solid. This is
the cube of side 2 centred on the origin:

{example}

Rules for the mesh:

- A face has three or more corners and need not be convex. It has an area (at least 5e-11), names no
  vertex twice, and its outline neither crosses nor covers itself. It is flat: no corner is more
  than 0.01 away from the plane through the mean of its corners whose normal follows from Newell's
  rule. A face cannot have a hole; cut such a face into several without one.
- Every edge belongs to exactly two faces, which run along it in opposite directions, so that the
  mesh is watertight. If a vertex lies on a side of a face, that side ends there: it counts as two
  edges, and the face names the vertex, too.
- No two vertices are equal after rounding to 6 decimals. No vertex is both more than 100 away from
  the mean of all vertices and more than ten times as far from it as they are on average. No
  coordinate is below -1000000 or above 1000000.
- No two faces cut through each other, and none lies on another one. Cuts up to 0.01 deep or wide,
  such as rounding makes, are overlooked; faces that cover each other by more than 0.01 within 0.01
  of one plane count as lying on each other.
- Parts of the surface that are not joined by edges, such as those of solids that do not touch, and
  the wall of a void, are shells of their own; their faces stand in the same lists. Shells keep at
  least 0.01 apart, and each encloses a volume (at least 1e-10). None lies inside the material of
  another, and the faces of a void point into the void.
- There are at most 10000 vertices, and the faces count as at most 10000 triangles (a face of k
  corners counts as k - 2), of which at most 400000 pairs have bounding boxes within 0.01 of each
  other.{limit}

A mesh that breaks any of these rules scores 0. Two things do no harm: a mesh that is inside out as
a whole is turned round, and a vertex may be on no face (the rules for vertices hold for it, too).
The order of vertices and faces is free, and so is the corner at which a face begins. Three decimals
are enough.

The score of a mesh that keeps the rules compares volumes. Let R be the volume of the true union, V
that of the body inside your mesh, I that of what the two have in common, and D = R + V - 2 I that
of what only one of them has. Then s = min(I/R, V/R) - 0.5 D/R; the score is 1 if s is above 0.95,
otherwise s, but at least 0.

"""

_TURNING = """\
Turning by (a, b, c) rotates it about the origin of its frame: by a degrees about the x axis, then
by b about the y axis, then by c about the z axis, axes that stay where they are. A positive angle
is counter-clockwise for someone whom the axis points at; 90 about z takes +x to +y.
"""

_MOST = 10_000

_LIMIT = """ A mesh of more than {least} triangles may also be refused because too many of them
  hide too many faces of the solids from inside these."""

_EXAMPLE = (
    '{"polyhedron": {"vertex": [{"xyz": [-1, -1, -1]}, {"xyz": [1, -1, -1]}, '
    '{"xyz": [1, 1, -1]},\n {"xyz": [-1, 1, -1]}, {"xyz": [-1, -1, 1]}, {"xyz": [1, -1, 1]}, '
    '{"xyz": [1, 1, 1]},\n {"xyz": [-1, 1, 1]}], "faces": [{"vertex": [0, 3, 2, 1]}, '
    '{"vertex": [4, 5, 6, 7]},\n {"vertex": [0, 1, 5, 4]}, {"vertex": [1, 2, 6, 5]}, '
    '{"vertex": [2, 3, 7, 6]},\n {"vertex": [3, 0, 4, 7]}]}}'
)


class TaskBuilder(Builder[Params, Answer, Space]):
    """Two to six solids, and the mesh of their union."""

    task = "csg_union"
    version = 1

    def prompt(self, params: Params) -> str:
        """Return the solids, the rules for a mesh, and how it is scored."""
        solids = [
            fill(f"{i}. {_described(solid)}", 100, subsequent_indent="   ")
            for i, solid in enumerate(params.solids, 1)
        ]
        turned = any(any(solid.rotation_deg_xyz) for solid in params.solids)
        least = MOST_PAIRS // sum(len(part.convex.sizes) for part in union_parts(params))
        rules = _PROMPT.format(
            n=len(params.solids),
            solids="\n".join(solids),
            turning=_TURNING if turned else "",
            example=_EXAMPLE,
            limit=_LIMIT.format(least=least) if least < _MOST else "",
        )
        form = '{"polyhedron": {"vertex": [{"xyz": [x, y, z]}, ...], "faces": [{"vertex": '
        return rules + reply_as(form + "[i, j, k, ...]}, ...]}}")

    def reference(self, params: Params) -> Answer:
        """Unite the solids and merge what lies in one plane."""
        mesh = polygon_mesh(union_body(params))
        return Answer(
            polyhedron=Mesh(
                vertex=tuple(Vertex(xyz=tuple(point)) for point in mesh.points.tolist()),
                faces=tuple(Face(vertex=face) for face in mesh.faces),
            )
        )

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return meshes with one fault each, meshes of other bodies, and malformed answers."""
        return counterexamples(params)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw solids whose union has no edge or point contact, each adding to it.

        Raises:
            GenerationError: no such set in 30 tries.
        """
        return draw_scene(point, rng)


def _described(solid: Solid) -> str:
    """Return what a solid is in its own frame, and how it gets to its place."""
    match solid:
        case Box():
            x, y, z = map(_number, solid.size)
            shape = f"Box with edges {x}, {y} and {z} along x, y and z, centred on the origin"
        case Prism():
            shape = _prism(solid)
        case UvSphere():
            shape = _sphere(solid)
        case Polyhedron():
            points = ", ".join(f"{i} at {_triple(v)}" for i, v in enumerate(solid.vertices))
            faces = ", ".join(str(list(face)) for face in solid.faces)
            shape = (
                f"Polyhedron with the vertices {points} and the faces {faces}, counter-clockwise "
                "seen from outside"
            )
    steps = []
    if any(solid.rotation_deg_xyz):
        steps.append(f"turned by {_triple(solid.rotation_deg_xyz)}")
    if any(solid.translation):
        steps.append(f"moved by {_triple(solid.translation)}")
    return f"{shape}; {', then '.join(steps) or 'left where it is'}."


def _prism(prism: Prism) -> str:
    n = prism.segments
    low = -prism.height / 2 if prism.centred_z else 0.0
    high = low + prism.height
    ring = f"at the angles 360 k / {n} (k = 0, ..., {n - 1}) from the direction +x towards +y"
    below = _number(prism.radius_bottom)
    if prism.radius_top == 0:
        return (
            f"Pyramid over a regular {n}-gon in the plane z = {_number(low)}, whose corners lie "
            f"{below} from the z axis {ring}; its apex is (0, 0, {_number(high)})"
        )
    ends = f"two flat {n}-gons, in the planes z = {_number(low)} and z = {_number(high)}"
    if prism.radius_top == prism.radius_bottom:
        return f"Prism between {ends}; the corners of both lie {below} from the z axis {ring}"
    return (
        f"Frustum between {ends}; the corners lie {below} (lower) and {_number(prism.radius_top)} "
        f"(upper) from the z axis, both {ring}"
    )


def _sphere(sphere: UvSphere) -> str:
    n, rings, r = sphere.segments, sphere.segments // 2, _number(sphere.radius)
    return (
        f"Faceted sphere of radius {r} around the origin: {rings} horizontal rings of {n} vertices "
        f"each. With t = 180 (i + 0.5) / {rings} degrees, ring i (i = 0, ..., {rings - 1}) lies at "
        f"z = {r} cos t, and its vertices {r} sin t from the z axis at the angles 360 k / {n} "
        f"(k = 0, ..., {n - 1}) from the direction +x towards +y. Flat quadrilaterals join each "
        f"ring to the next, and a flat {n}-gon closes either end, so that there is no vertex at "
        "the poles"
    )


def _triple(values: Sequence[float]) -> str:
    return f"({', '.join(map(_number, values))})"


def _number(value: float) -> str:
    """Return a number as JSON would print it, whole ones without a point."""
    return str(int(value)) if value == int(value) else repr(value)
