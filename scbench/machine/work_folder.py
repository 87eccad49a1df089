"""A hidden, marked folder for a run's unfinished work, locked by one process.

A folder with files but without our marker is refused, and links are not followed. The marker names
the process that has the lock. The system releases the lock when that process ends, however it ends.

The marker also contains a seal, which only this user can make. A folder from someone else's archive
has no seal of this user, so its results are never mistaken for the user's own.
"""

import errno
import fcntl
import hmac
import json
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scbench.base import __version__
from scbench.base.canonical import parse_json
from scbench.base.errors import FolderInUseError, JsonError, ResultsError
from scbench.machine.files import cache_folder, read_regular

MARKER = "RUN.json"
_MARKER_KEYS = ("scbench", "host", "pid", "identity")
# The file with the key of this user's seals, in the cache folder.
_KEY = "run-key"
_KEY_BYTES = 32
# Every marker is padded to this number of bytes and written in one call, so it is complete.
_SIZE = 1024
# Errors of file systems without locks.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_TRIES = 10


class WorkFolder:
    """A folder locked by this process until closed or removed; created if needed.

    Attributes:
        path: the folder.
        previous: identity of the run that was interrupted there; empty if there was none.
        locked: whether the file system could lock it.

    Raises:
        ResultsError: the path is not ours, or another process uses it.
        OSError: it cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.previous = ""
        self._seal = ""
        self.locked = True
        for _ in range(_TRIES):
            descriptor = self._open()
            if descriptor is not None:
                break
        else:
            raise ResultsError(
                f"{path} appears and disappears, so other processes use it"
            )
        self._descriptor = descriptor
        try:
            self._take_over()
        except BaseException:
            os.close(descriptor)
            raise

    def _open(self) -> int | None:
        """Open and lock the marker; None if another process has just removed the folder."""
        try:
            self.path.mkdir(exist_ok=True)
            if not stat.S_ISDIR(self.path.lstat().st_mode):
                raise self._not_ours()
            marker = self.path / MARKER
            names = os.listdir(self.path)  # noqa: PTH208  (names are needed, not paths)
            if names and MARKER not in names:
                raise self._not_ours()
            descriptor = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except FileNotFoundError:
            return None
        except FileExistsError:  # no folder
            raise self._not_ours() from None
        except OSError as error:
            if error.errno == errno.ELOOP:  # the marker is a link
                raise self._not_ours() from None
            raise
        try:
            self._lock(descriptor)
            # The owner may have removed it between opening and locking.
            is_present = os.path.samestat(os.fstat(descriptor), marker.lstat())
        except FileNotFoundError:
            is_present = False
        except BaseException:
            os.close(descriptor)
            raise
        if not is_present:
            os.close(descriptor)
            return None
        return descriptor

    def _lock(self, descriptor: int) -> None:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # such as a pipe
            raise self._not_ours()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            marker = read_marker(descriptor)
            owner = "another process"
            if marker:
                owner = f"process {marker['pid']} on {marker['host']}"
            raise FolderInUseError(
                f"{owner} is writing to {self.path.parent}; wait for it, or choose another "
                "--out"
            ) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            self.locked = False

    def _take_over(self) -> None:
        """Read the marker of an interrupted run, and write that of this process."""
        marker = read_marker(self._descriptor)
        if marker is not None:
            self.previous = marker["identity"]
            self._seal = marker["seal"]
        elif os.fstat(self._descriptor).st_size or len(os.listdir(self.path)) > 1:  # noqa: PTH208
            raise self._not_ours()
        # The old seal stays, because the content may be someone else's.
        self._write_marker(self.previous)

    def _not_ours(self) -> ResultsError:
        return ResultsError(
            f"{self.path} was not made by scbench; move it elsewhere, or choose another --out"
        )

    def mark(self, identity: str) -> None:
        """Write the identity of the run; from then on this user can continue it."""
        self._seal = self._seal_of(identity)
        self._write_marker(identity)

    def _write_marker(self, identity: str) -> None:
        marker = {
            "scbench": __version__,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "identity": identity,
            "seal": self._seal,
        }
        text = json.dumps(marker)
        os.pwrite(self._descriptor, f"{text:<{_SIZE - 1}}\n".encode(), 0)

    def is_own(self) -> bool:
        """Return whether this user began the interrupted run, with the same cache folder."""
        own = self._seal_of(self.previous)
        return own != "" and hmac.compare_digest(own.encode(), self._seal.encode())

    def _seal_of(self, identity: str) -> str:
        """Return this user's seal of a run; empty if no key can be stored.

        The seal includes the marker's owner, so a copy in another user's file is not valid.
        """
        key = user_key()
        if key is None:
            return ""
        owner = os.fstat(self._descriptor).st_uid
        return hmac.new(key, f"{owner} {identity}".encode(), "sha256").hexdigest()

    def clear(self) -> None:
        """Remove everything that an interrupted run left behind."""
        for path in self.path.iterdir():
            if path.name != MARKER:
                remove(path)
        self.previous = ""

    def close(self) -> None:
        """Close the folder but leave it for a later run."""
        os.close(self._descriptor)

    def remove(self) -> None:
        """Remove the folder and its content."""
        self.mark("")
        self.clear()
        (self.path / MARKER).unlink(missing_ok=True)
        with suppress(OSError):  # another run has started there
            self.path.rmdir()
        self.close()


def read_marker(descriptor: int) -> dict[str, str] | None:
    """Return the content of a marker; None if it is not one."""
    try:
        marker = parse_json(os.pread(descriptor, _SIZE, 0))
    except JsonError:
        return None
    if not isinstance(marker, dict) or not marker.keys() >= {*_MARKER_KEYS}:
        return None
    # Earlier versions wrote no seal.
    return {key: str(marker.get(key, "")) for key in (*_MARKER_KEYS, "seal")}


def user_key() -> bytes | None:
    """Return the secret key of this user's seals, which is made once; None if it cannot be."""
    path = cache_folder() / _KEY
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _make_key(path)
        key = read_regular(path)
    except OSError:
        return None
    return key if len(key) == _KEY_BYTES else None


def _make_key(path: Path) -> None:
    """Make a key that only this user can read, unless another process has just made one."""
    descriptor, part = tempfile.mkstemp(dir=path.parent)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123  (a descriptor)
            file.write(os.urandom(_KEY_BYTES))
        # A link fails if the key exists. Replacing it could lose a key that is already in use.
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        os.unlink(part)  # noqa: PTH108  (a text)


@contextmanager
def no_empty(folder: Path) -> Iterator[None]:
    """Make a folder for the block; remove it afterwards if it is empty."""
    new_folders = [path for path in (folder, folder.parent) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for path in new_folders:
            with suppress(OSError):  # it is not empty
                path.rmdir()


def interrupted(path: Path) -> bool:
    """Return whether a path is a run's work folder."""
    return (path / MARKER).is_file()


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with its content."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
