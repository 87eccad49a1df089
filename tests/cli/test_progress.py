"""How far a run is, as people see it."""

import io
import sys

import pytest

from scbench.cli import progress as module
from scbench.cli.progress import progress
from scbench.grading.workers.scheduler import Waiting

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


def test_a_total_that_is_known_later_gives_shares(capsys, later):
    with progress(None, quiet=False, doing="drawing", done="drew", things="items") as bar:
        for items in range(1, 41):
            later(1)
            bar.done(items, items, 40)
    lines = capsys.readouterr().err.splitlines()
    assert (lines[0], lines[-1]) == ("drew 4 items (10%)", "drew 40 items (100%)")
    assert len(lines) == 10


def test_an_item_that_takes_long_is_named_every_half_minute(capsys, later):
    with progress(None, quiet=False) as bar:
        for _ in range(100):
            later(1)
            bar.waiting((ITEM, Waiting("csg_union/16", 5, 0, 0)))
        bar.waiting(())
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0] == ("still at terrain_levelling/08: step 812 of 2,194, 41 s; csg_union/16: 5 s")


def test_a_reader_who_has_gone_is_no_reason_to_stop(monkeypatch, later):
    hushed = []

    def gone(message):
        raise BrokenPipeError

    monkeypatch.setattr(module, "say", gone)
    monkeypatch.setattr(module, "hush", lambda: hushed.append(True))
    with progress(None, quiet=False) as bar:
        later(100)
        bar.done(50, 500)
        bar.waiting((ITEM,))
    assert hushed == [True, True]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_with_what_takes_long(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with progress(1000, quiet=False, estimate=True) as bar:
        bar.done(7, 700)
        bar.waiting((ITEM,))
        bar._bar.refresh()
    text = terminal.getvalue()
    assert "left" in text
    assert "70%" in text
    assert "7 rows" in text
    assert "terrain_levelling/08: step 812 of 2,194, 41 s" in text
