"""Hyper-snake: prompts, fresh boxes in which a full score can be had, and faulty paths.

A path is extended greedily, and its tail is rotated when it is stuck (Posa's rotation): if the head
has a visited neighbour, the piece of the path behind that neighbour is turned round, so that
another cell becomes the head; the cells of the path stay the same and so does its start. Cells
alternate between two colours along a path, which bounds its length; the search aims at that bound.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from operator import sub
from typing import Literal

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Builder,
    Point,
    parameter,
    prompt_template,
    reply_as,
)
from scbench.builders.shared.path_counterexamples import (
    form_counterexamples,
    listing,
    trespasses,
)
from scbench.graders.hyper_snake import frame_of, grade
from scbench.graders.shared.grid_paths import reachable, side_neighbours
from scbench.schemas.hyper_snake import Answer, Params, Place

_TRIES = 120
# Cells that one search for a path may look at.
_WORK = 300_000
Cell = tuple[int, ...]
# Chance of a step to any free neighbour, instead of one with the fewest exits, after a
# restart.
_STRAY = 0.1
# Times that one path may be cut back because it is long enough but misses food.
_CUTS = 10
# Most rotations without a free cell beside the head before a search starts afresh.
_IDLE = 500


class Space(Point):
    """Parameters of fresh boxes."""

    dims: int = parameter(3, "number of axes", ge=2, le=12)
    min_side: int = parameter(3, "fewest cells along an axis", ge=2, le=30)
    max_side: int = parameter(5, "most cells along an axis", ge=2, le=30)
    max_cells: int = parameter(
        120, "most cells in the box; fixes how long paths get", ge=4, le=5_000
    )
    walls: int = parameter(3, "number of walls", ge=0, le=50)
    wall_layout: Literal["scattered", "near_start", "fence"] = parameter(
        "scattered",
        "walls anywhere; in a random half of the cells nearest to the start; or all "
        "but one of the neighbours of a corner with food, which is then the only cell where a "
        "path that eats it can end, and the rest anywhere",
    )
    food: int = parameter(2, "number of food items", ge=0, le=20)
    start: Literal["anywhere", "corner"] = parameter(
        "anywhere", "where the snake starts"
    )
    greedy: float = parameter(
        1.0, "most that a shortsighted path may score", gt=0, le=1
    )

    @model_validator(mode="after")
    def _possible(self) -> "Space":
        if self.min_side > self.max_side:
            raise ValueError(
                f"min_side {self.min_side} is above max_side {self.max_side}"
            )
        if self.min_side**self.dims > self.max_cells:
            raise ValueError(
                f"{self.dims} axes of at least {self.min_side} cells have more than "
                f"max_cells {self.max_cells}"
            )
        if self.wall_layout == "fence" and (
            self.food < 1 or self.walls < self.dims - 1
        ):
            raise ValueError(f"a fence needs food and at least {self.dims - 1} walls")
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Boxes with walls and food in which some path gets the full score."""

    task = "hyper_snake"
    version = 3

    def words(self, params: Params) -> dict[str, object]:
        """Return the box, what is in it, and the score."""
        contents = {"Start": [params.start], "Walls": params.walls, "Food": params.food}
        return {
            "dims": len(params.size),
            "size": " x ".join(map(str, params.size)),
            "ranges": _ranges(params.size),
            "things": "\n".join(
                f"{name}: {', '.join(str(list(cell)) for cell in cells)}"
                for name, cells in contents.items()
                if cells
            ),
            "no_walls": " and never enters a wall" if params.walls else "",
            "and_food": ", over all the food" if params.food else "",
            "score": _score_text(params),
        }

    def prompt(self, params: Params) -> str:
        """Return the box, what is in it, and the rules."""
        start = str(list(params.start))
        return prompt_template(__name__).format(**self.words(params)) + reply_as(
            f'{{"path": [{{"pos": {start}}}, {{"pos": [...]}}, ...]}}'
        )

    def reference(self, params: Params) -> Answer:
        """Extend and rotate a path until it is as long as colours allow, or long enough."""
        path = _longest_path(params)
        if path is None:
            raise GenerationError(
                f"no path with a full score found in a box of {params.size}"
            )
        return Answer(path=tuple(Place(pos=cell) for cell in path))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return paths with an illegal move, short or hungry ones, and other forms."""
        path = [place["pos"] for place in self.reference(params).path]
        cells: dict[str, Sequence[Sequence[int]]] = {
            "start_only": path[:1],
            "stops_half_way": path[: (len(path) + 1) // 2],
            "start_left_out": path[1:],
            "reversed": path[::-1],
            "counted_from_one": [tuple(c + 1 for c in cell) for cell in path],
            "axes_reversed": [cell[::-1] for cell in path],
            "one_left_out": [*path[:1], *path[2:]],
            "one_left_out_late": [*path[:-2], path[-1]],
            "one_listed_twice": [*path[:2], *path[1:]],
            "one_step_back": [*path, path[-2]],
            "there_and_back": path + path[-2::-1],
            **trespasses(params.size, params.walls, path),
        }
        if params.food:
            last_meal = max(path.index(food) for food in params.food)
            cells["stops_before_the_last_food"] = path[:last_meal]
        through = _walls_ignored(params)
        if through is not None:
            cells["walls_ignored"] = through
        lists = {
            name: listing("path", "pos", example)
            for name, example in cells.items()
            if example
        }
        wrong = {
            name: answer
            for name, answer in lists.items()
            if grade(params, Answer.model_validate(answer)).score < 1
        }
        return wrong | form_counterexamples("path", "pos", path)

    def measure(self, params: Params) -> float:
        """Return how many free cells there are, for each wall and food item, and once more."""
        return frame_of(params).free * (1 + len(params.walls) + len(params.food))

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a path that turns only when it must, and one into the narrowest cell each time."""
        return {
            "straight on": _shortsighted_path(params, narrow=False),
            "narrowest cell first": _shortsighted_path(params, narrow=True),
        }

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw boxes until a path with the full score is found in one."""
        for _ in range(_TRIES):
            params = _scatter(point, rng)
            if params is None:
                continue
            if point.greedy < 1 and self.best_baseline(params, grade) > point.greedy:
                continue
            if _enough(params) is not None:
                return params
        raise GenerationError(
            f"no box of {point.dims} axes with {point.walls} walls and {point.food} food items "
            f"came up in {_TRIES} tries in which a path with a full score was found; ask for "
            "fewer walls, more cells or sides that can be even"
        )


@lru_cache(maxsize=64)
def _enough(params: Params) -> tuple[Cell, ...] | None:
    """Return a path that is just long enough for the full score; None if none was found."""
    return _search_path(params, frame_of(params).needed, _WORK)


@lru_cache(maxsize=64)
def _longest_path(params: Params) -> tuple[Cell, ...] | None:
    """Return a path as long as the colours allow, else one that is long enough."""
    path = _search_path(params, None, 4 * _WORK)
    long = path is not None and len(path) >= frame_of(params).needed
    return path if long else _enough(params)


def _search_path(
    params: Params, length: int | None, work: int
) -> tuple[Cell, ...] | None:
    box = Box.make(params.size, params.walls)
    start = box.number[params.start]
    food = [box.number[cell] for cell in params.food]
    rng = Stream("path", params.model_dump(mode="json"), length)
    path = find_path(box, start, food, rng, length, work)
    return None if path is None else tuple(box.cells[i] for i in path)


def _ranges(size: Cell) -> str:
    if len(set(size)) == 1:
        return f"Each of them lies in 0..{size[0] - 1}"
    return f"In this order they lie in {', '.join(f'0..{n - 1}' for n in size)}"


def _score_text(params: Params) -> str:
    free, needed = frame_of(params).free, frame_of(params).needed
    if params.walls:
        text = (
            f"- Any other path scores (L / {free}) / 0.98, but at most 1. L is the number of cells "
            f"in the path,\n  the start included; {free} is the number of cells that are no walls. "
            f"So {needed} cells are enough for 1."
        )
    else:
        text = (
            f"- Any other path scores L / {free}. L is the number of cells in the path, the start "
            f"included;\n  {free} is the number of cells in the box."
        )
    if params.food:
        text += (
            "\n- This is divided by m + 1, where m is the number of cells with food that the path "
            "does not visit."
        )
    return text


def _in_box(cell: Cell, size: Cell) -> bool:
    return all(0 <= c < n for c, n in zip(cell, size, strict=True))


# Wrong answers.


@lru_cache(maxsize=64)
def _walls_ignored(params: Params) -> tuple[Cell, ...] | None:
    """Return the path of a solver that takes the walls for free cells, if it goes through one."""
    if not params.walls:
        return None
    path = _search_path(params.model_copy(update={"walls": ()}), None, _WORK) or ()
    return path if set(path) & set(params.walls) else None


# Fresh boxes.


def _scatter(point: Space, rng: Stream) -> Params | None:
    """Draw a box with walls and food; None if they do not fit."""
    size = _draw_sides(point, rng)
    if math.prod(size) < point.walls + point.food + 4:
        return None
    cells = list(product(*map(range, size)))
    rng.shuffle(cells)
    start = cells[0] if point.start == "anywhere" else _corner(size, rng)
    walls: list[Cell] = []
    food: list[Cell] = []
    reserved: set[Cell] = {start}
    if point.wall_layout == "fence":
        food = [_corner(size, rng)]
        beside = [cell for cell in side_neighbours(food[0]) if _in_box(cell, size)]
        gap = rng.choice(beside)
        walls = [cell for cell in beside if cell != gap]
        if start in {food[0], *beside}:
            return None
        reserved |= {food[0], gap}
    free = [cell for cell in cells if cell not in reserved and cell not in walls]
    if point.wall_layout == "near_start":
        free.sort(key=lambda cell: sum(map(abs, map(sub, cell, start))))
        nearest = free[: 2 * point.walls]
        rng.shuffle(nearest)
        free[: len(nearest)] = nearest
    missing = point.walls - len(walls)
    walls += free[:missing]
    food += rng.sample(free[missing:], point.food - len(food))
    params = Params(size=size, start=start, walls=tuple(walls), food=tuple(food))
    box = Box.make(size, walls)
    tame = box.connected() and len(box.dead_ends(box.number[start])) <= 1
    return params if tame else None


def _draw_sides(point: Space, rng: Stream) -> Cell:
    """Draw the sides so that the box is not too large."""
    sides: list[int] = []
    for axes in range(point.dims - 1, -1, -1):
        limit = point.max_cells // (math.prod(sides) * point.min_side**axes)
        sides.append(rng.between(point.min_side, min(point.max_side, limit)))
    rng.shuffle(sides)
    return tuple(sides)


def _corner(size: Cell, rng: Stream) -> Cell:
    return tuple(rng.choice((0, n - 1)) for n in size)


def _shortsighted_path(params: Params, *, narrow: bool) -> JsonValue:
    """Move on until there is no free cell beside the last one; ways are tried axis by axis."""
    blocked = {tuple(cell) for cell in params.walls}
    here: Cell = tuple(params.start)
    path, way = [here], 0

    def free(cell: Cell) -> list[tuple[int, Cell]]:
        beside = ((i, _next_cell(cell, i)) for i in range(2 * len(params.size)))
        return [
            (i, near)
            for i, near in beside
            if 0 <= near[i // 2] < params.size[i // 2] and near not in blocked
        ]

    while True:
        blocked.add(here)
        ways = free(here)
        if not ways:
            return {"path": [{"pos": list(cell)} for cell in path]}
        if narrow:
            way, here = min(ways, key=lambda option: (len(free(option[1])), option[0]))
        else:
            way, here = min(ways, key=lambda option: (option[0] != way, option[0]))
        path.append(here)


def _next_cell(cell: Sequence[int], way: int) -> Cell:
    """Return the next cell, up an axis for even ways and down it for odd ones."""
    axis, back = divmod(way, 2)
    return (*cell[:axis], cell[axis] + (-1 if back else 1), *cell[axis + 1 :])


@dataclass(frozen=True, slots=True)
class Box:
    """The free cells of a box, numbered, with the free neighbours of each."""

    cells: tuple[Cell, ...]
    near: tuple[tuple[int, ...], ...]
    number: dict[Cell, int] = field(repr=False)

    @classmethod
    def make(cls, size: Cell, walls: Collection[Cell]) -> "Box":
        """Number the free cells."""
        barred = set(walls)
        cells = tuple(c for c in product(*map(range, size)) if c not in barred)
        number = {cell: i for i, cell in enumerate(cells)}
        near = tuple(
            tuple(
                number[beside] for beside in side_neighbours(cell) if beside in number
            )
            for cell in cells
        )
        return cls(cells, near, number)

    def connected(self) -> bool:
        """Whether every free cell can be reached from every other."""
        return len(reachable(0, self.near.__getitem__)) == len(self.cells)

    def dead_ends(self, start: int) -> list[int]:
        """Return the cells other than the start that have one free neighbour."""
        return [i for i, near in enumerate(self.near) if len(near) == 1 and i != start]

    def longest(self, start: int, end: int | None = None) -> int:
        """Return the length that no path from the start, to the end if given, can exceed."""
        colours = [sum(cell) % 2 for cell in self.cells]
        like_start = colours.count(colours[start])
        unlike = len(colours) - like_start
        if end is None:
            return min(2 * like_start, 2 * unlike + 1)
        if colours[end] == colours[start]:
            return 2 * min(like_start, unlike + 1) - 1
        return 2 * min(like_start, unlike)


def find_path(
    box: Box,
    start: int,
    food: Collection[int],
    rng: Stream,
    length: int | None,
    work: int,
) -> list[int] | None:
    """Return a path of a given length over all food; None if none was found.

    A cell with one free neighbour can only be the last of a path, so food in one fixes the end;
    the path has one cell more if the colour of a fixed end wants it. Without a length it has as
    many as the colours allow. ``work`` bounds the cells looked at, about four million a second.
    """
    fixed = [i for i in box.dead_ends(start) if i in food]
    end = fixed[0] if fixed else None
    longest = box.longest(start, end)
    if length is None:
        length = longest
    elif end is not None:
        length += (longest - length) % 2
    if len(fixed) > 1 or length > longest:
        return None
    search = _Search(box, (start, end), frozenset(food), length, work)
    path = search.run(rng, stray=0.0)
    while path is None and search.work > 0:
        path = search.run(rng, stray=_STRAY)
    return path


class _Search:
    """One search; its work budget lasts over restarts."""

    def __init__(
        self,
        box: Box,
        ends: tuple[int, int | None],
        food: frozenset[int],
        length: int,
        work: int,
    ) -> None:
        (self.start, end), self.near, self.food, self.work = ends, box.near, food, work
        self.end = end
        # A fixed end is added last, so the rest must lead to its only neighbour.
        self.target = length - (end is not None)
        self.goal = None if end is None else box.near[end][0]

    def run(self, rng: Stream, stray: float) -> list[int] | None:
        """Grow one path; None if it got stuck or the work is used up."""
        near = self.near
        self.work -= len(near)
        path = [self.start]
        at = [-1] * len(near)
        at[self.start] = 0
        exits = [len(n) for n in near]
        if self.end is not None:
            at[self.end] = len(near)  # never free, never on the path
        for i in near[self.start]:
            exits[i] -= 1
        idle = cuts = 0
        patience = min(_IDLE, 4 * len(near))
        while self.work > 0 and idle < patience:
            self.work -= 5
            head = path[-1]
            if len(path) == self.target and self.goal in (None, head):
                if all(at[i] >= 0 for i in self.food):
                    return path if self.end is None else [*path, self.end]
                if cuts == _CUTS:
                    return None
                self._cut(path, at, exits)
                cuts += 1
                continue
            free = (
                [i for i in near[head] if at[i] < 0] if len(path) < self.target else []
            )
            if free:
                if not (stray and rng.chance(stray)):
                    fewest = min(exits[i] for i in free)
                    free = [i for i in free if exits[i] == fewest]
                step = rng.choice(free)
                at[step] = len(path)
                path.append(step)
                for i in near[step]:
                    exits[i] -= 1
                idle = 0
                continue
            last = len(path) - 1
            turns = [at[i] for i in near[head] if 0 <= at[i] < last - 1]
            if not turns:
                return None
            keep = rng.choice(turns) + 1
            path[keep:] = path[: keep - 1 : -1]
            for k in range(keep, last + 1):
                at[path[k]] = k
            self.work -= last - keep
            idle += 1
        return None

    def _cut(self, path: list[int], at: list[int], exits: list[int]) -> None:
        """Give up the last quarter of a path that is long enough but misses food."""
        keep = max(1, 3 * len(path) // 4)
        for i in path[keep:]:
            at[i] = -1
            for beside in self.near[i]:
                exits[beside] += 1
        del path[keep:]
