"""A maze of heights from above and as columns: the route, a second one, or where it ends."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from scbench.report.draw.scene import Lines, Marks, Scene
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.draw.voxels import columns
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts, wrong_line
from scbench.schemas.maze_3d import Answer, Params

# Rows and columns drawn beyond those asked for.
_SPARE = 6
# Cells of fewer pixels have no digit.
_SMALLEST_DIGIT = 9
# In cells of fewer pixels the digits lie below the routes, which they would cut to
# pieces.
_FINE = 22
_MOST_COLUMNS = 50 * 50

Place = Sequence[int]


class _Routes(NamedTuple):
    """What a verdict says about the maze, places as x, y."""

    first: list[Place]
    jumped: list[Place]
    second: list[Place]
    reached: list[Place]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the empty square, or the maze with the routes and faults that the verdict found."""
    if answer is None:
        return _empty_square(params, verdicts)
    limit = params.size + _SPARE
    rows = [row[:limit] for row in answer.maze[:limit]]
    cut = rows != list(answer.maze)
    routes = _routes(verdicts)
    legend: Legend = []
    plan = _plan(params, rows, routes, verdicts, legend)
    caption = _caption(params, routes, verdicts, cut)
    panels = [Panel("from above", plan, f"A square of heights. {caption}")]
    readable = verdicts.passed("shape") and verdicts.passed("characters")
    if readable and params.size**2 <= _MOST_COLUMNS:
        scene = _maze_scene(params, rows, routes)
        panels.append(Panel("as columns", scene, f"The heights as columns. {caption}"))
    panels += gauge_panels(_gauges(params, routes, verdicts))
    return Picture(tuple(panels), caption, tuple(legend), _text(params, rows, routes))


