"""A grid with clues, and the rectangles of an answer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from scbench.base.wording import counted
from scbench.report.draw.colours import series
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.picture import Legend, Panel, Picture, Verdicts
from scbench.schemas.shikaku_rectangles import Answer, Params

# Maximum number of rectangles drawn.
MOST_RECTANGLES = 1000
# Grids with more cells are drawn without the numbers of rows and columns.
MOST_CELLS = 3600
# Maximum number of columns in the text form, in which numbers need up to three
# characters.
MOST_COLUMNS = 40
# Colours of rectangles: every series except the one that looks like `wrong`.
COLOURS = tuple(series(i) for i in (0, 2, 3, 5, 4))
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Checks whose offenders are rectangles.
RECTANGLE_CHECKS = ("corners", "inside", "one_clue", "area")

Rectangle = tuple[int, int, int, int]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the clues; with an answer, also its rectangles with errors marked."""
    clue_count = sum(value > 0 for row in params.grid for value in row)
    if answer is None:
        return task_picture(params, clue_count)
    metrics = verdicts.metrics
    pieces = list(answer.rectangles[:MOST_RECTANGLES])
    wrong: set[int] = set()
    for check_id in RECTANGLE_CHECKS:
        wrong.update(verdicts.failures.get(check_id, ()))
    drawing = blank_grid(params, 1 if verdicts.failures.get("inside") else 0)
    corners = [drawn_corners(piece, params) for piece in pieces]
    colours = colours_of(
        {i: piece for i, piece in enumerate(corners) if i not in wrong}
    )
    draw_rectangles(drawing, pieces, corners, colours)
    draw_cell_faults(drawing, metrics)
    draw_clues(drawing, params, metrics.get("open_clues", ()))
    for i in verdicts.failures.get("corners", ()):
        if i < len(pieces):
            x0, y0, x1, y1 = corners[i]
            middle = ((x0 + x1) / 2, (y0 + y1) / 2)
            drawing.cross(middle, "wrong", radius=7, width=3)
    caption = answer_caption(answer, verdicts, clue_count)
    return Picture(
        (Panel("the cut", drawing, caption),),
        caption,
        tuple(legend_lines(colours, wrong, metrics)),
        text_view(params, pieces, metrics),
    )


def task_picture(params: Params, clue_count: int) -> Picture:
    """Return the picture of a grid without an answer."""
    drawing = blank_grid(params, 0)
    draw_clues(drawing, params, ())
    caption = (
        f"Cut {params.width} x {params.height} cells into {counted(clue_count, 'rectangle')}, each "
        "with one clue, which is its area."
    )
    numbers = "\n".join(number_rows(params)) if params.width <= MOST_COLUMNS else None
    return Picture((Panel("the grid", drawing, caption),), caption, text=numbers)


def blank_grid(params: Params, room: int) -> Drawing:
    """Return the blank grid; `room` is the width of the margin in cells."""
    w = params.width
    h = params.height
    size = min(max(26 * max(w, h), 220), 520)
    frame = (-room, -room, w + room, h + room)
    drawing = Drawing(frame, size=size, up=False, margin=22)
    drawing.box((0, 0), (w, h), "paper")
    return drawing


def draw_rectangles(
    drawing: Drawing,
    pieces: Sequence[Sequence[int]],
    corners: Sequence[Rectangle],
    colours: Mapping[int, str],
) -> None:
    """Draw the rectangles of an answer; those without a colour are drawn as wrong."""
    # Gaps between neighbours keep their outlines visible.
    gap = min(2 / drawing.scale, 0.2)
    for i, piece in enumerate(pieces):
        x0, y0, x1, y1 = corners[i]
        low = (x0 + gap, y0 + gap)
        high = (x1 - gap, y1 - gap)
        tip = f"position {i}: {[min(value, 10**6) for value in piece]}"
        role = "wrong"
        opacity = 0.15
        width = 3.5
        if i in colours:
            role = colours[i]
            opacity = 0.3
            width = 2
        drawing.box(low, high, role, opacity=opacity, edge=role, width=width, tip=tip)


def colours_of(rectangles: Mapping[int, Rectangle]) -> dict[int, str]:
    """Return a colour for each rectangle, different from those of its neighbours if possible.

    The next rectangle is always the one whose neighbours use the largest number of colours. If they
    use all colours, it gets the rarest of them.
    """
    neighbours: dict[int, list[int]] = {i: [] for i in rectangles}
    for (i, first), (j, second) in combinations(rectangles.items(), 2):
        if are_neighbours(first, second):
            neighbours[i].append(j)
            neighbours[j].append(i)
    colours: dict[int, str] = {}
    # Colours of the coloured neighbours of each rectangle.
    near: dict[int, Counter[str]] = {i: Counter() for i in rectangles}
    waiting = set(rectangles)
    while waiting:
        next_index = max(waiting, key=lambda i: (len(near[i]), len(neighbours[i]), -i))
        waiting.remove(next_index)
        # This is the first colour that no neighbour has, if there is one.
        colours[next_index] = min(COLOURS, key=lambda colour: near[next_index][colour])
        for i in neighbours[next_index]:
            near[i][colours[next_index]] += 1
    return colours


def are_neighbours(first: Rectangle, second: Rectangle) -> bool:
    """Return whether two rectangles overlap or have a piece of a side in common."""
    across = min(first[2], second[2]) - max(first[0], second[0])
    down = min(first[3], second[3]) - max(first[1], second[1])
    return min(across, down) >= 0 and max(across, down) > 0


