"""Parts of a picture in three dimensions: plain data, for a viewer or a still image.

z points up. Nothing is graded here: red marks the errors that the verdict found.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Faces = npt.NDArray[np.int64]
XYZ = Sequence[float]

# Corners of the unit cube: x changes first, z last.
CUBE_CORNERS = np.array(
    [[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=np.float64
)
# Two triangles for each side of the cube, counter-clockwise as seen from outside.
_CUBE_FACES = np.array(
    [
        (0, 2, 1),
        (1, 2, 3),
        (4, 5, 6),
        (5, 7, 6),
        (0, 1, 4),
        (1, 5, 4),
        (2, 6, 3),
        (3, 6, 7),
        (0, 4, 2),
        (2, 4, 6),
        (1, 3, 5),
        (3, 7, 5),
    ],
    dtype=np.int64,
)
# Polylines along its twelve edges.
_CUBE_EDGES = ((0, 1, 3, 2, 0), (4, 5, 7, 6, 4), (0, 4), (1, 5), (2, 6), (3, 7))
# Coordinates beyond this are clipped.
_FARTHEST = 1e9


@dataclass(frozen=True, slots=True)
class Mesh:
    """Triangles of one colour.

    Attributes:
        points: corners, shape (n, 3).
        faces: three indices into `points` for each triangle, shape (m, 3).
        role: role of the colour, see `scbench.report.draw.colours`.
        opacity: 1 is solid.
        name: for the legend and for labels; empty for none.
        outline: polylines on the mesh, such as the edges of boxes; each of shape (k, 3).
    """

    points: Points
    faces: Faces
    role: str
    opacity: float = 1.0
    name: str = ""
    outline: tuple[Points, ...] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    """Polylines of one colour.

    Attributes:
        paths: each of shape (k, 3).
        role: role of the colour.
        width: in pixels.
        dashed: whether they are dashed.
        name: for the legend.
    """

    paths: tuple[Points, ...]
    role: str
    width: float = 2.0
    dashed: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """Dots, each with a label or none.

    Attributes:
        points: shape (n, 3).
        role: role of the colour.
        size: diameter in pixels; 0 for labels alone.
        labels: one for each point, or none at all.
        name: for the legend.
    """

    points: Points
    role: str
    size: float = 6.0
    labels: tuple[str, ...] = ()
    name: str = ""


Shape = Mesh | Lines | Marks


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture in three dimensions.

    Attributes:
        parts: meshes, lines and marks.
        azimuth: direction of the eye at first, in degrees from the x axis towards the y axis.
        elevation: elevation of the eye at first, in degrees above the horizon.
        grid: lowest and highest corner of the axes box; None for no box.
    """

    parts: tuple[Shape, ...]
    azimuth: float = -60.0
    elevation: float = 25.0
    grid: tuple[XYZ, XYZ] | None = None


def boxes(
    corners: Iterable[tuple[XYZ, XYZ]],
    role: str,
    *,
    opacity: float = 1.0,
    name: str = "",
    edges: bool = True,
) -> Mesh:
    """Return boxes along the axes, by their lowest and highest corners, as one mesh."""
    pairs = np.array(list(corners), dtype=np.float64).reshape(-1, 2, 3)
    low = pairs[:, 0]
    size = pairs[:, 1] - low
    points = low[:, None, :] + CUBE_CORNERS[None] * size[:, None, :]
    outline: tuple[Points, ...] = ()
    if edges:
        outline = edges_of(points, _CUBE_EDGES)
    faces = faces_of_all(_CUBE_FACES, points)
    return Mesh(points.reshape(-1, 3), faces, role, opacity, name, outline)


def faces_of_all(faces: Faces, solids: Points) -> Faces:
    """Return the faces of solids (n, k, 3) that all have the same faces (m, 3), as for one mesh."""
    count, corners, _ = solids.shape
    first_corners = corners * np.arange(count)[:, None, None]
    numbers: Faces = (faces + first_corners).reshape(-1, 3)
    return numbers


def edges_of(solids: Points, edges: Iterable[Sequence[int]]) -> tuple[Points, ...]:
    """Return the edges of solids (n, k, 3), solid by solid, from the numbers of their corners."""
    lines: list[Points] = []
    for corners in solids:
        lines += [corners[list(edge)] for edge in edges]
    return tuple(lines)


def wire(
    low: XYZ, high: XYZ, role: str, *, width: float = 1.0, name: str = ""
) -> Lines:
    """Return the twelve edges of a box as lines."""
    return Lines(boxes([(low, high)], role).outline, role, width, name=name)


def finite_points(points: Points) -> Points:
    """Return points with every coordinate finite and clipped: answers may contain anything."""
    return np.clip(np.nan_to_num(points, nan=0.0), -_FARTHEST, _FARTHEST)


def all_points(scene: Scene) -> Points:
    """Return all points in a scene, shape (n, 3), including the corners of its axes box."""
    points = [np.zeros((0, 3))]
    for part in scene.parts:
        if isinstance(part, Lines):
            points += part.paths
        else:
            points.append(part.points)
    if scene.grid:
        low, high = np.array(scene.grid, dtype=np.float64)
        points += [low[None], high[None], CUBE_CORNERS * (high - low) + low]
    return np.concatenate(points)
