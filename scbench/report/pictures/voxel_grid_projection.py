"""Chosen cells in their cube and the three shadows they must fill, with holes marked."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scbench.base.wording import counted
from scbench.graders.voxel_grid_projection import find_forbidden
from scbench.report.draw.scene import Lines, Marks, Mesh, Scene, Shape, wire
from scbench.report.draw.svg import Drawing
from scbench.report.draw.voxels import voxels
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts
from scbench.schemas.voxel_grid_projection import Answer, Params

# Maximum number of entries read.
MOST_ENTRIES = 50_000
# Maximum number of cells drawn in 3D, each of up to twelve triangles.
MOST_SOLID = 1_600
# Maximum number of entries outside the cube drawn as dots around it.
MOST_OUTSIDE = 50
# Maximum number of holes in a shadow that are ringed and shown as lines through the
# cube.
MOST_HOLES = 12
# Colours from the lowest quarter of the cube to the highest.
BANDS = ("answer", "water", "given", "faint")
AXES = "xyz"
FAULTS = {
    "cells": "{n} entries are not cells of the cube|{n} entry is not a cell of the cube",
    "permitted": "{n} cells are forbidden|{n} cell is forbidden",
    "repeats": "{n} cells are listed more than once|{n} cell is listed more than once",
    "connected": "{n} cells are not connected|{n} cell is not connected",
}
# Symmetries that have a plain name, by the axes that x, y and z become.
SYMMETRIES = {
    "yxz": "x and y exchanged",
    "zyx": "x and z exchanged",
    "xzy": "y and z exchanged",
    "-xyz": "mirrored along x",
    "x-yz": "mirrored along y",
    "xy-z": "mirrored along z",
    "-x-y-z": "mirrored through the centre",
}

Cell = tuple[int, int, int]
Mask = npt.NDArray[np.bool_]
Matrix = npt.NDArray[np.int64]


class View(NamedTuple):
    """A shadow: its check, its axes to the right and upwards, and its direction."""

    check_id: str
    across: int
    up: int
    along: int


class Cells(NamedTuple):
    """The entries of an answer that are read: cells of the cube, and invalid entries."""

    inside: Counter[Cell]
    outside: list[tuple[float, ...]]


def views() -> tuple[View, ...]:
    """Return the three shadows of a cube."""
    return (
        View("projection_xy", 0, 1, 2),
        View("projection_xz", 0, 2, 1),
        View("projection_yz", 1, 2, 0),
    )


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the cube and its shadows; with an answer, also its cells, holes and other faults."""
    legend: Legend = []
    cells = Cells(Counter(), [])
    text = None
    parts: list[Shape] = [wire((0, 0, 0), (params.size,) * 3, "quiet")]
    if answer is None:
        parts += forbidden_cells(params, legend)
    else:
        cells = answered_cells(params, answer)
        text = text_view(params, cells)
        parts += solid_cells(params, cells, verdicts, legend)
        parts += hole_lines(params.size, verdicts)
        parts += outside_marks(params.size, cells, verdicts, legend)
        parts += mirror_planes(params.size, verdicts, legend)
    legend.append(("missing", "holes: not covered by any cell"))
    caption = picture_caption(params, answer, verdicts)
    if len(cells.inside) > MOST_SOLID:
        caption += f" The cube shows {MOST_SOLID} of {len(cells.inside)} cells."
    if answer is not None and len(answer.voxels) > MOST_ENTRIES:
        caption += (
            f" Only the first {MOST_ENTRIES} of {len(answer.voxels)} entries are drawn."
        )
    scene = Scene(tuple(parts), azimuth=-60, elevation=25)
    shadows = shadow_drawing(params.size, cells, answer is not None, verdicts)
    panels = [
        Panel(
            "the cube", scene, f"A cube with {params.size} cells per side. {caption}"
        ),
        Panel("its three shadows", shadows, f"Shadows along z, y and x. {caption}"),
    ]
    count = verdicts.check("count")
    if count is not None and answer is not None:
        entries = len(answer.voxels)
        passed = count.passed
        gauge = Gauge("cells listed", entries, params.cells, passed, "exactly")
        panels += gauge_panels([gauge])
    return Picture(tuple(panels), caption, tuple(legend), text)


