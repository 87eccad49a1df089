"""Reading a release's files from a folder that may be anybody's."""

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 500_000_000
"""Larger files are no release's; a real one is a hundredth of that."""
MOST_MANIFEST_BYTES = 20_000_000


def read_regular(path: Path, most: int) -> bytes:
    """Return the bytes of a file, but never more than one over ``most``, nor more than any has.

    A release's folder may be anybody's: a pipe in the place of a file would wait for ever.

    Raises:
        OSError: there is no such file, it is none, or it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:  # noqa: PTH123  (no path)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        return file.read(min(most, MOST_BYTES) + 1)
