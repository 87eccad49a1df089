"""What a process may use: processors, and limits on files, threads and memory (POSIX)."""

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
# Processes and threads that two processes with our libraries start whatever the number of
# processors, and for each processor (polars starts three).
_LEAST_THREADS = 20
_THREADS_PER_PROCESSOR = 6
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
    most_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most_files != resource.RLIM_INFINITY and most_files < _LEAST_FILES:
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
    may_end = threading.Event()
    threads = []
    try:
        for _ in range(most):
            thread = threading.Thread(target=may_end.wait)
            thread.start()
            threads.append(thread)
    except RuntimeError:  # no thread could be started
        pass
    finally:
        may_end.set()
        for thread in threads:
            thread.join()
    return len(threads)


def check_memory() -> None:
    """Check that this process may use enough address space to grade.

    Raises:
        MachineError: its limit is too low.
    """
    if not HAS_LIMITS:
        return
    most_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most_bytes != resource.RLIM_INFINITY and most_bytes < _LEAST_MEMORY:
        raise MachineError(
            f"this process may use only {most_bytes / 2**30:.2g} GiB of address space (ulimit "
            f"-v); grading needs {_LEAST_MEMORY / 2**30:g} GiB"
        )


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
