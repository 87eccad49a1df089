"""Logs of Inspect, written and read by its real library."""

import io
import json
import zipfile
from collections import Counter

import pytest

from scbench.base.errors import PredictionsError
from scbench.formats.imports.files import read_file
from scbench.formats.imports.gather import gather, is_own
from scbench.formats.imports.inspect_logs import GRADER_FAILED

pytest.importorskip("inspect_ai", reason="extra [inspect]")

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalSample,
    EvalSampleLimit,
    EvalSpec,
    write_eval_log,
)
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
)


def output(content, stop="stop", error=None, **more) -> ModelOutput:
    message = ChatMessageAssistant(content=content, model="M")
    choice = ChatCompletionChoice(message=message, stop_reason=stop)
    return ModelOutput(model="M", choices=[choice], error=error, **more)


def sample(row_id, content="x", stop="stop", epoch=1, **more) -> EvalSample:
    more = {"output": output(content, stop), **more}
    return EvalSample(id=row_id, epoch=epoch, input="Q", target="", **more)


USAGE = ModelUsage(
    input_tokens=9,
    input_tokens_cache_read=100,
    input_tokens_cache_write=20,
    output_tokens=5,
    reasoning_tokens=2,
    total_tokens=134,
)
SAMPLES = [
    sample("two_segments/07", '{"segments": []}', model_usage={"M": USAGE}),
    sample("two_segments/07", "again", epoch=2),
    sample("two_segments-08-S3-B900", [ContentReasoning(reasoning="hm"), ContentText(text="y")]),
    sample("two_segments/09", "cut", "max_tokens"),
    sample("two_segments/10", "cut", "model_length", output=output("cut", "model_length",
        usage=ModelUsage(input_tokens=9, output_tokens=5, total_tokens=14))),
    # Calls that the provider refused are no replies.
    sample("two_segments/22", "too long", "model_length"),
    sample("two_segments/23", "flagged", "content_filter"),
    sample("two_segments/24", output=ModelOutput(), error=EvalError(
        message=repr(ValueError("\nRequest:\n{\n}\n\n" + repr(ValueError(
            "Error code: 400 - {'error': {'code': 'bad', 'message': 'no'}}")))),
        traceback="", traceback_ansi="")),
    sample("two_segments/11", "", "content_filter"),
    sample("two_segments/12", "odd", "unknown"),
    sample("two_segments/13", output=ModelOutput(), error=EvalError(
        message="lost", traceback="", traceback_ansi="")),
    sample("two_segments/14", output=output("", error="HTTP 500")),
    sample("two_segments/15", "late", limit=EvalSampleLimit(type="time", limit=9)),
    sample("two_segments/16", "", limit=EvalSampleLimit(type="operator", limit=1)),
    # What failed after the reply was no fault of the model's.
    *(
        sample(f"two_segments/{place}", "said", error=EvalError(
            message=told, traceback="", traceback_ansi=""))
        for place, told in ((18, "Time limit exceeded. limit: 5 seconds"), (19, GRADER_FAILED))
    ),
    sample("two_segments/20", output=ModelOutput(), error=EvalError(
        message="RetryError(<Future>)", traceback_ansi="",
        traceback="x\nopenai.InternalServerError: 500 - no\n\nThe above exception was the direct "
        "cause of the following exception:\n\ntenacity.RetryError: RetryError[<Future>]")),
    sample(17, metadata={"id": "two_segments/17", "budget": 64}),
    sample(99),
]  # fmt: skip


def write_log(path, samples, *, listed=True):
    """Write the log of a run that broke off: it is read as far as it goes."""
    ids = list({one.id: None for one in samples}) if listed else None
    spec = EvalSpec(
        created="2026-11-22T00:00:00+00:00",
        task="scbench",
        dataset=EvalDataset(sample_ids=ids),
        model="M",
        config=EvalConfig(epochs=2),
    )
    write_eval_log(EvalLog(eval=spec, status="error", samples=samples), str(path))
    return path


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)


@pytest.fixture(params=[("log.eval", True), ("log.eval", False), ("log.json", True)])
def log(request, tmp_path):
    name, listed = request.param
    return write_log(tmp_path / name, SAMPLES, listed=listed)


