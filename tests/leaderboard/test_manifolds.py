"""Boards are about the spatial tasks, whether or not the release holds text tasks as well."""

import pytest

from scbench.build.experiment import experiment_of
from scbench.build.freeze import build_release
from scbench.catalog import get_task
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.board import make_board
from scbench.leaderboard.collect import collect
from scbench.leaderboard.folder import open_submission
from scbench.leaderboard.validate import release_finder, validate
from scbench.release.load import find_release


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A frozen release of a spatial task and a text task."""
    folder = tmp_path_factory.mktemp("mixed") / "0.0.2"
    texts = experiment_of({"seed": 1, "task": [{"id": "boolean", "count": 5}]})
    build_release("0.0.2", folder, [get_task("enumerate_edges")], experiment=texts)
    return find_release(str(folder))


def test_a_submission_needs_no_answers_to_text_tasks(mixed, kit, tmp_path):
    folder = tmp_path / "entries" / "aurora"
    folder.mkdir(parents=True)
    (folder / "submission.yaml").write_text(kit.about.format(release="0.0.2"), "utf-8")
    lines = kit.answers(mixed)
    assert {line["id"].partition("/")[0] for line in lines} == {"enumerate_edges"}
    kit.write(folder / "predictions.jsonl", lines)
    found = collect(
        tmp_path / "entries",
        tmp_path / "site",
        release_finder([mixed]),
        WorkerLimits(1, 120, 0),
        reports=False,
    )
    (entry,) = found.entries
    assert entry.receipt.complete
    assert list(entry.receipt.graders) == ["enumerate_edges"]
    (board,) = make_board(found)["boards"]
    assert board["buckets"] == {"overall": 8, "axiomatic": 8}
    assert board["tasks"] == {"enumerate_edges": 8}


def test_an_answer_to_a_text_task_is_refused_with_the_reason(mixed, kit, tmp_path):
    (tmp_path / "submission.yaml").write_text(kit.about.format(release="0.0.2"), "utf-8")
    lines = [*kit.answers(mixed), {"id": "boolean/00", "model": "aurora-large", "response": "x"}]
    kit.write(tmp_path / "predictions.jsonl", lines)
    with open_submission(tmp_path) as opened:
        (found,) = validate(opened, release_finder([mixed])).problems
    assert (found.code, found.line) == ("not_in_release", len(lines))
    assert found.message == "boolean is in release 0.0.2, but no task of the leaderboard"
