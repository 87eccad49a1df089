"""3D maze: design a maze of heights with exactly one route of steps and jumps from A to B.

An example of the puzzle, with height 5 at A and 0 at B. From A, the only route jumps over B to the
5, then steps to 4, 3, 2, 1 and B:

    AB5
    814
    823

A case is a list of requirements. The solver carves mazes until one meets them all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.maze_3d.carving import (
    MazePlan,
    as_rows,
    carve,
    carve_along,
    draw_lattice_path,
    rays_of,
    winding_nodes,
)
from scbench.builders.shared.builder import Builder, Point, parameter, under
from scbench.graders.maze_3d import (
    find_routes,
    grade,
    height_of,
    most_characters,
    move_graph,
)
from scbench.schemas.maze_3d import Answer, Params

# Maximum number of mazes carved for one list of requirements.
_TRIES = 200
# Maximum number of requirements that one draw tries.
_DRAWS = 20


class Space(Point):
    """Parameters of fresh requirements; open ones (null) are drawn."""

    size: int = parameter(12, "number of rows and of columns", ge=5, le=40)
    a_height: int | None = parameter(None, "height of A; null draws 0 to 9", ge=0, le=9)
    b_height: int | None = parameter(None, "height of B; null draws 0 to 9", ge=0, le=9)
    jumps: int | None = parameter(
        None,
        "minimum number of jumps; null draws size / 6 to size / 2; more is harder",
        ge=1,
        le=20,
    )
    max_height_percent: int | None = parameter(
        None,
        "largest percentage of cells with the same height; null draws 20 to 35; less is harder",
        ge=15,
        le=100,
    )
    min_route_percent: int | None = parameter(
        None,
        "minimum percentage of cells on the route; null draws 12 to 24; more is harder",
        ge=1,
        le=30,
    )
    placed: bool = parameter(
        False, "whether the cells of A and B are drawn at random and required"
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Requirements that some maze is known to meet."""

    task = "maze_3d"
    version = 4
    draws = 3
    form = '{"maze": [row, row, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the requirements."""
        n = params.size
        return {
            "n": n,
            "places": ends_text(params),
            "a": params.a_height,
            "b": params.b_height,
            "jumps": params.jumps,
            "jumps_word": "jump" if params.jumps == 1 else "jumps",
            "route": params.min_route_percent,
            "least": least_cells(params),
            "cells": n * n,
            "share": params.max_height_percent,
            "most": params.max_height_percent * n * n // 100,
            "most_characters": most_characters(n),
        }

    def reference(self, params: Params) -> Answer:
        """Carve mazes until one follows every rule."""
        maze = solve(params)
        if maze is None:
            raise GenerationError(
                f"no maze met the requirements in {_TRIES} tries; relax them"
            )
        return answer_of(maze)

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return mazes that break one rule, and mazes in other formats."""
        rows = list(self.reference(params).maze)
        maze = "\n".join(rows)
        n = params.size
        digits = [character for character in maze if character.isdigit()]
        digit = digits[0]
        wrong = {
            "empty": "",
            "prose_before": f"Here is a maze with one route:\n\n{maze}",
            "prose_after": f"{maze}\n\nThe route has {params.jumps} jumps.",
            "reply_cut_off": maze[: len(maze) // 2],
            "row_missing": "\n".join(rows[:-1]),
            "row_too_many": f"{maze}\n{rows[-1]}",
            "row_too_short": "\n".join([rows[0][:-1], *rows[1:]]),
            "row_too_long": maze + "9",
            "one_line": "".join(rows),
            "rows_apart": "\n\n".join(rows),
            "blanks_between": "\n".join(map(" ".join, rows)),
            "commas_between": "\n".join(map(",".join, rows)),
            "indented": "\n".join(f"  {row}" for row in rows),
            "no_a": maze.replace("A", str(params.a_height)),
            "no_b": maze.replace("B", str(params.b_height)),
            "two_of_a": maze.replace(digit, "A", 1),
            "small_letters": maze.lower(),
            "letters_for_walls": maze.replace(digit, "X", 1),
            "raised_digit": maze.replace(digit, "\N{SUPERSCRIPT TWO}", 1),
            "digits_of_another_script": maze.replace(
                digit, "\N{ARABIC-INDIC DIGIT TWO}", 1
            ),
            "flat": as_rows(["A", *[str(params.a_height)] * (n * n - 2), "B"], n),
            "sentinel": "__content_violation__",
        }
        wrong |= dict(rule_breakers(params))
        wrong |= dict(changed_heights(params, "".join(rows)))
        forms: dict[str, JsonValue] = {
            name: list[JsonValue](text.split("\n")) for name, text in wrong.items()
        }
        forms["text_with_prose"] = f"Here is a maze with one route:\n{maze}"
        forms["rows_of_cells"] = [list[JsonValue](row) for row in rows]
        forms["rows_as_numbers"] = [
            int(row.replace("A", "").replace("B", "")) for row in rows
        ]
        answers = under("maze", forms)
        answers["bare_list"] = list[JsonValue](rows)
        return answers

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a maze around one winding route; the route is made the same way for all sizes."""
        maze = serpentine(params)
        if maze is None:
            return {}
        return {"one winding route": {"maze": list[JsonValue](maze.split("\n"))}}

    def measure(self, params: Params) -> float:
        """Return the minimum number of cells on the route, plus two for each jump."""
        return least_cells(params) + 2 * params.jumps

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw the open parameters until the solver finds a maze."""
        n = point.size

        def pick(fixed: int | None, low: int, high: int) -> int:
            return rng.between(low, high) if fixed is None else fixed

        for _ in range(_DRAWS):
            params = Params(
                size=n,
                a_height=pick(point.a_height, 0, 9),
                b_height=pick(point.b_height, 0, 9),
                jumps=pick(point.jumps, max(1, n // 6), max(1, n // 2)),
                max_height_percent=pick(point.max_height_percent, 20, 35),
                min_route_percent=pick(point.min_route_percent, 12, 24),
            )
            if point.placed:
                params = with_ends(params, rng)
            if solve(params) is not None:
                return params
        raise GenerationError(
            f"no maze of size {n} was found in {_DRAWS} draws of the open parameters; ask for "
            "fewer jumps, a shorter route or a larger share of one height"
        )


def ends_text(params: Params) -> str:
    """Return the rule on the cells of A and B; empty if they may be anywhere."""
    if params.ends is None:
        return ""
    (a_row, a_column), (b_row, b_column) = params.ends
    return (
        f"- A is in row {a_row}, column {a_column}, and B in row {b_row}, column {b_column}. Rows "
        "are counted from 0\n  at the top, columns from 0 at the left.\n"
    )


def least_cells(params: Params) -> int:
    """Return the minimum number of cells on the route: its share, rounded up."""
    return -(-params.min_route_percent * params.size**2 // 100)


def with_ends(params: Params, rng: Stream) -> Params:
    """Draw a route, and require A and B to be at its ends."""
    n = params.size
    # Nodes may also be in odd rows or columns, so that A and B can be anywhere.
    corner = rng.below(2), rng.below(2)
    nodes = draw_lattice_path(n, rng, corner)
    least, most = plan_for(params).node_range
    most = min(most, len(nodes))
    count = rng.between(min(least, most), most)
    ends = divmod(nodes[0], n), divmod(nodes[count - 1], n)
    return params.model_copy(update={"ends": ends})


def answer_of(maze: str) -> Answer:
    """Return a maze as an answer."""
    return Answer(maze=tuple(maze.split("\n")))


def plan_for(params: Params) -> MazePlan:
    """Return the plan of a maze that meets the requirements."""
    # The route needs enough cells for its share, its climb and its jumps.
    climb = abs(params.a_height - params.b_height)
    least = max(least_cells(params), climb + params.jumps + 1)
    return MazePlan(
        size=params.size,
        a_height=params.a_height,
        b_height=params.b_height,
        jumps=params.jumps,
        least_cells=least,
        most_cells=least + max(6, least // 3),
        ends=params.ends,
    )


@lru_cache(maxsize=64)
def solve(params: Params) -> str | None:
    """Return a maze that follows every rule, always the same one; None if none was carved."""
    return carve_until(params, plan_for(params), set())


def carve_until(params: Params, plan: MazePlan, broken: set[str]) -> str | None:
    """Carve mazes until one breaks exactly these rules of the grader; None if none does."""
    variant = [plan.jumps, plan.least_cells, plan.most_cells, plan.favourite]
    rng = Stream("maze_3d", "solver", params.model_dump(mode="json"), variant)
    # `carve` does not check how often a height occurs; the grader does.
    for _ in range(_TRIES):
        maze = carve(plan, rng)
        if maze is not None:
            failed = {check.id for check in grade(params, answer_of(maze)).failed}
            if failed == broken:
                return maze
    return None


def serpentine(params: Params) -> str | None:
    """Return a maze around a back-and-forth route from the first cell; ignore required ends."""
    plan = replace(plan_for(params), ends=None)
    least, _ = plan.node_range
    nodes = winding_nodes(params.size)[:least]
    rng = Stream("maze_3d", "winding route", params.model_dump(mode="json"))
    for _ in range(_TRIES):
        maze = carve_along(nodes, plan, rng)
        if maze is not None:
            return maze
    return None


def rule_breakers(params: Params) -> Iterator[tuple[str, str]]:
    """Yield mazes that break one rule on counts, if such mazes were carved."""
    plan = plan_for(params)
    # The route may have any length that is too short.
    shorter = replace(plan, least_cells=2, most_cells=least_cells(params) - 1)
    variants = (
        ("one_jump_too_few", "jumps", replace(plan, jumps=plan.jumps - 1)),
        ("route_too_short", "coverage", shorter),
        ("one_height_too_often", "height_share", replace(plan, favourite=9)),
    )
    for name, rule, variant in variants:
        maze = carve_until(params, variant, {rule})
        if maze is not None:
            yield name, maze


def changed_heights(params: Params, cells: str) -> Iterator[tuple[str, str]]:
    """Yield mazes with one cell next to the route changed."""
    n = params.size
    heights = [height_of(params, cell) for cell in cells]
    graph = move_graph(n, heights)
    route = find_routes(graph, cells.index("A"), cells.index("B")).route
    # The cell where each jump begins, by the cell it passes over.
    jumps = {}
    for cell, next_cell in pairwise(route):
        if abs(cell - next_cell) in {2, 2 * n}:
            jumps[(cell + next_cell) // 2] = cell
    if jumps:
        gap, start = next(iter(jumps.items()))
        # A cell that is less than 2 lower allows two steps instead of a jump.
        yield "gap_too_shallow", with_height(cells, gap, heights[start] - 1, n)
        yield "gap_filled", with_height(cells, gap, heights[start], n)
    for cell, rays in enumerate(rays_of(n)):
        if cell in route or cell in jumps:
            continue
        levels = [heights[ray.near] for ray in rays if ray.near in route]
        if len(levels) >= 2 and max(levels) - min(levels) <= 2:
            # A cell with a height in between joins two cells of the route.
            middle = (min(levels) + max(levels)) // 2
            yield "wall_that_is_none", with_height(cells, cell, middle, n)
            return


def with_height(cells: Sequence[str], cell: int, height: int, n: int) -> str:
    """Return the n rows of a maze with the height of one cell changed."""
    return as_rows([*cells[:cell], str(height), *cells[cell + 1 :]], n)
