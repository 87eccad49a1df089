"""Shikaku: each rule and its limits, and a second grader."""

from collections import Counter
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from judging import judging

from scbench.schemas.shikaku_rectangles import Params

verdict, failed, check = judging(
    "shikaku_rectangles", lambda given: {"rectangles": given}
)

# 4 0 2    its only solution: the square at the left, the pair next to it,
# 0 0 0    and the row below.
# 0 3 0
SMALL = Params(width=3, height=3, grid=((4, 0, 2), (0, 0, 0), (0, 3, 0)))
RIGHT = [[0, 0, 1, 1], [2, 0, 2, 1], [0, 2, 2, 2]]


corner = st.integers(0, 4)
any_rectangle = st.tuples(corner, corner, corner, corner)


def test_details_use_positions_in_the_answer():
    rectangles = [[2, 0, 2, 1], [0, 2, 2, 2], [1, 1, 0, 0], [0, 0, 1, 1]]
    assert check(SMALL, rectangles, "corners").details == {"count": 1, "offenders": [2]}
    rectangles = [[0, 2, 2, 2], [0, 0, 9, 1], [2, 0, 2, 1]]
    offenders = {"inside": [1], "overlap": [1, 2], "one_clue": [1]}
    for check_id, places in offenders.items():
        details = check(SMALL, rectangles, check_id).details
        assert details == {"count": len(places), "offenders": places}
    rectangles = [RIGHT[2], RIGHT[1], [0, 0, 1, 0], [0, 1, 1, 1]]
    assert check(SMALL, rectangles, "area").details == {"count": 1, "offenders": [2]}
    one_clue = check(SMALL, rectangles, "one_clue")
    assert one_clue.details == {"count": 1, "offenders": [3]}


def test_more_rectangles_than_cells_are_rejected():
    cells = [[x, y, x, y] for x in range(3) for y in range(3)]
    ones = Params(width=3, height=3, grid=((1,) * 3,) * 3)
    assert verdict(ones, cells).score == 1
    assert failed(ones, [*cells, cells[0]]) == {"resource_limit"}


def cut_is_right(grid, rectangles):
    """Check the rules cell by cell."""
    height, width = len(grid), len(grid[0])
    every = list(product(range(width), range(height)))
    count = Counter()
    for left, top, right, bottom in rectangles:
        cells = list(product(range(left, right + 1), range(top, bottom + 1)))
        if not set(cells) <= set(every):
            return False
        clues = [grid[y][x] for x, y in cells if grid[y][x]]
        if clues != [len(cells)]:
            return False
        count.update(cells)
    return count == Counter(every)


@st.composite
def nearly_right(draw):
    """Draw a puzzle, cut row by row, and its solution with up to two changes."""
    width, height = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rectangles = []
    for y in range(height):
        x = 0
        while x < width:
            end = draw(st.integers(x, width - 1))
            rectangles.append((x, y, end, y))
            x = end + 1
    grid = [[0] * width for _ in range(height)]
    for left, y, right, _ in rectangles:
        grid[y][draw(st.integers(left, right))] = right - left + 1
    for _ in range(draw(st.integers(0, 2))):
        where = draw(st.integers(0, len(rectangles)))
        match draw(st.sampled_from(["drop", "add", "replace"])):
            case "drop":
                del rectangles[where : where + 1]
            case "add":
                rectangles.insert(where, draw(any_rectangle))
            case _:
                rectangles[where : where + 1] = [draw(any_rectangle)]
    return grid, draw(st.permutations(rectangles))


@given(nearly_right())
def test_scores_match_cell_counts(case):
    grid, rectangles = case
    params = Params(width=len(grid[0]), height=len(grid), grid=tuple(map(tuple, grid)))
    assert verdict(params, rectangles).score == cut_is_right(grid, rectangles)
