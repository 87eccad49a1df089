"""The runner: the cases of an experiment, and the outcome if it cannot draw enough."""

import runpy
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from scbench.base.canonical import canonical_json, content_hash
from scbench.base.errors import GenerationError, ReleaseError, WorkSpentError
from scbench.catalog import MANIFOLDS, available_tasks, get_task
from scbench.freezing.draw import REPEATS, draw, key_of
from scbench.freezing.experiment import experiment_of, plan
from scbench.freezing.fresh import gather, paper_item, run
from scbench.freezing.frozen_task import freeze_task
from scbench.machine.processes import LocalExecutor, open_executor
from scbench.release.load import find_release

TOOL = Path(__file__).resolve().parents[2] / "tools" / "golden_cases.py"
GOLDEN = SimpleNamespace(**runpy.run_path(str(TOOL)))
OURS = [task.id for task in available_tasks() if task.package == "scbench"]

IMPOSSIBLE = {
    "id": "hyper_snake",
    "count": 3,
    "dims": 2,
    "max_cells": 9,
    "walls": 50,
    "food": 20,
}


def cases(seed: int, *blocks: dict, workers: int = 1) -> list:
    experiment = experiment_of({"seed": seed, "task": blocks})
    with open_executor(workers) as executor:
        return list(draw(plan(experiment), seed, executor, set()))


def inputs(seed: int, *blocks: dict) -> list[str]:
    return [case["input"] for drawn in cases(seed, *blocks) for case in drawn.cases]


@pytest.mark.parametrize("task_id", OURS)
def test_cases_of_a_seed_match_the_stored_ones(task_id):
    written = GOLDEN.stored().get(task_id)
    if written is None and task_id not in find_release().manifest.tasks:
        return  # the draws of a task may change until a release contains it
    assert GOLDEN.golden(get_task(task_id)) == written, (
        "if that is meant, raise the builder's version and run tools/golden_cases.py"
    )


@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_workers_draws_the_same_cases_of_every_task(workers, ungraded):
    drawable = [task_id for task_id in GOLDEN.stored() if task_id not in ungraded]
    blocks = [{"id": task_id, "count": GOLDEN.COUNT} for task_id in drawable]
    texts = cases(GOLDEN.SEED, *blocks, workers=workers)
    hashes = {drawn.planned.task.id: content_hash(list(drawn.cases)) for drawn in texts}
    assert hashes == {task_id: GOLDEN.stored()[task_id][1] for task_id in drawable}


def test_jobs_of_later_points_start_before_the_first_point_ends():
    submitted = []
    turns = []

    class RecordingExecutor(LocalExecutor):
        def submit(self, function, /, *args):
            submitted.append(args[0].task.id)
            return super().submit(function, *args)

    def record_turn(planned):
        turns.append((planned.task.id, list(submitted)))

    blocks = [{"id": name, "count": 2} for name in ("boolean", "dates", "shuffle")]
    planned = plan(experiment_of({"seed": 1, "task": blocks}))
    points = draw(planned, 1, RecordingExecutor(), set(), ahead=1, on_turn=record_turn)
    assert [len(point.cases) for point in points] == [2, 2, 2]
    assert turns == [
        ("boolean", ["boolean", "dates"]),
        ("dates", ["boolean", "dates", "shuffle"]),
        ("shuffle", ["boolean", "dates", "shuffle"]),
    ]


def test_keys_added_between_points_are_skipped():
    block = {"id": "shikaku_rectangles", "count": 2}
    planned = plan(experiment_of({"seed": 1, "task": [block]}))
    (first,) = cases(1, block)
    keys = set()

    def forbid_first(point):
        instance = canonical_json(first.cases[0]["instance"])
        keys.add(key_of(point.task.id, first.cases[0]["input"], instance))

    with open_executor(1) as executor:
        (point,) = draw(planned, 1, executor, keys, on_turn=forbid_first)
    assert point.cases[0] == first.cases[1]


def test_reference_found_while_drawing_is_not_searched_again(monkeypatch):
    task = get_task("shikaku_rectangles")
    (drawn,) = cases(1, {"id": task.id, "count": 2})
    # Only the first case of a point has counter-references, which need the reference.
    item = paper_item(drawn.planned, 1, drawn.cases[1])
    expected = freeze_task(task, [replace(item, reference="")])

    def refuse(builder, params):
        raise AssertionError("the reference was searched again")

    monkeypatch.setattr(task.builder, "reference", refuse)
    assert freeze_task(task, [item]) == expected
    (text,) = cases(1, {"id": "boolean"})
    # The target of a text task is no answer in JSON.
    assert paper_item(text.planned, 0, text.cases[0]).reference == ""


def test_nothing_is_drawn_twice_in_the_whole_experiment():
    # The two formats print different words, but the two chances of brackets give the same texts.
    grid = {"prob_open": [0.1, 0.9], "format": ["T_F", "BINARY"]}
    block = {
        "id": "boolean",
        "length": 3,
        "max_depth": 0,
        "prob_negation": 0,
        "count": 30,
    }
    texts = inputs(5, {**block, "grid": grid})
    assert len(texts) == 120
    assert max(Counter(texts).values()) == 1


@pytest.mark.parametrize("task_id", OURS)
def test_neighbouring_seeds_share_no_items(task_id):
    task = get_task(task_id)
    slow = {
        "lego_hemispherical_shell",
        "tetrahedra_shadow_projection",
        "terrain_levelling",
    }
    count = 4
    if task.bucket == MANIFOLDS:
        count = 60
    elif task_id in slow:
        count = 2
    # The default spaces of these are so small that two seeds can meet by chance.
    roomy = {
        "topology_enumeration": {"corners": 6, "known": 3, "n_classes": 2},
        "lego_hemispherical_shell": {"max_inner_cm": 20.0, "form": "wall"},
    }
    block = {"id": task_id, "count": count, **roomy.get(task_id, {})}
    drawn = [drawn for seed in (41, 42, 43) for drawn in cases(seed, block)]
    for reason in filter(None, (part.reason for part in drawn)):
        raise GenerationError(reason)
    texts = [case["input"] for part in drawn for case in part.cases]
    assert len(texts) == 3 * count
    assert len(set(texts)) == len(texts)


