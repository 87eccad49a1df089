"""Tetrahedra shadows: the paper's targets, the search, fresh targets and their parameters."""

import math
import re
from itertools import product

import numpy as np
import pytest
import shapely
from shapely import Polygon

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.tetrahedra_shadow_projection import (
    Space,
    TaskBuilder,
    draw_target,
    is_wide,
    smallest_corner,
)
from scbench.builders.tetrahedra_shadow_projection.solver import Effort, find_cover
from scbench.catalog import get_task
from scbench.graders.tetrahedra_shadow_projection import corners
from scbench.scoring.judge import judge

TASK = get_task("tetrahedra_shadow_projection")
PAPER = TaskBuilder().paper()


def around(count, radius=2.0, start=0.0, squeeze=1.0):
    turns = [math.radians(start) + 2 * math.pi * i / count for i in range(count)]
    return [(radius * math.cos(t), squeeze * radius * math.sin(t)) for t in turns]


def half_disc():
    return [(2 * math.cos(math.pi * i / 50), 2 * math.sin(math.pi * i / 50)) for i in range(51)]


def star():
    return [
        (r * math.cos(t), r * math.sin(t))
        for i in range(10)
        for r, t in [((2, 0.8)[i % 2], math.radians(90 + 36 * i))]
    ]


DISC = math.sin(math.pi / 50) * 50
# Outline (if it is a formula), area and divisor of each.
TARGETS = [
    (None, 16, 1), (around(100), 4 * DISC, 0.9), (None, 32, 1),
    (around(3, 4 / math.sqrt(3), -150), 4 * math.sqrt(3), 1),
    (around(6), 6 * math.sqrt(3), 1), (None, 12, 1), (around(4), 8, 1), (None, 7, 1), (None, 7, 1),
    (around(100), 3 * DISC, 0.8), (around(5), 9.510565163, 1), (star(), 4.702282018, 0.8),
    (around(100, squeeze=0.5), 2 * DISC, 0.9), (half_disc(), 2 * DISC, 0.9),
    (None, 8, 1), (None, 8, 1),
    (None, 6, 1), (around(8), 8 * math.sqrt(2), 1), (None, 4, 1), (None, 2, 1),
]  # fmt: skip


@pytest.mark.parametrize("subtask", range(20))
def test_the_papers_targets(subtask):
    params = PAPER[subtask].params
    outline, area, divisor = TARGETS[subtask]
    target = Polygon(params.exterior, params.holes)
    assert target.is_valid
    assert target.area == pytest.approx(area, abs=1e-5)
    assert params.divisor == divisor
    assert target.exterior.is_ccw
    assert not any(hole.is_ccw for hole in target.interiors)
    if outline is not None:
        assert np.array(params.exterior) == pytest.approx(np.array(outline), abs=6e-7)


def test_targets_lie_where_the_papers_references_lie():
    boxes = {i: Polygon(PAPER[i].params.exterior).bounds for i in (13, 14, 15, 19)}
    assert boxes == {
        13: (-2, 0, 2, 2),
        14: (-2, -2, 2, 2),
        15: (-2.25, -1, 2.75, 1),
        19: (-1.5, -1, 0.5, 1),
    }


def test_references_are_stacked_and_few():
    for item in PAPER:
        poses = TaskBuilder().reference(item.params).tetrahedrons
        table = np.array([list(pose.model_dump().values()) for pose in poses])
        heights = corners(table)[:, :, 2]
        order = heights.min(axis=1).argsort()
        low, high = heights.min(axis=1)[order], heights.max(axis=1)[order]
        assert (low[1:] > high[:-1] + 0.009).all()
        assert np.abs((table[:, 3:] ** 2).sum(axis=1) - 1).max() < 1e-8
        area = Polygon(item.params.exterior, item.params.holes).area
        assert 2 * area <= len(poses) <= 6 * area


def test_dropping_a_needed_shadow_shows():
    params = PAPER[19].params
    right = [pose.model_dump() for pose in TaskBuilder().reference(params).tetrahedrons]
    scores = [
        judge(TASK, params, {"tetrahedrons": right[:i] + right[i + 1 :]})[0].score
        for i in range(len(right))
    ]
    assert sum(score < 1 for score in scores) >= 5


def test_every_reading_of_the_numbers_but_the_right_one_fails_on_the_papers_targets():
    expected = {
        "all_at_one_height",
        "inverse_rotations",
        "scalar_last",
        "turned_about_the_middle",
        "moved_before_turned",
        "beside_the_target",
        "one_listed_twice",
    }
    for item in PAPER:
        assert expected <= TaskBuilder().counter_references(item.params).keys()


def test_first_quadrant_is_left_out_where_the_target_lies_there():
    at_origin = PAPER[5].params.model_copy(update={"exterior": ((0, 0), (6, 0), (6, 2), (0, 2))})
    assert "moved_to_the_first_quadrant" not in TaskBuilder().counter_references(at_origin)
    assert "moved_to_the_first_quadrant" in TaskBuilder().counter_references(PAPER[5].params)


