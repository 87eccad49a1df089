"""Scenes as still pictures: painted in pixels, with their labels as text on top.

The background is transparent. Colours are readable on white and on black, unless the page is known
to be light or dark.
"""

import numpy as np

from scbench.report.draw.camera import Camera, camera_of
from scbench.report.draw.canvas import pixel_canvas
from scbench.report.draw.colours import ROLES, rgb_of
from scbench.report.draw.labels import labels_of
from scbench.report.draw.painter import Floats, Triangles, paint
from scbench.report.draw.png import few_colours
from scbench.report.draw.scene import Lines, Mesh, Scene
from scbench.report.draw.strokes import strokes_of

# Maximum number of triangles painted, including those of edges, lines and dots.
MOST_TRIANGLES = 400_000
# Image pixels per page pixel, in each direction; low, because a report has hundreds of images.
_DENSITY = 1.5
# Each pixel is the mean of `_SMOOTH` times `_SMOOTH` painted ones, to smooth edges.
_SMOOTH = 2
# Steps of opacity and of brightness: fewer colours make smaller files.
_OPACITIES = 15
_SHADES = 20
# Brightness of a face turned away from the light, and of one turned towards it.
_DARKEST = 0.66
_BRIGHTEST = 1.1
# Direction to the light, over the viewer's left shoulder: x points right, y down, and z to the eye.
# The length is about 1.
_LIGHT = np.array([-0.4, -0.65, 0.65])
# How dark the edges of a mesh are, compared with its faces.
_EDGE = 0.5
# How strongly lines and dots shine through the faces that hide them, except for grey roles.
_GLOW = 0.3
_NO_GLOW_ROLES = ("ink", "quiet", "faint", "given")
# Replacements for light-mode colours that are readable on only one of white and black.
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
        scene: the scene.
        label: description of the picture.
        width: in pixels of the page.
        height: in pixels of the page.
        dark: whether colours are for a dark or a light page; None for both.
        density: image pixels per page pixel, in each direction.
    """
    camera = camera_of(scene, width, height)
    size = (width, height)
    drawing = pixel_canvas(width, height, margin=0)
    png = few_colours(scene_pixels(scene, camera, density, dark))
    drawing.image((0, 0), size, png)
    for text in labels_of(scene, camera):
        place = (text.x, text.y)
        drawing.text(place, text.words, text.role, size=text.size, anchor=text.anchor)
    return drawing.render(label)


def scene_pixels(
    scene: Scene, camera: Camera, density: float, dark: bool | None
) -> Floats:
    """Return a scene without its labels: red, green, blue and opacity, 0 to 255, (h, w, 4)."""
    width = round(camera.width * density)
    height = round(camera.height * density)
    triangles = scene_triangles(scene, camera, density * _SMOOTH, dark)
    fine = paint(triangles, width * _SMOOTH, height * _SMOOTH)
    # The mean of each block of `_SMOOTH` times `_SMOOTH` pixels.
    image = fine.reshape(height, _SMOOTH, width, _SMOOTH, 4).mean(axis=(1, 3))
    opacity = np.round(image[..., 3:] * _OPACITIES) / _OPACITIES
    # `paint` returns colours multiplied by their opacity, as it was before rounding.
    colours = image[..., :3] / np.maximum(image[..., 3:], 1e-6)
    pixels = np.round(np.concatenate([colours, opacity], axis=2) * 255)
    return np.where(opacity == 0, 0, np.clip(pixels, 0, 255))


def scene_triangles(
    scene: Scene, camera: Camera, zoom: float, dark: bool | None
) -> Triangles:
    """Return everything as triangles: faces, then edges, then lines and dots.

    The order matters at equal depth, where the last triangle shows.
    """
    # An empty first batch, so that a scene without parts can be concatenated.
    batches = [flat_triangles(np.zeros((0, 3, 3)), colour_of("ink", dark))]
    meshes = [part for part in scene.parts if isinstance(part, Mesh)]
    for mesh in meshes:
        corners = camera.project(mesh.points)[mesh.faces]
        colours = face_colours(corners, colour_of(mesh.role, dark))
        opacity = np.full(len(corners), min(max(mesh.opacity, 0.0), 1.0))
        glow = np.zeros(len(corners))
        batches.append(Triangles(corners * zoom, colours, opacity, glow))
    for mesh in meshes:
        if mesh.outline:
            edges = strokes_of(Lines(mesh.outline, mesh.role, 1.0), camera)
            colour = colour_of(mesh.role, dark) * _EDGE
            batches.append(flat_triangles(edges * zoom, colour))
    for part in (*scene.parts, *camera.axes):
        if not isinstance(part, Mesh):
            strokes = strokes_of(part, camera) * zoom
            glow_opacity = 0.0 if part.role in _NO_GLOW_ROLES else _GLOW
            colour = colour_of(part.role, dark)
            batches.append(flat_triangles(strokes, colour, glow_opacity))
    # If there are too many triangles, the last are dropped: lines and dots first.
    return Triangles(
        np.concatenate([batch.corners for batch in batches])[:MOST_TRIANGLES],
        np.concatenate([batch.colours for batch in batches])[:MOST_TRIANGLES],
        np.concatenate([batch.opacity for batch in batches])[:MOST_TRIANGLES],
        np.concatenate([batch.glow for batch in batches])[:MOST_TRIANGLES],
    )


def flat_triangles(corners: Floats, colour: Floats, glow: float = 0.0) -> Triangles:
    """Return solid triangles of one colour."""
    count = len(corners)
    colours = np.broadcast_to(colour, (count, 3))
    return Triangles(corners, colours, np.ones(count), np.full(count, glow))


def colour_of(role: str, dark: bool | None) -> Floats:
    """Return the red, green and blue of a role, from 0 to 1."""
    light_code, dark_code = ROLES[role]
    code = dark_code if dark else light_code
    if dark is None:
        code = _ON_ANY_PAPER.get(role, light_code)
    return np.array(rgb_of(code)) / 255


def face_colours(corners: Floats, colour: Floats) -> Floats:
    """Return a colour for each face by its angle to the light, shape (n, 3).

    Args:
        corners: corners of the faces on the screen, shape (n, 3, 3).
        colour: red, green and blue of the mesh, shape (3,).
    """
    first = corners[:, 0]
    normal = np.cross(corners[:, 1] - first, corners[:, 2] - first)
    # Faces are lit from both sides: an answer's mesh may be open or inside out.
    normal *= np.where(normal[:, 2] < 0, -1.0, 1.0)[:, None]
    length = np.sqrt(np.sum(normal**2, axis=1))
    cosine = (normal @ _LIGHT) / np.maximum(length, 1e-12)
    brightness = _DARKEST + (_BRIGHTEST - _DARKEST) * np.clip(cosine, 0, 1)
    brightness = np.round(brightness * _SHADES) / _SHADES
    dimmed = colour * np.minimum(brightness, 1)[:, None]
    # Above a brightness of 1, colours are mixed with white: a fifth of it at `_BRIGHTEST`, so that
    # the difference is visible.
    excess = np.maximum(brightness - 1, 0)[:, None]
    bright: Floats = dimmed + (1 - dimmed) * excess * 2
    return bright
