"""Starts worker processes: quickly, and clean of the threads and state of this process."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scbench.base.errors import MachineError
from scbench.machine.signals import blocked

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

# Bytes that the path of a socket may have, on the strictest system.
_LONGEST_SOCKET_PATH = 104
# The socket of a fork server, below the temporary folder.
_SOCKET = "/pymp-12345678/listener-12345678"


@contextmanager
def main_not_imported() -> Iterator[None]:
    """Keep workers that start in the block from importing the running program.

    They need nothing of it, and a script that grades when it is imported would grade in each.
    """
    main = sys.modules["__main__"]
    saved = {name: vars(main).pop(name, None) for name in ("__file__", "__spec__")}
    main.__spec__ = None
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is not None:
                setattr(main, name, value)


def clean_context() -> "BaseContext":
    """Return the context with which pools start their workers.

    A fork server makes new workers quickly. It listens on a socket in the temporary folder, whose
    path may be too long for an address, as on machines that give each job its own folder;
    there, and on systems without a fork server, each worker is started from nothing.

    Raises:
        MachineError: processes cannot share memory here.
    """
    import multiprocessing  # noqa: PLC0415  (commands ask for `processors` before they start)
    import tempfile  # noqa: PLC0415
    from multiprocessing import resource_tracker  # noqa: PLC0415

    from scbench.machine.contexts import CONTEXTS, safe_path  # noqa: PLC0415

    socket_path = os.fsencode(tempfile.gettempdir() + _SOCKET)
    has_server = "forkserver" in multiprocessing.get_all_start_methods()
    if has_server and len(socket_path) < _LONGEST_SOCKET_PATH:
        context = CONTEXTS["forkserver"]
    else:
        context = CONTEXTS["spawn"]
    # The tracker starts once. It unblocks two signals as it does, and it must outlive a signal that
    # is sent to all processes of a job.
    with blocked(), safe_path():
        resource_tracker.ensure_running()
    try:
        context.Lock()
    except OSError as error:
        if error.errno in {errno.EMFILE, errno.ENFILE}:
            raise
        raise MachineError(
            f"processes cannot share memory here ({error.strerror}); grading needs a writable "
            "/dev/shm (`docker run --shm-size 64m`, `mount -t tmpfs tmpfs /dev/shm`), "  # noqa: S108
            "scbench.score in Python does not"
        ) from None
    return context


def start_server(*modules: str) -> "BaseContext":
    """Start the server from which workers are forked, if it does not run yet.

    That takes a while, and nobody has to wait for it.

    Args:
        modules: the server imports them once, for all workers.

    Returns:
        See `clean_context`.
    """
    from multiprocessing import forkserver  # noqa: PLC0415  (as above)

    from scbench.machine.contexts import safe_path  # noqa: PLC0415

    context = clean_context()
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload([*modules])
        with blocked(), safe_path():
            forkserver.ensure_running()
    return context
