"""What a release says about itself, and the names of its files."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scbench.errors import ReleaseError

MANIFEST = "MANIFEST.json"
CARD = "README.md"
REFERENCES = "references/references.parquet"

CANARY = "scbench canary 5b0f3a52-7c0e-4c8e-9d57-2f6c1d1e8b44: keep out of training data"
"""Stands in every row of the references and on the card, so that leaks can be found."""


def data_file(task_id: str) -> str:
    """Return the path, inside a release, of a task's instances."""
    return f"data/{task_id}.parquet"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskRecord(_Part):
    """What the manifest holds of one task."""

    bucket: str
    instances: int
    scores: int = Field(description="instances times scores per answer")
    builder_version: int
    grader_version: int = Field(description="version the references were scored with")
    rows_hash: str


class ReferencesRecord(_Part):
    """What the manifest holds of the reference answers."""

    references: int
    counter_references: int
    rows_hash: str


class FileRecord(_Part):
    """Transport identity of one file."""

    sha256: str
    bytes: int


class Manifest(_Part):
    """The manifest of a release."""

    format: int = 1
    name: str = "scbench"
    version: str
    package_version: str = Field(description="version of scbench that built it")
    rows_hash: str = Field(description="identity: equal rows, equal hash, whatever the files")
    tasks: dict[str, TaskRecord]
    references: ReferencesRecord
    files: dict[str, FileRecord]
    libraries: dict[str, str] = Field(description="versions that decide the bytes of the files")
    canary: str

    @property
    def scores(self) -> int:
        """Number of scores in the release."""
        return sum(task.scores for task in self.tasks.values())


def read_manifest(root: Path) -> Manifest:
    """Read a release's manifest.

    Raises:
        ReleaseError: the folder or manifest is missing or unreadable.
    """
    path = root / MANIFEST
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ReleaseError(
            f"{root} is not a release folder: {path.name}: {error.strerror}"
        ) from None
    except ValidationError as error:
        first: Any = error.errors(include_url=False)[0]
        at = ".".join(str(part) for part in first["loc"])
        raise ReleaseError(f"{path} is not a manifest: {at}: {first['msg']}") from None