def answered_cells(params: Params, answer: Answer) -> Cells:
    """Return the entries of an answer, sorted into cells and invalid entries."""
    n = params.size
    cells = Cells(Counter(), [])
    for voxel in answer.voxels[:MOST_ENTRIES]:
        x, y, z = voxel.xyz
        # Huge numbers are not rounded: some are too large to convert.
        if max(abs(x), abs(y), abs(z)) < 2 * n:
            cell = (round(x), round(y), round(z))
            close = max(abs(x - cell[0]), abs(y - cell[1]), abs(z - cell[2])) < 1e-6
            if close and min(cell) >= 0 and max(cell) < n:
                cells.inside[cell] += 1
                continue
        cells.outside.append(voxel.xyz)
    return cells


def mask_of(n: int, cells: Iterable[Sequence[int]]) -> Mask:
    """Return cells as a mask of the cube, indexed by x, y, z."""
    mask = np.zeros((n, n, n), bool)
    for x, y, z in cells:
        mask[x, y, z] = True
    return mask


def forbidden_cells(params: Params, legend: Legend) -> list[Shape]:
    """Return the forbidden cells; add them to the legend."""
    n = params.size
    sums, barred = find_forbidden(params)
    coordinate_sums = np.indices((n, n, n)).sum(axis=0)
    mask = np.isin(coordinate_sums, sorted(sums)) | mask_of(n, barred)
    if not mask.any():
        return []
    legend.append(("wrong", "forbidden cells"))
    return [voxels(mask, "wrong", opacity=0.25, name="forbidden cells", seams=True)]


def solid_cells(
    params: Params, cells: Cells, verdicts: Verdicts, legend: Legend
) -> list[Shape]:
    """Return the chosen cells, coloured by height or fault; add them to the legend."""
    n = params.size
    failed = verdicts.failures
    every = mask_of(n, list(cells.inside)[:MOST_SOLID])
    # Each cell gets the colour of its first fault.
    wrong = mask_of(n, failed.get("permitted", ())) & every
    twice = mask_of(n, failed.get("repeats", ())) & every & ~wrong
    apart = mask_of(n, failed.get("connected", ())) & every & ~wrong & ~twice
    plain = every & ~(wrong | twice | apart)
    heights = np.indices((n, n, n))[2] * len(BANDS) // n
    masks = [(plain & (heights == i), role) for i, role in enumerate(BANDS)]
    masks += [(wrong, "wrong"), (twice, "note"), (apart, "target")]
    parts: list[Shape] = [
        voxels(mask, role, neighbours=every, seams=True)
        for mask, role in masks
        if mask.any()
    ]
    if plain.any():
        legend.append(("answer", "chosen cells, in four colours by height"))
    for mask, role, words, sign in (
        (wrong, "wrong", "a forbidden cell", "✗"),
        (twice, "note", "listed more than once", "!"),
        (apart, "target", "not connected to the first cell", "!"),
    ):
        if mask.any():
            legend.append((role, words))
            middles = np.argwhere(mask).astype(np.float64) + 0.5
            parts.append(Marks(middles, role, 0, (sign,) * len(middles), name=words))
    return parts


def hole_lines(n: int, verdicts: Verdicts) -> list[Shape]:
    """Return a line through the cube for each hole in a shadow, unless there are many."""
    paths = []
    for view in views():
        for a, b in few_holes(view, verdicts):
            ends = np.zeros((2, 3))
            ends[:, view.across] = a + 0.5
            ends[:, view.up] = b + 0.5
            ends[:, view.along] = (-0.5, n + 0.5)
            paths.append(ends)
    if not paths:
        return []
    name = "lines that meet no cell"
    return [Lines(tuple(paths), "missing", 3, dashed=True, name=name)]


def few_holes(view: View, verdicts: Verdicts) -> Sequence[Sequence[int]]:
    """Return a verdict's holes in a shadow (across, up); none if there are many."""
    holes = verdicts.failures.get(view.check_id, ())
    return holes if len(holes) <= MOST_HOLES else ()


