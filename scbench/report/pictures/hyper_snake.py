"""A snake in a box, unfolded: how it winds, what stays empty, and its first illegal move."""

import math
from collections.abc import Iterator, Sequence
from itertools import compress, product
from operator import ne
from typing import NamedTuple

import numpy as np

from scbench.report.draw.scene import Lines, Marks, Points, Scene, Shape, boxes, wire
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts
from scbench.report.pictures.shared.path_text import joint
from scbench.schemas.hyper_snake import Answer, Params

MOST_CELLS = 8_000

# Boxes of more axes are laid out in turn; there are too many other ways.
_MOST_SEARCHED = 10

# Space between the parts of a level, in cells.
_GAPS = (0.0, 0.7, 1.2, 1.8, 2.6, 3.6, 4.8, 6.0)

Place = tuple[float, float]


# Cells drawn of a longer path.
_MOST_PATH = 8_000
_SHADES = 8
# In cells of fewer pixels a path is shown by shades alone.
_FINE = 11
_MOST_TEXT = 120

_FAULTS = texts("hyper_snake.faults")


class Unfolded(NamedTuple):
    """Where the cells of a box lie; lengths are in cells.

    Attributes:
        extents: cells of each axis that are laid out; fewer than there are if they are too many.
        ways: 0 for each axis that runs to the right, 1 for each that runs downwards.
        steps: how far each cell along an axis lies from the one before, in that axis's direction.
        width: of the whole.
        height: of the whole.
    """

    extents: tuple[int, ...]
    ways: tuple[int, ...]
    steps: tuple[float, ...]
    width: float
    height: float

    def at(self, cell: Sequence[int]) -> Place:
        """Return the upper left corner of a cell; those outside the box lie beside its part."""
        place = [0.0, 0.0]
        for way, c, n, step in zip(
            self.ways, cell, self.extents, self.steps, strict=True
        ):
            place[way] += min(max(c, -1), n) * step
        return place[0], place[1]

    def middle(self, cell: Sequence[int]) -> Place:
        """Return the middle of a cell, or of where it is drawn if it is outside the box."""
        x, y = self.at(cell)
        return x + 0.5, y + 0.5

    def holds(self, cell: Sequence[int]) -> bool:
        """Whether a cell is one of those that are laid out."""
        return len(cell) == len(self.extents) and all(
            0 <= c < n for c, n in zip(cell, self.extents, strict=True)
        )

    def squares(self) -> Iterator[Place]:
        """Yield the upper left corner of each small square."""
        origin = (0,) * min(2, len(self.extents))
        for outer in product(*(range(n) for n in self.extents[2:])):
            yield self.at((*origin, *outer))

    @property
    def square(self) -> tuple[int, int]:
        """Columns and rows of a small square."""
        return self.extents[0], (*self.extents, 1)[1]


