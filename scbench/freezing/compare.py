"""How what a release holds compares: with what was made anew, and with another release."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from scbench.base.canonical import content_hash, sha256
from scbench.base.errors import ScbenchError
from scbench.base.model import Instance
from scbench.release.load import Release
from scbench.release.manifest import MANIFEST

if TYPE_CHECKING:
    import pyarrow as pa

# Not compared as a whole: tasks and files are looked at one by one, the digest is checked by
# itself, and the same rows may have been built with other versions.
_FREE = {"version", "tasks", "files", "libraries", "package_version", "digest"}
# Fields that manifests of earlier versions lack.
_LATER = {"weight"}


def compare_tables(stored: "pa.Table", expected: "pa.Table") -> Iterator[str]:
    """Yield how the columns of a stored table differ from those it must have."""
    if stored.schema.equals(expected.schema, check_metadata=True):
        return
    present, required = (
        {
            field.name: f"{field.type}{'' if field.nullable else ' not null'}"
            for field in schema
        }
        for schema in (stored.schema, expected.schema)
    )
    for name in sorted(required.keys() - present.keys()):
        yield f"column {name} is missing"
    for name in sorted(present.keys() - required.keys()):
        yield f"column {one_line(name)} is no part of the format"
    for name in sorted(present.keys() & required.keys()):
        if present[name] != required[name]:
            yield f"column {name} is {present[name]}, must be {required[name]}"
    if present == required:
        yield "the order of the columns, or their metadata, is not that of the format"


def compare_rows(
    rows: list[dict[str, Any]], expected: list[dict[str, Any]], key: Sequence[str]
) -> Iterator[str]:
    """Yield how stored rows differ from those made anew, known by the columns of a key."""

    def key_text(row: dict[str, Any]) -> str:
        return " ".join(row[part] for part in key)

    stored = {key_text(row): row for row in rows}
    fresh = {key_text(row): row for row in expected}
    for row_id in sorted(fresh.keys() - stored.keys()):
        yield f"row {row_id} is missing"
    for row_id in sorted(stored.keys() - fresh.keys()):
        yield f"row {one_line(row_id)} is not one the builder makes"
    for row_id, count in Counter(map(key_text, rows)).items():
        if count > 1:
            yield f"row {one_line(row_id)} stands there {count} times"
    shared = [row_id for row_id in fresh if row_id in stored]
    for row_id in shared:
        new = fresh[row_id]
        fields = [column for column in new if stored[row_id][column] != new[column]]
        if fields:
            yield f"row {row_id} differs from the builder's in {', '.join(fields)}"
    if [row_id for row_id in stored if row_id in fresh] != shared:
        yield "the rows are not in the order in which the builder makes them"


def compare_records(
    stored: BaseModel, expected: BaseModel, at: str = ""
) -> Iterator[str]:
    """Yield how two parts of manifests differ, field by field."""
    for key in type(expected).model_fields:
        old, new = getattr(stored, key), getattr(expected, key)
        if isinstance(new, BaseModel):
            yield from compare_records(old, new, f"{at}{key}.")
        elif (
            (at or key not in _FREE)
            and old != new
            and not (key in _LATER and old is None)
        ):
            yield f"{MANIFEST}: {at}{key} is {old!r}, computed anew it is {new!r}"


def one_line(name: str) -> str:
    """Return a name from outside on one line, whatever it holds."""
    return name[:200] if name.isprintable() else ascii(name)[:200]


def error_line(error: Exception) -> str:
    """Return the first line of an error, with its kind if it is not ours."""
    lines = str(error).splitlines() or [""]
    return (
        lines[0]
        if isinstance(error, ScbenchError)
        else f"{type(error).__name__}: {lines[0]}"
    )


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two releases share of a task: the instances of each, and ids of the first.

    Shared are prompts, with all that a model sees, and the parameters that graders use, however
    they are worded.
    """

    task: str
    first: int
    second: int
    prompts: tuple[str, ...]
    params: tuple[str, ...]


def overlap(first: Release, second: Release) -> Iterator[Overlap]:
    """Yield what two releases share, for each task that is in both.

    Raises:
        ReleaseError: a file of either is missing or is not what its manifest says.
    """
    shared = [task for task in first.manifest.tasks if task in second.manifest.tasks]
    for task in shared:
        ours, theirs = (
            list(side.instances([task]).values()) for side in (first, second)
        )
        looks, used = (
            {_looks(row) for row in theirs},
            {sha256(row.params) for row in theirs},
        )
        yield Overlap(
            task,
            len(ours),
            len(theirs),
            tuple(row.id for row in ours if _looks(row) in looks),
            tuple(row.id for row in ours if sha256(row.params) in used),
        )


def _looks(row: Instance) -> str:
    return content_hash([row.prompt, [sha256(image) for image in row.images]])
