"""Files of every format become one stream of predictions, and nothing is lost."""

import gzip
import io
import json
import zipfile

import jiter
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.base.errors import PredictionsError
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.gather import ImportOptions, gather, is_own
from scbench.formats.imports.tables import read_mapping
from scbench.formats.predictions import parse_line

REPLIES = {
    "two_segments/07": 'Answer: {"segments": []}',
    "csg_union/03-terse": "naïve\n\u2028text",
    "b001f663:csg_union/ladder-03-2": "",
}

KEYS = [
    "id",
    "custom_id",
    "key",
    "response",
    "error",
    "result",
    "message",
    "content",
    "choices",
    "body",
    "doc",
    "doc_id",
    "resps",
    "traces",
    "task",
    "data",
    "nodes",
    "calls",
    "metadata",
    "candidates",
    "parts",
    "text",
    "status",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


def taken(path, **expected) -> tuple[list[dict], list[str]]:
    """Return the predictions of a file and its problems; every line is valid."""
    sink = io.BytesIO()
    gathered = gather([str(path)], sink, ImportOptions(**expected))
    lines = sink.getvalue().splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        assert parse_line(line, number).prediction
        assert gathered.origin(number)[0] == str(path)
    return [json.loads(line) for line in lines], [
        str(problem) for problem in gathered.problems
    ]


def written(tmp_path, entries, name="file.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), "utf-8")
    return path


def own(row_id, text):
    return {"id": row_id, "model": "M", "response": text}


def chat(row_id, text):
    body = {
        "model": "M",
        "choices": [{"finish_reason": "stop", "message": {"content": text}}],
    }
    name = RequestKey(row_id).custom_id
    return {
        "id": "b",
        "custom_id": name,
        "response": {"status_code": 200, "body": body},
    }


def claude(row_id, text):
    by_id = {
        "model": "M",
        "stop_reason": "end_turn",
        "content": [{"type": "text", "text": text}],
    }
    result = {"type": "succeeded", "message": by_id}
    return {"custom_id": RequestKey(row_id).custom_id, "result": result}


def google(row_id, text):
    made = {"finishReason": "STOP", "content": {"parts": [{"text": text}]}}
    body = {"modelVersion": "M", "candidates": [made]}
    return {"key": RequestKey(row_id).custom_id, "response": body}


def harness(row_id, text):
    message = {
        "filter": "none",
        "resps": [[text]],
        "filtered_resps": [text],
        "metrics": ["score"],
    }
    return {
        "doc_id": 0,
        "doc": {"id": row_id},
        "target": "",
        "score": float("nan"),
        **message,
    }


def episode(row_id, text):
    nodes = [
        {"message": {"role": "user", "content": "Q"}},
        {"message": {"role": "assistant", "content": text}},
    ]
    call = {"model": "M", "finish_reason": "stop", "usage": None}
    trace = {"agent": "a", "nodes": nodes, "calls": [call], "errors": []}
    return {
        "id": "e",
        "task": {"type": "T", "data": {"id": row_id}, "key": row_id},
        "traces": [trace],
    }


FORMS = [own, chat, claude, google, harness, episode]


@pytest.mark.parametrize("form", FORMS)
def test_every_format_gives_the_same_replies(tmp_path, form):
    path = written(tmp_path, [form(*pair) for pair in REPLIES.items()])
    lines, problems = taken(path, model=None if form is not harness else "M")
    assert problems == []
    assert {line["id"]: line["response"] for line in lines} == REPLIES
    assert {line["model"] for line in lines} == {"M"}
    assert is_own(str(path)) is (form is own)


def test_details_of_lighteval(tmp_path):
    path = tmp_path / "details.parquet"
    rows = [
        {
            "doc": {"query": "Q", "id": str(i), "specific": {"id": row_id}},
            "metric": {"score": 1.0},
            "model_response": {
                "text": [text, "again"],
                "reasonings": ["hm", None],
                "input_tokens": [1, 2, 3],
                "output_tokens": [[4, 5], [6]],
            },
        }
        for i, (row_id, text) in enumerate(REPLIES.items())
    ]
    pl.DataFrame(rows).write_parquet(path)
    lines, problems = taken(path, model="M")
    assert problems == []
    first = [line for line in lines if "sample" not in line]
    assert {line["id"]: line["response"] for line in first} == REPLIES
    assert first[0]["usage"] == {"input_tokens": 3, "output_tokens": 2}
    assert first[0]["reasoning"] == "hm"
    assert {line["response"] for line in lines if line.get("sample") == 1} == {"again"}


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl", "t.tsv"])
def test_tables_with_other_column_names(tmp_path, name):
    path = tmp_path / name
    frame = pl.DataFrame(
        {
            "item": list(REPLIES),
            "output": list(REPLIES.values()),
            "n": [0, 1, 2],
            "id": [7, 8, 9],
        }
    )
    match path.suffix:
        case ".parquet":
            frame.write_parquet(path)
        case ".jsonl":
            frame.write_ndjson(path)
        case suffix:
            frame.write_csv(path, separator="\t" if suffix == ".tsv" else ",")
    mapped = read_mapping("id=item,response=output,sample=n")
    assert not is_own(str(path), mapped)
    lines, problems = taken(path, mapped=mapped, model="M", setting="tools")
    assert problems == []
    assert [line["id"] for line in lines] == list(REPLIES)
    assert [line.get("sample", 0) for line in lines] == [0, 1, 2]
    assert {line["setting"] for line in lines} == {"tools"}
    # An empty cell of CSV is no reply; an empty text elsewhere is one.
    message = [line.get("response", "") for line in lines]
    assert message == list(REPLIES.values())
    assert ("response" in lines[-1]) is (path.suffix not in {".csv", ".tsv"})


def test_lists_and_jobs_are_read_whole(tmp_path):
    pairs = list(REPLIES.items())
    as_list = tmp_path / "list.json"
    as_list.write_text(json.dumps([claude(*pair) for pair in pairs], indent=2))
    job = tmp_path / "job.json"
    inlined = [
        {
            "metadata": {"key": google(*pair)["key"]},
            "response": google(*pair)["response"],
        }
        for pair in pairs
    ]
    job.write_text(
        json.dumps({"name": "j", "dest": {"inlinedResponses": inlined}}, indent=2)
    )
    for path in (as_list, job):
        assert not is_own(str(path))
        lines, problems = taken(path)
        assert problems == []
        assert {line["id"]: line["response"] for line in lines} == REPLIES


def test_error_file_without_a_model_uses_that_of_its_output_file(tmp_path):
    good = written(tmp_path, [chat("two_segments/07", "x")], "out.jsonl")
    error = {"code": "batch_expired", "message": "m"}
    failed = [
        {"id": "b", "custom_id": "two_segments-08", "response": None, "error": error}
    ]
    request = {
        "custom_id": "two_segments-09",
        "status": "not_run",
        "error": "needs vision",
    }
    bad = written(tmp_path, [*failed, request], "err.jsonl")
    sink = io.BytesIO()
    gathered = gather([str(bad), str(good)], sink)
    lines = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert gathered.problems == []
    assert {line["model"] for line in lines} == {"M"}
    assert [line.get("status") for line in lines] == [None, "api_error", "not_run"]
    assert [gathered.origin(number) for number in (1, 2, 3)] == [
        (str(good), 1),
        (str(bad), 1),
        (str(bad), 2),
    ]
    assert "err.jsonl: OpenAI batch (1), requests left out (1)" in gathered.recognised


def test_error_is_given_to_neither_of_two_models(tmp_path):
    path = written(tmp_path, [own_model("M"), own_model("N"), failing()])
    lines, problems = taken(path)
    assert len(lines) == 2
    assert len(problems) == 1
    assert "line 3: the entry names no model" in problems[0]
    lines, problems = taken(path, model="O")
    assert {line["model"] for line in lines} == {"O"}
    assert problems == []


def own_model(name):
    made = chat("two_segments/07", "x")
    made["response"]["body"]["model"] = name
    return made


def failing():
    return {
        "id": "b",
        "custom_id": "two_segments-08",
        "response": None,
        "error": {"code": "e"},
    }


def test_repeats_and_rollouts_are_samples_and_filters_are_not(tmp_path):
    line = harness("two_segments/07", "a") | {"resps": [["a", "b"]]}
    path = written(tmp_path, [line, line | {"filter": "strict"}])
    lines, problems = taken(path)
    assert [(line.get("sample", 0), line["response"]) for line in lines] == [
        (0, "a"),
        (1, "b"),
    ]
    assert problems == []
    path = written(
        tmp_path, [episode("two_segments/07", "a"), episode("two_segments/07", "b")]
    )
    lines, problems = taken(path)
    assert [(line.get("sample", 0), line["response"]) for line in lines] == [
        (0, "a"),
        (1, "b"),
    ]


def test_failed_rollout_is_no_answer(tmp_path):
    one = episode("two_segments/07", "x")
    one["traces"][0] |= {
        "nodes": [],
        "errors": [{"type": "ModelError", "message": "m"}],
    }
    two = episode("two_segments/08", "x") | {
        "traces": [],
        "errors": [{"message": "lost"}],
    }
    call = {"prompt_tokens": 4, "completion_tokens": 5, "cached_input_tokens": 3}
    three = episode("two_segments/09", "x")
    three["traces"][0]["calls"] = [
        {"model": "M", "finish_reason": "length", "usage": call}
    ] * 2
    lines, problems = taken(written(tmp_path, [one, two, three]))
    assert problems == []
    by_id = {line["id"]: line for line in lines}
    assert by_id["two_segments/07"]["error"] == "ModelError: m"
    assert by_id["two_segments/08"]["error"] == "lost"
    assert by_id["two_segments/09"]["status"] == "truncated"
    assert by_id["two_segments/09"]["usage"] == {
        "input_tokens": 14,
        "output_tokens": 10,
    }


def test_unassignable_line_is_named_and_the_rest_is_read(tmp_path):
    path = tmp_path / "out.jsonl"
    good, strange = chat("two_segments/07", "x"), chat("two_segments/08", "y")
    strange["custom_id"] = "request-17!"
    rows = [json.dumps(good), "{broken", json.dumps(strange), '{"a": 1}', "", "[1]"]
    path.write_text("\n".join(rows) + "\n")
    lines, problems = taken(path)
    assert len(lines) == 1
    assert [problem.partition(": ")[0] for problem in problems] == [
        f"{path}, line {number}" for number in (2, 3, 4, 6)
    ]


def test_own_lines_are_copied_unchanged_including_problems(tmp_path):
    data = b'\xef\xbb\xbf{"id": "a/0"}\n\n{broken\n {"id":"a/1","x": 1e2}'
    path = tmp_path / "own.jsonl.gz"
    path.write_bytes(gzip.compress(data))
    assert is_own(str(path))
    sink = io.BytesIO()
    gathered = gather([str(path), str(path)], sink)
    assert sink.getvalue() == (data + b"\n") * 2
    assert [gathered.origin(n)[1] for n in range(1, 9)] == [1, 2, 3, 4] * 2


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("fault", ["cut", "check sum", "content"])
def test_damaged_gzip_is_a_problem_of_the_file(tmp_path, indent, fault):
    replies = [{"id": f"two_segments/{n:02}", "response": "{}"} for n in range(400)]
    data = bytearray(gzip.compress(json.dumps(replies, indent=indent).encode()))
    if fault == "cut":
        del data[-20:]
    elif fault == "check sum":
        data[-5] ^= 1
    else:
        data[len(data) // 2 :] = b"\xff" * (len(data) - len(data) // 2)
    path = tmp_path / "replies.json.gz"
    path.write_bytes(data)
    try:
        problems = [str(one) for one in gather([str(path)], io.BytesIO()).problems]
    except PredictionsError as error:
        problems = [str(error)]
    assert any(str(path) in problem for problem in problems)


def newer_zip() -> bytes:
    """A zip archive that needs version 25.5 of its format."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("header.json", "{}")
    data = bytearray(packed.getvalue())
    data[data.index(b"PK\x01\x02") + 6] = 255
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PAR1 and no more", "is damaged"),
        (b"PK\x03\x04 and no more", "is a damaged zip archive"),
        (b"ARROW1\0\0 and more", "is an Arrow file; convert its table to Parquet"),
        (newer_zip(), "is a damaged zip archive: zip file version 25.5"),
    ],
)
def test_damaged_files_are_named(tmp_path, data, message):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(PredictionsError, match=message):
        taken(path)


def test_parquet_file_without_the_columns_lists_those_it_has(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"item": ["a/0"], "out": ["x"]}).write_parquet(path)
    with pytest.raises(
        PredictionsError,
        match=r"its columns are item, out. Name the columns with --map",
    ):
        taken(path)
    with pytest.raises(PredictionsError, match="no column 'output'"):
        taken(path, mapped=read_mapping("id=item,response=output"))


@given(st.lists(VALUES, max_size=4))
def test_no_content_raises(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(b"".join(json.dumps(value).encode() + b"\n" for value in values))
    try:
        sink = io.BytesIO()
        gathered = gather([str(path)], sink)
    except PredictionsError:
        return
    lines = sink.getvalue().splitlines(keepends=True)
    assert len(lines) + len(gathered.problems) <= sum(1 for _ in values) * 4
    for number in range(1, len(lines) + 1):
        gathered.origin(number)
        if gathered.kinds != [{"predictions": len(lines)}]:
            jiter.from_json(lines[number - 1])


@pytest.mark.parametrize("bit", [424, 426])
def test_parquet_that_crashes_its_library_is_damaged(tmp_path, bit):
    path = tmp_path / "file.parquet"
    pl.DataFrame({"id": ["two_segments/07"], "response": ["{}"]}).write_parquet(path)
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)
    with pytest.raises(PredictionsError, match="is damaged"):
        gather([str(path)], io.BytesIO())


@pytest.mark.parametrize("indent", [None, 1])
def test_object_keyed_by_id(tmp_path, indent):
    path = tmp_path / "replies.json"
    entries = {
        "two_segments/07": own("two_segments/07", "a"),
        "two_segments/08": {"model": "M", "response": "b"},
        "two_segments/09": "c",
    }
    path.write_text(json.dumps(entries, indent=indent))
    predictions, problems = taken(path, model="M")
    assert problems == []
    assert [(one["id"], one["response"]) for one in predictions] == [
        ("two_segments/07", "a"),
        ("two_segments/08", "b"),
        ("two_segments/09", "c"),
    ]


def test_binary_column_is_named(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"id": ["two_segments/07"], "response": [b"x"]}).write_parquet(path)
    with pytest.raises(PredictionsError, match="'response' has binary values"):
        taken(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_whole_numbers_converted_to_floats_are_read(tmp_path, suffix):
    path = tmp_path / f"table.{suffix}"
    columns = {"id": ["two_segments/07"], "response": ["x"], "model": ["M"]}
    frame = pl.DataFrame(columns | {"budget": [16000.0]})
    getattr(frame, f"write_{suffix}")(path)
    predictions, problems = taken(path)
    assert problems == []
    assert predictions[0]["budget"] == 16000


def test_timeouts_give_their_reason(tmp_path):
    episode = {
        "task": {"data": {"id": "two_segments/07"}},
        "is_timeout": True,
        "traces": [{"nodes": [], "calls": [{"model": "M"}], "errors": []}],
        "errors": [],
    }
    (prediction,), _ = taken(written(tmp_path, [episode]))
    assert prediction["status"] == "api_error"
    assert "time limit" in prediction["error"]


def test_reply_column_named_answer_is_explained(tmp_path):
    path = tmp_path / "table.csv"
    columns = {"id": ["two_segments/07"], "answer": ["I think so."], "model": ["M"]}
    pl.DataFrame(columns).write_csv(path)
    predictions, problems = taken(path)
    assert predictions == []
    (problem,) = problems
    assert "answer is not JSON" in str(problem)
    assert "contains replies in prose, name it response" in str(problem)


def test_csv_row_with_an_unquoted_comma_is_a_problem(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "id,response,sample\n"
        "two_segments/07,x\n"
        "two_segments/07,[1, 2],1\n"
        "two_segments/07,y,2,,\n"
        "two_segments/07\n"
    )
    predictions, problems = taken(path)
    found = [(line.get("response"), line.get("sample", 0)) for line in predictions]
    assert found == [("x", 0), ("y", 2), (None, 0)]
    (problem,) = problems
    assert "the row has 4 values for 3 columns; quote values" in str(problem)


def test_csv_column_that_occurs_twice_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,response,x,x,response\ntwo_segments/07,a,b,c,d\n")
    with pytest.raises(PredictionsError, match="2 columns named 'response'"):
        taken(path)
    path.write_text("id,response,x,x\ntwo_segments/07,a,b,c\n")
    assert taken(path)[1] == []