def outside_marks(
    n: int, cells: Cells, verdicts: Verdicts, legend: Legend
) -> list[Shape]:
    """Return dots around the cube for entries outside it; add them to the legend."""
    if not cells.outside or not verdicts.failed("cells"):
        return []
    legend.append(("wrong", "entries that are not cells of the cube"))
    points = []
    for place in cells.outside[:MOST_OUTSIDE]:
        # Far entries are drawn next to the cube.
        nearest = [min(max(value, -2), n + 1) for value in place]
        points.append([value + 0.5 for value in nearest])
    return [Marks(np.array(points, dtype=np.float64), "wrong", 9, name="no cell")]


def mirror_planes(n: int, verdicts: Verdicts, legend: Legend) -> list[Shape]:
    """Return the mirror plane of the simplest symmetry, if any; add it to the legend."""
    matrix = reflection_matrix(plainest_symmetry(verdicts))
    if matrix is None:
        return []
    legend.append(("target", "mirror plane of the set"))
    return [mirror_plane(n, matrix)]


def plainest_symmetry(verdicts: Verdicts) -> str:
    """Return the grader's name of the symmetry that is easiest to see; "" for none."""
    names = verdicts.failures.get("no_symmetry", ())
    for name in names:
        if not symmetry_words(name).startswith("mapped"):
            return str(name)
    return str(names[0]) if names else ""


def symmetry_words(name: str) -> str:
    """Return a symmetry in plain words, or else the grader's name."""
    images = axis_images(name)
    if images is None:
        return name
    return SYMMETRIES.get("".join(images), f"mapped by {name}")


def axis_images(name: str) -> list[str] | None:
    """Return the axes that x, y and z become; None if the name has another form.

    For example, ``(x, y, z) -> (7-y, x, z)`` in a cube with 8 cells per side gives -y, x,
    z.
    """
    terms = name.partition("-> (")[2].rstrip(")").split(", ")
    if len(terms) != 3 or {term[-1:] for term in terms} != set(AXES):
        return None
    images = [term[-1] for term in terms]
    for i, term in enumerate(terms):
        if "-" in term:
            images[i] = f"-{images[i]}"
    return images


def reflection_matrix(name: str) -> Matrix | None:
    """Return the matrix (3, 3) of a symmetry; None if it is not a reflection in a plane."""
    matrix = np.zeros((3, 3), int)
    for row, image in enumerate(axis_images(name) or ()):
        matrix[row, AXES.index(image[-1])] = -1 if "-" in image else 1
    # Reflections in a plane, and no other symmetries, have trace 1 and determinant -1.
    if matrix.trace() != 1 or round(np.linalg.det(matrix)) != -1:
        return None
    return matrix


def mirror_plane(n: int, matrix: Matrix) -> Mesh:
    """Return the plane of a reflection through the middle of the cube."""
    # The rows of I - M are multiples of the plane's normal.
    rows = np.identity(3, int) - matrix
    normal = rows[np.abs(rows).sum(axis=1).argmax()]
    normal = normal // max(1, np.abs(normal).max())
    along_plane = np.nonzero(normal == 0)[0]
    if len(along_plane) == 2:
        spans = np.identity(3)[along_plane]
    else:
        # A diagonal plane: one side of it runs along the only axis in it.
        diagonal = np.zeros(3)
        a, b = np.nonzero(normal)[0]
        diagonal[a] = normal[b]
        diagonal[b] = -normal[a]
        spans = np.stack([diagonal, np.identity(3)[along_plane[0]]])
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    middle = n / 2
    half = n / 2 + 0.6
    points = middle + half * signs @ spans
    faces = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int64)
    outline = (np.vstack([points, points[:1]]),)
    return Mesh(points, faces, "target", 0.4, "mirror", outline)


def shadow_drawing(n: int, cells: Cells, answered: bool, verdicts: Verdicts) -> Drawing:
    """Return the three shadows side by side."""
    pitch = n * 1.3
    drawing = Drawing((0, -0.12 * n, 2 * pitch + n, n * 1.15), size=680, margin=12)
    for k, view in enumerate(views()):
        x = k * pitch
        counts = Counter((cell[view.across], cell[view.up]) for cell in cells.inside)
        shade_counts(drawing, x, counts)
        upright = [[(x + c, 0), (x + c, n)] for c in range(n + 1)]
        level = [[(x, c), (x + n, c)] for c in range(n + 1)]
        drawing.strokes(upright + level, "faint", width=0.7)
        title = f"along {AXES[view.along]}"
        role = "ink"
        if answered and verdicts.failed(view.check_id):
            role = "wrong"
            hole_count = draw_holes(drawing, x, n, view, counts, verdicts)
            title += f": {counted(hole_count, 'hole')}"
        elif answered and verdicts.passed(view.check_id):
            role = "right"
            title += ": full"
        drawing.outline((x, 0), (x + n, n), role, width=2)
        middle = x + n / 2
        drawing.text((middle, n), title, role, size=13, bold=answered, shift=(0, -12))
        words = f"{AXES[view.across]} →"
        drawing.text((middle, 0), words, "quiet", size=11, shift=(0, 12))
        words = f"{AXES[view.up]} ↑"
        shift = (0, -12)
        drawing.text((x, n), words, "quiet", size=11, anchor="start", shift=shift)
    return drawing


