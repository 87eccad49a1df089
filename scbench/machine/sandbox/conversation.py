"""Communication with a child process: start it, write input, read output, enforce limits."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
# Bytes that are read or written at a time.
_BLOCK = 65536
# Number of bytes that are stored from the end of standard error.
_MOST_STDERR = 4096
# Added to the number of the signal that ended a child, as shells do.
SIGNALLED = 128
# The signal of a forbidden system call that ends the process; not every system has its name.
_SIGSYS = 31
# A child that reached its deadline was starved if it waited for a processor for more than the first
# share of the time, and ran for less than the second. A child cannot cause this: it may change
# neither its priority nor its processors.
_STARVED_WAITING = 0.5
_STARVED_RUNNING = 0.25
_NANOSECOND = 1e-9


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a child.

    Attributes:
        seconds: CPU time of each process, and wall-clock time unless ``wall`` is set.
        memory: bytes of address space of each process.
        output: bytes on standard output.
        errors: bytes on standard error.
        processes: approximate number of processes it may start.
        files: bytes in the private folder.
        wall: wall-clock time in seconds; None means ``seconds``.
    """

    seconds: float = 60.0
    memory: int = 2 * 2**30
    output: int = 64 * 2**20
    errors: int = 64 * 2**20
    processes: int = 0
    files: int = 64 * 2**20
    wall: float | None = None

    @property
    def deadline(self) -> float:
        """Wall-clock time after which the child is ended, in seconds."""
        return self.seconds if self.wall is None else self.wall


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a child that exited or reached its output limit.

    Attributes:
        code: exit code.
        stdout: its standard output, at most the limit.
        stderr: the last few thousand bytes of its standard error.
        flooded: whether it was ended because it wrote more than a limit.
        missing: why there was no system call filter; empty if there was one.
    """

    code: int
    stdout: bytes
    stderr: bytes
    flooded: bool = False
    missing: str = ""

    @property
    def refused(self) -> bool:
        """Whether it was ended because of a forbidden system call."""
        return self.code == SIGNALLED + _SIGSYS


class TimeBudget:
    """A wall-clock time budget shared by several programs.

    Attributes:
        seconds_left: remaining seconds, at least one.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds_left = seconds

    @contextlib.contextmanager
    def spending(self) -> Iterator[None]:
        """Subtract the duration of the block from the remaining seconds."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds_left = max(1.0, self.seconds_left - (time.monotonic() - start))


class ChildError(RuntimeError):
    """A child hit its limit of time or memory, or crashed, so there is no basis for a score."""


class LimitError(ChildError):
    """A child was ended by its limit of time, or by a signal.

    Attributes:
        signal: number of the signal; 0 if the parent ended the child.
    """

    def __init__(self, message: str, signal: int = 0) -> None:
        super().__init__(message)
        self.signal = signal


class ProcessorTime(NamedTuple):
    """Running and waiting time of processes in seconds."""

    running: float
    waiting: float
    """Ready to run, while other processes had the processors."""


class Transferred(NamedTuple):
    """The bytes that a child wrote.

    Attributes:
        output: its standard output.
        errors: the end of its standard error.
        report: "ok", and why there is no system call filter; anything else is an error.
        is_flooded: whether it wrote more than a limit.
    """

    output: bytearray
    errors: bytearray
    report: bytearray
    is_flooded: bool


class SandboxError(RuntimeError):
    """A kind of sandbox cannot be set up on this system."""


def converse(
    command: Callable[[int], Sequence[str]], data: bytes, limits: Limits
) -> Finished:
    """Run a child with input, and end it together with all its processes.

    The child enforces its limits, except those on wall-clock time and output.

    Args:
        command: returns the child's command, given the descriptor for its "ok".
        data: its standard input.
        limits: limits of the child.

    Raises:
        LimitError: the child reached its deadline.
        ChildError: the child reached its deadline because the machine gave it hardly any CPU
            time.
        SandboxError: the child did not write "ok".
    """
    status_end, status_descriptor = os.pipe()
    try:
        child = subprocess.Popen(  # noqa: S603  (our interpreter, our file)
            command(status_descriptor),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env=_ENVIRONMENT,
            pass_fds=(status_descriptor,),
            start_new_session=True,
        )
    except BaseException:
        os.close(status_end)
        raise
    finally:
        os.close(status_descriptor)
    with child, open(status_end, "rb", buffering=0) as status:  # noqa: PTH123  (a descriptor)
        try:
            return _exchange(child, status, data, limits)
        finally:
            if child.poll() is None:
                # The group contains all processes that the child started.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)


def _exchange(child: Any, status: Any, data: bytes, limits: Limits) -> Finished:  # noqa: ANN401
    """Write a child's input, read its output and wait for its end, within its limits."""
    deadline = time.monotonic() + limits.deadline
    output, errors, report, is_flooded = _transfer(
        child, status, data, limits, deadline
    )
    if is_flooded:
        stdout = bytes(output[: limits.output])
        return Finished(1, stdout, bytes(errors), flooded=True)
    try:
        code = child.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise deadline_error(child.pid, limits) from None
    if not report.startswith(b"ok"):
        reason = (report or errors).decode("utf-8", "replace").strip()
        raise SandboxError(f"the sandbox cannot be set up: {reason[-300:]}")
    missing = report[2:].decode("utf-8", "replace")
    if code < 0:
        code = SIGNALLED - code
    return Finished(code, bytes(output), bytes(errors), missing=missing)


