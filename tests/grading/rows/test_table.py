"""Columns packed by workers become the same rows as rows made singly."""

import io
import json
from dataclasses import asdict

import polars as pl
import pytest

from scbench.base.canonical import canonical_json, sha256
from scbench.catalog import get_task
from scbench.formats.predictions import parse_line
from scbench.grading.rows.columns import Row, RunKey, column_types
from scbench.grading.rows.index import LineKind, index_of
from scbench.grading.rows.lines import Head, outside_release
from scbench.grading.rows.table import RowMaker, encode
from scbench.grading.rows.wire import WireOutcome, WireVerdict
from scbench.release.load import find_release

TASKS = ("interlocking_parts", "two_segments")
PART = WireVerdict(0.5, ["a", "b"], '[{"id":"a"}]', '{"x":1}', ["note \u2028 💥"])
TURNS = ([0.75] * 9, None)
OUTCOMES = [
    WireOutcome(
        "answered", (PART,), "", '{"segments":[]}', "fence", ["unwrapped_fence"]
    ),
    WireOutcome(
        "unparsed", (PART._replace(score=0.0, notes=[]),), "why", None, None, []
    ),
    WireOutcome("api_error", (), "HTTP 500", None, None, []),
    WireOutcome(
        "answered", (WireVerdict(1.0, [], "[]", "{}", []),), "", "{}", "answer", []
    ),
    WireOutcome(
        "unparsed", (PART._replace(score=0.0, notes=[]),), "why", None, None, []
    ),
    WireOutcome("answered", (PART,), "", "{}", "answer", [], TURNS, 2),
]
FIELDS = [
    {
        "response": "  text ",
        "usage": {"cost": 0.5, "seconds": 2.0},
        "finish_reason": "stop",
    },
    {"answer": {"x": 1}, "model": "ü", "setting": "tools", "sample": 3, "budget": 64},
    {"error": "HTTP 500", "model": "ü"},
    {"answer": {}, "model": "ü", "budget": 0},
    {
        "response": "x",
        "run": {"effort": "high", "tools": [], "temperature": 0.5},
        "prompt_sha256": "0" * 64,
        "reasoning": " long thoughts ",
    },
    {
        "setting": "retry",
        "loop": {"setting": "retry", "attempts": 2},
        "turns": [
            {"action": " x ", "observation": "no"},
            {"action": "yes", "observation": "ok"},
        ],
    },
]


@pytest.fixture(scope="module")
def release():
    return find_release()


@pytest.fixture(scope="module")
def index(release):
    return index_of(release, [get_task(name) for name in TASKS])


def lines(row_id: str):
    return [
        parse_line(json.dumps({"id": row_id, **fields}).encode(), number)
        for number, fields in enumerate(FIELDS, 5)
    ]


def one_by_one(release, line, instance, outcome) -> list[Row]:
    """The rows of a line, with each column as `Row` defines it."""
    given = line.prediction
    scores = (
        outcome.scores or (WireVerdict(None, [], "[]", "{}", []),) * instance.scores
    )
    return [
        Row(
            line=line.number,
            id=instance.id,
            task=instance.task,
            bucket=instance.bucket,
            subtask=instance.subtask + i,
            model=given.model,
            setting=given.setting,
            sample=given.sample,
            budget=given.budget,
            status=outcome.status,
            score=scored.score,
            failed_checks=scored.failed_checks,
            checks=scored.checks,
            metrics=scored.metrics,
            notes=scored.notes,
            reason=outcome.reason,
            answer=outcome.answer if i == 0 else None,
            answer_source=outcome.source,
            repairs=outcome.repairs,
            finish_reason=given.finish_reason,
            response_characters=4
            if given.turns
            else given.response and len(given.response.strip()),
            usage=given.usage
            and canonical_json(given.usage.model_dump(exclude_none=True)),
            run_metadata=given.run
            and canonical_json(given.run.model_dump(mode="json", exclude_none=True)),
            prompt_sha256=given.prompt_sha256,
            reasoning_characters=None
            if given.reasoning is None
            else len(given.reasoning.strip()),
            loop=given.loop
            and canonical_json(given.loop.model_dump(exclude_none=True)),
            turn_scores=outcome.turns and [turn and turn[i] for turn in outcome.turns],
            best_score=None if outcome.turns is None else 0.75,
            queries=outcome.used,
            floor=release.floors().get(instance.id),
            turn_floors=[release.floors()[instance.id]] * given.loop.attempts
            if given.setting == "retry"
            else None,
            prediction_hash=sha256(line.data),
            instance_hash=instance.content_hash,
            grader_version=get_task(instance.task).grader_version,
            release=release.version,
            release_hash=release.manifest.rows_hash,
        )
        for i, scored in enumerate(scores)
    ]


@pytest.mark.parametrize("row_id", ["two_segments/03", "interlocking_parts/00"])
def test_columns_give_the_same_rows_as_single_rows(release, index, row_id):
    instance = release.instances()[row_id]
    product, rows = RowMaker(index), []
    for line, outcome in zip(lines(row_id), OUTCOMES, strict=True):
        whole = outcome._replace(scores=outcome.scores * instance.scores)
        product.add(Head.of(line, index.known_ids.positions[row_id]), whole)
        rows += one_by_one(release, line, instance, whole)
    found = pl.read_ipc(io.BytesIO(encode(product.frame())))
    assert found.schema == column_types()
    assert found.equals(pl.DataFrame(list(map(asdict, rows)), schema=column_types()))


def test_unknown_and_missing_items_have_rows_without_a_score(index):
    rows = RowMaker(index)
    line = parse_line(b'{"id": "boolean/03", "model": "m", "response": " x "}', 9)
    rows.add(*outside_release(index, Head.of(line, LineKind.NOT_IN_RELEASE)))
    rows.add_missing(
        index.known_ids.positions["interlocking_parts/00"], RunKey("m", None, 0, None)
    )
    outside, *missing = rows.frame().to_dicts()
    assert (outside["line"], outside["id"], outside["bucket"]) == (
        9,
        "boolean/03",
        "manifolds",
    )
    assert (outside["status"], outside["instance_hash"], outside["response_characters"]) == (
        "not_run", None, 1,
    )  # fmt: skip
    assert "does not contain boolean" in outside["reason"]
    assert [row["subtask"] for row in missing] == list(range(9))
    assert {(row["line"], row["status"], row["reason"]) for row in missing} == {
        (None, "missing", "no prediction")
    }
    assert all(row["grader_version"] and row["instance_hash"] for row in missing)
