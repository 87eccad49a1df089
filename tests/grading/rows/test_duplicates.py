"""Equal answers to an item of a heavy task are graded once, and every line gets its row."""

from dataclasses import replace

import polars as pl
import pytest

from scbench.catalog import get_task
from scbench.grading import duplicates
from scbench.grading.duplicates import DuplicateAnswers
from scbench.grading.options import Options
from scbench.grading.rows.columns import RunKey
from scbench.grading.rows.lines import FoundAnswer, Head, PendingLine
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.run import grade_file
from scbench.grading.workers.jobs import WorkItem
from scbench.grading.workers.scheduler import Scheduler, WorkerLimits
from scbench.grading.workers.worker import found_answer
from scbench.scoring.answers.candidates import Extraction

MOODY = {"bit": 0, "mood": "slow"}


def test_extracted_answer_is_passed_on_and_its_key_ignores_order():
    one, other = ({"b": 1.0, "a": [1, "é"]}, {"a": [1, "é"], "b": 1.0})
    result = found_answer(Extraction(one, "fence", ("unwrapped_fence",)), "parity/00")
    assert result[1:] == ('{"b":1.0,"a":[1,"é"]}', "fence", ["unwrapped_fence"])
    assert found_answer(Extraction(other, "whole"), "parity/00").key == result.key
    assert found_answer(Extraction(other, "whole"), "parity/01").key != result.key
    assert found_answer(Extraction({"b": 1}, "whole"), "parity/00").key != result.key


@pytest.mark.parametrize("value", ["\ud800", float("nan")])
def test_answer_beyond_json_is_extracted_again(value):
    assert found_answer(Extraction(value, "answer"), "parity/00") is None


@pytest.fixture
def run(monkeypatch, parity_release, write_lines, tmp_path):
    """A function that grades lines with parity as a heavy task: rows, lines judged, progress."""

    def heavy_task(name):
        task = get_task(name)
        return replace(task, heavy=True) if name == "parity" else task

    judged = []

    def spy(scheduler, source, on_wait):
        for work, outcome in real_work(scheduler, source, on_wait):
            if isinstance(work, WorkItem):
                judged.append(work.line)
            yield work, outcome

    real_work = Scheduler.work
    monkeypatch.setattr("scbench.grading.options.get_task", heavy_task)
    monkeypatch.setattr(Scheduler, "work", spy)

    def go(*lines, workers=2):
        judged.clear()
        options = Options(
            predictions=str(write_lines(*lines)),
            release=parity_release,
            out=tmp_path / "out",
            limits=WorkerLimits(workers, None, 0),
            tasks=["parity"],
            partial=True,
        )
        seen = []
        report = grade_file(options, lambda rows, size: seen.append((rows, size)))
        rows = report.results.filter(pl.col("line").is_not_null())
        return rows, sorted(judged), seen

    return go


def line(sample, answer=None, *, number=0, **more):
    more = more or {"answer": MOODY if answer is None else answer}
    return {"id": f"parity/{number:02d}", "sample": sample, **more}


def test_duplicates_are_graded_once_and_share_the_verdict(run):
    lines = [line(i) for i in range(20)] + [line(20, {"mood": "slow", "bit": 0})]
    rows, judged, seen = run(*lines)
    assert judged == [1]
    assert rows["line"].to_list() == list(range(1, 22))
    assert rows["score"].to_list() == [1.0] * 21
    assert rows["prediction_hash"].n_unique() == 21
    assert seen[-1][0] == 21


def test_duplicate_reports_the_place_of_its_own_answer(run):
    fenced = '```json\n{"bit": 0, "mood": "slow",}\n```'
    rows, judged, _ = run(line(0), line(1, response=fenced))
    assert judged == [1]
    assert rows["answer_source"].to_list() == ["answer", "fence"]
    assert rows["repairs"].to_list()[0] == []
    assert len(rows["repairs"].to_list()[1]) == 1


def test_waiting_lines_do_not_keep_their_answer_text():
    answers = DuplicateAnswers()
    head = Head(1, 0, RunKey("model", "no_tools", 0, None))
    answer = FoundAnswer("key", "x" * 20_000, "whole", [])
    assert not answers.postpone(PendingLine(head, 0, 10, answer))
    assert all(answers.postpone(PendingLine(head, 0, 10, answer)) for _ in range(100))
    outcome = WireOutcome("answered", answer="x" * 20_000)
    done = answers.release(PendingLine(head, 0, 10, answer), outcome)
    assert len(done) == 100
    assert all(each.line.answer == answer._replace(text="") for each in done)


def test_outcomes_with_long_answers_are_dropped_earlier(monkeypatch):
    monkeypatch.setattr(duplicates, "_REMEMBERED_CHARACTERS", 50_000)
    answers = DuplicateAnswers()
    head = Head(1, 0, RunKey("model", "no_tools", 0, None))
    lines = []
    for number in range(4):
        answer = FoundAnswer(f"key {number}", "", "whole", [])
        lines.append(PendingLine(head, 0, 10, answer))
    for line in lines:
        assert not answers.postpone(line)
        answers.release(line, WireOutcome("answered", answer="x" * 20_000))
    # Only two answers of 20,000 characters fit into 50,000.
    known = [answers.earlier(line) is not None for line in lines]
    assert known == [False, False, True, True]


def test_other_items_other_answers_and_unanswered_lines_are_not_duplicates(run):
    rows, judged, _ = run(
        line(0),
        line(0, number=2),
        line(1, {"bit": 1}),
        line(2, {"bit": 1, "mood": ""}),
        line(3, response="nothing"),
        line(4, response="nothing"),
        line(5, response="", status="blocked"),
    )
    assert judged == [1, 2, 3, 4], "lines without an answer need no job"
    assert rows["status"].to_list() == ["answered"] * 4 + ["unparsed"] * 2 + ["blocked"]


def test_grader_failure_reaches_all_waiting_duplicates(run):
    rows, judged, _ = run(*(line(i, {"bit": 0, "mood": "raise"}) for i in range(3)))
    assert judged == [1]
    assert set(rows["status"]) == {"grader_error"}
