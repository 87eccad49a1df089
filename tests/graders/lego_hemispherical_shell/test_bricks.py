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


def found_pairs(rows):
    pairs = close_pairs(Bricks.of(rows), 10**6)
    found = {}
    for lower, upper, area, depth in zip(*pairs, strict=True):
        found[int(lower), int(upper)] = (area, depth)
    return found


def plain_pairs(rows):
    found = {}
    for i, j in combinations(range(len(rows)), 2):
        area = shapely.area(shapely.intersection(plan(rows[i]), plan(rows[j])))
        z_i, z_j = rows[i][2], rows[j][2]
        depth = 9.6 - abs(z_i - z_j)
        if area > 1 and depth > -0.5:
            pair = (i, j) if z_i <= z_j else (j, i)
            found[pair] = (area, depth)
    return found


@given(st.lists(row, max_size=25))
@settings(max_examples=60)
def test_pairs_match_all_pairs_comparison(rows):
    expected, found = plain_pairs(rows), found_pairs(rows)
    # At the exact limit, rounding decides, so either result is right.
    for pair in expected.keys() ^ found.keys():
        area, depth = expected.get(pair) or found[pair]
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
    lower = (x, y, 4.8, angle)
    upper_x, upper_y = x + c * dx - s * dy, y + s * dx + c * dy
    bricks = Bricks.of([lower, (upper_x, upper_y, 14.4, angle + quarter)])
    pairs = close_pairs(bricks, 10)
    assert not off_grid(bricks, pairs.lower, pairs.upper).any()
    # Half a stud along the grid.
    off = (upper_x + 4 * c, upper_y + 4 * s, 14.4, angle + quarter)
    moved = Bricks.of([lower, off])
    pairs = close_pairs(moved, 10)
    assert off_grid(moved, pairs.lower, pairs.upper).all()


def plain_misfits(bricks, label):
    found = []
    for i, j in combinations(range(len(label)), 2):
        same_group = label[i] == label[j]
        if same_group and off_grid(bricks, np.array([i]), np.array([j]))[0]:
            found.append((i, j))
    return found


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
    placed, label, first_of_group = [], [], {}
    for i, (stud_x, stud_y, shift, angle, group) in enumerate(rows):
        x, y = 8 * stud_x + shift, 8 * stud_y - shift
        placed.append((c * x - s * y, s * x + c * y, 4.8, turn + angle))
        label.append(first_of_group.setdefault(group, i))
    bricks, label = Bricks.of(placed), np.array(label)
    assert misfits(bricks, label, 1000) == plain_misfits(bricks, label)


def reached_from(start, links):
    reached, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        near = {b for a, b in links if a == here} | {a for a, b in links if b == here}
        waiting += near - reached
        reached |= near
    return reached


@given(
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=60),
)
def test_groups_match_graph_search(count, links):
    links = [(a % count, b % count) for a, b in links]
    lower, upper = np.array(links, dtype=np.int64).reshape(-1, 2).T
    none = np.zeros(len(links))
    label = groups(count, Pairs(lower, upper, none, none)).tolist()
    for start in range(count):
        assert label[start] == min(reached_from(start, links))


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
