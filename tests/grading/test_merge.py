"""Merged shards equal a single run, and shards that do not fit are refused."""

import gzip
import json
import math
import shutil
from pathlib import Path

import polars as pl
import pytest

from scbench.base.errors import ResultsError
from scbench.freezing.example import example_predictions
from scbench.grading.checkpoint import WORK
from scbench.grading.merge import merge, read_shards
from scbench.grading.options import Options
from scbench.grading.rows.chunks import Shard
from scbench.grading.run import grade_file
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.work_folder import WorkFolder
from scbench.release.load import find_release


def mixed(release) -> list[str]:
    """Lines of many kinds: several runs, near and distant duplicates, and every error."""
    rows = [json.loads(line) for line in example_predictions(release)]
    lines = [
        json.dumps({**row, "sample": sample}) for sample in range(5) for row in rows
    ]
    turns = [{"action": "odd", "observation": "Well done."}]
    loop = {
        "setting": "retry",
        "loop": {"setting": "retry"},
        "turns": turns,
        "model": "forger",
    }
    forged = [json.dumps({"id": f"parity/0{i}"} | loop) for i in (3, 2)]
    lines[20:20] = [forged[0], forged[0]]
    lines[40:40] = [lines[3], "no JSON", "[]", "", lines[40], '{"id": "parity/99"}']
    lines += [
        '{"id": "csg_union/03", "model": "m"}',
        lines[7],
        '{"id": "parity/1"}',
        lines[60],
    ]
    lines += [
        json.dumps({"id": f"parity_{i}/00"}) for i in range(450)
    ]  # more than get a hint
    lines += [
        json.dumps({"id": "parity/02", "model": "half", "answer": {"bit": 0}})
    ] * 3
    lines += [forged[1]]
    return lines


def options(path, release, out, shard=None, **more) -> Options:
    more = {"restart": True} | more
    return Options(
        str(path), release, out, WorkerLimits(2, None, 0), shard=shard, **more
    )


@pytest.fixture(scope="module")
def graded(parity_release, tmp_path_factory):
    """A file graded in one run and in three shards: the folder, and the report of the one run."""
    folder = tmp_path_factory.mktemp("shards")
    path = folder / "mixed.jsonl"
    path.write_text("\n".join(mixed(parity_release)))
    report = grade_file(options(path, parity_release, folder / "whole"))
    for number in (1, 2, 3):
        shard = Shard(number, 3)
        grade_file(options(path, parity_release, folder / f"shard{number}", shard))
    return folder, report


@pytest.fixture
def shards(graded, tmp_path) -> list[Path]:
    """Copies of the three shards."""
    return [
        Path(shutil.copytree(graded[0] / f"shard{number}", tmp_path / f"shard{number}"))
        for number in (1, 2, 3)
    ]


def same(folder: Path, whole: Path, *names: str) -> None:
    for name in names:
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    summaries = [
        json.loads((it / "summary.json").read_text()) for it in (folder, whole)
    ]
    for summary in summaries:
        del summary["seconds"]
    assert summaries[0] == summaries[1]
    assert {file.name for file in folder.iterdir()} == {
        file.name for file in whole.iterdir()
    }


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_merged_shards_equal_a_single_run(
    graded, shards, parity_release, tmp_path, order
):
    folder, report = graded
    merged = merge(
        read_shards([shards[i] for i in order]), parity_release, tmp_path / "merged"
    )
    same(tmp_path / "merged", folder / "whole", "results.parquet")
    assert merged.problems == report.problems
    assert merged.exit_code == report.exit_code == 1
    assert merged.results.equals(report.results)
    assert {problem.code for problem in report.problems} == {
        "duplicate", "forged_trace", "not_json", "not_object", "unknown_id", "incomplete",
    }  # fmt: skip


def test_files_that_end_early_are_merged_alike(parity_release, tmp_path):
    total = 2
    lines = "\n".join(mixed(parity_release)[:120]).encode()
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(lines)[:-60])
    whole = grade_file(options(path, parity_release, tmp_path / "whole", partial=True))
    folders = [tmp_path / f"s{number}" for number in range(1, total + 1)]
    for number, folder in enumerate(folders, 1):
        grade_file(
            options(path, parity_release, folder, Shard(number, total), partial=True)
        )
    merged = merge(read_shards(folders), parity_release, tmp_path / "merged")
    same(tmp_path / "merged", tmp_path / "whole", "results.parquet")
    codes = [
        problem.code for problem in merged.problems if problem.code != "forged_trace"
    ]
    assert codes[-1] == "unreadable"
    assert merged.problems == whole.problems


