"""A private ladder next to the public one shows scores, ranks and the gap, and nothing else."""

import json

import pytest

from scbench.base.errors import ResultsError
from scbench.freezing.fresh_folder import generate_folder
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.board import make_board
from scbench.leaderboard.page import render_board
from scbench.leaderboard.private import add_private, collect_private
from scbench.release.load import find_release

TASK = "delaunay_triangulation"
# The rung up to which each model is correct: aurora has memorized the public ladder.
PUBLIC = {"aurora": 8, "boreal": 6, "corona": 6}
PRIVATE = {"aurora": 1, "boreal": 6}
LIMITS = WorkerLimits(1, 120, 0)


@pytest.fixture(scope="module")
def folders(kit, climbed, rungs, tmp_path_factory):
    """Public submissions with their release, and the maintainers' folder."""
    root = tmp_path_factory.mktemp("private")
    private = root / "held"
    experiment = rungs.experiment(seed=2**70, private=True)
    generate_folder(experiment, private / "release")
    twin = find_release(str(private / "release"))
    for name, most in PUBLIC.items():
        kit.climb(root / "submissions" / name, name, climbed.ladder(), most)
    submissions = private / "submissions"
    for name, most in PRIVATE.items():
        kit.climb(submissions / name, name, twin, most)
    kit.climb(submissions / "wrong", "corona", twin, 8, tasks="spatial")
    return root, climbed, twin


@pytest.fixture(scope="module")
def board(folders, kit):
    """The public board with the private one next to it."""
    root, release, _ = folders
    done = kit.collected(root, release)
    held = collect_private(root / "held", root / "site", LIMITS)
    assert not done.refused
    assert [found.code for found in held.refused["wrong"]] == ["wrong_tasks"]
    made = make_board(done)
    add_private(made, done, held)
    return made


def test_private_scores_ranks_and_gap_are_next_to_the_public_ones(board):
    assert board["format"] == 1
    assert [record["private"] for record in board["refused"]] == [True]
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


def test_other_private_data_never_leaves_the_folder(board, folders):
    root, _, twin = folders
    text = json.dumps(board) + render_board(board)
    for row in twin.instances(twin.manifest.tasks).values():
        assert row.id not in text
        assert json.dumps(row.prompt)[1:-1] not in text
    for row in board["boards"][1]["settings"]["no_tools"]:
        assert row["files"] == {}
    graded = {path.name for path in (root / "site" / "graded").iterdir()}
    assert graded == set(PUBLIC)
    graded = {path.name for path in (root / "held" / "graded").iterdir()}
    assert graded == {*PRIVATE, "wrong"}


def test_private_folder_must_be_separate_and_a_private_ladder(folders, tmp_path):
    root, release, _ = folders
    for out in (root / "held", root / "held" / "site", root):
        with pytest.raises(ResultsError, match="may contain the other"):
            collect_private(root / "held", out, LIMITS)
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "release").symlink_to(release.root)
    with pytest.raises(ResultsError, match="is not a private ladder"):
        collect_private(tmp_path / "held", tmp_path / "site", LIMITS)
