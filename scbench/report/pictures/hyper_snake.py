"""Pictures of a snake in an unfolded box: its path, empty cells, and its first illegal move."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from scbench.base.wording import counted
from scbench.report.draw.scene import Lines, Marks, Points, Scene, Shape, boxes, wire
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts, wrong_line
from scbench.report.pictures.shared.path_text import joint
from scbench.report.pictures.shared.unfolding import Place, Unfolded, unfold
from scbench.schemas.hyper_snake import Answer, Params

# Maximum number of path cells drawn, in 2D and in 3D.
_MOST_CELLS = 8_000
_MOST_IN_SPACE = 2_000
# Maximum cells along an axis, and maximum walls, drawn in 3D.
_LONGEST_AXIS = 40
_MOST_WALLS = 500
# Shades of the path, from its start to its end.
_SHADES = 8
# In smaller cells (in pixels), a path has shades but no lines, and the start has no
# letter.
_FINE = 11
_LETTERED = 12
# Maximum number of characters in a line, and of lines, of a text.
_MOST_COLUMNS = 120
_MOST_LINES = 200
# Faults of a path in words, by check id.
_FAULTS = {
    "start": "the first cell is not the start",
    "dimensions": "a cell has too few or too many coordinates",
    "inside": "the path leaves the box",
    "walls": "the path runs into a wall",
    "repeats": "the path visits a cell again",
    "moves": "the path jumps or moves diagonally",
}
# Checks whose offenders are inside the box.
_PLACED = ("inside", "walls", "repeats", "moves")
# Sides of a cell, by the change of coordinate towards the neighbour.
_ACROSS = {1: "r", -1: "l"}
_DOWN = {1: "d", -1: "u"}

Cell = Sequence[int]


class Path(NamedTuple):
    """The drawn cells of a path, and how many come before the first illegal one."""

    cells: list[Cell]
    legal: int

    @property
    def legal_cells(self) -> list[Cell]:
        """The cells before the first illegal one."""
        return self.cells[: self.legal]

    @property
    def first_fault(self) -> Cell | None:
        """The first illegal cell; None if all are legal."""
        return self.cells[self.legal] if self.legal < len(self.cells) else None


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the box with walls and food, and the path before and after its first error."""
    layout = unfold(params.size)
    path = None if answer is None else read_path(params, answer, verdicts)
    missed = {tuple(cell) for cell in verdicts.failures.get("food", ())}
    legend: Legend = []
    flat = unfolded_box(params, layout, path, missed, legend)
    has_faults = path is not None and mark_faults(flat, layout, path, verdicts)
    wrong = {
        "first error: arrow and ring; other errors: crosses": has_faults,
        "missed food: ring with cross": missed,
    }
    legend += wrong_line(wrong)
    name_axes(flat, layout)
    caption = box_caption(params, path, verdicts)
    if answer is not None and len(answer.path) > _MOST_CELLS:
        count = len(answer.path)
        caption += f" Only the first {_MOST_CELLS:,} of {count:,} entries are drawn."
    if layout.extents != params.size:
        part = " x ".join(map(str, layout.extents))
        caption += f" Only {part} cells of the box are drawn."
    panels = [Panel(box_title(params), flat, f"A box of cells. {caption}")]
    if len(params.size) == 3 and path is not None and len(path.cells) <= _MOST_IN_SPACE:
        panels.append(Panel("in space", space_scene(params, path, missed), caption))
    panels += gauge_panels(path_gauges(params, verdicts))
    text = unfolded_text(params, path)
    return Picture(tuple(panels), caption, tuple(legend), text)


def read_path(params: Params, answer: Answer, verdicts: Verdicts) -> Path:
    """Return the first cells of an answer.

    Without a verdict, all cells before the first one outside the box count as legal.
    """
    cells: list[Cell] = [place["pos"] for place in answer.path[:_MOST_CELLS]]
    axes = len(params.size)
    drawable = 0
    while drawable < len(cells) and len(cells[drawable]) == axes:
        drawable += 1
    legal = int(verdicts.metrics.get("legal_prefix", drawable))
    return Path(cells, min(legal, drawable))


def box_title(params: Params) -> str:
    """Return the title of the unfolded box."""
    axes = len(params.size)
    if axes <= 2:
        return "the box from above"
    if axes == 3:
        return "the box in slices"
    return f"the unfolded box with {axes} axes"


