"""Groups of processes whose memory the kernel counts together: cgroup v2, where we may make one.

Limits of resources count the address space of each process, but not what the kernel keeps for it,
such as page tables. Source: the kernel's Documentation/admin-guide/cgroup-v2.rst.
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
_PATIENCE = 2000
_numbers = itertools.count()


@cache
def home() -> Path | None:
    """Return the group in which ours can be made, beside that of this process; None if none is."""
    try:
        lines = _OWN_GROUP.read_text("utf-8").splitlines()
        path = next(line for line in lines if line.startswith("0::")).removeprefix(
            "0::/"
        )
        place = (_ROOT / path).parent if path else _ROOT
        counted = (
            "memory" in (place / "cgroup.subtree_control").read_text("ascii").split()
        )
    except (OSError, StopIteration):
        return None
    if not counted or not all(
        os.access(it, os.W_OK) for it in (place, place / "cgroup.procs")
    ):
        return None
    # What systemd keeps for itself root could write, but only systemd should.
    ours = os.geteuid() != 0 or not _SYSTEMD.exists()
    return place if ours or any(map(_delegated, (place, *place.parents))) else None


def _delegated(group: Path) -> bool:
    with contextlib.suppress(OSError):
        return os.getxattr(group, "trusted.delegate") == b"1"
    return False


@contextlib.contextmanager
def group(memory: int) -> Iterator[Path]:
    """Make a group in `home`, of so many bytes without swap, while a child runs; then end it."""
    folder = (home() or _ROOT) / f"scbench-{os.getpid()}-{next(_numbers)}"
    folder.mkdir(exist_ok=True)
    try:
        (folder / "memory.max").write_text(str(memory), "ascii")
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
