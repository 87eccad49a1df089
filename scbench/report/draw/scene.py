"""What a picture in three dimensions is made of: plain data, shown by a viewer or an image.

z points up. Nothing here is judged: what is red was found wrong by a verdict.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Faces = npt.NDArray[np.int64]
XYZ = Sequence[float]


@dataclass(frozen=True, slots=True)
class Mesh:
    """Triangles of one colour.

    Attributes:
        points: corners, shape (n, 3).
        faces: three indices into `points` for each triangle, shape (m, 3).
        role: its colour, see `scbench.report.draw.colours`.
        opacity: 1 is solid.
        name: what it is, for the legend and for labels; empty for none.
        outline: polylines drawn on it, such as the edges of boxes; each of shape (k, 3).
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
        role: their colour.
        width: in pixels.
        dashed: whether they are dashed.
        name: what they are.
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
        role: their colour.
        size: diameter in pixels; 0 for labels alone.
        labels: one for each point, or none at all.
        name: what they are.
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
        parts: what is in it.
        azimuth: where the eye stands at first: degrees from the x axis towards the y axis.
        elevation: degrees above the horizon.
        grid: lowest and highest corner of the axes box, if it is to be drawn.
    """

    parts: tuple[Shape, ...]
    azimuth: float = -60.0
    elevation: float = 25.0
    grid: tuple[XYZ, XYZ] | None = None


_CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=np.float64)
_SIDES = np.array(
    [
        *((0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6)),
        *((0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7)),
        *((0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5)),
    ],
    dtype=np.int64,
)
_RIMS = ((0, 1, 3, 2, 0), (4, 5, 7, 6, 4), (0, 4), (1, 5), (2, 6), (3, 7))


def boxes(
    corners: Iterable[tuple[XYZ, XYZ]],
    role: str,
    *,
    opacity: float = 1.0,
    name: str = "",
    edges: bool = True,
) -> Mesh:
    """Return boxes with sides along the axes as one mesh.

    Args:
        corners: lowest and highest corner of each.
        role: their colour.
        opacity: 1 is solid.
        name: what they are.
        edges: whether their edges are drawn.
    """
    pairs = np.array([(low, high) for low, high in corners], dtype=np.float64).reshape(-1, 2, 3)
    low, size = pairs[:, 0], pairs[:, 1] - pairs[:, 0]
    points = low[:, None, :] + _CORNERS[None] * size[:, None, :]
    faces = _SIDES[None] + 8 * np.arange(len(pairs))[:, None, None]
    rims = tuple(box[list(rim)] for box in points for rim in _RIMS) if edges else ()
    return Mesh(points.reshape(-1, 3), faces.reshape(-1, 3), role, opacity, name, rims)


def wire(low: XYZ, high: XYZ, role: str, *, width: float = 1.0, name: str = "") -> Lines:
    """Return the twelve edges of a box as lines."""
    return Lines(boxes([(low, high)], role).outline, role, width, name=name)
