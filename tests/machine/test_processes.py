"""Worker processes: their time limits do not follow the system clock."""

import errno
import os
import signal
import subprocess
import sys
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


def opened_by(call: Future, gate: Path) -> int:
    """Return the write end of a named pipe, as soon as a call reads the other end."""
    while True:
        # A worker that cannot make the call would never read.
        assert not call.done(), call.exception()
        try:
            return os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            # There is no reader yet.
            if error.errno != errno.ENXIO:
                raise
            time.sleep(0.01)


def set_clock(monkeypatch, seconds: float) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + seconds)


@pytest.fixture
def gate(tmp_path):
    path = tmp_path / "gate"
    os.mkfifo(path)
    return path


def test_clock_set_forward_ends_no_call(pool, gate, monkeypatch):
    call = pool.submit(Path.read_text, gate, seconds=10_000)
    end = opened_by(call, gate)
    set_clock(monkeypatch, 1_000_000)
    # The pool looks at its limits several times a second.
    with pytest.raises(TimeoutError):
        call.result(timeout=0.5)
    assert not call.done()
    os.write(end, b"open")
    os.close(end)
    assert call.result() == "open"


def test_clock_set_back_does_not_extend_a_limit(pool, gate, monkeypatch):
    call = pool.submit(Path.read_text, gate, seconds=5)
    end = opened_by(call, gate)
    set_clock(monkeypatch, -1_000_000)
    with pytest.raises(TimeoutError):
        call.result(timeout=600)
    assert call.done()
    os.close(end)


def call_after_idle_death() -> None:
    with open_pool(1) as pool:
        os.kill(pool.submit(os.getpid).result(), signal.SIGKILL)
        until(lambda: not pool._pool.active)
        pool.submit(os.getpid).result()


def call_that_dies() -> None:
    with open_pool(1) as pool:
        pool.submit(os._exit, 1).result()


@pytest.mark.parametrize("fail", [call_after_idle_death, call_that_dies])
def test_dead_worker_is_named(fail):
    with pytest.raises(MachineError, match="a worker process died; is there enough"):
        fail()


def test_calls_of_a_broken_pool_are_not_results(monkeypatch):
    broken: Future = Future()
    broken.set_exception(BrokenProcessPool())
    monkeypatch.setattr(WorkerProcesses, "submit", lambda *_, **__: broken)
    with pytest.raises(MachineError, match="a worker process died"):
        list(map_in_processes(abs, range(40), 1))


def test_other_errors_of_calls_are_passed_on():
    first, second = map_in_processes(int, ["1", "x"], 1)
    assert first.result() == 1
    with pytest.raises(ValueError, match="invalid literal"):
        second.result()


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_no_worker_runs_the_script_again_not_even_a_replacement(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(
        "import time\n"
        "print(__name__, __file__, flush=True)\n"
        "from scbench.machine.contexts import CONTEXTS\n"
        "from scbench.machine.processes import WorkerProcesses\n"
        f"pool = WorkerProcesses(1, context=CONTEXTS[{method!r}])\n"
        "print(pool.submit(abs, -1).result(), flush=True)\n"
        "late = pool.submit(time.sleep, 60, seconds=0.01)\n"
        "print(type(late.exception()).__name__, pool.submit(abs, -2).result(), flush=True)\n"
        "pool.stop()\n"
        "print(__spec__, __file__)\n"
    )
    command = [sys.executable, "-P", script]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        f"__main__ {script}",
        "1",
        "TimeoutError 2",
        f"None {script}",
    ], done.stderr
