"""Copies of a release: exported to a folder, and compared with the release byte by byte."""

from collections.abc import Collection, Iterator
from pathlib import Path

from scbench.base.canonical import sha256
from scbench.base.errors import ReleaseError, refused
from scbench.freezing.compare import error_line, one_line
from scbench.machine.files import scratch_beside
from scbench.release.load import Release
from scbench.release.manifest import (
    MANIFEST,
    MOST_MANIFEST_BYTES,
    FileRecord,
    Manifest,
)
from scbench.release.sources import Source


def export_release(release: Release, out: Path) -> None:
    """Copy a release atomically to a folder, which must be missing or empty.

    Raises:
        ReleaseError: the folder is not empty or cannot be made, or a file of the release differs
            from the manifest.
    """
    try:
        fill_folder(release, out)
    except OSError as error:
        raise ReleaseError(
            f"{out} cannot be created: {refused(error) or error}"
        ) from error


def fill_folder(release: Release, out: Path) -> None:
    """Copy a release to a folder; raises the errors of `export_release`, and `OSError`."""
    exists = out.is_symlink() or out.exists()
    if exists and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(
            f"{out} exists and is not an empty folder; choose another folder"
        )
    # An empty folder is filled, not replaced: it may be a mount point, or the current folder.
    with scratch_beside(out / "release" if exists else out) as scratch:
        copy = scratch / "release"
        copy.mkdir()
        for name in release.manifest.files:
            path = copy / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(release.read(name))
        manifest_data = release.source.read(MANIFEST, MOST_MANIFEST_BYTES)
        (copy / MANIFEST).write_bytes(manifest_data)
        if not exists:
            copy.rename(out)
            return
        # Without a manifest the copy is not a release, so the manifest comes last.
        for path in sorted(copy.iterdir(), key=lambda path: path.name == MANIFEST):
            path.rename(out / path.name)


def verify_copy(
    manifest: Manifest,
    source: Source,
    ignored: Collection[str] = (),
    not_sent: Collection[str] = (),
) -> Iterator[str]:
    """Yield the differences between a copy and the release of a manifest, byte by byte.

    Nothing is regenerated, so the release itself must have been verified.

    Args:
        manifest: manifest of the release.
        source: the copy.
        ignored: files that the copy may have in addition.
        not_sent: files that may be missing from the copy.
    """
    present = source.names()
    for name in sorted(present - manifest.files.keys() - {MANIFEST, *ignored}):
        yield f"{one_line(name)}: the release has no such file"
    text = manifest.text().encode()
    expected = {MANIFEST: FileRecord(sha256=sha256(text), bytes=len(text))}
    expected |= manifest.files
    for name, record in expected.items():
        if name in not_sent and name not in present:
            continue
        try:
            data = source.read(name, record.bytes)
        except (OSError, ReleaseError) as error:
            yield f"{name}: cannot be read: {error_line(error)}"
            continue
        if sha256(data) != record.sha256:
            yield f"{name}: differs from the release (SHA-256)"
