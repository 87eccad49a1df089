"""Whole runs: the same bytes however they are split, interrupted or distributed."""

import gzip
import json
from pathlib import Path

import pytest
import zstandard

from scbench.freezing.example import example_predictions
from scbench.grading.checkpoint import JOURNAL, WORK
from scbench.grading.options import Options
from scbench.grading.output import SUMMARISED
from scbench.grading.rows.columns import Row, RunKey, column_types
from scbench.grading.run import grade_file
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.store import Store


def lines_of(release) -> list[str]:
    """Some chunks of lines: several runs, duplicates in other chunks, a crashing grader, junk."""
    rows = [json.loads(line) for line in example_predictions(release)]
    lines = [
        json.dumps({**row, "sample": sample}) for sample in range(12) for row in rows
    ]
    lines.insert(
        70, json.dumps({"id": "parity/03", "model": "x", "answer": {"bit": 9}})
    )
    lines.insert(
        90, '{"id": "parity/00", "model": "x", "answer": {"bit": 0, "mood": "die"}}'
    )
    lines.insert(95, '{"id": "parity/03", "model": "x", "answer": {"bit": 0}}')
    return [*lines, lines[0], "{", lines[40], '{"id": "csg_union/3"}', "", lines[91]]


@pytest.fixture
def options(parity_release, tmp_path):
    """A function that makes options for a file, or for lines."""

    def make(given, out="out", workers=2, seconds=None, **more) -> Options:
        path = given
        if isinstance(given, list):
            path = tmp_path / "predictions.jsonl"
            path.write_text("\n".join(given) + "\n")
        limits = WorkerLimits(workers, seconds, 0)
        return Options(str(path), parity_release, tmp_path / out, limits, **more)

    return make


def sort_key(row: Row) -> tuple:
    """The order of rows in results: by line, then rows without a line by run and item."""
    missing = row.line is None
    run = (
        RunKey(row.model, row.setting, row.sample, row.budget).order if missing else ()
    )
    return (missing, row.line or 0, *run, row.id, row.subtask)


def results_in(folder: Path) -> bytes:
    return (folder / "results.parquet").read_bytes()


def test_rows_are_in_the_defined_order(options, parity_release):
    report = grade_file(options(lines_of(parity_release)))
    assert report.results.schema == column_types()
    rows = [Row(**row) for row in report.results.to_dicts()]
    keys = [sort_key(row) for row in rows]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert report.grader_errors == 1
    assert report.problem_counts["duplicate"] == 4
    assert [row.status for row in rows if row.line == 91] == ["grader_error"]


def test_bytes_do_not_depend_on_workers_compression_or_interruptions(
    options, parity_release, tmp_path
):
    lines = lines_of(parity_release)
    grade_file(options(lines, "one", workers=1))
    whole = results_in(tmp_path / "one")
    data = (tmp_path / "predictions.jsonl").read_bytes()
    (tmp_path / "p.gz").write_bytes(gzip.compress(data))
    (tmp_path / "p.zst").write_bytes(zstandard.compress(data))
    for limit in (33, 150):

        def stop(rows, size, limit=limit):
            if rows >= limit:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            grade_file(options(lines, f"at {limit}"), stop)
        assert not (tmp_path / f"at {limit}" / "results.parquet").exists()
        # The file may be packed otherwise by now: its lines are the same.
        path = tmp_path / ("p.gz" if limit == 33 else "p.zst")
        report = grade_file(options(path, f"at {limit}", resume=True))
        assert report.resumed >= limit - 1
        assert results_in(tmp_path / f"at {limit}") == whole


