"""Chosen cells in their cube, and the three shadows they must fill, holes marked in both."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from scbench.graders.voxel_grid_projection import forbidden
from scbench.report.draw.scene import Lines, Marks, Mesh, Scene, Shape, wire
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.draw.voxels import voxels
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts
from scbench.schemas.voxel_grid_projection import Answer, Params

# Entries looked at of a longer list.
_READ = 50_000
# Cells drawn in three dimensions, each of up to twelve triangles.
_SOLID = 1_600
_OUTSIDE = 50
# More holes in a shadow are neither ringed nor shown as lines through the cube.
_MOST_HOLES = 12

# Colours from the lowest quarter of the cube to the highest.
_BANDS = ("answer", "water", "given", "faint")

# Check, the axes of a shadow, to the right and upwards, and the axis it falls along.
_VIEWS = (
    ("projection_xy", 0, 1, 2),
    ("projection_xz", 0, 2, 1),
    ("projection_yz", 1, 2, 0),
)

Cell = tuple[int, int, int]


class _Cells(NamedTuple):
    """The entries of an answer, as far as they are read."""

    inside: Counter[Cell]
    outside: list[tuple[float, ...]]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the cube and its shadows; with an answer its cells, holes and what else is wrong."""
    cells = _Cells(Counter(), []) if answer is None else _answered_cells(params, answer)
    legend: Legend = []
    scene = _scene(params, cells, answer is not None, verdicts, legend)
    shadows = _shadow_drawing(params, cells, answer is not None, verdicts)
    legend.append(("missing", "not covered by any cell"))
    caption = _caption(params, answer, verdicts)
    if len(cells.inside) > _SOLID:
        caption += f" The cube shows {_SOLID} of {len(cells.inside)} cells."
    if answer is not None and len(answer.voxels) > _READ:
        caption += f" Only the first {_READ} of {len(answer.voxels)} entries are drawn."
    panels = [
        Panel("the cube", scene, f"A cube of {params.size} cells a side. {caption}"),
        Panel("its three shadows", shadows, f"Shadows along z, y and x. {caption}"),
    ]
    count = verdicts.check("count")
    if count is not None and answer is not None:
        gauge = Gauge(
            "cells listed", len(answer.voxels), params.cells, count.passed, "exactly"
        )
        panels += gauge_panels([gauge])
    text = None if answer is None else _text(params, cells)
    return Picture(tuple(panels), caption, tuple(legend), text)


def _answered_cells(params: Params, answer: Answer) -> _Cells:
    inside: Counter[Cell] = Counter()
    outside: list[tuple[float, ...]] = []
    n = params.size
    for voxel in answer.voxels[:_READ]:
        x, y, z = voxel.xyz
        if max(abs(x), abs(y), abs(z)) < 2 * n:
            cell = (round(x), round(y), round(z))
            close = max(abs(x - cell[0]), abs(y - cell[1]), abs(z - cell[2])) < 1e-6
            if close and min(cell) >= 0 and max(cell) < n:
                inside[cell] += 1
                continue
        outside.append(voxel.xyz)
    return _Cells(inside, outside)


def _mask(n: int, cells: Iterable[Sequence[int]]) -> np.ndarray:
    mask = np.zeros((n, n, n), bool)
    for x, y, z in cells:
        mask[x, y, z] = True
    return mask


