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
    # One shard has the duplicate, the other the line that is not JSON.
    assert [done.returncode for done in shards] == [1, 1]
    folders = ["scbench-results/p-2-of-2", "scbench-results/p-1-of-2"]
    options = ("--out", "all", "--release", parity_release.root)
    merged = command("scbench", "merge", *folders, *options)
    assert merged.returncode == complete.returncode == 1
    assert merged.stdout == complete.stdout
    assert problems_in(merged) == problems_in(complete) != []
    for name in ("whole", "all"):
        files = sorted(path.name for path in (tmp_path / name).iterdir())
        assert files == ["results.parquet", "summary.json"]
    whole = (tmp_path / "whole" / "results.parquet").read_bytes()
    assert (tmp_path / "all" / "results.parquet").read_bytes() == whole


def problems_in(done) -> list[str]:
    return [line for line in done.stderr.splitlines() if "line" in line]


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
