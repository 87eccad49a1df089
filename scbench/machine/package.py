"""The copy of scbench that a process has loaded, for comparison between processes.

A worker that loads a different copy than its parent (for example a checkout next to an
installation) would silently grade with different rules.
"""

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from scbench.base.errors import EngineError


class PackageCopy(NamedTuple):
    """A copy of scbench on this machine."""

    folder: str
    """Its folder, with links resolved."""
    digest: str
    """SHA-256 of the paths and contents of its Python files."""


@cache
def loaded_package() -> PackageCopy:
    """Return the copy of scbench that this process has loaded."""
    folder = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    # In a checkout some subfolders are links to folders next to the package.
    for parent, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".py"):
                continue
            file = Path(parent, name)
            source = file.read_bytes()
            digest.update(f"{file.relative_to(folder)} {len(source)}\n".encode())
            digest.update(source)
    return PackageCopy(str(folder), digest.hexdigest())


def check_same_package(parent: PackageCopy) -> None:
    """Check that this process has loaded the same copy as its parent.

    Raises:
        EngineError: it has loaded a different copy, or files changed since the parent
            started.
    """
    worker = loaded_package()
    if worker.folder != parent.folder:
        raise EngineError(
            f"a worker process loaded scbench from {worker.folder}, but this process from "
            f"{parent.folder}; use an environment with only one of them"
        )
    if worker.digest != parent.digest:
        raise EngineError(
            f"the files of scbench in {parent.folder} changed while it was running; start "
            "it again"
        )
