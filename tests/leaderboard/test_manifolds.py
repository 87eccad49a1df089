"""Boards of a release with text tasks: one for spatial tasks, one for text tasks."""

import pytest

from scbench.catalog import get_task
from scbench.freezing.experiment import experiment_of
from scbench.freezing.freeze import build_release
from scbench.leaderboard.board import make_board
from scbench.leaderboard.folder import open_submission
from scbench.leaderboard.page import render_board
from scbench.leaderboard.validate import release_finder, validate
from scbench.release.load import find_release


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A frozen release of a spatial task and a text task."""
    folder = tmp_path_factory.mktemp("mixed") / "0.0.2"
    texts = experiment_of({"seed": 1, "task": [{"id": "boolean", "count": 5}]})
    build_release("0.0.2", folder, [get_task("enumerate_edges")], experiment=texts)
    return find_release(str(folder))


def test_answer_to_a_text_task_is_refused_with_the_reason(mixed, kit, tmp_path):
    lines = [
        *kit.answers(mixed),
        {"id": "boolean/00", "model": "aurora-large", "response": "x"},
    ]
    kit.submit(tmp_path, kit.about.format(release="0.0.2"), lines)
    with open_submission(tmp_path) as opened:
        (finding,) = validate(opened, release_finder([mixed])).problems
    assert (finding.code, finding.line) == ("not_in_release", len(lines))
    assert finding.message == "boolean is in release 0.0.2, but not on this board"


def test_text_tasks_have_a_separate_board(mixed, kit, tmp_path):
    for name, tasks, wrong in (("aurora", "spatial", 0), ("boreal", "manifolds", 2)):
        about = kit.about.format(release="0.0.2") + f"tasks: {tasks}\n"
        lines = kit.answers(mixed, tasks=mixed.manifest.board_records(tasks))
        for line in lines[:wrong]:
            line["answer"] = {"answer": "neither"}
        for line in lines:
            line["run"] = {"effort": "high"}
        kit.submit(tmp_path / "submissions" / name, about, lines)
    finding = kit.collected(tmp_path, mixed)
    assert not finding.refused
    board = make_board(finding)
    spatial, texts = board["boards"]
    assert (spatial["tasks_of"], texts["tasks_of"]) == ("spatial", "manifolds")
    assert (spatial["buckets"], texts["buckets"]) == ({"overall": 8}, {"overall": 5})
    assert texts["over"] == ["manifolds"]
    (row,) = texts["settings"]["no_tools"]
    overall = row["buckets"]["overall"]
    assert (row["submission"], overall["mean"], overall["rank"]) == ("boreal", 0.6, 1)
    # Three of five answers are right; the scale begins at the floor.
    floor = overall["floor"]
    assert overall["normalized"] == pytest.approx((3 - floor * 5) / (5 * (1 - floor)))
    assert [entry["tasks_of"] for entry in board["history"]] == ["manifolds", "spatial"]
    receipts = {entry.name: entry.receipt for entry in finding.entries}
    assert receipts["boreal"].tasks_of == "manifolds"
    assert [run.effort for run in receipts["boreal"].run] == ["high"]
    page = render_board(board)
    assert "Release 0.0.2, text tasks" in page
    assert ">Manifolds" in page
    again = kit.collected(tmp_path, mixed)
    assert all(entry.reused for entry in again.entries)
