"""Hyper-snake: a path through as many cells of a box as possible, in two or more dimensions.

An example of the puzzle, in a box of 3 x 3 cells:

    Start: [0, 0]
    Walls: [1, 1]
    Food: [0, 2]

An answer: [0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [1, 2], [0, 2], [0, 1].
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from operator import sub
from typing import Literal

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.base.wording import counted
from scbench.builders.hyper_snake.paths import Box, Cell, find_path
from scbench.builders.hyper_snake.walks import (
    WALKS,
    best_walks,
    is_easy_for_walks,
    with_missed_food,
)
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
from scbench.graders.hyper_snake import frame_of, grade, most_cells
from scbench.graders.shared.grid_paths import side_neighbours
from scbench.schemas.hyper_snake import Answer, Params, Place

# Maximum number of boxes that one draw tries.
_TRIES = 1_200
# Most cells that one search for a path may visit.
_WORK = 300_000


class Space(Point):
    """Parameters of fresh boxes."""

    dims: int = parameter(3, "number of axes", ge=2, le=12)
    min_side: int = parameter(3, "minimum number of cells along an axis", ge=2, le=30)
    max_side: int = parameter(5, "maximum number of cells along an axis", ge=2, le=30)
    max_cells: int = parameter(
        120,
        "maximum number of cells in the box, which limits the length of paths",
        ge=4,
        le=5_000,
    )
    walls: int = parameter(3, "number of walls", ge=0, le=50)
    wall_layout: Literal["scattered", "near_start", "fence"] = parameter(
        "scattered",
        "position of the walls: anywhere (scattered); in a random half of the cells nearest to "
        "the start (near_start); or in all but one neighbour of a corner with food, where a path "
        "that visits the corner must end (fence). In a fence layout, the other walls are "
        "anywhere",
    )
    food: int = parameter(2, "number of food items", ge=0, le=50)
    food_layout: Literal["anywhere", "missed"] = parameter(
        "anywhere",
        "position of the food: anywhere, or in cells that most random walks miss",
        later=True,
    )
    start: Literal["anywhere", "corner"] = parameter(
        "anywhere", "where the snake starts"
    )
    greedy: float = parameter(
        1.0,
        "highest score that a shortsighted path or a random walk may reach",
        gt=0,
        le=1,
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
        has_fence = self.wall_layout == "fence"
        if has_fence and (self.food < 1 or self.walls < self.dims - 1):
            raise ValueError(f"a fence needs food and at least {self.dims - 1} walls")
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Boxes with walls and food in which some path gets the full score."""

    task = "hyper_snake"
    version = 4
    draws = 4

    def words(self, params: Params) -> dict[str, object]:
        """Return the box, its contents, and the score."""
        contents = {"Start": [params.start], "Walls": params.walls, "Food": params.food}
        lines = []
        for name, cells in contents.items():
            if cells:
                lines.append(f"{name}: {', '.join(str(list(cell)) for cell in cells)}")
        sides = params.size
        ranges = f"Each number is in 0..{sides[0] - 1}"
        if len(set(sides)) > 1:
            ends = ", ".join(f"0..{n - 1}" for n in sides)
            ranges = f"The numbers are in {ends}, in that order"
        return {
            "dims": len(sides),
            "size": " x ".join(map(str, sides)),
            "ranges": ranges,
            "things": "\n".join(lines),
            "with_walls": ", some of which are walls" if params.walls else "",
            "no_walls": " and never enters a wall" if params.walls else "",
            "terse_walls": ", enter a wall" if params.walls else "",
            "and_food": ", including all cells with food" if params.food else "",
            "terse_food": " and eat all the food" if params.food else "",
            "score": score_text(params),
            "most": most_cells(frame_of(params)),
        }

    def prompt(self, params: Params) -> str:
        """Return the box, its contents, and the rules."""
        text = prompt_template(__name__).format(**self.words(params))
        start = str(list(params.start))
        return text + reply_as(
            f'{{"path": [{{"pos": {start}}}, {{"pos": [...]}}, ...]}}'
        )

    def reference(self, params: Params) -> Answer:
        """Extend and rotate a path until it is as long as the two colours allow, or long enough."""
        path = longest_path(params)
        if path is None:
            raise GenerationError(
                f"no path with a full score was found in a box of {params.size}"
            )
        return Answer(path=tuple(Place(pos=cell) for cell in path))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return paths with an illegal move, short paths, paths without food, and other forms."""
        path = [place["pos"] for place in self.reference(params).path]
        paths: dict[str, Sequence[Sequence[int]]] = {
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
            paths["stops_before_the_last_food"] = path[:last_meal]
        through_walls = path_through_walls(params)
        if through_walls is not None:
            paths["walls_ignored"] = through_walls
        wrong: dict[str, JsonValue] = {}
        for name, cells in paths.items():
            answer = listing("path", "pos", cells)
            # In a symmetric box a mistake can give another right path.
            if cells and grade(params, Answer.model_validate(answer)).score < 1:
                wrong[name] = answer
        return wrong | form_counterexamples("path", "pos", path)

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return paths without their last cells, up to the first food, and before the last food."""
        path = [place["pos"] for place in self.reference(params).path]
        lengths = {
            "one_cell_short": len(path) - 1,
            "a_tenth_short": len(path) - len(path) // 10,
        }
        if params.food:
            meals = [path.index(food) for food in params.food]
            lengths["ends_after_the_first_food"] = min(meals) + 1
            lengths["ends_before_the_last_food"] = max(*meals, 1)
        free = math.prod(params.size) - len(params.walls)
        faults: dict[str, tuple[JsonValue, float]] = {}
        for name, length in lengths.items():
            cells = path[:length]
            missed = len(set(params.food) - set(cells))
            share = length / free
            if params.walls:
                share = min(1.0, share / 0.98)
            faults[name] = (listing("path", "pos", cells), share / (missed + 1))
        return faults

    def measure(self, params: Params) -> float:
        """Return the free cells, times one more than the number of walls and food items."""
        return frame_of(params).free * (1 + len(params.walls) + len(params.food))

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return paths that look no further than the next cell, and the best of random walks."""
        walks = best_walks(params)
        return {
            "straight on": shortsighted_answer(params, is_narrow=False),
            "narrowest cell first": shortsighted_answer(params, is_narrow=True),
            f"best of {WALKS} random walks": listing("path", "pos", walks.plain.cells),
            f"best of {WALKS} walks into narrow cells": listing(
                "path", "pos", walks.narrow.cells
            ),
            f"best of {WALKS} straying walks": listing(
                "path", "pos", walks.straying.cells
            ),
        }

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw boxes until a path with the full score is found in one."""
        for _ in range(_TRIES):
            params = draw_box(point, rng)
            if params is None:
                continue
            # The search takes less time than the walks, and finds no path in most large boxes.
            if long_enough_path(params) is None:
                continue
            if point.greedy < 1:
                # The first of these tests needs only some of the walks for most boxes.
                if is_easy_for_walks(params, point.greedy):
                    continue
                if self.has_baseline_above(point.greedy, params, grade):
                    continue
            return params
        raise GenerationError(
            f"none of {_TRIES} boxes with {point.dims} axes, {counted(point.walls, 'wall')} and "
            f"{counted(point.food, 'food item')} was suitable; ask for fewer walls, more cells, "
            "or a range of side lengths that includes even numbers"
        )


