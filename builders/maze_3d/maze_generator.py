"""Makes mazes of heights with exactly one route.

The route runs over cells with even rows and columns and the cells between them, so that no two of
its cells are neighbours unless they follow each other. Every other cell gets a height from which no
step and no jump leads to the route.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from scbench.base.seeding import Stream

_HEIGHTS = range(10)


@dataclass(frozen=True, slots=True)
class MazePlan:
    """What a maze is to have.

    Attributes:
        size: rows and columns.
        a_height: height of A.
        b_height: height of B.
        jumps: exact number of jumps on the route.
        least_cells: fewest cells of the route.
        most_cells: most cells of the route.
        favourite: height that all other cells get where they can; None to use all alike.
    """

    size: int
    a_height: int
    b_height: int
    jumps: int
    least_cells: int
    most_cells: int
    favourite: int | None = None


def carve(plan: MazePlan, rng: Stream) -> str | None:
    """Make one try; return the maze's rows, joined by line breaks, or None if it came to nothing.

    The shares of the heights are kept even but not checked.
    """
    n = plan.size
    nodes = _lattice_path(n, rng)
    # A route of k nodes has 2 k - 1 cells, less one for every jump.
    least = max(plan.jumps + 1, 2, (plan.least_cells + plan.jumps + 2) // 2)
    limit = min(len(nodes), (plan.most_cells + plan.jumps + 1) // 2)
    if least > limit:
        return None
    nodes = nodes[: rng.between(least, limit)]
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
    heights = _fill(n, dict(zip(route, line, strict=True)), gaps, plan.favourite, rng)
    if heights is None:
        return None
    text = [str(height) for height in heights]
    text[route[0]], text[route[-1]] = "A", "B"
    return "\n".join("".join(text[y * n : y * n + n]) for y in range(n))


def _lattice_path(n: int, rng: Stream) -> list[int]:
    """Return the longest way from the root of a random depth-first tree over the even cells."""
    side = (n + 1) // 2
    root = (rng.below(side), rng.below(side))
    parents = {root: root}
    depth = {root: 0}
    stack = [root]
    while stack:
        x, y = stack[-1]
        around = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        free = [
            (u, v) for u, v in around if 0 <= u < side and 0 <= v < side and (u, v) not in parents
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
    return [2 * y * n + 2 * x for x, y in path]


def _route_heights(start: int, end: int, is_jump: Sequence[bool], rng: Stream) -> list[int] | None:
    """Return heights along the route: equal over a jump and at least 2, else changing by at most 1.

    Args:
        start: height of A.
        end: height of B.
        is_jump: for each move of the route, whether it is a jump.
        rng: where choices come from.
    """
    # The heights at each place from which the end can still be reached, from the end backwards.
    open_heights = [{end}]
    for jump in reversed(is_jump):
        after = open_heights[-1]
        if jump:
            before = {height for height in after if height >= 2}
        else:
            before = {height for height in _HEIGHTS if after & {height - 1, height, height + 1}}
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


def _fill(
    n: int, route: dict[int, int], gaps: Sequence[int], favourite: int | None, rng: Stream
) -> list[int] | None:
    """Give every cell beside the route a height that leads nowhere; None if one has none left."""
    heights = {**route}
    used = [0] * len(_HEIGHTS)
    for height in route.values():
        used[height] += 1
    planned = set(gaps)
    beside = [cell for cell in range(n * n) if cell not in route and cell not in planned]
    rng.shuffle(beside)
    for cell in [*gaps, *beside]:
        around = _lines(n, cell)
        possible = [
            height
            for height in _HEIGHTS
            if all(_harmless(height, line, heights, route, cell in planned) for line in around)
        ]
        if not possible:
            return None
        least = min(used[height] for height in possible)
        even = [height for height in possible if used[height] == least]
        heights[cell] = favourite if favourite in possible else rng.choice(even)
        used[heights[cell]] += 1
    return [heights[cell] for cell in range(n * n)]


Line = tuple[int, int, int]


def _harmless(
    height: int, line: Line, heights: dict[int, int], route: dict[int, int], planned: bool
) -> bool:
    """Whether a cell of this height joins nothing to the route in one direction.

    Args:
        height: of the cell.
        line: the cells one and two steps on and one step back.
        heights: those set so far, the route's included.
        route: heights of the route.
        planned: whether the cell is a gap that the route is to jump over.
    """
    near, far, back = line
    if near in route:
        if abs(height - route[near]) < 2 or (planned and height > route[near]):
            return False
        # A jump over this cell that begins on the route.
        if not planned and heights.get(back) == route[near] > height:
            return False
    # A jump from the route that lands on this cell.
    return not (route.get(far) == height and heights.get(near, height) <= height - 2)


def _lines(n: int, cell: int) -> list[Line]:
    """Return for each direction the cells one and two steps on and one step back, -1 if outside."""
    x, y = cell % n, cell // n

    def at(u: int, v: int) -> int:
        return v * n + u if 0 <= u < n and 0 <= v < n else -1

    return [
        (at(x + dx, y + dy), at(x + 2 * dx, y + 2 * dy), at(x - dx, y - dy))
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
    ]
