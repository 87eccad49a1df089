"""Output folders: only files written by a run are ever overwritten."""

import errno
import json
from pathlib import Path

import polars as pl
import pytest

from scbench.analysis.result_files import is_partial
from scbench.base.errors import MachineError, ResultsError
from scbench.grading.checkpoint import Checkpoint
from scbench.grading.merge import read_shard
from scbench.grading.options import Options
from scbench.grading.output import (
    Problems,
    check_place,
    check_report,
    first_source,
    summary_of,
)
from scbench.grading.results import ResultsWriter
from scbench.grading.run import resumable_on_error
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.report.page import summaries_of

SUMMARY = {
    "release": {"version": "4.0.0"},
    "predictions": {"file": "a.jsonl", "files": ["../a.jsonl"]},
    "options": {},
    "shard": None,
}


def test_unknown_files_are_not_overwritten(
    tmp_path,
):
    for name in ("report.html", "results.parquet"):
        (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(ResultsError, match="is not a report by scbench"):
        check_report(tmp_path / "report.html", "-")
    with pytest.raises(ResultsError, match="was not written by scbench-grade"):
        check_place(tmp_path, ["-"], "9.9.9", None, begun=False, restart=True)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[]",
        "null",
        "NaN",
        "\ud800",
        *(
            json.dumps(SUMMARY | change)
            for change in (
                {"release": "4.0.0"},
                {"predictions": {"file": "a.jsonl", "files": [1]}},
                {"predictions": {"file": "a.jsonl", "files": "a"}},
                {"options": []},
                {"shard": 1},
            )
        ),
        json.dumps({key: SUMMARY[key] for key in ("release", "predictions")}),
    ],
)
def test_foreign_summary_is_not_ours(tmp_path, text):
    data = text.encode("utf-8", "surrogatepass")
    (tmp_path / "summary.json").write_bytes(data)
    assert summary_of(tmp_path) is None
    assert first_source(tmp_path) is None
    assert not is_partial(tmp_path)
    assert all(isinstance(value, dict) for value in summaries_of([tmp_path]))
    with pytest.raises(ResultsError):
        read_shard(tmp_path)
    (tmp_path / "results.parquet").write_bytes(b"mine")
    with pytest.raises(ResultsError, match="was not written by scbench-grade"):
        check_place(tmp_path, ["-"], "4.0.0", {}, begun=False, restart=True)


def test_our_summary_is_recognized(tmp_path):
    (tmp_path / "summary.json").write_text(json.dumps(SUMMARY))
    assert summary_of(tmp_path) == SUMMARY
    assert first_source(tmp_path) == "../a.jsonl"


def test_a_full_disk_is_named_though_the_library_names_none(tmp_path, monkeypatch):
    def sink_parquet(*_arguments, **_options):
        raise pl.exceptions.ComputeError("Invalid thrift: transport error")

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", sink_parquet)
    writer = ResultsWriter(tmp_path / "rows")
    with pytest.raises(OSError, match="No space left") as caught:
        writer.write(Path("/dev/full"))
    assert caught.value.errno == errno.ENOSPC
    with pytest.raises(pl.exceptions.ComputeError):
        writer.write(tmp_path / "results.parquet")


@pytest.mark.parametrize(
    ("has_resume", "hint"),
    [
        (True, "results so far are saved; continue with --resume"),
        (False, "run the same command again"),
    ],
)
def test_full_disk_names_only_options_that_the_command_has(
    parity_release, tmp_path, has_resume, hint
):
    limits = WorkerLimits(1, None, 0)
    out = tmp_path / "out"
    options = Options("x", parity_release, out, limits, has_resume=has_resume)
    checkpoint = Checkpoint(out, "identity", resume=False, restart=False)
    checkpoint._store.add("chunk", b"graded")
    problems = Problems(tmp_path / "problems.jsonl")
    with (
        pytest.raises(MachineError, match=f"the disk is full; {hint}"),
        resumable_on_error(options, checkpoint, problems),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
