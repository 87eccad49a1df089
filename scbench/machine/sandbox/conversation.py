"""Conversations with child processes: a child is started, fed, read, and ended within limits."""

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
# Bytes of standard error that are kept, the last ones.
_MOST_STDERR = 4096
# Added to the number of the signal that ended a child, as shells do.
SIGNALLED = 128
# The signal of a system call that ends the process; not every system has its name.
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
        seconds: processor time of each process, and wall clock unless ``wall`` is set.
        memory: bytes of address space of each process.
        output: bytes on standard output.
        errors: bytes on standard error.
        processes: about how many processes it may start.
        files: bytes in the private folder.
        wall: seconds of wall clock; None for ``seconds``.
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
        """Seconds of wall clock after which the child is ended."""
        return self.seconds if self.wall is None else self.wall


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a child, on its own or at its output limit.

    Attributes:
        code: exit code.
        stdout: its standard output, at most the limit.
        stderr: the last few thousand bytes of its standard error.
        flooded: whether it wrote more than a limit and was ended for it.
        missing: why there was no filter of system calls; empty if there was one.
    """

    code: int
    stdout: bytes
    stderr: bytes
    flooded: bool = False
    missing: str = ""

    @property
    def refused(self) -> bool:
        """Whether it was ended for a system call that no sandbox lets through."""
        return self.code == SIGNALLED + _SIGSYS


class TimeBudget:
    """Seconds of wall clock that several programs share.

    Attributes:
        left: seconds that are left, at least one.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextlib.contextmanager
    def spending(self) -> Iterator[None]:
        """Take the seconds of the block from those that are left."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.left = max(1.0, self.left - (time.monotonic() - start))


class ChildError(RuntimeError):
    """A child hit its limit of time or memory, or crashed: nothing that a score may rest on."""


class LimitError(ChildError):
    """A child was ended by its limit of time, or by a signal.

    Attributes:
        signal: number of the signal; 0 if the parent ended the child.
    """

    def __init__(self, message: str, signal: int = 0) -> None:
        super().__init__(message)
        self.signal = signal


class ProcessorTime(NamedTuple):
    """How long processes have run and waited, in seconds."""

    running: float
    waiting: float
    """Ready to run, while others had the processors."""


class SandboxError(RuntimeError):
    """A kind of sandbox cannot be set up on this system."""


def converse(
    command: Callable[[int], Sequence[str]], data: bytes, limits: Limits
) -> Finished:
    """Start a child, feed it, and end it with all that it started.

    The child itself keeps all limits but those of seconds and output.

    Args:
        command: returns the command of the child for the descriptor on which it says "ok".
        data: its standard input.
        limits: of the child.

    Raises:
        LimitError: it was too slow.
        ChildError: it was too slow because it got hardly any processor time.
        SandboxError: it never said "ok".
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
                # The group has all processes that the child started.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)


def _exchange(child: Any, status: Any, data: bytes, limits: Limits) -> Finished:  # noqa: ANN401
    """Write a child's input, and read its output until it ends, gets too long or times out."""
    remainder = memoryview(data)
    deadline = time.monotonic() + limits.deadline
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
                    is_flooded |= len(output) > limits.output
                    is_flooded |= error_bytes > limits.errors
                    is_finished = not block
                else:
                    remainder = _feed(key.fd, remainder)
                    is_finished = not remainder
                if is_finished:
                    selector.unregister(pipe)
                    if pipe is child.stdin:
                        pipe.close()
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


def _feed(descriptor: int, remainder: memoryview) -> memoryview:
    """Write some of the input; return the rest, nothing if the child reads no more."""
    try:
        size = os.write(descriptor, remainder[:_BLOCK])
    except BrokenPipeError:
        return remainder[:0]
    return remainder[size:]


def deadline_error(child: int, limits: Limits) -> ChildError:
    """Return the error of a child at its deadline: its own fault, or that of a busy machine."""
    late = f"no result within {limits.deadline:g} s"
    time_used = processor_time(child)
    waited_long = time_used.waiting > _STARVED_WAITING * limits.deadline
    ran_little = time_used.running < _STARVED_RUNNING * limits.deadline
    if waited_long and ran_little:
        return ChildError(
            f"{late}: the machine is too busy; it ran for {time_used.running:.1f} s and waited "
            f"{time_used.waiting:.1f} s for a processor"
        )
    return LimitError(late)


def processor_time(child: int) -> ProcessorTime:
    """Return how long a process and all below it have run and waited; zeros where unknown."""
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
