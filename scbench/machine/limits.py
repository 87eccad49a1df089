"""Limits on open files and processes that are too low for any worker process."""

import threading
from functools import cache

from scbench.base.errors import MachineError

# Files that a process opens to start workers and to write results, and some to spare.
_LEAST_FILES = 64
# Processes and threads that two workers and the libraries of their parent start, and some to
# spare.
_LEAST_THREADS = 20


@cache  # the workers of an earlier pool count, too
def check_limits() -> None:
    """Check that this process may open files and start processes, as workers need.

    Raises:
        MachineError: one of the limits is too low.
    """
    try:
        import resource  # noqa: PLC0415  (POSIX only)
    except ImportError:
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _LEAST_FILES:
        raise MachineError(
            f"this process may open only {soft} files; worker processes need {_LEAST_FILES}: "
            "raise the limit with `ulimit -n 1024`"
        )
    started = startable_threads()
    if started < _LEAST_THREADS:
        raise MachineError(
            f"this user may start only {started} more processes or threads; worker processes "
            f"need {_LEAST_THREADS}: raise the limit with `ulimit -u` (in a container "
            "--pids-limit), or end other programs"
        )


def startable_threads() -> int:
    """Return how many threads can be started now, up to the number that workers need.

    The limit counts the processes of all programs of a user, so the only way to know is to try.
    """
    may_end = threading.Event()
    threads = []
    try:
        for _ in range(_LEAST_THREADS):
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
