"""Atomic writing of files and folders."""

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to a file, and move it to the file when the block ends.

    Other processes never see an incomplete file. If the block raises, the file stays
    unchanged and the temporary one is removed. A link at the path is replaced, not
    followed.
    """
    from scbench.base.canonical import sha256  # noqa: PLC0415  (heavy)

    # A name with a suffix could be too long for the file system; a hash never is.
    hashed_name = sha256(os.fsencode(path.name))[:16]
    part = path.with_name(f".{hashed_name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file completely or not at all.

    Args:
        path: the file.
        write: writes the content to the path that it is called with.
    """
    with whole_file(path) as part:
        write(part)


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """Make a temporary folder next to a path, so that it can be moved by renaming.

    The parent folder is created if needed. The temporary folder is removed when the
    block ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".scbench-", dir=path.parent) as scratch:
        yield Path(scratch)


@contextmanager
def private_files(private: bool = True) -> Iterator[None]:  # noqa: FBT001, FBT002  (a switch)
    """Make files and folders created in the block readable only by this user, if private."""
    if not private:
        yield
        return
    mask = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(mask)


def read_foreign(folder: Path, names: Sequence[str], limit: int) -> bytes:
    """Return the bytes of a file in an untrusted folder, without following links or pipes.

    Args:
        folder: the folder, which may be a link.
        names: names of the folders below it, and of the file.
        limit: maximum number of bytes.

    Raises:
        OSError: the file does not exist, is not a regular file, is larger than the
            limit (``EFBIG``), or cannot be read.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for name in names:
        parent = descriptor
        try:
            descriptor = os.open(name, flags, dir_fd=parent)
        finally:
            os.close(parent)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes")
    return data


def cache_folder() -> Path:
    """Return the user's cache folder, which may not exist.

    Without a home folder, it is a path that can be neither read nor written.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path.home() / ".cache"
        except RuntimeError:  # the user has no entry in the list of users
            base = Path(os.devnull)
    # The cache contains programs that are run, so it must not be in the working folder.
    if not base.is_absolute():
        base = Path(os.devnull)
    return base / "scbench"
