from typing import get_args

import pytest

from scbench.base.seeding import Stream
from scbench.builders.two_segments import Common, Rare, Space, TaskBuilder
from scbench.builders.two_segments.chords import allowed_spots
from scbench.schemas.two_segments import Params

BUILDER = TaskBuilder()
TARGETS = [*get_args(Common), *get_args(Rare)]


@pytest.mark.parametrize(
    "frame", ["unit", "unit_grid", "square", "rotated", "quadrilateral"]
)
def test_every_target_can_be_drawn_on_every_frame(frame):
    for target in TARGETS:
        case = BUILDER.case(Space(frame=frame, target=target, snap_decimals=4), 1)
        params = Params.model_validate(case.instance)
        letters = zip("tqph", params.counts.model_dump().values(), strict=True)
        assert "".join(f"{n}{letter}" for letter, n in letters if n) == target
        assert (params.coordinate_grid is not None) == (frame == "unit_grid")


@pytest.mark.parametrize("values", [16, 26, 40])
def test_listed_frames_have_few_allowed_ends(values):
    for seed in range(8):
        point = Space(frame="listed", target="2t2p", grid_values=values)
        params = BUILDER.draw(point, Stream("listed", values, seed))
        coordinates = set(params.coordinate_grid)
        assert len(params.coordinate_grid) == len(coordinates) >= values
        spots = allowed_spots(params)
        assert 4 <= len(spots) <= 24 < values**2
        for first, second in BUILDER.reference(params).segments:
            assert {*first, *second} <= coordinates
        assert BUILDER.measure(params) > 430.5, "the paper's hardest"


def test_items_draw_one_of_several_targets():
    point = Space(frame="rotated", target=("2t1q", "4q"))
    drawn = [BUILDER.draw(point, Stream("several", seed)).counts for seed in range(12)]
    assert {counts.quadrilateral for counts in drawn} == {1, 4}


def test_baselines_end_at_allowed_points():
    point = Space(frame="unit_grid", target="2t2q", grid_values=3)
    params = BUILDER.draw(point, Stream("allowed", 1))
    ends = BUILDER.baselines(params)["diagonal and middle line"]["segments"]
    allowed = {tuple(spot) for spot in allowed_spots(params).values()}
    assert {tuple(end) for segment in ends for end in segment} <= allowed
