"""Conversations with child processes: a child is started, fed, read, and ended within limits."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
# Bytes that are read or written at a time.
_BLOCK = 65536
# Bytes of standard error that are kept, the last ones.
_MOST_STDERR = 4096
# Added to the number of the signal that ended a child, as shells do.
SIGNALLED = 128
# The signal of a system call that ends the process; not every system has its name.
_SIGSYS = 31


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a child.

    Attributes:
        seconds: processor time of each process, and wall clock unless ``wall`` is set.
        memory: bytes of address space of each process.
        output: bytes on standard output.
        processes: about how many processes it may start.
        files: bytes in the private folder.
        wall: seconds of wall clock; None for ``seconds``.
    """

    seconds: float = 60.0
    memory: int = 2 * 2**30
    output: int = 64 * 2**20
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
        flooded: whether it wrote more than the limit and was ended for it.
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
    report = bytearray()
    buffers = {child.stdout: output, child.stderr: errors, status: report}
    with selectors.DefaultSelector() as selector:
        for pipe in (*buffers, child.stdin):
            os.set_blocking(pipe.fileno(), False)
            event = selectors.EVENT_READ if pipe in buffers else selectors.EVENT_WRITE
            selector.register(pipe, event)
        while selector.get_map() and len(output) <= limits.output:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                raise LimitError(f"no result within {limits.deadline:g} s")
            for key, _ in selector.select(seconds):
                pipe = key.fileobj
                if pipe in buffers:
                    block = os.read(key.fd, _BLOCK)
                    buffers[pipe] += block
                    del errors[:-_MOST_STDERR]
                    is_finished = not block
                else:
                    remainder = _feed(key.fd, remainder)
                    is_finished = not remainder
                if is_finished:
                    selector.unregister(pipe)
                    if pipe is child.stdin:
                        pipe.close()
    if len(output) > limits.output:
        stdout = bytes(output[: limits.output])
        return Finished(1, stdout, bytes(errors), flooded=True)
    try:
        code = child.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise LimitError(f"no end within {limits.deadline:g} s") from None
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
