"""The contract that every registered task keeps. A new task joins by being in the catalogue."""

import copy
import json
import random
import subprocess
import sys
from functools import cache
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from scbench.answers.extract import from_field, from_response, shape_of
from scbench.builders.shared.parameters import kinds_of
from scbench.canonical import canonical_json
from scbench.catalog import MANIFOLDS, PAPER, SECONDS, Task, available_tasks, get_task
from scbench.errors import CannotGrade
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.grading.outcome import grade_prediction
from scbench.judge import judge
from scbench.model import Prediction, Status
from scbench.schemas.base import json_schema
from scbench.seeding import Stream

SPEC_REFERENCES = Path(__file__).parent.parent / "data" / "spec_references"
TASKS = [task.id for task in available_tasks()]
OURS = [task for task in available_tasks() if task.origin == PAPER]
TEXTS = [task for task in available_tasks() if task.bucket == MANIFOLDS]
# Verifying the frozen release judges every reference, those of lengthy tasks there alone.
INSTANCES = [
    f"{task.id}/{i:02d}"
    for task in available_tasks()
    for i in range(2 if task.seconds > SECONDS else len(task.builder().paper()))
]
OBJECTS = [task for task in available_tasks() if not shape_of(task.answer_model).is_text]
FRESH_SEEDS = range(20)


@cache
def items(task_id: str):
    """Each paper instance with its reference and counter-references, as JSON.

    A task without a list has fresh ones at the default point and at the extremes.
    """
    builder = get_task(task_id).builder()
    found = [item.params for item in builder.paper()] or [
        builder.params_model.model_validate(case.instance) for case in fresh_cases(task_id)
    ]
    return [
        (
            params,
            builder.reference(params).model_dump(mode="json"),
            dict(builder.counter_references(params)),
        )
        for params in found
    ]


@cache
def fresh_cases(task_id: str):
    """Cases of twenty seeds at the default point, and of three at each of the extremes."""
    builder = get_task(task_id).builder()
    space = builder.get_generation_schema()
    points = [(space(), FRESH_SEEDS), *((space(**knobs), range(3)) for knobs in builder.extremes)]
    return [builder.case(point, seed) for point, seeds in points for seed in seeds]


def right_answer(task: Task, target: str):
    """The answer that a case's target stands for."""
    return {"answer": target} if shape_of(task.answer_model).is_short else json.loads(target)


def lengthy(task: Task) -> bool:
    """Whether one verdict can take a minute: what another test simulates is not simulated here."""
    return task.seconds > SECONDS


@pytest.fixture(params=TASKS)
def task(request) -> Task:
    return get_task(request.param)


def score(task: Task, params, answer, *, again: bool = False) -> float:
    """The mean score of an answer, after checking what every verdict must keep.

    Stored answers are judged once here, as test_verdicts.py compares them with what another process
    on another day wrote down; what nobody wrote down is judged `again`.
    """
    verdicts = judge(task, params, answer)
    for verdict in verdicts:
        assert 0 <= verdict.score <= 1
        if task.scoring == "binary":
            assert verdict.score in {0, 1}
        assert verdict.checks
        ids = [check.id for check in verdict.checks]
        assert len(set(ids)) == len(ids), "a check id occurs twice"
        assert set(ids) <= {*task.checks, *COMMON_CHECKS}
        assert all(check.message for check in verdict.checks)
        canonical_json([dict(check.details) for check in verdict.checks])
        canonical_json(dict(verdict.metrics))
    if again:
        assert judge(task, params, answer) == verdicts, "the same answer got another verdict"
    return sum(verdict.score for verdict in verdicts) / len(verdicts)


def test_paper_list_has_the_size_of_the_catalogue(task):
    assert len(task.builder().paper()) > 0 or task.bucket == MANIFOLDS


def test_params_survive_canonical_json(task):
    for params, _, _ in items(task.id):
        text = canonical_json(params.model_dump(mode="json"))
        assert task.params_model.model_validate_json(text) == params


