"""Scores are stored with the fingerprint of the machine, and differences are reported."""

import json
from types import SimpleNamespace

import polars as pl

from scbench.analysis.results import machine_warnings
from scbench.catalog import get_task
from scbench.grading.summary import fingerprints_in, remarks
from scbench.release.manifest import Manifest

TASK = get_task("terrain_levelling")


def frame(*rows):
    """Rows of model, task and fingerprint; no fingerprint if it is None."""
    return pl.DataFrame(
        {
            "model": [row[0] for row in rows],
            "setting": ["tools"] * len(rows),
            "budget": pl.Series([None] * len(rows), dtype=pl.Int64),
            "task": [row[1] for row in rows],
            "metrics": [
                json.dumps({"fingerprint": row[2]} if row[2] else {}) for row in rows
            ],
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


def test_only_machine_dependent_tasks_have_fingerprints():
    rows = frame(
        ("a", TASK.id, "f1"),
        ("a", TASK.id, None),
        ("b", TASK.id, "f2"),
        ("b", "maze_3d", "f3"),
    )
    assert fingerprints_in(rows.lazy()) == {TASK.id: ["f1", "f2"]}
    assert fingerprints_in(rows.filter(task="maze_3d").lazy()) == {}
    assert get_task("maze_3d").fingerprint() is None


def test_run_on_a_machine_unlike_the_releases_is_reported():
    def remarks_on(frozen, *found):
        release = SimpleNamespace(version="9.0.0", manifest=record(frozen))
        return list(remarks(release, [TASK], None, {TASK.id: found}))

    assert remarks_on("f1", "f1") == remarks_on(None, "f2") == remarks_on("f1") == []
    (sentence,) = remarks_on("f1", "f1", "f2")
    assert "fingerprint f2, release: f1" in sentence


def test_runs_graded_on_different_machines_are_named():
    alike = frame(("a", TASK.id, "f1"), ("b", TASK.id, "f1"))
    assert machine_warnings(alike) == []
    (sentence,) = machine_warnings(pl.concat([alike, frame(("c", TASK.id, "f2"))]))
    assert "f1: a tools, b tools; f2: c tools" in sentence
