"""Sources of a release's bytes: a folder, a zip archive read in place, or the Hub.

Nothing is unpacked, and no name from an archive is ever used as a path: files are read by the names
in the manifest, up to the sizes listed there.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scbench.base.data import packaged_toml
from scbench.base.errors import HubError, ReleaseError, ScbenchError
from scbench.base.wording import counted
from scbench.machine.files import MOST_BYTES, open_regular, read_regular
from scbench.release.manifest import (
    EVAL,
    MANIFEST,
    MOST_MANIFEST_BYTES,
    Manifest,
    is_version,
    parse_manifest,
)

# Archives with more entries are not releases; real releases have a hundredth of this number.
_MOST_ENTRIES = 10_000
# Files that the Hub itself puts into every repository; not part of a release.
OWN_FILES = {".gitattributes"}
# Files of a release that are not published on the Hub. The Hub refuses some ``eval.yaml`` files, by
# rules that change (packages/tasks/src/eval.ts of huggingface.js). This must not block a release,
# so people upload the file afterwards.
NOT_SENT = {EVAL}
# ORG/NAME@REVISION
_NAME = re.compile(r"(?P<repo>\w[\w.-]*/\w[\w.-]*)@(?P<revision>[\w./-]+)", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Maximum length of a chain of errors that is followed.
_MAX_CAUSES = 20


class Source(Protocol):
    """Provides the bytes of a release's files."""

    def read(self, name: str, limit: int) -> bytes:
        """Return a file's bytes, at most one more than ``limit``.

        Raises:
            OSError: there is no such file, or it cannot be read.
            ReleaseError: the archive is damaged.
        """
        ...

    def names(self) -> set[str]:
        """Return the names of everything except folders."""
        ...


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A release in a folder."""

    root: Path

    def read(self, name: str, limit: int) -> bytes:
        """See `Source`."""
        return read_regular(self.root / name, min(limit, MOST_BYTES))

    def names(self) -> set[str]:
        """See `Source`."""
        names = set()
        for path in self.root.rglob("*"):
            # A link is never part of a release, not even a link to a folder.
            if path.is_symlink() or not path.is_dir():
                names.add(path.relative_to(self.root).as_posix())
        return names


@dataclass(frozen=True, slots=True)
class Archive:
    """A release in a zip archive.

    Attributes:
        path: path of the archive.
        prefix: folder in the archive, such as ``2.0.0/``; empty if the files are at its top.
    """

    path: Path
    prefix: str

    def read(self, name: str, limit: int) -> bytes:
        """See `Source`."""
        try:
            with (
                open_regular(self.path) as packed,
                zipfile.ZipFile(packed) as archive,
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
        with open_regular(self.path) as packed, zipfile.ZipFile(packed) as archive:
            names = archive.namelist()
        return {
            name.removeprefix(self.prefix) for name in names if not name.endswith("/")
        }


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


def open_archive(path: Path) -> Archive:
    """Find the release in a zip archive.

    Raises:
        ReleaseError: the archive cannot be read, is far too large, names a file twice, or does
            not contain exactly one release, at its top or in one folder.
    """
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise ReleaseError(f"{path} is too large for a release")
    try:
        with open_regular(path) as packed, zipfile.ZipFile(packed) as archive:
            # Only the directory at the archive's end is read.
            names = archive.namelist()
    except Exception as error:  # damaged archives fail in many ways
        raise ReleaseError(
            f"{path} cannot be read as a zip archive: {error}"
        ) from error
    if len(names) > _MOST_ENTRIES:
        raise ReleaseError(
            f"{path} contains {counted(len(names), 'file')}, too many for a release"
        )
    for name, count in Counter(names).items():
        if count > 1:
            raise ReleaseError(f"{path} contains {name[:200]!r} twice")
    folders = []
    for name in names:
        folder = name.removesuffix(MANIFEST)
        is_top = not folder
        # Deeper manifests would belong to releases inside releases.
        is_folder_at_top = folder.endswith("/") and folder.count("/") == 1
        if folder != name and (is_top or is_folder_at_top):
            folders.append(folder)
    if len(folders) != 1:
        raise ReleaseError(
            f"{path} contains {len(folders) or 'no'} releases; an archive must contain one "
            f"{MANIFEST}, at its top or in one folder"
        )
    return Archive(path, folders[0])


def tag_of(version: str) -> str:
    """Return the tag that a version of a release has on the Hub."""
    return f"v{version}"


def hub_name(name: str) -> tuple[str, str] | None:
    """Return the repository and revision in ``ORG/NAME@REVISION``; None for any other name."""
    match = _NAME.fullmatch(name)
    return (match["repo"], match["revision"]) if match else None


def fetch_snapshot(repo: str, revision: str) -> Path:
    """Return a folder with the files of a dataset repository, downloading them if necessary.

    A commit or version tag never changes, so if the Hub cache has all its files, the Hub is not
    asked.

    Raises:
        HubError: a file is not in the cache and cannot be downloaded.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415  (an extra)
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    is_fixed = _COMMIT.fullmatch(revision) or is_version(revision.removeprefix("v"))
    if is_fixed:
        try:
            cached = snapshot_download(
                repo, repo_type="dataset", revision=revision, local_files_only=True
            )
        except LocalEntryNotFoundError:
            pass
        else:
            if has_all_files(Path(cached)):
                return Path(cached)
    with hub_errors(repo):
        return Path(snapshot_download(repo, repo_type="dataset", revision=revision))


