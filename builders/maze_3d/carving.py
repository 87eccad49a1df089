"""Mazes carved around a route.

The route runs over nodes, which are in every second row and column, and over the cells between
them. So no two of its cells are neighbours unless they follow each other. Every other cell gets a
height from which no step and no jump leads to the route. Cells are numbered row by row.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from scbench.base.seeding import Stream

_HEIGHTS = range(10)
# Row and column, or the two parts of a step.
Cell = tuple[int, int]
_DIRECTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0))


@dataclass(frozen=True, slots=True)
class MazePlan:
    """The requirements on a maze.

    Attributes:
        size: rows and columns.
        a_height: height of A.
        b_height: height of B.
        jumps: number of jumps of the route.
        least_cells: minimum number of cells of the route.
        most_cells: maximum number of cells of the route.
        favourite: the height of all other cells where possible; None to use all heights evenly.
        ends: the cells of A and B; None if they may be anywhere.
    """

    size: int
    a_height: int
    b_height: int
    jumps: int
    least_cells: int
    most_cells: int
    favourite: int | None = None
    ends: tuple[Cell, Cell] | None = None

    @property
    def node_range(self) -> tuple[int, int]:
        """The smallest and the largest number of nodes of a route."""
        # The route over k nodes has 2 k - 1 cells, less one for each jump.
        least = (self.least_cells + self.jumps + 2) // 2
        most = (self.most_cells + self.jumps + 1) // 2
        return max(self.jumps + 1, 2, least), most


class Ray(NamedTuple):
    """The next two cells in one direction from a cell, and the one behind; -1 outside the maze."""

    near: int
    far: int
    back: int


def carve(plan: MazePlan, rng: Stream) -> str | None:
    """Try once to carve a maze; return its rows, joined by line breaks, or None on failure.

    The shares of the heights are kept even but not checked.
    """
    nodes = draw_nodes(plan, rng)
    return None if nodes is None else carve_along(nodes, plan, rng)


def carve_along(nodes: Sequence[int], plan: MazePlan, rng: Stream) -> str | None:
    """Try once to carve a maze whose route runs over these nodes; see `carve`."""
    # Steps between nodes that the route takes as jumps.
    leaps = set(rng.sample(range(len(nodes) - 1), plan.jumps))
    route = [nodes[0]]
    # Whether each move of the route is a jump.
    is_jump: list[bool] = []
    gaps: list[int] = []
    for i, (node, next_node) in enumerate(pairwise(nodes)):
        middle = (node + next_node) // 2
        if i in leaps:
            gaps.append(middle)
            is_jump.append(True)
        else:
            route.append(middle)
            is_jump += [False, False]
        route.append(next_node)
    profile = draw_profile(plan.a_height, plan.b_height, is_jump, rng)
    if profile is None:
        return None
    route_heights = dict(zip(route, profile, strict=True))
    heights = fill_heights(plan.size, route_heights, gaps, plan.favourite, rng)
    if heights is None:
        return None
    cells = list(map(str, heights))
    cells[route[0]] = "A"
    cells[route[-1]] = "B"
    return as_rows(cells, plan.size)


def as_rows(cells: Sequence[str], n: int) -> str:
    """Return the n rows of a maze, joined by line breaks."""
    return "\n".join("".join(cells[at : at + n]) for at in range(0, n * n, n))


def winding_nodes(n: int) -> list[int]:
    """Return the nodes in every second of n rows and columns, back and forth from the first."""
    nodes: list[int] = []
    for row in range(0, n, 2):
        line = range(row * n, row * n + n, 2)
        nodes += reversed(line) if row % 4 else line
    return nodes


def draw_nodes(plan: MazePlan, rng: Stream) -> list[int] | None:
    """Draw the nodes of a route in order; None if there are too few or too many."""
    least, most = plan.node_range
    if plan.ends is None:
        nodes = draw_lattice_path(plan.size, rng)
        most = min(len(nodes), most)
        return nodes[: rng.between(least, most)] if least <= most else None
    if least > most:
        return None
    nodes = draw_path_between(plan.size, plan.ends, rng.between(least, most), rng)
    # A path grows by two nodes at a time, so it can end with one too many.
    return nodes if least <= len(nodes) <= most + 1 else None


def draw_lattice_path(n: int, rng: Stream, corner: Cell = (0, 0)) -> list[int]:
    """Draw a depth-first tree over all nodes; return the longest path from a leaf to its root.

    ``corner`` is the row and column, 0 or 1, of the first node.
    """
    first_row, first_column = corner
    rows = (n + 1 - first_row) // 2
    columns = (n + 1 - first_column) // 2
    # Coordinates here are in steps of two cells.
    root = (rng.below(columns), rng.below(rows))
    parents = {root: root}
    depth = {root: 0}
    stack = [root]
    while stack:
        x, y = stack[-1]
        neighbours = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        free = [
            (u, v)
            for u, v in neighbours
            if 0 <= u < columns and 0 <= v < rows and (u, v) not in parents
        ]
        if not free:
            stack.pop()
            continue
        step = rng.choice(free)
        parents[step] = (x, y)
        depth[step] = depth[x, y] + 1
        stack.append(step)
    # From the deepest node back to the root.
    node = max(depth, key=depth.__getitem__)
    path = [node]
    while node != root:
        node = parents[node]
        path.append(node)
    return [(2 * y + corner[0]) * n + 2 * x + corner[1] for x, y in path]


def draw_path_between(
    n: int, ends: tuple[Cell, Cell], size: int, rng: Stream
) -> list[int]:
    """Draw a path of ``size`` nodes, or one more, between two ends; empty if it got stuck.

    It begins as two straight lines, and grows where a step can be pushed aside into free nodes.
    """
    (y, x), (v, u) = ends
    y_step = 2 if v > y else -2
    x_step = 2 if u > x else -2
    down = [(row, x) for row in range(y, v, y_step)]
    along = [(v, column) for column in range(x, u, x_step)]
    path = [*down, *along, (v, u)]
    occupied = set(path)
    for _ in range(40 * size):
        if not 1 < len(path) < size:
            break
        i = rng.below(len(path) - 1)
        side = rng.choice((-2, 2))
        step = path[i : i + 2]
        is_horizontal = step[0][0] == step[1][0]
        # A step within a row moves up or down, a step within a column left or right.
        aside = (side, 0) if is_horizontal else (0, side)
        pushed = [(row + aside[0], column + aside[1]) for row, column in step]
        if all(min(node) >= 0 and max(node) < n for node in pushed) and (
            occupied.isdisjoint(pushed)
        ):
            path[i + 1 : i + 1] = pushed
            occupied.update(pushed)
    return [row * n + column for row, column in path] if len(path) >= size else []


def draw_profile(
    start: int, end: int, is_jump: Sequence[bool], rng: Stream
) -> list[int] | None:
    """Draw heights of a route: the same height, at least 2, across a jump; else steps of at most 1.

    None if the end cannot be reached.
    """
    # The heights from which the end can still be reached, for each place from the end backwards.
    open_heights = [{end}]
    for jump in reversed(is_jump):
        after = open_heights[-1]
        if jump:
            # The cell between is at least 2 lower.
            before = {height for height in after if height >= 2}
        else:
            before = {height for height in _HEIGHTS if after & _climbs(height)}
        open_heights.append(before)
    open_heights.reverse()
    if start not in open_heights[0]:
        return None
    profile = [start]
    for jump, possible in zip(is_jump, open_heights[1:], strict=True):
        height = profile[-1]
        reachable = {height} if jump else _climbs(height)
        profile.append(rng.choice(sorted(reachable & possible)))
    return profile


def _climbs(height: int) -> set[int]:
    """Return the heights that a step from a height can lead to."""
    return {height - 1, height, height + 1}


def fill_heights(
    n: int,
    route: Mapping[int, int],
    gaps: Collection[int],
    favourite: int | None,
    rng: Stream,
) -> list[int] | None:
    """Give every cell off the route a height that leads nowhere; None if that is impossible.

    Args:
        n: rows and columns.
        route: heights of the cells on the route.
        gaps: cells that the route jumps over.
        favourite: the height of all cells where possible.
        rng: the source of the draws.
    """
    heights = {**route}
    # The number of cells with each height so far.
    usage = [0] * len(_HEIGHTS)
    for height in route.values():
        usage[height] += 1
    planned = {*route, *gaps}
    other_cells = [cell for cell in range(n * n) if cell not in planned]
    rng.shuffle(other_cells)
    rays = rays_of(n)
    # Gaps come first, because they have the fewest choices.
    for cell in [*gaps, *other_cells]:
        harmful: set[int] = set()
        is_gap = cell in gaps
        for ray in rays[cell]:
            harmful |= harmful_heights(ray, heights, route, is_gap=is_gap)
        possible = [height for height in _HEIGHTS if height not in harmful]
        if not possible:
            return None
        if favourite in possible:
            height = favourite
        else:
            least = min(usage[height] for height in possible)
            rarest = [height for height in possible if usage[height] == least]
            height = rng.choice(rarest)
        heights[cell] = height
        usage[height] += 1
    return [heights[cell] for cell in range(n * n)]


def harmful_heights(
    ray: Ray, heights: Mapping[int, int], route: Mapping[int, int], *, is_gap: bool
) -> set[int]:
    """Return the heights of a cell that would join something to the route in one direction.

    ``heights`` are those of the cells so far, including the route.
    """
    harmful: set[int] = set()
    if ray.near in route:
        level = route[ray.near]
        harmful = _climbs(level)
        if is_gap:
            harmful.update(range(level, len(_HEIGHTS)))
        elif heights.get(ray.back) == level:
            # A jump over this cell that begins on the route.
            harmful.update(range(level))
    if ray.far in route:
        level = route[ray.far]
        if heights.get(ray.near, level) <= level - 2:
            # A jump from the route that lands on this cell.
            harmful.add(level)
    return harmful


@lru_cache(maxsize=64)
def rays_of(n: int) -> list[list[Ray]]:
    """Return the rays from every cell of n rows and columns, one in each direction."""
    rays = []
    for cell in range(n * n):
        y, x = divmod(cell, n)
        rays.append(
            [
                Ray(
                    _cell_at(y + dy, x + dx, n),
                    _cell_at(y + 2 * dy, x + 2 * dx, n),
                    _cell_at(y - dy, x - dx, n),
                )
                for dy, dx in _DIRECTIONS
            ]
        )
    return rays


def _cell_at(row: int, column: int, n: int) -> int:
    """Return the number of a cell, -1 outside the maze."""
    return row * n + column if 0 <= row < n and 0 <= column < n else -1
