"""Fresh rooms at the ends of their parameters, the loops of the solver, and what prompts print."""

import math

import pytest

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting import MEASURED, Space, TaskBuilder
from scbench.builders.pipe_loop_fitting.solver import (
    FAMILIES,
    crossed_star,
    loops,
    many_pointed,
    square_lattice,
    star,
    triangular_lattice,
)
from scbench.catalog import get_task
from scbench.graders.pipe_loop_fitting.loop_constraints import contacts, measure
from scbench.schemas.pipe_loop_fitting import Params
from scbench.scoring.judge import judge

BUILDER = TaskBuilder()
TASK = get_task("pipe_loop_fitting")


def solved(params):
    (only,) = judge(TASK, params, BUILDER.reference(params).model_dump(mode="json"))
    return only.score == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"pipes": 3, "side": 1, "constraints": 1}, {"pipes": 4, "side": 1, "constraints": 1},
        {"pipes": 15, "side": 5}, {"pipes": 60, "side": 7, "constraints": 3},
        {"pipes": 36, "constraints": 4, "strictness": 1.0},
        {"pipes": 36, "constraints": 4, "strictness": 0.0},
        {"pipes": 40, "side": 6, "crossings": 1}, {"pipes": 60, "side": 10, "crossings": 4},
        {"pipes": 36, "constraints": 0}, {"pipes": 36, "length_tolerance": 0.001},
        {"pipes": 420, "side": 60, "constraints": 2},
    ],
    ids=repr,
)  # fmt: skip
def test_rooms_at_the_ends_of_the_parameters_are_solved_and_refuse_wrong_answers(parameters):
    for seed in range(2):
        params = BUILDER.draw(Space(**parameters), Stream("test", seed))
        assert (params.pipes, params.crossings) == (
            parameters["pipes"],
            parameters.get("crossings", 0),
        )
        assert len(params.constraints) == parameters.get("constraints", 2)
        assert solved(params)
        counters = BUILDER.counter_references(params)
        assert len(counters) >= 18
        for name, answer in counters.items():
            assert judge(TASK, params, answer)[0].score == 0, name


def test_every_type_of_constraint_is_drawn():
    kinds = {
        constraint.type
        for seed in range(25)
        for constraint in BUILDER.draw(Space(constraints=3), Stream("types", seed)).constraints
    }
    assert kinds == set(MEASURED)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"pipes": 30, "side": 2}, "no loop of 30 pipes with 0 crossings"),
        ({"pipes": 3, "side": 1, "crossings": 1}, "no loop of 3 pipes with 1 crossings"),
        ({"pipes": 5, "side": 1}, "no loop of 5 pipes"),
    ],
)
def test_rooms_without_a_known_loop_end_with_a_reason(parameters, reason):
    with pytest.raises(GenerationError, match=reason):
        BUILDER.draw(Space(**parameters), Stream("none"))


def test_a_room_that_nothing_solves_is_not_passed_over():
    with pytest.raises(GenerationError, match="no loop of 40 pipes"):
        BUILDER.reference(
            Params(pipes=40, side=2, length_tolerance=0.05, crossings=0, constraints=())
        )


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_gives_closed_loops_of_unit_pipes(family):
    candidates = list(loops(family, 36, 7))
    assert candidates
    assert candidates == list(loops(family, 36, 7))
    for loop in candidates:
        loop_measures = measure(loop)
        assert len(set(loop)) == 36
        assert loop_measures.length.tolist() == pytest.approx([1] * 36, abs=1e-8)
        if family != "stars":
            assert contacts(loop_measures.points) == ([], [])
            assert all(-1e-9 <= v <= 7 + 1e-9 for joint in loop for v in joint)
        if family.startswith("turning"):
            assert loop_measures.cosines.min() > -0.6


def test_lattices_fill_the_square():
    assert len(square_lattice(4).places) == 25
    assert len(square_lattice(4, 0.5).places) == 16
    for shift in (0, 1):
        places = list(triangular_lattice(4, shift).places.values())
        assert len(places) == 23 - shift
        gaps = [math.dist(a, b) for i, a in enumerate(places) for b in places[:i]]
        assert min(gaps) == pytest.approx(1, abs=1e-8)
        assert all(0 <= v <= 4 for place in places for v in place)


@pytest.mark.parametrize("crossings", [1, 2, 3, 4])
def test_crossed_stars_cross_as_often_as_asked(crossings):
    loop = crossed_star(36 + 4 * crossings, crossings, 2.9, (3, 3), 0.1)
    measures = measure(loop)
    assert len(loop) == 36 + 4 * crossings
    assert measures.length.tolist() == pytest.approx([1] * len(loop), abs=1e-8)
    if crossings <= 2:
        assert len(contacts(measures.points).crossings) == crossings


def test_stars_that_cannot_be_are_not_made():
    assert star(7, 1.0, (1, 1)) is None
    assert star(8, 2.0, (2, 2)) is None
    assert star(36, 0.5, (2, 2)) is None
    assert many_pointed(6, 9) is None
    assert len(contacts(measure(many_pointed(5, 2)).points).crossings) == 5


def test_the_number_of_pipes_varies_where_it_may():
    point = Space(pipes=12, vary=5, side=6)
    counts = {BUILDER.draw(point, Stream("vary", seed)).pipes for seed in range(40)}
    assert counts == {12, 14, 16, 18, 20, 22}


@pytest.mark.parametrize("side", [1, 2, 5, 7])
def test_combs_are_loops_wherever_they_fit(side):
    for pipes in range(4, (side + 1) ** 2 + 1, 2):
        bare = Params(pipes=pipes, side=side, length_tolerance=0.05, crossings=0, constraints=())
        combs = BUILDER.baselines(bare)
        for comb in combs.values():
            (only,) = judge(TASK, bare, comb)
            assert only.score == 1, (pipes, side)
        full = 2 * ((side + 1) // 2) * (side + 1)
        assert "tall comb" in combs or pipes > full
    assert BUILDER.baselines(bare.model_copy(update={"pipes": 15})) == {}
