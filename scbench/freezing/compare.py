"""Differences between a release and its rebuilt contents, and between two releases."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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

# Fields that are not compared as a whole: tasks and files are compared one by one, the digest has
# its own check, and other versions may have built the same rows.
_NOT_COMPARED = {"version", "tasks", "files", "libraries", "package_version", "digest"}
# Fields that manifests of earlier versions do not have.
_LATER = {"weight"}


@dataclass(frozen=True, slots=True)
class Overlap:
    """Items of a task that two releases share.

    Attributes:
        task: id of the task.
        first: number of items in the first release.
        second: number of items in the second.
        prompts: ids, in the first, of items that look the same to a model (prompt and images).
        params: ids, in the first, of items with the same parameters, regardless of
            prompts.
    """

    task: str
    first: int
    second: int
    prompts: tuple[str, ...]
    params: tuple[str, ...]


def compare_tables(stored: "pa.Table", expected: "pa.Table") -> Iterator[str]:
    """Yield the differences between a stored table's columns and the columns of the format."""
    if stored.schema.equals(expected.schema, check_metadata=True):
        return
    present = column_types(stored.schema)
    required = column_types(expected.schema)
    for name in sorted(required.keys() - present.keys()):
        yield f"column {name} is missing"
    for name in sorted(present.keys() - required.keys()):
        yield f"column {one_line(name)} does not belong to the format"
    for name in sorted(present.keys() & required.keys()):
        if present[name] != required[name]:
            yield f"column {name} has the type {present[name]} instead of {required[name]}"
    if present == required:
        yield "the order or the metadata of the columns differs from the format"


def column_types(schema: "pa.Schema") -> dict[str, str]:
    """Return a description of each column's type, and whether it can be empty."""
    types = {}
    for field in schema:
        suffix = "" if field.nullable else " not null"
        types[field.name] = f"{field.type}{suffix}"
    return types


def compare_rows(
    rows: list[dict[str, Any]], expected: list[dict[str, Any]], key: Sequence[str]
) -> Iterator[str]:
    """Yield the differences between stored and rebuilt rows, matched by key columns."""
    stored = {_key_text(row, key): row for row in rows}
    rebuilt = {_key_text(row, key): row for row in expected}
    for row_id in sorted(rebuilt.keys() - stored.keys()):
        yield f"row {row_id} is missing"
    for row_id in sorted(stored.keys() - rebuilt.keys()):
        yield f"row {one_line(row_id)} was not made by the builder"
    # If several rows have the same key, the last one is compared with the rebuilt row.
    counts = Counter(_key_text(row, key) for row in rows)
    for row_id, count in counts.items():
        if count > 1:
            yield f"row {one_line(row_id)} occurs {count} times"
    shared = [row_id for row_id in rebuilt if row_id in stored]
    for row_id in shared:
        old = stored[row_id]
        new = rebuilt[row_id]
        fields = [column for column in new if old[column] != new[column]]
        if fields:
            yield f"row {row_id} differs from the builder's in {', '.join(fields)}"
    # Missing and foreign rows are already reported, so only the order of the rest is
    # compared.
    if [row_id for row_id in stored if row_id in rebuilt] != shared:
        yield "the rows are not in the builder's order"


def _key_text(row: Mapping[str, Any], key: Sequence[str]) -> str:
    return " ".join(row[column] for column in key)


def compare_records(
    stored: BaseModel, expected: BaseModel, at: str = ""
) -> Iterator[str]:
    """Yield the differences between two parts of manifests, field by field."""
    for key in type(expected).model_fields:
        old = getattr(stored, key)
        new = getattr(expected, key)
        if isinstance(new, BaseModel):
            yield from compare_records(old, new, f"{at}{key}.")
            continue
        is_skipped = not at and key in _NOT_COMPARED
        is_older = key in _LATER and old is None
        if old != new and not is_skipped and not is_older:
            yield f"{MANIFEST}: {at}{key} is {old!r}, but the recomputed value is {new!r}"


def one_line(name: str) -> str:
    """Return an untrusted name on one line."""
    return name[:200] if name.isprintable() else ascii(name)[:200]


def error_line(error: Exception) -> str:
    """Return the first line of an error, with its type if it is not ours."""
    lines = str(error).splitlines() or [""]
    if isinstance(error, ScbenchError):
        return lines[0]
    return f"{type(error).__name__}: {lines[0]}"


def shared_items(first: Release, second: Release) -> Iterator[Overlap]:
    """Yield the items that two releases share, for each task that is in both.

    Raises:
        ReleaseError: a file of either is missing or differs from its manifest.
    """
    for task in first.manifest.tasks:
        if task not in second.manifest.tasks:
            continue
        first_rows = first.instances([task]).values()
        second_rows = second.instances([task]).values()
        looks = {look_of(row) for row in second_rows}
        # Compares the parameters that are in the rows.
        params = {sha256(row.params) for row in second_rows}
        yield Overlap(
            task,
            len(first_rows),
            len(second_rows),
            tuple(row.id for row in first_rows if look_of(row) in looks),
            tuple(row.id for row in first_rows if sha256(row.params) in params),
        )


def look_of(row: Instance) -> str:
    """Return a hash of everything that a model sees of an instance."""
    return content_hash([row.prompt, [sha256(image) for image in row.images]])
