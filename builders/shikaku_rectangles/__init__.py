"""Shikaku: cut a grid into rectangles, each with one clue that gives its number of cells.

An example of the puzzle and its only solution, rectangles as letters:

    0 3 0 2    a a a b
    2 0 4 0    c d d b
    0 0 0 1    c d d e

Puzzles are the paper's, or fresh ones with exactly one solution.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, parameter, with_truths
from scbench.builders.shikaku_rectangles.solver import Rectangle, clues_of, solve
from scbench.schemas.shikaku_rectangles import Answer, Params

# Limits of one draw: cells cut plus candidates visited by the solver, moves of clues in one cut,
# and search nodes in one call of the solver.
_WORK = 2_000_000
_MOVES = 200
_NODES = 1_000
# Factor by which the number of candidates may change when clues move.
_DRIFT = 1.5
_REFERENCE_NODES = 200_000


class Space(Point):
    """Parameters of fresh puzzles."""

    width: int = parameter(10, "number of columns", ge=5, le=20)
    height: int = parameter(10, "number of rows", ge=5, le=20)
    max_area: int = parameter(12, "largest clue", ge=2, le=24)
    min_area: int = parameter(2, "smallest clue, not counting single cells", ge=2, le=6)
    allow_single: bool = parameter(
        False,
        "whether a cell becomes a 1 x 1 rectangle if no rectangle with a permitted area fits "
        "there",
    )
    thin: float = parameter(
        0.4,
        "probability that a rectangle is one cell wide or high where a thicker one also fits",
        ge=0.0,
        le=1.0,
    )
    min_candidates: int = parameter(
        0, "minimum total number of candidate rectangles of all clues", ge=0, le=5_000
    )
    max_candidates: int = parameter(
        5_000,
        "maximum total number of candidate rectangles of all clues",
        ge=1,
        le=5_000,
    )
    min_nodes: int = parameter(
        1,
        "minimum number of search nodes in the solver's proof that the solution is unique; 1 "
        "means that propagation alone is enough; more is harder",
        ge=1,
        le=50,
    )

    @model_validator(mode="after")
    def _ordered(self) -> "Space":
        if self.min_area > self.max_area:
            raise ValueError(
                f"min_area {self.min_area} is above max_area {self.max_area}"
            )
        if self.min_candidates > self.max_candidates:
            raise ValueError(
                f"min_candidates {self.min_candidates} is above "
                f"max_candidates {self.max_candidates}"
            )
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Puzzles with exactly one solution.

    The paper's six come from the program ``rect`` in Simon Tatham's Portable Puzzle Collection (MIT
    licence); fresh ones are drawn here.
    """

    task = "shikaku_rectangles"
    version = 3
    draws = 2
    form = '{"rectangles": [[left, top, right, bottom], ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the grid, with numbered rows and columns."""
        largest = max(params.width - 1, *map(max, params.grid))
        digits = len(str(largest))
        head = _table_line("column", range(params.width), digits)
        lines = [head, "-" * len(head)]
        for y, row in enumerate(params.grid):
            lines.append(_table_line(f"row {y:2}", row, digits))
        return {
            "width": params.width,
            "height": params.height,
            "grid": "\n".join(lines),
        }

    def reference(self, params: Params) -> Answer:
        """Solve by propagation and search."""
        solutions = solve(params.grid, limit=1, max_nodes=_REFERENCE_NODES).solutions
        if not solutions:
            raise GenerationError(
                f"no solution found in {_REFERENCE_NODES} search nodes"
            )
        return Answer(rectangles=solutions[0])

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return other readings of the coordinates, and cuts with one mistake each."""
        right = [Rectangle(*corners) for corners in self.reference(params).rectangles]
        width = params.width
        height = params.height
        first = right[0]
        last = right[-1]
        beyond = last._replace(left=width - (last.right - last.left), right=width)
        wrong: dict[str, Sequence[Sequence[float | str]]] = {
            "empty": [],
            "one_missing": right[1:],
            "one_repeated": [*right, first],
            "whole_grid": [(0, 0, width - 1, height - 1)],
            "clues_only": [(x, y, x, y) for x, y, _ in clues_of(params.grid)],
            **misread_coordinates(right, height),
            "top_below_bottom": [*right, (0, height, 0, height - 1)],
            "one_beyond_the_grid": [*right[:-1], beyond],
            "fraction": [[v + 0.9 for v in first], *right[1:]],
            **other_types(right),
        }
        wrong |= dict(faults_of_one(right))
        wrong |= dict(faults_of_two(right))
        answers: dict[str, JsonValue] = {}
        right_texts = sorted(map(repr, map(list, right)))
        for name, rectangles in wrong.items():
            lists: list[JsonValue] = [list(rectangle) for rectangle in rectangles]
            # The solution is unique, so any other set of rectangles breaks a rule.
            # They are compared as text, because there True differs from 1.
            if sorted(map(repr, lists)) != right_texts:
                answers[name] = {"rectangles": lists}
        return answers

    def measure(self, params: Params) -> float:
        """Return the solver's work: candidates for all clues times search nodes of the proof."""
        result = solve(params.grid, limit=2, max_nodes=_REFERENCE_NODES)
        return result.candidates * result.nodes

    def draw(self, point: Space, rng: Stream) -> Params:
        """Cut a grid at random, then move clues until the cut is the only solution."""
        work = 0
        proofs = 0
        while work < _WORK:
            # Work is counted, not timed, so that all machines draw the same puzzles.
            work += point.width * point.height
            cut = draw_cut(point, rng)
            if cut is None:
                continue
            clues = [draw_cell(rectangle, rng) for rectangle in cut]
            for _ in range(_MOVES):
                grid = clue_grid(point, cut, clues)
                result = solve(grid, limit=2, max_nodes=_NODES)
                proofs += 1
                work += result.nodes * result.candidates
                least = point.min_candidates / _DRIFT
                most = point.max_candidates * _DRIFT
                is_near = least <= result.candidates <= most
                if len(result.solutions) < 2 or not is_near or work > _WORK:
                    break
                # Of the clues where the two solutions differ, a third move.
                common = set.intersection(*map(set, result.solutions))
                loose = [i for i, piece in enumerate(cut) if piece not in common]
                for i in rng.sample(loose, (len(loose) + 2) // 3):
                    clues[i] = draw_cell(cut[i], rng)
            is_unique = len(result.solutions) == 1 and result.complete
            has_candidates = (
                point.min_candidates <= result.candidates <= point.max_candidates
            )
            is_hard = result.nodes >= point.min_nodes
            if is_unique and has_candidates and is_hard:
                return Params(width=point.width, height=point.height, grid=grid)
        raise GenerationError(
            f"no puzzle of {point.width} x {point.height} cells with these areas, candidates and "
            f"search nodes was found in {proofs} calls of the solver; ask for fewer search nodes, "
            "another range of candidates, a smaller min_area, a larger max_area or single cells"
        )


def _table_line(name: str, values: Sequence[int], digits: int) -> str:
    """Return a line of the printed grid: its name, then numbers of equal width."""
    numbers = [f" {value:{digits}}" for value in values]
    return f"{name:>6} |" + "".join(numbers)


def misread_coordinates(
    cut: Sequence[Rectangle], height: int
) -> dict[str, list[Sequence[int]]]:
    """Return the cut with other meanings of the coordinates, by name."""
    wrong = defaultdict[str, list[Sequence[int]]](list)
    for rectangle in cut:
        left, top, right, bottom = rectangle
        upside_down = (left, height - 1 - bottom, right, height - 1 - top)
        width_and_height = (right - left + 1, bottom - top + 1)
        wrong["rows_before_columns"].append((top, left, bottom, right))
        wrong["rows_from_the_bottom"].append(upside_down)
        wrong["counted_from_one"].append([v + 1 for v in rectangle])
        wrong["far_ends_left_out"].append((left, top, right + 1, bottom + 1))
        wrong["width_and_height"].append((left, top, *width_and_height))
    return wrong


def other_types(
    cut: Sequence[Rectangle],
) -> dict[str, list[Sequence[float | str]]]:
    """Return the cut as texts, with truth values, and with areas, by name."""
    wrong = defaultdict[str, list[Sequence[float | str]]](list)
    for rectangle in cut:
        wrong["strings"].append(list(map(str, rectangle)))
        wrong["booleans"].append(with_truths(rectangle))
        wrong["clue_as_fifth"].append((*rectangle, rectangle.area))
    # The order is reversed because True equals 1 in Python.
    wrong["booleans"].reverse()
    return wrong


def faults_of_one(cut: Sequence[Rectangle]) -> Iterator[tuple[str, list[Rectangle]]]:
    """Yield cuts in which the first larger rectangle is wrong, if there is one."""
    larger = [rectangle for rectangle in cut if rectangle.area > 1]
    if not larger:
        return
    faulty = larger[0]
    intact = [rectangle for rectangle in cut if rectangle != faulty]
    left, top, right, bottom = faulty
    yield "corners_exchanged", [Rectangle(right, bottom, left, top), *intact]
    if left < right:
        halves = [faulty._replace(right=left), faulty._replace(left=left + 1)]
    else:
        halves = [faulty._replace(bottom=top), faulty._replace(top=top + 1)]
    yield "one_without_a_clue", [*halves, *intact]


def faults_of_two(cut: Sequence[Rectangle]) -> Iterator[tuple[str, list[Rectangle]]]:
    """Yield cuts in which two rectangles that share a whole side are wrong, if there are such."""
    for first, second in combinations(sorted(cut), 2):
        is_below = first.columns == second.columns and first.bottom + 1 == second.top
        is_beside = first.rows == second.rows and first.right + 1 == second.left
        if not is_below and not is_beside:
            continue
        intact = [rectangle for rectangle in cut if rectangle not in {first, second}]
        merged = first._replace(right=second.right, bottom=second.bottom)
        yield "two_merged", [merged, *intact]
        yield "one_grown", [merged, second, *intact]
        if is_below and first.bottom > first.top:
            upper = first._replace(bottom=first.bottom - 1)
            lower = second._replace(top=second.top - 1)
            yield "border_moved", [upper, lower, *intact]
        elif is_beside and first.right > first.left:
            narrower = first._replace(right=first.right - 1)
            wider = second._replace(left=second.left - 1)
            yield "border_moved", [narrower, wider, *intact]
        return


def draw_cut(point: Space, rng: Stream) -> list[Rectangle] | None:
    """Cut the grid from the top: put a random rectangle at the first free cell; None if stuck."""
    cut = []
    # Number of cells in each column, from the top, that are in rectangles.
    depth = [0] * point.width
    while min(depth) < point.height:
        top = min(depth)
        left = depth.index(top)
        end = left
        while end < point.width and depth[end] == top:
            end += 1
        thin: list[tuple[int, int]] = []
        thick: list[tuple[int, int]] = []
        for w, h in product(range(1, end - left + 1), range(1, point.height - top + 1)):
            if point.min_area <= w * h <= point.max_area:
                sizes = thin if min(w, h) == 1 else thick
                sizes.append((w, h))
        if not thin and not thick and not point.allow_single:
            return None
        sizes = thin or thick
        # The share of thin rectangles must not depend on how many sizes fit.
        if thin and thick and not rng.chance(point.thin):
            sizes = thick
        w, h = rng.choice(sizes) if sizes else (1, 1)
        cut.append(Rectangle(left, top, left + w - 1, top + h - 1))
        depth[left : left + w] = [top + h] * w
    return cut


def draw_cell(rectangle: Rectangle, rng: Stream) -> tuple[int, int]:
    """Draw the column and row of a cell in a rectangle."""
    left, top, right, bottom = rectangle
    return rng.between(left, right), rng.between(top, bottom)


def clue_grid(
    point: Space, cut: Sequence[Rectangle], clues: Sequence[tuple[int, int]]
) -> tuple[tuple[int, ...], ...]:
    """Return the grid with the area of each rectangle at the cell of its clue."""
    grid = [[0] * point.width for _ in range(point.height)]
    for rectangle, (x, y) in zip(cut, clues, strict=True):
        grid[y][x] = rectangle.area
    return tuple(map(tuple, grid))
