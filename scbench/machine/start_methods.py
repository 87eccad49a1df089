"""Fast starting of worker processes that inherit no threads or state."""

import errno
import os
from typing import TYPE_CHECKING

from scbench.base.errors import MachineError
from scbench.machine.limits import check_limits
from scbench.machine.signals import blocked

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

# Maximum bytes in the path of a socket on the strictest system.
_LONGEST_SOCKET_PATH = 104
# The socket of a fork server, below the temporary folder.
_SOCKET = "/pymp-12345678/listener-12345678"
# Ids of processes that were forked after this module was loaded.
_forks: set[int] = set()

os.register_at_fork(after_in_child=lambda: _forks.add(os.getpid()))


def clean_context() -> "BaseContext":
    """Return the `multiprocessing` context in which pools start workers.

    A fork server starts new workers quickly. It listens on a socket in the temporary folder, whose
    path may be too long for an address (for example with a long folder name for each job). Then,
    and on systems without a fork server, each worker is a fresh interpreter. The same applies in a
    fork of another process, to which the fork server belongs.

    Raises:
        MachineError: processes cannot share memory here, or a limit on open files or
            processes is too low.
    """
    check_limits()
    import multiprocessing  # noqa: PLC0415  (commands ask for `processors` before they start)
    import tempfile  # noqa: PLC0415
    from multiprocessing import resource_tracker  # noqa: PLC0415

    from scbench.machine.contexts import CONTEXTS, safe_path  # noqa: PLC0415

    socket_path = os.fsencode(tempfile.gettempdir() + _SOCKET)
    has_server = "forkserver" in multiprocessing.get_all_start_methods()
    is_fork = os.getpid() in _forks
    if has_server and not is_fork and len(socket_path) < _LONGEST_SOCKET_PATH:
        context = CONTEXTS["forkserver"]
    else:
        context = CONTEXTS["spawn"]
    # The tracker starts once and unblocks two signals. It must survive a signal sent to
    # all processes of a job.
    with blocked(), safe_path():
        resource_tracker.ensure_running()
    try:
        context.Lock()
    except OSError as error:
        if error.errno in {errno.EMFILE, errno.ENFILE}:
            raise
        raise MachineError(
            f"processes cannot share memory here ({error.strerror}); grading needs a writable "
            "/dev/shm (`docker run --shm-size 64m`, `mount -t tmpfs tmpfs /dev/shm`); "  # noqa: S108
            "scbench.score in Python works without it"
        ) from None
    return context


def start_server(*modules: str) -> "BaseContext":
    """Start the server that forks workers, if it is not running.

    This takes a while, but runs in the background.

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
