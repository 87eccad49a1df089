"""The journal: what was judged is found again, and what cannot be read is judged anew."""

import json

import pytest

from scbench.grading.checkpoint.journal import JOURNAL, OutcomeJournal, journal_key
from scbench.grading.rows.columns import Head
from scbench.grading.rows.schema import RunKey
from scbench.grading.rows.wire import WireOutcome, WireVerdict

HEAD = Head(7, 3, RunKey("m ü", None, 2, 64), "h", "stop", 12, '{"cost":0.5}')
SCORED = WireVerdict(0.1 + 0.2, ["x"], '[{"id":"x"}]', "{}", ["a note \u2028"])
OUTCOME = WireOutcome("answered", (SCORED, SCORED), "", '{"b":1}', "answer", [])


def keep(folder, *keys: str, again=False) -> None:
    journal = OutcomeJournal(folder / JOURNAL, resume=False)
    for line, key in enumerate(keys, 1):
        journal.add(key, HEAD._replace(line=line), OUTCOME, again=again)
    journal.close()


def kept(folder, *keys: str) -> set[str]:
    journal = OutcomeJournal(folder / JOURNAL, resume=True)
    found = {key for line, key in enumerate(keys, 1) if journal.find(key, line)}
    journal.close()
    return found


def test_outcomes_come_back_as_they_were_and_by_line(tmp_path):
    journal = OutcomeJournal(tmp_path / JOURNAL, resume=False)
    for line in (9, 4, 6):
        journal.add(f"k{line}", HEAD._replace(line=line), OUTCOME, again=False)
    assert list(journal.in_order()) == [(HEAD._replace(line=line), OUTCOME) for line in (4, 6, 9)]
    journal.close()
    resumed = OutcomeJournal(tmp_path / JOURNAL, resume=True)
    assert resumed.find("k6", 6)
    assert not resumed.find("k7", 7)
    resumed.add("k5", HEAD._replace(line=5), OUTCOME, again=False)
    assert [head.line for head, _ in resumed.in_order()] == [5, 6], "what was not asked for is out"
    resumed.close()


def test_what_is_worth_a_second_try_is_in_the_results_but_not_taken_over(tmp_path):
    keep(tmp_path, "one", again=True)
    assert kept(tmp_path, "one") == set()
    journal = OutcomeJournal(tmp_path / JOURNAL, resume=False)
    journal.add("one", HEAD, OUTCOME, again=True)
    assert list(journal.in_order()) == [(HEAD, OUTCOME)]
    journal.close()


def test_a_line_cut_off_anywhere_is_dropped_and_the_next_stands_alone(tmp_path):
    keep(tmp_path, "one", "two")
    path = tmp_path / JOURNAL
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for length in range(first, len(data), 17):
        path.write_bytes(data[:length])
        journal = OutcomeJournal(path, resume=True)
        assert journal.find("one", 1)
        assert not journal.find("two", 2)
        journal.add("two", HEAD, OUTCOME, again=False)
        journal.close()
        assert kept(tmp_path, "one", "two") == {"one", "two"}


@pytest.mark.parametrize(
    "line", ["{", "[]", "7", '["k", false, 7]', '["k", 0, [], []]', "\x00\xff"]
)
def test_lines_that_cannot_be_read_are_passed_over(tmp_path, line):
    keep(tmp_path, "one")
    with (tmp_path / JOURNAL).open("a") as file:
        file.write(line + "\n" + json.dumps(["two", False, HEAD, OUTCOME]) + "\n")
    assert kept(tmp_path, "one", "two", "k") == {"one", "two"}


def test_an_entry_that_is_damaged_inside_is_judged_anew(tmp_path):
    (tmp_path / JOURNAL).write_text('["k", false, [1, 2], ["answered"]]\n')
    assert kept(tmp_path, "k") == set()


def test_a_key_is_of_one_line_of_one_content_in_one_run():
    keys = {journal_key(*it) for it in (("a", 1, "h"), ("b", 1, "h"), ("a", 2, "h"), ("a", 1, "i"))}
    assert len(keys) == 4
