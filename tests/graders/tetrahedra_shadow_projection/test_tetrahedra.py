"""Unit tetrahedra: their positions, and which of them intersect."""

import math

import numpy as np
import pytest
from later import Later

from scbench.graders.tetrahedra_shadow_projection import corners, find_overlaps

optimize = Later("scipy.optimize")

S = math.sqrt(0.5)


def body(*pose):
    return corners(np.array([pose], dtype=float))[0]


def random_bodies(count, spread, seed):
    rng = np.random.default_rng(seed)
    positions = rng.uniform(0, spread, (count, 3))
    return corners(np.hstack([positions, rng.normal(size=(count, 4))]))


def depth_of(first, second):
    """Return the reported depth of two bodies, for any depth above -10."""
    ((_, _, depth),) = find_overlaps(np.stack([first, second]), -10, 5).pairs
    return depth


@pytest.mark.parametrize("shift", [0.001, 0.0014, 0.0015, 0.01, 0.2])
def test_depth_of_a_corner_in_a_corner(shift):
    # The shortest separating move is normal to a square face of the difference body, a
    # cuboctahedron, which is at 45 degrees to the edge.
    depth = depth_of(body(0, 0, 0, 1, 0, 0, 0), body(1 - shift, 0, 0, 1, 0, 0, 0))
    assert depth == pytest.approx(shift * S, abs=1e-9)


def test_search_stops_after_enough_cuts():
    # All are nearly in one place, so each intersects each: 6 pairs.
    bodies = np.stack([body(0.01 * i, 0, 0, 1, 0, 0, 0) for i in range(4)])
    assert len(find_overlaps(bodies, 0, 7).pairs) == 6
    for enough, is_complete in ((5, False), (6, False), (7, True)):
        assert find_overlaps(bodies, 0, enough).complete == is_complete


def is_separable(a, b):
    """Return whether a plane strictly separates two point sets, by linear programming."""
    rows = [[*-p, 1] for p in a] + [[*p, -1] for p in b]
    free = [(None, None)] * 4
    solution = optimize.linprog([0] * 4, rows, [-1] * 8, bounds=free)
    return solution.status == 0


def test_cuts_agree_with_linear_programming():
    bodies = random_bodies(24, 1.6, seed=2)
    result = {pair[:2] for pair in find_overlaps(bodies, 0.0, 10**6).pairs}
    pairs = {(i, j) for j in range(24) for i in range(j)}
    cut = {(i, j) for i, j in pairs if not is_separable(bodies[i], bodies[j])}
    assert result == cut
    assert 20 < len(cut) < len(pairs) - 20


def test_depth_is_the_shortest_separating_move():
    rng = np.random.default_rng(3)
    bodies = random_bodies(8, 0.8, seed=3)
    for i, j, depth in find_overlaps(bodies, 0.01, 10**6).pairs[:8]:
        ways = rng.normal(size=(40, 3))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        for way in ways:
            assert not is_separable(bodies[i], bodies[j] + way * depth * 0.999)
