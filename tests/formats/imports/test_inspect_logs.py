"""Inspect logs, written and read by the real library."""

import io
import json
import zipfile
from collections import Counter
from importlib.util import find_spec

import pytest
from later import Later

from scbench.base.errors import PredictionsError
from scbench.formats.imports.files import read_file
from scbench.formats.imports.gather import gather, is_own

written = Later("written_logs")
pytestmark = pytest.mark.skipif(not find_spec("inspect_ai"), reason="extra [inspect]")


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
    return written.write_log(tmp_path / name, written.SAMPLES, listed=listed)


def test_every_sample_has_its_status(log):
    assert not is_own(str(log))
    sink = io.BytesIO()
    gathered = gather([str(log)], sink)
    lines = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert {line["model"] for line in lines} == {"M"}
    by_sample = {(line["id"], line.get("sample", 0)): line for line in lines}
    assert len(by_sample) == len(written.SAMPLES) - 1
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
    assert gathered.recognised == f"{log}: Inspect log ({len(written.SAMPLES)})"


def test_samples_before_a_damaged_one_are_read(tmp_path):
    path = written.write_log(tmp_path / "log.eval", written.SAMPLES[:4])
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


def test_archive_stays_within_the_memory_limit_of_a_child(tmp_path, monkeypatch):
    """Twenty million lists take kilobytes compressed and gigabytes as objects; sizes may lie."""
    sound = written.write_log(tmp_path / "sound.eval", written.SAMPLES[:1])
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


def test_duplicate_members_are_refused(tmp_path):
    path = written.write_log(tmp_path / "log.eval", written.SAMPLES[:1])
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
    path = written.write_log(tmp_path / "log.eval", written.SAMPLES[:1])
    write_archive(path, (members_of(path) | {name: b"{}"}).items())
    before = sorted(tmp_path.parent.iterdir())
    assert len(list(read_file(str(path), Counter()))) == 1
    assert sorted(tmp_path.parent.iterdir()) == before