def _empty_square(params: Params, verdicts: Verdicts) -> Picture:
    n = params.size
    drawing = Drawing((0, 0, n, n), size=300, up=False)
    lines = [[(0, i), (n, i)] for i in range(n + 1)] + [
        [(i, 0), (i, n)] for i in range(n + 1)
    ]
    drawing.strokes(lines, "faint")
    least = -(-params.min_route_percent * n * n // 100)
    demands = [
        f"A at height {params.a_height}, B at height {params.b_height}",
        "one route from A to B, and only one",
        f"{params.jumps} jumps or more on it",
        f"{least} cells or more on it",
        f"no height in more than {params.max_height_percent * n * n // 100} cells",
    ]
    for i, words in enumerate(demands):
        drawing.text((n / 2, n / 2), words, size=13, shift=(0, 24 * (i - 2)))
    caption = (
        f"A maze of {n} x {n} heights is to be designed, with one route from A to B that has at "
        f"least {params.jumps} jumps."
    )
    if verdicts:
        caption = f"The answer is no maze. {caption}"
    return Picture((Panel("the square to fill", drawing, "; ".join(demands)),), caption)


def _routes(verdicts: Verdicts) -> _Routes:
    metrics = verdicts.metrics
    reached = (
        verdicts.details("route").get("reached", ()) if verdicts.failed("route") else ()
    )
    names = ("route", "jumped_over", "other_route")
    first, jumped, second = (list(metrics.get(name, ())) for name in names)
    return _Routes(first, jumped, second, list(reached))


def _route_moves(
    route: Sequence[Place],
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    places = [(place[0], place[1]) for place in route]
    return list(pairwise(places))


def _detour_moves(routes: _Routes) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the moves of the other route that are not on the first."""
    shared = {frozenset(move) for move in _route_moves(routes.first)}
    return [
        move for move in _route_moves(routes.second) if frozenset(move) not in shared
    ]


def _plan(
    params: Params,
    rows: Sequence[str],
    routes: _Routes,
    verdicts: Verdicts,
    legend: Legend,
) -> Drawing:
    n = params.size
    width = max([n, *map(len, rows)])
    height = max(n, len(rows))
    size = min(max(24 * max(width, height), 260), 560)
    drawing = Drawing((0, 0, width, height), size=size, up=False, margin=30)
    cell = drawing.scale
    _shade_heights(drawing, params, rows)
    for places, hatched, words in (
        (routes.reached, False, "can be reached from A"),
        (routes.jumped, True, "jumped over"),
    ):
        drawing.tiles(places, "note", hatched=hatched, opacity=1 if hatched else 0.55)
        legend += [("note", words)] * bool(places)
    drawing.line(rectangle((0, 0), (n, n)), "ink", closed=True, width=1.5)
    fine = cell < _FINE
    if fine:
        _draw_digits(drawing, rows)
    thick = min(max(cell / 6, 2), 4)
    main = "right" if verdicts and verdicts[0].score > 0 else "answer"
    if routes.first:
        _draw_moves(drawing, _route_moves(routes.first), main, thick, dashed=False)
        legend.append((main, "the route; jumps are arcs"))
    if routes.second:
        detour = _detour_moves(routes)
        _draw_moves(drawing, detour, "wrong", thick + 1, dashed=True)
        for place in (detour[0][0], detour[-1][1]):
            radius = min(max(cell * 0.55, 6), 24)
            drawing.ring(_cell_middle(place), "wrong", radius=radius, width=2.5)
    marked = _mark_maze_faults(drawing, params, rows, verdicts)
    if not fine:
        _draw_digits(drawing, rows)
    bs = [(x, y) for y, row in enumerate(rows) for x, c in enumerate(row) if c == "B"]
    _ring_cells(drawing, bs if routes.reached else ())
    wrong = {
        "breaks a rule": marked,
        "another way, from ring to ring": routes.second,
        "B, out of reach": routes.reached,
    }
    legend += wrong_line(wrong)
    legend.append(("missing", "hatched: not there"))
    return drawing


def _ring_cells(drawing: Drawing, cells: Iterable[Place]) -> None:
    for cell in cells:
        radius = min(max(drawing.scale * 0.6, 7), 28)
        drawing.ring(_cell_middle(cell), "wrong", radius=radius, width=3)


def _cell_middle(place: Sequence[float]) -> tuple[float, float]:
    return place[0] + 0.5, place[1] + 0.5


def _height(params: Params, character: str) -> int | None:
    heights = {"A": params.a_height, "B": params.b_height} | {
        c: int(c) for c in "0123456789"
    }
    return heights.get(character)


def _shade_heights(drawing: Drawing, params: Params, rows: Sequence[str]) -> None:
    places: dict[int, list[tuple[int, int]]] = {}
    for y, row in enumerate(rows):
        for x, character in enumerate(row):
            height = _height(params, character)
            if height is not None:
                places.setdefault(height, []).append((x, y))
    for height, cells in sorted(places.items()):
        drawing.tiles(cells, "rock", opacity=0.06 + 0.08 * height)


def _draw_digits(drawing: Drawing, rows: Sequence[str]) -> None:
    cell = drawing.scale
    for y, row in enumerate(rows):
        for x, character in enumerate(row):
            place = (x + 0.5, y + 0.5)
            if character in {"A", "B"}:
                drawing.dot(place, "target", radius=min(max(cell * 0.42, 5), 20))
                tip = max(min(cell * 0.6, 16), 9)
                drawing.text(place, character, size=tip, bold=True)
            elif cell >= _SMALLEST_DIGIT:
                drawing.text(place, character, size=min(cell * 0.6, 13))


def _draw_moves(
    drawing: Drawing,
    moves: Sequence[tuple[Place, Place]],
    role: str,
    width: float,
    *,
    dashed: bool,
) -> None:
    steps = []
    for origin, goal in moves:
        (ax, ay), (bx, by) = _cell_middle(origin), _cell_middle(goal)
        if abs(ax - bx) + abs(ay - by) < 2:
            steps.append([(ax, ay), (bx, by)])
            continue
        bulge = (by - ay) * 0.45, (ax - bx) * 0.45
        control = (ax + bx) / 2 + bulge[0], (ay + by) / 2 + bulge[1]
        drawing.curve(
            (ax, ay), control, (bx, by), role, width=width, dashed=dashed, tip="jump"
        )
    drawing.strokes(steps, role, width=width, dashed=dashed)


def _mark_maze_faults(
    drawing: Drawing, params: Params, rows: Sequence[str], verdicts: Verdicts
) -> bool:
    n, cell = params.size, drawing.scale
    if verdicts.failed("shape"):
        for y in verdicts.details("shape").get("wrong_rows", ()):
            if y < len(rows):
                length = len(rows[y])
                corner = (max(length, 0.2), y + 1)
                drawing.box((0, y), corner, "wrong", opacity=0, edge="wrong", width=2)
                if length < n:
                    drawing.box((length, y), (n, y + 1), "missing", hatched=True)
        for y in range(len(rows), n):
            drawing.box((0, y), (n, y + 1), "missing", hatched=True)
        for y in range(n, len(rows)):
            drawing.box(
                (0, y),
                (max(len(rows[y]), 1), y + 1),
                "wrong",
                opacity=0.25,
                edge="wrong",
            )
    for x, y in verdicts.failures.get("characters", ()):
        if y < len(rows) and x < len(rows[y]):
            drawing.cross(
                (x + 0.5, y + 0.5), "wrong", radius=max(cell * 0.4, 4), width=2.5
            )
    for end in "AB" if verdicts.failed("ends") else "":
        places = verdicts.details("ends").get(end, ())
        _ring_cells(drawing, places if len(places) > 1 else ())
    for height, _ in verdicts.failures.get("height_share", ()):
        cells = [
            (x, y)
            for y, row in enumerate(rows)
            for x, character in enumerate(row)
            if _height(params, character) == height
        ]
        drawing.tiles(cells, "wrong", hatched=True, opacity=0.6, tip=f"height {height}")
    kinds = ("shape", "characters", "ends", "height_share")
    return any(map(verdicts.failed, kinds))


def _maze_scene(params: Params, rows: Sequence[str], routes: _Routes) -> Scene:
    """Return the maze as columns, the first row at the back."""
    n = params.size
    heights = np.array(
        [[_height(params, c) or 0 for c in row] for row in rows], dtype=np.float64
    )
    # Indexed x, then y from the front; flattened where tall columns would hide the maze.
    heights = heights[::-1].T * min(max(n / 25, 0.3), 0.5)
    route, reached, ends = (np.zeros((n, n), bool) for _ in range(3))
    for mask, places in ((route, routes.first), (reached, routes.reached)):
        for x, y in places:
            mask[x, n - 1 - y] = True
    letters = [
        (c, x, n - 1 - y)
        for y, row in enumerate(rows)
        for x, c in enumerate(row)
        if c in "AB"
    ]
    for _, x, y in letters:
        ends[x, y] = True
    masks = {
        "given": ~(ends | route | reached),
        "answer": route & ~ends,
        "note": reached & ~ends,
        "target": ends,
    }
    parts: list[Any] = [
        columns(heights, role, base=-0.5, only=mask)
        for role, mask in masks.items()
        if mask.any()
    ]

    def above(place: Place, lift: float) -> tuple[float, float, float]:
        x, y = place[0], n - 1 - place[1]
        return x + 0.5, y + 0.5, float(heights[x, y]) + lift

    for role, moves in (
        ("ink", _route_moves(routes.first)),
        ("wrong", _detour_moves(routes)),
    ):
        path: list[tuple[float, float, float]] = []
        for origin, goal in moves:
            start, end = above(origin, 0.3), above(goal, 0.3)
            path.append(start)
            if abs(origin[0] - goal[0]) + abs(origin[1] - goal[1]) == 2:
                path += [_jump_arc(start, end, i / 8) for i in range(1, 8)]
            path.append(end)
        if path:
            line = np.array(path, dtype=np.float64)
            parts.append(
                Lines((line,), role, 4 if role == "ink" else 3, dashed=role == "wrong")
            )
    if letters:
        tops = np.array(
            [(x + 0.5, y + 0.5, heights[x, y] + 0.9) for _, x, y in letters]
        )
        parts.append(Marks(tops, "ink", 0, tuple(c for c, _, _ in letters)))
    return Scene(tuple(parts), azimuth=-70, elevation=55)


def _jump_arc(
    start: tuple[float, float, float], end: tuple[float, float, float], t: float
) -> tuple[float, float, float]:
    x, y, z = (a + (b - a) * t for a, b in zip(start, end, strict=True))
    return x, y, z + 2.4 * t * (1 - t)


def _gauges(params: Params, routes: _Routes, verdicts: Verdicts) -> list[Gauge]:
    gauges = []
    if routes.first and not routes.second:
        share = round(100 * len(routes.first) / params.size**2, 1)
        label, least = "cells on the route", params.min_route_percent
        gauges.append(
            Gauge(label, share, least, verdicts.passed("coverage"), unit=" %")
        )
        label, jumps = "jumps on the route", len(routes.jumped)
        gauges.append(Gauge(label, jumps, params.jumps, verdicts.passed("jumps")))
    for height, count in verdicts.failures.get("height_share", ()):
        share = round(100 * count / params.size**2, 1)
        limit = params.max_height_percent
        gauges.append(
            Gauge(f"cells of height {height}", share, limit, False, "at most", " %")
        )
    return gauges


def _caption(params: Params, routes: _Routes, verdicts: Verdicts, cut: bool) -> str:
    parts = verdicts.faults(texts("maze_3d.faults"), size=params.size)
    if routes.second:
        parts.append("There is a second way from A to B.")
    elif routes.first:
        cells, jumps = len(routes.first), len(routes.jumped)
        route = f"The only route has {cells} of {params.size**2} cells"
        parts.append(f"{route} and {jumps} jump{'s' * (jumps != 1)}.")
    if routes.reached:
        count = len(routes.reached)
        parts.append(
            f"From A, {count} cell{'s' * (count != 1)} can be reached, but not B."
        )
    if verdicts.failures.get("height_share"):
        parts.append("One height fills too many cells.")
    if verdicts:
        parts.append(f"{verdicts.fraction.capitalize()}.")
    if cut:
        parts.append("Only the beginning of the text is drawn.")
    return " ".join(parts) or "A maze of heights."


def _text(params: Params, rows: Sequence[str], routes: _Routes) -> str:
    """Return the maze and, beside or below it, what the verdict found in it."""
    maze = ["".join(c if c.isprintable() else "?" for c in row) for row in rows]
    if not (routes.first or routes.reached):
        return "\n".join(maze)
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
    key = (
        "B is out of reach; reached: +"
        if routes.reached
        else "the route; jumped over: ^"
    )
    if routes.second:
        key += "; another way: ?"
    findings = [key, *("".join(row) for row in table)]
    if 2 * params.size + 4 > 120:
        return "\n".join([*maze, "", *findings])
    left_column = ["the maze", *maze]
    return "\n".join(
        f"{a:<{max(params.size, 8)}}    {b}"
        for a, b in zip(left_column, findings, strict=True)
    )
