"""A grid with blocked cells, and the tour of an answer."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from scbench.base.wording import counted
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Legend, Panel, Picture, Verdicts
from scbench.report.pictures.shared.path_text import joint
from scbench.schemas.hamiltonian_loop import Answer, Params

# Maximum number of steps drawn; the largest grid has 10,000 cells.
_MOST_STEPS = 12_000
# Grids up to this size show the number of each step.
_NUMBERED = 8
# Grids up to this size are printed with two characters for each cell.
_WIDE_TEXT = 58
# A verdict names all repeated cells, and at most 50 offenders of other checks.
_ALL_NAMED = "repeats"
_MOST_NAMED = 50
# Sides through which a step leaves a cell, and enters the next.
_MOVES = {(1, 0): "rl", (-1, 0): "lr", (0, 1): "du", (0, -1): "ud"}
# Faults in words, by check id: for one offender and for many.
_FAULTS = {
    "inside": ("cell outside the grid", "cells outside the grid"),
    "free": ("blocked cell", "blocked cells"),
    "repeats": ("repeated cell", "repeated cells"),
    "adjacent": ("jump", "jumps"),
}
# Characters of the text form, apart from lines.
_MEANINGS = {
    ".": "not visited",
    "#": "blocked",
    "*": "visited more than once, or reached by a jump",
}

Cell = tuple[int, int]
Place = tuple[float, float]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the grid; with an answer, the tour with its faults and the cells it misses."""
    n = params.size
    free = n * n - len(params.blocked)
    if answer is None:
        blocked = f", {len(params.blocked)} of them blocked" if params.blocked else ""
        caption = f"A grid of {n} x {n} cells{blocked}. The tour must visit all {free} free cells."
        panel = Panel("the grid", grid(params, 0.0), caption)
        text = "\n".join(tour_rows(params, {}))
        return Picture((panel,), caption, (("rock", "blocked"),), text)
    steps = answer.steps[:_MOST_STEPS]
    cells = [(step["xy"][0], step["xy"][1]) for step in steps]
    drawing = grid(params, 1.0 if verdicts.failed("inside") else 0.0)
    legend = draw_tour(drawing, params, cells, verdicts)
    caption = answer_caption(answer, verdicts, free)
    rows = tour_rows(params, cell_links(cells))
    meanings = []
    for sign, words in _MEANINGS.items():
        if any(sign in row for row in rows):
            meanings.append(f"{sign} {words}")
    if meanings:
        rows += ["", ", ".join(meanings)]
    panel = Panel("the tour", drawing, caption)
    return Picture((panel,), caption, tuple(legend), "\n".join(rows))


def grid(params: Params, room: float) -> Drawing:
    """Return the empty grid; `room` is the width of the margin in cells."""
    n = params.size
    # Cells are counted from 1, and have their middles at whole numbers.
    low = 0.5
    high = n + 0.5
    size = min(max(24 * n, 240), 640)
    frame = (low - room, low - room, high + room, high + room)
    drawing = Drawing(frame, size=size, up=False)
    ticks = [i + 0.5 for i in range(n + 1)]
    drawing.strokes([[(low, tick), (high, tick)] for tick in ticks], "faint")
    drawing.strokes([[(tick, low), (tick, high)] for tick in ticks], "faint")
    drawing.tiles(corners(params.blocked), "rock", opacity=0.75)
    drawing.outline((low, low), (high, high), "ink")
    every = 1 if drawing.scale >= 14 else 10
    for i in sorted({1, *range(every, n + 1, every)}):
        drawing.text((i, low), i, "quiet", size=9, shift=(0, -8))
        drawing.text((low, i), i, "quiet", size=9, shift=(-8, 0))
    return drawing


def corners(cells: Iterable[Sequence[int]]) -> list[Place]:
    """Return the lowest corner of each cell."""
    return [(x - 0.5, y - 0.5) for x, y in cells]


def draw_tour(
    drawing: Drawing, params: Params, cells: Sequence[Cell], verdicts: Verdicts
) -> Legend:
    """Draw a tour with its faults; return the legend."""
    missing = corners(verdicts.metrics.get("missing", ()))
    drawing.tiles(missing, "missing", hatched=True, opacity=0.6, tip="not visited")
    places = [drawing.nearest(cell) for cell in cells]
    role = "right" if verdicts and verdicts[0].score == 1 else "answer"
    legend = [(role, "the tour, starting at the dot"), ("rock", "blocked")]
    jumps = {i for i in verdicts.failures.get("adjacent", ()) if i < len(cells)}
    closed = verdicts.passed("closed")
    width = min(max(drawing.scale / 8, 1.5), 4)
    for run in runs(places, jumps, closed=bool(closed)):
        drawing.line(run, role, width=width)
    for i in sorted(jumps):
        ends = places[i - 1 : i + 1]
        tip = f"step {i + 1} is a jump"
        drawing.line(ends, "wrong", width=width + 0.5, tip=tip, arrow=True)
    legend += mark_cells(drawing, cells, verdicts)
    if jumps:
        legend.append(("wrong arrow", "jumps to cells that share no side"))
    if closed is False and len(cells) > 1:
        ends = [places[-1], places[0]]
        if ends[0] == ends[1]:
            # No line joins a cell to itself.
            legend.append(("wrong cross", "the tour repeats its first cell at the end"))
        else:
            drawing.line(ends, "wrong", width=2.5, dashed=True, tip="not closed")
            legend.append(("wrong dashed", "the tour does not close"))
        drawing.cross(places[-1], "wrong", radius=max(drawing.scale / 4, 4), width=3)
    draw_start(drawing, places)
    if params.size <= _NUMBERED:
        number_cells(drawing, cells, places)
    return [*legend, ("missing", "hatched: not visited")]


