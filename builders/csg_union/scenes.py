"""Fresh sets of solids whose union is one clean mesh."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from manifold3d import Manifold
from pydantic import model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.csg_union.meshes import polygon_mesh
from scbench.builders.shared.builder import Point, parameter
from scbench.graders.csg_union.solids import (
    common_volume,
    parts_of_union,
    solid_body,
    solid_mesh,
    union_volume,
)
from scbench.graders.shared import meshes
from scbench.graders.shared.meshes import (
    close_pairs,
    find_contacts,
    nearer_than,
    unite,
    volume,
)
from scbench.schemas.csg_union import Box, Params, Polyhedron, Prism, Solid, UvSphere

_SCENES = 30
# Bounds on one draw: sets of solids begun, and places tried for each solid.
_PLACES = 20
# A draw ends after sets of solids with so many triangles.
_FACETS = 20_000
# Least part of its own volume that each solid adds; and of an overlap, that it shares.
_SHARE = 0.05
_GROWTH = 1e-3
# Least distance of the union's vertices, and of parts of its surface that are not
# joined.
_CLEAR = 0.05
# Share of the union's volume that a mesh of it may be wrong by.
_WRONG = 1e-5
# Distance of solids that are to be apart; and least area of a contact.
_GAP = 1.0
Kind = Literal["box", "prism", "cone", "sphere", "tetrahedron", "wedge"]
Relation = Literal["mixed", "overlap", "contact", "nested", "disjoint", "void"]
# Relations that shrinking would end.
_TOUCHING = ("mixed", "contact", "void")


class Space(Point):
    """Parameters of fresh sets of solids."""

    solids: int = parameter(3, "number of solids; 6 for a void", ge=2, le=6)
    kinds: tuple[Kind, ...] = parameter(
        ("box", "prism", "wedge", "tetrahedron"),
        "kinds of solids to choose from; a void is made of boxes",
        min_length=1,
        max_length=6,
    )
    min_sides: int = parameter(4, "fewest sides of a round solid", ge=3, le=48)
    max_sides: int = parameter(
        8, "most sides of a round solid; spheres take even numbers", ge=3, le=48
    )
    rotation: Literal["none", "45", "90", "free"] = parameter(
        "none",
        "how solids are turned: not, about one axis by 45 or by 90 degrees, or about "
        "all three by whole degrees",
    )
    relation: Relation = parameter(
        "mixed",
        "how each further solid lies to an earlier one; mixed is any but a void, which "
        "is six panels around a hollow",
    )
    greedy: float = parameter(
        1.0,
        "most that the hull of all solids, or the largest of them, may score",
        gt=0, le=1, later=True,
    )  # fmt: skip
    max_vertices: int = parameter(120, "most vertices of the union", ge=8, le=1_000)

    @model_validator(mode="after")
    def _possible(self) -> "Space":
        if self.min_sides > self.max_sides:
            raise ValueError(
                f"min_sides {self.min_sides} is above max_sides {self.max_sides}"
            )
        if self.relation == "void" and self.solids != 6:
            raise ValueError(f"a void takes 6 solids, not {self.solids}")
        if self.relation == "void" and self.rotation != "none":
            raise ValueError("the panels around a void are not turned")
        if "sphere" in self.kinds and not _sphere_sides(self):
            raise ValueError("a sphere takes an even number of sides, at least 4")
        return self


def draw_scene(point: Space, rng: Stream) -> Params:
    """Draw solids of which each counts, and whose union no edge or point contact spoils.

    Raises:
        GenerationError: no such set in 30 tries of 20 places for each solid.
    """
    facets = 0
    scenes = 0
    while scenes < _SCENES and facets <= _FACETS:
        scenes += 1
        if point.relation == "void":
            solids: list[Solid] | None = _panels(rng)
        else:
            solids = _heap(point, rng)
        if solids is not None and _clean(point, solids):
            return Params(solids=tuple(solids))
        facets += sum(solid_body(solid).num_tri() for solid in solids or ())
    raise GenerationError(
        f"no set of {point.solids} solids with relation {point.relation} and rotation "
        f"{point.rotation} has a clean union of at most {point.max_vertices} vertices, in "
        f"{scenes} tries; ask for fewer solids or sides, other kinds, or more vertices"
    )


def _sphere_sides(point: Space) -> list[int]:
    return [
        n for n in range(max(4, point.min_sides), point.max_sides + 1) if n % 2 == 0
    ]


def _heap(point: Space, rng: Stream) -> list[Solid] | None:
    """Place solids one after the other; None if one finds no place."""
    solids = [_shape(point, rng, small=False)]
    bodies = [solid_body(solids[0])]
    for _ in range(point.solids - 1):
        heap = unite(bodies)
        for _ in range(_PLACES):
            solid = _place_solid(point, rng, rng.choice(bodies), heap)
            if solid is not None:
                solids.append(solid)
                bodies.append(solid_body(solid))
                break
        else:
            return None
    rng.shuffle(solids)
    return solids


def _place_solid(
    point: Space, rng: Stream, target: Manifold, heap: Manifold
) -> Solid | None:
    """Return a new solid that lies to a target as wanted; None if this try does not."""
    relation = point.relation
    if relation == "mixed":
        relation = rng.weighted(
            ("overlap", "contact", "disjoint", "nested"), (5, 4, 1, 1)
        )
    axis = rng.below(3)
    shape = _shape(point, rng, small=relation == "nested")
    shape = shape.model_copy(
        update={
            "rotation_deg_xyz": _draw_turn(
                point, rng, axis if relation == "contact" else None
            )
        }
    )
    box, there, every = (
        np.array(body.bounding_box()).reshape(2, 3)
        for body in (solid_body(shape), target, heap)
    )
    # Anywhere that the two boxes share a length of 1 along each axis.
    move = [
        round(2 * rng.uniform(low, high)) / 2
        for low, high in zip(there[0] - box[1] + 1, there[1] - box[0] - 1, strict=True)
    ]
    if relation == "contact":
        move[axis] = float(there[1 - (side := rng.below(2))][axis] - box[side][axis])
        if move[axis] * 4 != round(move[axis] * 4):
            return None
    elif relation == "disjoint":
        move[axis] = float(np.ceil(2 * (every[1] + _GAP - box[0])[axis]) / 2)
    elif relation == "nested":
        middle = (there[0] + there[1] - box[0] - box[1]) / 2
        move = [round(2 * (m + rng.uniform(-1, 1))) / 2 for m in middle.tolist()]
    shape = shape.model_copy(update={"translation": tuple(move)})
    return shape if _lies_as(shape, relation, target, heap) else None


def _lies_as(
    shape: Solid, relation: Relation, target: Manifold, heap: Manifold
) -> bool:
    """Whether a solid at its place lies to a target as wanted."""
    body = solid_body(shape)
    size = volume(body)
    if relation == "nested":
        return volume(_inflated(body, _CLEAR) - target) == 0
    if volume(body - heap) < _SHARE * size:
        return False
    if relation == "overlap":
        return volume(body ^ target) >= _SHARE * size
    if relation == "disjoint":
        return volume(_inflated(body, _CLEAR) ^ heap) == 0
    hidden = (
        body.surface_area() + target.surface_area() - (body + target).surface_area()
    )
    return volume(body ^ target) == 0 and bool(hidden >= 2 * _GAP)


def _shape(point: Space, rng: Stream, *, small: bool) -> Solid:
    """Draw a solid near the origin."""
    place = (0.0, 0.0, 0.0)

    def length(low: int, high: int) -> float:
        return float(rng.between(low, high)) / (4 if small else 1)

    sides = rng.between(point.min_sides, point.max_sides)
    match rng.choice(point.kinds):
        case "box":
            size = (length(4, 12), length(4, 12), length(4, 12))
            return Box(kind="box", size=size, translation=place)
        case "prism" | "cone" as kind:
            return Prism(
                kind="prism",
                radius_bottom=(radius := length(3, 7)),
                radius_top=radius if kind == "prism" else 0.0,
                height=2 * length(2, 6),
                segments=sides,
                centred_z=kind == "prism",
                translation=place,
            )
        case "sphere":
            even = rng.choice(_sphere_sides(point))
            return UvSphere(
                kind="uv_sphere", radius=length(3, 7), segments=even, translation=place
            )
        case "wedge":
            x, y, z = length(2, 6), length(2, 6), length(4, 12)
            corners = [(-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0)]
            ridge = [(-x, -y, z), (-x, y, z)]
            return Polyhedron(
                kind="polyhedron",
                vertices=(*corners, *ridge),
                faces=((0, 3, 2, 1), (0, 4, 5, 3), (0, 1, 4), (2, 3, 5), (1, 2, 5, 4)),
                translation=place,
            )
        case _:
            base = [
                (-length(2, 6), -length(2, 6), 0.0),
                (length(2, 6), -length(2, 6), 0.0),
            ]
            top = [(length(1, 5) - length(1, 5), length(3, 7), 0.0)]
            apex = [
                (
                    length(1, 4) - length(1, 4),
                    length(1, 4) - length(1, 4),
                    length(5, 12),
                )
            ]
            return Polyhedron(
                kind="polyhedron",
                vertices=(*base, *top, *apex),
                faces=((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)),
                translation=place,
            )


def _draw_turn(
    point: Space, rng: Stream, axis: int | None
) -> tuple[float, float, float]:
    """Draw a rotation, about one axis only if an axis is given."""
    step = {"none": 360, "90": 90, "45": 45, "free": 1}[point.rotation]
    angles = [float(step * rng.below(360 // step)) for _ in range(3)]
    if point.rotation != "free" or axis is not None:
        axis = rng.below(3) if axis is None else axis
        angles = [angle if k == axis else 0.0 for k, angle in enumerate(angles)]
    return angles[0], angles[1], angles[2]


def _panels(rng: Stream) -> list[Solid]:
    inner = [float(rng.between(4, 16)) for _ in range(3)]
    thick = [float(rng.between(1, 3)) for _ in range(3)]
    place = [float(rng.between(-5, 5)) for _ in range(3)]
    order = [0, 1, 2]
    rng.shuffle(order)
    panels: list[Solid] = []
    for rank, axis in enumerate(order):
        size = [inner[k] + 2 * thick[k] for k in range(3)]
        for done in order[:rank]:
            size[done] = inner[done]
        size[axis] = thick[axis]
        for sign in (-1, 1):
            centre = list(place)
            centre[axis] += sign * (inner[axis] + thick[axis]) / 2
            panels.append(Box(kind="box", size=tuple(size), translation=tuple(centre)))
    rng.shuffle(panels)
    return panels


def _inflated(body: Manifold, margin: float) -> Manifold:
    """Return a body scaled about its middle so that its box grows by a margin on its thin side."""
    box = np.array(body.bounding_box()).reshape(2, 3)
    middle = (box[0] + box[1]) / 2
    factor = 1 + 2 * margin / float(np.min(box[1] - box[0]))
    back = body.translate(tuple((-middle).tolist())).scale((factor, factor, factor))
    return back.translate(tuple(middle.tolist()))


def _clean(point: Space, solids: Sequence[Solid]) -> bool:
    """Whether every solid counts, and the union is a mesh with room to spare."""
    bodies = [solid_body(solid) for solid in solids]
    union = unite(bodies)
    mesh = polygon_mesh(union)
    if len(mesh.points) > point.max_vertices or any(meshes.edge_faults(mesh.faces)):
        return False
    for i, body in enumerate(bodies):
        neighbours = [neighbour for j, neighbour in enumerate(bodies) if j != i]
        added = volume(body - unite(neighbours))
        inside = any(
            volume(_inflated(body, _CLEAR) - neighbour) == 0 for neighbour in neighbours
        )
        if added < _SHARE * volume(body) and not inside:
            return False
    margins = [_GROWTH] if point.relation in _TOUCHING else [_GROWTH, -_GROWTH]
    if any(
        _shape_of(unite(_inflated(b, m) for b in bodies)) != _shape_of(union)
        for m in margins
    ):
        return False
    # Not only along edges: where a surface touches itself in a point, two vertices are one place.
    gaps = np.sum((mesh.points[:, None] - mesh.points) ** 2, axis=2)
    if gaps[np.triu_indices(len(gaps), 1)].min() < _CLEAR**2:
        return False
    triangles = meshes.triangulate(mesh)
    shell = meshes.shells(mesh.faces)
    # The mesh is made by booleans that can fail, so it has to have the volume of the union.
    parts = parts_of_union([solid_mesh(solid) for solid in solids])
    exact = union_volume(parts)
    mesh_volume = float(meshes.signed_volumes(mesh.points, triangles, shell).sum())
    common = common_volume(parts, mesh.points[triangles.corners])
    if (
        common is None
        or max(abs(mesh_volume - exact), abs(common - exact)) > _WRONG * exact
    ):
        return False
    return _roomy(mesh.points[triangles.corners], shell[triangles.face])


def _shape_of(body: Manifold) -> tuple[int, int, int]:
    """Return how many outer shells a body has, how many voids, and how many handles in all."""
    parts = body.decompose()
    outer = sum(part.volume() > 0 for part in parts)
    return outer, len(parts) - outer, sum(part.genus() for part in parts)


def _roomy(corners: meshes.Array, shell: meshes.Indices) -> bool:
    """Whether triangles keep out of each other's way at five times the grader's tolerance."""
    pairs = close_pairs(corners, _CLEAR, 10**6)
    if pairs is None:
        return False
    unjoined = pairs[shell[pairs[:, 0]] != shell[pairs[:, 1]]]
    contacts = find_contacts(corners, pairs, _CLEAR)
    return not any(map(len, (*contacts, nearer_than(corners, unjoined, _CLEAR))))