def test_the_search_gives_its_poses_again():
    target = Polygon(PAPER[10].params.exterior)
    effort = Effort(0.05, 0.3, 60)
    assert find_cover(target, effort) == find_cover(target, effort)
    assert len(find_cover(target, Effort(0.05, 0.3, 7))) <= 7


POINTS = [
    {"figure": "regular", "sides": 3},
    {"figure": "regular", "sides": 40, "area": 12},
    {"figure": "star", "min_angle": 35},
    {"figure": "blocks", "hole": True, "area": 14},
    {"figure": "blocks", "min_angle": 90},
    {"figure": "slanted", "min_angle": 55},
    {"figure": "band", "sides": 5, "area": 8, "min_width": 0.3},
    {"area": 3},
    {"min_width": 1.2, "area": 10},
]


@pytest.mark.parametrize("parameters", POINTS, ids=str)
def test_fresh_targets_keep_their_parameters(parameters):
    point = Space(**parameters)
    params = TaskBuilder().draw(point, Stream("knobs", 1))
    target = Polygon(params.exterior, params.holes)
    assert target.is_valid
    assert target.exterior.is_ccw
    assert not any(hole.is_ccw for hole in target.interiors)
    assert target.area == pytest.approx(point.area, abs=0.02)
    assert bool(params.holes) == point.hole
    assert smallest_corner(target) >= point.min_angle
    assert is_wide(target, point.min_width)
    assert 0.95 <= params.divisor <= 1
    assert all(
        round(v, 3) == v for ring in (params.exterior, *params.holes) for p in ring for v in p
    )
    if point.figure == "regular":
        assert len(params.exterior) == point.sides
    answer = TaskBuilder().reference(params).model_dump(mode="json")
    assert judge(TASK, params, answer)[0].score == 1


def test_smallest_corner_and_width_are_measured():
    arrow = Polygon(PAPER[18].params.exterior)
    assert smallest_corner(arrow) == pytest.approx(math.degrees(2 * math.atan(0.5)))
    assert smallest_corner(Polygon(PAPER[2].params.exterior, PAPER[2].params.holes)) == 90
    ring = Polygon(PAPER[2].params.exterior, PAPER[2].params.holes)
    assert is_wide(ring, 1.99)
    assert not is_wide(ring, 2.01)


@pytest.mark.parametrize(
    ("figure", "hole"), list(product(["regular", "star", "blocks", "slanted"], [False, True]))
)
def test_drawn_figures_have_the_area_asked_for(figure, hole):
    targets = [
        draw_target(figure, Stream(figure, seed), area=9, sides=5, hole=hole)[1]
        for seed in range(20)
    ]
    valid = [target for target in targets if target.is_valid]
    assert len(valid) >= 10
    assert len({target.wkt for target in valid}) == len(valid)
    assert all(shapely.area(target) == pytest.approx(9, abs=0.02) for target in valid)


def test_points_that_give_nothing_say_what_to_change():
    with pytest.raises(GenerationError, match="ask for"):
        TaskBuilder().draw(Space(figure="star", min_angle=90), Stream("nothing", 0))


def test_a_target_that_cannot_be_covered_has_no_reference():
    needle = PAPER[0].params.model_copy(update={"exterior": ((0, 0), (3, 0), (3, 0.1))})
    with pytest.raises(GenerationError, match="no full cover"):
        TaskBuilder().reference(needle)


def test_the_prompt_prints_the_target_that_is_graded():
    for item in PAPER:
        prompt = TaskBuilder().prompt(item.params)
        _, target_text = prompt.split("The target is")
        target, rules = target_text.split("How the answer is scored.")
        points = [tuple(map(float, p)) for p in re.findall(r"\((-?[\d.]+), (-?[\d.]+)\)", target)]
        assert points == [p for ring in (item.params.exterior, *item.params.holes) for p in ring]
        divided = re.search(r"\) / ([\d.]+)\n", rules)
        assert float(divided[1] if divided else 1) == item.params.divisor
        assert max(map(len, prompt.splitlines())) <= 110


@pytest.mark.parametrize("strokes", [3, 8, 20])
def test_bands_are_as_wide_everywhere_and_as_long_as_asked_for(strokes):
    title, band = draw_target("band", Stream("band", strokes), area=9, sides=strokes, hole=False)
    assert title == f"a zigzag band of {strokes} strokes"
    assert band.is_valid
    assert len(band.exterior.coords) == 2 * strokes + 3
    assert band.area == pytest.approx(9, abs=0.02)
    points = np.array(band.exterior.coords[:-1])
    first, second = points[: strokes + 1], points[strokes + 1 :][::-1]
    along = np.diff(first, axis=0) / np.linalg.norm(np.diff(first, axis=0), axis=1)[:, None]
    for gaps in (second[:-1] - first[:-1], second[1:] - first[:-1]):
        widths = along[:, 0] * gaps[:, 1] - along[:, 1] * gaps[:, 0]
        assert widths == pytest.approx(np.full(strokes, widths[0]), abs=0.01)


def test_the_measure_is_the_rim_by_its_square_over_the_area():
    square = PAPER[0].params
    assert TaskBuilder().measure(square) == pytest.approx(16**3 / 16)
