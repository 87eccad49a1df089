"""Starting a child process, feeding it, reading what it says, and ending it in time."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
_READ = 65536
_STDERR = 4096
SIGNALLED, _SIGSYS = 128, 31
"""Added to the number of the signal that ended a child, as shells do; one of these signals."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use.

    Attributes:
        seconds: wall clock, and processor time of each process.
        memory: bytes of address space of each process.
        output: bytes on standard output.
        processes: about how many processes it may start.
        files: bytes in the private folder.
    """

    seconds: float = 60.0
    memory: int = 2 * 2**30
    output: int = 64 * 2**20
    processes: int = 0
    files: int = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended, by itself or at its limit of output.

    Attributes:
        code: exit code.
        stdout: what it wrote, at most the limit.
        stderr: the last few thousand bytes of it.
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


class ChildError(RuntimeError):
    """A child hit its limit of time or memory, or crashed: nothing that a score may rest on."""


class SandboxError(RuntimeError):
    """A kind of sandbox cannot be set up on this system."""


def converse(command: Callable[[int], Sequence[str]], data: bytes, limits: Limits) -> Finished:
    """Start a child, feed it, and end it with all that it started.

    Args:
        command: what to start, given the descriptor on which the child says "ok".
        data: its standard input.
        limits: the seconds and bytes of output that it may take; the rest it keeps by itself.

    Raises:
        ChildError: it was too slow.
        SandboxError: it never said "ok".
    """
    says, status = os.pipe()
    try:
        child = subprocess.Popen(  # noqa: S603  (our interpreter, our file)
            command(status),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env=_ENVIRONMENT,
            pass_fds=(status,),
            start_new_session=True,
        )
    except BaseException:
        os.close(says)
        raise
    finally:
        os.close(status)
    with child, open(says, "rb", buffering=0) as answers:  # noqa: PTH123  (a descriptor)
        try:
            return _converse(child, answers, data, limits)
        finally:
            if child.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)


def _converse(child: Any, answers: Any, data: bytes, limits: Limits) -> Finished:  # noqa: ANN401
    """Write a child's input and read its output until it ends, floods or is late."""
    remainder, deadline = memoryview(data), time.monotonic() + limits.seconds
    texts = {end: bytearray() for end in (child.stdout, child.stderr, answers)}
    out, errors, status = texts.values()
    with selectors.DefaultSelector() as ready:
        for end in (*texts, child.stdin):
            os.set_blocking(end.fileno(), False)
            what = selectors.EVENT_READ if end in texts else selectors.EVENT_WRITE
            ready.register(end, what)
        while ready.get_map() and len(out) <= limits.output:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise ChildError(f"no result within {limits.seconds:g} s")
            for key, _ in ready.select(remaining):
                pipe: Any = key.fileobj
                if pipe in texts:
                    some = os.read(key.fd, _READ)
                    texts[pipe] += some
                    del errors[:-_STDERR]
                    over = not some
                else:
                    remainder = _feed(key.fd, remainder)
                    over = not remainder
                if over:
                    ready.unregister(pipe)
                    if pipe is child.stdin:
                        pipe.close()
    if len(out) > limits.output:
        return Finished(1, bytes(out[: limits.output]), bytes(errors), flooded=True)
    try:
        code = child.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise ChildError(f"no end within {limits.seconds:g} s") from None
    if not status.startswith(b"ok"):
        why = (status or errors).decode("utf-8", "replace").strip()
        raise SandboxError(f"the sandbox cannot be set up: {why[-300:]}")
    missing = status[2:].decode("utf-8", "replace")
    code = SIGNALLED - code if code < 0 else code
    return Finished(code, bytes(out), bytes(errors), missing=missing)


def _feed(pipe: int, remainder: memoryview) -> memoryview:
    """Write some of what is left to write, and return what is left then."""
    try:
        return remainder[os.write(pipe, remainder[:_READ]) :]
    except BrokenPipeError:  # the child wants no more of it
        return remainder[:0]
