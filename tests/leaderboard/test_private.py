"""A private ladder beside the public one: scores, ranks and the gap are shown, and nothing else."""

import json

import pytest

from scbench.base.errors import ResultsError
from scbench.base.model import rung_of
from scbench.catalog import get_task
from scbench.freezing.freeze import build_release
from scbench.freezing.fresh_folder import generate_folder
from scbench.freezing.ladder import Ladder
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.board import flat_rows, make_board
from scbench.leaderboard.collect import collect
from scbench.leaderboard.page import render_board
from scbench.leaderboard.private import add_private, collect_private
from scbench.leaderboard.validate import release_finder
from scbench.release.load import find_release

TASK = "delaunay_triangulation"
PUBLIC = {"aurora": 8, "boreal": 6, "corona": 6}
PRIVATE = {"aurora": 1, "boreal": 6}
"""Rungs up to which each model is right: one knows the public ladder by heart."""
LIMITS = WorkerLimits(1, 120, 0)


def submit(folder, name, release, kit, most, tasks="ladder"):
    folder.mkdir(parents=True)
    about = kit.about.format(release="0.0.3").replace("Aurora", name) + f"tasks: {tasks}\n"
    (folder / "submission.yaml").write_text(about, "utf-8")
    lines = kit.answers(release)
    for line in lines:
        if (rung_of(line["id"]) or 0) > most:
            line["answer"] = {"triangles": []}
    kit.write(folder / "predictions.jsonl", lines)


@pytest.fixture(scope="module")
def folders(kit, tmp_path_factory):
    """Public submissions with their release, and the maintainers' folder."""
    root = tmp_path_factory.mktemp("private")
    rungs = [{"points": 4 + rung} for rung in range(8)]
    table = {TASK: {"measure": "points", "words": "more points", "rungs": rungs}}
    ladder = Ladder.model_validate({"seed": 3, "count": 3, "tasks": table})
    build_release("0.0.3", root / "0.0.3", [get_task(TASK)], ladder=ladder.experiment())
    release = find_release(str(root / "0.0.3"))
    generate_folder(ladder.experiment(seed=2**70, private=True), root / "held" / "release")
    twin = find_release(str(root / "held" / "release"))
    for name, most in PUBLIC.items():
        submit(root / "entries" / name, name, release.ladder(), kit, most)
    for name, most in PRIVATE.items():
        submit(root / "held" / "submissions" / name, name, twin, kit, most)
    submit(root / "held" / "submissions" / "wrong", "corona", twin, kit, 8, tasks="spatial")
    return root, release, twin


@pytest.fixture(scope="module")
def board(folders):
    """The public board with the private one beside it."""
    root, release, _ = folders
    finder = release_finder([release])
    done = collect(root / "entries", root / "site", finder, LIMITS, reports=False)
    held = collect_private(root / "held", root / "site", LIMITS)
    assert not done.refused
    assert [found.code for found in held.refused["wrong"]] == ["wrong_tasks"]
    made = make_board(done)
    add_private(made, done, held)
    return made


def test_scores_ranks_and_gap_stand_beside_the_public_ones(board):
    public, private = board["boards"]
    assert "private" not in public
    assert private["private"]
    rows = {row["model"]: row for row in public["settings"]["no_tools"]}
    held = private["settings"]["no_tools"]
    assert [row["model"] for row in held] == ["boreal", "aurora"]
    assert [row["buckets"]["overall"]["rank"] for row in held] == [1, 2]
    assert rows["aurora"]["private"]["rank"] == 2
    assert rows["aurora"]["private"]["mean"] < 0.3
    assert rows["aurora"]["buckets"]["overall"]["mean"] > 0.9
    gap = rows["aurora"]["gap"]
    assert gap["verdict"] == "public is higher"
    assert 0 < gap["low"] <= gap["difference"] + 1e-9
    assert gap["difference"] == pytest.approx(gap["public"] - gap["private"])
    assert gap["high"] >= gap["difference"] - 1e-9
    assert rows["boreal"]["gap"]["difference"] == 0
    assert rows["boreal"]["gap"]["verdict"] != "public is higher"
    assert not {"private", "gap"} & rows["corona"].keys()


def test_page_and_table_show_them(board):
    page = render_board(board)
    assert "private ladder</h2>" in page
    assert "public is higher" in page
    rows = {
        row["model"]: row
        for row in flat_rows(board).to_dicts()
        if row["bucket"] == "overall" and row["release"] == "0.0.3+ladder"
    }
    assert rows["aurora"]["gap"] > 0.5
    assert rows["boreal"]["private"] == pytest.approx(0.75)
    assert rows["corona"]["gap"] is None


def test_nothing_else_of_it_leaves_the_folder(board, folders):
    root, _, twin = folders
    text = json.dumps(board) + render_board(board)
    for row in twin.instances(twin.manifest.tasks).values():
        assert row.id not in text
        assert json.dumps(row.prompt)[1:-1] not in text
    for row in board["boards"][1]["settings"]["no_tools"]:
        assert row["files"] == {}
    assert {path.name for path in (root / "site" / "graded").iterdir()} == set(PUBLIC)
    assert {path.name for path in (root / "held" / "graded").iterdir()} == {*PRIVATE, "wrong"}


def test_it_must_lie_apart_and_be_a_private_ladder(folders, tmp_path):
    root, release, _ = folders
    for out in (root / "held", root / "held" / "site", root):
        with pytest.raises(ResultsError, match="lie apart"):
            collect_private(root / "held", out, LIMITS)
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "release").symlink_to(release.root)
    with pytest.raises(ResultsError, match="is no private ladder"):
        collect_private(tmp_path / "held", tmp_path / "site", LIMITS)