def test_exhausted_space_ends_with_the_reason():
    block = {
        "id": "boolean",
        "length": 3,
        "max_depth": 0,
        "prob_negation": 0,
        "count": 10_000,
    }
    (drawn,) = cases(5, block)
    # Eight rows of values and nine pairs of operators; the rarest may not turn up.
    assert 68 < len(drawn.cases) <= 72
    assert drawn.reason.startswith(
        f"{REPEATS} attempts in a row gave no new item; these parameters allow too few"
    )


def test_groups_of_items_get_their_shares():
    block = {
        "id": "lego_hemispherical_shell",
        "form": "bowl",
        "min_inner_cm": 5,
        "max_inner_cm": 6,
        "thick_share": 0.5,
        "thick_inner_cm": 3,
        "marks_share": 0.8,
        "count": 4,
    }
    (drawn,) = cases(7, block)
    inner_radii = [case["instance"]["inner_radius_mm"] for case in drawn.cases]
    assert len(inner_radii) == 4
    assert sum(radius <= 30 for radius in inner_radii) == 2


def test_complete_group_ends_a_point_without_other_groups(monkeypatch):
    builder = get_task("boolean").builder
    monkeypatch.setattr(builder, "group", lambda *_: ("only", 0.3))
    (drawn,) = cases(5, {"id": "boolean", "count": 10})
    assert len(drawn.cases) == 3
    assert drawn.reason.startswith(f"{REPEATS} attempts in a row gave no new item")


def test_failing_builder_costs_tries_and_then_cases(monkeypatch):
    builder = get_task("boolean").builder
    real = builder.draw

    def unlucky(self, point, rng):
        if rng.below(3):
            raise GenerationError("no luck\n at all")
        return real(self, point, rng)

    monkeypatch.setattr(builder, "draw", unlucky)
    (drawn,) = cases(5, {"id": "boolean", "count": 10})
    assert (len(drawn.cases), drawn.reason) == (10, "")
    assert len({case["input"] for case in drawn.cases}) == 10

    def broken(self, point, rng):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(builder, "draw", broken)
    (drawn,) = cases(5, {"id": "boolean", "count": 10})
    assert drawn.cases == ()
    assert drawn.reason == (
        "25 attempts in a row failed, the last with: ZeroDivisionError: division by zero"
    )


def test_wasted_work_ends_a_point_without_a_case(monkeypatch):
    builder = get_task("boolean").builder
    real, drawn_seeds = builder.draw, []

    def spent(self, point, rng):
        drawn_seeds.append(rng)
        if len(drawn_seeds) in when:
            raise WorkSpentError("minutes of work; ask for less")
        return real(self, point, rng)

    monkeypatch.setattr(builder, "draw", spent)
    monkeypatch.setattr("scbench.freezing.draw.cases_per_job", lambda _: 1)
    when = {1}
    (drawn,) = cases(5, {"id": "boolean", "count": 1})
    assert (drawn.cases, drawn.reason) == ((), "minutes of work; ask for less")
    assert len(drawn_seeds) == 1
    drawn_seeds.clear()
    when = {2}
    (drawn,) = cases(5, {"id": "boolean", "count": 3})
    assert (len(drawn.cases), drawn.reason) == (3, "")


@pytest.mark.parametrize("workers", [1, 2])
def test_impossible_point_ends_with_the_builders_reason(workers):
    possible = {"id": "delaunay_triangulation", "count": 3, "points": 5}
    hopeless, other = cases(5, IMPOSSIBLE, possible, workers=workers)
    assert hopeless.cases == ()
    assert hopeless.reason.startswith("8 attempts in a row failed, the last with: ")
    assert "ask for fewer walls" in hopeless.reason
    assert (len(other.cases), other.reason) == (3, "")


def test_every_reference_scores_one_and_the_first_case_of_a_point_proves_the_grader(
    experiment,
):
    parts = list(run(experiment))
    for part in parts:
        right = [ref for ref in part.references if ref.kind == "reference"]
        wrong = [ref for ref in part.references if ref.kind == "counter_reference"]
        assert [ref.id for ref in right] == [instance.id for instance in part.instances]
        assert all(ref.score == 1 for ref in right)
        assert all(ref.score < 1 for ref in wrong)
        assert (
            {ref.id for ref in wrong} == {part.instances[0].id}
            if part.instances
            else set()
        )
        assert len(wrong) >= 3 or not part.instances
    for task in ("arithmetic", "boolean", "delaunay_triangulation"):
        numbers = [
            i.subtask for part in parts for i in part.instances if i.task == task
        ]
        assert numbers == list(range(len(numbers)))
    gathered = gather(parts)
    assert gathered.cases == sum(len(part.instances) for part in parts)
    (short,) = gathered.shortfalls
    assert (short.task, short.asked) == ("boolean", 50)
    assert 15 < short.got <= 22


def test_wrong_grader_is_an_error_and_no_shortfall(monkeypatch):
    builder = get_task("arithmetic").builder
    wrong = builder.answer_model(answer=10**9)
    monkeypatch.setattr(builder, "reference", lambda *_: wrong)
    with pytest.raises(ReleaseError, match="builder and grader disagree"):
        list(
            run(experiment_of({"seed": 1, "task": [{"id": "arithmetic", "count": 2}]}))
        )
