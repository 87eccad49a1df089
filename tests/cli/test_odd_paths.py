"""Paths are not patterns: every command accepts any file name."""

import json
import os
import signal
from pathlib import Path

import polars as pl
import pytest

ODD = {
    "of shells": "lr=[1e-3] *?{a,b}~%41#;\n",
    "long": "x" * 255,
    "no UTF-8": os.fsdecode(b"-\xff\xfe"),
}
SEGMENTS = {"segments": [[[0, 0], [1, 0.2]], [[1, 0.4], [0, 0.8]]]}


def write(path: Path, models: int) -> Path:
    path.parent.mkdir(exist_ok=True)
    rows = [
        {
            "id": "two_segments/07",
            "model": f"m{number}",
            "answer": SEGMENTS,
            "usage": {"output_tokens": 5},
        }
        for number in range(models)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("name", ODD.values(), ids=ODD)
def test_every_command_accepts_any_name(inside, tmp_path, name):
    folder = tmp_path / name
    file = write(folder / "p.jsonl", 2)
    # Other names that a pattern would match: a character of a set, or any text.
    for sibling in "1ab?x":
        write(tmp_path / f"lr={sibling}" / "p.jsonl", 1)

    def run(*words: object, code: int = 0) -> str:
        done = inside(*words)
        assert done.returncode == code, (words, done.stderr)
        return done.stdout

    out = folder / name
    subset = ("--tasks", "two_segments", "--partial", "--quiet")
    run("grade", file, "--out", out, *subset)
    rows = pl.read_parquet((out / "results.parquet").read_bytes())
    assert sorted(rows.filter(pl.col("status") == "answered")["model"]) == ["m0", "m1"]
    for shard in (1, 2):
        run(
            "grade",
            file,
            "--out",
            folder / str(shard),
            "--shard",
            f"{shard}/2",
            *subset,
        )
    run("merge", folder / "1", folder / "2", "--out", folder / "merged")
    merged = (folder / "merged" / "results.parquet").read_bytes()
    assert merged == (out / "results.parquet").read_bytes()

    for table in ("tables", "items", "cost"):
        assert "two_segments" in run(table, out, "--format", "json"), table
    results = out / "results.parquet"
    run("tables", results, "--format", "json", "--out", out / f"{name[:9]}.json")
    run("compare", results, results, "--same-runs", code=2)
    assert run("import", file).count("m1") == 1
    run("grade", file, "--check", "--tasks", "two_segments", "--partial")
    run(
        "show",
        "two_segments/07",
        "--predictions",
        file,
        "--model",
        "m1",
        "--out",
        out / "a.svg",
    )
    run("show", "two_segments/07", "--results", out, "--model", "m1", "--text")
    fresh = folder / "fresh"
    run("generate", "two_segments", "--count", 1, "--seed", 1, "--out", fresh)
    run("tasks", "--release", fresh)
    run(
        "prompts",
        "--release",
        fresh,
        "--format",
        "openai-chat",
        "--model",
        "m",
        "--out",
        out,
    )
    run("export", folder / "copy")
    run("release", "verify", fresh)


@pytest.fixture
def pipe(tmp_path):
    """Paths of named pipes with two suffixes; a test that waits for a writer times out."""
    path = tmp_path / "pipe"
    for suffix in (".toml", ".zip"):
        os.mkfifo(path.with_suffix(suffix))

    def fail(*_):
        raise AssertionError("a command waits for a pipe")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(600)
    yield path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "words",
    [
        ("generate", "arithmetic", "--seed-file", "PIPE.zip"),
        ("generate", "PIPE.toml", "--out", "new"),
        ("play", "two_segments/07", "--reply", "PIPE.zip", "--no-browser"),
        ("prompts", "--ids", "PIPE.zip"),
        ("grade", "p.jsonl", "--release", "PIPE.zip"),
        ("grade", "p.jsonl", "--run", "PIPE.zip", "--partial"),
        ("release", "build", "9.9.9", "--withdrawn", "PIPE.zip"),
        ("submission", "validate", "PIPE.zip", "--organisations", "PIPE.zip"),
    ],
    ids=" ".join,
)
def test_no_command_waits_for_a_pipe(inside, tmp_path, pipe, words):
    write(tmp_path / "folder" / "p.jsonl", 1).rename(tmp_path / "p.jsonl")
    done = inside(*(word.replace("PIPE", str(pipe)) for word in words))
    assert done.returncode == 2, done.stderr
    assert str(pipe) in done.stderr
    assert "not a regular file" in done.stderr


@pytest.mark.parametrize(
    ("name", "kind"), [("pipe.zip", "device or pipe"), ("link.zip", "broken link")]
)
def test_odd_submission_does_not_stop_others(inside, tmp_path, pipe, name, kind):
    (tmp_path / "link.zip").symlink_to("link.zip")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    done = inside(
        "submission", "validate", tmp_path / "a", tmp_path / name, tmp_path / "b"
    )
    assert done.returncode == 1
    assert (
        f"{name}: problem [odd_submission] the submission is a {kind}, not an archive"
        in done.stdout
    )
    for other in ("a", "b"):
        assert (
            f"{tmp_path / other}/submission.yaml: problem [missing_file]" in done.stdout
        )
