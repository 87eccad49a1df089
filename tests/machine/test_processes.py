"""Worker processes: their time limits do not follow the clock of the system."""

import os
import time
from pathlib import Path

import pytest

from scbench.machine.processes import WorkerProcesses


@pytest.fixture
def pool():
    processes = WorkerProcesses(1)
    yield processes
    processes.close()


def wait_for(gate: Path, begun: Path) -> str:
    """Show that the call has begun, and wait until the gate is written to."""
    begun.write_text("")
    return gate.read_text()


def set_clock(monkeypatch, seconds: float) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + seconds)


@pytest.fixture
def gate(tmp_path):
    path = tmp_path / "gate"
    os.mkfifo(path)
    return path


def test_a_clock_that_is_put_forward_ends_no_call(pool, gate, tmp_path, monkeypatch):
    begun = tmp_path / "begun"
    call = pool.submit(wait_for, gate, begun, seconds=10_000)
    while not begun.exists():
        time.sleep(0.01)
    set_clock(monkeypatch, 1_000_000)
    # The pool looks at its limits several times a second.
    with pytest.raises(TimeoutError):
        call.result(timeout=2)
    assert not call.done()
    gate.write_text("open")
    assert call.result() == "open"


def test_a_clock_that_is_put_back_does_not_lengthen_a_limit(
    pool, gate, tmp_path, monkeypatch
):
    begun = tmp_path / "begun"
    call = pool.submit(wait_for, gate, begun, seconds=1)
    while not (begun.exists() or call.done()):
        time.sleep(0.01)
    set_clock(monkeypatch, -1_000_000)
    with pytest.raises(TimeoutError):
        call.result(timeout=600)
    assert call.done()
