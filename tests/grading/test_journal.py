"""The journal: what was graded is found again, and what cannot be read is graded anew."""

import json

import pytest

from scbench.errors import ResultsError
from scbench.grading.journal import JOURNAL, Journal
from scbench.grading.rows import Row, results_schema

ROW = Row(
    line=1, id="a/00", task="a", bucket="planning", subtask=0, model="m ü", setting=None,
    sample=0, budget=None, status="answered", score=0.1 + 0.2, failed_checks=["x"], checks="[]",
    metrics="{}", notes=[], reason="", answer='{"b":"\u2028"}', answer_source="answer", repairs=[],
    finish_reason=None, response_characters=None, usage=None, prediction_hash="h",
    instance_hash="i", grader_version=1,
    release="0.1.0", release_hash="r",
)  # fmt: skip


def keep(folder, *keys: str) -> None:
    journal = Journal(folder, resume=False, restart=False)
    for key in keys:
        journal.add(key, [ROW])
    journal.close()


def kept(folder) -> dict[str, list[Row]]:
    journal = Journal(folder, resume=True, restart=False)
    journal.close()
    return journal.done


def test_rows_come_back_as_they_were(tmp_path):
    keep(tmp_path, "one", "two")
    journal = Journal(tmp_path, resume=True, restart=False)
    assert journal.done == {"one": [ROW], "two": [ROW]}
    journal.add("three", [ROW, ROW])
    journal.close()
    assert set(kept(tmp_path)) == {"one", "two", "three"}


def test_a_line_cut_off_anywhere_is_dropped_and_the_next_stands_alone(tmp_path):
    keep(tmp_path, "one", "two")
    path = tmp_path / JOURNAL
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for length in range(first, len(data), 17):
        path.write_bytes(data[:length])
        journal = Journal(tmp_path, resume=True, restart=False)
        assert set(journal.done) == {"one"}
        journal.add("two", [ROW])
        journal.close()
        assert set(kept(tmp_path)) == {"one", "two"}


@pytest.mark.parametrize("line", ["{", "[]", "7", '["k", 7]', '["k", [[1, 2]]]', "\x00\xff"])
def test_lines_that_cannot_be_read_are_passed_over(tmp_path, line):
    keep(tmp_path, "one")
    with (tmp_path / JOURNAL).open("a") as file:
        file.write(line + "\n" + json.dumps(["two", []]) + "\n")
    assert {"one", "two"} <= set(kept(tmp_path))


def test_an_interrupted_run_is_not_overwritten_unasked(tmp_path):
    keep(tmp_path, "one")
    with pytest.raises(ResultsError, match="--resume"):
        Journal(tmp_path, resume=False, restart=False)
    journal = Journal(tmp_path, resume=False, restart=True)
    assert not journal.done
    journal.close()


def test_a_run_that_graded_nothing_leaves_nothing_behind(tmp_path):
    keep(tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_removal_takes_the_file_away(tmp_path):
    journal = Journal(tmp_path, resume=False, restart=False)
    journal.add("one", [ROW])
    journal.remove()
    assert list(tmp_path.iterdir()) == []


def test_every_column_of_the_results_has_a_type():
    assert list(results_schema()) == list(Row.__slots__)
