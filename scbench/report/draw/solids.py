"""Bodies for scenes: triangles, and those edges at which a surface bends."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import shapely
from manifold3d import Manifold
from shapely import Geometry, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from scbench.report.draw.colours import ROLES
from scbench.report.draw.scene import XYZ, Faces, Mesh, Points
from scbench.report.draw.svg import Drawing

# Cosine of the angle between faces that lie in one plane for the eye.
_ALIKE = 0.9999
# Areas are computed on a grid of this share of the thickness.
_GRID = 1e-3


# Triangles looked at for skins.
_MOST_COMPARED = 4000
FORMS = ("glb", "stl")
# z points up here, and y in glTF.
_UPRIGHT = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
# Areas, in square pixels, that are too small to be seen.
_SPECK = 0.05


class Surface(NamedTuple):
    """Triangles, and the outlines (k, 3) of the flat areas that they make."""

    points: Points
    faces: Faces
    outline: tuple[Points, ...]


class _Plane(NamedTuple):
    """A plane seen along the axis that it faces most, and triangles in it by the way they face."""

    normal: Points
    offset: float
    members: list[int]
    turned: list[int]

    @property
    def axis(self) -> int:
        return int(np.argmax(np.abs(self.normal)))

    @property
    def flat_axes(self) -> list[int]:
        return [i for i in range(3) if i != self.axis]

    @property
    def mirrored(self) -> bool:
        """Whether what goes round against the clock, so seen, faces away from the normal."""
        return bool((self.normal[self.axis] > 0) == (self.axis == 1))

    def lifted(self, view: Points) -> Points:
        """Return the points (k, 3) of the plane that are seen at these places (k, 2)."""
        points = np.zeros((len(view), 3))
        points[:, self.flat_axes] = view
        offset = self.offset - view @ self.normal[self.flat_axes]
        points[:, self.axis] = offset / self.normal[self.axis]
        return points


def without_skins(points: Points, faces: Faces, thickness: float) -> Surface:
    """Return a closed surface, points (n, 3) and faces (m, 3), without parts thinner than this.

    Triangles that are narrower are left out, too.
    """
    corners = points[faces]
    places: list[Points] = [np.zeros((0, 3))]
    outline: list[Points] = []
    for plane in _planes(corners, thickness):
        grid = _GRID * thickness
        facing, opposing = (
            _area(corners[side][..., plane.flat_axes], grid)
            for side in (plane.members, plane.turned)
        )
        for shape, turned in (
            (shapely.difference(facing, opposing, grid_size=grid), False),
            (shapely.difference(opposing, facing, grid_size=grid), True),
        ):
            for part in shapely.get_parts(shape):
                # What a line of this width could cover is left of a skin's rim.
                if (
                    not isinstance(part, Polygon)
                    or part.area <= thickness * part.length / 2
                ):
                    continue
                rings = (part.exterior, *part.interiors)
                outline.extend(plane.lifted(np.array(ring.coords)) for ring in rings)
                # Each has three corners, the first of them twice.
                pieces = shapely.get_parts(shapely.constrained_delaunay_triangles(part))
                flat = shapely.get_coordinates(pieces).reshape(-1, 4, 2)[:, :3]
                (ux, uy), (vx, vy) = (
                    (flat[:, 1] - flat[:, 0]).T,
                    (flat[:, 2] - flat[:, 0]).T,
                )
                against = (ux * vy > uy * vx) == (turned != plane.mirrored)
                flat[against] = flat[against, ::-1]
                places.append(plane.lifted(flat.reshape(-1, 2)))
    corners_left = np.concatenate(places)
    return Surface(
        corners_left, np.arange(len(corners_left)).reshape(-1, 3), tuple(outline)
    )


def _planes(corners: Points, thickness: float) -> list[_Plane]:
    """Return the planes of triangles, found from the largest ones; slivers have none."""
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double = np.sqrt(np.sum(cross**2, axis=1))
    longest = np.sqrt(np.sum((corners - np.roll(corners, 1, axis=1)) ** 2, axis=2)).max(
        axis=1
    )
    unit = cross / np.maximum(double, 1e-300)[:, None]
    planes: list[_Plane] = []
    normals, offsets = np.zeros((len(corners), 3)), np.zeros(len(corners))
    for i in np.argsort(-double, kind="stable").tolist():
        if double[i] < thickness * longest[i]:
            continue
        n = len(planes)
        alike = normals[:n] @ unit[i]
        apart = np.abs(corners[i] @ normals[:n].T - offsets[:n]).max(axis=0)
        same = np.flatnonzero((np.abs(alike) > _ALIKE) & (apart < thickness))
        if len(same):
            plane = planes[int(same[0])]
            (plane.members if alike[same[0]] > 0 else plane.turned).append(i)
            continue
        normals[n], offsets[n] = unit[i], unit[i] @ corners[i].mean(axis=0)
        planes.append(_Plane(unit[i], float(offsets[n]), [i], []))
    return planes


def _area(triangles: Points, grid: float) -> BaseGeometry:
    if not len(triangles):
        return Polygon()
    return shapely.union_all(shapely.polygons(triangles), grid_size=grid)


def body_mesh(
    body: Manifold,
    role: str,
    *,
    opacity: float = 1.0,
    name: str = "",
    thickness: float = 0.0,
) -> Mesh:
    """Return a body as a mesh with its edges, without skins that are thinner than ``thickness``."""
    mesh = body.to_mesh64()
    points = np.asarray(mesh.vert_properties, dtype=np.float64)[:, :3]
    faces = np.asarray(mesh.tri_verts).astype(np.int64)
    if thickness > 0 and len(faces) <= _MOST_COMPARED:
        bare = without_skins(points, faces, thickness)
        return Mesh(bare.points, bare.faces, role, opacity, name, bare.outline)
    return Mesh(points, faces, role, opacity, name, creases(points, faces))


def upright_prisms(
    plans: Points,
    low: Points,
    high: Points,
    role: str,
    *,
    opacity: float = 1.0,
    name: str = "",
) -> Mesh:
    """Return prisms over quadrangles (n, 4, 2), from z low (n,) to high (n,), as one mesh."""
    ends = [
        np.concatenate(
            [plans, np.broadcast_to(z[:, None, None], (len(plans), 4, 1))], axis=2
        )
        for z in (low, high)
    ]
    points = np.concatenate(ends, axis=1)
    sides = [
        ((k, (k + 1) % 4, 4 + k), ((k + 1) % 4, 4 + (k + 1) % 4, 4 + k))
        for k in range(4)
    ]
    faces = np.array(
        [
            (0, 2, 1),
            (0, 3, 2),
            (4, 5, 6),
            (4, 6, 7),
            *(f for side in sides for f in side),
        ]
    )
    all_faces = faces[None] + 8 * np.arange(len(plans))[:, None, None]
    rims = ((0, 1, 2, 3, 0), (4, 5, 6, 7, 4), (0, 4), (1, 5), (2, 6), (3, 7))
    outline = tuple(prism[list(rim)] for prism in points for rim in rims)
    return Mesh(
        points.reshape(-1, 3), all_faces.reshape(-1, 3), role, opacity, name, outline
    )


class _Edges(NamedTuple):
    """Edges of triangles, each once."""

    at: Faces
    """Indices of their ends, shape (k, 2)."""
    uses: npt.NDArray[np.int64]
    """On how many triangles each is."""
    owner: npt.NDArray[np.int64]
    """The first of these, and the second or again the first, shape (k, 2)."""


def _unique_edges(points: Points, faces: Faces) -> _Edges:
    # Vertices at one place are one: booleans and answers may have several there.
    _, same = np.unique(np.round(points, 9), axis=0, return_inverse=True)
    sides = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    ends = np.sort(same.ravel()[sides], axis=1)
    owner = np.repeat(np.arange(len(faces)), 3)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, sides, owner = ends[order], sides[order], owner[order]
    start = np.flatnonzero(np.r_[True, np.any(ends[1:] != ends[:-1], axis=1)])
    count = np.diff(np.r_[start, len(ends)])
    owners = np.stack([owner[start], owner[start + (count > 1)]], axis=1)
    proper = ends[start, 0] != ends[start, 1]
    return _Edges(sides[start][proper], count[proper], owners[proper])


def creases(points: Points, faces: Faces) -> tuple[Points, ...]:
    """Return edges (2, 3) of faces (m, 3) of points (n, 3) where a surface ends or bends."""
    if not len(faces):
        return ()
    edges = _unique_edges(points, faces)
    normal = _units(points, faces)
    bend = np.einsum("ij,ij->i", normal[edges.owner[:, 0]], normal[edges.owner[:, 1]])
    return tuple(points[edges.at[(edges.uses != 2) | (np.abs(bend) < _ALIKE)]])


def loose_edges(points: Points, faces: Faces) -> tuple[Points, ...]:
    """Return the edges (2, 3) that are not on two triangles."""
    if not len(faces):
        return ()
    edges = _unique_edges(points, faces)
    return tuple(points[edges.at[edges.uses != 2]])


def _units(points: Points, faces: Faces) -> Points:
    """Return the normals of triangles, scaled to length 1 or 0."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.sqrt(np.sum(normal**2, axis=1, keepdims=True))
    units: Points = normal / np.maximum(length, 1e-300)
    return units


