"""Pairs, areas, stud grids and groups of bricks, checked one by one."""

import math
from itertools import combinations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.graders.lego_hemispherical_shell.bricks import (
    Bricks,
    Pairs,
    close_pairs,
    groups,
    misfits,
    off_grid,
    stances,
)

near = st.floats(-60, 60)
level = st.sampled_from([4.8, 14.4, 24.0, 33.6]) | st.floats(0, 40)
turn = st.sampled_from([0, 90, 180, 270, -90, 360]) | st.floats(-400, 400)
on_studs = st.tuples(
    st.integers(-8, 8).map(lambda k: 8.0 * k),
    st.integers(-8, 8).map(lambda k: 8.0 * k),
    level,
    turn,
)
row = on_studs | st.tuples(near, near, level, turn)


def plan(row):
    box = shapely.box(-16, -8, 16, 8)
    turned = shapely.affinity.rotate(box, row[3], origin=(0, 0))
    return shapely.affinity.translate(turned, row[0], row[1])


def plain_pairs(rows):
    found = {}
    for i, j in combinations(range(len(rows)), 2):
        area = shapely.area(shapely.intersection(plan(rows[i]), plan(rows[j])))
        depth = 9.6 - abs(rows[i][2] - rows[j][2])
        if area > 1 and depth > -0.5:
            pair = (i, j) if rows[i][2] <= rows[j][2] else (j, i)
            found[pair] = (area, depth)
    return found


def ours(rows):
    pairs = close_pairs(Bricks.of(rows), 10**6)
    return {
        (int(i), int(j)): (area, depth)
        for i, j, area, depth in zip(*pairs, strict=True)
    }


@given(st.lists(row, max_size=25))
@settings(max_examples=60)
def test_pairs_match_all_pairs_comparison(rows):
    expected, found = plain_pairs(rows), ours(rows)
    # At the exact limit, rounding decides, so either result is right.
    for pair in expected.keys() ^ found.keys():
        area, depth = {**expected, **found}[pair]
        assert abs(area - 1) < 1e-6 or abs(depth + 0.5) < 1e-6
    for pair in expected.keys() & found.keys():
        assert found[pair] == pytest.approx(expected[pair], abs=1e-5)


def test_crowds_exceed_pair_limit():
    rows = [(0.001 * i, 0.0, 4.8, 0.0) for i in range(100)]
    assert close_pairs(Bricks.of(rows), 4949) is None
    assert len(close_pairs(Bricks.of(rows), 4950).lower) == 4950


@given(
    st.floats(-40, 40), st.floats(-40, 40), st.floats(0, 360), st.sampled_from([0, 90, 180, 270]),
    st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
)  # fmt: skip
def test_bricks_on_a_rotated_grid_fit(x, y, angle, quarter, studs):
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    dx, dy = 8 * studs[0], 8 * studs[1]
    rows = [
        (x, y, 4.8, angle),
        (x + c * dx - s * dy, y + s * dx + c * dy, 14.4, angle + quarter),
    ]
    bricks = Bricks.of(rows)
    pairs = close_pairs(bricks, 10)
    assert not off_grid(bricks, pairs.lower, pairs.upper).any()
    moved = Bricks.of([rows[0], (rows[1][0] + 4 * c, rows[1][1] + 4 * s, *rows[1][2:])])
    pairs = close_pairs(moved, 10)
    assert off_grid(moved, pairs.lower, pairs.upper).all()


def plain_misfits(bricks, label):
    pairs = [
        (i, j) for i, j in combinations(range(len(label)), 2) if label[i] == label[j]
    ]
    if not pairs:
        return []
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    return [
        pair
        for pair, bad in zip(pairs, off_grid(bricks, first, second), strict=True)
        if bad
    ]


@given(
    st.lists(
        st.tuples(
            st.integers(-3, 3), st.integers(-3, 3),
            st.sampled_from([0, 0.3, -0.3, 0.5]), st.sampled_from([0, 90, 180, 0.7, 91.2, 30]),
            st.integers(0, 2),
        ),
        min_size=1, max_size=12,
    ),
    st.sampled_from([0.0, 17.0, 45.0]),
)  # fmt: skip
def test_misfits_match_all_pairs_comparison(rows, turn):
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    places = [(8 * x + d, 8 * y - d, a) for x, y, d, a, _ in rows]
    bricks = Bricks.of(
        [(c * u - s * v, s * u + c * v, 4.8, turn + a) for u, v, a in places]
    )
    firsts = {}
    label = np.array([firsts.setdefault(row[-1], i) for i, row in enumerate(rows)])
    assert misfits(bricks, label, 1000) == plain_misfits(bricks, label)


@given(
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=60),
)
def test_groups_match_graph_search(count, links):
    links = [(a % count, b % count) for a, b in links]
    lower, upper = (np.array(side, dtype=np.int64) for side in zip(*links, strict=True)) if links else (np.zeros(0, dtype=np.int64),) * 2  # fmt: skip  # noqa: E501
    label = groups(count, Pairs(lower, upper, lower * 0.0, lower * 0.0)).tolist()
    for start in range(count):
        group, waiting = {start}, [start]
        while waiting:
            at = waiting.pop()
            for a, b in links:
                for here, there in ((a, b), (b, a)):
                    if here == at and there not in group:
                        group.add(there)
                        waiting.append(there)
        assert label[start] == min(group)


def test_stances_measure_centre_and_support():
    rows = [
        (0, 0, 4.8, 90),
        (0, 0, 14.4, 180),
        (24, 0, 24.0, 0),
        (200, 0, 4.8, 0),
        (208, 8, 4.8, 0),
    ]
    label = np.array([0, 0, 0, 3, 4])
    (one,) = stances(Bricks.of(rows), label, np.array([True, False, False, True, True]))
    assert (one.first, one.size) == (0, 3)
    assert one.centre == (8.0, 0.0)
    assert one.outside == 0
    assert sorted(one.support) == [[-8, -16], [-8, 16], [8, -16], [8, 16]]
