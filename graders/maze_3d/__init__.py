"""Grades a maze of heights that should have exactly one route from A to B.

Steps and jumps are edges of a graph of cells. There is exactly one route if and only if each edge
of some route is a bridge. Then the cells and jumps of that route are counted.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.maze_3d import Answer, Params

VERSION = 2

CHECKS = {
    "shape": "The rows form a square of the required size.",
    "characters": "Every character is a digit from 0 to 9, A or B.",
    "ends": "A and B occur once each, in the required cells if the item specifies any.",
    "height_share": "No height occurs in more than the permitted share of the cells.",
    "route": "B can be reached from A.",
    "one_route": "There is only one route from A to B.",
    "coverage": "The route visits the required share of the cells.",
    "jumps": "The route has enough jumps.",
}

# Checks of a route from A to B.
_ROUTE = ("route", "one_route", "coverage", "jumps")
# Maximum length of a list in the details of a check.
_MAX_ENTRIES = 50

CHARACTERS = frozenset("0123456789AB")
# For every cell, numbered row by row, the possible next cells.
Graph = list[list[int]]


class Routes(NamedTuple):
    """Routes from A to B, as cells numbered row by row."""

    route: list[int]
    """A shortest route; empty if there is none."""
    detour: list[int]
    """Another route; empty if there is none."""
    reached: list[int]
    """All cells that can be reached from A."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the maze follows every rule, else 0."""
    checks = Checklist(CHECKS)
    n = params.size
    rows = answer.maze
    size = sum(map(len, rows))
    if max(size, len(rows)) > most_characters(n):
        return checks.too_large(
            f"The {len(rows):,} rows have {size:,} characters; the limit is {most_characters(n):,}."
        )
    readable = judge_text(checks, n, rows)
    has_ends = judge_ends(checks, params, rows)
    if not readable:
        checks.skip(
            ("height_share", *_ROUTE), "The rows do not form a square of heights."
        )
        return checks.binary()
    cells = "".join(rows)
    heights = [height_of(params, character) for character in cells]
    judge_shares(checks, params, heights)
    if not has_ends:
        checks.skip(_ROUTE, "The maze does not have one A and one B.")
        return checks.binary()
    routes = find_routes(move_graph(n, heights), cells.index("A"), cells.index("B"))
    return judge_routes(checks, params, routes)


def most_characters(n: int) -> int:
    """Return the maximum number of characters, and of rows, in a graded answer."""
    return 4 * n * n + 4 * n


def judge_text(checks: Checklist, n: int, rows: Sequence[str]) -> bool:
    """Check that the rows form a square of permitted characters."""
    ragged = [y for y, row in enumerate(rows) if len(row) != n]
    wrong = f"The maze must have {n} rows of {n} characters. It has {counted(len(rows), 'row')}"
    if ragged:
        length = counted(len(rows[ragged[0]]), "character")
        wrong += f", {len(ragged)} of another length; row {ragged[0]} (counting from 0) is the "
        wrong += f"first, with {length}"
    square = checks.expect(
        "shape",
        len(rows) == n and not ragged,
        f"{wrong}.",
        rows=len(rows),
        wrong_rows=ragged[:_MAX_ENTRIES],
    )
    strange: list[list[int]] = []
    for y, row in enumerate(rows):
        unknown = [x for x, mark in enumerate(row) if mark not in CHARACTERS]
        strange += [[x, y] for x in unknown]
    clean = checks.forbid_many(
        "characters",
        strange,
        "characters are not permitted",
        lambda at: (
            f"is {rows[at[1]][at[0]]!r} in row {at[1]}, column {at[0]} (counting from 0)"
        ),
        one="character is not permitted",
    )
    return square and clean


def judge_ends(checks: Checklist, params: Params, rows: Sequence[str]) -> bool:
    """Check A and B; return whether there is one of each, wherever they lie."""
    places: dict[str, list[list[int]]] = {"A": [], "B": []}
    for y, row in enumerate(rows):
        for x, character in enumerate(row):
            if character in places:
                places[character].append([x, y])
    count_a = len(places["A"])
    count_b = len(places["B"])
    wrong = f"A must occur once and B once; the maze has {count_a} A and {count_b} B."
    once = count_a == 1 and count_b == 1
    right = once
    if once and params.ends is not None:
        for end, (y, x) in zip("AB", params.ends, strict=True):
            ((at_x, at_y),) = places[end]
            if (at_x, at_y) != (x, y):
                right = False
                wrong = (
                    f"{end} must be in row {y}, column {x} (counting from 0), but is in row "
                    f"{at_y}, column {at_x}."
                )
    first_places = {end: cells[: params.size] for end, cells in places.items()}
    checks.expect("ends", right, wrong, **first_places)
    return once


