"""Command-line tests of ``scbench tasks``, ``generate``, ``release overlap``, ``verify --seed``."""

import json
import os
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from scbench.catalog import available_tasks, get_task
from scbench.freezing.experiment import parse_experiment
from scbench.freezing.freeze import build_release
from scbench.grading.options import choose_tasks
from scbench.release.load import find_release
from scbench.release.sources import read_manifest

TEXT = """
seed = 11
[[task]]
id = "boolean"
count = 12
grid = { length = [4, 9], format = ["T_F", "BINARY"] }
[[task]]
id = "enumerate_edges"
count = 3
"""


@pytest.fixture
def experiment(tmp_path) -> Path:
    path = tmp_path / "e.toml"
    path.write_text(TEXT)
    return path


def test_cases_are_json_lines_of_the_result_schema(inside):
    args = ("--length", 8, "--max-depth", 3, "--count", 5, "--seed", 1)
    done = inside("generate", "arithmetic", *args)
    assert (done.returncode, done.stderr) == (0, "")
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(cases) == 5
    for case in cases:
        assert (
            get_task("arithmetic")
            .builder.case_model.model_validate(case)
            .params["length"]
            == 8
        )
    assert inside("generate", "arithmetic", *args).stdout == done.stdout
    second = inside("generate", "arithmetic", *args[:-1], 2).stdout
    assert not set(second.splitlines()) & set(done.stdout.splitlines())
    assert inside("generate", "arithmetic", *args, "--workers", 2).stdout == done.stdout


def test_options_are_read_in_every_usual_form(inside):
    forms = [
        ["--length=8", "--min-number=-5", "--division", "--prob-open", "0.5"],
        ["--prob_open=0.5", "--division", "--min_number", "-5", "--length", "8"],
        [
            "--division=true",
            "--min-number",
            "-5",
            "--prob-open=0.5",
            "--length",
            "8",
            "--count=1",
        ],
    ]
    result = {inside("generate", "arithmetic", *form).stdout for form in forms}
    assert len(result) == 1
    params = json.loads(result.pop())["params"]
    assert (params["min_number"], params["division"], params["prob_open"]) == (
        -5,
        True,
        0.5,
    )
    plain = inside("generate", "arithmetic", "--no-division").stdout
    assert json.loads(plain)["params"]["division"] is False


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["arithmetics"],
            "'arithmetics' is neither a task nor a file. Did you mean 'arithmetic'?",
        ),
        (["nowhere.toml"], "nowhere.toml cannot be read: No such file"),
        (
            ["arithmetic", "--lenght", "3"],
            "no parameter --lenght. Did you mean --length?",
        ),
        (["arithmetic", "--length", "600"], "length: must be at most 500; got 600"),
        (["arithmetic", "--length", "x"], "length: must be a whole number"),
        (["arithmetic", "--length", "4", "--length", "5"], "--length was given twice"),
        (
            ["arithmetic", "--format", "csv"],
            "--format must be jsonl or text, not 'csv'",
        ),
        (["boolean", "--format", "csv"], "format: must be 'TRUE_FALSE', 'T_F'"),
        (
            ["boolean", "--format", "text", "--format", "jsonl"],
            "--format was given twice: text and jsonl",
        ),
        (["arithmetic", "--private"], "--private needs --out"),
        (
            ["e.toml"],
            "an experiment is written to a folder; choose the folder with --out",
        ),
        (["e.toml", "--out", "o", "--length", "4"], "--length works only with a task"),
        (
            ["e.toml", "--out", "e.toml"],
            "e.toml exists; choose another --out",
        ),
        (["e.toml", "--out", "o", "--name", "1.0.0"], "is not a valid name"),
        (["arithmetic", "--seed", "-1"], "--seed"),
    ],
)
def test_wrong_usage_exits_with_2_and_helps(inside, experiment, args, message):
    done = inside("generate", *args)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""
    assert list(experiment.parent.iterdir()) == [experiment]