def runs(
    places: Sequence[Place], jumps: set[int], *, closed: bool
) -> list[list[Place]]:
    """Return the parts of a tour between jumps; a closed tour ends at its start."""
    parts: list[list[Place]] = [[]]
    for i, place in enumerate(places):
        if i in jumps:
            parts.append([])
        parts[-1].append(place)
    if closed and len(places) > 2:
        parts[-1].append(places[0])
    return parts


def mark_cells(drawing: Drawing, cells: Sequence[Cell], verdicts: Verdicts) -> Legend:
    """Mark repeated, blocked and outside cells of a tour; return their lines of the legend."""
    failed = verdicts.failures
    legend: Legend = []
    radius = min(max(drawing.scale * 0.42, 4), 14)
    repeated = verdicts.metrics.get("repeated", ())
    for x, y in repeated:
        drawing.ring((x, y), "wrong", radius=radius, width=2.5, tip="visited again")
    if repeated:
        legend.append(("wrong ring", "visited more than once"))
    entered = {cells[i] for i in failed.get("free", ()) if i < len(cells)}
    for cell in sorted(entered):
        drawing.cross(cell, "wrong", radius=radius * 0.7, width=3)
    if entered:
        legend.append(("wrong cross", "blocked, but visited"))
    outside = [cells[i] for i in failed.get("inside", ()) if i < len(cells)]
    for place in sorted({drawing.nearest(cell) for cell in outside}):
        drawing.ring(place, "wrong", radius=5, width=2.5, tip="outside the grid")
        drawing.cross(place, "wrong", radius=3, width=2)
    if outside:
        legend.append(("wrong crossed ring", "outside the grid"))
    return legend


def draw_start(drawing: Drawing, places: Sequence[Place]) -> None:
    """Draw the start of a tour as a dot, and its direction as an arrow."""
    start = places[0]
    radius = max(min(drawing.scale / 4, 7), 3)
    drawing.dot(start, "ink", radius=radius, tip="start")
    if len(places) > 1:
        (ax, ay), (bx, by) = places[:2]
        dx = bx - ax
        dy = by - ay
        length = max(abs(dx), abs(dy), 1.0)
        ahead = (ax + 0.75 * dx / length, ay + 0.75 * dy / length)
        drawing.line([start, ahead], "ink", width=2, arrow=True)


def number_cells(
    drawing: Drawing, cells: Sequence[Cell], places: Sequence[Place]
) -> None:
    """Write into each cell the number of the first step that visits it."""
    shift = (-drawing.scale / 3, 10)
    numbered: set[Cell] = set()
    for i, cell in enumerate(cells):
        if cell not in numbered:
            drawing.text(places[i], i + 1, "quiet", size=9, shift=shift)
        numbered.add(cell)


def answer_caption(answer: Answer, verdicts: Verdicts, free: int) -> str:
    """Return how much of the grid a tour visits, and its faults; `free` counts free cells."""
    n = len(answer.steps)
    summary = f"{counted(n, 'cell')} listed"
    if n > _MOST_STEPS:
        summary += f" (only the first {_MOST_STEPS:,} are drawn)"
    if not verdicts:
        return f"{summary}."
    if "visited" not in verdicts.metrics:
        return f"{summary}, but only {free} are free; {verdicts.fraction}."
    parts = [f"{summary}; {verdicts.metrics['visited']} of {free} free cells visited"]
    for check_id, (singular, plural) in _FAULTS.items():
        count = verdicts.details(check_id).get("count", 0)
        if not count:
            continue
        fault = counted(count, singular, plural)
        if check_id != _ALL_NAMED and count > _MOST_NAMED:
            fault += f" (only {_MOST_NAMED} are marked)"
        parts.append(fault)
    if verdicts.failed("closed"):
        parts.append("the tour does not close")
    return f"{'; '.join(parts)}; {verdicts.fraction}."


def cell_links(cells: Sequence[Cell]) -> Mapping[Cell, set[str]]:
    """Return for each cell of a tour the sides through which the tour enters and leaves it."""
    links: dict[Cell, set[str]] = {cell: set() for cell in cells}
    for (ax, ay), (bx, by) in pairwise((*cells, cells[0])):
        move = _MOVES.get((bx - ax, by - ay))
        if move:
            links[ax, ay].add(move[0])
            links[bx, by].add(move[1])
    return links


def tour_rows(params: Params, links: Mapping[Cell, set[str]]) -> list[str]:
    """Return the rows of the grid as text; a second character joins neighbours side by side."""
    n = params.size
    blocked = set(params.blocked)
    rows = []
    for y in range(1, n + 1):
        row = ""
        for x in range(1, n + 1):
            sides = links.get((x, y))
            if sides is None:
                row += "#" if (x, y) in blocked else "."
            else:
                row += joint(sides, "*")
            if n <= _WIDE_TEXT:
                row += "─" if sides and "r" in sides else " "
        rows.append(row.rstrip())
    return rows