def height_of(params: Params, character: str) -> int:
    """Return the height of a cell with a permitted character."""
    if character == "A":
        return params.a_height
    if character == "B":
        return params.b_height
    return int(character)


def judge_shares(checks: Checklist, params: Params, heights: Sequence[int]) -> None:
    """Check how many cells have each height."""
    percent = params.max_height_percent
    too_many = []
    for height, count in sorted(Counter(heights).items()):
        is_above = 100 * count > percent * len(heights)
        if is_above:
            too_many.append([height, count])
    checks.forbid(
        "height_share",
        too_many,
        lambda item: (
            f"Height {item[0]} fills {item[1]} of {len(heights)} cells; at most {percent} % are "
            "permitted."
        ),
    )


def judge_routes(checks: Checklist, params: Params, routes: Routes) -> Verdict:
    """Check the routes, and return the verdict."""
    n = params.size
    route, detour, reached = routes
    places = as_places(route, n)
    unreached = {} if route else {"reached": as_places(reached, n)}
    wrong = f"B cannot be reached from A, but {counted(len(reached), 'cell')} can, including A."
    if not checks.expect("route", bool(route), wrong, **unreached):
        checks.skip(("one_route", "coverage", "jumps"), "There is no route.")
        return checks.binary()
    # A jump is identified by the cell that it leaps over.
    jumps = []
    for (x, y), (u, v) in pairwise(places):
        is_jump = abs(x - u) + abs(y - v) == 2
        if is_jump:
            jumps.append([(x + u) // 2, (y + v) // 2])
    wrong = f"There are several routes, such as one of {len(route)} and one of {len(detour)} cells."
    if checks.expect("one_route", not detour, wrong):
        share = params.min_route_percent
        wrong = f"The route visits {len(route)} of {n * n} cells; at least {share} % are required."
        checks.expect("coverage", 100 * len(route) >= share * n * n, wrong)
        wrong = f"The route has {counted(len(jumps), 'jump')}; the minimum is {params.jumps}."
        checks.expect("jumps", len(jumps) >= params.jumps, wrong)
    else:
        checks.skip(("coverage", "jumps"), "There are several routes.")
    return checks.binary(
        route=places, jumped_over=jumps, other_route=as_places(detour, n)
    )


def as_places(cells: Iterable[int], n: int) -> list[list[int]]:
    """Return the column and row of cells of a maze of n columns."""
    return [[cell % n, cell // n] for cell in cells]


def move_graph(n: int, heights: Sequence[int]) -> Graph:
    """Return the cells that a step or jump can reach from each cell of an n x n maze."""
    graph: Graph = [[] for _ in heights]
    for cell, height in enumerate(heights):
        x = cell % n
        y = cell // n
        # Only right and down, because every move also works backwards.
        for step, room in ((1, n - 1 - x), (n, n - 1 - y)):
            if room < 1:
                continue
            neighbour = cell + step
            difference = heights[neighbour] - height
            if -1 <= difference <= 1:
                graph[cell].append(neighbour)
                graph[neighbour].append(cell)
            beyond = neighbour + step
            if difference <= -2 and room > 1 and heights[beyond] == height:
                graph[cell].append(beyond)
                graph[beyond].append(cell)
    return graph


def find_routes(graph: Graph, start: int, end: int) -> Routes:
    """Return a shortest route from start to end, and another one if there is any."""
    parents = {start: start}
    waiting = [start]
    for cell in waiting:  # grows during the loop
        for neighbour in graph[cell]:
            if neighbour not in parents:
                parents[neighbour] = cell
                waiting.append(neighbour)
    if end not in parents:
        return Routes([], [], sorted(parents))
    route = _back(parents, end)
    return Routes(route, second_route(graph, route), sorted(parents))


def second_route(graph: Graph, route: list[int]) -> list[int]:
    """Return a second route; empty if all edges of the first are bridges.

    All of them are bridges if, without these edges, no two cells of the route are connected.
    """
    place = {cell: i for i, cell in enumerate(route)}
    visited: set[int] = set()
    for i, start in enumerate(route):
        parents = {start: start}
        waiting = [start]
        for cell in waiting:  # grows during the loop
            for neighbour in graph[cell]:
                if neighbour in parents or neighbour in visited:
                    continue
                j = place.get(neighbour, -1)
                if j < 0:
                    parents[neighbour] = cell
                    waiting.append(neighbour)
                elif cell != start or abs(i - j) > 1:
                    # Not an edge of the route itself.
                    parents[neighbour] = cell
                    way_round = _back(parents, neighbour)
                    return route[:i] + way_round + route[j + 1 :]
        visited.update(parents)
    return []


def _back(parents: dict[int, int], cell: int) -> list[int]:
    """Return the path from the root to this cell."""
    way = [cell]
    while parents[cell] != cell:
        cell = parents[cell]
        way.append(cell)
    return way[::-1]
