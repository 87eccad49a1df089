"""Brick queries, checked with polygons and by counting grid points."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from shapely import affinity, box

from scbench.base.seeding import Stream
from scbench.catalog import get_task
from scbench.graders.lego_hemispherical_shell.queries import BricksTogether

# The target has radii 40 and 70.
SHELL = get_task("lego_hemispherical_shell").builder().paper()[0].params


def ask(*rows):
    bricks = [{"Centroid": row[:3], "RotationDegrees": row[3]} for row in rows]
    line = json.dumps({"query": "bricks", "bricks": bricks})
    return BricksTogether.model_validate_json(line).observe(SHELL)


def plan(x, y, _z, turn):
    turned = affinity.rotate(box(-16, -8, 16, 8), turn, origin=(0, 0))
    return affinity.translate(turned, x, y)


def cell_centres(half, count):
    return np.linspace(-half, half, count, endpoint=False) + half / count


def share(x, y, z, turn):
    """Return the share of a brick's grid points that are in the shell."""
    u, v, w = np.meshgrid(
        cell_centres(16, 64), cell_centres(8, 32), cell_centres(4.8, 20)
    )
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    px, py, pz = x + c * u - s * v, y + s * u + c * v, z + w
    r = np.sqrt(px**2 + py**2 + pz**2)
    return float(((r >= 40) & (r <= 70) & (pz >= 0)).mean())


def on_one_grid(one, other):
    """Return whether the studs of two bricks fit, within 1 degree and 0.5 mm."""
    x, y, _, angle = one
    turn = (other[3] - angle) % 90
    if min(turn, 90 - turn) > 1:
        return False
    centre = affinity.rotate(plan(*other).centroid, -angle, origin=(x, y))
    offsets = (centre.x - x, centre.y - y)
    return all(abs(d - 8 * round(d / 8)) <= 0.5 for d in offsets)


def random_rows(rng):
    rows = []
    for _ in range(rng.between(1, 10)):
        x = rng.between(-9, 9) * 8 + rng.choice((0, 0, 0, 3))
        y = rng.between(-9, 9) * 8
        z = 4.8 + 9.6 * rng.between(0, 3) + rng.choice((0, 0, 4))
        rows.append((x, y, z, rng.choice((0, 90, 180, 90.5, 45, -30))))
    return rows


@pytest.mark.parametrize("seed", range(8))
def test_pairs_and_shares_of_random_bricks(seed):
    rows = random_rows(Stream("bricks asked for", seed))
    facts = ask(*rows)
    for row, given in zip(rows, facts["in_target"], strict=True):
        assert given == pytest.approx(share(*row), abs=0.01)
    overlaps, joined = [], []
    for (i, a), (j, b) in combinations(enumerate(rows), 2):
        area = plan(*a).intersection(plan(*b)).area
        depth = 9.6 - abs(a[2] - b[2])
        if area <= 1 or depth <= -0.5:
            continue
        if depth >= 0.5:
            overlaps.append([i, j, round(area, 3), round(depth, 3)])
            continue
        pair = [i, j] if a[2] < b[2] else [j, i]
        grid = "on one grid" if on_one_grid(a, b) else "off the grid"
        joined.append([*pair, round(area, 3), grid])
    expected = [pytest.approx(row, abs=0.0011) for row in sorted(overlaps)]
    assert sorted(facts["overlaps"]) == expected
    for given, row in zip(sorted(facts["joined"]), sorted(joined), strict=True):
        assert given[:3] == pytest.approx(row[:3], abs=0.0011)
        assert given[3] == row[3]
