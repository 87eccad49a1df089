"""How far a run is, as people see it."""

import pytest

from scbench.cli import progress as module
from scbench.cli.progress import progress
from scbench.grading.workers.pool import Waiting

ITEM = Waiting("terrain_levelling/08", 41.4, 812, 2194)


@pytest.fixture
def later(monkeypatch):
    """A function that lets seconds pass."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])

    def pass_by(seconds):
        now[0] += seconds

    return pass_by


def test_logs_get_a_line_now_and_then(capsys, later):
    with progress(1000, quiet=False) as bar:
        for rows in range(1, 101):
            later(0.5)
            bar.done(rows, rows * 10)
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert lines[0] == "graded 10 rows (10%)"
    assert len(lines) == 10


def test_an_item_that_takes_long_is_named_every_half_minute(capsys, later):
    with progress(None, quiet=False) as bar:
        for _ in range(100):
            later(1)
            bar.waiting((ITEM, Waiting("csg_union/16", 5, 0, 0)))
        bar.waiting(())
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0] == (
        "still working on terrain_levelling/08: step 812 of 2,194, 41 s; csg_union/16: 5 s"
    )
