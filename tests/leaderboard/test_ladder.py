"""Levels on the board: a table of their own sorted by them, and a column beside the means."""

import json

import polars as pl
import pytest

from scbench.base.errors import ResultsError
from scbench.base.model import rung_of
from scbench.catalog import get_task
from scbench.freezing.freeze import build_release
from scbench.freezing.ladder import Ladder
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.board import flat_rows, make_board
from scbench.leaderboard.collect import collect
from scbench.leaderboard.folder import open_submission
from scbench.leaderboard.page import hub_results, render_board, write_board
from scbench.leaderboard.validate import release_finder, validate
from scbench.release.load import find_release

TASK = "delaunay_triangulation"
RIGHT_UP_TO = {"aurora": 3, "boreal": 6, "corona": 8}


@pytest.fixture(scope="module")
def climbed(tmp_path_factory):
    """A frozen release with a ladder of eight rungs of one task."""
    folder = tmp_path_factory.mktemp("climbed") / "0.0.3"
    rungs = [{"points": 4 + rung} for rung in range(8)]
    table = {TASK: {"measure": "points", "words": "more points", "rungs": rungs}}
    ladder = Ladder.model_validate({"seed": 3, "count": 3, "tasks": table})
    build_release("0.0.3", folder, [get_task(TASK)], ladder=ladder.experiment())
    return find_release(str(folder))


@pytest.fixture(scope="module")
def found(climbed, kit, tmp_path_factory):
    """Three models on the ladder, of which one answered the spatial tasks, too."""
    root = tmp_path_factory.mktemp("board")
    for name, tasks in [("aurora", "spatial"), *((name, "ladder") for name in RIGHT_UP_TO)]:
        folder = root / "entries" / f"{name}-{tasks}"
        folder.mkdir(parents=True)
        about = kit.about.format(release="0.0.3").replace("Aurora", name) + f"tasks: {tasks}\n"
        (folder / "submission.yaml").write_text(about, "utf-8")
        lines = kit.answers(climbed.ladder() if tasks == "ladder" else climbed)
        for line in lines:
            if (rung_of(line["id"]) or 0) > RIGHT_UP_TO[name]:
                line["answer"] = {"triangles": []}
        kit.write(folder / "predictions.jsonl", lines)
    limits, out = WorkerLimits(1, 120, 0), root / "site"
    finder = release_finder([climbed])
    done = collect(root / "entries", out, finder, limits, reports=False)
    assert not done.refused
    again = collect(root / "entries", out, finder, limits, reports=False)
    assert all(entry.reused for entry in again.entries)
    return done


def test_the_ladder_has_a_board_sorted_by_level(found):
    spatial, ladder = make_board(found)["boards"]
    assert (spatial["tasks_of"], ladder["tasks_of"]) == ("spatial", "ladder")
    assert ladder["release"]["version"] == "0.0.3+ladder"
    rows = ladder["settings"]["no_tools"]
    assert [row["model"] for row in rows] == ["corona", "boreal", "aurora"]
    levels = [row["levels"]["overall"] for row in rows]
    assert (levels[0]["level"], levels[0]["beyond"]) == (None, "above 8")
    assert levels[1]["level"] == pytest.approx(6.5, abs=0.3)
    assert levels[2]["level_low"] < 3.5 < levels[2]["level_high"]
    assert rows[1]["levels"][TASK] == levels[1]


def test_a_model_has_its_level_beside_its_means(found):
    board = make_board(found)
    (row,) = board["boards"][0]["settings"]["no_tools"]
    ladder = board["boards"][1]["settings"]["no_tools"]
    assert row["levels"] == {"overall": ladder[-1]["levels"]["overall"]}
    assert json.loads(json.dumps(board, allow_nan=False)) == board


def test_page_and_table_say_so(found):
    board = make_board(found)
    page = render_board(board)
    assert "Release 0.0.3, ladder" in page
    assert "Release 0.0.3</h2>" in page
    assert page.count(">Level <span") == 2
    assert "above 8" in page
    assert "no tools, ladder" in page or "without tools, ladder" in page
    assert "+ladder" not in page.replace('id="r0-0-3+ladder', "")
    rows = flat_rows(board).filter(pl.col("bucket") == "overall")
    assert rows["beyond"].drop_nulls().to_list() == ["above 8"]
    assert rows["level"].null_count() == 1


def test_without_a_ladder_nothing_speaks_of_levels(found):
    found_before = found.entries
    found.entries = [entry for entry in found_before if entry.receipt.tasks_of == "spatial"]
    try:
        board = make_board(found)
        assert "levels" not in json.dumps(board)
        assert "level" not in flat_rows(board).columns
        assert "Level" not in render_board(board)
    finally:
        found.entries = found_before


def test_the_hub_is_told_no_levels(found, tmp_path):
    files = write_board(tmp_path, make_board(found), found.entries, "scbench/scbench")
    assert [path.name for path in files if path.suffix == ".yaml"] == ["aurora-spatial.yaml"]
    ladder = next(entry for entry in found.entries if entry.receipt.tasks_of == "ladder")
    with pytest.raises(ResultsError, match="no levels"):
        hub_results(ladder.receipt, "scbench/scbench")


def test_a_release_without_a_ladder_has_no_such_board(small, kit, tmp_path):
    about = kit.about.format(release="0.0.1") + "tasks: ladder\n"
    (tmp_path / "submission.yaml").write_text(about, "utf-8")
    kit.write(tmp_path / "predictions.jsonl", kit.answers(small))
    with open_submission(tmp_path) as opened:
        (found,) = validate(opened, release_finder([small])).problems
    assert (found.code, found.message) == ("unknown_tasks", "release 0.0.1 has no ladder")