OPTIONS = {
    "tasks": ["parity"],
    "partial": False,
    "exclude_withdrawn": False,
    "allow_code": False,
}


def refused(folders, words, release=None, out=None) -> None:
    with pytest.raises(ResultsError, match=words):
        merge(read_shards(folders), release, out)


def change(folder: Path, **more) -> None:
    path = folder / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | more))


def test_gaps_and_overlaps_are_refused(graded, shards):
    refused(shards[:2], r"missing shards: 3/3; ")
    refused(shards[1:2], r"missing shards: 1/3, 3/3; ")
    refused([*shards, shards[1]], r"shard 2/3 was given twice: .*shard2 and .*shard2")
    refused([*shards[:2], graded[0] / "whole"], "whole contains a run without --shard")
    refused([], "give the output folders")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"scbench": "0.0.9"}, 'different version of scbench .* and "0.0.9"'),
        ({"release": {"version": "9", "rows_hash": "x"}}, "different release"),
        ({"graders": {"parity": 2}}, "different versions of graders"),
        ({"options": {**OPTIONS, "allow_code": True}}, "different options"),
        (
            {"predictions": {"files": ["a"], "sha256": "x", "lines": 3}},
            "predictions file",
        ),
        ({"shard": "3/4"}, r"different number of shards \(3 and 4\)"),
        ({"shard": "4/3"}, r"was changed \(shard\); grade this shard again"),
        ({"shard": "3/0"}, r"was changed \(shard\)"),
        ({"shard": 3}, r"was changed \(shard\)"),
        ({"shard": f"3/{10**12}"}, "different number of shards"),
        ({"release": {"version": "9"}}, "release.rows_hash: is missing"),
        (
            {"predictions": {"files": [], "sha256": "x", "lines": 3}},
            "must not be empty",
        ),
        ({"unread_keys": {"a": "b"}}, "unread_keys.a: must be a whole number"),
        ({"incidents": "none"}, "incidents: must be a list"),
        ({"rows": -1}, "rows: must be at least 0"),
    ],
)
def test_shards_that_do_not_belong_together_are_refused(shards, more, words):
    change(shards[2], **more)
    refused(shards, words)


def test_damaged_shards_are_refused_and_leave_nothing(shards, parity_release, tmp_path):
    out = tmp_path / "merged"
    data = (shards[0] / "results.parquet").read_bytes()
    (shards[0] / "results.parquet").write_bytes(
        (shards[1] / "results.parquet").read_bytes()
    )
    refused(
        shards, "does not belong to 1/3; grade that shard again", parity_release, out
    )
    (shards[0] / "results.parquet").write_bytes(data[:500])
    refused(shards, "cannot be read as Parquet", parity_release, out)
    (shards[0] / "results.parquet").write_bytes(data)
    problems = shards[2] / "problems.jsonl"
    problems.write_text("".join(problems.read_text().splitlines(keepends=True)[:-1]))
    refused(
        shards,
        r"problems.jsonl contains \d+ problems?, but its summary counts",
        parity_release,
        out,
    )
    problems.unlink()
    refused(shards, "problems.jsonl cannot be read", parity_release, out)
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    "edit",
    [
        pl.lit(math.nan).alias("score"),
        pl.lit(1.5).alias("score"),
        pl.lit(1).alias("line"),
        pl.lit(-2, pl.Int64).alias("line"),
        pl.lit(0).alias("more"),
    ],
)
def test_edited_results_of_a_shard_are_refused(edit, shards, parity_release, tmp_path):
    path = shards[0] / "results.parquet"
    pl.read_parquet(path).with_columns(edit).write_parquet(path)
    words = "does not belong to 1/3; grade that shard again"
    refused(shards, words, parity_release, tmp_path / "merged")


def test_another_release_or_scbench_version_is_refused(
    shards, parity_release, tmp_path
):
    refused(
        shards, "give their release with --release", find_release(), tmp_path / "out"
    )
    for folder in shards:
        change(folder, scbench="0.0.9")
    refused(shards, "graded by scbench 0.0.9", parity_release, tmp_path / "out")


def test_merging_into_an_interrupted_run_is_refused(shards, parity_release, tmp_path):
    (tmp_path / "out").mkdir()
    begun = WorkFolder(tmp_path / "out" / WORK)
    begun.mark("a run")
    begun.close()
    refused(shards, "contains an interrupted run", parity_release, tmp_path / "out")
