"""Fresh targets of every form can be built, and lattices give legal structures."""

import pytest

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.lego_hemispherical_shell import Space, TaskBuilder
from scbench.builders.lego_hemispherical_shell.bricklaying import fill, lattice
from scbench.graders.lego_hemispherical_shell import grade
from scbench.graders.lego_hemispherical_shell.target import body
from scbench.schemas.lego_hemispherical_shell import Answer, Params

BUILDER = TaskBuilder()
PAPER = [item.params for item in BUILDER.paper()]


@pytest.mark.parametrize("offset", [(0.0, 0.0), (4.0, 4.0), (0.0, 4.0), (1.5, 2.5)])
def test_lattices_give_legal_structures(offset):
    params = PAPER[2]
    rows = fill(lattice(body(params), params.outer_radius_mm, offset))
    bricks = [{"Centroid": row[:3], "RotationDegrees": row[3]} for row in rows]
    result = grade(params, Answer.model_validate({"bricks": bricks}))
    assert {check.id for check in result.failed} <= {"volume"}
    assert result.score > 0.9


@pytest.mark.parametrize("aside", [0, 40])
@pytest.mark.parametrize("form", ["hemisphere", "bowl", "dome", "wall", "ring"])
def test_fresh_targets_satisfy_their_parameters(form, aside):
    ranges = {"min_thickness_cm": 3.5, "max_thickness_cm": 4.0, "aside_mm": aside}
    point = Space(form=form, min_inner_cm=6.0, max_inner_cm=7.0, **ranges)
    for seed in range(3):
        params = BUILDER.draw(point, Stream("lego", form, seed))
        a, b = params.inner_radius_mm, params.outer_radius_mm
        if form == "dome":
            assert a == 0
            assert 60 <= b <= 70
        else:
            assert 60 <= a <= 70
            assert 35 <= b - a <= 40
        assert params.height_mm == (60.0 if form == "wall" else None)
        result = grade(params, BUILDER.reference(params))
        assert result.score == 1
        assert not result.failed
        words = {"hemisphere": "hemispherical", "dome": "solid", "ring": "torus"}
        assert words.get(form, form) in BUILDER.prompt(params)
        assert max(map(abs, params.centre_mm)) <= aside
        centred = params.model_copy(update={"centre_mm": (0.0, 0.0)})
        assert grade(centred, BUILDER.reference(centred)).score == 1
        off_centre = params.model_copy(update={"centre_mm": (24.0, 0.0)})
        assert grade(off_centre, BUILDER.reference(centred)).score < 1


def test_structure_is_carried_over_to_another_axis():
    point = Space(form="bowl", min_inner_cm=6, max_inner_cm=6, aside_mm=40)
    params = BUILDER.draw(point, Stream("lego", "carried"))
    moved = params.model_copy(update={"centre_mm": (-31.0, 7.0)})
    carried = BUILDER.carried_over(BUILDER.reference(params), params, moved)
    assert grade(moved, Answer.model_validate(carried)).score == 1


def test_narrow_ranges_give_a_value_or_an_error():
    exact = Space(
        min_inner_cm=5.15, max_inner_cm=5.15, min_thickness_cm=3, max_thickness_cm=3
    )
    params = BUILDER.draw(exact, Stream("narrow"))
    assert (params.inner_radius_mm, params.outer_radius_mm) == (51.5, 81.5)
    with pytest.raises(GenerationError, match="no multiple of"):
        BUILDER.draw(Space(min_inner_cm=5.01, max_inner_cm=5.02), Stream("narrow"))


def test_thick_and_thin_targets_have_the_same_outer_radii():
    ranges = {"min_inner_cm": 7.0, "max_inner_cm": 7.5, "thick_inner_cm": 2.0}
    walls = {"min_thickness_cm": 1.4, "max_thickness_cm": 1.5, "full_marks": 0.5}
    point = Space(form="bowl", thick_share=0.5, **ranges, **walls)
    hollows = []
    for seed in range(8):
        params = BUILDER.draw(point, Stream("thick", seed))
        assert 84 <= params.outer_radius_mm <= 90
        hollows.append(params.inner_radius_mm)
    thick = [radius for radius in hollows if radius <= 20]
    thin = [radius for radius in hollows if 70 <= radius <= 75]
    assert min(thick) >= 10
    assert min(len(thick), len(thin)) >= 2
    assert len(thick) + len(thin) == len(hollows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"form": "dome"}, "a dome has no inner radius"),
        ({"thick_inner_cm": 6.0}, "thick_inner_cm is above min_inner_cm"),
    ],
)
def test_thick_targets_need_a_smaller_hollow(change, message):
    with pytest.raises(ValueError, match=message):
        Space.model_validate({"form": "bowl", "thick_share": 0.5} | change)


def test_guess_of_the_inner_radius_sets_the_floor_of_bowls():
    bowls = [
        Params(form="bowl", inner_radius_mm=inner, outer_radius_mm=90, full_marks=0.5)
        for inner in (79, 25)
    ]
    # A guess is right for one of two bowls. A nearly solid one has bricks in the hollow of a thin
    # one, and thin ones fill a small part of a nearly solid one.
    thin, solid = map(BUILDER.blind_floor, bowls)
    assert thin == 0.5
    assert 0.5 < solid < 0.75
    assert BUILDER.blind_floor(PAPER[0]) == 0


@pytest.mark.parametrize("share", [0.84, 0.98])
def test_full_marks_are_a_share_of_the_bricklayers_agreement(share):
    walls = {"min_thickness_cm": 1.0, "max_thickness_cm": 1.2, "thick_inner_cm": 3.0}
    radii = {"min_inner_cm": 7.6, "max_inner_cm": 8.1, "thick_share": 0.5}
    point = Space(form="bowl", marks_share=share, aside_mm=60, **radii, **walls)
    marks = []
    for seed in range(6):
        params = BUILDER.draw(point, Stream("marks", seed))
        assert grade(params, BUILDER.reference(params)).score == 1
        assert 0 < 100 * share - BUILDER.measure(params) < 0.3
        marks.append(params.full_marks)
    # The agreement is better for bowls that are nearly solid.
    assert max(marks) > 1.3 * min(marks)


def test_the_measure_of_the_paper_is_below_that_of_the_top_rungs():
    measures = list(map(BUILDER.measure, PAPER[:4]))
    assert 84 < min(measures) < max(measures) < 92
