"""3D maze: prompts, fresh requirements that can be met, and a constructive solver.

The route runs over cells with even rows and columns and the cells between them, so that no two of
its cells are neighbours unless they follow each other. Every other cell gets a height from which no
step and no jump leads to the route.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, parameter, under
from scbench.graders.maze_3d import find_routes, grade, move_graph
from scbench.schemas.maze_3d import Answer, Params

_TRIES = 200
_DRAWS = 20
_HEIGHTS = range(10)
Line = tuple[int, int, int]


class Space(Point):
    """Parameters of fresh requirements; what is left open is drawn."""

    size: int = parameter(12, "rows and columns", ge=5, le=40)
    a_height: int | None = parameter(None, "height of A; open: 0 to 9", ge=0, le=9)
    b_height: int | None = parameter(None, "height of B; open: 0 to 9", ge=0, le=9)
    jumps: int | None = parameter(
        None,
        "least number of jumps; open: size / 6 to size / 2. More is harder",
        ge=1,
        le=20,
    )
    max_height_percent: int | None = parameter(
        None,
        "largest share of one height; open: 20 to 35. Less is harder",
        ge=15,
        le=100,
    )
    min_route_percent: int | None = parameter(
        None,
        "least share of cells on the route; open: 12 to 24. More is harder",
        ge=1,
        le=30,
    )
    placed: bool = parameter(False, "whether it is drawn where A and B must lie")


class TaskBuilder(Builder[Params, Answer, Space]):
    """Requirements on mazes that some maze is known to meet."""

    task = "maze_3d"
    version = 3
    form = '{"maze": [row, row, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the requirements."""
        n = params.size
        return {
            "n": n,
            "places": _ends_text(params),
            "a": params.a_height,
            "b": params.b_height,
            "jumps": params.jumps,
            "jumps_word": "jump" if params.jumps == 1 else "jumps",
            "route": params.min_route_percent,
            "least": _least_cells(params),
            "cells": n * n,
            "share": params.max_height_percent,
            "most": params.max_height_percent * n * n // 100,
        }

    def reference(self, params: Params) -> Answer:
        """Carve mazes until one keeps every rule."""
        maze = _solve(params)
        if maze is None:
            raise GenerationError(f"no maze in {_TRIES} tries; ask for less")
        return _maze_answer(maze)

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return mazes that break one rule, and other ways to write a maze down."""
        rows = list(self.reference(params).maze)
        maze = "\n".join(rows)
        first, last = rows[0], rows[-1]
        digit = next(c for c in maze if c.isdigit())
        wrong = {
            "empty": "",
            "prose_before": f"Here is a maze with one route:\n\n{maze}",
            "prose_after": f"{maze}\n\nThe route has {params.jumps} jumps.",
            "reply_cut_off": maze[: len(maze) // 2],
            "row_missing": "\n".join(rows[:-1]),
            "row_too_many": f"{maze}\n{last}",
            "row_too_short": "\n".join([first[:-1], *rows[1:]]),
            "row_too_long": "\n".join([*rows[:-1], last + "9"]),
            "one_line": "".join(rows),
            "rows_apart": "\n\n".join(rows),
            "blanks_between": "\n".join(" ".join(row) for row in rows),
            "commas_between": "\n".join(",".join(row) for row in rows),
            "indented": "\n".join(f"  {row}" for row in rows),
            "no_a": maze.replace("A", str(params.a_height)),
            "no_b": maze.replace("B", str(params.b_height)),
            "two_of_a": maze.replace(digit, "A", 1),
            "small_letters": maze.lower(),
            "letters_for_walls": maze.replace(digit, "X", 1),
            "raised_digit": maze.replace(digit, "\N{SUPERSCRIPT TWO}", 1),
            "digits_of_another_script": maze.replace(
                digit, "\N{ARABIC-INDIC DIGIT TWO}", 1
            ),
            "flat": _flat_maze(params),
            "sentinel": "__content_violation__",
        }
        wrong |= dict(_rule_breakers(params, maze))
        forms: dict[str, JsonValue] = {
            **{name: list[JsonValue](text.split("\n")) for name, text in wrong.items()},
            "text_with_prose": f"Here is a maze with one route:\n{maze}",
            "rows_of_cells": [list[JsonValue](row) for row in rows],
            "rows_as_numbers": [
                int("".join(c for c in row if c.isdigit())) for row in rows
            ],
        }
        return under("maze", forms) | {"bare_list": list[JsonValue](rows)}

    def measure(self, params: Params) -> float:
        """Return how many cells a route must have at the least, and two more for each jump."""
        return _least_cells(params) + 2 * params.jumps

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw what is left open until the solver finds a maze."""
        n = point.size

        def pick(fixed: int | None, low: int, high: int) -> int:
            return rng.between(low, high) if fixed is None else fixed

        for _ in range(_DRAWS):
            params = Params(
                size=n,
                a_height=pick(point.a_height, 0, 9),
                b_height=pick(point.b_height, 0, 9),
                jumps=pick(point.jumps, max(1, n // 6), max(1, n // 2)),
                max_height_percent=pick(point.max_height_percent, 20, 35),
                min_route_percent=pick(point.min_route_percent, 12, 24),
            )
            if point.placed:
                params = _with_ends(params, rng)
            if _solve(params) is not None:
                return params
        raise GenerationError(
            f"no maze of size {n} was found in {_DRAWS} draws of what was left open; ask for fewer "
            "jumps, a shorter route or a larger share of one height"
        )


def _ends_text(params: Params) -> str:
    if params.ends is None:
        return ""
    (a_row, a_column), (b_row, b_column) = params.ends
    return (
        f"- A is in row {a_row}, column {a_column}, and B in row {b_row}, column {b_column}. Rows "
        "are counted from 0 at\n  the top, columns from 0 at the left.\n"
    )


def _with_ends(params: Params, rng: Stream) -> Params:
    """Draw a route, and ask for its ends."""
    n = params.size
    corner = rng.below(2), rng.below(2)
    nodes = _lattice_path(n, rng, corner)
    least, limit = _range_of_nodes(params.jumps, *_range_of_cells(params))
    limit = min(limit, len(nodes))
    nodes = nodes[: rng.between(min(least, limit), limit)]
    ends = tuple(divmod(node, n) for node in (nodes[0], nodes[-1]))
    return params.model_copy(update={"ends": ends})


def _range_of_nodes(jumps: int, least_cells: int, most_cells: int) -> tuple[int, int]:
    """Return how many nodes a route may have: k of them are 2 k - 1 cells, less one for a jump."""
    return max(jumps + 1, 2, (least_cells + jumps + 2) // 2), (
        most_cells + jumps + 1
    ) // 2


def _maze_answer(maze: str) -> Answer:
    return Answer(maze=tuple(maze.split("\n")))


def _least_cells(params: Params) -> int:
    return -(-params.min_route_percent * params.size**2 // 100)


def _range_of_cells(params: Params) -> tuple[int, int]:
    """Return how many cells a route is to have: enough for its share, the climb and the jumps."""
    climb = abs(params.a_height - params.b_height)
    least = max(_least_cells(params), climb + params.jumps + 1)
    return least, least + max(6, least // 3)


@lru_cache(maxsize=64)
def _solve(params: Params) -> str | None:
    """Return a maze that keeps every rule, always the same one; None if none is found."""
    return _carved(params, params.jumps, *_range_of_cells(params))


def _carved(
    params: Params, jumps: int, least: int, longest: int, favourite: int | None = None
) -> str | None:
    """Return a maze that breaks only these rules: jumps, cells of the route, a height too often."""
    heights = params.a_height, params.b_height
    plan = MazePlan(
        params.size, *heights, jumps, least, longest, favourite, params.ends
    )
    name = [jumps, least, longest, favourite]
    rng = Stream("maze_3d", "solver", params.model_dump(mode="json"), name)
    broken = _broken(params, jumps, longest, favourite)
    for _ in range(_TRIES):
        maze = carve(plan, rng)
        if maze is not None:
            failed = {check.id for check in grade(params, _maze_answer(maze)).failed}
            if failed == broken:
                return maze
    return None


def _broken(
    params: Params, jumps: int, longest: int, favourite: int | None
) -> set[str]:
    broken = {"height_share"} if favourite is not None else set()
    if jumps < params.jumps:
        broken.add("jumps")
    if longest < _least_cells(params):
        broken.add("coverage")
    return broken


def _flat_maze(params: Params) -> str:
    n = params.size
    cells = "A" + str(params.a_height) * (n * n - 2) + "B"
    return "\n".join(cells[y * n : y * n + n] for y in range(n))


def _rule_breakers(params: Params, maze: str) -> Iterator[tuple[str, str]]:
    """Yield mazes that are right but for one rule, where such a maze is found."""
    least, longest = _range_of_cells(params)
    fewer = _carved(params, params.jumps - 1, least, longest)
    if fewer is not None:
        yield "one_jump_too_few", fewer
    shorter = _carved(params, params.jumps, 2, _least_cells(params) - 1)
    if shorter is not None:
        yield "route_too_short", shorter
    crowded = _carved(params, params.jumps, least, longest, favourite=9)
    if crowded is not None:
        yield "one_height_too_often", crowded
    n = params.size
    plain = maze.replace("\n", "")
    ends = {"A": params.a_height, "B": params.b_height}
    heights = [int(ends.get(cell, cell)) for cell in plain]
    route = find_routes(
        move_graph(n, heights), plain.index("A"), plain.index("B")
    ).route
    yield from _changed_heights(n, plain, heights, route)


def _changed_heights(
    n: int, plain: str, heights: Sequence[int], route: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Yield the maze with one cell beside the route changed."""
    jumps = {(a + b) // 2: a for a, b in pairwise(route) if abs(a - b) in {2, 2 * n}}
    for gap, start in list(jumps.items())[:1]:
        # Over a cell that is not 2 lower there is no jump, but two steps.
        yield "gap_too_shallow", _with(n, plain, gap, heights[start] - 1)
        yield "gap_filled", _with(n, plain, gap, heights[start])
    for cell in sorted({*range(n * n)} - {*route, *jumps}):
        around = (
            (cell - 1, cell % n > 0),
            (cell + 1, cell % n < n - 1),
            (cell - n, cell >= n),
            (cell + n, cell < n * n - n),
        )
        beside = [heights[at] for at, inside in around if inside and at in route]
        if len(beside) >= 2 and max(beside) - min(beside) <= 2:
            # A wall that is none joins two cells of the route.
            yield (
                "wall_that_is_none",
                _with(n, plain, cell, (min(beside) + max(beside)) // 2),
            )
            return


def _with(n: int, plain: str, cell: int, height: int) -> str:
    changed = plain[:cell] + str(height) + plain[cell + 1 :]
    return "\n".join(changed[y * n : y * n + n] for y in range(n))


@dataclass(frozen=True, slots=True)
class MazePlan:
    """What a maze is to have: sides, heights of A and B, jumps, and cells of the route.

    The favourite is the height that all other cells get where they can; None is to use all alike.
    Ends are rows and columns of A and B, unless these may lie anywhere.
    """

    size: int
    a_height: int
    b_height: int
    jumps: int
    least_cells: int
    most_cells: int
    favourite: int | None = None
    ends: tuple[tuple[int, int], tuple[int, int]] | None = None


def carve(plan: MazePlan, rng: Stream) -> str | None:
    """Make one try; return the maze's rows, joined by line breaks, or None if it came to nothing.

    The shares of the heights are kept even but not checked.
    """
    n = plan.size
    least, limit = _range_of_nodes(plan.jumps, plan.least_cells, plan.most_cells)
    nodes = [] if plan.ends else _lattice_path(n, rng)
    limit = min(len(nodes), limit) if nodes else limit
    if least > limit:
        return None
    size = rng.between(least, limit)
    nodes = _path_between(n, plan.ends, size, rng) if plan.ends else nodes[:size]
    if not least <= len(nodes) <= limit + 1:
        return None
    leaps = set(rng.sample(range(len(nodes) - 1), plan.jumps))
    route: list[int] = [nodes[0]]
    is_jump: list[bool] = []
    gaps: list[int] = []
    for i in range(len(nodes) - 1):
        middle = (nodes[i] + nodes[i + 1]) // 2
        if i in leaps:
            gaps.append(middle)
            is_jump.append(True)
        else:
            route.append(middle)
            is_jump += [False, False]
        route.append(nodes[i + 1])
    line = _route_heights(plan.a_height, plan.b_height, is_jump, rng)
    if line is None:
        return None
    heights = _fill_heights(
        n, dict(zip(route, line, strict=True)), gaps, plan.favourite, rng
    )
    if heights is None:
        return None
    text = [str(height) for height in heights]
    text[route[0]], text[route[-1]] = "A", "B"
    return "\n".join("".join(text[y * n : y * n + n]) for y in range(n))


def _lattice_path(n: int, rng: Stream, corner: tuple[int, int] = (0, 0)) -> list[int]:
    """Return the longest way from the root of a random depth-first tree over every other cell.

    The corner is the row and column, 0 or 1, of the first of these cells.
    """
    rows, columns = ((n + 1 - first) // 2 for first in corner)
    root = (rng.below(columns), rng.below(rows))
    parents = {root: root}
    depth = {root: 0}
    stack = [root]
    while stack:
        x, y = stack[-1]
        around = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        free = [
            (u, v)
            for u, v in around
            if 0 <= u < columns and 0 <= v < rows and (u, v) not in parents
        ]
        if not free:
            stack.pop()
            continue
        step = rng.choice(free)
        parents[step] = (x, y)
        depth[step] = depth[x, y] + 1
        stack.append(step)
    node = max(depth, key=depth.__getitem__)
    path = [node]
    while parents[node] != node:
        node = parents[node]
        path.append(node)
    return [(2 * y + corner[0]) * n + 2 * x + corner[1] for x, y in path]


def _path_between(
    n: int, ends: tuple[tuple[int, int], tuple[int, int]], size: int, rng: Stream
) -> list[int]:
    """Return a way of some nodes, or one more, in steps of two cells; empty if it got stuck.

    It begins as two straight lines, and grows where a step can be pushed aside into free cells.
    """
    (y, x), (v, u) = ends
    down = [(y + 2 * i * (1 if v > y else -1), x) for i in range(abs(v - y) // 2)]
    along = [(v, x + 2 * i * (1 if u > x else -1)) for i in range(abs(u - x) // 2 + 1)]
    path = [*down, *along]
    occupied = set(path)
    tries = 40 * size
    while len(path) < size and tries and len(path) > 1:
        tries -= 1
        i, side = rng.below(len(path) - 1), rng.choice((-2, 2))
        (y, x), (v, u) = path[i : i + 2]
        aside = (side, 0) if y == v else (0, side)
        pushed = [(a + aside[0], b + aside[1]) for a, b in ((y, x), (v, u))]
        if all(0 <= a < n and 0 <= b < n and (a, b) not in occupied for a, b in pushed):
            path[i + 1 : i + 1] = pushed
            occupied.update(pushed)
    return [a * n + b for a, b in path] if len(path) >= size else []


def _route_heights(
    start: int, end: int, is_jump: Sequence[bool], rng: Stream
) -> list[int] | None:
    """Return heights of a route: equal over a jump and at least 2, else changing by at most 1."""
    # The heights at each place from which the end can still be reached, from the end backwards.
    open_heights = [{end}]
    for jump in reversed(is_jump):
        after = open_heights[-1]
        if jump:
            before = {height for height in after if height >= 2}
        else:
            before = {
                height
                for height in _HEIGHTS
                if after & {height - 1, height, height + 1}
            }
        open_heights.append(before)
    open_heights.reverse()
    if start not in open_heights[0]:
        return None
    line = [start]
    for jump, possible in zip(is_jump, open_heights[1:], strict=True):
        height = line[-1]
        choices = [height] if jump else [height - 1, height, height + 1]
        line.append(rng.choice([choice for choice in choices if choice in possible]))
    return line


def _fill_heights(
    n: int,
    route: dict[int, int],
    gaps: Sequence[int],
    favourite: int | None,
    rng: Stream,
) -> list[int] | None:
    """Give every cell beside the route a height that leads nowhere; None if one has none left."""
    heights = {**route}
    used = [0] * len(_HEIGHTS)
    for height in route.values():
        used[height] += 1
    planned = set(gaps)
    beside = [
        cell for cell in range(n * n) if cell not in route and cell not in planned
    ]
    rng.shuffle(beside)
    lines = _lines(n)
    for cell in [*gaps, *beside]:
        harmful: set[int] = set()
        for line in lines[cell]:
            harmful |= _harmful(line, heights, route, cell in planned)
        possible = [height for height in _HEIGHTS if height not in harmful]
        if not possible:
            return None
        least = min(used[height] for height in possible)
        even = [height for height in possible if used[height] == least]
        heights[cell] = favourite if favourite in possible else rng.choice(even)
        used[heights[cell]] += 1
    return [heights[cell] for cell in range(n * n)]


def _harmful(
    line: Line, heights: dict[int, int], route: dict[int, int], planned: bool
) -> set[int]:
    """Return the heights of a cell that join something to the route in one direction.

    The line holds the cells one and two steps on and one step back; ``heights`` are those set so
    far, the route's included. A planned cell is a gap that the route is to jump over.
    """
    near, far, back = line
    harmful: set[int] = set()
    if near in route:
        level = route[near]
        harmful = {level - 1, level, level + 1}
        if planned:
            harmful |= {height for height in _HEIGHTS if height > level}
        elif heights.get(back) == level:
            # A jump over this cell that begins on the route.
            harmful |= {height for height in _HEIGHTS if height < level}
    if far in route and heights.get(near, route[far]) <= route[far] - 2:
        # A jump from the route that lands on this cell.
        harmful.add(route[far])
    return harmful


@lru_cache(maxsize=64)
def _lines(n: int) -> list[list[Line]]:
    """Return for each cell and direction the cells one and two steps on and one step back.

    What lies outside is -1.
    """

    def at(u: int, v: int) -> int:
        return v * n + u if 0 <= u < n and 0 <= v < n else -1

    return [
        [
            (at(x + dx, y + dy), at(x + 2 * dx, y + 2 * dy), at(x - dx, y - dy))
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
        ]
        for y in range(n)
        for x in range(n)
    ]
