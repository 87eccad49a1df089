"""The additional contract of text tasks."""

import json

import pytest
from contract import fresh_cases, score

from scbench.base.canonical import canonical_json
from scbench.catalog import MANIFOLDS, Task, available_tasks
from scbench.scoring.answers.extract import from_field, from_response
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.outcomes import readable_by

TEXTS = [task for task in available_tasks() if task.bucket == MANIFOLDS]


@pytest.fixture(params=TEXTS, ids=str)
def text_task(request) -> Task:
    return request.param


def test_cases_contain_facts_but_no_answer(text_task):
    builder = text_task.builder()
    for case in fresh_cases(text_task.id):
        params = text_task.params_model.model_validate(case.instance)
        point = builder.point_of(case)
        assert point == case.params | builder.facts(params)
        assert not case.params.keys() & builder.facts(params).keys()
        canonical_json(point)
        assert 0 <= builder.blind_floor(params) <= 1
        assert not case.instance.keys() & {"answer", "target", "value", "solution"}
        assert case.instance.keys() == text_task.params_model.model_fields.keys()
        assert builder.prompt(params) == case.input


def test_drawn_rows_follow_from_the_item_alone(text_task):
    builder = text_task.builder()
    for knobs in ({}, *builder.extremes):
        make = builder.rows_at(builder.space(**knobs))
        for row in map(make, range(100)):
            params = text_task.params_model.model_validate(row["instance"])
            assert list(row) == list(builder.case_model.model_fields)
            recomputed = {
                "instance": params.model_dump(mode="json"),
                "input": builder.prompt(params),
                "target": builder.target(params),
                **builder.facts(params),
            }
            # Compare as text, because in Python True == 1 == 1.0.
            assert json.dumps(row | recomputed) == json.dumps(row)
            assert json.dumps(recomputed["instance"]) == json.dumps(row["instance"])


def test_target_is_right_in_any_format(text_task):
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
        readable = readable_by(text_task, params)
        read = (from_response(text, shape, readable) for text in replies)
        given = [from_field(case.target, shape), *read]
        for result in given:
            assert score(text_task, params, result.value) == 1
