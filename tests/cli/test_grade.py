"""Command-line tests of ``scbench-grade``: files in, tables and files out, exit codes."""

import csv
import gzip
import io
import json
import os
import threading

import commands
import polars as pl
import zstandard

RIGHT = {"parity/00": 0, "parity/01": 1, "parity/02": 0, "parity/03": 0}


def row(number: int, bit: int | None = None, **more) -> dict:
    row_id = f"parity/{number:02d}"
    bit = RIGHT[row_id] if bit is None else bit
    return {"id": row_id, "model": "m", "answer": {"bit": bit}} | more


def results(folder) -> pl.DataFrame:
    return pl.read_parquet(folder / "results.parquet")


def test_no_result_is_lost(grade, tmp_path):
    """Files of the same name have separate folders; --restart replaces another file's results."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p.jsonl").write_text(
            "".join(json.dumps(row(i)) + "\n" for i in range(4))
        )
        assert grade(f"{folder}/p.jsonl", "--partial").returncode == 0
        assert (tmp_path / f"scbench-results/{folder}-p/results.parquet").exists()
    again = ("a/p.jsonl", "--partial", "--out", "scbench-results/a-p")
    assert grade(*again).returncode == 0, "the same once more"
    for args in (
        ("b/p.jsonl", *again[1:]),
        (*again, "--tasks", "parity"),
        (*again, "--allow-code"),
    ):
        done = grade(*args)
        assert done.returncode == 2, args
        assert "choose another --out, or replace them with --restart" in done.stderr
    assert grade("b/p.jsonl", *again[1:], "--restart").returncode == 0
    assert grade(*again, "--restart").returncode == 0
    lines = (tmp_path / "a/p.jsonl").read_bytes()
    assert grade("-", "--partial", stdin=lines).returncode == 0
    assert "contains the results of -" in grade("-", "--partial", stdin=lines).stderr


def test_files_never_share_a_folder(grade, tmp_path):
    """Dots belong to model names; two paths with the same name are separated by a hash."""
    (tmp_path / "a").mkdir()
    names = ("gpt-4.1.jsonl", "gpt-4.5.jsonl.gz", "a/b.jsonl", "a-b.jsonl", "a/b.json")
    for number, name in enumerate((*names, *names[-2:])):
        line = json.dumps(row(0, model=name)).encode()
        data = gzip.compress(line) if name.endswith(".gz") else line
        (tmp_path / name).write_bytes(data)
        done = grade(name, "--partial")
        assert done.returncode == 0, (name, done.stderr)
        folders = [*(tmp_path / "scbench-results").iterdir()]
        assert len(folders) == min(number + 1, len(names)), (
            "a second run has its folder"
        )
    models = {folder.name: {*results(folder)["model"]} for folder in folders}
    assert {model for (model,) in models.values()} == {*names}
    assert models["gpt-4.1"] == {"gpt-4.1.jsonl"}
    assert models["gpt-4.5"] == {"gpt-4.5.jsonl.gz"}
    assert models["a-b"] == {"a/b.jsonl"}


def test_interrupted_run_keeps_its_folder(grade, tmp_path):
    """Another file with the same short name is not advised to discard it."""
    (tmp_path / "a").mkdir()
    for name in ("a/b.jsonl", "a-b.jsonl"):
        (tmp_path / name).write_text(json.dumps(row(0)))
    assert grade("a/b.jsonl", "--partial").returncode == 0
    folder = tmp_path / "scbench-results/a-b"
    work = folder / ".scbench"
    work.mkdir()
    (work / "sources.json").write_text('["../../a/b.jsonl"]')
    (folder / "summary.json").unlink()
    assert grade("a-b.jsonl", "--partial").returncode == 0
    assert len([*folder.parent.iterdir()]) == 2


def test_named_pipe_is_read_as_a_file(grade, tmp_path):
    fifo = tmp_path / "answers.jsonl"
    os.mkfifo(fifo)
    lines = "".join(json.dumps(row(i)) + "\n" for i in range(4))
    writer = threading.Thread(target=fifo.write_text, args=(lines,))
    writer.start()
    done = grade(fifo, "--partial", "--tasks", "parity")
    writer.join()
    assert done.returncode == 0, done.stderr
    assert results(tmp_path / "scbench-results/answers").height == 4


def test_junk_costs_only_its_own_lines(grade, tmp_path):
    lines = [
        b'{"id": "parity/00", "answer": {"bit": 0}}',
        b"\x00\x01\x02\xff\xfe",
        b'{"id": "parity/01", "answer": {"bit": "' + b"x" * 17_000_000 + b'"}}',
        b'{"id": "parity/01", "answer": ' + b"[" * 100_000,
        b'{"id": "parity/01", "answer": {"bit": NaN}}',
        b'{"id": "parity/01", "id": "parity/02", "answer": {"bit": 1}}',
        b'{"id": "parity/99", "answer": {"bit": 1}}',
        b'{"id": "parity_task/01", "answer": {"bit": 1}}',
        b'{"id": 7, "answer": {"bit": 1}}',
        b'[{"id": "parity/01"}]',
        b'{"id": "parity/01", "answer": {"bit": ' + b"9" * 100_000 + b"}}",
        b'{"id": "parity/01", "sample": true, "answer": {"bit": 1}}',
        b'{"id": "parity/01", "answer": {"bit": 1}',
        b"",
        b'{"id": "parity/00", "answer": {"bit": 1}}',
        b'{"id": "parity/01", "answer": {"bit": 1}}',
    ]
    path = tmp_path / "junk.jsonl"
    path.write_bytes(b"\n".join(lines))
    done = grade(path, "--partial", "--out", "out", "--tasks", "parity")
    assert done.returncode == 1
    for words in (
        "line 2: not UTF-8 text",
        "line 3: the line is 17,000,0",
        "line 4: not valid JSON: nested deeper than 200 levels",
        "line 5: not valid JSON: expected value",
        'line 6: not valid JSON: Detected duplicate key "id"',
        "line 7: no item 'parity/99' in this release. Ids of this task run from parity/00",
        "line 8: no item 'parity_task/01' in this release. Did you mean 'parity/01'",
        "line 9: id: must be a string",
        "line 10: a prediction must be a JSON object, but this line is an array",
        "line 11: not valid JSON: a number has more than 4,300 digits",
        "line 12: sample: must be a whole number",
        "line 13: not valid JSON: the line ends too early",
        "line 15: line 1 already answers parity/00",
    ):
        assert words in done.stderr, (words, done.stderr[:3000])
    frame = results(tmp_path / "out").filter(pl.col("line").is_not_null())
    assert frame.select("line", "id", "score").rows() == [
        (1, "parity/00", 1.0),
        (16, "parity/01", 1.0),
    ]


def test_check_prints_a_few_problems_of_each_kind(grade, write_lines):
    path = write_lines(*(row(0) | {"id": f"nothing/{i:02d}"} for i in range(8)))
    done = grade(path, "--check", "--partial")
    assert done.stdout.count("problem: line ") == 5
    assert (
        "... and 3 more problems like these; --format json lists them all"
        in done.stdout
    )
    assert "8 lines, 0 to grade, 8 problems, 0 warnings" in done.stdout


def test_plain_compressed_and_piped_files_give_the_same_rows(
    grade, write_lines, tmp_path
):
    path = write_lines(*(row(i) for i in range(4)))
    data = path.read_bytes()
    (tmp_path / "p.jsonl.zst").write_bytes(zstandard.compress(data))
    (tmp_path / "misnamed.jsonl").write_bytes(gzip.compress(data))
    frames = []
    for i, name in enumerate([path.name, "p.jsonl.zst", "misnamed.jsonl", "-"]):
        done = grade(
            name,
            "--tasks",
            "parity",
            "--out",
            f"out{i}",
            stdin=data if name == "-" else b"",
        )
        assert done.returncode == 0, done.stderr
        frames.append(results(tmp_path / f"out{i}"))
    assert all(frame.equals(frames[0]) for frame in frames)


def test_incomplete_file_is_a_problem_unless_partial(grade, write_lines, tmp_path):
    path = write_lines(row(0), row(2))
    done = grade(path, "--tasks", "parity", "--out", "out")
    assert done.returncode == 1
    assert (
        "model 'm' has no prediction for 2 of 4 items (the first is parity/01)"
        in done.stderr
    )
    checked = grade(path, "--tasks", "parity", "--check")
    assert "for 2 of 4 items (the first is parity/01)" in checked.stdout
    done = grade(path, "--tasks", "parity", "--out", "out", "--partial")
    assert done.returncode == 0
    assert "partial run: leaderboards do not accept it" in done.stderr
    frame = results(tmp_path / "out")
    assert frame["status"].to_list() == ["answered", "answered", "missing", "missing"]
    assert "2/4" in done.stdout
    assert "100.0*" in done.stdout, "a mean with coverage below 1 carries a mark"
    assert "2 missing" in done.stdout


def test_grader_failure_is_not_a_model_failure(grade, write_lines, tmp_path):
    answers = [
        {"bit": 0, "mood": "raise"},
        {"bit": 1, "mood": "exit"},
        {"bit": 0},
        {"bit": 0},
    ]
    path = write_lines(*(row(i, answer=answer) for i, answer in enumerate(answers)))
    done = grade(path, "--tasks", "parity", "--out", "out")
    assert done.returncode == 3
    frame = results(tmp_path / "out")
    assert frame["status"].to_list() == [
        "grader_error",
        "grader_error",
        "answered",
        "answered",
    ]
    assert frame["score"].to_list() == [None, None, 1.0, 1.0]
    assert (
        "line 1: parity/00: RuntimeError: this grader fails (moods.py:" in done.stderr
    )
    assert (
        "line 2: parity/01: the worker process died (exit code 7) (tried twice)"
        in done.stderr
    )


def test_formats_contain_the_same_numbers(grade, write_lines, tmp_path):
    path = write_lines(row(0), row(1), row(2, bit=1), row(3))
    done = {
        style: grade(
            path, "--tasks", "parity", "--format", style, "--out", "out"
        ).stdout
        for style in ("table", "json", "csv", "markdown")
    }
    assert json.loads(done["json"])["tasks"][0]["mean"] == 0.75
    rows = list(csv.DictReader(io.StringIO(done["csv"])))
    assert [(r["bucket"], r["task"], r["mean"]) for r in rows] == [
        ("planning", "", "0.75"),
        ("planning", "parity", "0.75"),
    ]
    assert "| 4/4 | 75.0 | 28.1 to 99.0 | 100.0 | 75.0 | - |" in done["markdown"]
    assert "75.0" in done["table"]
    assert "\x1b[" not in done["table"], "no colours where output is piped"


def test_text_from_the_file_cannot_style_the_terminal(grade, write_lines):
    path = write_lines(row(0, model="[bold red]m[/] \x1b[31m"))
    done = grade(path, "--tasks", "parity", "--partial", "--out", "out")
    assert done.returncode == 0
    assert "[bold red]m[/]" in done.stdout
    assert "\x1b" not in done.stdout


def test_closed_pipe_changes_neither_results_nor_exit_code(
    parity_release, write_lines, tmp_path
):
    path = write_lines(row(0), "{", name="p.jsonl")
    line = (
        f"scbench-grade {path} --release {parity_release.root} --tasks parity --out out"
    )
    done = commands.run(
        "bash", "-c", f"set -o pipefail; {line} 2>&1 | true", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert results(tmp_path / "out").height == 4


def test_self_test_of_the_installed_release_passes(command):
    # The contract suite judges the answers of every task; here it is the command that is tested.
    tasks = "two_segments,maze_3d"
    done = command("scbench-grade", "--self-test", "--format", "json", "--tasks", tasks)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["failures"] == []
    assert result["not_run"] == {}
    assert result["right"] == {
        "two_segments": 27, "maze_3d": 6
    }  # fmt: skip
    assert all(
        result["below"][task] >= 3 * count for task, count in result["right"].items()
    )