def unfolded_box(
    params: Params,
    layout: Unfolded,
    path: Path | None,
    missed: set[tuple[int, ...]],
    legend: Legend,
) -> Drawing:
    """Return the box with a path, without its errors; extend the legend."""
    longer = max(layout.width, layout.height)
    limit = 340 if len(params.size) <= 2 else 640
    size = min(max(34 * longer, 200), limit)
    frame = (0, 0, layout.width, layout.height)
    drawing = Drawing(frame, size=size, up=False, margin=26)
    if path is not None:
        shade_path(drawing, layout, path)
    draw_grid(drawing, layout)
    walls = [layout.at(wall) for wall in params.walls if layout.contains(wall)]
    drawing.tiles(walls, "ink")
    if walls:
        legend.append(("ink", "walls"))
    if path is not None:
        draw_path(drawing, layout, path)
        words = "path; later cells are darker" if path.legal else "path"
        legend.append(("answer", words))
        if path.legal and path.first_fault is not None:
            legend.append(("quiet", "path after its first error"))
    for food in params.food:
        if not layout.contains(food):
            continue
        role = "wrong" if tuple(food) in missed else "right"
        if path is None:
            role = "target"
        draw_food(drawing, layout.middle(food), role)
    if params.food and path is None:
        legend.append(("target", "food"))
    elif len(missed) < len(params.food):
        legend.append(("right", "eaten food"))
    if layout.contains(params.start):
        place = layout.middle(params.start)
        cell = drawing.scale
        drawing.dot(place, "note", radius=max(min(cell * 0.34, 10), 3), tip="start")
        if cell >= _LETTERED:
            drawing.text(place, "S", size=min(cell * 0.5, 13), bold=True)
        legend.append(("note", "start"))
    return drawing


def draw_grid(drawing: Drawing, layout: Unfolded) -> None:
    """Draw the small squares and their cells."""
    width, height = layout.square
    inner = []
    outer = []
    for x, y in layout.squares():
        inner += [[(x + i, y), (x + i, y + height)] for i in range(1, width)]
        inner += [[(x, y + i), (x + width, y + i)] for i in range(1, height)]
        outer.append([*rectangle((x, y), (x + width, y + height)), (x, y)])
    drawing.strokes(inner, "faint")
    drawing.strokes(outer, "quiet")


def name_axes(drawing: Drawing, layout: Unfolded) -> None:
    """Write the names of the axes that run to the right and downwards."""
    names: list[list[str]] = [[], []]
    for axis, way in enumerate(layout.ways):
        names[way].append(f"axis {axis}")
    across, down = map(", then ".join, names)
    shift = (0, -14)
    drawing.text((0, 0), f"{across} →", "quiet", anchor="start", size=11, shift=shift)
    if down:
        corner = (0, layout.height)
        shift = (0, 14)
        drawing.text(corner, f"↓ {down}", "quiet", anchor="start", size=11, shift=shift)


