"""The progress display of a run."""

import io

import pytest
from rich.console import Console

from scbench.cli import progress as module
from scbench.cli.progress import drawing_display, progress
from scbench.cli.terminal_bar import TerminalBar
from scbench.grading.workers.pool import Waiting

ITEM = Waiting("terrain_levelling/08", 41.4, 812, 2194)


@pytest.fixture
def later(monkeypatch):
    """A function that advances the clock by some seconds."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])

    def pass_by(seconds):
        now[0] += seconds

    return pass_by


def test_logs_get_a_line_from_time_to_time(capsys, later):
    with progress(1000, quiet=False) as bar:
        for rows in range(1, 101):
            later(0.5)
            bar.done(rows, rows * 10)
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert lines[0] == "graded 10 rows (10%)"
    assert len(lines) == 10


def test_slow_item_is_named_every_half_minute(capsys, later):
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


@pytest.mark.parametrize("width", [80, 100, 160])
@pytest.mark.parametrize("estimate", [False, True])
def test_bar_keeps_all_its_columns_at_any_speed(width, estimate):
    output = io.StringIO()
    console = Console(file=output, width=width, force_terminal=True, color_system=None)
    slow = [Waiting(f"interlocking_parts/{i:02d}-terse", 41, 0, 0) for i in range(6)]
    with TerminalBar(
        1000, "generating", "rows", estimate=estimate, console=console
    ) as bar:
        bar.done(1_234_567, 430)
        bar.waiting(slow)
    frames = output.getvalue().split("generating")
    bar_line, *slow_lines = frames[-1].split("\x1b")[0].splitlines()
    assert bar_line.count("\u2501") + bar_line.count("\u2578") >= 10
    for words in (" 43% ", " 1,234,567 rows ", " 0:00:0"):
        assert words in bar_line
    assert (" left" in bar_line) == estimate
    assert slow_lines[0] == "  interlocking_parts/00-terse: 41 s"
    assert slow_lines[4] == "  and 2 other items"
    assert max(map(len, [f"generating{bar_line}", *slow_lines])) <= width


def test_server_error_cannot_affect_the_terminal():
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=100)
    with TerminalBar(9, "asking", "prompts", estimate=True, console=console) as bar:
        bar.failing("\x1b]0;title\x07\x1b[8m\x9b2J\u202e\rover [red]text[/red]")
    text = output.getvalue()
    assert (
        "trying again: \\x1b]0;title\\x07\\x1b[8m\\x9b2J\\u202e\\rover [red]text"
        in text
    )
    assert not {"\x07", "\x9b", "\u202e"} & {*text}
    assert "\x1b]" not in text


def test_row_takes_one_line(capsys, later):
    with progress(None, quiet=False) as bar:
        later(5)
        bar.done(1, 10)
    assert capsys.readouterr().err == "graded 1 row\n"


def test_log_gets_a_line_at_least_every_minute(capsys, later):
    with progress(1_000_000, quiet=False) as bar:
        for rows in range(1, 301):
            later(1)
            bar.done(rows, rows)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["graded 50 rows (0%)", "graded 100 rows (0%)"]
    assert len(lines) == 6


def test_report_in_a_log_gets_a_line_at_least_every_minute(capsys, later):
    with drawing_display(quiet=False) as on_item:
        for items in range(1, 301):
            later(1)
            on_item(items, 3_000)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "drew 50 items (1%), 2,950 s left"
    assert len(lines) == 6
