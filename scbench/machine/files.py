"""Files and folders that appear whole or not at all."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a place beside a file to write to, and move it there when the block ends.

    Nobody ever sees half of the file. If the block is left by an exception, nothing changes and
    nothing is left behind. A link that stands there is replaced, not followed.
    """
    from scbench.base.canonical import sha256  # noqa: PLC0415  (heavy)

    # A name may have as many bytes as the file system lets it; one made from it has more.
    part = path.with_name(f".{sha256(os.fsencode(path.name))[:16]}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file as `whole_file` does: with what writes it to the path that it is given."""
    with whole_file(path) as part:
        write(part)


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """Make a folder beside a place, for what is to be moved there; it is gone when the block ends.

    The folder that the place is in is made if it does not exist.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".scbench-", dir=path.parent) as scratch:
        yield Path(scratch)


def cache_folder() -> Path:
    """Return the user's folder for what can be made again; it may not exist."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "scbench"