def test_prompt_is_stable_and_asks_for_the_answers_keys(task):
    schema = json_schema(task.answer_model)
    for params, _, _ in items(task.id):
        prompt = task.builder().prompt(params)
        assert prompt == task.builder().prompt(params)
        for key in schema.get("properties", {}):
            assert f'"{key}"' in prompt


def test_published_schema_takes_the_reference_and_no_unknown_key(task):
    schema = json_schema(task.answer_model)
    validator = jsonschema_rs.validator_for(schema)
    for _, reference, _ in items(task.id):
        assert validator.is_valid(reference)
        if isinstance(reference, dict):
            assert not validator.is_valid({**reference, "extra": 1})


@pytest.mark.parametrize("instance_id", INSTANCES)
def test_every_reference_scores_one(instance_id):
    task_id, _, subtask = instance_id.partition("/")
    params, reference, _ = items(task_id)[int(subtask)]
    assert score(get_task(task_id), params, reference) == 1


@pytest.mark.parametrize("task", OURS, ids=str)
def test_every_reference_of_the_specification_scores_one(task):
    path = SPEC_REFERENCES / f"{task.id}.json"
    stored = json.loads(path.read_text())
    assert len(stored) == len(items(task.id))
    for i, answers in enumerate(stored):
        for answer in answers:
            assert score(task, items(task.id)[i][0], answer) == 1, f"{task.id}/{i:02d}"


@pytest.mark.parametrize("task", OURS, ids=str)
def test_real_answers_get_the_scores_of_a_right_grader(task, real_rows):
    ours = [pair for pair in real_rows if pair[0]["id"].partition("/")[0] == task.id]
    assert ours
    for prediction, expected in ours:
        params = items(task.id)[int(prediction["id"].partition("/")[2])][0]
        outcome = grade_prediction(Prediction.model_validate(prediction), task, params)
        if outcome.status is Status.NOT_RUN:
            raise CannotGrade(outcome.reason)
        wanted = expected.get("expected_scores", {"0": expected.get("expected_score")})
        wanted = [wanted[key] for key in sorted(wanted, key=int)]
        got = [verdict.score for verdict in outcome.verdicts]
        assert got == pytest.approx(wanted, abs=expected.get("tolerance") or 1e-9), expected


def test_every_counter_reference_scores_below_one(task):
    for i, (params, reference, counters) in enumerate(items(task.id)):
        assert len(counters) >= 3
        for name, answer in counters.items():
            # As text, because Python holds True for equal to 1.
            same = canonical_json(answer) == canonical_json(reference)
            assert not same, f"{task.id}/{i:02d} {name} is the reference"
            if task not in OURS:  # those of lists are all judged in test_verdicts.py
                assert score(task, params, answer) < 1, f"{task.id}/{i:02d} {name}"


@pytest.mark.parametrize("task", OBJECTS, ids=str)
def test_unknown_keys_are_noted_and_change_nothing(task):
    params, reference, _ = items(task.id)[0]
    verdicts = judge(task, params, {**reference, "why": "because"})
    assert all(v.score == 1 and any("'why'" in note for note in v.notes) for v in verdicts)


JUNK = [
    None, True, 0, -1, 1.5, 10**30, 10**400, "", "x", "\x00", "💥" * 50, [], {}, [[]], [{}],
    [None], [[None]], {"": None}, {"answer": 1}, [[[[[[[]]]]]]], [0] * 5000, ["a"] * 100,
]  # fmt: skip


def could_be_right(task: Task, junk) -> bool:
    """Whether junk is a fair answer: a number, a truth value, or a set with one member repeated."""
    shape = shape_of(task.answer_model)
    listed = shape.is_list and junk == ["a"] * 100
    return shape.is_short and (
        isinstance(junk, bool | int | float) or junk == {"answer": 1} or listed
    )


