"""Reading results: accepted files, and the message of every refusal."""

from pathlib import Path

import polars as pl
import pytest

from scbench.analysis.results import (
    check_results,
    config_in,
    expected_scores,
    read_results,
)
from scbench.base.errors import ResultsError
from scbench.release.load import find_release

ROWS = tuple({"subtask": i, "score": float(i % 2)} for i in range(3))
SOLIDS = tuple({"task": "csg_union", "subtask": i, "score": 0.25} for i in range(2))


@pytest.fixture
def write(tmp_path, make_results):
    """A function that writes result rows to a file."""

    def run(*rows, name: str = "r.parquet", **columns) -> Path:
        path = tmp_path / name
        make_results(*rows).with_columns(**columns).write_parquet(path)
        return path

    return run


def refused(*paths, **options) -> str:
    with pytest.raises(ResultsError) as caught:
        read_results(paths, **options)
    return str(caught.value)


def test_missing_file_is_named(tmp_path):
    assert "give at least one" in refused()
    assert "no such file" in refused(tmp_path / "nowhere.parquet")
    assert "scbench-grade writes one" in refused(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"id,score\n", b"PAR1" + bytes(100) + b"PAR1"]
)
def test_invalid_parquet_is_named(tmp_path, content):
    path = tmp_path / "r.parquet"
    path.write_bytes(content)
    message = refused(path)
    assert str(path) in message
    if content.startswith(b"PAR1"):
        assert "cannot be read as Parquet" in message
    else:
        assert f"grade it first: scbench-grade {path}" in message
    assert "\n" not in message


def test_unreadable_file_is_named():
    with pytest.raises(ResultsError, match="cannot read /proc/self/mem: not a regular"):
        read_results("/proc/self/mem")


def test_missing_column_is_named(write, tmp_path):
    path = write(*ROWS)
    pl.read_parquet(path).drop("sample").write_parquet(path)
    assert "is not a results file: it has no column 'sample'" in refused(path)


def test_column_of_another_type_is_named(write):
    path = write(*ROWS, score=pl.lit("1.0"))
    assert "column 'score' has the type String instead of Float64" in refused(path)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"release": "9.9.8"}, "from 2 releases: 9.9.8 (h), 9.9.9 (h)"),
        ({"release_hash": "g"}, "from 2 releases: 9.9.9 (g), 9.9.9 (h)"),
        (
            {"grader_version": 2},
            "different grader versions: two_segments by versions 1, 2",
        ),
        ({"grader_version": None}, "two_segments by versions None, 1"),
    ],
)
def test_incomparable_results_are_refused(write, changed, words):
    first = write(*ROWS)
    second = write(
        *({**row, "model": "n", **changed} for row in ROWS), name="n.parquet"
    )
    assert words in refused(first, second)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"score": 1.5}, "has the score 1.5"),
        ({"score": -0.01}, "has the score -0.01"),
        ({"score": float("nan")}, "has the score nan"),
        ({"score": float("inf")}, "has the score inf"),
        ({"score": 0.5}, "has the score 0.5"),
        ({"score": 1.5, "task": "csg_union"}, "csg_union/00"),
        ({"score": None}, "has the status 'answered' but the score None"),
        (
            {"score": 1.0, "status": "missing"},
            "has the status 'missing' but the score 1.0",
        ),
        ({"score": 0.0, "status": "lost"}, "has the status 'lost' but the score 0.0"),
        ({"score": 0.0, "status": None}, "has the status None but the score 0.0"),
    ],
)
def test_impossible_scores_are_refused(write, row, words):
    path = write(row)
    message = refused(path)
    assert words in message
    assert "(1): " in message


def test_score_given_twice_is_refused(write):
    message = refused(write(*ROWS, ROWS[1]))
    assert "duplicate scores (1): two_segments/01 (subtask 1, sample 0)" in message
    assert "is a file named twice" in message
    path = write(*ROWS)
    assert "duplicate scores (3)" in refused(
        path, path.parent / "." / ".." / path.parent.name / "r.parquet"
    )


def test_holes_inside_a_task_are_refused(write):
    path = write(*ROWS, *({**row, "model": "n"} for row in ROWS[:2]))
    for partial in (False, True):
        message = refused(path, partial=partial)
        assert (
            "incomplete: sample 0 of model 'n' has 2 of 3 scores of two_segments"
            in message
        )


def test_task_missing_from_one_run_is_refused_unless_intended(write):
    path = write(*ROWS, *SOLIDS, *({**row, "model": "n"} for row in ROWS))
    assert (
        "sample 0 of model 'n' has no rows of csg_union; if this is intended, grade"
        in refused(path)
    )
    assert read_results([path], partial=True).height == 8
    summary = path.with_name("summary.json")
    summary.write_text('{"partial": false}')
    assert "no rows of csg_union" in refused(path)
    summary.write_text('{"partial": true}')
    assert read_results([path]).height == 8


def test_installed_release_determines_the_expected_rows(write):
    release = find_release()
    reference = {"release": release.version, "release_hash": release.manifest.rows_hash}
    path = write(*({**row, **reference} for row in ROWS))
    assert "has 3 of 27 scores" in refused(path)
    rows = read_results([write(*ROWS)])
    assert expected_scores(rows) == {}
    of_release = rows.with_columns(
        **{key: pl.lit(text) for key, text in reference.items()}
    )
    present = expected_scores(of_release)
    assert present["two_segments"] == 27
    forged = rows.with_columns(release=pl.lit(release.version))
    assert expected_scores(forged) == {}, (
        "a release of that name with other rows is unknown"
    )


def test_rows_outside_the_release_are_left_out(write):
    path = write(
        *ROWS,
        {"task": "maze_3d", "status": "not_run", "instance_hash": None, "release": "1"},
    )
    assert read_results([path]).height == 3
    only = write({"status": "not_run", "instance_hash": None})
    assert "contain no item of their release" in refused(only)
    assert config_in(only) == ""


def test_runs_of_the_same_name_in_two_files_are_labelled_by_file(write):
    first = write(*ROWS, *({**row, "model": "only"} for row in ROWS))
    second = write(*ROWS, name="s.parquet")
    assert "duplicate scores (3)" in refused(first, second)
    rows = read_results([first, second], add_file_names=True)
    assert rows["model"].unique(maintain_order=True).to_list() == [
        f"m ({first})",
        "only",
        f"m ({second})",
    ]
    assert rows.filter(pl.col("model") == "only").height == 3


def test_rows_with_colliding_hashes_are_not_duplicates(paper_results, monkeypatch):
    monkeypatch.setattr(
        pl.DataFrame, "hash_rows", lambda frame: pl.zeros(frame.height, eager=True)
    )
    check_results(paper_results)
