"""Atomic writing of files and folders."""

import errno
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# Default limit on the bytes of a file that are read into memory.
MOST_BYTES = 500_000_000
# Name of a temporary file of `whole_file`.
_PART = re.compile(r"\.[0-9a-f]{16}\.[0-9]+\.part")
_PROC = "/proc"
# Path of a pipe that a shell has opened for this process.
_SHELL_PIPE = re.compile(r"/(dev|proc/self)/fd/[0-9]+")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to a file, and move it to the file when the block ends.

    Other processes never see an incomplete file. If the block raises, the file stays
    unchanged and the temporary one is removed. A link at the path is replaced, not
    followed.
    """
    # In a folder that all users share, another user must not be able to guess the name and make a
    # link there. The name is short, because one with a suffix could be too long for the system.
    part = path.with_name(f".{os.urandom(8).hex()}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def remove_parts(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder that nobody writes to."""
    for path in folder.glob(".*.part"):
        if _PART.fullmatch(path.name):
            path.unlink(missing_ok=True)


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


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading, if it is a regular one.

    Opening a named pipe would wait for its writer, and a device may never end.

    Raises:
        OSError: the file does not exist, is not a regular file, or cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        check_regular(descriptor, path)
        return open(descriptor, "rb")  # noqa: PTH123  (a descriptor)
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, limit: int = MOST_BYTES) -> bytes:
    """Return the bytes of a regular file, at most one more than the limit.

    Raises:
        OSError: see `open_regular`.
    """
    with open_regular(path) as file:
        data: bytes | None = file.read(limit + 1)
    if data is None:
        # A file of the system, such as /proc/kmsg, that has nothing to read now.
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(path))
    return data


def read_given(path: str, limit: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file named on the command line, see `read_regular`.

    A pipe that the shell has opened for a command, as in ``--ids <(...)``, is read, too.

    Raises:
        OSError: see `open_regular`.
    """
    if _SHELL_PIPE.fullmatch(path):
        with Path(path).open("rb") as file:
            return file.read(limit + 1)
    return read_regular(Path(path), limit)


def check_regular(descriptor: int, path: Path) -> None:
    """Check that an open file is a regular one.

    Raises:
        OSError: it is a folder, a pipe, a device or a file in /proc.
    """
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode) or is_in_proc(status):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def is_in_proc(status: os.stat_result) -> bool:
    """Whether a file is in /proc: reading some of these files, such as kmsg, never ends."""
    return os.path.ismount(_PROC) and status.st_dev == os.stat(_PROC).st_dev  # noqa: PTH116


def file_state(path: str) -> tuple[int, ...] | None:
    """Return inode, size and modification time, to detect changes; None without such a file.

    Standard input ("-") is not a file, and a pipe is written to while it is read.
    """
    try:
        status = Path(path).stat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


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
        check_regular(descriptor, folder.joinpath(*names))
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes")
    return data


def cache_folder() -> Path:
    """Return the user's cache folder, which may not exist.

    Without a home folder, it is a path that can be neither read nor written. The same applies if
    another user has made our folder in a cache that several users share.
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
    if is_planted(base / "scbench"):
        base = Path(os.devnull)
    return base / "scbench"


def is_planted(folder: Path) -> bool:
    """Return whether a folder or link exists that another user has made.

    The owner of the parent folder is trusted, who may be another user: in a container, for
    example, root often works in the home folder of a user.
    """
    try:
        owner = folder.lstat().st_uid
        parent_owner = folder.parent.stat().st_uid
    except OSError:  # it does not exist, or cannot be used anyway
        return False
    return owner not in {os.geteuid(), 0, parent_owner}