def test_junk_scores_below_one_and_never_raises(task):
    for params, reference, _ in items(task.id)[:: max(1, len(items(task.id)) // 3)]:
        keys = list(reference) if isinstance(reference, dict) else []
        for junk in JUNK:
            fair = could_be_right(task, junk)
            assert score(task, params, junk) < 1 or fair
            for key in keys:
                given = score(task, params, {**reference, key: junk})
                assert given < 1 or fair or junk == reference[key]
        for key in json_schema(task.answer_model).get("required", ()):
            assert score(task, params, {k: v for k, v in reference.items() if k != key}) < 1


def places(node, path=()):
    """Every place in a JSON value, as a path of keys and positions."""
    yield path
    if isinstance(node, dict | list):
        children = node.items() if isinstance(node, dict) else enumerate(node)
        for key, child in children:
            yield from places(child, (*path, key))


def mutate(node, rng: random.Random):
    """Change one place of a JSON value."""
    node = copy.deepcopy(node)
    *way, last = rng.choice([path for path in places(node) if path])
    parent = node
    for key in way:
        parent = parent[key]
    other = rng.choice([path for path in places(node) if path])
    value = node
    for key in other:
        value = value[key]
    match rng.randrange(5):
        case 0 if isinstance(parent, list):
            del parent[last]
        case 1 if isinstance(parent, list):
            parent.insert(last, copy.deepcopy(parent[last]))
        case 2:
            parent[last] = copy.deepcopy(value)
        case 3 if isinstance(parent[last], int | float) and abs(parent[last]) < 1e300:
            parent[last] += rng.choice([-1, 1, 0.5, 1e300, -(10**20)])
        case _:
            parent[last] = rng.choice(JUNK)
    return node


@pytest.mark.parametrize("task_id", TASKS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 4), pick=st.integers(0, 10**6))
def test_mutations_never_raise(task_id, seed, steps, pick):
    rng = random.Random(seed)
    params, reference, counters = items(task_id)[pick % len(items(task_id))]
    if lengthy(get_task(task_id)):  # those are short
        reference = rng.choice(list(counters.values()))
    answer = {"it": reference}
    for _ in range(steps):
        answer = mutate(answer, rng) or {"it": None}
        if not answer:
            break
    score(get_task(task_id), params, answer.get("it"), again=True)


def test_fresh_instances_are_repeatable_distinct_and_solved(task):
    builder = task.builder()
    point = builder.get_generation_schema()()
    cases = [builder.case(point, seed) for seed in FRESH_SEEDS]
    assert cases[0] == task.builder().case(point, 0)
    assert len({case.input for case in cases}) == len(cases), "neighbouring seeds share an item"
    for i, case in enumerate(cases[:8] if task.heavy else cases):
        params = task.params_model.model_validate(case.instance)
        reference = right_answer(task, case.target)
        assert score(task, params, reference) == 1
        if task.heavy and i >= 2:
            continue
        counters = builder.counter_references(params)
        assert len(counters) >= 3
        for name, answer in counters.items():
            assert score(task, params, answer) < 1, name


def test_generate_random_keeps_its_schemas(task):
    builder = task.builder(random.Random(7))
    cases = builder.generate_random(count=3)
    assert cases == task.builder(random.Random(7)).generate_random(count=3)
    for case in cases:
        assert builder.get_result_schema().model_validate(case).seed == case["seed"]
        assert set(case["params"]) == set(builder.get_generation_schema().model_fields) - {"count"}
    with pytest.raises(ValidationError, match="count"):
        builder.generate_random(count=0)
    with pytest.raises(ValidationError, match="no_such_knob"):
        builder.generate_random(no_such_knob=1)


def test_every_knob_is_described(task):
    for name, field in task.builder.space.model_fields.items():
        assert field.description, name


def test_a_value_beyond_a_bound_is_refused_with_the_name_and_the_bound(task):
    builder = task.builder()
    for name, schema in json_schema(builder.get_generation_schema())["properties"].items():
        step = schema.get("multipleOf", 1)
        for bound, away in (("minimum", -step), ("maximum", step)):
            if bound in schema:
                with pytest.raises(ValidationError) as caught:
                    builder.generate_random(**{name: schema[bound] + away})
                (error,) = caught.value.errors()
                assert error["loc"] == (name,)
                assert schema[bound] in error["ctx"].values()
                assert error["input"] == schema[bound] + away


# Text tasks.


@pytest.fixture(params=TEXTS, ids=str)
def text_task(request) -> Task:
    return request.param


def test_text_tasks_are_known_by_their_answers(text_task):
    assert text_task.bucket == "manifolds"
    assert text_task.builder().paper() == []
    assert shape_of(text_task.answer_model).is_short
    assert text_task.dimensions


def test_every_knob_of_a_text_task_has_a_kind(text_task):
    space = text_task.builder.space
    assert list(kinds_of(space)) == [name for name in space.model_fields if name != "count"]


def test_cases_carry_their_facts_and_no_truth(text_task):
    builder = text_task.builder()
    for case in fresh_cases(text_task.id):
        params = text_task.params_model.model_validate(case.instance)
        point = builder.point_of(case)
        assert point == case.params | builder.facts(params)
        assert not case.params.keys() & builder.facts(params).keys()
        canonical_json(point)
        assert case.guess_rate == builder.guess_rate_of(params) < 1
        assert not case.instance.keys() & {"answer", "target", "value", "solution"}
        assert case.instance.keys() == text_task.params_model.model_fields.keys()
        assert builder.prompt(params) == case.input


def test_what_is_composed_in_drawing_is_what_the_instance_alone_says(text_task):
    builder = text_task.builder()
    for knobs in ({}, *builder.extremes):
        make = builder.rows_at(builder.space(**knobs))
        for row in map(make, range(100)):
            params = text_task.params_model.model_validate(row["instance"])
            assert list(row) == list(builder.case_model.model_fields)
            said = {
                "instance": params.model_dump(mode="json"),
                "input": builder.prompt(params),
                "target": builder.target(params),
                "guess_rate": float(builder.guess_rate_of(params)),
                **builder.facts(params),
            }
            # As text, because Python holds True for equal to 1, and 1 to 1.0.
            assert json.dumps(row | said) == json.dumps(row)
            assert json.dumps(said["instance"]) == json.dumps(row["instance"])


def test_every_prompt_of_a_text_task_ends_with_the_form_of_the_answer(text_task):
    for case in fresh_cases(text_task.id):
        assert case.input.splitlines()[-1] in {'{"answer": "..."}', '{"answer": ...}'}


def test_the_target_is_right_however_it_is_given(text_task):
    shape = shape_of(text_task.answer_model)
    for case in fresh_cases(text_task.id):
        params = text_task.params_model.model_validate(case.instance)
        written = json.dumps({"answer": case.target})
        replies = [
            f"Answer: {case.target}",
            f"It took a while.\n\n**Final answer:**\n{case.target}\n",
            f"<answer>{case.target}</answer>",
            f"So it is:\n```json\n{written}\n```",
            f"<think>{written[:-3]}x</think>{written}",
        ]
        given = [from_field(case.target, shape), *(from_response(text, shape) for text in replies)]
        for found in given:
            assert score(text_task, params, found.value) == 1


def test_neighbouring_seeds_share_no_case(text_task):
    inputs = [
        {case["input"] for case in text_task.builder(Stream("run", seed)).generate_random(count=50)}
        for seed in range(3)
    ]
    assert len(set.union(*inputs)) == 150


def test_the_grader_does_not_ask_the_builder(text_task):
    code = (
        f"import sys, scbench.graders.{text_task.id}; "
        "print(*(name for name in sys.modules if name.startswith('scbench.builders')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_grader_names_its_checks(task):
    assert task.grader_version >= 1
    assert task.builder.version >= 1
    assert task.builder.task == task.id
    assert task.checks
    assert all(text.endswith(".") for text in task.checks.values())
