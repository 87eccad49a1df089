"""Fresh sets of solids whose union is one clean mesh.

A set is drawn solid by solid. Each new solid overlaps an earlier one, touches it, lies inside it or
lies apart. Sets with an unclean union are discarded.
"""

from typing import Literal, NamedTuple

import numpy as np
from manifold3d import Manifold
from pydantic import model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.csg_union.clean import CLEAR, SHARE, inflate, is_clean
from scbench.builders.shared.builder import Point, parameter
from scbench.graders.csg_union.solids import solid_body, solid_mesh
from scbench.graders.shared.mesh_bodies import unite, volume
from scbench.graders.shared.meshes import PolygonMesh
from scbench.graders.shared.vectors import Array
from scbench.schemas.csg_union import Box, Params, Polyhedron, Prism, Solid, UvSphere

Kind = Literal["box", "prism", "cone", "sphere", "tetrahedron", "wedge"]
Relation = Literal["mixed", "overlap", "contact", "nested", "disjoint", "void"]
# Relations that shrinking would end.
_TOUCHING = ("mixed", "contact", "void")
# Limits of one draw: the number of sets begun, and of places tried for each solid.
_SCENES = 30
_PLACES = 20
# A draw ends once its sets of solids have this many triangles in total.
_FACETS = 20_000
# Minimum distance of solids that must be apart, and minimum area of a contact.
_GAP = 1.0
# The smallest turn, in degrees.
_TURNS = {"none": 360, "90": 90, "45": 45, "free": 1}
_ORIGIN = (0.0, 0.0, 0.0)


class PlacedSolid(NamedTuple):
    """A solid at its place."""

    solid: Solid
    body: Manifold


class Space(Point):
    """Parameters of fresh sets of solids."""

    solids: int = parameter(3, "number of solids; a void needs 6", ge=2, le=6)
    kinds: tuple[Kind, ...] = parameter(
        ("box", "prism", "wedge", "tetrahedron"),
        "kinds of solids to choose from; a void always has boxes around it",
        min_length=1,
        max_length=6,
    )
    min_sides: int = parameter(
        4, "minimum number of sides of a round solid", ge=3, le=48
    )
    max_sides: int = parameter(
        8,
        "maximum number of sides of a round solid; the number is even for spheres",
        ge=3,
        le=48,
    )
    rotation: Literal["none", "45", "90", "free"] = parameter(
        "none",
        "rotation of the solids: none, about one axis by 45 or 90 degrees, or about all "
        "three axes by whole degrees",
    )
    relation: Relation = parameter(
        "mixed",
        "position of each further solid relative to an earlier one; mixed draws any of these "
        "except void, which is six panels around a hollow",
    )
    greedy: float = parameter(
        1.0,
        "highest score that the hull of all solids, or the largest solid alone, may reach",
        gt=0, le=1, later=True,
    )  # fmt: skip
    max_vertices: int = parameter(
        120, "maximum number of vertices of the union", ge=8, le=1_000
    )

    @model_validator(mode="after")
    def _possible(self) -> "Space":
        if self.min_sides > self.max_sides:
            raise ValueError(
                f"min_sides {self.min_sides} is above max_sides {self.max_sides}"
            )
        if self.relation == "void" and self.solids != 6:
            raise ValueError(f"a void needs 6 solids, not {self.solids}")
        if self.relation == "void" and self.rotation != "none":
            raise ValueError("the panels around a void cannot be rotated")
        if "sphere" in self.kinds and not sphere_sides(self):
            raise ValueError("a sphere needs an even number of sides, at least 4")
        return self


def sphere_sides(point: Space) -> list[int]:
    """Return the numbers of sides that a sphere can have: the even ones from 4."""
    sides = range(max(4, point.min_sides), point.max_sides + 1)
    return [n for n in sides if n % 2 == 0]


