"""Command-line tests of ``--shard`` and ``scbench merge``, and the needs of ``--cluster``."""

import json

import pytest

from scbench.freezing.example import example_predictions


@pytest.fixture
def lines(parity_release, write_lines):
    rows = [json.loads(line) for line in example_predictions(parity_release)]
    return write_lines(*rows, rows[2], "no JSON", name="p.jsonl")


@pytest.mark.slow
def test_shards_are_graded_and_merged(grade, command, parity_release, lines, tmp_path):
    complete = grade(lines, "--out", "whole")
    shards = [grade(lines, "--shard", f"{i}/2") for i in (1, 2)]
    assert "shard 1/2: merge all shards with `scbench merge`" in shards[0].stderr
    assert [done.returncode for done in shards] == [1, 1], (
        "the duplicate, and what is no JSON"
    )
    folders = [f"scbench-results/p-{i}-of-2" for i in (2, 1)]
    merged = command(
        "scbench", "merge", *folders, "--out", "all", "--release", parity_release.root
    )
    assert merged.returncode == complete.returncode == 1
    assert merged.stdout == complete.stdout
    reported = [
        [it for it in done.stderr.splitlines() if "line" in it]
        for done in (merged, complete)
    ]
    assert reported[0] == reported[1] != []
    for name in ("whole", "all"):
        assert sorted(it.name for it in (tmp_path / name).iterdir()) == [
            "results.parquet", "summary.json",
        ]  # fmt: skip
    results = [
        (tmp_path / name / "results.parquet").read_bytes() for name in ("whole", "all")
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1/", "1/2/3", "٣/4"])
def test_impossible_shard_is_wrong_usage(grade, lines, shard):
    done = grade(lines, "--shard", shard)
    assert done.returncode == 2
    assert "--shard must be I/N with I from 1 to N, such as 2/8" in done.stderr


@pytest.mark.parametrize(
    "option", [("--shard", "1/2"), ("--cluster", "tcp://127.0.0.1:9")]
)
def test_only_grading_can_be_distributed(grade, lines, option):
    done = grade(lines, "--check", *option)
    assert done.returncode == 2
    assert f"{option[0]} has no effect with --check" in done.stderr
