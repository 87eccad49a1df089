"""Shikaku: prompts, and fresh puzzles with exactly one solution.

Solving is propagation and search over bit masks, one bit for each cell. Every clue has its
candidates: the rectangles of its area that hold it and no other clue. Impossible ones are dropped
until nothing changes, then the clue with the fewest left is branched on.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, parameter
from scbench.schemas.shikaku_rectangles import Answer, Params

_WORK = 250_000
_MOVES = 200
# Bounds on one draw: cells cut and candidates looked at by the solver, clue moves for
# one cut, search nodes for one call of the solver.
_NODES = 1_000
# How many times more or fewer candidates there can be once clues have moved.
_DRIFT = 1.5
_REFERENCE_NODES = 200_000
# Left, top, right, bottom, both ends included.
Rectangle = tuple[int, ...]


class Solutions(NamedTuple):
    """What a search found: solutions, each sorted, and the nodes that it looked at.

    One node is propagation alone. Candidates are the places for all clues before any of it; the
    search is complete if nothing was left or the limit was reached.
    """

    solutions: list[tuple[Rectangle, ...]]
    nodes: int
    candidates: int
    complete: bool


class Space(Point):
    """Parameters of fresh puzzles."""

    width: int = parameter(10, "number of columns", ge=5, le=20)
    height: int = parameter(10, "number of rows", ge=5, le=20)
    max_area: int = parameter(12, "largest clue", ge=2, le=24)
    min_area: int = parameter(2, "smallest clue, single cells apart", ge=2, le=6)
    allow_single: bool = parameter(
        False,
        "whether a cell where no rectangle of these areas fits becomes a 1 x 1 one",
    )
    thin: float = parameter(
        0.4,
        "chance that a rectangle is drawn one cell wide or high, if it could be either",
        ge=0.0,
        le=1.0,
    )
    min_candidates: int = parameter(
        0, "least number of places for all clues together", ge=0, le=5_000
    )
    max_candidates: int = parameter(
        5_000, "most places for all clues together", ge=1, le=5_000
    )
    min_nodes: int = parameter(
        1,
        "least number of search nodes that the solver needs to prove the solution "
        "unique; 1 is propagation alone, more is harder",
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

    The paper's six come from the program ``rect`` of Simon Tatham's Portable Puzzle Collection (MIT
    licence); fresh ones are made here.
    """

    task = "shikaku_rectangles"
    version = 2
    form = '{"rectangles": [[left, top, right, bottom], ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the grid, with numbered rows and columns."""
        cell = max(
            len(str(max(max(row) for row in params.grid))), len(str(params.width - 1))
        )
        rows = [(f"row {y:2}", row) for y, row in enumerate(params.grid)]
        lines = [
            f"{name:>6} |" + "".join(f" {value:{cell}}" for value in values)
            for name, values in [("column", range(params.width)), *rows]
        ]
        lines.insert(1, "-" * len(lines[0]))
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
        right = self.reference(params).rectangles
        width, height = params.width, params.height
        x0, y0, x1, y1 = right[-1]
        clues = [
            (x, y, x, y)
            for y, row in enumerate(params.grid)
            for x, v in enumerate(row)
            if v
        ]
        wrong: dict[str, Sequence[Sequence[float | str]]] = {
            "empty": [],
            "one_missing": right[1:],
            "one_repeated": [*right, right[0]],
            "whole_grid": [(0, 0, width - 1, height - 1)],
            "clues_only": clues,
            "rows_before_columns": [(t, l, b, r) for l, t, r, b in right],
            "rows_from_the_bottom": [
                (l, height - 1 - b, r, height - 1 - t) for l, t, r, b in right
            ],
            "counted_from_one": [[v + 1 for v in rectangle] for rectangle in right],
            "far_ends_left_out": [(l, t, r + 1, b + 1) for l, t, r, b in right],
            "width_and_height": [(l, t, r - l + 1, b - t + 1) for l, t, r, b in right],
            "top_below_bottom": [*right, (0, height, 0, height - 1)],
            "one_beyond_the_grid": [*right[:-1], (width - (x1 - x0), y0, width, y1)],
            "fraction": [[v + 0.9 for v in right[0]], *right[1:]],
            "strings": [[str(v) for v in rectangle] for rectangle in right],
            # In another order as well, because Python holds True for equal to 1.
            "booleans": [
                [v == 1 if v < 2 else v for v in rectangle] for rectangle in right[::-1]
            ],
            "clue_as_fifth": [
                (l, t, r, b, (r - l + 1) * (b - t + 1)) for l, t, r, b in right
            ],
        }
        wrong |= dict(_local_faults(right))
        # The solution is unique, so any other set of rectangles breaks a rule.
        answer = sorted(map(repr, map(list, right)))
        return {
            name: {"rectangles": [list(rectangle) for rectangle in rectangles]}
            for name, rectangles in wrong.items()
            if sorted(map(repr, map(list, rectangles))) != answer
        }

    def measure(self, params: Params) -> float:
        """Return the solver's work: places for all clues, times the search nodes of its proof."""
        result = solve(params.grid, limit=2, max_nodes=_REFERENCE_NODES)
        return result.candidates * result.nodes

    def draw(self, point: Space, rng: Stream) -> Params:
        """Cut a grid at random, then move clues until the cut is the only solution."""
        work = proofs = 0
        while work < _WORK:
            work += point.width * point.height
            cut = _partition(point, rng)
            if cut is None:
                continue
            clues = [_cell_of(rectangle, rng) for rectangle in cut]
            for _ in range(_MOVES):
                grid = _clue_grid(point, cut, clues)
                result = solve(grid, limit=2, max_nodes=_NODES)
                proofs += 1
                work += result.nodes * result.candidates
                least, greatest = (
                    point.min_candidates / _DRIFT,
                    point.max_candidates * _DRIFT,
                )
                hopeless = not least <= result.candidates <= greatest
                if len(result.solutions) < 2 or hopeless or work > _WORK:
                    break
                agreed = set.intersection(*map(set, result.solutions))
                loose = [
                    i for i, rectangle in enumerate(cut) if rectangle not in agreed
                ]
                for i in rng.sample(loose, (len(loose) + 2) // 3):
                    clues[i] = _cell_of(cut[i], rng)
            if len(result.solutions) == 1 and result.complete and _suits(point, result):
                return Params(width=point.width, height=point.height, grid=grid)
        raise GenerationError(
            f"no puzzle of {point.width} x {point.height} cells with these areas, candidates and "
            f"search nodes came up in {proofs} calls of the solver; ask for fewer search nodes, "
            "another range of candidates, a smaller min_area, a larger max_area or single cells"
        )


def _local_faults(right: Sequence[Rectangle]) -> Iterator[tuple[str, list[Rectangle]]]:
    """Yield cuts that are wrong at one place, where the solution offers such a place."""
    for i, (l, t, r, b) in enumerate(right):
        others_intact = [*right[:i], *right[i + 1 :]]
        if (l, t) != (r, b):
            yield "corners_exchanged", [(r, b, l, t), *others_intact]
            halves = (
                [(l, t, l, b), (l + 1, t, r, b)]
                if l < r
                else [(l, t, r, t), (l, t + 1, r, b)]
            )
            yield "one_without_a_clue", [*halves, *others_intact]
            break
    for (l, t, r, b), (m, u, s, c) in combinations(sorted(right), 2):
        others_intact = [
            rectangle
            for rectangle in right
            if rectangle not in {(l, t, r, b), (m, u, s, c)}
        ]
        if (l, r, b + 1) == (m, s, u) or (t, b, r + 1) == (u, c, m):
            yield "two_merged", [(l, t, s, c), *others_intact]
            yield "one_grown", [(l, t, s, c), (m, u, s, c), *others_intact]
            below = l == m
            if below and b > t:
                yield (
                    "border_moved",
                    [(l, t, r, b - 1), (m, u - 1, s, c), *others_intact],
                )
            elif not below and r > l:
                yield (
                    "border_moved",
                    [(l, t, r - 1, b), (m - 1, u, s, c), *others_intact],
                )
            break


def _suits(point: Space, result: Solutions) -> bool:
    enough = point.min_candidates <= result.candidates <= point.max_candidates
    return enough and result.nodes >= point.min_nodes


def _partition(point: Space, rng: Stream) -> list[Rectangle] | None:
    """Cut the grid from the top, a random rectangle at each first free cell; None if stuck."""
    cut: list[Rectangle] = []
    depth = [0] * point.width
    while min(depth) < point.height:
        top = min(depth)
        x = depth.index(top)
        run = (
            next((x for x in range(x, point.width) if depth[x] > top), point.width) - x
        )
        fits = [
            (w, h)
            for w in range(1, run + 1)
            for h in range(1, point.height - top + 1)
            if point.min_area <= w * h <= point.max_area
        ]
        if not fits and not point.allow_single:
            return None
        thin = [size for size in fits if 1 in size]
        thick = [size for size in fits if 1 not in size]
        if thin and thick:
            fits = thin if rng.chance(point.thin) else thick
        w, h = rng.choice(fits) if fits else (1, 1)
        cut.append((x, top, x + w - 1, top + h - 1))
        depth[x : x + w] = [top + h] * w
    return cut


def _cell_of(rectangle: Rectangle, rng: Stream) -> tuple[int, int]:
    x0, y0, x1, y1 = rectangle
    return rng.between(x0, x1), rng.between(y0, y1)


def _clue_grid(
    point: Space, cut: Sequence[Rectangle], clues: Sequence[tuple[int, int]]
) -> tuple[tuple[int, ...], ...]:
    grid = [[0] * point.width for _ in range(point.height)]
    for (l, t, r, b), (x, y) in zip(cut, clues, strict=True):
        grid[y][x] = (r - l + 1) * (b - t + 1)
    return tuple(map(tuple, grid))


def solve(grid: Sequence[Sequence[int]], limit: int, max_nodes: int) -> Solutions:
    """Find up to ``limit`` solutions of rows of clues, 0 for blank, in at most so many nodes."""
    places = _clue_places(grid)
    full = (1 << len(grid) * len(grid[0])) - 1
    solutions: list[tuple[Rectangle, ...]] = []
    stack = [[list(at) for at in places]]
    nodes = 0
    while stack and len(solutions) < limit and nodes < max_nodes:
        options = stack.pop()
        nodes += 1
        if not _propagate(options, full):
            continue
        count, i = min(
            ((len(o), i) for i, o in enumerate(options) if len(o) > 1), default=(1, 0)
        )
        if count == 1:
            rectangles = (places[k][masks[0]] for k, masks in enumerate(options))
            solutions.append(tuple(sorted(rectangles)))
            continue
        stack += [
            [[mask] if k == i else list(o) for k, o in enumerate(options)]
            for mask in reversed(options[i])
        ]
    complete = not stack or len(solutions) == limit
    return Solutions(solutions, nodes, sum(map(len, places)), complete)


def _clue_places(grid: Sequence[Sequence[int]]) -> list[dict[int, Rectangle]]:
    """Return for every clue the rectangles of its area around it alone, by their cells' bits."""
    height, width = len(grid), len(grid[0])
    clues = [(x, y, v) for y, row in enumerate(grid) for x, v in enumerate(row) if v]
    clue_bits = sum(1 << y * width + x for x, y, _ in clues)
    return [
        {
            mask: (l, t, l + w - 1, t + h - 1)
            for w in range(1, min(area, width) + 1)
            if area % w == 0
            for h in [area // w]
            for t in range(max(0, y - h + 1), min(y, height - h) + 1)
            for l in range(max(0, x - w + 1), min(x, width - w) + 1)
            for mask in [
                sum((1 << w) - 1 << row * width + l for row in range(t, t + h))
            ]
            if mask & clue_bits == 1 << y * width + x
        }
        for x, y, area in clues
    ]


def _propagate(options: list[list[int]], full: int) -> bool:
    """Drop impossible candidates until nothing changes; False if a clue or cell has none."""
    changed = True
    while changed:
        changed = False
        common, reach = [], []
        once = twice = 0
        for masks in options:
            if not masks:
                return False
            both = either = masks[0]
            for mask in masks:
                both &= mask
                either |= mask
            common.append(both)
            reach.append(either)
            twice |= once & either
            once |= either
        if once != full:
            return False
        occupied = 0
        for both in common:
            if occupied & both:
                return False
            occupied |= both
        for i, masks in enumerate(options):
            closed = occupied & ~common[i]
            must = reach[i] & ~twice
            possible = [
                mask for mask in masks if not mask & closed and mask & must == must
            ]
            if len(possible) < len(masks):
                options[i] = possible
                changed = True
    return True