def draw_scene(point: Space, rng: Stream) -> Params:
    """Draw solids that all count and whose union has no edge or point contacts.

    Raises:
        GenerationError: no such set was found in 30 attempts with 20 places for each solid.
    """
    facets = 0
    scenes = 0
    while scenes < _SCENES and facets <= _FACETS:
        scenes += 1
        solids = draw_panels(rng) if point.relation == "void" else draw_heap(point, rng)
        if not solids:
            continue
        touching = point.relation in _TOUCHING
        if is_clean(solids, point.max_vertices, touching=touching):
            return Params(solids=tuple(solids))
        facets += sum(solid_body(solid).num_tri() for solid in solids)
    raise GenerationError(
        f"no set of {point.solids} solids with relation {point.relation} and rotation "
        f"{point.rotation} has a clean union of at most {point.max_vertices} vertices, in "
        f"{scenes} tries; ask for fewer solids or sides, other kinds, or more vertices"
    )


def draw_heap(point: Space, rng: Stream) -> list[Solid]:
    """Place solids one after the other; return none if there is no place for one of them."""
    solids = [draw_solid(point, rng, small=False)]
    bodies = [solid_body(solids[0])]
    heap = bodies[0]
    while len(solids) < point.solids:
        for _ in range(_PLACES):
            placement = place_solid(point, rng, rng.choice(bodies), heap)
            if placement is not None:
                break
        else:
            return []
        solids.append(placement.solid)
        bodies.append(placement.body)
        heap = unite([heap, placement.body])
    rng.shuffle(solids)
    return solids


def place_solid(
    point: Space, rng: Stream, target: Manifold, heap: Manifold
) -> PlacedSolid | None:
    """Return a new solid that has the relation to a target; None if this attempt fails."""
    relation = point.relation
    if relation == "mixed":
        relation = rng.weighted(
            ("overlap", "contact", "disjoint", "nested"), (5, 4, 1, 1)
        )
    axis = rng.below(3)
    solid = draw_solid(point, rng, small=relation == "nested")
    turn = draw_turn(point, rng, axis if relation == "contact" else None)
    solid = solid.model_copy(update={"rotation_deg_xyz": turn})
    low, high = ends_of(solid_mesh(solid))
    target_low, target_high = box_of(target)
    # Anywhere, if the two boxes share a length of 1 along each axis.
    least = target_low - high + 1
    greatest = target_high - low - 1
    ranges = zip(least, greatest, strict=True)
    move = [round(2 * rng.uniform(start, end)) / 2 for start, end in ranges]
    if relation == "contact":
        # Face to face, below or above the target.
        faces = [target_high - low, target_low - high]
        move[axis] = float(faces[rng.below(2)][axis])
        if move[axis] * 4 != round(move[axis] * 4):
            return None
    elif relation == "disjoint":
        _, heap_high = box_of(heap)
        move[axis] = float(np.ceil(2 * (heap_high + _GAP - low)[axis]) / 2)
    elif relation == "nested":
        middle = (target_low + target_high - low - high) / 2
        move = [round(2 * (m + rng.uniform(-1, 1))) / 2 for m in middle.tolist()]
    solid = solid.model_copy(update={"translation": tuple(move)})
    body = solid_body(solid)
    if not has_relation(body, relation, target, heap):
        return None
    return PlacedSolid(solid, body)


def ends_of(mesh: PolygonMesh) -> tuple[Array, Array]:
    """Return the smallest and the largest coordinates of a mesh along each axis."""
    return mesh.points.min(axis=0), mesh.points.max(axis=0)


def box_of(body: Manifold) -> tuple[Array, Array]:
    """Return the smallest and the largest coordinates of a body along each axis."""
    low, high = np.array(body.bounding_box()).reshape(2, 3)
    return low, high


def has_relation(
    body: Manifold, relation: Relation, target: Manifold, heap: Manifold
) -> bool:
    """Return whether a solid at its place has a relation to a target."""
    size = volume(body)
    if relation == "nested":
        return volume(inflate(body, CLEAR) - target) == 0
    # The target is simpler than the heap, so it comes first.
    if relation == "overlap" and volume(body ^ target) < SHARE * size:
        return False
    if volume(body - heap) < SHARE * size:
        return False
    if relation == "overlap":
        return True
    if relation == "disjoint":
        return volume(inflate(body, CLEAR) ^ heap) == 0
    if volume(body ^ target) != 0:
        return False
    # Each side of the contact hides its area from the surface of the union.
    surfaces = body.surface_area() + target.surface_area()
    hidden = surfaces - (body + target).surface_area()
    return bool(hidden >= 2 * _GAP)


