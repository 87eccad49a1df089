"""Copies of a release: as a plain folder, in a folder of versions or at a URL, and proven equal.

A target of fsspec, or a folder, that releases are published to holds one folder for each version,
and ``index.json``::

    {"name": "scbench", "releases": {"2.0.0": {"path": "2.0.0", "digest": ..., "rows_hash": ...}}}
"""

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scbench.base.canonical import sha256
from scbench.base.errors import ReleaseError
from scbench.base.progress import no_progress
from scbench.freezing.compare import error_line, one_line
from scbench.machine.files import scratch_beside, write_whole
from scbench.release.load import Release
from scbench.release.manifest import MANIFEST, MOST_MANIFEST_BYTES, Manifest, version_key
from scbench.release.sources import FolderSource, Source

INDEX = "index.json"

System = Any
"""A file system of fsspec, which ships no types."""


def export_release(release: Release, out: Path) -> None:
    """Copy a release to a folder, whole or not at all.

    Args:
        release: what to copy.
        out: the folder to make; it must not exist, or must be empty.

    Raises:
        ReleaseError: the folder holds something or cannot be made, or a file of the release is
            not what the manifest says.
    """
    try:
        _fill_folder(release, out)
    except OSError as error:
        raise ReleaseError(f"{out} cannot be made: {error}") from error


def _fill_folder(release: Release, out: Path) -> None:
    exists = out.is_symlink() or out.exists()
    if exists and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(f"{out} exists and is not an empty folder; name another folder")
    # An empty folder is filled, not replaced: it may be a mount point, or where the user stands.
    with scratch_beside(out / "release" if exists else out) as scratch:
        copy = scratch / "release"
        copy.mkdir()
        for name in release.manifest.files:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(release.read(name))
        (copy / MANIFEST).write_bytes(release.source.read(MANIFEST, MOST_MANIFEST_BYTES))
        if not exists:
            copy.rename(out)
            return
        # Without the manifest it is not a release, so that comes last.
        for path in sorted(copy.iterdir(), key=lambda path: path.name == MANIFEST):
            path.rename(out / path.name)


def verify_copy(
    manifest: Manifest,
    source: Source,
    ignored: Collection[str] = (),
    not_sent: Collection[str] = (),
) -> Iterator[str]:
    """Yield how a copy differs from the release that a manifest describes, byte by byte.

    For copies of what was verified already: nothing is made anew.

    Args:
        manifest: of the release.
        source: gives the bytes of the copy.
        ignored: names that the copy may hold besides.
        not_sent: names of the release that the copy may lack.
    """
    present = source.names()
    for name in sorted(present - manifest.files.keys() - {MANIFEST, *ignored}):
        yield f"{one_line(name)}: is there, though the release has no such file"
    expected = {name: (record.bytes, record.sha256) for name, record in manifest.files.items()}
    text = manifest.text().encode()
    for name, (size, digest) in ({MANIFEST: (len(text), sha256(text))} | expected).items():
        if name in not_sent and name not in present:
            continue
        try:
            data = source.read(name, size)
        except (OSError, ReleaseError) as error:
            yield f"{name}: cannot be read: {error_line(error)}"
            continue
        if sha256(data) != digest:
            yield f"{name}: is not the release's (SHA-256 differs)"


@dataclass(frozen=True, slots=True)
class Remote:
    """A release at a target of fsspec."""

    system: System
    path: str

    def read(self, name: str, limit: int) -> bytes:
        """See `scbench.release.sources.Source`."""
        data: bytes = self.system.cat_file(f"{self.path}/{name}", end=limit + 1)
        return data

    def names(self) -> set[str]:
        """See `scbench.release.sources.Source`."""
        if not self.system.exists(self.path):
            return set()
        return {path.split(f"{self.path}/", 1)[-1] for path in self.system.find(self.path)}


