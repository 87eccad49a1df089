"""Geometry of printed parts, checked with slow and simple methods."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manifold3d import CrossSection, FillRule, Manifold

from scbench.catalog import get_task
from scbench.graders.interlocking_parts.columns import dilate, openings
from scbench.graders.interlocking_parts.core import core_of
from scbench.graders.interlocking_parts.part_checks import size_of
from scbench.graders.interlocking_parts.part_meshes import (
    Shell,
    centroid,
    count_edges,
    facets,
    weld,
)
from scbench.graders.interlocking_parts.print_checks import strip_width
from scbench.graders.interlocking_parts.rays import Meter, TooManyRaysError, cast
from scbench.graders.interlocking_parts.rod_holes import rods_around, share_around
from scbench.graders.interlocking_parts.side_bars import bars_of, thickness_fault
from scbench.graders.interlocking_parts.thickness import survey
from scbench.graders.shared.mesh_topology import components
from scbench.graders.shared.triangle_pairs import is_crowded
from scbench.schemas.interlocking_parts import Spacing, Survey

PAPER = get_task("interlocking_parts").builder().paper()[0].params
POINT = st.tuples(st.integers(-20, 20), st.integers(-20, 20))
RULES = Survey(
    area=30, upright=0.9, span=5, end=12, cell=6, cells=6, offset=0.05, reach=(0.05, 300), least=1,
    bin=0.5, wanted=(9.5, 10.5), near=None, share=0.15,
)  # fmt: skip


def mesh(body: Manifold) -> Shell:
    given_mesh = body.to_mesh64()
    points = np.asarray(given_mesh.vert_properties)[:, :3]
    return weld(points[np.asarray(given_mesh.tri_verts)])


def bracket() -> Manifold:
    """Return two bars that meet at a right angle, with a hole."""
    body = Manifold.cube((60, 10, 10)) + Manifold.cube((10, 40, 10))
    return body - Manifold.cylinder(30, 3, 3, 16, True).translate((30, 5, 5))


def test_welding_closes_a_triangle_soup():
    triangles = mesh(bracket())
    soup = triangles.points[triangles.corners]
    rng = random.Random(1)
    order = list(range(len(soup)))
    rng.shuffle(order)
    # Noise below the welding tolerance.
    values = [rng.uniform(-1e-9, 1e-9) for _ in range(soup.size)]
    noise = np.array(values).reshape(soup.shape)
    again = weld(np.round(soup, 3)[order] + noise)
    assert count_edges(again) == (0, 0, 0)
    assert len(again.points) == len(triangles.points)


# ---- Rays ----


def test_centroid_of_a_cone():
    assert centroid(mesh(Manifold.cylinder(40, 10, 0))) == pytest.approx((0, 0, 10))


def test_two_triangles_of_a_side_form_one_facet():
    cube = mesh(Manifold.cube((0.35, 0.35, 0.35)).translate((5, 6, 7)))
    assert [len(facet.triangles) for facet in facets(cube, 0.1)] == [2] * 6
    assert size_of(cube) == {"volume": 0.043, "triangles": 12}


def slow_ray(origin, direction, triangles):
    """Return the distance to the nearest triangle, solving a linear system for each."""
    best = math.inf
    for a, b, c in triangles:
        system = np.stack([b - a, c - a, -direction], axis=1)
        if abs(np.linalg.det(system)) < 1e-12:
            continue
        u, v, t = np.linalg.solve(system, origin - a)
        if u >= -1e-9 and v >= -1e-9 and u + v <= 1 + 1e-9 and t > 0:
            best = min(best, t)
    return best


@pytest.mark.parametrize(
    "direction", [(0, 0, 1), (-1, 0, 0), (0.6, 0.8, 0), (0.48, 0.6, 0.64)]
)
def test_rays_match_slow_rays(direction):
    body = mesh(bracket() + Manifold.sphere(12, 20).translate((25, 20, 4)))
    triangles = body.points[body.corners]
    rng = random.Random(2)
    origins = []
    for _ in range(120):
        x, y, z = rng.uniform(-20, 70), rng.uniform(-20, 50), rng.uniform(-20, 30)
        origins.append((x, y, z))
    origins = np.array(origins)
    ray = np.array(direction, dtype=float)
    result = cast(origins, ray, triangles, Meter(1e9))
    wanted = [slow_ray(origin, ray, triangles) for origin in origins]
    assert np.isfinite(result).sum() > 5
    assert result == pytest.approx(wanted)


def test_rays_are_counted_before_they_are_cast():
    body = mesh(bracket())
    triangles = body.points[body.corners]
    origins = np.zeros((1000, 3))
    ray = np.array([0.0, 0.0, 1.0])
    cast(origins, ray, triangles, Meter(1000 * 21 * len(triangles)))
    with pytest.raises(TooManyRaysError):
        cast(origins, ray, triangles, Meter(999))


def test_bodies_with_many_close_triangles_are_crowded():
    rng = np.random.default_rng(5)
    bodies = []
    for _ in range(3):
        centres = rng.uniform(0, 100, (60, 1, 3))
        bodies.append(centres + rng.uniform(-9, 9, (60, 3, 3)))
    # Count the pairs of triangles of different bodies whose bounding boxes meet.
    low = np.concatenate([body.min(axis=1) for body in bodies])
    high = np.concatenate([body.max(axis=1) for body in bodies])
    meet = np.all((low[:, None] <= high[None]) & (low[None] <= high[:, None]), axis=2)
    owner = np.repeat(np.arange(3), 60)
    pairs = int(np.count_nonzero(meet & (owner[:, None] < owner[None])))
    assert pairs > 10
    assert is_crowded(bodies, pairs - 1)
    assert not is_crowded(bodies, pairs)
    assert not is_crowded(bodies[:1], 0)
    assert not is_crowded([bodies[0], bodies[1] + 1000], 0)
    flat = rng.uniform(0, 1, (2000, 3, 3)) * (1, 1, 0)
    assert is_crowded([flat, flat + 1e-9, flat], 10), "comparisons are counted, too"


def test_survey_measures_block_thickness():
    result = survey(mesh(Manifold.cube((50, 30, 20))), RULES, "in", (0, 1, 2))
    assert result.values == (20, 20, 30, 30, 50, 50)
    only_x = survey(mesh(Manifold.cube((50, 30, 20))), RULES, "in", (0,))
    assert only_x.values == (50, 50)


def test_survey_skips_bar_ends_and_small_faces():
    bar = mesh(Manifold.cube((100, 10, 10)))
    assert survey(bar, RULES, "in", (0, 1, 2)).values == (10,) * 4
    thin = mesh(Manifold.cube((100, 4, 10)))
    assert len(survey(thin, RULES, "in", (0, 1, 2)).values) == 2


def test_survey_of_a_body_without_large_flat_faces_is_empty():
    # No facet of a sphere with 64 sides reaches 30 mm².
    ball = mesh(Manifold.sphere(10, 64))
    assert survey(ball, RULES, "in", (0, 1, 2)).values == ()


# ---- Strips, hulls, columns ----


@given(st.lists(POINT, min_size=1, max_size=15))
def test_strip_width_is_minimal_over_all_directions(points):
    cloud = np.array(points, dtype=float)
    width = strip_width(cloud)
    turns = np.linspace(0, math.pi, 721)
    spans = np.ptp(cloud @ np.stack([np.cos(turns), np.sin(turns)]), axis=0)
    assert width <= spans.min() + 1e-9
    assert (
        width >= spans.min() - 0.3
    )  # turns are a quarter of a degree apart, points at most 57


@given(
    st.lists(POINT, min_size=3, max_size=6, unique=True),
    st.integers(1, 9),
    st.randoms(),
)
@settings(max_examples=40)
def test_grown_shape_contains_points_whose_square_meets_the_shape(points, by, rng):
    shape = CrossSection([np.array(points, dtype=float)], FillRule.NonZero)
    if shape.area() < 1:
        return
    larger = dilate(shape, by)
    for _ in range(12):
        x, y = rng.uniform(-30, 30), rng.uniform(-30, 30)
        square = CrossSection.square((2 * by, 2 * by), center=True).translate((x, y))
        touched = (square ^ shape).area()
        speck = CrossSection.square((1e-3, 1e-3), center=True).translate((x, y))
        inside = (speck ^ larger).area() > 0.5e-6
        assert inside == (touched > 0) or touched < 0.05


def test_columns_stay_within_bounding_box():
    rules = {"height": 20, "free_reach": 40, "blocked_reach": 40, "ignored_area": 0.01}
    # Two bars 40 apart, which end at the bounding box.
    bars = Manifold.cube((100, 10, 10), True).translate((0, 25, 0))
    bars += Manifold.cube((100, 10, 10), True).translate((0, -25, 0))
    result = openings(bars, bars, Spacing(**rules, free=30, blocked=39))
    assert result.free == pytest.approx(70 * 10)
    assert result.unblocked == pytest.approx(61 * 1)
    # A column wider than the part fits nowhere.
    assert openings(bars, bars, Spacing(**rules, free=30, blocked=61)).unblocked == 0


def test_rod_holes_must_be_closed_tight_and_high_enough():
    def around(body):
        return rods_around(PAPER, body, [[0.0, 0.0]])

    block = Manifold.cube((30, 30, 10), True).translate((0, 0, 5))
    hole = Manifold.cylinder(20, 3.2, 3.2, 24).translate((0, 0, -1))
    assert around(block - hole) == 1
    assert around(block) == 0, "a solid block"
    off_axis = hole.translate((5, 0, 0))
    assert around(block - off_axis) == 0, "the hole is off the axis"
    slot = Manifold.cube((6, 40, 20)).translate((-3, 0, -1))
    assert around(block - hole - slot) == 0, "open to one side"
    wide = Manifold.cylinder(20, 8.2, 8.2, 24).translate((0, 0, -1))
    assert around(block - wide) == 0, "too wide"
    low = block.trim_by_plane((0, 0, -1), -4.9)
    assert around(low - hole) == 0, "less than half a bar high"
    assert around(low.translate((0, 0, 900)) - hole.translate((0, 0, 900))) == 0


def test_thin_ring_does_not_hold_rod():
    def around(body):
        return rods_around(PAPER, core_of(body), [[0.0, 0.0]])

    def slot(width):
        return Manifold.cube((width, 40, 20)).translate((-width / 2, 0, -1))

    hole = Manifold.cylinder(20, 3.2, 3.2, 24).translate((0, 0, -1))
    hair = Manifold.cylinder(10, 3.22, 3.22, 24) - hole
    washer = Manifold.cylinder(10, 3.9, 3.9, 24) - hole
    block = Manifold.cube((30, 30, 10), True).translate((0, 0, 5))
    assert around(hair) == 0
    assert around(washer) == 1
    assert around(block - hole - slot(6) + hair) == 0, "a hook that a hair closes"
    # A slot of 1 mm, like the tip of a hole printed on its side, is allowed.
    assert around(block - hole - slot(1) + hair) == 1


def test_share_of_directions_with_material_nearby():
    ring = CrossSection.circle(6, 720) - CrossSection.circle(4, 720)
    middle = np.array([50.0, -20.0])
    moved = ring.translate(tuple(middle))
    assert share_around(moved, middle, 8.0) == 1
    assert share_around(moved, middle, 3.9) == 0, "it is too far"
    assert share_around(CrossSection(), middle, 8.0) == 0
    quarter = moved ^ CrossSection.square((10, 10)).translate(tuple(middle))
    assert share_around(quarter, middle, 8.0) == pytest.approx(0.25)
    block = CrossSection.square((40, 40), center=True)
    assert share_around(block, np.zeros(2), 30.0) == 0, "the point is in material"


def bar_with(link):
    """Return a long bar and a short one behind a slot, with a link between them."""
    long = Manifold.cube((50, 10, 10))
    short = Manifold.cube((20, 10, 10)).translate((50.03, 0, 0))
    across_slot = Manifold.cube(link).translate((50 - link[0] / 2, 2, 2))
    return long + short + across_slot


@pytest.mark.parametrize(
    ("link", "is_whole"),
    [
        ((2, 0.05, 0.05), False),  # a hair
        ((2, 6, 0.3), False),  # a horizontal sheet
        ((2, 0.3, 6), False),  # a vertical sheet
        ((2, 0.5, 0.5), True),
    ],
)
def test_thin_links_do_not_connect_bars(link, is_whole):
    size = 50 * 100
    if is_whole:
        size += 20 * 100
    for turn in ((0, 0, 0), (90, 0, 0), (0, 90, 0), (0, 0, 180)):
        core = core_of(bar_with(link).rotate(turn).translate((7, -3, 5)))
        assert core.volume() == pytest.approx(size, abs=3)


def test_core_excludes_parts_thinner_than_the_cube():
    block = Manifold.cube((30, 20, 10))
    fin = Manifold.cube((30, 0.3, 10)).translate((0, 9, 5))
    plate = Manifold.cube((30, 20, 0.3)).translate((25, 0, 3))
    wall = Manifold.cube((30, 0.5, 10)).translate((0, 3, 5))
    assert core_of(block).volume() == pytest.approx(6000)
    assert core_of(block + fin + plate).volume() == pytest.approx(6000)
    assert core_of(block + wall).volume() == pytest.approx((block + wall).volume())
    assert core_of(Manifold.cube((30, 20, 0.3))).is_empty()
    assert core_of(Manifold()).is_empty()


def test_core_is_in_the_same_place_as_the_body():
    block = Manifold.cube((30, 20, 10)).translate((7, -3, 5))
    assert core_of(block).bounding_box() == pytest.approx(block.bounding_box())


def sizes_swept_in_voxels(solid, side):
    """Count the voxels that a cube sweeps in each region it cannot leave, ascending."""
    # free: whether the cube fits with its lowest corner at a voxel.
    free = np.lib.stride_tricks.sliding_window_view(solid, (side,) * 3).all((3, 4, 5))
    number = np.cumsum(free).reshape(free.shape) - 1
    pairs = []
    for axis in range(3):
        lower = np.arange(free.shape[axis] - 1)
        both = np.take(free, lower, axis) & np.take(free, lower + 1, axis)
        first = np.take(number, lower, axis)[both]
        second = np.take(number, lower + 1, axis)[both]
        pairs.append(np.stack([first, second], axis=1))
    label = components(int(free.sum()), np.concatenate(pairs))
    sizes = []
    for region in np.unique(label):
        swept = np.zeros_like(solid)
        for x, y, z in np.argwhere(free)[label == region]:
            swept[x : x + side, y : y + side, z : z + side] = True
        sizes.append(int(swept.sum()))
    return sorted(sizes)


@pytest.mark.parametrize("seed", range(25))
def test_cores_match_voxels(seed):
    rng = np.random.default_rng(seed)
    solid = np.zeros((30, 30, 14), dtype=bool)
    body = Manifold()
    for _ in range(8):
        size = rng.integers(2, 13, 3)
        low = rng.integers(0, np.maximum(1, solid.shape - size))
        high = np.minimum(low + size, solid.shape)
        solid[low[0] : high[0], low[1] : high[1], low[2] : high[2]] = True
        # A voxel is a tenth of a millimetre.
        body += Manifold.cube(tuple((high - low) / 10)).translate(tuple(low / 10))
    volume = round(core_of(body).volume() * 1000)
    sizes = sizes_swept_in_voxels(solid, 4)
    # The core is the largest region by the cube's positions, not by swept volume.
    candidates = [size for size in sizes if size >= sizes[-1] / 2]
    assert any(abs(volume - size) <= 15 for size in candidates)


def test_blocks_overlapping_along_an_edge_are_separate():
    block = Manifold.cube((20, 10, 10))
    small = Manifold.cube((10, 10, 10)).translate((19.9, 9.9, 0))
    assert core_of(block + small).volume() == pytest.approx(2000)
    near = small.translate((-0.4, -0.4, 0))
    assert core_of(block + near).volume() == pytest.approx((block + near).volume())


def test_core_of_slanted_body_is_nearly_complete():
    drill = Manifold.cylinder(80, 3.2, 3.2, 48, True).rotate((90, 0, 0))
    body = Manifold.cube((40, 20, 10)) - drill.translate((20, 0, 5))
    assert core_of(body).volume() == pytest.approx(body.volume(), rel=0.005)
    tilted = body.rotate((20, 30, 0))
    assert core_of(tilted).volume() == pytest.approx(body.volume(), rel=0.02)


@pytest.mark.parametrize("limit", ["MOST_SLABS", "MOST_CORNERS"])
def test_part_with_too_many_slabs_or_corners_has_no_core(monkeypatch, limit):
    body = Manifold.sphere(20, 32)
    assert core_of(body) is not None
    monkeypatch.setattr(f"{core_of.__module__}.{limit}", 50)
    assert core_of(body) is None


def test_hair_obstructs_free_columns_but_blocks_none():
    rules = {"height": 20, "free_reach": 10, "blocked_reach": 10, "ignored_area": 0.01}
    ring = Manifold.cube((100, 100, 10), True) - Manifold.cube((40, 40, 30), True)
    spacing = Spacing(**rules, free=39, blocked=39)
    hair = ring + Manifold.cube((0.05, 60, 0.05), True)
    assert openings(hair, core_of(hair), spacing).free == 0
    assert openings(hair, core_of(hair), spacing).unblocked == pytest.approx(
        1, abs=0.01
    )
    bar = ring + Manifold.cube((0.6, 60, 2), True)
    assert openings(bar, core_of(bar), spacing).unblocked == 0


def test_bars_must_have_required_thickness_and_be_solid():
    def fault(body):
        bars = bars_of([body], 10, -5, 15)
        return thickness_fault(bars, [body], face, (9.5, 10.5))

    face = CrossSection.square((90, 90))
    grid = Manifold.cube((90, 90, 10))
    for x in (10, 50):
        for y in (10, 50):
            grid -= Manifold.cube((30, 30, 30)).translate((x, y, -10))
    assert fault(grid) == ""
    assert fault(grid.trim_by_plane((0, 0, -1), -9.6)) == ""
    # A thin sheet with posts as high as bars.
    sheet = grid.trim_by_plane((0, 0, -1), -1.5)
    posts = Manifold.cube((10, 10, 10)) + Manifold.cube((10, 13, 10)).translate(
        (40, 60, 0)
    )
    assert fault(sheet + posts) == "has bars that are 1.5 mm thick"
    cover = grid.trim_by_plane((0, 0, 1), 8.5)
    top = cover + Manifold.cube((5, 5, 1)).translate((15, 15, 9))
    assert fault(sheet + posts + top) == "has hollow bars"


def test_columns_pass_through_tight_openings():
    rules = {"height": 20, "free_reach": 10, "blocked_reach": 10, "ignored_area": 0.01}
    ring = Manifold.cube((100, 100, 10), True) - Manifold.cube((40, 40, 30), True)
    for side, free in ((39, True), (39.9, True), (40, False), (41, False)):
        result = openings(ring, ring, Spacing(**rules, free=side, blocked=side))
        assert (result.free > 0) == free
        area = max(0, 40 - side) ** 2
        assert result.free == result.unblocked == pytest.approx(area, abs=1e-6)
    above = ring.translate((500, -300, 26))
    result = openings(above, above, Spacing(**rules, free=39, blocked=39))
    assert result.free == pytest.approx(400)


def test_ray_budget_can_be_spent_exactly():
    meter = Meter(10)
    meter.spend(4)
    meter.spend(6)
    with pytest.raises(TooManyRaysError):
        meter.spend(1)


def test_outline_length_limit_is_inclusive(monkeypatch):
    block = Manifold.cube((20, 20, 5))  # four corners seen from above
    for bound, is_measured in ((4, True), (3, False)):
        monkeypatch.setattr(f"{openings.__module__}.MAX_OUTLINE", bound)
        assert (openings(block, block, PAPER.spacing) is not None) == is_measured
