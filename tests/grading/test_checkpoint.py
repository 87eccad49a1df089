"""The checkpoint: outcomes are found by line and content, and returned in line order."""

import pytest

from scbench.grading.checkpoint import Checkpoint
from scbench.grading.rows.columns import RunKey
from scbench.grading.rows.lines import Head
from scbench.grading.rows.wire import WireOutcome, WireVerdict

HEAD = Head(
    7, 3, RunKey("m ü", None, 2, 64), "parity/03", "h", "stop", 12, '{"cost":0.5}'
)
SCORED = WireVerdict(0.1 + 0.2, ["x"], '[{"id":"x"}]', "{}", ["a note \u2028"])
OUTCOME = WireOutcome("answered", (SCORED, SCORED), "", '{"b":1}', "answer", [])


@pytest.fixture
def open_checkpoint(tmp_path):
    def open_one(identity="run", *, resume=True):
        return Checkpoint(tmp_path / "out", identity, resume=resume, restart=not resume)

    return open_one


def test_outcomes_are_restored_in_line_order(open_checkpoint):
    checkpoint = open_checkpoint(resume=False)
    for line in (9, 4, 6):
        checkpoint.keep_outcome(HEAD._replace(line=line), OUTCOME, again=False)
    in_order = [(HEAD._replace(line=line), OUTCOME) for line in (4, 6, 9)]
    assert list(checkpoint.outcomes()) == in_order
    assert checkpoint.close()
    resumed = open_checkpoint()
    assert resumed.find_outcome(HEAD._replace(line=6))
    assert not resumed.find_outcome(HEAD)
    resumed.keep_outcome(HEAD._replace(line=5), OUTCOME, again=False)
    lines = [head.line for head, _ in resumed.outcomes()]
    assert lines == [5, 6], "what was not asked for is out"
    resumed.close()


def test_retryable_outcome_is_in_the_results_but_not_reused(
    open_checkpoint,
):
    checkpoint = open_checkpoint(resume=False)
    checkpoint.keep_outcome(HEAD, OUTCOME, again=True)
    assert list(checkpoint.outcomes()) == [(HEAD, OUTCOME)]
    checkpoint.close()
    resumed = open_checkpoint()
    assert not resumed.find_outcome(HEAD)
    resumed.close()


def test_outcome_belongs_to_one_line_of_one_content_in_one_run(open_checkpoint):
    checkpoint = open_checkpoint(resume=False)
    checkpoint.keep_outcome(HEAD, OUTCOME, again=False)
    checkpoint.close()
    for identity, head, there in (
        ("run", HEAD, True),
        ("other", HEAD, False),
        ("run", HEAD._replace(line=8), False),
        ("run", HEAD._replace(digest="i"), False),
    ):
        resumed = open_checkpoint(identity)
        assert resumed.find_outcome(head) == there
        resumed.close()


def test_resuming_the_run_of_another_user_is_mentioned(
    open_checkpoint, monkeypatch, tmp_path
):
    checkpoint = open_checkpoint(resume=False)
    checkpoint.keep_outcome(HEAD, OUTCOME, again=False)
    checkpoint.close()
    own = open_checkpoint()
    assert own.remarks == []
    own.close()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    foreign = open_checkpoint()
    assert "you did not start the interrupted run" in foreign.remarks[0]
    foreign.close()


@pytest.mark.parametrize("identity", ["", "another run"])
def test_records_in_the_folder_of_another_run_of_somebody_else_are_not_used(
    open_checkpoint, monkeypatch, tmp_path, identity
):
    checkpoint = open_checkpoint(resume=False)
    checkpoint.keep_outcome(HEAD, OUTCOME, again=False)
    # The records are those of this run, but the marker says otherwise.
    checkpoint.work.mark(identity)
    checkpoint.close()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    foreign = open_checkpoint()
    assert not foreign.find_outcome(HEAD)
    foreign.close()


def test_files_behind_a_link_are_not_removed(open_checkpoint, tmp_path):
    checkpoint = open_checkpoint(resume=False)
    checkpoint.keep_outcome(HEAD, OUTCOME, again=False)
    checkpoint.close()
    far = tmp_path / "far"
    far.mkdir()
    (far / "thesis.txt").write_text("years of work")
    checkpoint.folder.rmdir()
    checkpoint.folder.symlink_to(far)
    resumed = open_checkpoint()
    assert resumed.find_outcome(HEAD)
    assert not resumed.folder.is_symlink()
    resumed.close()
    assert [path.name for path in far.iterdir()] == ["thesis.txt"]


def test_checkpoint_without_outcomes_leaves_nothing_behind(open_checkpoint):
    checkpoint = open_checkpoint(resume=False)
    folder = checkpoint.work.path
    assert folder.exists()
    assert not checkpoint.close()
    assert not folder.exists()