def test_shortfall_is_printed_and_exits_with_1(inside, tmp_path):
    args = (
        "boolean",
        "--length",
        3,
        "--max-depth",
        0,
        "--prob-negation",
        0,
        "--count",
        100,
    )
    printed = inside("generate", *args)
    assert printed.returncode == 1
    assert len(printed.stdout.splitlines()) == 72
    assert (
        "boolean: 72 of 100 items: 200 attempts in a row gave no new item"
        in printed.stderr
    )
    file = inside("generate", *args, "--out", "o")
    assert file.returncode == 1
    assert "boolean: 72 of 100 items at length 3, max_depth 0" in file.stderr
    assert read_manifest(tmp_path / "o").experiment.shortfalls[0].got == 72
    assert "this point has too few items" in (tmp_path / "o" / "README.md").read_text()


@pytest.mark.slow
def test_generated_folder_is_graded_end_to_end(command, experiment, tmp_path):
    done = command("scbench", "generate", "e.toml", "--out", "fresh", "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"fresh: generated-[0-9a-f]{8}, 51 items, rows [0-9a-f]{64}\n$", done.stderr
    )
    assert command("scbench", "release", "verify", "fresh", "--quiet").returncode == 0
    example = command("scbench", "example", "--release", "fresh").stdout
    (tmp_path / "p.jsonl").write_text(example)
    graded = command("scbench-grade", "p.jsonl", "--release", "fresh", "--out", "r")
    assert graded.returncode == 0, graded.stderr
    rows = pl.read_parquet(tmp_path / "r" / "results.parquet")
    oracle = rows.filter(pl.col("model") == "oracle")
    assert (oracle.height, oracle["score"].to_list()) == (51, [1.0] * 51)
    assert rows.filter(pl.col("model") == "sloppy")["score"].mean() < 0.9
    output = command(
        "scbench", "manifolds", "r", "--release", "fresh", "--by", "parameter"
    )
    assert output.returncode == 0, output.stderr
    assert " boolean " in output.stdout
    test = command("scbench-grade", "--self-test", "--release", "fresh")
    assert test.returncode == 0, test.stderr
    assert "boolean: 48 references with score 1.0" in test.stdout


def test_private_seed_is_drawn_shown_once_and_verifies(inside, experiment, tmp_path):
    text = TEXT.replace("seed = 11", "private = true").replace(
        "count = 12", "count = 1"
    )
    experiment.write_text(text)
    done = inside("generate", "e.toml", "--out", "o")
    assert done.returncode == 0
    seed = re.search(r"^private seed: (\d+)$", done.stderr, re.MULTILINE)[1]
    assert int(seed) > 2**64
    assert done.stdout == ""
    for path in (tmp_path / "o").rglob("*"):
        assert not path.is_file() or seed.encode() not in path.read_bytes()
    assert inside("release", "verify", "o", "--seed", seed).returncode == 0
    assert inside("release", "verify", "o").returncode == 0
    wrong = inside("release", "verify", "o", "--seed", int(seed) + 1)
    assert wrong.returncode == 1
    assert "the given seed does not produce these rows" in wrong.stdout
    again = inside("generate", "e.toml", "--out", "again", "--seed", seed)
    assert "private seed" not in again.stderr
    assert (tmp_path / "again" / "MANIFEST.json").read_bytes() == (
        tmp_path / "o" / "MANIFEST.json"
    ).read_bytes()
    short = inside("generate", "boolean", "--private", "--seed", 3, "--out", "short")
    assert "a seed below 2^64 can be guessed by trying" in short.stderr


def test_private_folders_are_readable_by_their_owner_only_and_seeds_come_from_files(
    inside, tmp_path
):
    """Other users can read neither the correct answers nor a seed on a command line."""
    before = os.umask(0o022)
    try:
        (tmp_path / "seed").write_text(f"{2**100}\n")
        options = ("boolean", "--private", "--prompts-only", "--out")
        assert inside("generate", *options, "o", "--seed-file", "seed").returncode == 0
        assert os.umask(0o022) == 0o022
        folder = tmp_path / "o"
        for path in (folder, *folder.rglob("*")):
            mode = 0o700 if path.is_dir() else 0o600
            assert path.stat().st_mode & 0o777 == mode, path
        for path in (tmp_path / "o-prompts").rglob("*"):
            assert path.stat().st_mode & 0o044, "prompts are to be given away"
        stdin = str(2**100).encode()
        given = ("--seed-file", "-")
        assert inside("generate", *options, "p", *given, stdin=stdin).returncode == 0
        names = ("o/MANIFEST.json", "p/MANIFEST.json")
        first, second = ((tmp_path / name).read_bytes() for name in names)
        assert first == second
        verified = inside("release", "verify", "o", "--seed-file", "seed", "--quiet")
        assert verified.returncode == 0
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("x", (), "one whole number"),
        ("", (), "one whole number"),
        ("-1", (), "one whole number"),
        ("1", ("--seed", 2), "not both"),
        (None, (), "No such file"),
    ],
)
def test_seed_file_without_a_seed_is_refused(inside, tmp_path, content, options, words):
    if content is not None:
        (tmp_path / "seed").write_text(content)
    done = inside("generate", "boolean", "--seed-file", "seed", *options)
    assert done.returncode == 2
    assert words in done.stderr


