"""Command-line tests of ``scbench failure-modes``: labels, shares and matrices."""

import contextlib
import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from scbench.cli.main import app
from scbench.freezing.example import example_predictions
from scbench.release.load import find_release

TASKS = (
    "two_segments",
    "enumerate_edges",
    "shikaku_rectangles",
    "topology_enumeration",
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """A folder with predictions for light tasks, their results, and the built-in judge's labels."""
    folder = tmp_path_factory.mktemp("graded")
    lines = example_predictions(find_release())
    few = [line for line in lines if json.loads(line)["id"].partition("/")[0] in TASKS]
    (folder / "p.jsonl").write_text("".join(f"{line}\n" for line in few), "utf-8")
    for words in (
        f"grade p.jsonl --partial --quiet --out out --tasks {','.join(TASKS)}",
        "failure-modes judge out --out rules.parquet",
        "failure-modes export out --out bundle.jsonl --predictions p.jsonl",
    ):
        with contextlib.chdir(folder):
            assert CliRunner().invoke(app, words.split()).exit_code == 0
    return folder


@pytest.fixture
def modes(inside):
    """A function that runs a command of failure-modes."""

    def run(*args, **extra):
        return inside("failure-modes", *args, **extra)

    return run


def test_matrix_and_deltas_compare_two_runs(modes, graded):
    common = (graded / "rules.parquet", "--results", graded / "out", "--format", "csv")
    runs = ("--first", "oracle no_tools", "--second", "sloppy no_tools")
    done = modes("matrix", *common, *runs)
    assert done.returncode == 0, done.stderr
    frame = pl.read_csv(done.stdout.encode())
    records = find_release().manifest.default_records
    scores = sum(records[name].scores for name in TASKS)
    assert frame["count"].sum() == scores
    assert frame.filter(
        (pl.col("first_state") != "pass") & (pl.col("count") > 0)
    ).is_empty()
    deltas = pl.read_csv(modes("deltas", *common).stdout.encode())
    assert deltas["state"].to_list()[0] == "pass"
    assert deltas["n"][0] + deltas["left_out"][0] == scores
    wrong = modes("matrix", *common, "--first", "oracle", "--second", "sloppy no_tools")
    assert wrong.returncode == 2
    assert "Did you mean 'oracle no_tools'?" in wrong.stderr


def test_bundle_contains_given_raw_replies(modes, graded, tmp_path):
    done = modes("export", graded / "out", "--out", "bare.jsonl")
    assert done.returncode == 0, done.stderr
    bundle = [
        json.loads(line) for line in (graded / "bundle.jsonl").read_text().splitlines()
    ]
    bare = [
        json.loads(line) for line in (tmp_path / "bare.jsonl").read_text().splitlines()
    ]
    assert len(bundle) == len(bare) == pl.read_parquet(graded / "rules.parquet").height
    assert any(
        "I am unable to work this out by hand." in line["prompt"] for line in bundle
    )
    assert not any("unable to work this out" in line["prompt"] for line in bare)
    assert not any("sloppy" in line["prompt"] for line in bundle)


def test_decisions_on_a_bundle_become_comparable_labels(modes, graded, tmp_path):
    decisions = [
        {key: line[key] for key in ("candidate", "task", "subtask")}
        | {"failure_mode": "near_miss", "confidence": 0.5, "justification": "A guess."}
        | {"evidence_tags": []}
        for line in map(json.loads, (graded / "bundle.jsonl").read_text().splitlines())
    ]
    text = "".join(json.dumps(decision) + "\n" for decision in decisions).encode()
    common = (
        "--results",
        graded / "out",
        "--judge",
        "guesser",
        "--out",
        "guesses.parquet",
    )
    done = modes("import", "-", *common, stdin=text)
    assert done.returncode == 0, done.stderr
    labels = pl.read_parquet(tmp_path / "guesses.parquet")
    assert set(labels.select("judge", "failure_mode").iter_rows()) == {
        ("guesser", "near_miss")
    }
    done = modes("agree", graded / "rules.parquet", "guesses.parquet")
    assert done.returncode == 0, done.stderr
    assert "Labels by rules (rows) and guesser (columns)" in done.stdout
    assert "kappa: 0.000" in done.stdout


def test_wrong_decisions_are_listed_and_nothing_is_written(modes, graded, tmp_path):
    text = b'{"candidate": "x"}\n{\n'
    common = ("--results", graded / "out", "--judge", "me", "--out", "new.parquet")
    done = modes("import", "-", *common, stdin=text)
    assert done.returncode == 1
    assert "problem: line 1: task: is missing; subtask: is missing" in done.stderr
    assert "problem: line 2: not valid JSON" in done.stderr
    count = pl.read_parquet(graded / "rules.parquet").height
    assert done.stderr.count("no decision for") == count
    assert done.stderr.endswith(f"{count + 2} problems; nothing was written\n")
    assert not (tmp_path / "new.parquet").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["card", "shikaku"], "Did you mean 'shikaku_rectangles'?"),
        (["judge", "{out}", "--out", "no/x"], "cannot write no/x"),
        (["judge", "{out}", "--threshold", "2", "--out", "x"], "--threshold"),
        (
            ["shares", "{labels}", "--results", "{out}", "--threshold", "0"],
            "use the files and the threshold",
        ),
        (["export", "{out}", "--out", "x", "--release", "9.9.9"], "no release '9.9.9'"),
        (
            ["import", "nowhere", "--results", "{out}", "--judge", "a", "--out", "x"],
            "nowhere",
        ),
        (
            ["import", "-", "--results", "{out}", "--judge", " ", "--out", "x"],
            "--judge must",
        ),
    ],
)
def test_wrong_usage_exits_with_2_and_helps(modes, graded, args, words):
    places = {"out": graded / "out", "labels": graded / "rules.parquet"}
    done = modes(*(arg.format(**places) for arg in args))
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""
