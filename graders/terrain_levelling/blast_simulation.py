"""Loosened rock as balls: one blast simulated in PyBullet, and the flat regions of a height map.

Heights are one list, row by row: the cell (x, y) of a map with n columns is number y * n + x.
"""

import math
import platform
import threading
import weakref
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

from scbench.base.canonical import sha256
from scbench.base.errors import CannotGrade
from scbench.machine.quiet import quiet_import

GRAVITY = -9.81
STEPS_PER_SECOND = 240
STEPS = 360
SOLVER_ITERATIONS = 50
BALL_RADIUS = 0.2
BALL_MASS = 0.1
LATERAL_FRICTION = 0.9
ROLLING_FRICTION = 0.05
DISC_RADIUS = 0.25
CLEARANCE = 0.6
LIFT = 0.02
MIN_BALLS = 3
MAX_BALLS = 120
TRIFLE = 1e-9
"""What heights may differ by beyond the tolerance of a flat region."""
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_clients = threading.local()


def engine() -> Any:  # noqa: ANN401  (it ships no types)
    """Return the module ``pybullet``.

    Raises:
        CannotGrade: it is not installed.
    """
    try:
        return quiet_import("pybullet")
    except ImportError as error:
        raise CannotGrade(
            f"simulating blasts needs PyBullet, which cannot be imported here ({error}): "
            "pip install 'scbench[terrain]' (under CPython 3.12 and later it is compiled, "
            "which takes minutes and a C++ compiler)"
        ) from None


@lru_cache(maxsize=1)
def engine_facts() -> dict[str, str]:
    """Return what else a simulated result depends on: engine version and platform."""
    return {
        "pybullet": version("pybullet"),
        "system": platform.system(),
        "machine": platform.machine(),
    }


def ball_count(depth: float) -> int:
    """Return how many balls the rock of one blast breaks into; depths too great give the most."""
    return max(MIN_BALLS, int(min(MAX_BALLS, 4 * depth)))


def blast_work(depth: float) -> float:
    """Return what simulating one blast takes, in units of up to 12 milliseconds of a processor.

    Few balls take time each; many that burst apart at one place meet each other as well.
    """
    balls = ball_count(depth)
    return balls + (balls / 20) ** 4


def start_positions(x: int, y: int, height: float, count: int) -> list[list[float]]:
    """Return where balls start over the cell x, y: a spiral, in five layers that repeat.

    ``height`` is the cell's after the blast.
    """
    positions = []
    for i in range(count):
        radius, angle = DISC_RADIUS * math.sqrt((i + 1) / count), i * _GOLDEN_ANGLE
        positions.append(
            [
                x + 0.5 + radius * math.cos(angle),
                y + 0.5 + radius * math.sin(angle),
                height + CLEARANCE + LIFT * (i % 5),
            ]
        )
    return positions


class _Client:
    """A connection to an engine of its own, closed with the thread that opened it."""

    def __init__(self, pybullet: Any) -> None:  # noqa: ANN401  (it ships no types)
        self.id: int = pybullet.connect(pybullet.DIRECT)
        if self.id < 0:
            raise RuntimeError("PyBullet opens no client")
        weakref.finalize(self, _close, pybullet, self.id)


def _close(pybullet: Any, client: int) -> None:  # noqa: ANN401  (it ships no types)
    if pybullet.isConnected(client):
        pybullet.disconnect(client)


def _fresh_client(pybullet: Any) -> int:  # noqa: ANN401  (it ships no types)
    """Return this thread's client with nothing in it and no time gone by.

    Opening one takes longer than most blasts. A reset makes the whole world anew, its solver
    included, and what is set by parameters is set again for each blast; taking single bodies out
    would leave the solver's state and give other results.
    """
    client: _Client | None = getattr(_clients, "client", None)
    if client is not None and not pybullet.isConnected(client.id):
        # It is gone before the next one is opened, which may get its number.
        client = _clients.client = None
    if client is None:
        client = _clients.client = _Client(pybullet)
    pybullet.resetSimulation(physicsClientId=client.id)
    return client.id


