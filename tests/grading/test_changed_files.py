"""Predictions that another program replaces, cuts, extends or removes while they are read."""

import gzip
import json
import os

import polars as pl
import pytest

from scbench.formats.imports.gather import ImportOptions, read_file
from scbench.formats.predictions import CHANGED_FILE, open_predictions
from scbench.grading.options import Options, import_files
from scbench.grading.run import grade_file
from scbench.grading.workers.scheduler import WorkerLimits

# Makes the file larger than the portions that are read at once.
PADDING = " " * 1_000_000
ANSWERS = [{"bit": number % 2} for number in range(4)]


def replace(path, data):
    other = path.with_name("other")
    other.write_bytes(data.replace(b'"bit": 1', b'"bit": 0'))
    other.replace(path)


def cut(path, data):
    os.truncate(path, len(data) * 2 // 3)


def extend(path, data):
    with path.open("ab") as file:
        file.write(data)


def remove(path, _data):
    path.unlink()


CHANGES = [replace, cut, extend, remove]


@pytest.fixture
def lines():
    """Lines in our format, and of a batch."""
    ours = []
    batch = []
    for number, answer in enumerate(ANSWERS):
        row = {"id": f"parity/{number:02d}", "model": "m", "answer": answer}
        ours.append(json.dumps(row) + PADDING + "\n")
        reply = {"message": {"content": json.dumps(answer)}, "finish_reason": "stop"}
        entry = {
            "custom_id": row["id"],
            "response": {
                "status_code": 200,
                "body": {"model": "m", "choices": [reply]},
            },
        }
        batch.append(json.dumps(entry) + PADDING + "\n")
    return {"ours": "".join(ours).encode(), "batch": "".join(batch).encode()}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", ["plain", "gzip", "batch"])
def test_changed_file_is_reported_and_no_answer_is_graded_wrongly(
    lines, form, change, parity_release, tmp_path, monkeypatch
):
    path = tmp_path / "predictions.jsonl"
    data = lines["batch" if form == "batch" else "ours"]
    if form == "gzip":
        # Incompressible, so that the packed file is large as well.
        data = gzip.compress(data, compresslevel=0)
    path.write_bytes(data)

    def change_when_opened(name):
        stream = open_predictions(name)
        stream.read(0)
        change(path, data)
        return stream

    def change_after_first_entry(*arguments):
        for place, entry in enumerate(read_file(*arguments)):
            if place == 0:
                change(path, data)
            yield entry

    monkeypatch.setattr("scbench.grading.run.open_predictions", change_when_opened)
    monkeypatch.setattr(
        "scbench.formats.imports.gather.read_file", change_after_first_entry
    )
    out = tmp_path / "out"
    name, imported = import_files([str(path)], out, ImportOptions())
    assert (imported is not None) == (form == "batch")
    if imported is not None:
        monkeypatch.undo()
    limits = WorkerLimits(1, None, 0)
    options = Options(
        name, parity_release, out, limits, tasks=["parity"], imported=imported
    )
    report = grade_file(options)
    assert report.exit_code == 1
    assert report.problem_counts["changed_file"] == 1
    messages = [problem.message for problem in report.problems]
    assert CHANGED_FILE.message in messages
    graded = pl.read_parquet(out / "results.parquet").filter(pl.col("score") == 1)
    # Items 0 and 2 have the bit 0.
    assert not {*graded["id"]} - {f"parity/{number:02d}" for number in range(4)}
    assert graded.height <= len(ANSWERS)
