"""The published JSON Schemas accept the same files as the package."""

import copy
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from later import Later
from pydantic import BaseModel, ValidationError

from scbench.base.model import Prediction
from scbench.catalog import get_task
from scbench.freezing.example import example_predictions
from scbench.freezing.schemas import (
    file_schemas,
    prediction_schema,
    results_json_schema,
    task_schemas,
)
from scbench.grading.options import Options
from scbench.grading.run import grade_file
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.release.load import Reference, find_release

jsonschema_rs = Later("jsonschema_rs")

TASKS = list(find_release().manifest.tasks)
PREDICTION = jsonschema_rs.validator_for(prediction_schema())

LENIENT = {"fluid_simulation"}

TURN = {"action": "x", "observation": "no"}
RETRY = {
    "id": "a/00",
    "setting": "retry",
    "loop": {"setting": "retry"},
    "turns": [TURN],
}
GOOD = [
    RETRY,
    RETRY | {"turns": [], "status": "api_error", "answer": None, "response": None},
    RETRY | {"setting": "probe", "loop": {"setting": "probe", "budget": 5}},
    {"id": "a/00", "answer": "text"},
    {"id": "a/00", "response": "It is 3."},
    {"id": "a/00", "response": "cut of", "finish_reason": "length"},
    {"id": "a/00", "status": "blocked", "error": "content filter"},
    {"id": "a/00", "status": "api_error", "response": "half a te"},
    {"id": "a/00", "answer": None, "response": None, "status": "not_run"},
    {"id": "a/00", "error": "HTTP 500"},
    {"id": "a/00"},
    {
        "id": "a/00",
        "answer": 1,
        "model": "m",
        "setting": "tools",
        "sample": 3,
        "budget": 4096,
    },
    {
        "id": "a/00",
        "answer": 1,
        "usage": {"output_tokens": 5, "seconds": 0.5, "vendor": "x"},
    },
    {"id": "a/00", "answer": 1, "usage": None, "setting": None, "something": "else"},
]
BAD = [
    RETRY | {"setting": "no_tools"},
    RETRY | {"setting": "act"},
    RETRY | {"loop": None},
    RETRY | {"turns": None},
    RETRY | {"turns": [], "status": "answered"},
    RETRY | {"answer": 1},
    RETRY | {"response": ""},
    RETRY | {"turns": [TURN | {"action": None}]},
    RETRY | {"turns": [TURN | {"more": 1}]},
    RETRY | {"loop": {"setting": "retry", "attempts": 11}},
    {"id": "a/00", "setting": "retry"},
    None,
    [],
    "a/00",
    {},
    {"answer": {"x": 1}},
    {"id": 7, "answer": 1},
    {"id": "x" * 201, "answer": 1},
    {"id": "a/00", "answer": {"x": 1}, "response": "text"},
    {"id": "a/00", "status": "answered"},
    {"id": "a/00", "status": "answered", "answer": None},
    {"id": "a/00", "status": "unparsed", "response": "x"},
    {"id": "a/00", "status": "grader_error"},
    {"id": "a/00", "status": "blocked", "answer": {"x": 1}},
    {"id": "a/00", "answer": 1, "model": ""},
    {"id": "a/00", "answer": 1, "setting": "with_tools"},
    {"id": "a/00", "answer": 1, "sample": -1},
    {"id": "a/00", "answer": 1, "sample": True},
    {"id": "a/00", "answer": 1, "budget": 1.5},
    {"id": "a/00", "answer": 1, "usage": []},
    {"id": "a/00", "answer": 1, "usage": {"input_tokens": -1}},
    {"id": "a/00", "answer": 1, "finish_reason": 3},
]

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([0.5, -1.5])
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)
FIELDS = {name: JSON for name in Prediction.model_fields if name != "usage"}
USED = st.sampled_from(
    ["answered", "refused", "blocked", "unparsed", "no_tools", "tools", "retry"]
)

RESULTS = jsonschema_rs.validator_for(results_json_schema())


def accepts(model: type[BaseModel], value: object) -> bool:
    try:
        model.model_validate(value)
    except ValidationError:
        return False
    return True


def published(root: Path, name: str) -> jsonschema_rs.Validator:
    schema = json.loads((root / "schemas" / f"{name}.json").read_text("utf-8"))
    jsonschema_rs.meta.validate(schema)
    return jsonschema_rs.validator_for(schema)


def test_files_are_the_schemas(whole):
    manifest = find_release(str(whole)).manifest
    texts = task_schemas([get_task(name) for name in TASKS])
    assert texts.keys() | file_schemas().keys() <= manifest.files.keys()
    for name in texts:
        assert (whole / name).read_text("utf-8") == texts[name]
    for (
        name,
        text,
    ) in file_schemas().items():  # they grow with the package; old entries stay
        then, now = json.loads((whole / name).read_text("utf-8")), json.loads(text)
        assert then["properties"].keys() <= now["properties"].keys()
        assert set(then.get("required", ())) <= set(now.get("required", ()))


