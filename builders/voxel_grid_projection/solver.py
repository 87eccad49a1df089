"""Sets of cells that follow every rule: a cover of the three views, plus random cells."""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, product

from scbench.base.seeding import Stream
from scbench.graders.voxel_grid_projection import Cell, find_forbidden, grade
from scbench.schemas.voxel_grid_projection import Answer, Params, Voxel

# Maximum number of random additions tried for a cover; nearly all leave no symmetry.
_FILLINGS = 20
# Maximum number of Latin squares tried.
_SQUARES = 400
# Number of random steps for each cell of a connected set.
_STEPS = 100


@lru_cache(maxsize=64)
def solve(params: Params) -> tuple[Cell, ...] | None:
    """Return cells that follow every rule, always the same ones; None if none are found."""
    rng = Stream("voxel_grid_projection", "solver", params.model_dump(mode="json"))
    barred = barred_cells(params)
    everything = all_cells(params.size)
    permitted = [cell for cell in everything if cell not in barred]
    if params.connected:
        # The cells of three faces fill the views and are connected.
        cover: list[Cell] | None = [cell for cell in everything if min(cell) == 0]
    else:
        cover = cover_views(params.size, permitted)
    if cover is None or not len(cover) <= params.cells <= len(permitted):
        return None
    covered = set(cover)
    free = [cell for cell in permitted if cell not in covered]
    for _ in range(_FILLINGS):
        if params.connected:
            selection = _with_neighbours(cover, params, rng)
        else:
            selection = cover + rng.sample(free, params.cells - len(cover))
        cells = tuple(sorted(selection))
        if grade(params, as_answer(cells)).score == 1:
            return cells
    return None


def as_answer(cells: Sequence[Cell]) -> Answer:
    """Return cells as an answer."""
    return Answer(voxels=tuple(Voxel(xyz=cell) for cell in cells))


def all_cells(n: int) -> list[Cell]:
    """Return the cells of a grid, sorted."""
    return list(product(range(n), range(n), range(n)))


def barred_cells(params: Params) -> set[Cell]:
    """Return the cells that may not be chosen."""
    sums, single = find_forbidden(params)
    barred = set()
    for cell in all_cells(params.size):
        if sum(cell) in sums or cell in single:
            barred.add(cell)
    return barred


def latin_square(n: int, a: int, b: int, c: int) -> list[Cell]:
    """Return the cells with z = a x + b y + c (mod n), one on each line of the grid."""
    square = []
    for x, y in product(range(n), range(n)):
        z = (a * x + b * y + c) % n
        square.append((x, y, z))
    return square


def cover_views(n: int, permitted: Sequence[Cell]) -> list[Cell] | None:
    """Return permitted cells that fill all three views, only a few more than n * n.

    The Latin square that meets the fewest forbidden cells is repaired: each line that lost its cell
    gets its first permitted one.
    """
    best = _best_square(n, set(permitted))
    if len(best) == n * n:
        return best
    for i, j in ((0, 1), (0, 2), (1, 2)):
        first_on_line: dict[tuple[int, int], Cell] = {}
        for cell in permitted:
            first_on_line.setdefault((cell[i], cell[j]), cell)
        filled = {(cell[i], cell[j]) for cell in best}
        for line in product(range(n), range(n)):
            if line in filled:
                continue
            if line not in first_on_line:
                return None
            best.append(first_on_line[line])
    return best


def _best_square(n: int, permitted: set[Cell]) -> list[Cell]:
    """Return the permitted cells of the Latin square that has the most of them."""
    # Only factors that have no common divisor with n give a Latin square.
    units = [a for a in range(1, n) if math.gcd(a, n) == 1]
    factors = product(units, units, range(n))
    best: list[Cell] = []
    for a, b, c in islice(factors, _SQUARES):
        cells = [cell for cell in latin_square(n, a, b, c) if cell in permitted]
        if len(cells) > len(best):
            best = cells
        if len(best) == n * n:
            break
    return best


def _with_neighbours(cover: Sequence[Cell], params: Params, rng: Stream) -> list[Cell]:
    """Return a cover with random neighbours of its cells, and of the cells so added."""
    # A dictionary keeps the order of the cells, and so the results of draws.
    selection = dict.fromkeys(cover)
    for _ in range(_STEPS * params.cells):
        if len(selection) == params.cells:
            break
        place = list(rng.choice(list(selection)))
        axis = rng.below(3)
        place[axis] += rng.choice((-1, 1))
        if 0 <= place[axis] < params.size:
            x, y, z = place
            selection[x, y, z] = None
    return list(selection)