def shade_counts(drawing: Drawing, x: float, counts: Counter[tuple[int, int]]) -> None:
    """Fill the places of a shadow that starts at x; more cells give a darker shade."""
    highest = max(counts.values(), default=1)
    for level in range(1, 6):
        places = []
        for (a, b), count in counts.items():
            # Rounded up, so that a single cell is visible.
            if -(-5 * count // highest) == level:
                places.append((x + a, b))
        drawing.tiles(places, "answer", opacity=0.25 + 0.1 * level)


def draw_holes(
    drawing: Drawing,
    x: float,
    n: int,
    view: View,
    counts: Counter[tuple[int, int]],
    verdicts: Verdicts,
) -> int:
    """Hatch the holes of a shadow that starts at x and ring a few; return their number."""
    holes = [(x + a, b) for a, b in np.ndindex(n, n) if (a, b) not in counts]
    drawing.tiles(holes, "missing", hatched=True)
    radius = max(0.75 * drawing.scale, 6)
    for a, b in few_holes(view, verdicts):
        tip = f"no cell at {AXES[view.across]} = {a}, {AXES[view.up]} = {b}"
        drawing.ring((x + a + 0.5, b + 0.5), "missing", radius=radius, tip=tip)
    count: int = verdicts.details(view.check_id).get("count", len(holes))
    return count


def picture_caption(params: Params, answer: Answer | None, verdicts: Verdicts) -> str:
    """Return the task in a sentence, or an answer's faults and score."""
    if answer is None:
        n = params.size
        start = "There are no cells to draw. " if verdicts else ""
        return (
            f"{start}Choose {params.cells} of {n} x {n} x {n} cells that fill all three shadows "
            "and have no symmetry."
        )
    entries = len(answer.voxels)
    if not verdicts:
        return f"{counted(entries, 'cell')}."
    text = "; ".join(faults_in_words(params, entries, verdicts))
    if not text:
        text = f"{counted(entries, 'cell')}, all shadows full, no symmetry"
    return f"{text[0].upper()}{text[1:]}. {verdicts.fraction.capitalize()}."


def faults_in_words(params: Params, entries: int, verdicts: Verdicts) -> Iterator[str]:
    """Yield the faults of an answer with this many entries."""
    if verdicts.failed("count"):
        yield f"{counted(entries, 'entry', 'entries')} instead of {params.cells}"
    yield from verdicts.faults(FAULTS)
    holes = sum(verdicts.fault_count(view.check_id) for view in views())
    if holes:
        yield f"the shadows have {counted(holes, 'hole')}"
    symmetry = plainest_symmetry(verdicts)
    if symmetry:
        yield f"the set has a symmetry: {symmetry_words(symmetry)}"
    if verdicts.failed("resource_limit"):
        yield "the list is too long to grade"


def text_view(params: Params, cells: Cells) -> str:
    """Return the three shadows side by side, the first row with the highest coordinate."""
    n = params.size
    width = max(n, 12)
    blocks = []
    for view in views():
        covered = {(cell[view.across], cell[view.up]) for cell in cells.inside}
        lines = [f"{AXES[view.across]} right, {AXES[view.up]} up"]
        for b in range(n - 1, -1, -1):
            signs = ["#" if (a, b) in covered else "o" for a in range(n)]
            lines.append("".join(signs))
        blocks.append(lines)
    rows = []
    for parts in zip(*blocks, strict=True):
        padded = [f"{part:<{width}}" for part in parts]
        rows.append("  ".join(padded).rstrip())
    return "\n".join([*rows, "", "# covered, o a hole"])
