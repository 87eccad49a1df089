"""How worker processes are started: quickly, and clean of this process's threads and state."""

import multiprocessing
import os
import tempfile
from multiprocessing.context import BaseContext

_LONGEST = 104
"""Bytes of a socket's address, on the strictest system."""
_SOCKET = "/pymp-12345678/listener-12345678"


def clean_context() -> BaseContext:
    """Return what pools of processes start their workers with.

    A fork server makes new workers quickly. It listens on a socket in the temporary folder, whose
    path may be too long for an address, as on machines that give each job a folder of its own;
    there, and on systems without one, each worker is started from nothing.
    """
    socket = os.fsencode(tempfile.gettempdir() + _SOCKET)
    served = "forkserver" in multiprocessing.get_all_start_methods() and len(socket) < _LONGEST
    return multiprocessing.get_context("forkserver" if served else "spawn")
