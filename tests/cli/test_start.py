"""Commands under odd conditions: streams, names, limits, strangers' files, failures."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from scbench.cli.start import start

GRADE = Path(sys.executable).parent / "scbench-grade"


@pytest.fixture
def grade(parity_release, write_lines, tmp_path):
    """A function that grades four lines into a folder; returns the finished process."""
    lines = [
        {"id": f"parity/{i:02d}", "model": "m\u4e2d", "answer": {"bit": i % 2}} for i in range(4)
    ]
    path = write_lines(*lines)

    def run(*more, predictions=path, out=tmp_path / "out", **options):
        args = [GRADE, predictions, "--release", parity_release.root, "--tasks", "parity"]
        options = {"capture_output": True, "text": True} | options
        return subprocess.run(
            [*args, "--out", out, *more], check=False, errors="replace", **options
        )

    run.path = path
    return run


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_stream_may_be_closed(grade, tmp_path, number):
    done = grade(preexec_fn=lambda: os.close(number))
    assert done.returncode == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["exit_code"] == 0
    assert ("parity" in done.stdout) == (number != 1)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_signs_that_a_terminal_lacks_are_escaped(grade, encoding):
    done = grade(env=os.environ | {"PYTHONIOENCODING": encoding})
    assert done.returncode == 0
    assert r"m\u4e2d" in done.stdout
    assert "-----" in done.stdout


def test_a_name_that_is_not_utf8_is_graded(grade, tmp_path):
    odd = tmp_path / os.fsdecode(b"p\xff.jsonl")
    odd.write_bytes(grade.path.read_bytes())
    assert grade(predictions=odd).returncode == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["predictions"]["file"] == r"p\udcff.jsonl"


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        (resource.RLIMIT_NOFILE, 16, "no more files may be open (see ulimit -n)"),
        (resource.RLIMIT_FSIZE, 64, "a file may not grow any more (see ulimit -f)"),
        (resource.RLIMIT_AS, 2**30, "only 1 GiB of address space are allowed"),
    ],
    ids=["files", "size", "memory"],
)
def test_a_limit_of_the_machine_is_one_sentence(grade, limit, value, words):
    done = grade(preexec_fn=lambda: resource.setrlimit(limit, (value, value)))
    assert done.returncode == 4
    assert words in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_earlier_results_are_written_over_and_no_others(grade, tmp_path):
    out = tmp_path / "out"
    assert grade().returncode == grade().returncode == 0
    (out / "summary.json").write_text('{"mine": 1}')
    done = grade()
    assert done.returncode == 2
    assert "results.parquet was not written by scbench-grade" in done.stderr
    assert (out / "summary.json").read_text() == '{"mine": 1}'


def test_results_of_another_file_are_replaced_only_by_restart(grade, tmp_path):
    second = tmp_path / "other.jsonl"
    second.write_bytes(grade.path.read_bytes())
    assert grade().returncode == 0
    before = (tmp_path / "out" / "results.parquet").read_bytes()
    for extra in ([], ["--resume"]):
        done = grade(*extra, predictions=second)
        assert done.returncode == 2
        assert f"holds the results of {grade.path.name} on release" in done.stderr
        assert (tmp_path / "out" / "results.parquet").read_bytes() == before
    assert grade("--restart", predictions=second).returncode == 0


def test_a_folder_for_predictions_is_told_and_makes_none(grade, tmp_path):
    done = grade(predictions=tmp_path, out=tmp_path / "new")
    assert done.returncode == 2
    assert f"scbench tables {tmp_path}" in done.stderr
    assert not (tmp_path / "new").exists()


def test_strange_files_with_names_that_were_ours_stay(grade, tmp_path):
    out = tmp_path / "out"
    (out / "parts").mkdir(parents=True)
    (out / "parts" / "mine").write_text("x")
    (out / "journal.jsonl").write_text("x")
    for extra in ([], ["--resume"], ["--restart"]):
        assert grade(*extra).returncode == 0
        assert (out / "parts" / "mine").read_text() == "x"
        assert (out / "journal.jsonl").read_text() == "x"


def test_the_predictions_are_not_written_over(grade, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    of_run = out / "problems.jsonl"
    of_run.write_bytes(grade.path.read_bytes())
    done = grade(predictions=of_run)
    assert done.returncode == 2
    assert "is the predictions file and would be overwritten" in done.stderr
    (out / "results.parquet").mkdir()
    assert "results.parquet is a folder" in grade().stderr


def test_a_strange_report_stays_and_our_own_is_written_anew(grade, tmp_path):
    out = tmp_path / "out"
    page = out / "report.html"
    assert grade("--report").returncode == grade("--report").returncode == 0
    page.write_text("<p>my thesis</p>")
    done = grade("--report")
    assert done.returncode == 2
    assert "report.html is no report that scbench wrote" in done.stderr
    assert page.read_text() == "<p>my thesis</p>"
    assert grade().returncode == 0, "without a report nothing is in the way"


@pytest.mark.parametrize("error", [ValueError("odd"), KeyboardInterrupt(), BaseException("panic")])
def test_a_failure_nobody_foresaw_has_a_code_of_its_own(error, capsys):
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.command()
    def fail() -> None:
        raise error

    with pytest.raises(SystemExit) as exited:
        start(app, "scbench-test")
    if isinstance(error, KeyboardInterrupt):
        assert exited.value.code == 130
    else:
        assert exited.value.code == 4
        assert "please report it with the lines above" in capsys.readouterr().err