def _transfer(
    child: Any,  # noqa: ANN401
    status: Any,  # noqa: ANN401
    data: bytes,
    limits: Limits,
    deadline: float,
) -> Transferred:
    """Write a child's input and read its output until it closes all pipes or writes too much."""
    remainder = memoryview(data)
    output = bytearray()
    errors = bytearray()
    error_bytes = 0
    report = bytearray()
    buffers = {child.stdout: output, child.stderr: errors, status: report}
    with selectors.DefaultSelector() as selector:
        for pipe in (*buffers, child.stdin):
            os.set_blocking(pipe.fileno(), False)
            event = selectors.EVENT_READ if pipe in buffers else selectors.EVENT_WRITE
            selector.register(pipe, event)
        is_flooded = False
        while selector.get_map() and not is_flooded:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                raise deadline_error(child.pid, limits)
            for key, _ in selector.select(seconds):
                pipe = key.fileobj
                if pipe in buffers:
                    block = os.read(key.fd, _BLOCK)
                    buffers[pipe] += block
                    if pipe is child.stderr:
                        error_bytes += len(block)
                        del errors[:-_MOST_STDERR]
                    if len(output) > limits.output or error_bytes > limits.errors:
                        is_flooded = True
                    is_finished = not block
                else:
                    remainder = _feed(key.fd, remainder)
                    is_finished = not remainder
                if is_finished:
                    selector.unregister(pipe)
                    if pipe is child.stdin:
                        pipe.close()
    return Transferred(output, errors, report, is_flooded)


def _feed(descriptor: int, remainder: memoryview) -> memoryview:
    """Write some of the input; return the rest, or nothing if the child has stopped reading."""
    try:
        size = os.write(descriptor, remainder[:_BLOCK])
    except BrokenPipeError:
        return remainder[:0]
    return remainder[size:]


def deadline_error(child: int, limits: Limits) -> ChildError:
    """Return the error for a child at its deadline; a busy machine gives a different one."""
    late = f"no result within {limits.deadline:g} s"
    time_used = processor_time(child)
    waited_long = time_used.waiting > _STARVED_WAITING * limits.deadline
    ran_little = time_used.running < _STARVED_RUNNING * limits.deadline
    if waited_long and ran_little:
        return ChildError(
            f"{late}: the machine is too busy; the process ran for {time_used.running:.1f} s and "
            f"waited {time_used.waiting:.1f} s for a processor"
        )
    return LimitError(late)


def processor_time(child: int) -> ProcessorTime:
    """Return the running and waiting times of a process and its descendants; 0 if unknown."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            # The name, in brackets, may contain anything.
            fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2]
            parent = int(fields.split()[1])
            children.setdefault(parent, []).append(int(folder.name))
    running = 0
    waiting = 0
    remaining = [child]
    while remaining:
        process = remaining.pop()
        remaining += children.get(process, [])
        for file in Path(f"/proc/{process}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError, ValueError):
                ran, waited, _ = map(int, file.read_text("ascii").split())
                running += ran
                waiting += waited
    return ProcessorTime(running * _NANOSECOND, waiting * _NANOSECOND)
