"""Blasts and flat regions of a height map: PyBullet simulates the rock of a blast as balls.

Heights are one list, row by row: the cell (x, y) of a map with n columns is number y * n + x.
"""

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

from scbench.base.canonical import sha256
from scbench.machine.physics import Engine, PhysicsError, engine_python, open_engine

# Balls start in five layers around the centre of their cell: radius of the disc, height above the
# ground, and distance of the layers.
DISC_RADIUS = 0.25
CLEARANCE = 0.6
LIFT = 0.02
MIN_BALLS = 3
MAX_BALLS = 120
# Added to the tolerance of a flat region, for rounding errors.
TRIFLE = 1e-9
# Turning by this angle spreads balls evenly over a disc.
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_ENGINE = Path(__file__).with_name("engine.py")

# The golden plan, whose result is the fingerprint of a machine: side of the map, and x, y and depth
# of each blast.
_SIDE = 12
_BLASTS = (
    (5, 6, 6.0),
    (6, 5, 3.5),
    (2, 9, 0.6),
    (9, 2, 2.25),
    (0, 0, 1.5),
    (6, 6, 1.0),
)
# Cell over which balls fall once more at the end, and their number; they do not raise
# the ground.
_LAST = (7, 4, 24)


def engine() -> Engine:
    """Return PyBullet in a child process of this thread.

    Raises:
        CannotGrade: there is no Python with PyBullet.
    """
    return open_engine(_ENGINE)


def machine_facts() -> dict[str, str]:
    """Return the engine, its interpreter and its fingerprint.

    Raises:
        CannotGrade: see `engine`.
    """
    return {
        "PyBullet": engine().facts["pybullet"],
        "Python": engine_python(),
        "fingerprint": fingerprint(),
    }


def ball_count(depth: float) -> int:
    """Return the number of balls that the rock of one blast breaks into."""
    return max(MIN_BALLS, int(min(MAX_BALLS, 4 * depth)))


def blast_work(depth: float) -> float:
    """Return the work of simulating one blast, in units of up to 12 ms of CPU time.

    Each ball takes time; many balls in one place also collide with each other.
    """
    balls = ball_count(depth)
    return balls + (balls / 20) ** 4


def start_positions(x: int, y: int, height: float, count: int) -> list[list[float]]:
    """Return the start places of balls over the cell x, y: a spiral in five repeating layers.

    ``height`` is the cell's height after the blast.
    """
    positions = []
    for i in range(count):
        radius = DISC_RADIUS * math.sqrt((i + 1) / count)
        angle = i * _GOLDEN_ANGLE
        at_x = x + 0.5 + radius * math.cos(angle)
        at_y = y + 0.5 + radius * math.sin(angle)
        positions.append([at_x, at_y, height + CLEARANCE + LIFT * (i % 5)])
    return positions


def roll(
    heights: Sequence[float], n: int, starts: Sequence[Sequence[float]]
) -> list[list[float]]:
    """Let balls fall on the ground and return the final x, y and z of each (``engine.py``).

    If the child process dies, the call is repeated once: a new one may get more memory.

    Raises:
        CannotGrade: see `engine`.
        PhysicsError: the child process died again.
    """
    numbers = [n, *heights, *chain.from_iterable(starts)]
    try:
        places = engine().call(numbers)
    except PhysicsError:
        places = engine().call(numbers)
    return [places[i : i + 3] for i in range(0, len(places), 3)]


def blast_cell(heights: list[float], n: int, x: int, y: int, depth: float) -> int:
    """Lower a cell of ``n * n`` and move its rock to other cells; heights change in place.

    The depth is above 0. Returns the number of balls that left the map.

    Raises:
        CannotGrade: see `engine`.
    """
    cell = y * n + x
    heights[cell] -= depth
    count = ball_count(depth)
    lost = 0
    starts = start_positions(x, y, heights[cell], count)
    for at_x, at_y, _ in roll(heights, n, starts):
        # Written so that a position that is not a number counts as lost.
        if 0 <= at_x < n and 0 <= at_y < n:
            heights[int(at_y) * n + int(at_x)] += depth / count
        else:
            lost += 1
    return lost


@lru_cache(maxsize=128)
def neighbours(n: int) -> tuple[tuple[int, ...], ...]:
    """Return for each cell of an n x n map the cells that share an edge with it."""
    cells = []
    for y in range(n):
        for x in range(n):
            around = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
            inside = [v * n + u for u, v in around if 0 <= u < n and 0 <= v < n]
            cells.append(tuple(inside))
    return tuple(cells)


def largest_flat(heights: Sequence[float], n: int, tolerance: float) -> list[int]:
    """Return the cells of the largest flat region in order; in a tie, of the first in the map.

    Cells that share an edge are joined if their heights differ by at most the tolerance, so a
    gentle slope is flat. As doubles, 5.0 and 4.8 differ by slightly more than 0.2, so `TRIFLE` is
    added to the tolerance.
    """
    adjacent = neighbours(n)
    max_step = tolerance + TRIFLE
    fresh = [True] * len(heights)
    best: list[int] = []
    for start in range(len(heights)):
        if not fresh[start]:
            continue
        fresh[start] = False
        region = [start]
        for cell in region:  # grows during the loop
            height = heights[cell]
            for neighbour in adjacent[cell]:
                if fresh[neighbour] and abs(height - heights[neighbour]) <= max_step:
                    fresh[neighbour] = False
                    region.append(neighbour)
        if len(region) > len(best):
            best = region
    return sorted(best)


@cache
def fingerprint() -> str:
    """Return the hash of the golden plan's result: the map and the final places of the last balls.

    Raises:
        CannotGrade: see `engine`.
    """
    cells = [(x, y) for y in range(_SIDE) for x in range(_SIDE)]
    heights = [2 + (7 * x + 5 * y + 3 * x * y) % 23 / 4 for x, y in cells]
    for x, y, depth in _BLASTS:
        blast_cell(heights, _SIDE, x, y, depth)
    x, y, count = _LAST
    starts = start_positions(x, y, heights[y * _SIDE + x], count)
    places = chain.from_iterable(roll(heights, _SIDE, starts))
    values = [float(value) for value in chain(heights, places)]
    return sha256(" ".join(value.hex() for value in values))[:16]
