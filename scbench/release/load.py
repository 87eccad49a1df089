"""Finding a release and reading its rows.

Each file is hashed before it is used, so a release that was changed after it was frozen is refused.
"""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from scbench.errors import ReleaseError, did_you_mean
from scbench.model import Instance
from scbench.release.manifest import MANIFEST, REFERENCES, Manifest, data_file, read_manifest


@dataclass(frozen=True, slots=True)
class Reference:
    """A stored answer with its score: a reference (1.0) or a counter-reference (below 1.0)."""

    id: str
    kind: Literal["reference", "counter_reference"]
    name: str
    answer: str
    score: float


@dataclass(frozen=True, slots=True)
class Release:
    """A release on disk.

    Attributes:
        root: its folder.
        manifest: what it says about itself.
    """

    root: Path
    manifest: Manifest

    @property
    def version(self) -> str:
        """Its version, such as 1.0.0."""
        return self.manifest.version

    def instances(self, tasks: Collection[str] | None = None) -> dict[str, Instance]:
        """Return the instances by id, of all tasks or of those named.

        Raises:
            ReleaseError: a file is missing or is not what the manifest says.
        """
        chosen = [task for task in self.manifest.tasks if tasks is None or task in tasks]
        rows = (row for task in chosen for row in self._rows(data_file(task)))
        return {
            row["id"]: Instance(
                **{**row, "images": tuple(image["bytes"] for image in row["images"])}
            )
            for row in rows
        }

    def references(self) -> list[Reference]:
        """Return reference and counter-reference answers.

        Raises:
            ReleaseError: as `instances`.
        """
        fields = Reference.__slots__
        return [Reference(**{key: row[key] for key in fields}) for row in self._rows(REFERENCES)]

    def _rows(self, name: str) -> list[dict[str, Any]]:
        import polars as pl  # noqa: PLC0415  (heavy; most commands never read rows)

        record = self.manifest.files.get(name)
        if record is None:
            raise ReleaseError(f"{self.root / MANIFEST} lists no file {name}")
        try:
            data = (self.root / name).read_bytes()
        except OSError as error:
            raise ReleaseError(f"release {self.version}: {name}: {error.strerror}") from None
        if hashlib.sha256(data).hexdigest() != record.sha256:
            raise ReleaseError(
                f"release {self.version}: {self.root / name} was changed after it was frozen; "
                f"`scbench release verify {self.root}` says more"
            )
        return pl.read_parquet(BytesIO(data)).to_dicts()


def installed_releases() -> Mapping[str, Path]:
    """Return the releases that came with this package, by version, oldest first."""
    home = Path(str(files("scbench.releases")))
    found = [path.parent for path in home.glob(f"*/{MANIFEST}")]
    return {path.name: path for path in sorted(found, key=lambda path: _version_key(path.name))}


def _version_key(version: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(number or 0), rest) for number, rest in re.findall(r"(\d*)([^.]*)", version))


def find_release(name: str | None = None) -> Release:
    """Find a release.

    Args:
        name: a version that came with the package, or a folder; None for the newest installed.

    Raises:
        ReleaseError: there is no such release.
    """
    installed = installed_releases()
    if name is None:
        if not installed:
            raise ReleaseError(
                "no release is installed; name a folder with --release, "
                "or make one with `scbench release build`"
            )
        root = list(installed.values())[-1]
    elif name in installed:
        root = installed[name]
    elif Path(name).is_dir():
        root = Path(name)
    else:
        raise ReleaseError(
            f"no release {name!r}: it is neither a folder nor one of the installed versions "
            f"({', '.join(installed) or 'none'}).{did_you_mean(name, installed)}"
        )
    return Release(root, read_manifest(root))
