"""Contexts of `multiprocessing` whose processes never import files of the working folder.

`multiprocessing` starts its fork server, its resource tracker and spawned workers with
``python -c``, and such a process looks for modules in the working folder first. A file
``random.py`` there, by accident or in an archive from somebody else, would run in every worker.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import context
from multiprocessing.context import BaseContext
from threading import RLock

from scbench.base.errors import MachineError

# The environment variable that means the same as the option ``-P`` of Python.
_SAFE_PATH = "PYTHONSAFEPATH"
# Two threads that start processes must not restore the variable in the wrong order.
_ENVIRONMENT_LOCK = RLock()


@contextmanager
def safe_path() -> Iterator[None]:
    """Keep interpreters that the block starts from importing files of the working folder.

    The standard library has no parameter for the option ``-P``, so the environment says it.

    Raises:
        MachineError: this Python ignores its environment (``-E``), and so will those it starts.
    """
    flags = sys.flags
    if flags.ignore_environment and not flags.safe_path:
        raise MachineError(
            "`python -E` keeps worker processes from being told not to import Python files of the "
            "working folder: use `python -I` or `python -E -P`"
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


class SafeSpawnProcess(context.SpawnProcess):
    """A worker that is started from nothing."""

    def start(self) -> None:
        """Start the worker; pools do so at any time, whenever another one has died."""
        with safe_path():
            super().start()


class SafeSpawnContext(context.SpawnContext):
    """Starts each worker from nothing."""

    Process = SafeSpawnProcess


CONTEXTS: dict[str, BaseContext] = {"spawn": SafeSpawnContext()}

if sys.platform != "win32":

    class SafeForkServerProcess(context.ForkServerProcess):
        """A worker that is forked from a server."""

        def start(self) -> None:
            """Start the worker, and its server if that has died."""
            with safe_path():
                super().start()

    class SafeForkServerContext(context.ForkServerContext):
        """Forks workers from a server, which is quick."""

        Process = SafeForkServerProcess

    CONTEXTS["forkserver"] = SafeForkServerContext()