def pulled_in(
    points: Points, low: XYZ | Points, high: XYZ | Points
) -> tuple[Points, npt.NDArray[np.bool_]]:
    """Return points moved into a box, and which of them were: answers may point anywhere."""
    inside: Points = np.clip(
        points, np.asarray(low, np.float64), np.asarray(high, np.float64)
    )
    return inside, np.any(inside != points, axis=-1)


def box_around(points: Points, times: float) -> tuple[Points, Points]:
    """Return the corners of the bounding box of points, grown by ``times`` longest sides."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = times * float(np.max(high - low))
    return low - margin, high + margin


def solid_file(meshes: Sequence[Mesh], form: str) -> bytes:
    """Return meshes, one at least, as a file: ``glb`` with colours and names, ``stl`` without.

    Raises:
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    trimesh: Any = import_module(
        "trimesh"
    )  # an extra, and large; half of it has no types
    bodies = [
        trimesh.Trimesh(mesh.points, mesh.faces, process=False, validate=False)
        for mesh in meshes
    ]
    if form == "stl":
        return bytes(trimesh.util.concatenate(bodies).export(file_type="stl"))
    scene = trimesh.Scene()
    for mesh, body in zip(meshes, bodies, strict=True):
        code = ROLES[mesh.role][0]
        rgba = [int(code[i : i + 2], 16) for i in (1, 3, 5)] + [
            round(255 * mesh.opacity)
        ]
        # Of corners, not faces: those would need scipy.
        colours = np.tile(np.array(rgba, dtype=np.uint8), (len(mesh.points), 1))
        body.visual = trimesh.visual.ColorVisuals(body, vertex_colors=colours)
        scene.add_geometry(body, geom_name=mesh.name or None)
    scene.apply_transform(_UPRIGHT)
    return bytes(scene.export(file_type="glb"))


def fill(
    drawing: Drawing,
    shape: Geometry,
    role: str,
    *,
    opacity: float = 1,
    hatched: bool = False,
) -> None:
    """Fill or hatch all polygons of a shape, in the task's coordinates; holes stay free."""
    for part in shapely.get_parts(shape):
        if isinstance(part, Polygon) and part.area * drawing.scale**2 > _SPECK:
            drawing.area(_without_holes(part), role, opacity=opacity, hatched=hatched)


def _without_holes(shape: Polygon) -> list[Sequence[float]]:
    """Return a polygon's outline, with its holes reached by cuts along which nothing shows.

    Holes run the other way round than the outline, so that any fill rule leaves them free.
    """
    turned = orient(shape)
    ring: list[Sequence[float]] = list(turned.exterior.coords)
    for hole in turned.interiors:
        ring = [ring[0], *hole.coords, *ring]
    return ring