@pytest.fixture(scope="module")
def stored(whole) -> dict[str, list[Reference]]:
    """The stored answers of each instance."""
    by_id = {}
    for ref in find_release(str(whole)).references():
        by_id.setdefault(ref.id, []).append(ref)
    return by_id


@pytest.mark.parametrize("task_id", TASKS)
def test_parameters_and_references_validate(whole, stored, task_id):
    release = find_release(str(whole))
    instances = release.instances([task_id])
    params, answer = (
        published(whole, f"{task_id}.{part}") for part in ("params", "answer")
    )
    for row in instances.values():
        assert params.is_valid(json.loads(row.all_params)), row.id
        columns = jsonschema_rs.validator_for(json.loads(row.answer_schema))
        assert any(ref.kind == "reference" for ref in stored[row.id])
        for ref in stored[row.id]:
            value = json.loads(ref.answer)
            assert answer.is_valid(value) <= columns.is_valid(value), (ref.id, ref.name)
            if ref.kind == "reference":
                assert answer.is_valid(value), ref.id


def places(node: object, path: tuple = ()):
    yield path
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from places(child, (*path, key))


def damaged(value: object, rng: random.Random) -> object:
    """Put an odd value at one place of an answer, or remove the place."""
    box = {"it": copy.deepcopy(value)}
    *way, last = rng.choice([path for path in places(box) if path])
    parent: object = box
    for key in way:
        parent = parent[key]
    if way and rng.random() < 0.2:
        del parent[last]
    else:
        odd = [
            None,
            True,
            False,
            -1,
            0,
            3,
            3.0,
            -1.0,
            2.5,
            "",
            "1",
            "x",
            [],
            {},
            [0, 1],
            {"x": 1},
        ]
        odd += [10**6, 1e6]
        parent[last] = rng.choice(odd)
    return box["it"]


def in_rows(task_id: str, answer: object) -> object:
    """Convert a maze given as one text, bare or under its key, to the rows the package reads."""
    if task_id != "maze_3d":
        return answer
    maze = answer.get("maze") if isinstance(answer, dict) else answer
    return {"maze": maze.split("\n")} if isinstance(maze, str) else answer


@pytest.mark.parametrize("task_id", TASKS)
def test_answer_schema_agrees_with_the_package(whole, stored, task_id):
    """Checks stored answers and hundreds of damaged ones; only unknown keys may differ.

    Some graders accept answers that their schema forbids, to explain more than a wrong shape.
    """
    schema = published(whole, f"{task_id}.answer")
    model = get_task(task_id).answer_model
    own = [
        ref
        for refs in stored.values()
        for ref in refs
        if ref.id.startswith(f"{task_id}/")
    ]
    verdicts = set()
    for ref in own[:: max(1, len(own) // 20)]:
        value = json.loads(ref.answer)
        rng = random.Random(f"{ref.id} {ref.name}")
        for candidate in (value, *(damaged(value, rng) for _ in range(4))):
            known = not isinstance(candidate, dict) or candidate.keys() <= set(
                model.model_fields
            )
            if known:
                valid = schema.is_valid(in_rows(task_id, candidate))
                taken = accepts(model, candidate)
                assert valid <= taken if task_id in LENIENT else valid == taken, (
                    candidate
                )
                verdicts.add(valid)
    assert verdicts == {True, False}


@pytest.mark.parametrize("line", GOOD, ids=json.dumps)
def test_good_predictions_validate(line):
    assert accepts(Prediction, line)
    assert PREDICTION.is_valid(line)


@pytest.mark.parametrize("line", BAD, ids=json.dumps)
def test_bad_predictions_do_not_validate(line):
    assert not accepts(Prediction, line)
    assert not PREDICTION.is_valid(line)


@given(
    line=st.fixed_dictionaries({}, optional={k: v | USED for k, v in FIELDS.items()})
)
def test_prediction_schema_agrees_with_the_package_on_any_fields(line):
    assert PREDICTION.is_valid(line) == accepts(Prediction, line)
    whole = {"id": "a/00"} | line
    assert PREDICTION.is_valid(whole) == accepts(Prediction, whole)


def test_results_of_a_run_validate(parity_release, write_lines, tmp_path):
    path = write_lines(
        {"id": "parity/00", "response": "no idea"},
        {"id": "parity/01", "status": "blocked"},
        *map(json.loads, example_predictions(parity_release)),
    )
    options = Options(
        str(path),
        parity_release,
        tmp_path / "out",
        WorkerLimits(1, None, 0),
        partial=True,
    )
    rows = grade_file(options).results.to_dicts()
    assert {row["status"] for row in rows} >= {
        "answered",
        "unparsed",
        "blocked",
        "missing",
    }
    for row in rows:
        assert RESULTS.is_valid(row), row
    published(parity_release.root, "results")
    scored = next(row for row in rows if row["score"] is not None)
    unscored = next(row for row in rows if row["score"] is None)
    for changed in (
        scored | {"score": None},
        scored | {"score": 1.01},
        scored | {"status": "fine"},
        scored | {"subtask": "0"},
        scored | {"more": 1},
        unscored | {"score": 0.0},
        {key: value for key, value in scored.items() if key != "release_hash"},
    ):
        assert not RESULTS.is_valid(changed), changed
