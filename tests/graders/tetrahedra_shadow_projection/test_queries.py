"""Shadow and cut queries, checked with quaternion products."""

import json
import math

import pytest
from shapely import MultiPoint, unary_union

from scbench.base.seeding import Stream
from scbench.catalog import get_task
from scbench.graders.shared.interaction import QueryError
from scbench.graders.tetrahedra_shadow_projection.queries import Cut, Shadow

SQUARE = get_task("tetrahedra_shadow_projection").builder().paper()[0].params
BASE = [
    (0, 0, 0),
    (1, 0, 0),
    (0.5, math.sqrt(3) / 2, 0),
    (0.5, math.sqrt(3) / 6, math.sqrt(2 / 3)),
]
NAMES = ("x", "y", "z", "q0", "q1", "q2", "q3")


def ask(kind, *poses):
    entries = [dict(zip(NAMES, pose, strict=True)) for pose in poses]
    line = json.dumps({"query": kind.__name__.lower(), "tetrahedrons": entries})
    return kind.model_validate_json(line).observe(SQUARE)


def times(p, q):
    a, b, c, d = p
    e, f, g, h = q
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


def placed(pose):
    x, y, z, *q = pose
    q = [value / math.hypot(*q) for value in q]
    back = (q[0], -q[1], -q[2], -q[3])
    turned = [times(times(q, (0, *point)), back)[1:] for point in BASE]
    return [(a + x, b + y, c + z) for a, b, c in turned]


@pytest.mark.parametrize("seed", range(8))
def test_shadows_match_hulls_of_corners(seed):
    rng = Stream("shadows asked for", seed)
    poses = []
    for _ in range(rng.between(1, 12)):
        position = [rng.uniform(-2, 2) for _ in range(3)]
        poses.append(position + [rng.uniform(-1, 1) for _ in range(4)])
    report = ask(Shadow, *poses)
    bodies = [placed(pose) for pose in poses]
    hulls = [MultiPoint([corner[:2] for corner in body]).convex_hull for body in bodies]
    assert report["area"] == pytest.approx(unary_union(hulls).area, abs=6e-5)
    for body, hull, ring, heights in zip(
        bodies, hulls, report["outlines"], report["heights"], strict=True
    ):
        corners = hull.exterior.coords
        assert len(ring) == len(corners) - 1
        assert MultiPoint(ring).hausdorff_distance(MultiPoint(corners)) < 2e-4
        # The corners go round clockwise, except for rounding.
        for a, b, c in zip(ring, ring[1:] + ring[:1], ring[2:] + ring[:2], strict=True):
            turn = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
            assert turn < 3e-4
        levels = [z for _, _, z in body]
        assert heights == pytest.approx([min(levels), max(levels)], abs=6e-5)


def test_depths_along_a_side():
    stay = (1, 0, 0, 0)
    poses = [(x, 0, 0, *stay) for x in (0, 0.9, 1.9, 2.9, 5)]
    depth = 0.1 / math.sqrt(2)  # normal to two opposite edges, at 45 degrees to x
    assert ask(Cut, *poses)["pairs"] == [[0, 1, pytest.approx(depth, abs=1e-6)]]
    low = [(0, 0, 0, *stay), (0, 0, 0.7, *stay), (0, 0, math.sqrt(2 / 3), *stay)]
    pairs = ask(Cut, *low)["pairs"]
    assert [pair[:2] for pair in pairs] == [[0, 1], [1, 2]]
    assert pairs[0][2] == pytest.approx(math.sqrt(2 / 3) - 0.7, abs=1e-6)


@pytest.mark.parametrize(
    ("pose", "why"),
    [
        ((0, 0, 1_000_001, 1, 0, 0, 0), "tetrahedron 1 .* beyond 1,000,000"),
        ((0, 0, 0, 0, 0, 0, 0), "quaternion of tetrahedron 1 .* all zeros"),
    ],
)
def test_impossible_poses_are_refused(pose, why):
    with pytest.raises(QueryError, match=why):
        ask(Shadow, (0, 0, 1_000_000, 1, 0, 0, 0), pose)
