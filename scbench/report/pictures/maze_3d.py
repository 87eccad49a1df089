"""Pictures of a maze of heights: the route, a second route, or the cells that can be reached."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scbench.base.wording import counted
from scbench.report.draw.columns import columns
from scbench.report.draw.scene import Lines, Marks, Scene, Shape
from scbench.report.draw.svg import Drawing
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts, wrong_line
from scbench.schemas.maze_3d import Answer, Params

# Maximum number of surplus rows and columns drawn.
SPARE = 6
# Cells smaller than this, in pixels, have no digit.
SMALLEST_DIGIT = 9
# In smaller cells, digits are drawn below the routes, which they would otherwise cover.
SMALLEST_FREE_DIGIT = 22
# Larger mazes are not drawn as columns.
MOST_COLUMNS = 50 * 50
# Maximum number of characters in a line of text.
MOST_TEXT = 120
# Number of straight pieces of an arc in 3D.
ARC_STEPS = 8
FAULTS = {
    "resource_limit": "The answer is too long for a maze.",
    "shape": "The rows are not {size} x {size} characters.",
    "characters": "Some characters are not digits, A or B.",
    "ends": "A or B is missing, repeated or in the wrong cell.",
}
# Checks whose offenders are marked in the maze.
MARKED_CHECKS = ("shape", "characters", "ends", "height_share")

# Column and row.
Place = Sequence[int]
Move = tuple[Place, Place]
XYZ = tuple[float, float, float]


class Routes(NamedTuple):
    """The places that a verdict names.

    Attributes:
        first: the route from A to B.
        jumped: cells that it jumps over.
        second: another route.
        reached: all cells that can be reached from A, if B cannot be.
    """

    first: Sequence[Place]
    jumped: Sequence[Place]
    second: Sequence[Place]
    reached: Sequence[Place]

    @property
    def detour(self) -> list[Move]:
        """Moves of the second route that are not on the first."""
        shared = {frozenset(map(tuple, move)) for move in pairwise(self.first)}
        return [
            move
            for move in pairwise(self.second)
            if frozenset(map(tuple, move)) not in shared
        ]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the empty square, or the maze with the routes and errors that the verdict names."""
    if answer is None:
        return empty_square(params, verdicts)
    limit = params.size + SPARE
    rows = [row[:limit] for row in answer.maze[:limit]]
    routes = routes_of(verdicts)
    caption = answer_caption(params, routes, verdicts)
    if rows != list(answer.maze):
        cut = "The picture shows only the beginning of the text."
        caption = f"{caption} {cut}" if caption else cut
    caption = caption or "A maze of heights."
    plan = maze_plan(params, rows, routes, verdicts)
    panels = [Panel("from above", plan, f"A square of heights. {caption}")]
    readable = verdicts.passed("shape") and verdicts.passed("characters")
    if readable and params.size**2 <= MOST_COLUMNS:
        scene = maze_scene(params, rows, routes)
        panels.append(
            Panel("as columns", scene, f"The heights, drawn as columns. {caption}")
        )
    panels += gauge_panels(gauges(params, routes, verdicts))
    legend = legend_lines(routes, verdicts)
    text = text_view(params, rows, routes)
    return Picture(tuple(panels), caption, tuple(legend), text)


