"""Worker processes: their time limits do not follow the clock of the system."""

import os
import signal
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from bounds import until

from scbench.base.errors import MachineError
from scbench.machine.processes import WorkerProcesses, map_in_processes, open_pool


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


def call_after_idle_death() -> None:
    with open_pool(1) as pool:
        os.kill(pool.submit(os.getpid).result(), signal.SIGKILL)
        until(lambda: not pool._pool.active)
        pool.submit(os.getpid).result()


def call_that_dies() -> None:
    with open_pool(1) as pool:
        pool.submit(os._exit, 1).result()


@pytest.mark.parametrize("fail", [call_after_idle_death, call_that_dies])
def test_a_worker_that_dies_is_named(fail):
    with pytest.raises(MachineError, match="a worker process died; is there enough"):
        fail()


def test_calls_of_a_broken_pool_are_no_results(monkeypatch):
    broken: Future = Future()
    broken.set_exception(BrokenProcessPool())
    monkeypatch.setattr(WorkerProcesses, "submit", lambda *_, **__: broken)
    with pytest.raises(MachineError, match="a worker process died"):
        list(map_in_processes(abs, range(40), 1))


def test_other_errors_of_calls_are_theirs():
    first, second = map_in_processes(int, ["1", "x"], 1)
    assert first.result() == 1
    with pytest.raises(ValueError, match="invalid literal"):
        second.result()
