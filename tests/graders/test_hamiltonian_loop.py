"""Hamiltonian loop: each rule and its limits, and a second grader."""

from collections import Counter
from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st
from judging import judging, near_misses

from scbench.graders.hamiltonian_loop.actions import Ask, Play
from scbench.schemas.hamiltonian_loop import Params

verdict, failed, check = judging(
    "hamiltonian_loop", lambda cells: {"steps": [{"xy": list(cell)} for cell in cells]}
)


# . . . .    blocked: the middle of column 2
# . X . .
# . X . .
# . . . .
GRID = Params(size=4, blocked=((2, 2), (2, 3)))
RIGHT = [
    (1, 1), (2, 1), (3, 1), (4, 1), (4, 2), (3, 2), (3, 3),
    (4, 3), (4, 4), (3, 4), (2, 4), (1, 4), (1, 3), (1, 2),
]  # fmt: skip
CELLS = st.tuples(st.integers(0, 5), st.integers(0, 5))


def is_tour(params, cells):
    """Return whether the sides used give every free cell degree 2, in one piece.

    Each pair of cells that follow each other, the last and the first included, is one edge.
    """
    free = set(product(range(1, params.size + 1), repeat=2)) - set(params.blocked)
    edges = Counter(frozenset(pair) for pair in pairwise([*cells, cells[0]]))
    if max(edges.values()) > 1 or any(len(edge) != 2 for edge in edges):
        return False
    neighbours = {cell: set() for cell in free}
    for a, b in edges:
        is_step = abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1
        if not (is_step and a in free and b in free):
            return False
        neighbours[a].add(b)
        neighbours[b].add(a)
    if any(len(near) != 2 for near in neighbours.values()) or len(edges) != len(free):
        return False
    reached, waiting = {cells[0]}, [cells[0]]
    while waiting:
        fresh = neighbours[waiting.pop()] - reached
        reached |= fresh
        waiting += fresh
    return reached == free


@given(near_misses(RIGHT, CELLS) | st.lists(CELLS, min_size=1, max_size=16))
def test_scores_match_second_grader(cells):
    given_verdict = verdict(GRID, cells)
    assert given_verdict.score == is_tour(GRID, cells)
    assert (given_verdict.score == 1) == (not given_verdict.failed)


def test_details_list_positions_and_cells():
    cells = [*RIGHT[:3], (9, 9), (2, 2), RIGHT[0], *RIGHT[4:]]
    assert check(GRID, cells, "inside").details == {"count": 1, "offenders": [3]}
    assert check(GRID, cells, "free").details == {"count": 1, "offenders": [4]}
    assert check(GRID, cells, "repeats").details == {"count": 1, "offenders": [5]}
    assert check(GRID, cells, "adjacent").details == {
        "count": 4,
        "offenders": [3, 4, 5, 6],
    }
    assert check(GRID, cells, "all_cells").details == {
        "count": 1,
        "offenders": [(4, 1)],
    }
    assert verdict(GRID, cells).metrics == {
        "visited": 13,
        "missing": [(4, 1)],
        "repeated": [(1, 1)],
    }
    assert "[9, 9] at position 3" in check(GRID, cells, "inside").message


def test_closing_a_loop_with_its_first_cell_is_explained():
    advice = "Do not list the first cell again at the end."
    closed = check(GRID, [*RIGHT, RIGHT[0]], "count")
    assert not closed.passed
    assert closed.message.endswith(advice)
    # Two cells short, and back at the start: another fault.
    assert advice not in check(GRID, [*RIGHT[:-2], RIGHT[0]], "count").message


def test_map_is_centred_on_end_of_path():
    open_grid = Params(size=60, blocked=())
    row = Ask(action="ask", cells=[(x, 1) for x in range(2, 31)])
    assert Play(open_grid).step(row)["corner"] == [10, 1]


def test_long_lists_are_graded_up_to_a_limit():
    limit = 4 * 14 + 1000
    assert "repeats" in failed(GRID, RIGHT[:1] * limit)
    assert failed(GRID, RIGHT[:1] * (limit + 1)) == {"resource_limit"}
