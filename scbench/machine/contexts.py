"""`multiprocessing` contexts whose processes import nothing from the working folder or a script.

`multiprocessing` starts its fork server, its resource tracker and spawned workers with
``python -c``, and such a process looks for modules in the working folder first. A stray
``random.py`` there (left by accident, or unpacked from somebody else's archive) would be imported
by every worker.

Workers do not import the running program either. They do not need it, and a script that grades on
import would run again in each of them.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import context
from multiprocessing.context import BaseContext
from threading import RLock

from scbench.base.errors import MachineError

# The environment variable with the effect of Python's ``-P`` option.
_SAFE_PATH = "PYTHONSAFEPATH"
# Two threads that start processes must not restore the variable in the wrong order. Re-entrant,
# because a `safe_path` block may start a process, which enters `safe_path` again.
_ENVIRONMENT_LOCK = RLock()


@contextmanager
def safe_path() -> Iterator[None]:
    """Make interpreters started inside the block ignore the working folder when they import.

    `multiprocessing` has no parameter for Python's ``-P`` option, so an environment
    variable sets it. The variable is set for the whole process while the block runs.

    Raises:
        MachineError: this Python ignores its environment (``-E``), so its children
            will, too.
    """
    flags = sys.flags
    # With -P, `multiprocessing` passes the flag itself on to its children.
    if flags.ignore_environment and not flags.safe_path:
        raise MachineError(
            "with `python -E`, worker processes could import Python files from the "
            "working folder; use `python -I` or `python -E -P` instead"
        )
    with _ENVIRONMENT_LOCK:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = before


@contextmanager
def main_not_imported() -> Iterator[None]:
    """Keep processes that start in the block from importing the running program."""
    main = sys.modules["__main__"]
    saved = {name: vars(main).pop(name, None) for name in ("__file__", "__spec__")}
    main.__spec__ = None
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is not None:
                setattr(main, name, value)


class SafeSpawnProcess(context.SpawnProcess):
    """A worker that is started as a fresh interpreter."""

    def start(self) -> None:
        """Start the worker.

        The protection is here because a pool may start a replacement whenever a worker
        dies.
        """
        # Only one thread at a time is in a `safe_path` block, so each restores what it found.
        with safe_path(), main_not_imported():
            super().start()


class SafeSpawnContext(context.SpawnContext):
    """Starts each worker as a fresh interpreter."""

    Process = SafeSpawnProcess


# The method "fork" is missing on purpose: it copies this process and starts no interpreter.
CONTEXTS: dict[str, BaseContext] = {"spawn": SafeSpawnContext()}

if sys.platform != "win32":

    class SafeForkServerProcess(context.ForkServerProcess):
        """A worker that is forked from a server process."""

        def start(self) -> None:
            """Start the worker, and the server if none is running."""
            with safe_path(), main_not_imported():
                super().start()

    class SafeForkServerContext(context.ForkServerContext):
        """Forks workers from a server process, which is faster than starting interpreters."""

        Process = SafeForkServerProcess

    CONTEXTS["forkserver"] = SafeForkServerContext()