def empty_square(params: Params, verdicts: Verdicts) -> Picture:
    """Return the picture of the task without an answer."""
    n = params.size
    drawing = Drawing((0, 0, n, n), size=300, up=False)
    level = [[(0, i), (n, i)] for i in range(n + 1)]
    upright = [[(i, 0), (i, n)] for i in range(n + 1)]
    drawing.strokes(level + upright, "faint")
    # Rounded up, because the percentage is a minimum.
    least = -(-params.min_route_percent * n * n // 100)
    most = params.max_height_percent * n * n // 100
    demands = [
        f"A at height {params.a_height}, B at height {params.b_height}",
        "exactly one route from A to B",
        f"at least {counted(params.jumps, 'jump')} on it",
        f"at least {counted(least, 'cell')} on it",
        f"no height in more than {counted(most, 'cell')}",
    ]
    for i, words in enumerate(demands):
        drawing.text((n / 2, n / 2), words, size=13, shift=(0, 24 * (i - 2)))
    caption = (
        f"Task: a maze of {n} x {n} heights with exactly one route from A to B, with at least "
        f"{counted(params.jumps, 'jump')}."
    )
    if verdicts:
        caption = f"The answer has no maze to draw. {caption}"
    panel = Panel("the square to fill", drawing, "; ".join(demands))
    return Picture((panel,), caption)


def routes_of(verdicts: Verdicts) -> Routes:
    """Return the places that a verdict names."""
    metrics = verdicts.metrics
    reached: Sequence[Place] = ()
    if verdicts.failed("route"):
        reached = verdicts.details("route").get("reached", ())
    return Routes(
        metrics.get("route", ()),
        metrics.get("jumped_over", ()),
        metrics.get("other_route", ()),
        reached,
    )


def maze_plan(
    params: Params, rows: Sequence[str], routes: Routes, verdicts: Verdicts
) -> Drawing:
    """Return the maze from above."""
    n = params.size
    width = max([n, *map(len, rows)])
    height = max(n, len(rows))
    size = min(max(24 * max(width, height), 260), 560)
    drawing = Drawing((0, 0, width, height), size=size, up=False, margin=30)
    shade_heights(drawing, params, rows)
    drawing.tiles(routes.reached, "note", opacity=0.55)
    drawing.tiles(routes.jumped, "note", hatched=True)
    drawing.outline((0, 0), (n, n), "ink", width=1.5)
    digits_below = drawing.scale < SMALLEST_FREE_DIGIT
    if digits_below:
        draw_digits(drawing, rows)
    draw_routes(drawing, routes, verdicts)
    mark_shape(drawing, params, rows, verdicts)
    mark_cells(drawing, params, rows, verdicts)
    if not digits_below:
        draw_digits(drawing, rows)
    if routes.reached:
        ring_cells(drawing, cells_with(rows, "B"))
    return drawing


def height_table(params: Params) -> dict[str, int]:
    """Return the height of each character of a maze."""
    heights = {str(height): height for height in range(10)}
    heights["A"] = params.a_height
    heights["B"] = params.b_height
    return heights


def cells_with(rows: Sequence[str], characters: str) -> list[tuple[int, int]]:
    """Return the cells (x, y) with one of these characters, row by row."""
    cells = []
    for y, row in enumerate(rows):
        cells += [(x, y) for x, character in enumerate(row) if character in characters]
    return cells


def shade_heights(drawing: Drawing, params: Params, rows: Sequence[str]) -> None:
    """Fill the cells; higher ones are darker."""
    heights = height_table(params)
    cells_by_height: dict[int, list[tuple[int, int]]] = {}
    for x, y in cells_with(rows, "".join(heights)):
        cells_by_height.setdefault(heights[rows[y][x]], []).append((x, y))
    for height, cells in sorted(cells_by_height.items()):
        drawing.tiles(cells, "rock", opacity=0.06 + 0.08 * height)


def draw_digits(drawing: Drawing, rows: Sequence[str]) -> None:
    """Write the characters of the cells that are large enough; A and B always."""
    cell = drawing.scale
    for y, row in enumerate(rows):
        for x, character in enumerate(row):
            place = (x + 0.5, y + 0.5)
            if character in {"A", "B"}:
                drawing.dot(place, "target", radius=min(max(cell * 0.42, 5), 20))
                size = max(min(cell * 0.6, 16), 9)
                drawing.text(place, character, size=size, bold=True)
            elif cell >= SMALLEST_DIGIT:
                drawing.text(place, character, size=min(cell * 0.6, 13))


def draw_routes(drawing: Drawing, routes: Routes, verdicts: Verdicts) -> None:
    """Draw the route, and between rings the part of a second route that differs."""
    cell = drawing.scale
    width = min(max(cell / 6, 2), 4)
    if routes.first:
        moves = list(pairwise(routes.first))
        draw_moves(drawing, moves, route_role(verdicts), width)
    detour = routes.detour
    if detour:
        draw_moves(drawing, detour, "wrong", width + 1, dashed=True)
        radius = min(max(cell * 0.55, 6), 24)
        for place in (detour[0][0], detour[-1][1]):
            drawing.ring(cell_middle(place), "wrong", radius=radius, width=2.5)


def route_role(verdicts: Verdicts) -> str:
    """Return the colour of the route."""
    return "right" if verdicts and verdicts[0].score > 0 else "answer"


def draw_moves(
    drawing: Drawing,
    moves: Sequence[Move],
    role: str,
    width: float,
    *,
    dashed: bool = False,
) -> None:
    """Draw steps to neighbours as lines, and jumps as arcs."""
    steps = []
    for origin, goal in moves:
        ax, ay = cell_middle(origin)
        bx, by = cell_middle(goal)
        if not is_jump(origin, goal):
            steps.append([(ax, ay), (bx, by)])
            continue
        # Bulged to the left of the jump, next to the cell that it crosses.
        control = (
            (ax + bx) / 2 + (by - ay) * 0.45,
            (ay + by) / 2 + (ax - bx) * 0.45,
        )
        start = (ax, ay)
        end = (bx, by)
        drawing.curve(start, control, end, role, width=width, dashed=dashed, tip="jump")
    drawing.strokes(steps, role, width=width, dashed=dashed)


def is_jump(origin: Place, goal: Place) -> bool:
    """Return whether a move passes over a cell."""
    return abs(origin[0] - goal[0]) + abs(origin[1] - goal[1]) == 2


def cell_middle(place: Place) -> tuple[float, float]:
    """Return the middle of a cell."""
    return place[0] + 0.5, place[1] + 0.5


def mark_shape(
    drawing: Drawing, params: Params, rows: Sequence[str], verdicts: Verdicts
) -> None:
    """Mark rows that are too long or too short, and rows that are missing or too many."""
    if not verdicts.failed("shape"):
        return
    n = params.size
    for y in verdicts.details("shape").get("wrong_rows", ()):
        if y < len(rows):
            length = len(rows[y])
            # An empty row gets a narrow box, which can still be seen.
            end = (max(length, 0.2), y + 1)
            drawing.box((0, y), end, "wrong", opacity=0, edge="wrong", width=2)
            if length < n:
                drawing.box((length, y), (n, y + 1), "missing", hatched=True)
    for y in range(len(rows), n):
        drawing.box((0, y), (n, y + 1), "missing", hatched=True)
    for y in range(n, len(rows)):
        end = (max(len(rows[y]), 1), y + 1)
        drawing.box((0, y), end, "wrong", opacity=0.25, edge="wrong")


def mark_cells(
    drawing: Drawing, params: Params, rows: Sequence[str], verdicts: Verdicts
) -> None:
    """Mark invalid characters, repeated ends, and heights that are too common."""
    radius = max(drawing.scale * 0.4, 4)
    for x, y in verdicts.failures.get("characters", ()):
        if y < len(rows) and x < len(rows[y]):
            drawing.cross(cell_middle((x, y)), "wrong", radius=radius, width=2.5)
    if verdicts.failed("ends"):
        for end in "AB":
            cells = verdicts.details("ends").get(end, ())
            if len(cells) > 1:
                ring_cells(drawing, cells)
    heights = height_table(params)
    for height, _ in verdicts.failures.get("height_share", ()):
        characters = [letter for letter, value in heights.items() if value == height]
        cells = cells_with(rows, "".join(characters))
        tip = f"height {height}"
        drawing.tiles(cells, "wrong", hatched=True, opacity=0.6, tip=tip)


def ring_cells(drawing: Drawing, cells: Iterable[Place]) -> None:
    """Draw a ring around cells."""
    radius = min(max(drawing.scale * 0.6, 7), 28)
    for cell in cells:
        drawing.ring(cell_middle(cell), "wrong", radius=radius, width=3)


def maze_scene(params: Params, rows: Sequence[str], routes: Routes) -> Scene:
    """Return the maze as columns, with the first row at the back."""
    n = params.size
    table = height_table(params)
    row_heights = [[table.get(sign, 0) for sign in row] for row in rows]
    # Tall columns would hide the maze.
    flattening = min(max(n / 25, 0.3), 0.5)
    # Indexed x, then y from the front.
    heights = np.array(row_heights, np.float64)[::-1].T * flattening
    end_cells = cells_with(rows, "AB")
    # Each column has one colour: first that of the ends, then that of the route.
    ends = place_mask(n, end_cells)
    route = place_mask(n, routes.first)
    reached = place_mask(n, routes.reached)
    masks = {
        "given": ~(ends | route | reached),
        "answer": route & ~ends,
        "note": reached & ~ends,
        "target": ends,
    }
    parts: list[Shape] = [
        columns(heights, role, base=-0.5, only=mask)
        for role, mask in masks.items()
        if mask.any()
    ]
    if len(routes.first) > 1:
        line = np.array(list(path_in_space(pairwise(routes.first), heights)))
        parts.append(Lines((line,), "ink", 4))
    if routes.detour:
        line = np.array(list(path_in_space(routes.detour, heights)))
        parts.append(Lines((line,), "wrong", 3, dashed=True))
    if end_cells:
        tops = np.array([point_above(heights, cell, 0.9) for cell in end_cells])
        letters = tuple(rows[y][x] for x, y in end_cells)
        parts.append(Marks(tops, "ink", 0, letters))
    return Scene(tuple(parts), azimuth=-70, elevation=55)


def place_mask(n: int, places: Iterable[Place]) -> npt.NDArray[np.bool_]:
    """Return a mask of places, indexed x, then y from the front."""
    mask = np.zeros((n, n), bool)
    for x, y in places:
        mask[x, n - 1 - y] = True
    return mask


def path_in_space(
    moves: Iterable[Move], heights: npt.NDArray[np.float64]
) -> Iterator[XYZ]:
    """Yield the points of moves just above the columns, jumps as arcs."""
    for origin, goal in moves:
        start = point_above(heights, origin, 0.3)
        end = point_above(heights, goal, 0.3)
        yield start
        if is_jump(origin, goal):
            for i in range(1, ARC_STEPS):
                yield arc_point(start, end, i / ARC_STEPS)
        yield end


def point_above(heights: npt.NDArray[np.float64], place: Place, lift: float) -> XYZ:
    """Return a point over the middle of a column."""
    x = place[0]
    y = len(heights) - 1 - place[1]
    return x + 0.5, y + 0.5, float(heights[x, y]) + lift


def arc_point(start: XYZ, end: XYZ, t: float) -> XYZ:
    """Return a point of an arc that rises between two points; t goes from 0 to 1."""
    x, y, z = (a + (b - a) * t for a, b in zip(start, end, strict=True))
    return x, y, z + 2.4 * t * (1 - t)


def legend_lines(routes: Routes, verdicts: Verdicts) -> Legend:
    """Return the legend."""
    legend: Legend = []
    if routes.reached:
        legend.append(("note", "cells that can be reached from A"))
    if routes.jumped:
        legend.append(("note", "cells that the route jumps over"))
    if routes.first:
        legend.append((route_role(verdicts), "route; jumps are arcs"))
    wrong = {
        "breaks a rule": any(map(verdicts.failed, MARKED_CHECKS)),
        "second route, between the rings": routes.detour,
        "B cannot be reached": routes.reached,
    }
    legend += wrong_line(wrong)
    legend.append(("missing", "hatched: missing cells"))
    return legend


def gauges(params: Params, routes: Routes, verdicts: Verdicts) -> Iterator[Gauge]:
    """Yield bars for the single route and for heights that are too common."""
    cells = params.size**2
    if routes.first and not routes.second:
        share = round(100 * len(routes.first) / cells, 1)
        least = params.min_route_percent
        passed = verdicts.passed("coverage")
        yield Gauge("cells on the route", share, least, passed, unit=" %")
        jumps = len(routes.jumped)
        passed = verdicts.passed("jumps")
        yield Gauge("jumps on the route", jumps, params.jumps, passed)
    for height, count in verdicts.failures.get("height_share", ()):
        share = round(100 * count / cells, 1)
        label = f"cells of height {height}"
        limit = params.max_height_percent
        yield Gauge(label, share, limit, False, "at most", " %")


def answer_caption(params: Params, routes: Routes, verdicts: Verdicts) -> str:
    """Return the findings of a verdict in words; empty without a verdict."""
    parts = verdicts.faults(FAULTS, size=params.size)
    if routes.second:
        parts.append("There is a second route from A to B.")
    elif routes.first:
        jumps = counted(len(routes.jumped), "jump")
        route = f"The only route has {len(routes.first)} of {params.size**2} cells"
        parts.append(f"{route} and {jumps}.")
    if routes.reached:
        cells = counted(len(routes.reached), "cell")
        parts.append(f"{cells} can be reached from A, but not B.")
    if verdicts.failures.get("height_share"):
        parts.append("One height occurs in too many cells.")
    if verdicts:
        parts.append(f"{verdicts.fraction.capitalize()}.")
    return " ".join(parts)


def printable_row(row: str) -> str:
    """Return a row with a question mark for each character that terminals do not print."""
    signs = [sign if sign.isprintable() else "?" for sign in row]
    return "".join(signs)


def text_view(params: Params, rows: Sequence[str], routes: Routes) -> str:
    """Return the maze as text, with the verdict's places next to it or below."""
    maze = [printable_row(row) for row in rows]
    if not (routes.first or routes.reached):
        return "\n".join(maze)
    findings = [text_key(routes), *map("".join, sign_table(params, rows, routes))]
    # Both are side by side only if they fit in one line.
    if 2 * params.size + 4 > MOST_TEXT:
        return "\n".join([*maze, "", *findings])
    width = max(params.size, 8)
    lines = []
    for maze_line, line in zip(["the maze", *maze], findings, strict=True):
        lines.append(f"{maze_line:<{width}}    {line}")
    return "\n".join(lines)


def text_key(routes: Routes) -> str:
    """Return the meaning of the signs of the text form."""
    key = "the route; jumped over: ^"
    if routes.reached:
        key = "B cannot be reached; reached: +"
    if routes.second:
        key += "; second route: ?"
    return key


def sign_table(params: Params, rows: Sequence[str], routes: Routes) -> list[list[str]]:
    """Return a sign for each cell: the characters of the route, and other signs."""
    table = [["."] * params.size for _ in range(params.size)]
    for places, sign in (
        (routes.reached, "+"),
        (routes.jumped, "^"),
        (routes.second, "?"),
    ):
        for x, y in places:
            table[y][x] = sign
    for x, y in routes.first:
        table[y][x] = rows[y][x]
    return table