def shade_path(drawing: Drawing, layout: Unfolded, path: Path) -> None:
    """Fill visited cells; later ones are darker."""
    visited: set[Cell] = set()
    shades: list[list[Place]] = [[] for _ in range(_SHADES)]
    for i, cell in enumerate(path.legal_cells):
        key = tuple(cell)
        if key not in visited and layout.contains(cell):
            visited.add(key)
            shades[i * _SHADES // path.legal].append(layout.at(cell))
    for i, corners in enumerate(shades):
        drawing.tiles(corners, "answer", opacity=0.2 + 0.06 * i)


def draw_path(drawing: Drawing, layout: Unfolded, path: Path) -> None:
    """Draw the path as lines, dashed after its first error."""
    if drawing.scale < _FINE:
        return
    width = min(max(drawing.scale / 7, 1.2), 3.5)
    legal = list(path_runs(layout, path.legal_cells))
    after = path_runs(layout, path.cells[path.legal :])
    lines = [run for run in after if len(run) > 1]
    drawing.strokes(lines, "quiet", width=max(width * 0.6, 1), dashed=True)
    lines = [run for run in legal if len(run) > 1]
    drawing.strokes(lines, "answer", width=width)
    if len(layout.extents) > 2 and drawing.scale >= _LETTERED:
        # Dots where the path continues in another square.
        for run in legal:
            for end in dict.fromkeys((run[0], run[-1])):
                drawing.dot(end, "answer", radius=width)
    if path.first_fault is None and legal:
        radius = max(width * 1.6, 3)
        drawing.dot(legal[-1][-1], "ink", radius=radius, tip="the path ends here")


def path_runs(layout: Unfolded, cells: Sequence[Cell]) -> Iterator[list[Place]]:
    """Yield the parts of a path that can be drawn as lines: those within one small square."""
    run: list[Place] = []
    last: Cell = ()
    for cell in cells:
        if not layout.contains(cell):
            continue
        steps = sum(abs(a - b) for a, b in zip(last, cell, strict=False))
        if run and not (last[2:] == cell[2:] and steps == 1):
            yield run
            run = []
        run.append(layout.middle(cell))
        last = cell
    if run:
        yield run


def draw_food(drawing: Drawing, place: Place, role: str) -> None:
    """Draw food: of the item (``target``), eaten (``right``) or missed (``wrong``)."""
    radius = max(drawing.scale * 0.36, 4)
    if role == "target":
        drawing.dot(place, "target", radius=radius * 0.8, tip="food")
        drawing.ring(place, "ink", radius=radius * 0.8, width=1)
        return
    tip = "eaten food" if role == "right" else "missed food"
    drawing.ring(place, role, radius=radius, width=2.5, tip=tip)
    if role == "wrong":
        drawing.cross(place, "wrong", radius=radius * 0.6, width=2)


def first_fault_check(path: Path, verdicts: Verdicts) -> str:
    """Return the check that the first illegal cell fails; empty if none is known."""
    for check_id, offenders in verdicts.failures.items():
        if check_id not in _FAULTS:
            continue
        # A wrong start has no offenders: it is the first cell.
        if path.legal in offenders or (check_id == "start" and path.legal == 0):
            return check_id
    return ""


def mark_faults(
    drawing: Drawing, layout: Unfolded, path: Path, verdicts: Verdicts
) -> bool:
    """Mark the errors of a path; return whether any is inside the box."""
    axes = len(layout.extents)
    radius = max(min(drawing.scale * 0.3, 7), 3)
    marked = set()
    for check_id in _PLACED:
        for i in verdicts.failures.get(check_id, ()):
            if i == path.legal or i >= len(path.cells) or len(path.cells[i]) != axes:
                continue
            place = layout.middle(path.cells[i])
            if place not in marked:
                marked.add(place)
                drawing.cross(place, "wrong", radius=radius, width=1.5)
    fault = first_fault_check(path, verdicts)
    cell = path.first_fault
    if not fault or cell is None or len(cell) != axes:
        return bool(marked)
    place = layout.middle(cell)
    if path.legal:
        before = layout.middle(path.cells[path.legal - 1])
        drawing.line([before, place], "wrong", width=3, arrow=True)
    tip = f"position {path.legal}: {_FAULTS[fault]}"
    drawing.ring(place, "wrong", radius=max(drawing.scale * 0.5, 7), width=3, tip=tip)
    return True


def space_scene(params: Params, path: Path, missed: set[tuple[int, ...]]) -> Scene:
    """Return a box of three axes in space."""
    size = [min(count, _LONGEST_AXIS) for count in params.size]

    def points(cells: Sequence[Cell]) -> Points:
        """Return the middles (n, 3) of cells; cells outside the box are moved next to it."""
        middles = []
        for cell in cells:
            if len(cell) == 3:
                axes = zip(cell, size, strict=True)
                middles.append([min(max(c, -1), count) + 0.5 for c, count in axes])
        return np.array(middles, dtype=np.float64).reshape(-1, 3)

    parts: list[Shape] = [wire((0, 0, 0), size, "faint", name="the box")]
    if params.walls:
        low = np.array(params.walls[:_MOST_WALLS])
        walls = zip(low.tolist(), (low + 1).tolist(), strict=True)
        parts.append(boxes(walls, "quiet", opacity=0.7, name="walls"))
    legal = points(path.legal_cells)
    if len(legal) > 1:
        parts.append(Lines((legal,), "answer", 4, name="the path"))
    # From the last legal cell on.
    after = points(path.cells[max(path.legal, 1) - 1 :])
    if path.first_fault is not None and len(after) > 1:
        parts.append(Lines((after[:2],), "wrong", 5, name="the first error"))
        parts.append(Marks(after[1:2], "wrong", 14))
        if len(after) > 2:
            parts.append(
                Lines((after[1:],), "quiet", 1.5, dashed=True, name="the path after it")
            )
    parts.append(Marks(points([params.start]), "note", 12, ("S",), name="start"))
    for role in ("right", "wrong"):
        cells = [
            food for food in params.food if (tuple(food) in missed) == (role == "wrong")
        ]
        if cells:
            labels = ("food",) * len(cells)
            parts.append(Marks(points(cells), role, 10, labels, name="food"))
    return Scene(tuple(parts), azimuth=-55, elevation=20)


def path_gauges(params: Params, verdicts: Verdicts) -> list[Gauge]:
    """Return the gauges of the path's length and of food; none without a verdict."""
    metrics = verdicts.metrics
    if "legal_prefix" not in metrics:
        return []
    needed = verdicts.details("length").get("needed", metrics["free_cells"])
    legal = metrics["legal_prefix"]
    flawless = legal == metrics["length"]
    label = "cells on the path" if flawless else "cells before the first error"
    gauges = [Gauge(label, legal, needed, legal >= needed and flawless)]
    if params.food:
        food = len(params.food)
        eaten = food - len(metrics.get("missed_food", ()))
        gauges.append(Gauge("food on the path", eaten, food, verdicts.passed("food")))
    return gauges


def box_caption(params: Params, path: Path | None, verdicts: Verdicts) -> str:
    """Return a description of the box and of a path's first error or length."""
    things = []
    if params.walls:
        things.append(counted(len(params.walls), "wall"))
    if params.food:
        things.append(counted(len(params.food), "food item"))
    box = f"A box of {' x '.join(map(str, params.size))} cells"
    if things:
        box += f" with {' and '.join(things)}"
    if not verdicts:
        return f"{box}."
    if path is None:
        return f"There is no path to draw. {box}."
    metrics = verdicts.metrics
    score = f"{verdicts.fraction.capitalize()}."
    if "legal_prefix" not in metrics:
        return f"The path is too long to be graded. {box}. {score}"
    fault = first_fault_check(path, verdicts)
    if fault:
        summary = _FAULTS[fault]
        if path.legal:
            summary = f"after {counted(path.legal, 'cell')} {summary}"
        return f"{summary[0].upper()}{summary[1:]}. {score}"
    length = metrics["length"]
    free = metrics["free_cells"]
    summary = f"The path visits {length} of {free} free cells"
    missed = len(metrics.get("missed_food", ()))
    if missed:
        summary += f" and misses {missed} of {counted(len(params.food), 'food item')}"
    return f"{summary}. {score}"


def unfolded_text(params: Params, path: Path | None) -> str | None:
    """Return the unfolded box in characters; None if it is too large."""
    layout = unfold(params.size, rounded=True)
    columns = int(np.ceil(layout.width))
    rows = int(np.ceil(layout.height))
    if columns > _MOST_COLUMNS or rows > _MOST_LINES:
        return None
    signs = dict.fromkeys(np.ndindex(*layout.extents), "·")

    def put(cell: Cell, character: str) -> None:
        """Write into a cell if it is shown; later characters replace earlier ones."""
        if tuple(cell) in signs:
            signs[tuple(cell)] = character

    cells = path.legal_cells if path is not None else []
    for i, cell in enumerate(cells):
        put(cell, path_character(cells, i))
    for wall in params.walls:
        put(wall, "#")
    on_path = set(map(tuple, cells))
    for food in params.food:
        put(food, "o" if tuple(food) in on_path else "*")
    key = "S start, # wall, * food"
    if path is not None:
        key += ", o eaten food, E end"
        if cells:
            put(cells[-1], "E")
        if path.first_fault is not None:
            put(path.first_fault, "X")
            key += ", X first error"
    put(params.start, "S")
    table = [[" "] * columns for _ in range(rows)]
    for place, character in signs.items():
        x, y = layout.at(place)
        table[int(y)][int(x)] = character
    lines = ["".join(row).rstrip() for row in table]
    return "\n".join([*lines, "", key])


def path_character(cells: Sequence[Cell], i: int) -> str:
    """Return the character that joins a cell to its neighbours on the path in its square."""
    sides = set()
    for j in (i - 1, i + 1):
        if not 0 <= j < len(cells):
            continue
        change = [b - a for a, b in zip(cells[i], cells[j], strict=True)]
        if any(change[2:]):
            continue
        across, down = (*change, 0)[:2]
        if across in _ACROSS:
            sides.add(_ACROSS[across])
        elif down in _DOWN:
            sides.add(_DOWN[down])
    return joint(sides, "•")
