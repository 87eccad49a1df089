"""Where the bytes of a release lie: in a folder, or in a zip archive that is read in place.

Nothing is unpacked, and no name from an archive is ever used as a path: files are asked for by the
names that the manifest lists, with the sizes it gives.

A folder may be anybody's, too: a pipe in the place of a file would wait for ever, and is refused.
"""

import errno
import os
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scbench.base.errors import ReleaseError
from scbench.release.manifest import MANIFEST, MOST_MANIFEST_BYTES, Manifest, parse_manifest

MOST_BYTES = 500_000_000
"""Larger files are no release's; a real one is a hundredth of that."""
_MOST_ENTRIES = 10_000
"""Archives of more are no releases; a real one is a hundredth of that."""


def read_regular(path: Path, limit: int) -> bytes:
    """Return the bytes of a file, but never more than one over ``most``, nor more than any has.

    A release's folder may be anybody's: a pipe in the place of a file would wait for ever.

    Raises:
        OSError: there is no such file, it is none, or it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:  # noqa: PTH123  (no path)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        return file.read(min(limit, MOST_BYTES) + 1)


def read_manifest(root: Path, *, check_digest: bool = True) -> Manifest:
    """Read the manifest in a release's folder; see `parse_manifest`.

    Raises:
        ReleaseError: the folder or manifest is missing, unreadable or changed.
    """
    try:
        data = read_regular(root / MANIFEST, MOST_MANIFEST_BYTES)
    except OSError as error:
        raise ReleaseError(
            f"{root} is not a release folder: {MANIFEST}: {error.strerror}"
        ) from None
    return parse_manifest(data, root, check_digest=check_digest)


class Source(Protocol):
    """Gives the bytes of a release's files."""

    def read(self, name: str, limit: int) -> bytes:
        """Return a file's bytes, but never more than one over ``most``.

        Raises:
            OSError: there is no such file, or it cannot be read.
            ReleaseError: the archive is damaged.
        """
        ...

    def names(self) -> set[str]:
        """Return the names of all that is there but folders."""
        ...


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A release in a folder."""

    root: Path

    def read(self, name: str, limit: int) -> bytes:
        """See `Source`."""
        return read_regular(self.root / name, limit)

    def names(self) -> set[str]:
        """See `Source`."""
        paths = (path for path in self.root.rglob("*") if path.is_symlink() or not path.is_dir())
        return {path.relative_to(self.root).as_posix() for path in paths}


@dataclass(frozen=True, slots=True)
class Archive:
    """A release in a zip archive.

    Attributes:
        path: of the archive.
        prefix: what stands before the names, such as ``2.0.0/``; empty if the archive holds the
            files themselves and not their folder.
    """

    path: Path
    prefix: str

    def read(self, name: str, limit: int) -> bytes:
        """See `Source`."""
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.prefix + name) as file:
                return file.read(limit + 1)
        except KeyError:
            raise FileNotFoundError(2, "not in the archive", name) from None
        except Exception as error:  # damaged archives fail in many ways
            raise ReleaseError(f"{self.path}: {name} cannot be read: {error}") from error

    def names(self) -> set[str]:
        """See `Source`."""
        with zipfile.ZipFile(self.path) as archive:
            names = archive.namelist()
        return {name.removeprefix(self.prefix) for name in names if not name.endswith("/")}


def open_archive(path: Path) -> Archive:
    """Find the release in a zip archive.

    Raises:
        ReleaseError: it cannot be read, is far too large, names a file twice, or does not hold
            exactly one release, at its top or in one folder.
    """
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise ReleaseError(f"{path} is far too large for a release")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except Exception as error:  # damaged archives fail in many ways
        raise ReleaseError(f"{path} cannot be read as a zip archive: {error}") from error
    if len(names) > _MOST_ENTRIES:
        raise ReleaseError(f"{path} holds {len(names)} files, far too many for a release")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReleaseError(f"{path} holds {twice[:200]!r} twice, so which one counts is open")
    tops = [name.removesuffix(MANIFEST) for name in names if name.endswith(MANIFEST)]
    tops = [top for top in tops if top.count("/") == top.endswith("/")]
    if len(tops) != 1:
        raise ReleaseError(
            f"{path} holds {len(tops) or 'no'} releases; a release's archive has one {MANIFEST}, "
            "at its top or in one folder"
        )
    return Archive(path, tops[0])