def score_text(params: Params) -> str:
    """Return the lines of the prompt on the score of a legal path."""
    frame = frame_of(params)
    text = (
        f"- A path of L cells, including the start, scores L / {frame.free}, because the box has "
        f"{frame.free} cells."
    )
    if params.walls:
        text = (
            f"- A path of L cells, including the start, scores L / (0.98 x {frame.free}), at most "
            f"1,\n  because {frame.free} cells are not walls. So {frame.needed} cells are enough."
        )
    if params.food:
        text += (
            "\n- If the path misses m cells with food, its score is divided by m + 1."
        )
    return text


@lru_cache(maxsize=64)
def long_enough_path(params: Params) -> tuple[Cell, ...] | None:
    """Return a path that is just long enough for the full score; None if none was found."""
    return search_path(params, frame_of(params).needed, _WORK)


@lru_cache(maxsize=64)
def longest_path(params: Params) -> tuple[Cell, ...] | None:
    """Return a path as long as the two colours allow, else one that is long enough."""
    path = search_path(params, None, 4 * _WORK)
    if path is None or len(path) < frame_of(params).needed:
        return long_enough_path(params)
    return path


@lru_cache(maxsize=64)
def path_through_walls(params: Params) -> tuple[Cell, ...] | None:
    """Return the path of a solver that ignores the walls, if it goes through one."""
    if not params.walls:
        return None
    without_walls = params.model_copy(update={"walls": ()})
    path = search_path(without_walls, None, _WORK)
    if path is None or not set(path) & set(params.walls):
        return None
    return path


