"""Hamiltonian loop: the rules one by one, their edges, and a second way to judge a tour."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import judging

from scbench.catalog import get_task
from scbench.schemas.hamiltonian_loop import Params
from scbench.scoring.judge import judge

verdict, failed, check = judging(
    "hamiltonian_loop", lambda cells: {"steps": [{"xy": list(cell)} for cell in cells]}
)

TASK = get_task("hamiltonian_loop")

# . . . .    blocked: the middle of column 2
# . X . .
# . X . .
# . . . .
GRID = Params(size=4, blocked=((2, 2), (2, 3)))
RIGHT = [
    (1, 1), (2, 1), (3, 1), (4, 1), (4, 2), (3, 2), (3, 3),
    (4, 3), (4, 4), (3, 4), (2, 4), (1, 4), (1, 3), (1, 2),
]  # fmt: skip


def is_tour(params, cells):
    """The other way round: as a graph, the sides used give every free cell degree 2, in one piece.

    Each pair of cells that follow each other, the last and the first included, is one edge.
    """
    size = params.size
    free = {(x, y) for x in range(1, size + 1) for y in range(1, size + 1)} - set(params.blocked)
    edges = Counter(frozenset(pair) for pair in pairwise([*cells, cells[0]]))
    if max(edges.values()) > 1 or any(len(edge) != 2 for edge in edges):
        return False
    beside = {cell: set() for cell in free}
    for a, b in edges:
        if a not in free or b not in free or (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 != 1:
            return False
        beside[a].add(b)
        beside[b].add(a)
    if any(len(near) != 2 for near in beside.values()) or len(edges) != len(free):
        return False
    reached, waiting = {cells[0]}, [cells[0]]
    while waiting:
        fresh = beside[waiting.pop()] - reached
        reached |= fresh
        waiting += fresh
    return reached == free


def every_tour(params):
    """All closed tours by plain search, from every start in both directions."""
    size = params.size
    free = {(x, y) for x in range(1, size + 1) for y in range(1, size + 1)} - set(params.blocked)
    found = []

    def extend(path):
        x, y = path[-1]
        beside = {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)}
        if len(path) == len(free) and path[0] in beside:
            found.append(list(path))
        for cell in sorted(beside & free - set(path)):
            extend([*path, cell])

    for start in sorted(free):
        extend([start])
    return found


@pytest.mark.parametrize("blocked", [(), ((2, 2), (2, 3)), ((1, 1), (2, 1)), ((1, 1), (4, 1))])
def test_every_tour_of_a_small_grid_is_right(blocked):
    params = Params(size=4, blocked=blocked)
    tours = every_tour(params)
    assert len(tours) % (2 * (16 - len(blocked))) == 0
    assert tours
    for tour in tours:
        assert is_tour(params, tour)
        assert verdict(params, tour).score == 1


CELLS = st.tuples(st.integers(0, 5), st.integers(0, 5))


@st.composite
def near_misses(draw):
    cells = list(RIGHT)
    for _ in range(draw(st.integers(1, 3))):
        i, j = (draw(st.integers(0, len(cells) - 1)) for _ in range(2))
        match draw(st.integers(0, 4)):
            case 0 if len(cells) > 1:
                del cells[i]
            case 1:
                cells.insert(i, draw(CELLS))
            case 2:
                cells[i] = draw(CELLS)
            case 3:
                cells[i], cells[j] = cells[j], cells[i]
            case _:
                cells = cells[i:] + cells[:i]
    return cells


@given(near_misses() | st.lists(CELLS, min_size=1, max_size=16))
def test_any_list_gets_the_score_of_the_second_judge(cells):
    given_verdict = verdict(GRID, cells)
    assert given_verdict.score == is_tour(GRID, cells)
    assert (given_verdict.score == 1) == (not given_verdict.failed)


FAULTS = {
    "one_missing": (RIGHT[:-1], {"count", "all_cells", "closed"}),
    "first_missing": (RIGHT[1:], {"count", "all_cells", "closed"}),
    "start_repeated_at_the_end": ([*RIGHT, RIGHT[0]], {"count", "repeats", "closed"}),
    "twice_round": (RIGHT + RIGHT, {"count", "repeats"}),
    "one_cell_only": (RIGHT[:1], {"count", "all_cells", "closed"}),
    "two_cells_only": (RIGHT[:2], {"count", "all_cells"}),
    "two_exchanged": ([RIGHT[0], RIGHT[2], RIGHT[1], *RIGHT[3:]], {"adjacent"}),
    "out_and_back": (RIGHT[:8] + RIGHT[6:0:-1], {"repeats", "all_cells"}),
    "shuttle": ([RIGHT[i % 2] for i in range(14)], {"repeats", "all_cells"}),
    "same_cell_twice_in_a_row": (
        [*RIGHT[:5], RIGHT[4], *RIGHT[5:]],
        {"count", "repeats", "adjacent"},
    ),
    # Down column 1, along row 4, up through columns 3 and 4: every cell, but the ends are apart.
    "not_closed": (
        [(2, 1), (1, 1), (1, 2), (1, 3), (1, 4), (2, 4), (3, 4), (4, 4), (4, 3), (3, 3), (3, 2),
         (3, 1), (4, 1), (4, 2)],
        {"closed"},
    ),
    "through_a_blocked_cell": (
        [(1, 1), (2, 1), (3, 1), (4, 1), (4, 2), (3, 2), (2, 2), (1, 2)],
        {"count", "free", "all_cells"},
    ),
    "starts_in_a_blocked_cell": ([(2, 2), *RIGHT[1:]], {"free", "all_cells"}),
    "jump_over_the_obstacle": ([(1, 2), (3, 2)], {"count", "all_cells", "adjacent", "closed"}),
    "diagonal": ([(1, 1), (2, 1), (1, 2)], {"count", "all_cells", "adjacent"}),
    "outside_at_zero": ([(0, 1), *RIGHT[1:]], {"inside", "all_cells", "adjacent", "closed"}),
    "outside_beyond": ([*RIGHT[:4], (5, 1), *RIGHT[4:]], {"count", "inside", "adjacent"}),
    "counted_from_zero": (
        [(x - 1, y - 1) for x, y in RIGHT],
        {"inside", "free", "all_cells"},
    ),
    "huge": ([(10**400, 1), *RIGHT[1:]], {"inside", "all_cells", "adjacent", "closed"}),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named_and_no_other(name):
    cells, expected = FAULTS[name]
    assert failed(GRID, cells) == expected
    assert verdict(GRID, cells).score == 0


def test_a_shuttle_with_a_counter_scores_nothing():
    for item in TASK.builder().paper():
        counters = TASK.builder().counter_references(item.params)
        (given_verdict,) = judge(TASK, item.params, counters["shuttle_with_a_counter"])
        assert given_verdict.score == 0


RESEARCH_CELLS = ((5, 3), (5, 4), (12, 3), (12, 4), (7, 10), (8, 10))


def test_subtask_6_blocks_the_cells_that_its_prompt_shows():
    builder = TASK.builder()
    params = builder.paper()[6].params
    assert set(params.blocked) == {(5, 5), (5, 6), (12, 5), (12, 6), (7, 10), (8, 10)}
    other = Params(size=16, blocked=RESEARCH_CELLS)
    right_there = [step["xy"] for step in builder.reference(other).steps]
    assert verdict(other, right_there).score == 1
    assert failed(params, right_there) >= {"free", "all_cells"}
    right_here = [step["xy"] for step in builder.reference(params).steps]
    assert failed(other, right_here) >= {"free", "all_cells"}


def test_positions_and_cells_are_told_for_a_picture():
    cells = [*RIGHT[:3], (9, 9), (2, 2), RIGHT[0], *RIGHT[4:]]
    assert check(GRID, cells, "inside").details == {"count": 1, "offenders": [3]}
    assert check(GRID, cells, "free").details == {"count": 1, "offenders": [4]}
    assert check(GRID, cells, "repeats").details == {"count": 1, "offenders": [5]}
    assert check(GRID, cells, "adjacent").details == {"count": 4, "offenders": [3, 4, 5, 6]}
    assert check(GRID, cells, "all_cells").details == {"count": 1, "offenders": [(4, 1)]}
    assert verdict(GRID, cells).metrics == {
        "visited": 13,
        "missing": [(4, 1)],
        "repeated": [(1, 1)],
    }
    assert "[9, 9] at position 3" in check(GRID, cells, "inside").message


def test_a_repeated_start_is_told_from_other_wrong_counts():
    assert "repeated at the end" in check(GRID, [*RIGHT, RIGHT[0]], "count").message
    assert "repeated at the end" not in check(GRID, [*RIGHT, RIGHT[1]], "count").message


def test_long_lists_are_judged_up_to_a_bound():
    limit = 4 * 14 + 1000
    assert "repeats" in failed(GRID, RIGHT[:1] * limit)
    assert failed(GRID, RIGHT[:1] * (limit + 1)) == {"resource_limit"}


@pytest.mark.parametrize(
    ("size", "blocked"),
    [(4, [(0, 1)]), (4, [(1, 5)]), (4, [(1, 1), (1, 1)]), (2, [(1, 1)]), (1, [])],
)
def test_grids_that_make_no_sense_are_refused(size, blocked):
    with pytest.raises(ValueError):
        Params(size=size, blocked=tuple(blocked))
