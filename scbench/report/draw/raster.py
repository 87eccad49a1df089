"""Scenes as still pictures: painted in pixels, with their labels as text on top.

The eye is infinitely far away, so parallel edges stay parallel and lengths along one direction can
be compared. The background is transparent, and colours are readable on white and on black.
"""

from typing import NamedTuple

import numpy as np

from scbench.report.draw.camera import Camera, Strokes, camera_of, labels_of, strokes_of
from scbench.report.draw.colours import ROLES
from scbench.report.draw.png import few_colours
from scbench.report.draw.scene import Lines, Mesh, Scene
from scbench.report.draw.svg import Drawing
from scbench.report.draw.zbuffer import Floats, Triangles, paint

MOST_TRIANGLES = 400_000
"""More, edges and dots counted, are not painted."""

_SHADES = 20
_DARKEST = 0.66
_EDGE = 0.5
"""How dark the edges of a mesh are, compared with its faces."""
_GLOW = 0.3
"""How strongly lines and dots shine through what hides them, but for plain ones."""
_QUIET = ("ink", "quiet", "faint", "given")
_SMOOTH = 2
"""Pixels are the mean of so many times so many."""
_DENSITY = 1.5
"""Pixels of the image for a pixel of the page, of which a report has hundreds."""
_ON_ANY_PAPER = {"ink": "#6b7076", "paper": "#ffffff", "faint": "#b3b8be"}


def scene_svg(
    scene: Scene,
    label: str,
    *,
    width: float = 360,
    height: float = 300,
    dark: bool | None = None,
    density: float = _DENSITY,
) -> str:
    """Return a scene as an SVG element: an image, and text over it.

    Args:
        scene: what to show.
        label: what it shows, for people who cannot see it.
        width: in pixels of the page.
        height: in pixels of the page.
        dark: the colours of the image; None for ones that are readable on white and on black.
        density: pixels of the image for a pixel of the page.
    """
    camera = camera_of(scene, width, height)
    size = (camera.width, camera.height)
    drawing = Drawing((0, 0, *size), size=max(size), up=False, margin=0)
    drawing.image((0, 0), size, few_colours(scene_pixels(scene, camera, density, dark)))
    for text in labels_of(scene, camera):
        place = (text.x, text.y)
        drawing.text(place, text.words, text.role, size=text.size, anchor=text.anchor)
    return drawing.render(label)


def scene_pixels(scene: Scene, camera: Camera, density: float, dark: bool | None) -> Floats:
    """Return a scene without its labels: red, green, blue and opacity, 0 to 255, (h, w, 4)."""
    width, height = round(camera.width * density), round(camera.height * density)
    triangles = _triangles(scene, camera, density * _SMOOTH, dark)
    fine = paint(triangles, width * _SMOOTH, height * _SMOOTH)
    image = fine.reshape(height, _SMOOTH, width, _SMOOTH, 4).mean(axis=(1, 3))
    # Colours come multiplied by their opacity.
    opacity = np.round(image[..., 3:] * 15) / 15
    plain = image[..., :3] / np.maximum(image[..., 3:], 1e-6)
    pixels = np.round(np.concatenate([plain, opacity], axis=2) * 255)
    return np.where(opacity == 0, 0, np.clip(pixels, 0, 255))


class _Batch(NamedTuple):
    corners: Floats
    colour: Floats
    opacity: float
    glow: float


def _triangles(scene: Scene, camera: Camera, zoom: float, dark: bool | None) -> Triangles:
    """Return everything as triangles: faces, then edges, then lines and dots, which stay on top."""
    batches: list[_Batch] = []
    meshes = [part for part in scene.parts if isinstance(part, Mesh)]
    for mesh in meshes:
        corners = camera.project(mesh.points)[mesh.faces] * zoom
        colour = _shaded(camera, mesh, _colour(mesh.role, dark))
        batches.append(_Batch(corners, colour, min(max(mesh.opacity, 0.0), 1.0), 0.0))
    for mesh in meshes:
        if mesh.outline:
            edges = Lines(mesh.outline, mesh.role, 1.0)
            batches.append(_flat(strokes_of(edges, camera), zoom, mesh.role, dark, _EDGE))
    for part in (*scene.parts, *camera.axes):
        if not isinstance(part, Mesh):
            glow = 0.0 if part.role in _QUIET else _GLOW
            batches.append(_flat(strokes_of(part, camera), zoom, part.role, dark, 1.0, glow))
    count = np.array([len(batch.corners) for batch in batches], dtype=np.int64)
    within_limit = slice(0, MOST_TRIANGLES)
    return Triangles(
        np.concatenate([np.zeros((0, 3, 3)), *(batch.corners for batch in batches)])[within_limit],
        np.concatenate([np.zeros((0, 3)), *(batch.colour for batch in batches)])[within_limit],
        np.repeat(np.array([batch.opacity for batch in batches]), count)[within_limit],
        np.repeat(np.array([batch.glow for batch in batches]), count)[within_limit],
    )


def _flat(
    strokes: Strokes, zoom: float, role: str, dark: bool | None, shade: float, glow: float = 0.0
) -> _Batch:
    colour = np.broadcast_to(_colour(role, dark) * shade, (len(strokes), 3))
    return _Batch(strokes * zoom, colour, 1.0, glow)


def _colour(role: str, dark: bool | None) -> Floats:
    code = ROLES[role][bool(dark)] if dark is not None else _ON_ANY_PAPER.get(role, ROLES[role][0])
    return np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def _shaded(camera: Camera, mesh: Mesh, colour: Floats) -> Floats:
    """Return a colour for each face, by how it lies to a light over the eye's left shoulder."""
    a, b, c = (camera.project(mesh.points)[mesh.faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    # Faces are lit from both sides: an answer's mesh may be open or inside out.
    normal *= np.where(normal[:, 2] < 0, -1.0, 1.0)[:, None]
    length = np.sqrt(np.sum(normal**2, axis=1))
    light = np.array([-0.4, -0.65, 0.65])
    lit = (normal @ light) / np.maximum(length, 1e-12)
    share = _DARKEST + (1.1 - _DARKEST) * np.clip(lit, 0, 1)
    share = np.round(share * _SHADES) / _SHADES
    dimmed = colour * np.minimum(share, 1)[:, None]
    bright: Floats = dimmed + (1 - dimmed) * np.maximum(share - 1, 0)[:, None] * 2
    return bright
