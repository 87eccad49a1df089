"""Experiment files: valid ones, and the errors of invalid ones."""

import json

import pytest

from scbench.base.errors import ExperimentError
from scbench.catalog import MANIFOLDS, available_tasks, get_task
from scbench.freezing.experiment import (
    MOST_CASES,
    experiment_of,
    manifolds,
    parse_experiment,
    plan,
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


def test_grid_has_every_pair_and_its_first_parameter_changes_slowest():
    planned = plan(parse_experiment(GRID))
    assert [p.index for p in planned] == list(range(7))
    assert [(p.parameters["length"], p.parameters["max_depth"]) for p in planned[:6]] == [
        (4, 0), (4, 2), (4, 1), (8, 0), (8, 2), (8, 1),
    ]  # fmt: skip
    assert all(p.parameters["division"] for p in planned[:6])
    assert [p.point.count for p in planned] == [3] * 6 + [1]
    assert planned[6].parameters["points"] == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = ", "this is not TOML: "),
        ("seed = 1", r"there is no \[\[task\]\] block"),
        ("sed = 1\n[[task]]\nid='boolean'", "unknown key 'sed'. Did you mean 'seed'?"),
        (
            "length = 1\n[[task]]\nid='boolean'",
            "unknown key 'length'. Parameters belong in a",
        ),
        ("seed = -1\n[[task]]\nid='boolean'", "seed: must be at least 0; got -1"),
        ("[[task]]\ncount = 1", "task 1: id: is missing"),
        ("[[task]]\nid = 'boolean'\ncount = 0", "task 1: count: must be at least 1"),
        (
            "[[task]]\nid = 'boolean'\ngrid = { length = 3 }",
            "task 1: grid.length: must be a list",
        ),
    ],
)
def test_invalid_experiment_is_named(text, message):
    with pytest.raises(ExperimentError, match=message.replace("?", r"\?")):
        parse_experiment(text)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (
            {"id": "arithmetics"},
            "unknown task 'arithmetics'. Did you mean 'arithmetic'?",
        ),
        ({"lenght": 4}, "arithmetic has no parameter 'lenght'. Did you mean 'length'?"),
        ({"length": 501}, "length: must be at most 500; got 501"),
        ({"length": "many"}, "length: must be a whole number"),
        ({"grid": {"max_depth": []}}, "the grid contains no value for max_depth"),
        (
            {"grid": {"length": [4]}, "length": 4},
            "length has both a single value and a grid",
        ),
        (
            {"grid": {"length": [4, 4]}},
            "is also in itself; to get more items, raise count",
        ),
        ({"min_number": 5, "max_number": 1}, "min_number (5) is above max_number (1)"),
        (
            {"grid": {"min_number": [1, 5], "max_number": [2, 9]}},
            "min_number (5) is above max_numb",
        ),
        (
            {"grid": {n: list(range(99)) for n in "abc"}},
            "a grid of 970,299 points is too large",
        ),
        (
            {"count": MOST_CASES, "grid": {"length": [4, 8]}},
            "split the experiment",
        ),
    ],
)
def test_impossible_points_are_named_with_their_bounds(block, message):
    experiment = experiment_of({"seed": 1, "task": [{"id": "arithmetic", **block}]})
    with pytest.raises(ExperimentError) as caught:
        plan(experiment)
    assert message in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_all_errors_are_reported_together():
    blocks = [
        {"id": "arithmetic", "length": 0, "max_depth": -1},
        {"id": "x"},
        {"id": "boolean"},
    ]
    blocks += [{"id": "boolean"}]
    with pytest.raises(ExperimentError) as caught:
        plan(experiment_of({"seed": 1, "task": blocks}))
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        "task 1 (arithmetic)", "task 1 (arithmetic)", "task 2 (x)", "task 4 (boolean)",
    ]  # fmt: skip
    assert "is also in task 3" in lines[-1]


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "e.toml"
    with pytest.raises(ExperimentError, match=r"e\.toml cannot be read: No such file"):
        read_experiment(path)
    path.write_bytes(b"\xff")
    with pytest.raises(
        ExperimentError, match=r"e\.toml cannot be read: it is not UTF-8"
    ):
        read_experiment(path)
    path.write_text("sed = 1")
    with pytest.raises(ExperimentError) as caught:
        read_experiment(path)
    assert all(line.startswith(f"{path}: ") for line in str(caught.value).splitlines())
    path.write_text(GRID)
    assert plan(read_experiment(path)) == plan(parse_experiment(GRID))


def test_experiment_survives_its_record():
    experiment = parse_experiment(GRID)
    record = ExperimentRecord.model_validate_json(
        experiment.record([]).model_dump_json()
    )
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
        ("arithmetic", "division", "true", True),
        ("arithmetic", "length", "eight", "eight"),
        ("csg_union", "kinds", "box,prism", ("box", "prism")),
        ("csg_union", "kinds", '["box", "prism"]', ("box", "prism")),
        ("fluid_simulation", "spare_boxes", "null", None),
    ],
)
def test_command_line_values_take_the_type_of_their_parameter(
    task, parameter, text, value
):
    parsed = read_parameter(get_task(task).builder.space, parameter, text)
    assert parsed == value
    assert type(parsed) is type(value)


def test_manifolds_are_all_text_tasks_and_about_five_thousand_cases():
    experiment = manifolds()
    texts = set(experiment.task_ids)
    assert texts <= {task.id for task in available_tasks() if task.bucket == MANIFOLDS}
    assert texts >= set(find_release().manifest.named_tasks([MANIFOLDS]))
    planned = plan(experiment)
    assert 4_500 <= sum(p.point.count for p in planned) <= 5_500
    for task in texts:
        points = [p.parameters for p in planned if p.task.id == task]
        varied = [
            name for name in points[0] if len({json.dumps(p[name]) for p in points}) > 1
        ]
        assert len(varied) >= 2, task
