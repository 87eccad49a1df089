"""Where the bytes of a release lie: in a folder, in a zip archive read in place, or on the Hub.

Nothing is unpacked, and no name from an archive is ever used as a path: files are asked for by the
names that the manifest lists, with the sizes it gives.

A folder may be anybody's, too: a pipe in the place of a file would wait for ever, and is refused.
"""

import errno
import os
import re
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scbench.base.data import packaged_toml
from scbench.base.errors import HubError, ReleaseError, ScbenchError
from scbench.release.manifest import (
    EVAL,
    MANIFEST,
    MOST_MANIFEST_BYTES,
    Manifest,
    is_version,
    parse_manifest,
)

# Larger files are no release's; a real one is a hundredth of that.
MOST_BYTES = 500_000_000
# Archives of more are no releases; a real one is a hundredth of that.
_MOST_ENTRIES = 10_000


# What the Hub itself puts into every repository; no part of a release.
OWN_FILES = {".gitattributes"}

NOT_SENT = {EVAL}
"""Files of a release that its copy on the Hub lacks.

The Hub refuses an ``eval.yaml`` whose ``evaluation_framework`` is not on its list
(packages/tasks/src/eval.ts of huggingface.js), and scbench is not on it.
"""

_NAME = re.compile(r"(?P<repo>\w[\w.-]*/\w[\w.-]*)@(?P<revision>[\w./-]+)", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")


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
        paths = (
            path
            for path in self.root.rglob("*")
            if path.is_symlink() or not path.is_dir()
        )
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
            with (
                zipfile.ZipFile(self.path) as archive,
                archive.open(self.prefix + name) as file,
            ):
                return file.read(limit + 1)
        except KeyError:
            raise FileNotFoundError(2, "not in the archive", name) from None
        except Exception as error:  # damaged archives fail in many ways
            raise ReleaseError(
                f"{self.path}: {name} cannot be read: {error}"
            ) from error

    def names(self) -> set[str]:
        """See `Source`."""
        with zipfile.ZipFile(self.path) as archive:
            names = archive.namelist()
        return {
            name.removeprefix(self.prefix) for name in names if not name.endswith("/")
        }


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
        raise ReleaseError(
            f"{path} cannot be read as a zip archive: {error}"
        ) from error
    if len(names) > _MOST_ENTRIES:
        raise ReleaseError(
            f"{path} holds {len(names)} files, far too many for a release"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReleaseError(
            f"{path} holds {twice[:200]!r} twice, so which one counts is open"
        )
    tops = [name.removesuffix(MANIFEST) for name in names if name.endswith(MANIFEST)]
    tops = [top for top in tops if top.count("/") == top.endswith("/")]
    if len(tops) != 1:
        raise ReleaseError(
            f"{path} holds {len(tops) or 'no'} releases; a release's archive has one {MANIFEST}, "
            "at its top or in one folder"
        )
    return Archive(path, tops[0])


def tag_of(version: str) -> str:
    """Return the tag that a version of a release has on the Hub."""
    return f"v{version}"


def hub_name(name: str) -> tuple[str, str] | None:
    """Return repository and revision of ``ORG/NAME@REVISION``; None for any other name."""
    match = _NAME.fullmatch(name)
    return (match["repo"], match["revision"]) if match else None


def fetch_snapshot(repo: str, revision: str) -> Path:
    """Return a folder with the files of a data set repository, downloaded if it must be.

    What a commit or a version tag names never changes, so such a revision that is in the Hub cache
    as a whole is used without asking the Hub.

    Raises:
        HubError: it is not in the cache and cannot be downloaded.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415  (an extra)
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    if _COMMIT.fullmatch(revision) or is_version(revision.removeprefix("v")):
        try:
            cached = snapshot_download(
                repo, repo_type="dataset", revision=revision, local_files_only=True
            )
        except LocalEntryNotFoundError:
            pass
        else:
            if _has_all_files(Path(cached)):
                return Path(cached)
    with hub_errors(repo):
        return Path(snapshot_download(repo, repo_type="dataset", revision=revision))


def _has_all_files(folder: Path) -> bool:
    """Whether a cached snapshot has every file; ``datasets`` caches those it has read only."""
    try:
        manifest = read_manifest(folder)
    except ReleaseError:
        return False
    names = {MANIFEST, *manifest.files} - NOT_SENT
    return all((folder / name).is_file() for name in names)


@contextmanager
def hub_errors(repo: str) -> Iterator[None]:
    """Turn whatever fails while talking to the Hub into a `HubError` that says what to do.

    Args:
        repo: id of the repository, for messages.
    """
    try:
        yield
    except (ScbenchError, ModuleNotFoundError):
        raise
    except Exception as error:
        raise HubError(_hub_failure(error, repo)) from error


def _hub_failure(error: Exception, repo: str) -> str:
    from huggingface_hub import errors  # noqa: PLC0415  (an extra)

    words = packaged_toml("scbench.release", "hub.toml")
    kinds = {
        errors.LocalTokenNotFoundError: "no_token",
        errors.OfflineModeIsEnabled: "offline",
        errors.RevisionNotFoundError: "no_revision",
    }
    chain = list(_causes(error))
    for cause in chain:
        for kind, name in kinds.items():
            if isinstance(cause, kind):
                return str(words[name].format(repo=repo))
        if isinstance(cause, errors.HfHubHTTPError):
            status = cause.response.status_code
            message = " ".join(str(cause.server_message or "").split())[:300]
            reason = words["server_fails" if status >= 500 else "refused"]
            tail = f" (the Hub says: {message})" if message else ""
            text = (
                words["status"]
                .get(str(status), reason)
                .format(repo=repo, status=status)
            )
            return f"{text}{tail}"
    message = f"{type(chain[-1]).__name__}: {' '.join(str(chain[-1]).split())[:300]}"
    is_of_line = any(
        isinstance(cause, OSError) or _is_of_http(cause) for cause in chain
    )
    return str(
        words["broke_off" if is_of_line else "failed"].format(
            repo=repo, message=message
        )
    )


def _is_of_http(error: BaseException) -> bool:
    """Whether an error is of the HTTP client, which has another name in each Hub client."""
    return any(
        kind.__module__.startswith(("httpx", "httpcore"))
        for kind in type(error).__mro__
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from: clients wrap the one that says what happened."""
    cause: BaseException | None = error
    for _ in range(20):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__
