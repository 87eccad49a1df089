"""Areas and volumes of solids of revolution, checked with plain sums and each other."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from scbench.graders.lego_hemispherical_shell.target import (
    Boxes,
    body,
    boxes_off_target,
    disc_areas,
    shared_volumes,
)
from scbench.schemas.lego_hemispherical_shell import Params

TARGETS = {
    "shell": {},
    "thin shell": {"inner": 150.0, "outer": 170.0},
    "dome": {"inner": 0.0},
    "bowl": {"form": "bowl"},
    "wall": {"form": "wall", "height": 50.0},
    "ring": {"form": "ring"},
}


def target(form="hemisphere", inner=40.0, outer=70.0, height=None):
    return Params(
        form=form,
        inner_radius_mm=inner,
        outer_radius_mm=outer,
        height_mm=height,
        full_marks=0.65,
    )


def inside(params, x, y, z):
    """Return whether points lie in the body, by its definition."""
    a, b, rho = params.inner_radius_mm, params.outer_radius_mm, np.hypot(x, y)
    if params.form == "hemisphere":
        r = np.sqrt(rho**2 + z**2)
        return (z >= 0) & (a <= r) & (r <= b)
    if params.form == "bowl":
        r = np.sqrt(rho**2 + (z - b) ** 2)
        return (z <= b) & (a <= r) & (r <= b)
    if params.form == "wall":
        return (z >= 0) & (z <= params.height_mm) & (a <= rho) & (rho <= b)
    return (z >= 0) & (np.hypot(rho - (a + b) / 2, z) <= (b - a) / 2)


def boxes(rng, params, n, half):
    reach = params.outer_radius_mm
    low = rng.uniform(-6, reach * 0.9, n)
    x, y = rng.uniform(0, reach, (2, n))
    return Boxes(x, y, low, low + 9.6, half)


def samples(box, i, n):
    """Return the centres of the cells of one box, n per axis."""
    steps = (np.arange(n) + 0.5) / n
    x = box.first[i] + box.half[0] * (2 * steps - 1)
    y = box.second[i] + box.half[1] * (2 * steps - 1)
    z = box.low[i] + (box.high[i] - box.low[i]) * steps
    return np.meshgrid(x, y, z)


@pytest.mark.parametrize("name", TARGETS)
def test_shared_volumes_match_sample_points(name):
    params, half = target(**TARGETS[name]), (16.0, 8.0)
    some = boxes(np.random.default_rng(3), params, 150, half)
    volumes = shared_volumes(body(params), some)
    shares = []
    for i in range(150):
        x, y, z = samples(some, i, 40)
        shares.append(inside(params, x, y, z).mean())
    brick = 32 * 16 * 9.6
    # A horizontal side of the body can be anywhere within a cell.
    assert volumes / brick == pytest.approx(np.array(shares), abs=1 / 80 + 2e-3)
    assert volumes.sum() / brick == pytest.approx(sum(shares), rel=3e-3)


@given(
    st.floats(-40, 40),
    st.floats(-40, 40),
    st.floats(0.5, 20),
    st.floats(0.5, 20),
    st.floats(0.01, 50),
)
def test_disc_areas_match_polygons(x, y, w, h, radius):
    turns = np.linspace(0, 2 * math.pi, 721)[:-1]
    # The polygon has the disc's exact area, so only its outline is slightly off.
    even = radius * math.sqrt(math.pi / (360 * math.sin(math.radians(0.5))))
    disc = shapely.polygons(np.stack([np.cos(turns), np.sin(turns)], 1) * even)
    rectangle = shapely.box(x - w, y - h, x + w, y + h)
    expected = shapely.area(shapely.intersection(disc, rectangle))
    ours = disc_areas(np.array([x]), np.array([y]), (w, h), np.array([radius]))[0]
    assert ours == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("name", TARGETS)
def test_strays_share_no_volume_with_the_body(name):
    params = target(**TARGETS[name])
    some = boxes(np.random.default_rng(11), params, 400, (16.0, 8.0))
    hollow, outside = boxes_off_target(body(params), some)
    volumes = shared_volumes(body(params), some)
    assert not (hollow & outside).any()
    assert hollow.any() == (name in {"shell", "thin shell", "bowl", "wall", "ring"})
    assert outside.any()
    assert (np.abs(volumes[hollow | outside]) < 1e-6).all()
    if name != "ring":
        # For a convex hollow only the corners count, so nearly every other box shares volume.
        above = (some.high > 0.5) & (some.low < body(params).outer.top - 0.5)
        assert (volumes[~(hollow | outside) & above] > 0).mean() > 0.99
