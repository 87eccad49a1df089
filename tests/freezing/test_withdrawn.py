"""Withdrawn instances: named with reasons, kept in the data, excluded from scores on request."""

import json
from pathlib import Path

import pytest

from scbench.base.errors import ReleaseError
from scbench.catalog import get_task
from scbench.freezing.example import example_predictions
from scbench.freezing.freeze import build_release, read_withdrawn
from scbench.freezing.verify import verify_release
from scbench.grading.check import check_file
from scbench.grading.options import Options, choose_tasks
from scbench.grading.run import grade_file
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.release.load import Release, open_release

REASONS = {
    "enumerate_edges/02": "its third square is drawn twice",
    "shikaku_rectangles/05": "old",
}


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Release:
    root = tmp_path_factory.mktemp("withdrawn") / "release"
    tasks = [get_task("enumerate_edges"), get_task("shikaku_rectangles")]
    build_release("0.0.3", root, tasks, withdrawn=REASONS)
    return open_release(root)


@pytest.fixture
def predictions(release, tmp_path) -> Path:
    path = tmp_path / "predictions.jsonl"
    path.write_text("\n".join(example_predictions(release)), "utf-8")
    return path


def test_withdrawn_instances_stay_in_data_manifest_and_card(release):
    assert release.manifest.withdrawn == REASONS
    assert set(REASONS) <= release.instances().keys()
    assert release.manifest.scores == 14
    assert (
        "| `enumerate_edges/02` | its third square is drawn twice |"
        in release.read("README.md").decode()
    )
    assert verify_release(release.root) == ()


def test_unknown_instance_cannot_be_withdrawn(tmp_path):
    tasks = [get_task("enumerate_edges")]
    with pytest.raises(
        ReleaseError, match=r"'enumerate_edges/99' cannot be .* Did you mean 'enum"
    ):
        build_release(
            "0.0.3", tmp_path / "out", tasks, withdrawn={"enumerate_edges/99": "x"}
        )
    assert list(tmp_path.iterdir()) == []


def test_verify_names_a_withdrawn_id_of_no_instance(copy, forge):
    forge(copy, lambda record: record.update(withdrawn={"x/00": "gone"}))
    problems = verify_release(copy)
    assert (
        "MANIFEST.json: withdraws x/00, which is not an item of this release"
        in problems
    )
    assert "README.md: differs from the newly written file" in problems


def grade(release: Release, path: Path, out: Path, **options: bool):
    return grade_file(
        Options(str(path), release, out, WorkerLimits(1, None, 0), **options)
    )


def test_excluded_instances_are_in_no_table_and_no_coverage(
    release, predictions, tmp_path
):
    whole = grade(release, predictions, tmp_path / "whole")
    assert whole.remarks == []
    assert whole.summary["withdrawn"] == {
        "excluded": False, "instances": list(REASONS), "scores": 2, "lines": 0,
    }  # fmt: skip
    part = grade(release, predictions, tmp_path / "part", exclude_withdrawn=True)
    assert part.problems == []
    assert part.remarks == ["Excluded: 2 withdrawn items (2 scores, 4 lines)."]
    assert part.summary["withdrawn"] == {
        "excluded": True, "instances": list(REASONS), "scores": 2, "lines": 4,
    }  # fmt: skip
    assert not set(part.results["id"]) & REASONS.keys()
    assert part.results.height == whole.results.height - 4
    assert [row["n"] for row in part.tables["task"].to_dicts()] == [7, 5] * 2
    kept = whole.results.filter(~whole.results["id"].is_in(list(REASONS)))
    assert part.results["score"].to_list() == kept["score"].to_list()


def test_file_without_withdrawn_instances_is_complete(release, predictions, tmp_path):
    lines = [
        line
        for line in predictions.read_text("utf-8").splitlines()
        if json.loads(line)["id"] not in REASONS
    ]
    predictions.write_text("\n".join(lines), "utf-8")
    assert grade(release, predictions, tmp_path / "a").exit_code == 1
    assert (
        grade(release, predictions, tmp_path / "b", exclude_withdrawn=True).exit_code
        == 0
    )
    tasks = choose_tasks(release, None)
    checked = check_file(str(predictions), release, tasks, partial=False)
    assert {problem.code for problem in checked.problems} == {"incomplete"}
    checked = check_file(
        str(predictions), release, tasks, partial=False, exclude_withdrawn=True
    )
    assert checked.problems == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("w.toml", "= 1", "is not TOML"),
        ("w.toml", "a = " + "[" * 100_000, "is not TOML"),
        ("w.json", "[" * 100_000, "is not JSON"),
        ("w.toml", '"a/00" = 1', "'a/00' needs a reason"),
        ("w.toml", '"a/00" = "two\\nlines"', "'a/00' needs a reason in one line"),
        ("w.toml", '[a]\nb = "x"', "'a' needs a reason.*quote ids"),
        ("w.json", '["a/00"]', "must contain item ids"),
    ],
)
def test_invalid_withdrawal_files_are_explained(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ReleaseError, match=message):
        read_withdrawn(tmp_path / name)