def test_every_sample_comes_with_what_became_of_it(log):
    assert not is_own(str(log))
    sink = io.BytesIO()
    gathered = gather([str(log)], sink)
    lines = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert {line["model"] for line in lines} == {"M"}
    by_sample = {(line["id"], line.get("sample", 0)): line for line in lines}
    assert len(by_sample) == len(SAMPLES) - 1
    first = by_sample["two_segments/07", 0]
    assert first["response"] == '{"segments": []}'
    assert first["usage"] == {
        "input_tokens": 129,
        "output_tokens": 5,
        "reasoning_tokens": 2,
    }
    assert by_sample["two_segments/07", 1]["response"] == "again"
    again = by_sample["two_segments/08", 3]
    assert (again["budget"], again["reasoning"], again["response"]) == (900, "hm", "y")
    assert by_sample["two_segments/17", 0]["budget"] == 64
    status = {
        row_id[-2:]: line.get("status") for (row_id, _), line in by_sample.items()
    }
    assert status == {
        **dict.fromkeys(("07", "08", "12", "17", "18", "19")),
        **dict.fromkeys(("09", "10", "15"), "truncated"),
        **dict.fromkeys(("13", "14", "16", "20", "22", "24"), "api_error"),
        **dict.fromkeys(("11", "23"), "blocked"),
    }
    errors = {
        row_id[-2:]: line["error"]
        for (row_id, _), line in by_sample.items()
        if "error" in line
    }
    assert (errors["22"], errors["23"], errors["24"]) == (
        "too long",
        "flagged",
        "400 bad: no",
    )
    assert "response" not in by_sample["two_segments/23", 0]
    assert by_sample["two_segments/13", 0]["error"] == "lost"
    assert (
        by_sample["two_segments/20", 0]["error"]
        == "openai.InternalServerError: 500 - no"
    )
    assert len(gathered.problems) == 1
    assert '"99" is neither an item\'s id' in str(gathered.problems[0])
    assert gathered.recognised == f"{log}: Inspect log ({len(SAMPLES)})"


def test_samples_before_a_damaged_one_are_read(tmp_path):
    path = write_log(tmp_path / "log.eval", SAMPLES[:4])
    members = members_of(path)
    members["samples/two_segments-08-S3-B900_epoch_1.json"] = b"half a sample"
    write_archive(path, members.items())
    sink = io.BytesIO()
    gathered = gather([str(path)], sink)
    by_sample = [str(problem) for problem in gathered.problems]
    assert sink.getvalue().count(b"\n") == 2
    assert (
        f"{path}, line 3: reading stopped here: inspect_ai cannot read" in by_sample[-1]
    )


def test_an_archive_takes_no_more_than_a_child_may_hold(tmp_path, monkeypatch):
    """Twenty million lists are kilobytes when packed, and gigabytes as objects; a size may lie."""
    sound = write_log(tmp_path / "sound.eval", SAMPLES[:1])
    path = tmp_path / "log.eval"
    members = members_of(sound)
    (name,) = (name for name in members if name.startswith("samples/"))
    bomb = b'{"bomb":[' + b"[]," * 20_000_000 + b"[]]," + members[name][1:]
    write_archive(path, (members | {name: bomb}).items())
    data = bytearray(path.read_bytes())
    assert len(data) < 2**18
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (7).to_bytes(4, "little")
    path.write_bytes(data)
    monkeypatch.setattr("scbench.machine.children.MEMORY", 3 * 2**29)
    assert len(list(read_file(str(sound), Counter()))) == 1
    with pytest.raises(PredictionsError, match="inspect_ai cannot read"):
        list(read_file(str(path), Counter()))


def test_members_of_one_name_are_refused(tmp_path):
    path = write_log(tmp_path / "log.eval", SAMPLES[:1])
    members = members_of(path)
    with pytest.warns(UserWarning, match="Duplicate name"):
        write_archive(path, [*members.items()] * 2)
    assert len(list(read_file(str(path), Counter()))) == 1  # it was asked twice
    with pytest.warns(UserWarning, match="Duplicate name"):
        write_archive(path, [*members.items()] * 101)
    with pytest.raises(PredictionsError, match="101 files named"):
        list(read_file(str(path), Counter()))


@pytest.mark.parametrize("name", ["../../escaped", "/escaped"])
def test_no_member_leaves_the_archive(tmp_path, name):
    path = write_log(tmp_path / "log.eval", SAMPLES[:1])
    write_archive(path, (members_of(path) | {name: b"{}"}).items())
    before = sorted(tmp_path.parent.iterdir())
    assert len(list(read_file(str(path), Counter()))) == 1
    assert sorted(tmp_path.parent.iterdir()) == before
