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


@pytest.mark.parametrize("seed", range(16))
def test_walk_and_reach_follow_prompt_rules(seed):
    rng = Stream("mazes asked about", seed)
    n = rng.between(2, 7)
    params = Params(
        size=n, a_height=rng.between(0, 9), b_height=rng.between(0, 9), jumps=1
    )
    letters = rng.choice(("0123456789AB", "4567", "13B", "035A"))
    maze = ["".join(rng.choice(letters) for _ in range(n)) for _ in range(n)]
    ends = {"A": params.a_height, "B": params.b_height}
    heights = {
        (r, c): ends[maze[r][c]] if maze[r][c] in ends else int(maze[r][c])
        for r in range(n)
        for c in range(n)
    }

    def moves(a):
        return {b for b in heights if is_step(heights, a, b) or is_jump(heights, a, b)}

    path = [(rng.below(n), rng.below(n))]
    for _ in range(rng.between(0, 8)):
        way = sorted(moves(path[-1]))
        path.append(rng.choice(way if way and rng.chance(0.85) else sorted(heights)))
    legal = [path[0]]
    for cell in path[1:]:
        if cell not in moves(legal[-1]):
            break
        legal.append(cell)
    report = ask(Walk, params, maze, path=path)
    end = legal[-1]
    assert (report["wrong"] == "") == (legal == path)
    assert report["wrong"] == "" or report["wrong"].startswith(
        f"cell {len(legal)} of the path"
    )
    assert (report["end"], report["height"]) == (list(end), heights[end])
    assert report["steps"] == [
        list(b) for b in sorted(heights) if is_step(heights, end, b)
    ]
    assert report["jumps"] == [
        list(b) for b in sorted(heights) if is_jump(heights, end, b)
    ]

    reached, grown = set(), {path[0]}
    while grown - reached:
        reached |= grown
        grown = {b for a in reached for b in moves(a)}
    corner = [rng.below(n), rng.below(n)]
    report = ask(Reach, params, maze, start=path[0], corner=corner)
    assert report["cells"] == len(reached)
    assert report["map"] == [
        "".join("o" if (r, c) in reached else "." for c in range(corner[1], n))
        for r in range(corner[0], n)
    ]


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