def _scene(
    params: Params, cells: _Cells, answered: bool, verdicts: Verdicts, legend: Legend
) -> Scene:
    n = params.size
    failed = verdicts.failures
    parts: list[Shape] = [wire((0, 0, 0), (n, n, n), "quiet")]
    if not answered:
        sums, barred = forbidden(params)
        shut = np.isin(np.indices((n, n, n)).sum(axis=0), sorted(sums)) | _mask(
            n, barred
        )
        if shut.any():
            parts.append(
                voxels(shut, "wrong", opacity=0.25, name="forbidden cells", seams=True)
            )
            legend.append(("wrong", "forbidden cells"))
    solid = list(cells.inside)[:_SOLID]
    every = _mask(n, solid)
    wrong = _mask(n, failed.get("permitted", ())) & every
    twice = _mask(n, failed.get("repeats", ())) & every & ~wrong
    apart = _mask(n, failed.get("connected", ())) & every & ~wrong & ~twice
    heights = np.indices((n, n, n))[2] * len(_BANDS) // n
    plain = every & ~(wrong | twice | apart)
    marked = {
        "wrong": (wrong, "a forbidden cell", "✗"),
        "note": (twice, "listed more than once", "!"),
        "target": (apart, "apart from the first cell", "!"),
    }
    masks = [(plain & (heights == i), role) for i, role in enumerate(_BANDS)]
    masks += [(mask, role) for role, (mask, *_) in marked.items()]
    for mask, role in masks:
        if mask.any():
            parts.append(voxels(mask, role, neighbours=every, seams=True))
    if plain.any():
        legend.append(("answer", "chosen cells, in four colours by height"))
    for role, (mask, words, sign) in marked.items():
        if mask.any():
            legend.append((role, words))
            middles = np.argwhere(mask).astype(np.float64) + 0.5
            parts.append(Marks(middles, role, 0, (sign,) * len(middles), name=words))
    parts += _holes(n, verdicts)
    if cells.outside and verdicts.failed("cells"):
        points = [
            [min(max(v, -2), n + 1) + 0.5 for v in xyz]
            for xyz in cells.outside[:_OUTSIDE]
        ]
        parts.append(
            Marks(np.array(points, dtype=np.float64), "wrong", 9, name="no cell")
        )
        legend.append(("wrong", "entries that are no cells of the cube"))
    for name in _plainest(failed.get("no_symmetry", ())):
        plane = _mirror(n, name)
        if plane is not None:
            parts.append(plane)
            legend.append(("target", "a mirror that changes nothing"))
    return Scene(tuple(parts), azimuth=-60, elevation=25)


def _holes(n: int, verdicts: Verdicts) -> list[Shape]:
    paths = []
    for check_id, i, j, along in _VIEWS:
        holes = verdicts.failures.get(check_id, ())
        for hole in holes if len(holes) <= _MOST_HOLES else ():
            ends = np.zeros((2, 3))
            ends[:, i], ends[:, j] = hole[0] + 0.5, hole[1] + 0.5
            ends[:, along] = (-0.5, n + 0.5)
            paths.append(ends)
    if not paths:
        return []
    return [
        Lines(tuple(paths), "missing", 3, dashed=True, name="lines that meet no cell")
    ]


def _matrix(name: str) -> np.ndarray | None:
    """Return a symmetry as a matrix; None if it is not named as the grader names them."""
    terms = name.partition("-> (")[2].rstrip(")").split(", ")
    if len(terms) != 3 or {term[-1:] for term in terms} != set("xyz"):
        return None
    return np.array(
        [[(axis == t[-1]) * (-1 if "-" in t else 1) for axis in "xyz"] for t in terms]
    )


def _mirror(n: int, name: str) -> Mesh | None:
    """Return the plane of a reflection; None for rotations."""
    matrix = _matrix(name)
    if matrix is None or matrix.trace() != 1 or round(np.linalg.det(matrix)) != -1:
        return None
    rows = np.identity(3, int) - matrix
    normal = rows[np.abs(rows).sum(axis=1).argmax()]
    normal = normal // max(1, np.abs(normal).max())
    middle, half = n / 2, n / 2 + 0.6
    fixed = np.nonzero(normal == 0)[0]
    if len(fixed) == 2:
        spans = np.identity(3)[fixed]
    else:
        across = np.zeros(3)
        (a, b) = np.nonzero(normal)[0]
        across[a], across[b] = normal[b], -normal[a]
        spans = np.stack([across, np.identity(3)[fixed[0]]])
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    points = middle + half * signs @ spans
    faces = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int64)
    outline = (np.vstack([points, points[:1]]),)
    return Mesh(points, faces, "target", 0.4, "mirror", outline)


