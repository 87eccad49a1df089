"""Fresh rooms at the ends of their parameters, the loops of the solver, and what prompts print."""

import pytest

from scbench.base.seeding import Stream
from scbench.builders.pipe_loop_fitting import Space, TaskBuilder
from scbench.builders.pipe_loop_fitting.solver import FAMILIES, loops
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
def test_rooms_at_the_ends_of_the_parameters_are_solved_and_refuse_wrong_answers(
    parameters,
):
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


def test_the_number_of_pipes_varies_where_it_may():
    point = Space(pipes=12, vary=5, side=6)
    counts = {BUILDER.draw(point, Stream("vary", seed)).pipes for seed in range(40)}
    assert counts == {12, 14, 16, 18, 20, 22}


@pytest.mark.parametrize("side", [1, 2, 5, 7])
def test_combs_are_loops_wherever_they_fit(side):
    for pipes in range(4, (side + 1) ** 2 + 1, 2):
        bare = Params(
            pipes=pipes, side=side, length_tolerance=0.05, crossings=0, constraints=()
        )
        combs = BUILDER.baselines(bare)
        for comb in combs.values():
            (only,) = judge(TASK, bare, comb)
            assert only.score == 1, (pipes, side)
        full = 2 * ((side + 1) // 2) * (side + 1)
        assert "tall comb" in combs or pipes > full
    assert BUILDER.baselines(bare.model_copy(update={"pipes": 15})) == {}
