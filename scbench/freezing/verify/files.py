"""Verification of a release's files against its manifest: names, sizes and hashes."""

from collections.abc import Iterator
from pathlib import Path

from scbench.base.canonical import sha256
from scbench.freezing.compare import one_line
from scbench.freezing.freeze import release_files
from scbench.machine.files import MOST_BYTES, read_regular
from scbench.release.manifest import (
    MANIFEST,
    MOST_MANIFEST_BYTES,
    FileRecord,
    Manifest,
    layout,
    picture_file,
)
from scbench.release.sources import NOT_SENT


def check_manifest(root: Path, manifest: Manifest) -> Iterator[str]:
    """Yield the errors found in the manifest alone: in its digest, text and names of files."""
    path = root / MANIFEST
    if path.is_symlink():
        yield f"{MANIFEST}: is a link, not a file"
    if manifest != manifest.sealed():
        yield f"{MANIFEST}: was changed after it was frozen (its digest does not match)"
    # The digest covers only the values; the same values in another format would pass.
    elif read_regular(path, MOST_MANIFEST_BYTES) != manifest.text().encode():
        yield f"{MANIFEST}: is not formatted as scbench writes it"
    rungs = manifest.ladder.tasks if manifest.ladder else ()
    needed = layout(manifest.tasks, manifest.terse, rungs, manifest.pictures)
    for name in sorted(needed - manifest.files.keys()):
        yield f"{MANIFEST}: does not list {name}, which a release of these tasks needs"
    # A task need not have a picture.
    allowed = needed | {picture_file(task) for task in manifest.tasks}
    for name in sorted(manifest.files.keys() - allowed):
        yield f"{MANIFEST}: lists {name}, which is not part of a release of these tasks"


def check_files(root: Path, manifest: Manifest) -> Iterator[str]:
    """Yield foreign files, missing files, and files that differ from the manifest."""
    present = set(release_files(root))
    for name in sorted(present - manifest.files.keys()):
        yield f"{one_line(name)}: the manifest does not list this file"
    for name, record in manifest.files.items():
        path = root / name
        # The Hub does not accept these files, so downloads do not contain them.
        if name not in present and name in NOT_SENT:
            continue
        if name not in present:
            yield f"{name}: missing"
        elif path.is_symlink():
            yield f"{name}: is a link, not a file"
        elif not path.is_file():
            yield f"{name}: is not a regular file"
        else:
            yield from check_bytes(path, name, record)


def check_bytes(path: Path, name: str, record: FileRecord) -> Iterator[str]:
    """Compare size and hash of a file with the manifest."""
    try:
        size = path.stat().st_size
        data = read_regular(path, min(record.bytes, MOST_BYTES))
    except OSError as error:
        yield f"{name}: cannot be read: {error.strerror}"
        return
    if size != record.bytes:
        yield f"{name}: has {size:,} bytes, but the manifest says {record.bytes:,}"
    elif sha256(data) != record.sha256:
        yield f"{name}: the content was changed (SHA-256 differs from the manifest)"


def oversized_files(root: Path, manifest: Manifest) -> list[str]:
    """Return the files of a release that are too large to be read."""
    names = []
    for name in manifest.files:
        path = root / name
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            names.append(name)
    return names
