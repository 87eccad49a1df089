"""Files and folders that are written completely or not at all."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to a file, and move it to the file when the block ends.

    Nobody ever sees half of the file. If the block raises, the file does not change and the
    temporary one is removed. A link at the path is replaced, not followed.
    """
    from scbench.base.canonical import sha256  # noqa: PLC0415  (heavy)

    # A name with a suffix could be longer than the file system allows; a hash never is.
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
    """Make a temporary folder next to a path, on the same file system, so moving is a rename.

    The parent folder is made if needed. The temporary folder is removed when the block ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".scbench-", dir=path.parent) as scratch:
        yield Path(scratch)


def cache_folder() -> Path:
    """Return the user's cache folder, which may not exist.

    Without a home folder it is a path that can be neither read nor written.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path.home() / ".cache"
        except RuntimeError:  # the user has no entry in the list of users
            base = Path(os.devnull)
    # Programs of the cache are run: none may come from the working folder.
    if not base.is_absolute():
        base = Path(os.devnull)
    return base / "scbench"
