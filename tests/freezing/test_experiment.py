"""Experiment files: what they may say, and how what they may not say is named."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from scbench.base.errors import ExperimentError
from scbench.catalog import MANIFOLDS, available_tasks, get_task
from scbench.freezing.experiment import (
    MOST_CASES,
    experiment_of,
    manifolds,
    parse_experiment,
    plan,
    points_of,
    read_experiment,
    read_parameter,
)
from scbench.release.load import find_release
from scbench.release.manifest import ExperimentRecord

GRID = """
seed = 7
[[task]]
id = "arithmetic"
count = 3
division = true
grid = { length = [4, 8], max_depth = [0, 2, 1] }
[[task]]
id = "delaunay_triangulation"
points = 5
"""


def test_a_grid_has_every_pair_and_its_first_parameter_changes_slowest():
    planned = plan(parse_experiment(GRID))
    assert [p.index for p in planned] == list(range(7))
    assert [(p.parameters["length"], p.parameters["max_depth"]) for p in planned[:6]] == [
        (4, 0), (4, 2), (4, 1), (8, 0), (8, 2), (8, 1),
    ]  # fmt: skip
    assert all(p.parameters["division"] for p in planned[:6])
    assert [p.point.count for p in planned] == [3] * 6 + [1]
    assert planned[6].parameters["points"] == 5


def test_parameters_that_are_not_named_take_their_defaults():
    (planned,) = plan(experiment_of({"seed": 1, "task": [{"id": "boolean"}]}))
    space = get_task("boolean").builder.space
    assert planned.parameters == space().model_dump(mode="json", exclude={"count"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed = ", "this is not TOML: "),
        ("x = [" * 500 + "]" * 500, "this is not TOML"),
        ("seed = 1", r"there is no \[\[task\]\] block"),
        ("sed = 1\n[[task]]\nid='boolean'", "unknown key 'sed'. Did you mean 'seed'?"),
        ("length = 1\n[[task]]\nid='boolean'", "unknown key 'length'. Knobs belong into a"),
        ("seed = -1\n[[task]]\nid='boolean'", "seed: must be at least 0; got -1"),
        ("seed = 1.5\n[[task]]\nid='boolean'", "seed: must be a whole number"),
        ("seed = true\n[[task]]\nid='boolean'", "seed: must be a whole number"),
        ("private = 1\n[[task]]\nid='boolean'", "private: must be true or false; got 1"),
        ("task = []", "task: must not be empty"),
        ("[[task]]\ncount = 1", "task 1: id: is missing"),
        ("[[task]]\nid = 'boolean'\ncount = 0", "task 1: count: must be at least 1"),
        ("[[task]]\nid = 'boolean'\ncount = true", "task 1: count: must be a whole number"),
        ("[[task]]\nid = 'boolean'\ngrid = 3", "task 1: grid: must be an object; got 3"),
        ("[[task]]\nid = 'boolean'\ngrid = { length = 3 }", "task 1: grid.length: must be a list"),
    ],
)
def test_what_is_no_experiment_is_named(text, said):
    with pytest.raises(ExperimentError, match=said.replace("?", r"\?")):
        parse_experiment(text)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"id": "arithmetics"}, "unknown task 'arithmetics'. Did you mean 'arithmetic'?"),
        ({"lenght": 4}, "arithmetic has no parameter 'lenght'. Did you mean 'length'?"),
        ({"zzz": 4}, "arithmetic has no parameter 'zzz'. It has length, max_depth, min_number"),
        ({"length": 501}, "length: must be at most 500; got 501"),
        ({"length": 2}, "length: must be at least 3; got 2"),
        ({"length": "many"}, "length: must be a whole number"),
        ({"prob_open": float("nan")}, "prob_open: must be"),
        ({"grid": {"max_depth": [0, 9]}}, "max_depth: must be at most 8; got 9"),
        ({"grid": {"max_depth": []}}, "max_depth: the grid holds no value of it"),
        ({"grid": {"length": [4]}, "length": 4}, "length is given as one value and in the grid"),
        ({"grid": {"count": [1, 2]}}, "count"),
        ({"grid": {"length": [4, 4]}}, "is in itself already; ask for more cases by count"),
        ({"min_number": 5, "max_number": 1}, "min_number 5 is above max_number 1"),
        ({"grid": {"min_number": [1, 5], "max_number": [2, 9]}}, "min_number 5 is above max_numb"),
        ({"grid": {n: list(range(99)) for n in "abc"}}, "a grid of 970,299 points is too large"),
        ({"count": MOST_CASES, "grid": {"length": [4, 8]}}, "are more than one experiment may"),
    ],
)
def test_points_that_cannot_be_are_named_with_their_bounds(block, said):
    experiment = experiment_of({"seed": 1, "task": [{"id": "arithmetic", **block}]})
    with pytest.raises(ExperimentError) as caught:
        plan(experiment)
    assert said in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_all_that_is_wrong_is_told_at_once():
    blocks = [{"id": "arithmetic", "length": 0, "max_depth": -1}, {"id": "x"}, {"id": "boolean"}]
    blocks += [{"id": "boolean"}]
    with pytest.raises(ExperimentError) as caught:
        plan(experiment_of({"seed": 1, "task": blocks}))
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        "task 1 (arithmetic)", "task 1 (arithmetic)", "task 2 (x)", "task 4 (boolean)",
    ]  # fmt: skip
    assert "is in task 3 already" in lines[-1]


def test_a_file_is_named_in_its_errors(tmp_path):
    path = tmp_path / "e.toml"
    with pytest.raises(ExperimentError, match=r"e\.toml cannot be read: No such file"):
        read_experiment(path)
    path.write_bytes(b"\xff")
    with pytest.raises(ExperimentError, match=r"e\.toml cannot be read: it is not UTF-8"):
        read_experiment(path)
    path.write_text("sed = 1")
    with pytest.raises(ExperimentError) as caught:
        read_experiment(path)
    assert all(line.startswith(f"{path}: ") for line in str(caught.value).splitlines())
    path.write_text(GRID)
    assert plan(read_experiment(path)) == plan(parse_experiment(GRID))


def test_generate_random_keeps_pydantics_errors():
    with pytest.raises(ValidationError) as caught:
        get_task("arithmetic").builder().generate_random(length=501)
    (error,) = caught.value.errors()
    assert (error["loc"], error["ctx"], error["input"]) == (("length",), {"le": 500}, 501)


def test_an_experiment_survives_its_record():
    experiment = parse_experiment(GRID)
    record = ExperimentRecord.model_validate_json(experiment.record([]).model_dump_json())
    again = experiment_of({"seed": record.seed, "task": record.tasks})
    assert plan(again) == plan(experiment)
    assert record.seed == 7
    private = experiment.model_copy(update={"private": True}).record([])
    assert private.seed is None
    assert private.tasks == record.tasks
    assert "7" not in json.dumps(private.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("task", "parameter", "text", "value"),
    [
        ("arithmetic", "length", "8", 8),
        ("arithmetic", "prob_open", "0.5", 0.5),
        ("arithmetic", "division", "true", True),
        ("arithmetic", "length", "8.5", 8.5),
        ("arithmetic", "length", "eight", "eight"),
        ("boolean", "format", "T_F", "T_F"),
        ("csg_union", "kinds", "box,prism", ("box", "prism")),
        ("csg_union", "kinds", '["box", "prism"]', ("box", "prism")),
        ("csg_union", "rotation", "45", "45"),
        ("fluid_simulation", "spare_boxes", "null", None),
        ("topology_enumeration", "known", "2", 2),
        ("two_segments", "snap_decimals", "4", 4),
    ],
)
def test_values_of_the_command_line_take_the_type_of_their_parameter(task, parameter, text, value):
    found = read_parameter(get_task(task).builder.space, parameter, text)
    assert found == value
    assert type(found) is type(value)


def test_every_default_can_be_written_as_text():
    for task in available_tasks():
        space = task.builder.space
        for name, field in space.model_fields.items():
            default = field.get_default()
            text = default if isinstance(default, str) else json.dumps(default)
            parameters = {name: read_parameter(space, name, text)} if name != "count" else {}
            assert points_of(task, parameters, {}) == [space()]


def test_the_manifolds_are_all_text_tasks_and_about_five_thousand_cases():
    experiment = manifolds()
    texts = set(experiment.task_ids)
    assert texts <= {task.id for task in available_tasks() if task.bucket == MANIFOLDS}
    assert texts >= set(find_release().manifest.named_tasks([MANIFOLDS]))
    planned = plan(experiment)
    assert 4_500 <= sum(p.point.count for p in planned) <= 5_500
    for task in texts:
        points = [p.parameters for p in planned if p.task.id == task]
        varied = [name for name in points[0] if len({json.dumps(p[name]) for p in points}) > 1]
        assert len(varied) >= 2, task


def test_a_part_of_an_experiment_draws_the_tasks_named():
    experiment = parse_experiment(GRID)
    assert experiment.only(["delaunay_triangulation"]).task_ids == ["delaunay_triangulation"]
    assert experiment.only(["boolean"]) is None


def test_no_experiment_is_larger_than_it_may_be(monkeypatch):
    monkeypatch.setattr("scbench.freezing.experiment.MOST_POINTS", 5)
    grid = {"length": [4, 5, 6]}
    blocks = [{"id": name, "grid": grid} for name in ("arithmetic", "boolean")]
    assert len(plan(experiment_of({"task": blocks[:1]}))) == 3
    with pytest.raises(ExperimentError, match="6 cases at 6 points are more than one experiment"):
        plan(experiment_of({"task": blocks}))


def test_the_file_of_the_manifolds_is_in_the_package():
    from scbench import builders  # noqa: PLC0415

    assert (Path(builders.__file__).parent / "manifolds.toml").is_file()
