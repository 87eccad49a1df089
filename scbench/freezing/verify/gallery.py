"""Verification of the gallery: its pictures are drawn again."""

from collections.abc import Iterator
from pathlib import Path

from scbench.base import __version__
from scbench.base.errors import ReleaseError
from scbench.freezing.compare import error_line
from scbench.freezing.freeze import pictures
from scbench.freezing.frozen_task import FrozenTask
from scbench.freezing.proofs import installed_version
from scbench.release.manifest import MANIFEST, Manifest, picture_file
from scbench.report.draw.png import same_picture
from scbench.report.picture import LOOK

# The library that draws.
_LIBRARY = "vl-convert-python"


def check_gallery(
    root: Path, manifest: Manifest, frozen: list[FrozenTask], workers: int
) -> Iterator[str]:
    """Draw the pictures again and compare them, if the same package and library drew them.

    Other versions draw differently; their pictures have hashes in the manifest.
    """
    has_pictures = any(picture_file(name) in manifest.files for name in manifest.tasks)
    is_same_look = (
        manifest.package_version == __version__
        and manifest.libraries.get(_LIBRARY) == installed_version(_LIBRARY)
        and manifest.libraries.get("pictures") == LOOK
    )
    if not has_pictures or not is_same_look:
        return
    try:
        images = pictures(frozen, workers)
    except (ReleaseError, ModuleNotFoundError) as error:
        yield f"gallery: cannot be drawn again: {error_line(error)}"
        return
    for name, data in images.items():
        path = root / name
        if name not in manifest.files:
            yield f"{MANIFEST}: does not list {name}, though it lists other pictures"
        elif path.is_file() and not same_picture(path.read_bytes(), data):
            yield f"{name}: differs from the redrawn picture"