def drawn_corners(piece: Sequence[int], params: Params) -> Rectangle:
    """Return the lowest and highest corner of a rectangle, clipped to the grid."""
    x0, y0, x1, y1 = piece
    w = params.width
    h = params.height
    return (
        min(x0, x1, w),
        min(y0, y1, h),
        min(max(x0, x1), w) + 1,
        min(max(y0, y1), h) + 1,
    )


def draw_cell_faults(drawing: Drawing, metrics: Mapping[str, Any]) -> None:
    """Hatch cells in no rectangle, and cross out cells in more than one."""
    uncovered = metrics.get("uncovered", ())
    drawing.tiles(
        uncovered, "missing", hatched=True, opacity=0.55, tip="in no rectangle"
    )
    overlapped = metrics.get("overlapped", ())
    drawing.tiles(overlapped, "ink", opacity=0.25, tip="in more than one rectangle")
    diagonals = []
    for x, y in overlapped:
        a, b, c, d = rectangle((x + 0.12, y + 0.12), (x + 0.88, y + 0.88))
        diagonals += [(a, c), (b, d)]
    drawing.strokes(diagonals, "wrong", width=2)


def draw_clues(
    drawing: Drawing, params: Params, open_clues: Sequence[Sequence[int]]
) -> None:
    """Draw the lines and the clues of the grid, with a ring around each open clue."""
    w = params.width
    h = params.height
    upright = [[(x, 0), (x, h)] for x in range(w + 1)]
    level = [[(0, y), (w, y)] for y in range(h + 1)]
    drawing.strokes(upright + level, "faint", width=0.7)
    drawing.outline((0, 0), (w, h), "ink", width=2)
    cell = drawing.scale
    radius = min(max(cell * 0.46, 5), 13)
    for x, y in open_clues:
        drawing.ring((x + 0.5, y + 0.5), "wrong", radius=radius, width=2.5)
    # Numbers in smaller cells could not be read.
    if cell >= 7:
        size = min(max(cell * 0.5, 8), 14)
        for y, row in enumerate(params.grid):
            for x, value in enumerate(row):
                if value:
                    words = min(value, 9999)
                    drawing.text((x + 0.5, y + 0.5), words, size=size, bold=True)
    if w * h <= MOST_CELLS:
        every = 1 if cell >= 14 else 5
        for x in range(0, w, every):
            drawing.text((x + 0.5, 0), x, "quiet", size=9, shift=(0, -10))
        for y in range(0, h, every):
            drawing.text((0, y + 0.5), y, "quiet", size=9, shift=(-11, 0))


def legend_lines(
    colours: Mapping[int, str], wrong: set[int], metrics: Mapping[str, Any]
) -> Legend:
    """Return the legend; its first line uses the colour of the first right rectangle."""
    legend: Legend = []
    if colours:
        words = "rectangles; the colours only separate neighbours"
        legend.append((colours[min(colours)], words))
    if wrong:
        legend.append(("wrong", "thick: a rectangle that breaks a rule"))
    if metrics.get("overlapped"):
        legend.append(("wrong cross", "cells in more than one rectangle"))
    legend.append(("missing", "hatched: cells in no rectangle"))
    if metrics.get("open_clues"):
        legend.append(("wrong ring", "a clue without a matching rectangle"))
    return legend


def answer_caption(answer: Answer, verdicts: Verdicts, clue_count: int) -> str:
    """Return the figures of an answer."""
    n = len(answer.rectangles)
    summary = counted(n, "rectangle")
    if n > MOST_RECTANGLES:
        summary += f" (only the first {MOST_RECTANGLES:,} are drawn)"
    if not verdicts:
        return f"{summary}."
    metrics = verdicts.metrics
    if "open_clues" not in metrics:
        return f"{summary}, more than the grid has cells; {verdicts.fraction}."
    right = clue_count - len(metrics["open_clues"])
    clues = counted(clue_count, "clue")
    parts = [summary, f"matching rectangles for {right} of {clues}"]
    overlapped = len(metrics["overlapped"])
    uncovered = len(metrics["uncovered"])
    if overlapped:
        parts.append(f"{counted(overlapped, 'cell')} covered more than once")
    if uncovered:
        parts.append(f"{counted(uncovered, 'cell')} in no rectangle")
    outside = len(verdicts.failures.get("inside", ()))
    if outside:
        parts.append(f"{counted(outside, 'rectangle')} not inside the grid")
    return f"{'; '.join([*parts, verdicts.fraction])}."


def text_view(
    params: Params, pieces: Sequence[Sequence[int]], metrics: Mapping[str, Any]
) -> str | None:
    """Return the clues, and below them a letter for the rectangle of each cell."""
    if params.width > MOST_COLUMNS or params.width * params.height > MOST_CELLS:
        return None
    table = [["."] * params.width for _ in range(params.height)]
    for i, piece in enumerate(pieces):
        x0, y0, x1, y1 = drawn_corners(piece, params)
        for y in range(y0, min(y1, params.height)):
            for x in range(x0, min(x1, params.width)):
                table[y][x] = LETTERS[i % len(LETTERS)]
    for x, y in metrics.get("overlapped", ()):
        table[y][x] = "#"
    key = "rectangles; . is in no rectangle, # is in more than one"
    letter_rows = [" ".join(row) for row in table]
    return "\n".join([*number_rows(params), "", key, *letter_rows])


def number_rows(params: Params) -> list[str]:
    """Return the grid as lines of text, with a dot for a cell without a clue."""
    largest = max(map(max, params.grid))
    width = len(str(largest))
    rows = []
    for row in params.grid:
        cells = [f"{value or '.':>{width}}" for value in row]
        rows.append(" ".join(cells))
    return rows