def test_hanging_line_does_not_use_up_the_time_of_its_chunk(options, monkeypatch):
    monkeypatch.setattr("scbench.grading.rows.chunks._SIZES", (512,))
    line = '{"id": "parity/03", "sample": %d, "answer": {"bit": 0%s}}'
    lines = [line % (i, ', "mood": "hang"' if i == 400 else "") for i in range(600)]
    report = grade_file(options(lines, seconds=2))
    first, *_, alone = report.incidents
    assert first.startswith(
        "no verdict on a line within 2 s; the lines of a chunk are graded again"
    )
    assert alone == "no verdict within 2 s; graded again alone: parity/03"
    failed = report.results.filter(report.results["status"] == "grader_error")
    assert (401, "no verdict within 2 s (tried twice)") in failed.select(
        "line", "reason"
    ).rows()
    assert report.results["line"].count() == 600


def test_resumed_run_grades_changed_and_failed_lines_again(
    options, parity_release, tmp_path
):
    """It grades the chunk of a changed line, chunks after a new line, and grader failures."""
    lines = [line for line in lines_of(parity_release) if "die" not in line]

    def stop(rows, size):
        if rows > 160:
            raise KeyboardInterrupt

    def interrupted(out):
        with pytest.raises(KeyboardInterrupt):
            grade_file(options(lines, out, workers=1), stop)

    interrupted("changed")
    kept = len(Store(tmp_path / "changed" / WORK / JOURNAL))
    changed = [*lines[:40], lines[40].replace("sample", "sampled"), *lines[41:]]
    report = grade_file(options(changed, "changed", resume=True))
    grade_file(options(changed, "anew"))
    assert results_in(tmp_path / "changed") == results_in(tmp_path / "anew")
    assert report.resumed == 32 * (kept - 1) > 0
    interrupted("other tasks")
    report = grade_file(options(lines, "other tasks", resume=True, tasks=["parity"]))
    assert report.resumed == 0, "a part holds what was chosen then"


@pytest.mark.parametrize("changed", ["package", "grader"])
def test_package_change_before_resuming_is_noticed(
    options, parity_release, monkeypatch, changed
):
    lines = [line for line in lines_of(parity_release) if "die" not in line]

    def stop(rows, size):
        if rows > 160:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_file(options(lines, workers=1), stop)
    if changed == "package":
        monkeypatch.setattr("scbench.grading.rows.index.__version__", "9.9.9")
    else:
        monkeypatch.setattr("scbench_parity.graders.parity.VERSION", 99)
    report = grade_file(options(lines, resume=True))
    assert report.resumed == 0
    assert any(
        "used another release, version or options" in message
        for message in report.incidents
    )


def test_many_problems_are_counted_and_written(options, parity_release, tmp_path):
    lines = ["junk"] * 2500 + ['{"id": "parity/00", "answer": {"bit": 0}}'] * 3
    report = grade_file(options(lines, partial=True))
    assert report.problem_counts == {"not_json": 2500, "duplicate": 2}
    assert len(report.problems) == len(report.summary["problems"]) == SUMMARISED
    assert report.summary["problem_counts"] == {"not_json": 2500, "duplicate": 2}
    file = tmp_path / "out" / "problems.jsonl"
    codes = [json.loads(line) for line in file.read_text().splitlines()]
    assert [it["line"] for it in codes] == [*range(1, 2501), 2502, 2503]
    assert codes[-1]["run"] == ["unnamed", None, 0, None]
    report = grade_file(options(lines[-1:], partial=True))
    assert not report.problems
    assert not file.exists(), "it told of another run"
    report = grade_file(
        options([lines[-1], '{"id": "zzz/00", "answer": 1}'], partial=True)
    )
    assert report.problem_counts == {"unknown_id": 1}


def test_many_suspects_are_retried_alone_before_the_run_continues(
    options, parity_release, tmp_path, monkeypatch
):
    lines = lines_of(parity_release)
    lines[200] = lines[90].replace('"x"', '"y"')
    grade_file(options(lines, "later"))
    monkeypatch.setattr("scbench.grading.workers.scheduler._SUSPECTS", 10)
    report = grade_file(options(lines, "sooner", workers=1))
    assert report.grader_errors == 2
    assert (
        sum("the lines of a chunk are graded again" in it for it in report.incidents)
        == 2
    )
    assert results_in(tmp_path / "sooner") == results_in(tmp_path / "later")