def publish_to_target(
    release: Release,
    target: str,
    say: Callable[[str], object] = no_progress,
    *,
    dry_run: bool = False,
) -> None:
    """Copy a release to a folder or URL, prove that it arrived, and enter it into the index.

    A copy that was interrupted is completed. A version that is there already is only compared.

    Args:
        release: what to publish, verified.
        target: a folder, or a URL that fsspec knows, such as ``s3://bucket/scbench``.
        say: called with each step.
        dry_run: say the steps only.

    Raises:
        ReleaseError: the version is there with another content, the target cannot be used, or
            what comes back is not what was sent.
    """
    try:
        system, base = _resolve(target)
        _publish(release, system, base, say, dry_run=dry_run)
    except (ReleaseError, ModuleNotFoundError):
        raise
    except Exception as error:
        first = " ".join(str(error).split())[:300]
        raise ReleaseError(
            f"{target} cannot be used: {type(error).__name__}: {first}; once it can, run the same "
            "command again, and it continues where this one stopped"
        ) from error


def _resolve(target: str) -> tuple[System | None, str]:
    """Return the file system of a target, None for the plain one, and the path on it."""
    if "://" not in target:
        return None, str(Path(target).absolute())
    import fsspec  # type: ignore[import-untyped]  # noqa: PLC0415  (an extra)

    system, path = fsspec.url_to_fs(target)
    is_local = "local" in system.protocol
    return (None if is_local else system), path.rstrip("/")


def _publish(
    release: Release,
    system: System | None,
    base: str,
    say: Callable[[str], object],
    *,
    dry_run: bool,
) -> None:
    path = f"{base}/{release.version}"
    copy: Source = Remote(system, path) if system else FolderSource(Path(path))
    there = copy.names()
    if MANIFEST in there:
        problems = list(verify_copy(release.manifest, copy))
        if problems:
            raise ReleaseError(
                f"{path} holds another release (first difference: {problems[0]}); a release is "
                "never changed: give this one a new version"
            )
        say(f"{path} holds this release already")
    elif foreign := sorted(there - release.manifest.files.keys()):
        raise ReleaseError(f"{path} holds {foreign[0]}, which is no part of the release")
    else:
        say(f"{len(release.manifest.files) + 1} files to {path}")
        if not dry_run:
            _send(release, system, path)
            problems = list(verify_copy(release.manifest, copy))
            if problems:
                raise ReleaseError(f"{path}: not what was sent: {'; '.join(problems[:5])}")
    say(f"{release.version} into {base}/{INDEX}")
    if not dry_run:
        _enter(release, system, base)


def _send(release: Release, system: System | None, path: str) -> None:
    if system is None:
        export_release(release, Path(path))
        return
    for name in release.manifest.files:
        parent = f"{path}/{name}".rpartition("/")[0]
        system.makedirs(parent, exist_ok=True)
        system.pipe_file(f"{path}/{name}", release.read(name))
    # Without the manifest it is not a release, so that comes last.
    system.pipe_file(f"{path}/{MANIFEST}", release.source.read(MANIFEST, MOST_MANIFEST_BYTES))


def _enter(release: Release, system: System | None, base: str) -> None:
    file = f"{base}/{INDEX}"
    try:
        old = system.cat_file(file) if system else Path(file).read_bytes()
    except FileNotFoundError:
        old = b"{}"
    try:
        releases = json.loads(old).get("releases", {})
        entries = {name: dict(entry) for name, entry in releases.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise ReleaseError(f"{file} is no index of releases ({error}); move it away") from None
    manifest = release.manifest
    entries[release.version] = {
        "path": release.version,
        "digest": manifest.digest,
        "rows_hash": manifest.rows_hash,
        "tasks": len(manifest.tasks),
        "instances": manifest.instances,
        "scores": manifest.scores,
        "withdrawn": len(manifest.withdrawn),
    }
    ordered = {name: entries[name] for name in sorted(entries, key=version_key)}
    text = json.dumps({"name": manifest.name, "releases": ordered}, indent=1) + "\n"
    if system:
        system.pipe_file(file, text.encode())
        return
    write_whole(Path(file), lambda part: part.write_text(text, "utf-8"))
