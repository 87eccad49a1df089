"""Height maps from their seeds, the solver's promises, and what every parameter does."""

import random

import pytest

from scbench.base.errors import GenerationError, WorkSpentError
from scbench.base.seeding import Stream
from scbench.builders import terrain_levelling
from scbench.builders.terrain_levelling import Space, TaskBuilder, height_map, solver
from scbench.builders.terrain_levelling.solver import Settings, Work, attempt
from scbench.catalog import get_task
from scbench.schemas.terrain_levelling import MAX_BLASTS
from scbench.scoring.judge import judge

TASK = get_task("terrain_levelling")
BUILDER = TaskBuilder()
PAPER = BUILDER.paper()


@pytest.mark.parametrize("subtask", range(9))
def test_the_papers_maps_follow_from_their_seeds(subtask):
    item = PAPER[subtask]
    n = len(item.params.heights)
    assert n == 16 + 4 * subtask
    assert item.seed == 42 + n
    table = list(range(256))
    random.Random(item.seed).shuffle(table)
    assert height_map(n, 1 + n / 4, table) == item.params.heights


def test_flat_noise_is_stretched():
    heights = [height for row in height_map(6, 0.2, range(256)) for height in row]
    assert (min(heights), max(heights)) == (1.0, 10.0)


@pytest.mark.parametrize("seed", range(4))
def test_a_fresh_plan_scores_1_and_not_without_its_last_blast(seed):
    params = BUILDER.draw(Space(), Stream("test", seed))
    plan = BUILDER.reference(params).model_dump(mode="json")["blasts"]
    assert judge(TASK, params, {"blasts": plan})[0].score == 1
    assert judge(TASK, params, {"blasts": plan[:-1]})[0].score < 1


def test_a_reference_follows_from_the_parameters_alone():
    params = BUILDER.draw(Space(), Stream("test", 0))
    kept = BUILDER.reference(params)
    solver.kept.cache_clear()
    assert BUILDER.reference(params) == kept


def test_the_cap_leaves_room_for_the_solvers_plan():
    for spare in (1.0, 1.2):
        params = BUILDER.draw(Space(spare=spare), Stream("test", 1))
        blasts = len(BUILDER.reference(params).blasts)
        assert blasts <= params.max_blasts <= spare * blasts + 1
    assert BUILDER.draw(Space(), Stream("test", 1)).max_blasts == MAX_BLASTS


@pytest.mark.parametrize(
    "parameters",
    [
        {"size": 8},
        {"size": 5, "noise_scale": 1.0},
        {"noise_scale": 5.5},
        {"flat_tolerance": 0.1},
        {"flat_tolerance": 1.0},
        {"share": 0.2},
        {"share": 0.7},
    ],
)
def test_every_parameter_gives_solved_instances(parameters):
    point = Space(**parameters)
    params = BUILDER.draw(point, Stream("test", 2))
    assert len(params.heights) == point.size
    assert params.flat_tolerance == point.flat_tolerance
    assert params.share == point.share
    answer = BUILDER.reference(params).model_dump(mode="json")
    assert judge(TASK, params, answer)[0].score == 1


def test_ground_that_cannot_be_levelled_is_refused(monkeypatch):
    def fail(*_):
        raise GenerationError("no plan")

    monkeypatch.setattr(terrain_levelling, "solve", fail)
    with pytest.raises(GenerationError, match="none of 4 maps"):
        BUILDER.draw(Space(), Stream("test", 3))


def test_no_other_map_is_tried_after_much_work(monkeypatch):
    monkeypatch.setattr(terrain_levelling, "Work", lambda: Work(10**6))
    blasts = []
    real = solver.blast_cell
    monkeypatch.setattr(solver, "blast_cell", lambda *a: blasts.append(a) or real(*a))
    hard = Space(size=48, flat_tolerance=0.1, share=0.7)
    with pytest.raises(WorkSpentError, match="none of 1 maps of 48 x 48 cells; ask for"):
        BUILDER.draw(hard, Stream("test", 4))
    assert 1 <= len(blasts) < 500


def test_an_attempt_keeps_its_limits():
    heights = [height for row in PAPER[0].params.heights for height in row]
    assert attempt(heights, 16, 0.2, 0.5, Settings(), 5, Work(10**9)) is None
    work = Work(10**5)
    assert attempt(heights, 16, 0.2, 0.5, Settings(), 10**6, work) is None
    assert -(10**5) < work.left <= 0


def test_every_paper_instance_has_a_plan_of_its_own():
    plans = [BUILDER.reference(item.params).blasts for item in PAPER]
    assert len(set(plans)) == len(PAPER)
    specified = [223, 343, 750, 955, 1463, 1845, 1592, 1869, 2194]
    assert all(len(plan) < most for plan, most in zip(plans, specified, strict=True))


def test_counter_references_are_cheap_and_name_the_known_faults():
    for item in PAPER:
        counters = BUILDER.counter_references(item.params)
        assert counters.keys() >= {
            "empty",
            "negative_depth",
            "below_the_ground",
            "same_rock_twice",
            "y_counted_from_the_last_line",
            "x_and_y_swapped",
            "stopped_early",
        }
        lowering = [b for b in counters["stopped_early"]["blasts"] if b["z"] > 0]
        assert len(lowering) <= 30


def test_a_map_that_is_its_own_mirror_has_no_misread_plan():
    params = PAPER[0].params.model_copy(update={"heights": ((1.0, 2.0), (2.0, 1.0))})
    assert terrain_levelling._deepest_misread(params.heights, params.heights) is None
    assert terrain_levelling._deepest_misread(((1.0, 2.0),), ((1.0, 3.0),)) == {
        "x": 1, "y": 0, "z": 3.0,
    }  # fmt: skip
