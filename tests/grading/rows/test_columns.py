"""Columns: packed by workers, they become the rows that one would make one by one."""

import io
import json

import polars as pl
import pytest

from scbench.canonical import sha256
from scbench.catalog import get_task
from scbench.grading.rows.columns import Columns, Completer, Head, encode, text_bytes
from scbench.grading.rows.index import contents_of
from scbench.grading.rows.schema import RowMaker, results_frame, results_schema
from scbench.grading.rows.wire import Packed, Scored
from scbench.predictions import parse_line
from scbench.release.load import find_release

TASKS = ("interlocking_parts", "two_segments")
PART = Scored(0.5, ["a", "b"], '[{"id":"a"}]', '{"x":1}', ["note \u2028 💥"])
OUTCOMES = [
    Packed("answered", (PART,), "", '{"segments":[]}', "fence", ["unwrapped_fence"]),
    Packed("unparsed", (PART._replace(score=0.0, notes=[]),), "why", None, None, []),
    Packed("api_error", (), "HTTP 500", None, None, []),
    Packed("answered", (Scored(1.0, [], "[]", "{}", []),), "", "{}", "answer", []),
]
FIELDS = [
    {"response": "  text ", "usage": {"cost": 0.5, "seconds": 2.0}, "finish_reason": "stop"},
    {"answer": {"x": 1}, "model": "ü", "setting": "tools", "sample": 3, "budget": 64},
    {"error": "HTTP 500", "model": "ü"},
    {"answer": {}, "model": "ü", "budget": 0},
]


@pytest.fixture(scope="module")
def release():
    return find_release()


@pytest.fixture(scope="module")
def contents(release):
    return contents_of(release, [get_task(name) for name in TASKS])


def lines(row_id: str):
    return [
        parse_line(json.dumps({"id": row_id, **fields}).encode(), number)
        for number, fields in enumerate(FIELDS, 5)
    ]


@pytest.mark.parametrize("row_id", ["two_segments/03", "interlocking_parts/00"])
def test_columns_give_the_rows_that_are_made_one_by_one(release, contents, row_id):
    instance = release.instances()[row_id]
    task = get_task(instance.task)
    columns, rows = Columns(Completer(contents)), []
    maker = RowMaker(release.version, release.manifest.rows_hash)
    for line, outcome in zip(lines(row_id), OUTCOMES, strict=True):
        whole = outcome._replace(scores=outcome.scores * instance.scores)
        columns.add(Head.of(line, contents.known.positions[row_id]), whole)
        rows += maker.graded(line, sha256(line.data), instance, task, whole)
    found = pl.read_ipc(io.BytesIO(encode(columns.frame())))
    assert found.schema == results_schema()
    assert found.equals(results_frame(rows))


def test_items_outside_the_release_and_missing_ones_have_rows_without_a_score(contents):
    columns = Columns(Completer(contents))
    line = parse_line(b'{"id": "csg_union/03", "model": "m", "response": " x "}', 9)
    columns.add_outside(Head.of(line, 0), "boolean", 3)
    columns.add_missing(contents.known.positions["interlocking_parts/00"], ("m", None, 0, None))
    outside, *missing = columns.frame().to_dicts()
    assert (outside["line"], outside["id"], outside["bucket"]) == (9, "boolean/03", "manifolds")
    assert (outside["status"], outside["instance_hash"], outside["response_characters"]) == (
        "not_run", None, 1,
    )  # fmt: skip
    assert "does not hold boolean" in outside["reason"]
    assert [row["subtask"] for row in missing] == list(range(9))
    assert {(row["line"], row["status"], row["reason"]) for row in missing} == {
        (None, "missing", "no prediction")
    }
    assert all(row["grader_version"] and row["instance_hash"] for row in missing)


def test_no_rows_are_no_bytes_and_a_frame_of_no_rows(contents):
    columns = Columns(Completer(contents))
    found = columns.frame()
    assert encode(found) == b""
    assert text_bytes(found) == 0
    assert found.schema == results_schema()
    assert found.equals(pl.DataFrame(schema=results_schema()))
