"""Tables report graders that differ from those the release was frozen with."""

import json

import pytest
from typer.testing import CliRunner

from scbench.catalog import get_task
from scbench.cli import grade
from scbench.freezing.example import example_predictions
from scbench.freezing.freeze import build_release
from scbench.grading.summary import grader_differences, remarks
from scbench.release.load import Release, open_release
from scbench.release.manifest import MANIFEST, Manifest

SAID = (
    "Graded with grader versions other than those of release 0.0.1: enumerate_edges v"
)


@pytest.fixture(scope="module")
def older(tmp_path_factory) -> Release:
    """A release that claims another grader version for one of its two tasks."""
    root = tmp_path_factory.mktemp("older") / "release"
    build_release(
        "0.0.1", root, [get_task("enumerate_edges"), get_task("shikaku_rectangles")]
    )
    record = json.loads((root / MANIFEST).read_text("utf-8"))
    record["tasks"]["enumerate_edges"]["grader_version"] += 7
    (root / MANIFEST).write_text(
        Manifest.model_validate(record).sealed().text(), "utf-8"
    )
    return open_release(root)


def test_differences_name_both_versions(older):
    tasks = [get_task(name) for name in older.manifest.tasks]
    now = tasks[0].grader_version
    assert grader_differences(older, tasks) == {
        "enumerate_edges": {"release": now + 7, "installed": now}
    }
    assert grader_differences(older, tasks[1:]) == {}
    assert list(remarks(older, tasks[1:])) == []
    (sentence,) = remarks(older, tasks)
    assert sentence.startswith(f"{SAID}{now} (release: v{now + 7}).")


def test_lines_without_a_setting_count_as_a_separate_run(older, tmp_path):
    runs = [
        {"model": name, "setting": setting}
        for name, setting in (("a", None), ("b", "tools"))
    ]
    assert list(remarks(older, [], runs=runs)) == []
    (message,) = remarks(older, [], runs=[*runs, {"model": "b", "setting": None}])
    assert message.startswith(
        "Lines of 'b' without a setting count as a separate run from those with tools"
    )
    rows = [json.loads(line) for line in example_predictions(older)][:2]
    del rows[1]["setting"]
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = [path, "--release", older.root, "--partial", "--out", tmp_path / "out"]
    done = CliRunner().invoke(grade.app, list(map(str, words)))
    assert "Lines of 'oracle' without a setting" in done.stdout
