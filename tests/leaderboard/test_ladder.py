"""Levels on the board: a separate table sorted by level, and a column next to the means."""

import json

import pytest

from scbench.base.errors import ResultsError
from scbench.leaderboard.board import make_board
from scbench.leaderboard.publish import hub_results, write_board

TASK = "delaunay_triangulation"
RIGHT_UP_TO = {"aurora": 3, "boreal": 6, "corona": 8}


@pytest.fixture(scope="module")
def collection(climbed, kit, tmp_path_factory):
    """Three models on the ladder, one of which also answered the spatial tasks."""
    root = tmp_path_factory.mktemp("board")
    submissions = root / "submissions"
    most = RIGHT_UP_TO["aurora"]
    kit.climb(submissions / "aurora-spatial", "aurora", climbed, most, "spatial")
    for name, most in RIGHT_UP_TO.items():
        folder = submissions / f"{name}-ladder"
        kit.climb(folder, name, climbed.ladder(), most, "ladder")
    done = kit.collected(root, climbed)
    assert not done.refused
    assert all(entry.reused for entry in kit.collected(root, climbed).entries)
    return done


def test_ladder_has_a_board_sorted_by_level(collection):
    spatial, ladder = make_board(collection)["boards"]
    assert (spatial["tasks_of"], ladder["tasks_of"]) == ("spatial", "ladder")
    assert ladder["release"]["version"] == "0.0.3+ladder"
    rows = ladder["settings"]["no_tools"]
    assert [row["model"] for row in rows] == ["corona", "boreal", "aurora"]
    levels = [row["levels"]["overall"] for row in rows]
    assert (levels[0]["level"], levels[0]["beyond"]) == (None, "above 8")
    assert levels[1]["level"] == pytest.approx(6.5, abs=0.3)
    assert levels[2]["level_low"] < 3.5 < levels[2]["level_high"]
    assert rows[1]["levels"][TASK] == levels[1]


def test_level_of_a_model_is_next_to_its_means(collection):
    board = make_board(collection)
    (row,) = board["boards"][0]["settings"]["no_tools"]
    ladder = board["boards"][1]["settings"]["no_tools"]
    assert row["levels"] == {"overall": ladder[-1]["levels"]["overall"]}
    assert json.loads(json.dumps(board, allow_nan=False)) == board


def test_levels_are_not_sent_to_the_hub(collection, tmp_path):
    files = write_board(
        tmp_path, make_board(collection), collection.entries, "scbench/scbench"
    )
    for_the_hub = [path.name for path in files if path.suffix == ".yaml"]
    assert for_the_hub == ["aurora-spatial.yaml"]
    receipts = [entry.receipt for entry in collection.entries]
    of_ladder = next(one for one in receipts if one.tasks_of == "ladder")
    with pytest.raises(ResultsError, match="no levels"):
        hub_results(of_ladder, "scbench/scbench")
