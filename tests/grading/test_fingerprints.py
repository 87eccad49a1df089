"""Whose machine computes how is kept beside scores, and said where it differs."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from scbench.analysis.results import machines
from scbench.catalog import get_task
from scbench.grading.summary import fingerprints_in, remarks
from scbench.leaderboard.board import _fingerprints
from scbench.release.manifest import Manifest

BIN = Path(sys.executable).parent
TASK = get_task("terrain_levelling")


def frame(*rows):
    """Rows of model, task and fingerprint; none where that is None."""
    return pl.DataFrame(
        {
            "model": [row[0] for row in rows],
            "setting": ["tools"] * len(rows),
            "budget": pl.Series([None] * len(rows), dtype=pl.Int64),
            "task": [row[1] for row in rows],
            "metrics": [json.dumps({"fingerprint": row[2]} if row[2] else {}) for row in rows],
        }
    )


def record(fingerprint):
    """A manifest of one task."""
    record = {"bucket": "planning", "instances": 1, "scores": 1, "rows_hash": ""}
    record |= {"builder_version": 1, "grader_version": TASK.grader_version}
    record |= {"floor": {"mean": 0.0, "strategies": {}}}
    return Manifest.model_validate(
        {
            "version": "9.0.0",
            "package_version": "9",
            "rows_hash": "",
            "tasks": {TASK.id: record | {"fingerprint": fingerprint}},
            "references": {"references": 0, "counter_references": 0, "rows_hash": ""},
            "files": {},
            "libraries": {},
            "canary": "",
        }
    )


def test_only_tasks_that_depend_on_the_machine_have_fingerprints():
    rows = frame(
        ("a", TASK.id, "f1"), ("a", TASK.id, None), ("b", TASK.id, "f2"), ("b", "maze_3d", "f3")
    )
    assert fingerprints_in(rows.lazy()) == {TASK.id: ["f1", "f2"]}
    assert fingerprints_in(rows.filter(task="maze_3d").lazy()) == {}
    assert get_task("maze_3d").fingerprint() is None


def test_a_run_on_a_machine_unlike_the_releases_is_told():
    def said(frozen, *found):
        release = SimpleNamespace(version="9.0.0", manifest=record(frozen))
        return list(remarks(release, [TASK], None, {TASK.id: found}))

    assert said("f1", "f1") == said(None, "f2") == said("f1") == []
    (sentence,) = said("f1", "f1", "f2")
    assert "fingerprint f2, release: f1" in sentence


def test_manifests_without_fingerprints_keep_their_text():
    assert "fingerprint" not in record(None).text()
    assert '"fingerprint": "f1"' in record("f1").text()


def test_runs_that_were_judged_on_unlike_machines_are_named():
    alike = frame(("a", TASK.id, "f1"), ("b", TASK.id, "f1"))
    assert machines(alike) == []
    (sentence,) = machines(pl.concat([alike, frame(("c", TASK.id, "f2"))]))
    assert "f1: a tools, b tools; f2: c tools" in sentence


def test_a_board_names_submissions_that_were_judged_on_unlike_machines():
    def entry(name, *found):
        return SimpleNamespace(name=name, receipt=SimpleNamespace(fingerprints={TASK.id: found}))

    assert _fingerprints([entry("x", "f1"), entry("y", "f1"), entry("z")]) == {}
    assert _fingerprints([entry("y", "f2"), entry("x", "f1"), entry("z", "f2")]) == {
        TASK.id: {"f1": ["x"], "f2": ["y", "z"]}
    }


def test_summaries_have_it_and_compare_says_where_runs_differ(tmp_path):
    if TASK.fingerprint() is None:
        pytest.skip("PyBullet is not installed (scbench[terrain])")
    path = tmp_path / "p.jsonl"
    lines = [
        {"id": f"{TASK.id}/{i:02d}", "model": model, "answer": {"blasts": []}}
        for model in ("a", "b")
        for i in range(9)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    out = tmp_path / "out"
    command = [
        BIN / "scbench-grade",
        path,
        "--out",
        out,
        "--tasks",
        TASK.id,
        "-q",
        "--workers",
        "1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (out / "summary.json").is_file(), done.stderr
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert summary["fingerprints"] == {TASK.id: [TASK.fingerprint()]}

    def compared():
        command = [BIN / "scbench", "compare", out]
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr

    assert "compute differently" not in compared()
    results = pl.read_parquet(out / "results.parquet")
    other = pl.col("metrics").str.replace(TASK.fingerprint(), "0123456789abcdef")
    changed = results.with_columns(
        metrics=pl.when(pl.col("model") == "b").then(other).otherwise("metrics")
    )
    changed.write_parquet(out / "results.parquet")
    assert "0123456789abcdef: b" in compared()