def roll(heights: Sequence[float], n: int, starts: Sequence[Sequence[float]]) -> list[Any]:
    """Let balls fall on the ground for `STEPS` steps and return x, y and z of each one then.

    The numbers are those of a client opened for this call alone. Bullet centres the ground of ``n *
    n`` heights on the middle of its lowest and highest point, so the balls drop by about that much;
    scores published so far have this drop in them.

    Raises:
        CannotGrade: see `engine`.
        RuntimeError: the engine opens no client.
    """
    pybullet = engine()
    client = _fresh_client(pybullet)
    pybullet.setGravity(0, 0, GRAVITY, physicsClientId=client)
    # All steps as the parts of one long step: the same numbers with one command instead of 360.
    pybullet.setPhysicsEngineParameter(
        fixedTimeStep=STEPS / STEPS_PER_SECOND,
        numSubSteps=STEPS,
        numSolverIterations=SOLVER_ITERATIONS,
        deterministicOverlappingPairs=1,
        physicsClientId=client,
    )
    # Without a shape to look like, every body would be meshed for pictures nobody takes; for
    # the ground that takes longer than the simulation.
    looks = pybullet.createVisualShape(
        pybullet.GEOM_BOX, halfExtents=[1, 1, 1], physicsClientId=client
    )
    ground = pybullet.createCollisionShape(
        pybullet.GEOM_HEIGHTFIELD,
        meshScale=[1, 1, 1],
        heightfieldTextureScaling=n / 2,
        heightfieldData=heights,
        numHeightfieldRows=n,
        numHeightfieldColumns=n,
        physicsClientId=client,
    )
    pybullet.createMultiBody(
        0, ground, looks, basePosition=[n / 2, n / 2, 0], physicsClientId=client
    )
    ball = pybullet.createCollisionShape(
        pybullet.GEOM_SPHERE, radius=BALL_RADIUS, physicsClientId=client
    )
    pybullet.createMultiBody(BALL_MASS, ball, looks, batchPositions=starts, physicsClientId=client)
    # The ground is body 0, the balls follow in order.
    balls = range(1, len(starts) + 1)
    for body in balls:
        pybullet.changeDynamics(
            body,
            -1,
            lateralFriction=LATERAL_FRICTION,
            rollingFriction=ROLLING_FRICTION,
            spinningFriction=ROLLING_FRICTION,
            physicsClientId=client,
        )
    pybullet.stepSimulation(physicsClientId=client)
    return [
        pybullet.getBasePositionAndOrientation(body, physicsClientId=client)[0] for body in balls
    ]


def blast_cell(heights: list[float], n: int, x: int, y: int, depth: float) -> int:
    """Lower a cell of ``n * n`` and let its rock come to lie elsewhere; heights change in place.

    The depth is more than 0. How many of the balls left the map is returned.

    Raises:
        CannotGrade: see `engine`.
    """
    cell = y * n + x
    heights[cell] -= depth
    count = ball_count(depth)
    lost = 0
    for at_x, at_y, _ in roll(heights, n, start_positions(x, y, heights[cell], count)):
        # Written so that a position that is not a number counts as lost.
        if 0 <= at_x < n and 0 <= at_y < n:
            heights[int(at_y) * n + int(at_x)] += depth / count
        else:
            lost += 1
    return lost


@lru_cache(maxsize=128)
def neighbours(n: int) -> tuple[tuple[int, ...], ...]:
    """Return for each cell of an n x n map the cells that share an edge with it."""
    return tuple(
        tuple(
            (y + dy) * n + x + dx
            for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1))
            if 0 <= x + dx < n and 0 <= y + dy < n
        )
        for y in range(n)
        for x in range(n)
    )


def largest_flat(heights: Sequence[float], n: int, tolerance: float) -> list[int]:
    """Return the cells of the largest flat region, in order; of several, the first in the map.

    A region is joined edge to edge, and cells that meet in it differ by at most the tolerance at
    some edge of each cell: a gentle slope is flat. Heights (``n * n``) are doubles, of which 5.0
    and 4.8 differ by a trifle more than 0.2, so a trifle is overlooked.
    """
    beside, max_step = neighbours(n), tolerance + TRIFLE
    fresh = [True] * len(heights)
    best: list[int] = []
    for start in range(len(heights)):
        if not fresh[start]:
            continue
        fresh[start] = False
        region = [start]
        for cell in region:  # grows while it is gone through
            height = heights[cell]
            for neighbour in beside[cell]:
                if fresh[neighbour] and abs(height - heights[neighbour]) <= max_step:
                    fresh[neighbour] = False
                    region.append(neighbour)
        if len(region) > len(best):
            best = region
    return sorted(best)


_SIDE = 12
_BLASTS = ((5, 6, 6.0), (6, 5, 3.5), (2, 9, 0.6), (9, 2, 2.25), (0, 0, 1.5), (6, 6, 1.0))
_LAST = (7, 4, 24)
"""Cell over which balls fall once more at the end, and how many; they lift no ground."""


@cache
def fingerprint() -> str:
    """Return the hash of what the golden plan leaves: the map, and the places of the last balls.

    Raises:
        CannotGrade: PyBullet is not installed.
    """
    cells = [(x, y) for y in range(_SIDE) for x in range(_SIDE)]
    heights = [2 + (7 * x + 5 * y + 3 * x * y) % 23 / 4 for x, y in cells]
    for x, y, depth in _BLASTS:
        blast_cell(heights, _SIDE, x, y, depth)
    x, y, count = _LAST
    starts = start_positions(x, y, heights[y * _SIDE + x], count)
    places = [float(value) for place in roll(heights, _SIDE, starts) for value in place]
    return sha256(" ".join(value.hex() for value in heights + places))[:16]
