"""Brick queries, checked with polygons and by counting grid points."""

import json
import math

import numpy as np
import pytest
from shapely import affinity, box

from scbench.base.seeding import Stream
from scbench.catalog import get_task
from scbench.graders.lego_hemispherical_shell.queries import BricksTogether

SHELL = (
    get_task("lego_hemispherical_shell").builder().paper()[0].params
)  # radii 40 and 70


def ask(*rows):
    bricks = [{"Centroid": row[:3], "RotationDegrees": row[3]} for row in rows]
    line = json.dumps({"query": "bricks", "bricks": bricks})
    return BricksTogether.model_validate_json(line).observe(SHELL)


def plan(x, y, _z, turn):
    return affinity.translate(
        affinity.rotate(box(-16, -8, 16, 8), turn, origin=(0, 0)), x, y
    )


def share(x, y, z, turn):
    """Return the share of a brick's grid points that are in the shell."""
    u, v, w = np.meshgrid(
        *(
            np.linspace(-h, h, n, endpoint=False) + h / n
            for h, n in ((16, 64), (8, 32), (4.8, 20))
        )
    )
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    px, py, pz = x + c * u - s * v, y + s * u + c * v, z + w
    r = np.sqrt(px**2 + py**2 + pz**2)
    return float(((r >= 40) & (r <= 70) & (pz >= 0)).mean())


@pytest.mark.parametrize("seed", range(8))
def test_pairs_and_shares_of_random_bricks(seed):
    rng = Stream("bricks asked for", seed)
    rows = [
        (
            rng.between(-9, 9) * 8 + rng.choice((0, 0, 0, 3)),
            rng.between(-9, 9) * 8,
            4.8 + 9.6 * rng.between(0, 3) + rng.choice((0, 0, 4)),
            rng.choice((0, 90, 180, 90.5, 45, -30)),
        )
        for _ in range(rng.between(1, 10))
    ]
    facts = ask(*rows)
    for row, given in zip(rows, facts["in_target"], strict=True):
        assert given == pytest.approx(share(*row), abs=0.01)
    overlaps, joined = [], []
    for i, a in enumerate(rows):
        for j, b in enumerate(rows[i + 1 :], start=i + 1):
            area = plan(*a).intersection(plan(*b)).area
            deep = 9.6 - abs(a[2] - b[2])
            if area > 1 and deep >= 0.5:
                overlaps.append([i, j, round(area, 3), round(deep, 3)])
            elif area > 1 and deep > -0.5:
                turn = (b[3] - a[3]) % 90
                way = affinity.rotate(plan(*b).centroid, -a[3], origin=(a[0], a[1]))
                fits = min(turn, 90 - turn) <= 1 and all(
                    abs(d - 8 * round(d / 8)) <= 0.5
                    for d in (way.x - a[0], way.y - a[1])
                )
                pair = [i, j] if a[2] < b[2] else [j, i]
                grid = "on one grid" if fits else "off the grid"
                joined.append([*pair, round(area, 3), grid])
    assert sorted(facts["overlaps"]) == [
        pytest.approx(row, abs=0.0011) for row in sorted(overlaps)
    ]
    assert [row[3] for row in sorted(facts["joined"])] == [
        row[3] for row in sorted(joined)
    ]
    assert [row[:3] for row in sorted(facts["joined"])] == [
        pytest.approx(row[:3], abs=0.0011) for row in sorted(joined)
    ]
