"""Fresh rooms at the extremes of the parameters, and the solver's loops."""

import pytest

from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting import Space, TaskBuilder
from scbench.builders.pipe_loop_fitting.generic_loops import moved_to_start
from scbench.builders.pipe_loop_fitting.rivals import toothed_bars
from scbench.builders.pipe_loop_fitting.solver import FAMILIES, is_accepted, loops
from scbench.catalog import get_task
from scbench.graders.pipe_loop_fitting.contacts import contacts
from scbench.graders.pipe_loop_fitting.loop_constraints import measure
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
        {"pipes": 36, "constraints": 4, "strictness": 1.0},
        {"pipes": 40, "side": 6, "crossings": 1}, {"pipes": 60, "side": 10, "crossings": 4},
        {"pipes": 36, "constraints": 0}, {"pipes": 36, "length_tolerance": 0.001},
        {"pipes": 420, "side": 60, "constraints": 2},
    ],
    ids=repr,
)  # fmt: skip
def test_extreme_rooms_are_solved_and_reject_wrong_answers(parameters):
    for seed in range(2):
        params = BUILDER.draw(Space(**parameters), Stream("test", seed))
        assert params.pipes == parameters["pipes"]
        assert params.crossings == parameters.get("crossings", 0)
        assert len(params.constraints) == parameters.get("constraints", 2)
        assert solved(params)
        counters = BUILDER.counter_references(params)
        assert len(counters) >= 18
        for name, answer in counters.items():
            assert judge(TASK, params, answer)[0].score == 0, name


def is_inside(joint, side):
    return all(-1e-9 <= value <= side + 1e-9 for value in joint)


@pytest.mark.parametrize("family", FAMILIES)
def test_families_give_closed_loops_of_unit_pipes(family):
    candidates = list(loops(family, 36, 7))
    assert candidates
    assert candidates == list(loops(family, 36, 7))
    for loop in candidates:
        loop_measures = measure(loop)
        assert len(set(loop)) == 36
        assert loop_measures.length.tolist() == pytest.approx([1] * 36, abs=1e-8)
        if family != "stars":
            assert contacts(loop_measures.points) == ([], [])
            assert all(is_inside(joint, 7) for joint in loop)
        if family.startswith("turning"):
            assert loop_measures.cosines.min() > -0.6


def test_number_of_pipes_varies():
    point = Space(pipes=12, vary=5, side=6)
    counts = {BUILDER.draw(point, Stream("vary", seed)).pipes for seed in range(40)}
    assert counts == {12, 14, 16, 18, 20, 22}


@pytest.mark.parametrize("side", [1, 2, 5, 7])
def test_combs_are_loops_if_they_fit(side):
    for pipes in range(4, (side + 1) ** 2 + 1, 2):
        bare = Params(
            pipes=pipes, side=side, length_tolerance=0.05, crossings=0, constraints=()
        )
        loops_by_name = BUILDER.baselines(bare)
        combs = {name: loop for name, loop in loops_by_name.items() if "comb" in name}
        for comb in combs.values():
            (only,) = judge(TASK, bare, comb)
            assert only.score == 1, (pipes, side)
        full = 2 * ((side + 1) // 2) * (side + 1)
        assert "tall comb, turned 0 degrees" in combs or pipes > full
    odd = BUILDER.baselines(bare.model_copy(update={"pipes": 15}))
    assert not any("comb" in name for name in odd)


def test_generic_loops_fail_if_generic_is_off():
    point = Space(pipes=8, vary=4, side=9, constraints=2, strictness=0.7, generic=False)
    for seed in range(6):
        params = BUILDER.draw(point, Stream("generic", seed))
        answers = BUILDER.baselines(params)
        assert any("ring" in name for name in answers)
        has_start = any(rule.type == "fixed_start" for rule in params.constraints)
        for answer in answers.values():
            (only,) = judge(TASK, params, answer)
            assert only.score == 0
            # Loops are moved to a given start, and stay in the room.
            if has_start and "zig-zag ring 5" in answers:
                assert all(is_inside(joint.values(), 9) for joint in answer["points"])


@pytest.mark.parametrize(
    ("pipes", "side", "crossings"), [(40, 7, 1), (66, 8, 2), (140, 13, 4)]
)
def test_fingers_have_the_required_crossings(pipes, side, crossings):
    bare = Params(
        pipes=pipes,
        side=side,
        length_tolerance=0.005,
        crossings=crossings,
        constraints=(),
    )
    candidates = list(loops("fingers", pipes, side, crossings))
    assert len(set(candidates)) > 6
    assert candidates == list(loops("fingers", pipes, side, crossings))
    assert all(is_accepted(bare, loop) for loop in candidates)
    # A room smaller than a finger has no such loop.
    assert not list(loops("fingers", pipes, 2, crossings))


@pytest.mark.parametrize(
    "parameters",
    [
        {"pipes": 16, "side": 7, "constraints": 3, "strictness": 0.8},
        {"pipes": 60, "side": 8, "constraints": 3, "strictness": 0.9, "crossings": 2},
    ],
    ids=repr,
)
def test_non_generic_rooms_accept_only_one_solver_loop(parameters):
    pipes, side = parameters["pipes"], parameters["side"]
    crossings = parameters.get("crossings", 0)
    families = ["crossed stars", "fingers"] if crossings else FAMILIES
    point = Space(**parameters, generic=False)
    for seed in range(3):
        params = BUILDER.draw(point, Stream("rivals", seed))
        right = set()
        for family in families:
            for loop in loops(family, pipes, side, crossings):
                if is_accepted(params, moved_to_start(loop, params)):
                    right.add(frozenset(loop))
        assert len(right) <= 1
        assert solved(params)


@pytest.mark.parametrize(("pipes", "side"), [(16, 7), (22, 6), (52, 7)])
def test_toothed_bars_are_loops(pipes, side):
    bare = Params(
        pipes=pipes, side=side, length_tolerance=0.01, crossings=0, constraints=()
    )
    bars = list(toothed_bars(bare))
    assert len(set(bars)) > 4
    assert all(is_accepted(bare, bar) for bar in bars)
