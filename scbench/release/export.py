"""Exporting: a copy of a release as a plain folder that ``load_dataset`` reads."""

import shutil
import tempfile
from pathlib import Path

from scbench.errors import ReleaseError
from scbench.release.load import Release
from scbench.release.manifest import MANIFEST


def export_release(release: Release, out: Path) -> None:
    """Copy a release to a folder, whole or not at all.

    Args:
        release: what to copy.
        out: the folder to make; it must not exist, or must be empty.

    Raises:
        ReleaseError: the folder holds something.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(f"{out} exists and is not empty; name another folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        copy = Path(scratch, "release")
        for name in (MANIFEST, *release.manifest.files):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(release.root / name, copy / name)
        if out.exists():
            out.rmdir()
        shutil.move(copy, out)