def unfold(
    size: Sequence[int], *, rounded: bool = False, limit: int = MOST_CELLS
) -> Unfolded:
    """Lay out a box.

    Args:
        size: cells along each axis.
        rounded: whether gaps are whole cells, as characters need it.
        limit: cells laid out at most; of larger boxes, the last axes are cut.
    """
    extents = list(size)
    for axis in range(len(extents) - 1, -1, -1):
        extents[axis] = max(1, min(extents[axis], limit // math.prod(extents[:axis])))
    ways = _ways(extents)
    extent, levels, steps = [1.0, 1.0], [0, 0], []
    for way, n in zip(ways, extents, strict=True):
        gap = _GAPS[min(levels[way], len(_GAPS) - 1)]
        steps.append(extent[way] + (math.ceil(gap) if rounded else gap))
        extent[way] += (n - 1) * steps[-1]
        levels[way] += 1
    return Unfolded(tuple(extents), ways, tuple(steps), extent[0], extent[1])


def _ways(size: Sequence[int]) -> tuple[int, ...]:
    """Return for each axis whether it runs downwards: in turn, or closer to a square."""
    in_turn = tuple(axis % 2 for axis in range(len(size)))
    if not 3 <= len(size) <= _MOST_SEARCHED:
        return in_turn

    def longer_side(ways: Sequence[int]) -> int:
        return max(
            math.prod(compress(size, (w == way for w in ways))) for way in (0, 1)
        )

    choices = ((0, 1, *further) for further in product((0, 1), repeat=len(size) - 2))
    return min(
        choices, key=lambda ways: (longer_side(ways), sum(map(ne, ways, in_turn)))
    )


Cell = Sequence[int]


class _Path(NamedTuple):
    """What is drawn of a path."""

    cells: list[Cell]
    legal: int
    """Cells before the first illegal one."""


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the box with walls and food, and in it the path up to and after its first fault."""
    layout = unfold(params.size)
    path = None if answer is None else _path(answer, verdicts)
    missed = [tuple(cell) for cell in verdicts.failures.get("food", ())]
    legend: Legend = []
    flat = _draw_unfolded(params, layout, path, verdicts, legend)
    caption = _caption(params, path, verdicts)
    if answer is not None and len(answer.path) > _MOST_PATH:
        caption += (
            f" Only the first {_MOST_PATH} of {len(answer.path)} entries are drawn."
        )
    if layout.extents != params.size:
        caption += (
            f" Only a part of {' x '.join(map(str, layout.extents))} cells is drawn."
        )
    panels = [Panel(_box_title(params), flat, f"A box of cells. {caption}")]
    if len(params.size) == 3 and path is not None and len(path.cells) <= 2_000:
        panels.append(Panel("in space", _in_space(params, path, missed), caption))
    panels += gauge_panels(_gauges(params, verdicts))
    return Picture(tuple(panels), caption, tuple(legend), _text(params, path))


def _box_title(params: Params) -> str:
    n = len(params.size)
    titles = {1: "the box from above", 2: "the box from above", 3: "the box in slices"}
    return titles.get(n, f"the box of {n} axes, unfolded")


def _path(answer: Answer, verdicts: Verdicts) -> _Path:
    cells: list[Cell] = [place["pos"] for place in answer.path[:_MOST_PATH]]
    return _Path(
        cells, min(int(verdicts.metrics.get("legal_prefix", len(cells))), len(cells))
    )


def _draw_unfolded(
    params: Params,
    layout: Unfolded,
    path: _Path | None,
    verdicts: Verdicts,
    legend: Legend,
) -> Drawing:
    missed = [tuple(cell) for cell in verdicts.failures.get("food", ())]
    longer = max(layout.width, layout.height)
    size = min(max(34 * longer, 200), 340 if len(params.size) <= 2 else 640)
    frame = (0, 0, layout.width, layout.height)
    drawing = Drawing(frame, size=size, up=False, margin=26)
    cell = drawing.scale
    if path is not None:
        _shade_visited(drawing, layout, path)
    _draw_box_grid(drawing, layout)
    walls = [layout.at(wall) for wall in params.walls if layout.holds(wall)]
    drawing.tiles(walls, "ink")
    legend += [("ink", "walls")] * bool(walls)
    if path is not None:
        _draw_path(drawing, layout, path)
        legend.append(
            (
                "answer",
                "the path; later cells are stronger in colour"
                if path.legal
                else "the path",
            )
        )
        if 0 < path.legal < len(path.cells):
            legend.append(("quiet", "the path after its first fault"))
    for food in params.food:
        if layout.holds(food):
            _draw_food(drawing, layout.middle(food), path, lost=tuple(food) in missed)
    if params.food and path is None:
        legend.append(("target", "food"))
    elif len(missed) < len(params.food):
        legend.append(("right", "food that is eaten"))
    legend += [("wrong", "food that is missed")] * bool(params.food and missed)
    if layout.holds(params.start):
        x, y = layout.middle(params.start)
        drawing.dot((x, y), "note", radius=max(min(cell * 0.34, 10), 3), tip="start")
        if cell >= 12:
            drawing.text((x, y), "S", size=min(cell * 0.5, 13), bold=True)
        legend.append(("note", "start"))
    if path is not None and _mark_path_faults(drawing, layout, path, verdicts):
        legend.append(
            ("wrong", "the first fault: arrow and ring; more faults: crosses")
        )
    _name_axes(drawing, layout)
    return drawing


def _draw_box_grid(drawing: Drawing, layout: Unfolded) -> None:
    width, height = layout.square
    inner, outer = [], []
    for x, y in layout.squares():
        inner += [[(x + i, y), (x + i, y + height)] for i in range(1, width)]
        inner += [[(x, y + i), (x + width, y + i)] for i in range(1, height)]
        outer.append([*rectangle((x, y), (x + width, y + height)), (x, y)])
    drawing.strokes(inner, "faint")
    drawing.strokes(outer, "quiet")


def _name_axes(drawing: Drawing, layout: Unfolded) -> None:
    across, down = (
        ", then ".join(f"axis {axis}" for axis, w in enumerate(layout.ways) if w == way)
        for way in (0, 1)
    )
    drawing.text(
        (0, 0), f"{across} →", "quiet", anchor="start", size=11, shift=(0, -14)
    )
    if down:
        corner = (0, layout.height)
        drawing.text(
            corner, f"↓ {down}", "quiet", anchor="start", size=11, shift=(0, 14)
        )


def _shade_visited(drawing: Drawing, layout: Unfolded, path: _Path) -> None:
    """Fill visited cells, the later the darker."""
    visited: set[tuple[int, ...]] = set()
    shades: list[list[tuple[float, float]]] = [[] for _ in range(_SHADES)]
    for i, cell in enumerate(path.cells[: path.legal]):
        key = tuple(cell)
        if key not in visited and layout.holds(cell):
            visited.add(key)
            shades[i * _SHADES // max(path.legal, 1)].append(layout.at(cell))
    for i, corners in enumerate(shades):
        drawing.tiles(corners, "answer", opacity=0.2 + 0.06 * i)


def _drawable_runs(
    layout: Unfolded, cells: Sequence[Cell]
) -> Iterator[list[tuple[float, float]]]:
    """Yield the parts of a path that can be drawn as lines: those within one small square."""
    run: list[tuple[float, float]] = []
    last: Cell = ()
    for cell in cells:
        if not layout.holds(cell):
            continue
        steps = sum(abs(a - b) for a, b in zip(last, cell, strict=False))
        if run and not (last[2:] == cell[2:] and steps == 1):
            yield run
            run = []
        run.append(layout.middle(cell))
        last = cell
    if run:
        yield run


def _draw_path(drawing: Drawing, layout: Unfolded, path: _Path) -> None:
    width = min(max(drawing.scale / 7, 1.2), 3.5)
    legal = [run for run in _drawable_runs(layout, path.cells[: path.legal]) if run]
    after = [
        run for run in _drawable_runs(layout, path.cells[path.legal :]) if len(run) > 1
    ]
    if drawing.scale < _FINE:
        return
    drawing.strokes(after, "quiet", width=max(width * 0.6, 1), dashed=True)
    drawing.strokes([run for run in legal if len(run) > 1], "answer", width=width)
    if len(layout.extents) > 2 and drawing.scale >= 12:
        for run in legal:  # where it goes on in another square
            for end in dict.fromkeys((run[0], run[-1])):
                drawing.dot(end, "answer", radius=width)
    if len(path.cells) <= path.legal and legal:
        drawing.dot(
            legal[-1][-1], "ink", radius=max(width * 1.6, 3), tip="the path ends here"
        )


def _draw_food(
    drawing: Drawing, place: tuple[float, float], path: _Path | None, *, lost: bool
) -> None:
    radius = max(drawing.scale * 0.36, 4)
    if path is None:
        drawing.dot(place, "target", radius=radius * 0.8, tip="food")
        drawing.ring(place, "ink", radius=radius * 0.8, width=1)
    elif lost:
        drawing.ring(
            place, "wrong", radius=radius, width=2.5, tip="food that is missed"
        )
        drawing.cross(place, "wrong", radius=radius * 0.6, width=2)
    else:
        drawing.ring(place, "right", radius=radius, width=2.5, tip="food, eaten")


def _first_fault(path: _Path, verdicts: Verdicts) -> str:
    """Return the check that the first illegal cell fails; empty if none is known."""
    for check_id, offenders in verdicts.failures.items():
        if check_id in _FAULTS and (
            path.legal in offenders or (check_id == "start" and path.legal == 0)
        ):
            return check_id
    return ""


def _mark_path_faults(
    drawing: Drawing, layout: Unfolded, path: _Path, verdicts: Verdicts
) -> bool:
    fault = _first_fault(path, verdicts)
    axes = len(layout.extents)
    radius = max(min(drawing.scale * 0.3, 7), 3)
    marked = set()
    for check_id in ("inside", "walls", "repeats", "moves"):
        for i in verdicts.failures.get(check_id, ()):
            if i != path.legal and i < len(path.cells) and len(path.cells[i]) == axes:
                place = layout.middle(path.cells[i])
                if place not in marked:
                    marked.add(place)
                    drawing.cross(place, "wrong", radius=radius, width=1.5)
    if (
        not fault
        or path.legal >= len(path.cells)
        or len(path.cells[path.legal]) != axes
    ):
        return bool(marked)
    place = layout.middle(path.cells[path.legal])
    if path.legal:
        before = layout.middle(path.cells[path.legal - 1])
        drawing.line([before, place], "wrong", width=3, arrow=True)
    tip = f"position {path.legal}: {_FAULTS[fault]}"
    drawing.ring(place, "wrong", radius=max(drawing.scale * 0.5, 7), width=3, tip=tip)
    return True


def _in_space(params: Params, path: _Path, missed: Sequence[Cell]) -> Scene:
    size = [min(n, 40) for n in params.size]

    def points(cells: Sequence[Cell]) -> Points:
        middles = [
            [min(max(c, -1), n) + 0.5 for c, n in zip(cell, size, strict=True)]
            for cell in cells
            if len(cell) == 3
        ]
        return np.array(middles, dtype=np.float64).reshape(-1, 3)

    parts: list[Shape] = [wire((0, 0, 0), size, "faint", name="the box")]
    if params.walls:
        solid = [(wall, [c + 1 for c in wall]) for wall in params.walls[:500]]
        parts.append(boxes(solid, "quiet", opacity=0.7, name="walls"))
    legal = points(path.cells[: path.legal])
    if len(legal) > 1:
        parts.append(Lines((legal,), "answer", 4, name="the path"))
    after = points(path.cells[max(path.legal, 1) - 1 :])
    if path.legal < len(path.cells) and len(after) > 1:
        parts.append(Lines((after[:2],), "wrong", 5, name="the first fault"))
        parts.append(Marks(after[1:2], "wrong", 14))
        if len(after) > 2:
            parts.append(
                Lines((after[1:],), "quiet", 1.5, dashed=True, name="after it")
            )
    parts.append(Marks(points([params.start]), "note", 12, ("S",), name="start"))
    eaten = [food for food in params.food if tuple(food) not in missed]
    lost = [food for food in params.food if tuple(food) in missed]
    for role, cells in (("right", eaten), ("wrong", lost)):
        if cells:
            parts.append(
                Marks(points(cells), role, 10, ("food",) * len(cells), name="food")
            )
    return Scene(tuple(parts), azimuth=-55, elevation=20)


def _gauges(params: Params, verdicts: Verdicts) -> list[Gauge]:
    metrics = verdicts.metrics
    if "legal_prefix" not in metrics:
        return []
    needed = verdicts.details("length").get("needed", metrics["free_cells"])
    legal = metrics["legal_prefix"]
    flawless = legal == metrics["length"]
    label = "cells on the path" if flawless else "cells before the first fault"
    gauges = [Gauge(label, legal, needed, legal >= needed and flawless)]
    if params.food:
        food = len(params.food)
        eaten = food - len(metrics.get("missed_food", ()))
        gauges.append(Gauge("food on the path", eaten, food, verdicts.passed("food")))
    return gauges


def _caption(params: Params, path: _Path | None, verdicts: Verdicts) -> str:
    size = " x ".join(map(str, params.size))
    things = [f"{len(params.walls)} walls"] * bool(params.walls)
    things += [f"{len(params.food)} with food"] * bool(params.food)
    box = (
        f"A box of {size} cells" + (f", {' and '.join(things)}" if things else "") + "."
    )
    if path is None:
        return ("There is no path to draw. " if verdicts else "") + box
    metrics = verdicts.metrics
    if "legal_prefix" not in metrics:
        summary = "The list is far too long to be judged. " if verdicts else ""
        return f"{summary}{box}" + (
            f" {verdicts.fraction.capitalize()}." if verdicts else ""
        )
    fault = _first_fault(path, verdicts)
    if fault:
        after = (
            f"After {path.legal} cell{'s' * (path.legal != 1)} " if path.legal else ""
        )
        summary = f"{after}{_FAULTS[fault]}, which voids the path"
        summary = summary[0].upper() + summary[1:]
    else:
        summary = (
            f"The path fills {metrics['length']} of {metrics['free_cells']} free cells"
        )
        missed = len(metrics.get("missed_food", ()))
        if missed:
            summary += f" and misses {missed} of {len(params.food)} food items"
    return f"{summary}. {verdicts.fraction.capitalize()}."


def _text(params: Params, path: _Path | None) -> str | None:
    """Return the unfolded box in characters; None if it is too wide."""
    layout = unfold(params.size, rounded=True)
    columns, rows = int(np.ceil(layout.width)), int(np.ceil(layout.height))
    if columns > _MOST_TEXT or rows > 200:
        return None
    signs = dict.fromkeys(np.ndindex(*layout.extents), "·")

    def put(cell: Cell, character: str) -> None:
        if tuple(cell) in signs:
            signs[tuple(cell)] = character

    cells = path.cells[: path.legal] if path is not None else []
    for i, cell in enumerate(cells):
        put(cell, _joint(cells, i))
    for wall in params.walls:
        put(wall, "#")
    on_path = set(map(tuple, cells))
    for food in params.food:
        put(food, "o" if tuple(food) in on_path else "*")
    key = "S start, # wall, * food"
    if path is not None:
        key += ", o food eaten, E end"
        if cells:
            put(cells[-1], "E")
        if path.legal < len(path.cells):
            put(path.cells[path.legal], "X")
            key += ", X first fault"
    put(params.start, "S")
    table = [[" "] * columns for _ in range(rows)]
    for place, character in signs.items():
        x, y = layout.at(place)
        table[int(y)][int(x)] = character
    lines = ["".join(row).rstrip() for row in table]
    return "\n".join([*lines, "", key])


def _joint(cells: Sequence[Cell], i: int) -> str:
    """Return the character that joins a cell to those before and after it in its small square."""
    sides = set()
    for j in (i - 1, i + 1):
        if 0 <= j < len(cells):
            change = [b - a for a, b in zip(cells[i], cells[j], strict=True)]
            if not any(change[2:]):
                across, down = (*change, 0)[:2]
                sides.add(
                    {1: "r", -1: "l"}.get(across) or {1: "d", -1: "u"}.get(down, "")
                )
    return joint(sides - {""}, "•")
