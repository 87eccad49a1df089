"""Walk and reach queries in mazes, checked with a second implementation of the rules."""

import json

import pytest

from scbench.base.seeding import Stream
from scbench.graders.maze_3d.queries import Reach, Walk
from scbench.graders.shared.interaction import QueryError
from scbench.schemas.maze_3d import Params

SMALL = Params(size=3, a_height=5, b_height=0, jumps=1)


def ask(kind, params, maze, **fields):
    line = json.dumps({"query": kind.__name__.lower(), "maze": maze} | fields)
    return kind.model_validate_json(line).observe(params)


def is_step(heights, a, b):
    (r, c), (s, d) = a, b
    return abs(r - s) + abs(c - d) == 1 and abs(heights[a] - heights[b]) <= 1


def is_jump(heights, a, b):
    (r, c), (s, d) = a, b
    if sorted((abs(r - s), abs(c - d))) != [0, 2] or heights[a] != heights[b]:
        return False
    return heights[(r + s) // 2, (c + d) // 2] <= heights[a] - 2


def heights_of(maze, params):
    ends = {"A": params.a_height, "B": params.b_height}
    heights = {}
    for row, line in enumerate(maze):
        for column, letter in enumerate(line):
            height = ends[letter] if letter in ends else int(letter)
            heights[row, column] = height
    return heights


def random_path(rng, heights, size, moves):
    """Return a mostly legal walk, from anywhere."""
    path = [(rng.below(size), rng.below(size))]
    for _ in range(rng.between(0, 8)):
        legal = sorted(moves(path[-1]))
        keep_rules = legal and rng.chance(0.85)
        path.append(rng.choice(legal if keep_rules else sorted(heights)))
    return path


def legal_prefix(path, moves):
    legal = path[:1]
    for cell in path[1:]:
        if cell not in moves(legal[-1]):
            break
        legal.append(cell)
    return legal


def reachable_from(start, moves):
    reached, waiting = {start}, [start]
    while waiting:
        fresh = moves(waiting.pop()) - reached
        reached |= fresh
        waiting += fresh
    return reached


@pytest.mark.parametrize("seed", range(16))
def test_walk_and_reach_follow_prompt_rules(seed):
    rng = Stream("mazes asked about", seed)
    n = rng.between(2, 7)
    params = Params(
        size=n, a_height=rng.between(0, 9), b_height=rng.between(0, 9), jumps=1
    )
    letters = rng.choice(("0123456789AB", "4567", "13B", "035A"))
    maze = ["".join(rng.choice(letters) for _ in range(n)) for _ in range(n)]
    heights = heights_of(maze, params)

    def moves(a):
        return {b for b in heights if is_step(heights, a, b) or is_jump(heights, a, b)}

    path = random_path(rng, heights, n, moves)
    legal = legal_prefix(path, moves)
    report = ask(Walk, params, maze, path=path)
    end = legal[-1]
    if legal == path:
        assert report["wrong"] == ""
    else:
        assert report["wrong"].startswith(f"cell {len(legal)} of the path")
    assert (report["end"], report["height"]) == (list(end), heights[end])
    steps = [list(cell) for cell in sorted(heights) if is_step(heights, end, cell)]
    assert report["steps"] == steps
    jumps = [list(cell) for cell in sorted(heights) if is_jump(heights, end, cell)]
    assert report["jumps"] == jumps

    reached = reachable_from(path[0], moves)
    corner = [rng.below(n), rng.below(n)]
    report = ask(Reach, params, maze, start=path[0], corner=corner)
    assert report["cells"] == len(reached)
    rows = []
    for row in range(corner[0], n):
        cells = [(row, column) for column in range(corner[1], n)]
        rows.append("".join("o" if cell in reached else "." for cell in cells))
    assert report["map"] == rows


@pytest.mark.parametrize(
    ("maze", "path", "why"),
    [
        (["AB5", "814"], [[0, 0]], "3 rows of 3 characters"),
        (["AB5", "814", "82"], [[0, 0]], "3 rows of 3 characters"),
        (["AB5", "814", "82²"], [[0, 0]], "a digit from 0 to 9, A or B"),
        (["AB5", "814", "823"], [[0, 0], [3, 0]], r"each in 0\.\.2"),
        (["AB5", "814", "823"], [[10**300, 0]], r"each in 0\.\.2"),
    ],
)
def test_invalid_mazes_and_cells_are_rejected(maze, path, why):
    with pytest.raises(QueryError, match=why):
        ask(Walk, SMALL, maze, path=path)