def has_all_files(folder: Path) -> bool:
    """Whether a cached snapshot has every file: ``datasets`` caches only those it has read."""
    try:
        manifest = read_manifest(folder)
    except ReleaseError:
        return False
    names = {MANIFEST, *manifest.files} - NOT_SENT
    return all((folder / name).is_file() for name in names)


@contextmanager
def hub_errors(repo: str) -> Iterator[None]:
    """Turn every failure of a call to the Hub into a `HubError` that says how to fix it.

    Args:
        repo: id of the repository, for messages.
    """
    try:
        yield
    except (ScbenchError, ModuleNotFoundError):
        raise
    except Exception as error:
        raise HubError(hub_failure(error, repo)) from error


def hub_failure(error: Exception, repo: str) -> str:
    """Return the message for a failed call to the Hub, from ``hub.toml``."""
    from huggingface_hub import errors  # noqa: PLC0415  (an extra)

    messages = packaged_toml("scbench.release", "hub.toml")
    kinds = {
        errors.LocalTokenNotFoundError: "no_token",
        errors.OfflineModeIsEnabled: "offline",
        errors.RevisionNotFoundError: "no_revision",
    }
    chain = causes_of(error)
    for cause in chain:
        for kind, key in kinds.items():
            if isinstance(cause, kind):
                return str(messages[key].format(repo=repo))
        # The Hub answered, and gave a reason for refusing.
        if isinstance(cause, errors.HfHubHTTPError):
            return _refusal(cause.response.status_code, cause.server_message, repo)
    # Without an answer from the Hub, the innermost error is the most informative.
    root = chain[-1]
    message = f"{type(root).__name__}: {' '.join(str(root).split())[:300]}"
    is_of_network = any(
        isinstance(cause, OSError) or is_http_error(cause) for cause in chain
    )
    key = "broke_off" if is_of_network else "failed"
    return str(messages[key].format(repo=repo, message=message))


def _refusal(status: int, server_message: str | None, repo: str) -> str:
    messages = packaged_toml("scbench.release", "hub.toml")
    default = messages["server_fails" if status >= 500 else "refused"]
    message = messages["status"].get(str(status), default)
    text = str(message.format(repo=repo, status=status))
    details = " ".join(str(server_message or "").split())[:300]
    return f"{text} (the Hub says: {details})" if details else text


def causes_of(error: BaseException) -> list[BaseException]:
    """Return an error and the errors that caused it: clients wrap the informative one."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and len(chain) < _MAX_CAUSES:
        chain.append(cause)
        cause = cause.__cause__
    return chain


def is_http_error(error: BaseException) -> bool:
    """Whether an error comes from the HTTP client, whose name differs between Hub clients."""
    modules = [kind.__module__ for kind in type(error).__mro__]
    return any(module.startswith(("httpx", "httpcore")) for module in modules)
