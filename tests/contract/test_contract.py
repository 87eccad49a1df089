"""The contract of every registered task. New tasks join by being in the catalogue."""

import json
import random
from pathlib import Path
from typing import get_args

import pytest
from contract import (
    FRESH_SEEDS,
    JUNK,
    attempts,
    items,
    lengthy,
    mutate,
    newest_list,
    nth_item,
    places,
    right_answer,
    score,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from later import Later
from pydantic import ValidationError

from scbench.base.canonical import canonical_json
from scbench.base.model import Difficulty
from scbench.builders.shared.builder import Builder
from scbench.catalog import MANIFOLDS, Task, available_tasks, get_task
from scbench.schemas.base import json_schema
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.judge import judge

jsonschema_rs = Later("jsonschema_rs")

DATA = Path(__file__).parent.parent / "data"
LONG = 32
"""Shorter parts are often in the prompt: the start of a path, the name of a class."""
# The tolerance between the score of an honest mistake and the task's formula.
HONEST = 0.05


def test_paper_items_have_a_difficulty(task):
    listed = task.builder().paper()
    assert bool(listed) == (task.bucket != MANIFOLDS)
    for i, item in enumerate(listed):
        assert item.difficulty in get_args(Difficulty), f"{task.id}/{i:02d}"


def test_card_text_starts_with_asks_for(task):
    assert task.card_text.startswith("**Asks for** ")


def test_params_round_trip_through_canonical_json(task):
    for params, _, _ in items(task.id):
        text = canonical_json(params.model_dump(mode="json"))
        assert task.params_model.model_validate_json(text) == params


def test_prompt_is_stable_and_names_the_answer_keys(task):
    schema = json_schema(task.answer_model)
    for params, _, _ in items(task.id):
        prompt = task.builder().prompt(params)
        assert prompt == task.builder().prompt(params)
        for key in schema.get("properties", {}):
            assert f'"{key}"' in prompt


def texts(answer) -> set[str]:
    """Return the answer and its long parts as a prompt might print them, without spaces."""
    result = set()
    for path in places(answer):
        part = answer
        for key in path:
            part = part[key]
        written = [canonical_json(part), json.dumps(part)]
        if isinstance(part, str):
            written = [part]
        is_whole_answer = isinstance(answer, dict) and part is answer
        for text in written:
            plain = "".join(text.split())
            if is_whole_answer or len(plain) >= LONG:
                result.add(plain)
    return result


def test_prompts_do_not_print_their_answers(task):
    prompts, right = [], []
    for params, reference, _ in items(task.id):
        prompts.append("".join(task.builder().prompt(params).split()))
        right.append(texts(reference))
    for i, prompt in enumerate(prompts):
        for text in right[i]:
            if text not in prompt:
                continue
            # An example of the format may happen to be right if other prompts have it, too.
            pairs = zip(prompts, right, strict=True)
            is_example = any(text in other and text not in its for other, its in pairs)
            assert is_example, f"the prompt of {task.id}/{i:02d} prints {text[:60]}"


def test_published_schema_accepts_references_and_rejects_unknown_keys(task):
    schema = json_schema(task.answer_model)
    validator = jsonschema_rs.validator_for(schema)
    for _, reference, _ in items(task.id):
        assert validator.is_valid(reference)
        if isinstance(reference, dict):
            assert not validator.is_valid({**reference, "extra": 1})


def test_references_score_1(task):
    # Verifying the frozen release grades every reference, so two of a lengthy task are enough.
    count = 2 if lengthy(task) else None
    for i, (params, reference, _) in enumerate(items(task.id)[:count]):
        assert score(task, params, reference) == 1, f"{task.id}/{i:02d}"


def test_specification_references_score_1(task):
    path = DATA / "spec_references" / f"{task.id}.json"
    if not path.exists():
        # A frozen task needs references from an independent source.
        assert task.id not in newest_list()
        return
    stored = json.loads(path.read_text())
    assert len(stored) == len(task.builder().paper())
    for i, answers in enumerate(stored):
        params, _, _ = nth_item(task.id, i)
        for answer in answers:
            assert score(task, params, answer) == 1, f"{task.id}/{i:02d}"


def test_counter_references_score_below_1(task):
    # test_verdicts.py grades all stored answers.
    is_stored = (DATA / "verdicts" / f"{task.id}.tsv").exists()
    for i, (params, reference, counters) in enumerate(items(task.id)):
        assert len(counters) >= 3
        for name, answer in counters.items():
            label = f"{task.id}/{i:02d} {name}"
            # Compare as text, because in Python True == 1.
            assert canonical_json(answer) != canonical_json(reference), label
            assert is_stored or score(task, params, answer) < 1, label


def test_honest_faults_score_by_the_formula(task):
    builder = task.builder()
    if type(builder).honest_faults is Builder.honest_faults:
        return  # saves making references
    count = 2 if lengthy(task) else None
    for i, (params, _, _) in enumerate(items(task.id)[:count]):
        for name, (answer, expected) in builder.honest_faults(params).items():
            result = score(task, params, answer)
            label = f"{task.id}/{i:02d} {name}"
            assert result == pytest.approx(expected, abs=HONEST), label


def test_unknown_keys_are_noted_and_ignored(task):
    params, reference, _ = nth_item(task.id, 0)
    for verdict in judge(task, params, {**reference, "why": "because"}):
        assert verdict.score == 1
        assert any("'why'" in note for note in verdict.notes)


def could_be_right(task: Task, junk) -> bool:
    """Return whether junk may be right: a number, a truth value, or a repeated entry."""
    shape = shape_of(task.answer_model)
    if not shape.is_short:
        return False
    if shape.is_list and junk == ["a"] * 100:
        return True
    return isinstance(junk, bool | int | float) or junk == {"answer": 1}


def test_junk_scores_below_1_and_never_raises(task):
    known = items(task.id)
    junks = JUNK[::3] if lengthy(task) else JUNK
    for params, reference, _ in known[:: max(1, len(known) // 3)]:
        keys = list(reference) if isinstance(reference, dict) else []
        for junk in junks:
            fair = could_be_right(task, junk)
            assert score(task, params, junk) < 1 or fair
            for key in keys:
                given = score(task, params, {**reference, key: junk})
                assert given < 1 or fair or junk == reference[key]
        for key in json_schema(task.answer_model).get("required", ()):
            rest = {k: value for k, value in reference.items() if k != key}
            assert score(task, params, rest) < 1


@pytest.mark.parametrize("task_id", [task.id for task in available_tasks()])
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 4), pick=st.integers(0, 10**6))
def test_mutations_never_raise(task_id, seed, steps, pick):
    task = get_task(task_id)
    rng = random.Random(seed)
    if lengthy(task) and seed % 4:
        return  # a quarter of the examples is enough
    params, reference, counters = nth_item(task_id, pick)
    if lengthy(task):  # counter-references are short
        reference = rng.choice(list(counters.values()))
    answer = {"it": reference}
    for _ in range(steps):
        answer = mutate(answer, rng) or {"it": None}
        if not answer:
            break
    score(task, params, answer.get("it"), again=True)


def test_fresh_items_are_repeatable_distinct_and_solved(task):
    builder = task.builder()
    point = builder.get_generation_schema()()
    cases = [builder.case(point, seed) for seed in FRESH_SEEDS]
    assert cases[0] == task.builder().case(point, 0)
    inputs = {case.input for case in cases}
    assert len(inputs) == len(cases), "neighbouring seeds share an item"
    for i, case in enumerate(cases[:3] if task.heavy else cases):
        params = task.params_model.model_validate(case.instance)
        reference = right_answer(task, case.target)
        assert score(task, params, reference) == 1
        if task.heavy and i:
            continue
        counters = builder.counter_references(params)
        assert len(counters) >= 3
        # `test_verdicts.py` grades all of them on the paper's items.
        names = list(counters)[:5] if lengthy(task) else counters
        for name in names:
            assert score(task, params, counters[name]) < 1, name


def test_generate_random_follows_its_schemas(task):
    builder = task.builder(random.Random(7))
    cases = builder.generate_random(count=3)
    assert cases == task.builder(random.Random(7)).generate_random(count=3)
    fields = builder.get_generation_schema().model_fields
    # Later parameters are omitted at their defaults, so that names of streams do not change.
    named = {name for name, field in fields.items() if field.exclude_if is None}
    for case in cases:
        assert builder.get_result_schema().model_validate(case).seed == case["seed"]
        assert set(case["params"]) == named - {"count"}
    with pytest.raises(ValidationError, match="count"):
        builder.generate_random(count=0)
    with pytest.raises(ValidationError, match="no_such_knob"):
        builder.generate_random(no_such_knob=1)


def test_out_of_range_parameters_are_rejected_with_name_and_limit(task):
    builder = task.builder()
    properties = json_schema(builder.get_generation_schema())["properties"]
    for name, schema in properties.items():
        step = schema.get("multipleOf", 1)
        for limit, away in (("minimum", -step), ("maximum", step)):
            if limit not in schema:
                continue
            value = schema[limit] + away
            with pytest.raises(ValidationError) as caught:
                builder.generate_random(**{name: value})
            (error,) = caught.value.errors()
            assert error["loc"] == (name,)
            assert schema[limit] in error["ctx"].values()
            assert error["input"] == value


def test_every_listed_check_is_triggered(task):
    missing = set(task.checks)
    for params, answer in attempts(task):
        for verdict in judge(task, params, answer):
            made = [check.id for check in verdict.checks if check.passed is not None]
            missing -= set(made)
        if not missing:
            break
    assert not missing, "no answer tried triggers these: are they of this grader?"
