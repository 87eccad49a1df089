"""Resources that a process may use: processors, files, threads and memory (POSIX)."""

import _thread
import os
import threading
from contextlib import suppress
from functools import cache

from scbench.base.errors import MachineError

try:
    import resource
except ImportError:
    HAS_LIMITS = False
else:
    HAS_LIMITS = True

# Files that a command opens to start workers and to write results, and some to spare.
_LEAST_FILES = 64
# Processes and threads that two processes with our libraries start: a fixed number, and a number
# per processor (polars starts three).
_LEAST_THREADS = 20
_THREADS_PER_PROCESSOR = 6
# Stack size of a thread that only waits, in bytes. The usual 8 MiB for each would exceed a low
# limit on address space, which has its own check.
_WAITING_STACK = 256 * 1024
# More processors are not counted: in a container, libraries may use fewer than the system has.
_MOST_COUNTED_PROCESSORS = 8
# Bytes of address space that grading needs. With less, native libraries end the process
# without an error message.
_LEAST_MEMORY = 2 * 2**30


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache  # the workers of an earlier pool count, too
def check_limits() -> None:
    """Check that this process may open enough files and start enough processes and threads.

    Below these limits, libraries such as polars and OpenBLAS fail at import, or blame the
    files that they read.

    Raises:
        MachineError: one of the limits is too low.
    """
    if not HAS_LIMITS:
        return
    most_files = _soft_limit("RLIMIT_NOFILE")
    if most_files is not None and most_files < _LEAST_FILES:
        raise MachineError(
            f"this process may open only {most_files} files; scbench needs {_LEAST_FILES}: "
            "raise the limit with `ulimit -n 1024`"
        )
    counted_processors = min(processors(), _MOST_COUNTED_PROCESSORS)
    needed = _LEAST_THREADS + _THREADS_PER_PROCESSOR * counted_processors
    startable = startable_threads(needed)
    if startable < needed:
        raise MachineError(
            f"this user may start only {startable} more processes or threads; scbench needs "
            f"{needed}: raise the limit with `ulimit -u` (in a container "
            "--pids-limit), or end other programs"
        )


def startable_threads(most: int) -> int:
    """Return how many threads can be started now, up to ``most``.

    The limit counts the processes of all programs of a user, so the only way to know is to try.
    """
    gate = _thread.allocate_lock()
    last_ended = _thread.allocate_lock()
    last_ended.acquire()
    started = 0
    ended = 0

    def wait() -> None:
        nonlocal ended
        with gate:
            ended += 1
            if ended == started:
                last_ended.release()

    usual_stack = threading.stack_size(_WAITING_STACK)
    # `threading.Thread` would wait for every thread to run, which takes five times as long.
    with gate:
        try:
            while started < most:
                _thread.start_new_thread(wait, ())
                started += 1
        except RuntimeError:  # no thread could be started
            pass
        finally:
            threading.stack_size(usual_stack)
    if started:
        last_ended.acquire()
    return started


def check_memory() -> None:
    """Check that this process may use enough address space to grade.

    Raises:
        MachineError: the limit on address space is too low.
    """
    most_bytes = _soft_limit("RLIMIT_AS")
    if most_bytes is not None and most_bytes < _LEAST_MEMORY:
        raise MachineError(
            f"this process may use only {most_bytes / 2**30:.2g} GiB of address space (ulimit "
            f"-v); grading needs {_LEAST_MEMORY / 2**30:g} GiB"
        )


def _soft_limit(name: str) -> int | None:
    """Return this process's soft limit with a name from ``resource``; None if there is no limit."""
    if not HAS_LIMITS:
        return None
    soft_limit, _ = resource.getrlimit(getattr(resource, name))
    return None if soft_limit == resource.RLIM_INFINITY else soft_limit


def limit_memory(memory_bytes: int) -> None:
    """Limit the address space of this process, if the system supports it."""
    if not HAS_LIMITS:
        return
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    soft_limit = memory_bytes
    if hard_limit != resource.RLIM_INFINITY:
        soft_limit = min(memory_bytes, hard_limit)
    with suppress(ValueError, OSError):  # some systems know the limit but cannot set it
        resource.setrlimit(resource.RLIMIT_AS, (soft_limit, hard_limit))