# Tasks.


def test_all_tasks_are_listed_in_three_formats(inside):
    table = inside("tasks").stdout
    markdown = inside("tasks", "--format", "markdown").stdout
    result = json.loads(inside("tasks", "--format", "json").stdout)
    frozen = find_release().manifest
    assert {row["id"] for row in result} >= frozen.tasks.keys()
    scores = {
        row["id"]: row["scores"] for row in result if row["id"] in frozen.default_tasks
    }
    assert scores == {
        name: record.scores for name, record in frozen.default_records.items()
    }
    assert [row["id"] for row in result] == [task.id for task in available_tasks()]
    for row in result:
        names = [parameter["name"] for parameter in row["parameters"]]
        assert f"| {row['id']} | {row['bucket']} |" in markdown
        (line,) = [
            line for line in table.splitlines() if line.startswith(f"{row['id']} ")
        ]
        assert line.endswith(", ".join(names))
        assert all(
            parameter["description"] and parameter["values"]
            for parameter in row["parameters"]
        )


# Frozen releases with text tasks.


@pytest.fixture(scope="module")
def frozen(tmp_path_factory) -> Path:
    """A frozen release of a spatial task and a text task."""
    folder = tmp_path_factory.mktemp("frozen") / "out"
    ours = parse_experiment(TEXT).only(["boolean"])
    build_release("0.0.9", folder, [get_task("enumerate_edges")], experiment=ours)
    return folder


@pytest.mark.slow
def test_answered_text_tasks_are_graded_unless_others_are_named(
    command, frozen, tmp_path
):
    shutil.copytree(frozen, tmp_path / "rel")
    manifest = read_manifest(frozen)
    assert manifest.default_tasks == ["enumerate_edges"]
    example = command("scbench", "example", "--release", "rel").stdout
    assert {json.loads(line)["id"].split("/")[0] for line in example.splitlines()} == {
        "enumerate_edges"
    }
    named = command(
        "scbench", "example", "--release", "rel", "--tasks", "manifolds"
    ).stdout
    assert {json.loads(line)["id"].split("/")[0] for line in named.splitlines()} == {
        "boolean"
    }
    assert (
        command("scbench", "example", "--release", "rel", "--tasks", "x").returncode
        == 2
    )
    release = pl.read_parquet(frozen / "references" / "references.parquet")
    right = release.filter(pl.col("kind") == "reference").to_dicts()
    lines = [{"id": r["id"], "answer": json.loads(r["answer"])} for r in right]
    (tmp_path / "p.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines)
    )

    def graded(*options: str) -> dict[str, float]:
        out = "-".join(["r", *options]).replace("--", "")
        done = command(
            "scbench-grade", "p.jsonl", "--release", "rel", "--out", out, "--format", "json",
            *options,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return {row["bucket"]: row["n"] for row in json.loads(done.stdout)["buckets"]}

    both = {"axiomatic": 8, "manifolds": 48}
    assert graded() == graded("--tasks", "axiomatic,manifolds") == both
    assert graded("--tasks", "axiomatic") == {"axiomatic": 8}
    present = find_release(str(frozen))
    for names in (["manifolds"], ["boolean"]):
        assert [task.id for task in choose_tasks(present, names)] == ["boolean"]
    wrong = command(
        "scbench-grade", "p.jsonl", "--release", "rel", "--tasks", "manifold"
    )
    assert wrong.returncode == 2
    assert "Did you mean 'manifolds'?" in wrong.stderr