def draw_solid(point: Space, rng: Stream, *, small: bool) -> Solid:
    """Draw a solid near the origin; a small one has a quarter of the size."""

    def length(low: int, high: int) -> float:
        return float(rng.between(low, high)) / (4 if small else 1)

    sides = rng.between(point.min_sides, point.max_sides)
    match rng.choice(point.kinds):
        case "box":
            size = (length(4, 12), length(4, 12), length(4, 12))
            return Box(kind="box", size=size, translation=_ORIGIN)
        case "prism" | "cone" as kind:
            radius = length(3, 7)
            return Prism(
                kind="prism",
                radius_bottom=radius,
                radius_top=radius if kind == "prism" else 0.0,
                height=2 * length(2, 6),
                segments=sides,
                centred_z=kind == "prism",
                translation=_ORIGIN,
            )
        case "sphere":
            even = rng.choice(sphere_sides(point))
            radius = length(3, 7)
            return UvSphere(
                kind="uv_sphere", radius=radius, segments=even, translation=_ORIGIN
            )
        case "wedge":
            x = length(2, 6)
            y = length(2, 6)
            z = length(4, 12)
            return Polyhedron(
                kind="polyhedron",
                vertices=(
                    (-x, -y, 0.0),
                    (x, -y, 0.0),
                    (x, y, 0.0),
                    (-x, y, 0.0),
                    (-x, -y, z),
                    (-x, y, z),
                ),
                faces=((0, 3, 2, 1), (0, 4, 5, 3), (0, 1, 4), (2, 3, 5), (1, 2, 5, 4)),
                translation=_ORIGIN,
            )
        case _:
            # A triangle in the plane z = 0, and an apex above it.
            left = (-length(2, 6), -length(2, 6), 0.0)
            right = (length(2, 6), -length(2, 6), 0.0)
            back = (length(1, 5) - length(1, 5), length(3, 7), 0.0)
            apex_x = length(1, 4) - length(1, 4)
            apex_y = length(1, 4) - length(1, 4)
            apex = (apex_x, apex_y, length(5, 12))
            return Polyhedron(
                kind="polyhedron",
                vertices=(left, right, back, apex),
                faces=((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)),
                translation=_ORIGIN,
            )


def draw_turn(
    point: Space, rng: Stream, axis: int | None
) -> tuple[float, float, float]:
    """Draw angles in degrees; only about one axis if an axis is given or turns are not free."""
    step = _TURNS[point.rotation]
    x, y, z = (float(step * rng.below(360 // step)) for _ in range(3))
    if axis is None:
        if point.rotation == "free":
            return x, y, z
        axis = rng.below(3)
    turn = [0.0, 0.0, 0.0]
    turn[axis] = (x, y, z)[axis]
    return turn[0], turn[1], turn[2]


def draw_panels(rng: Stream) -> list[Solid]:
    """Draw six boxes that enclose a hollow box."""
    inner = [float(rng.between(4, 16)) for _ in range(3)]
    thickness = [float(rng.between(1, 3)) for _ in range(3)]
    middle = [float(rng.between(-5, 5)) for _ in range(3)]
    order = [0, 1, 2]
    rng.shuffle(order)
    panels: list[Solid] = []
    for rank, axis in enumerate(order):
        # The first panels cover the edges of the hollow; later ones fit between them.
        size = [inner[k] + 2 * thickness[k] for k in range(3)]
        for earlier in order[:rank]:
            size[earlier] = inner[earlier]
        size[axis] = thickness[axis]
        for sign in (-1, 1):
            centre = list(middle)
            centre[axis] += sign * (inner[axis] + thickness[axis]) / 2
            panels.append(Box(kind="box", size=tuple(size), translation=tuple(centre)))
    rng.shuffle(panels)
    return panels
