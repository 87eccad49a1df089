"""Control groups (cgroup v2), in which the kernel counts the memory of several processes.

Resource limits count the address space of each process, but not the kernel's memory for
it, such as page tables. Source: the kernel's Documentation/admin-guide/cgroup-v2.rst.
"""

import contextlib
import itertools
import os
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")
_SYSTEMD = Path("/run/systemd/system")
# Start of the version 2 line in the list of a process's groups.
_UNIFIED = "0::/"
# Milliseconds to wait for the end of a group.
_PATIENCE = 2000

_numbers = itertools.count()


@contextlib.contextmanager
def group(memory: int) -> Iterator[Path]:
    """Limit a child to this many bytes, without swap, with a temporary group in `home`."""
    folder = (home() or _ROOT) / f"scbench-{os.getpid()}-{next(_numbers)}"
    folder.mkdir(exist_ok=True)
    try:
        (folder / "memory.max").write_text(str(memory), "ascii")
        # Not every kernel has swap. If the processes use too much memory, all of them end.
        for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
            with contextlib.suppress(FileNotFoundError):
                (folder / name).write_text(value, "ascii")
        yield folder
    finally:
        with contextlib.suppress(OSError):
            (folder / "cgroup.kill").write_text("1", "ascii")
        for _ in range(_PATIENCE):  # until the last process has ended
            try:
                folder.rmdir()
            except OSError:
                time.sleep(0.001)
            else:
                break


@cache
def home() -> Path | None:
    """Return the group in which we can create ours, near this process's group; None if none."""
    place = None
    try:
        for line in _OWN_GROUP.read_text("utf-8").splitlines():
            if line.startswith("0::"):
                path = line.removeprefix(_UNIFIED)
                place = (_ROOT / path).parent if path else _ROOT
                break
        if place is None:
            return None
        controllers = (place / "cgroup.subtree_control").read_text("ascii").split()
    except OSError:
        return None
    if "memory" not in controllers:
        return None
    for path_to_write in (place, place / "cgroup.procs"):
        if not os.access(path_to_write, os.W_OK):
            return None
    # Root could write to systemd's groups, but only systemd should.
    if os.geteuid() != 0 or not _SYSTEMD.exists():
        return place
    is_delegated = any(_delegated(folder) for folder in (place, *place.parents))
    return place if is_delegated else None


def _delegated(folder: Path) -> bool:
    """Return whether systemd has delegated a group."""
    with contextlib.suppress(OSError):
        return os.getxattr(folder, "trusted.delegate") == b"1"
    return False
