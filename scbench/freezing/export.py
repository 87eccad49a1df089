"""Exporting: a copy of a release as a plain folder that ``load_dataset`` reads."""

import tempfile
from pathlib import Path

from scbench.base.errors import ReleaseError
from scbench.release.load import Release
from scbench.release.manifest import MANIFEST, MOST_MANIFEST_BYTES


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
        _copy(release, out)
    except OSError as error:
        raise ReleaseError(f"{out} cannot be made: {error}") from error


def _copy(release: Release, out: Path) -> None:
    exists = out.is_symlink() or out.exists()
    if exists and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(f"{out} exists and is not an empty folder; name another folder")
    if not exists:
        out.parent.mkdir(parents=True, exist_ok=True)
    # An empty folder is filled, not replaced: it may be a mount point, or where the user stands.
    home = out if exists else out.parent
    with tempfile.TemporaryDirectory(prefix=".scbench-export-", dir=home) as scratch:
        copy = Path(scratch, "release")
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