def _shadow_drawing(
    params: Params, cells: _Cells, answered: bool, verdicts: Verdicts
) -> Drawing:
    n = params.size
    pitch = n * 1.3
    drawing = Drawing((0, -0.12 * n, 2 * pitch + n, n * 1.15), size=680, margin=12)
    for k, (check_id, i, j, along) in enumerate(_VIEWS):
        left_edge = k * pitch
        counts = Counter((cell[i], cell[j]) for cell in cells.inside)
        highest = max(counts.values(), default=1)
        for level in range(1, 6):
            at_level = [
                (left_edge + a, b)
                for (a, b), count in counts.items()
                if -(-5 * count // highest) == level
            ]
            drawing.tiles(at_level, "answer", opacity=0.25 + 0.1 * level)
        lines = [[(left_edge + c, 0), (left_edge + c, n)] for c in range(n + 1)]
        lines += [[(left_edge, c), (left_edge + n, c)] for c in range(n + 1)]
        drawing.strokes(lines, "faint", width=0.7)
        title = f"along {'xyz'[along]}"
        role = "ink"
        if answered and verdicts.failed(check_id):
            holes = [(a, b) for a in range(n) for b in range(n) if (a, b) not in counts]
            drawing.tiles(
                [(left_edge + a, b) for a, b in holes], "missing", hatched=True
            )
            offenders = verdicts.failures.get(check_id, ())
            for a, b in offenders if len(offenders) <= _MOST_HOLES else ():
                radius = max(0.75 * drawing.scale, 6)
                tip = f"no cell at {'xyz'[i]} = {a}, {'xyz'[j]} = {b}"
                drawing.ring(
                    (left_edge + a + 0.5, b + 0.5), "missing", radius=radius, tip=tip
                )
            count = verdicts.details(check_id).get("count", len(holes))
            title += f": {count} hole{'s' * (count != 1)}"
            role = "wrong"
        elif answered and verdicts.passed(check_id):
            title += ": full"
            role = "right"
        edge = rectangle((left_edge, 0), (left_edge + n, n))
        drawing.line(edge, role, closed=True, width=2)
        middle = left_edge + n / 2
        drawing.text((middle, n), title, role, size=13, bold=answered, shift=(0, -12))
        drawing.text((middle, 0), f"{'xyz'[i]} →", "quiet", size=11, shift=(0, 12))
        words = f"{'xyz'[j]} ↑"
        drawing.text(
            (left_edge, n), words, "quiet", size=11, anchor="start", shift=(0, -12)
        )
    return drawing


def _plainest(names: Sequence[str]) -> Sequence[str]:
    """Return the one symmetry that is easiest to see; none of none."""
    return sorted(names, key=lambda name: _in_words(name).startswith("mapped"))[:1]


def _in_words(name: str) -> str:
    matrix = _matrix(name)
    plain = texts("voxel_grid_projection.symmetries")
    return (
        name if matrix is None else plain.get(str(matrix.tolist()), f"mapped by {name}")
    )


def _caption(params: Params, answer: Answer | None, verdicts: Verdicts) -> str:
    n = params.size
    if answer is None:
        task_words = (
            f"{params.cells} of {n} x {n} x {n} cells are to fill all three shadows"
        )
        missing = "There are no cells to draw. " if verdicts else ""
        return f"{missing}{task_words}, without any symmetry."
    parts = []
    entries = len(answer.voxels)
    if verdicts.failed("count"):
        parts.append(f"{entries} cells are listed instead of {params.cells}")
    parts += verdicts.faults(texts("voxel_grid_projection.faults"))
    holes = sum(verdicts.fault_count(view[0]) for view in _VIEWS)
    if holes:
        parts.append(f"the shadows have {holes} hole{'s' * (holes != 1)}")
    for name in _plainest(verdicts.failures.get("no_symmetry", ())):
        parts.append(f"{_in_words(name)}, the set is the same")
    if verdicts.failed("resource_limit"):
        parts.append("the list is far too long to be judged")
    score = f" {verdicts.fraction.capitalize()}." if verdicts else ""
    if not parts:
        praise = ", all shadows full and no symmetry" if verdicts else ""
        return f"{entries} cells{praise}.{score}"
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}.{score}"


def _text(params: Params, cells: _Cells) -> str:
    """Return the three shadows side by side, the first row with the highest coordinate."""
    n = params.size
    width = max(n, 12)
    titles = [f"{'xyz'[i]} right, {'xyz'[j]} up" for _, i, j, _ in _VIEWS]
    shadows = [{(cell[i], cell[j]) for cell in cells.inside} for _, i, j, _ in _VIEWS]
    lines = ["  ".join(f"{title:<{width}}" for title in titles)]
    for b in range(n - 1, -1, -1):
        rows = [
            "".join("#" if (a, b) in view else "o" for a in range(n))
            for view in shadows
        ]
        lines.append("  ".join(f"{row:<{width}}" for row in rows))
    return "\n".join([*(line.rstrip() for line in lines), "", "# covered, o a hole"])