def search_path(
    params: Params, length: int | None, work: int
) -> tuple[Cell, ...] | None:
    """Return a path over all food, of this length or the greatest that the colours allow."""
    box = Box.make(params.size, params.walls)
    start = box.number[params.start]
    food = [box.number[cell] for cell in params.food]
    rng = Stream("path", params.model_dump(mode="json"), length)
    path = find_path(box, start, food, rng, length, work)
    return None if path is None else tuple(box.cells[i] for i in path)


def shortsighted_answer(params: Params, *, is_narrow: bool) -> JsonValue:
    """Move until no free cell is next to the last one.

    If narrow, into the cell with the fewest ways out; else straight on as long as possible. The
    ways are numbered axis by axis: even ones lead up, odd ones down.
    """
    blocked = set(params.walls)
    position = params.start
    path = [position]
    way = 0

    def ways_from(cell: Cell) -> dict[int, Cell]:
        """Return the free cells next to a cell, in order of the ways to them."""
        ways = {}
        for axis, n in enumerate(params.size):
            for i, step in enumerate((1, -1)):
                c = cell[axis] + step
                near = (*cell[:axis], c, *cell[axis + 1 :])
                if 0 <= c < n and near not in blocked:
                    ways[2 * axis + i] = near
        return ways

    while True:
        blocked.add(position)
        ways = ways_from(position)
        if not ways:
            return listing("path", "pos", path)
        if is_narrow:
            way = min(ways, key=lambda option: len(ways_from(ways[option])))
        elif way not in ways:
            way = min(ways)
        position = ways[way]
        path.append(position)


def draw_box(point: Space, rng: Stream) -> Params | None:
    """Draw a box with walls and food; None if they do not fit, or no path is long enough."""
    size = draw_sides(point, rng)
    if math.prod(size) < point.walls + point.food + 4:
        return None
    cells = list(product(*map(range, size)))
    rng.shuffle(cells)
    start = cells[0] if point.start == "anywhere" else draw_corner(size, rng)
    walls: list[Cell] = []
    food: list[Cell] = []
    reserved = {start}
    if point.wall_layout == "fence":
        corner = draw_corner(size, rng)
        around = [cell for cell in side_neighbours(corner) if cell in cells]
        gap = rng.choice(around)
        if start == corner or start in around:
            return None
        food = [corner]
        walls = [cell for cell in around if cell != gap]
        reserved |= {corner, gap}
    free = [cell for cell in cells if cell not in reserved and cell not in walls]
    if point.wall_layout == "near_start":
        # By the number of steps along the axes.
        free.sort(key=lambda cell: sum(map(abs, map(sub, cell, start))))
        nearest = free[: 2 * point.walls]
        rng.shuffle(nearest)
        free[: len(nearest)] = nearest
    missing = point.walls - len(walls)
    walls += free[:missing]
    if point.food_layout == "anywhere":
        food += rng.sample(free[missing:], point.food - len(food))
    box = Box.make(size, walls)
    # A path can end in one dead end, not in two.
    first = box.number[start]
    dead_ends = box.dead_ends(first)
    if not box.is_connected() or len(dead_ends) > 1:
        return None
    params = Params(size=size, start=start, walls=tuple(walls), food=tuple(food))
    # Along a path the two colours alternate: where one is rare, no path is long enough.
    end = dead_ends[0] if dead_ends and point.wall_layout == "fence" else None
    if box.longest(first, end) < frame_of(params).needed:
        return None
    if point.food_layout == "missed":
        return with_missed_food(params, point.food, rng)
    return params


def draw_sides(point: Space, rng: Stream) -> Cell:
    """Draw the sides so that the box is not too large."""
    sides: list[int] = []
    # Leave room for the shortest sides along the remaining axes.
    for axes in range(point.dims - 1, -1, -1):
        limit = point.max_cells // (math.prod(sides) * point.min_side**axes)
        sides.append(rng.between(point.min_side, min(point.max_side, limit)))
    rng.shuffle(sides)
    return tuple(sides)


def draw_corner(size: Cell, rng: Stream) -> Cell:
    """Draw one of the corners of a box."""
    return tuple(rng.choice((0, n - 1)) for n in size)
