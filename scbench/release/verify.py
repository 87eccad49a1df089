"""Verifying a release: recompute everything and report every mismatch.

Two directions meet here. From the files: hashes, sizes, missing and foreign files, column schemas,
row hashes. From the builders: every row, prompt, schema, card and reference is made again and
compared; every reference must score 1.0 and every counter-reference less.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa

from scbench.canonical import sha256
from scbench.catalog import all_tasks
from scbench.errors import ReleaseError, ScbenchError, did_you_mean
from scbench.model import Instance
from scbench.release.card import render_card
from scbench.release.freeze import (
    FrozenTask,
    freeze_task,
    make_manifest,
    references_hash,
    release_files,
    release_schemas,
)
from scbench.release.load import Reference, Release
from scbench.release.manifest import CARD, MANIFEST, REFERENCES, Manifest, data_file, read_manifest
from scbench.release.tables import INSTANCE_SCHEMA, REFERENCE_SCHEMA, read_schema

Step = tuple[str, Callable[[], Iterator[str]]]


def verify_release(root: Path, on_step: Callable[[str], object] = str) -> tuple[str, ...]:
    """Return every mismatch as a sentence that names the file or row; none if the release is sound.

    Args:
        root: folder of the release.
        on_step: called with the name of each part before it is looked at, for progress.
    """
    try:
        manifest = read_manifest(root)
    except ReleaseError as error:
        return (str(error),)
    problems: list[str] = []
    on_step("files")
    problems += _check_files(root, manifest)
    frozen: list[FrozenTask] = []
    for task_id in manifest.tasks:
        on_step(task_id)
        problems += _check_task(Release(root, manifest), task_id, frozen)
    on_step("references")
    problems += _check_references(Release(root, manifest), frozen)
    on_step("manifest, schemas and card")
    if len(frozen) == len(manifest.tasks):
        problems += _check_whole(root, manifest, frozen)
    return tuple(problems)


def _check_files(root: Path, manifest: Manifest) -> Iterator[str]:
    present = set(release_files(root))
    for name in sorted(present - manifest.files.keys()):
        yield f"{name}: the manifest does not list this file"
    for name, record in manifest.files.items():
        path = root / name
        if name not in present:
            yield f"{name}: missing"
        elif path.is_symlink():
            yield f"{name}: is a link, not a file"
        elif path.stat().st_size != record.bytes:
            yield f"{name}: {path.stat().st_size} bytes, the manifest says {record.bytes}"
        elif sha256(path.read_bytes()) != record.sha256:
            yield f"{name}: the content was changed (SHA-256 differs from the manifest)"


def _unchecked(release: Release, name: str) -> Release:
    """Return the release with the file's hash taken as it is, so that its rows can be compared."""
    record = release.manifest.files[name]
    found = record.model_copy(update={"sha256": sha256((release.root / name).read_bytes())})
    files = {**release.manifest.files, name: found}
    return Release(release.root, release.manifest.model_copy(update={"files": files}))


def _check_task(release: Release, task_id: str, frozen: list[FrozenTask]) -> Iterator[str]:
    name = data_file(task_id)
    tasks = all_tasks()
    if task_id not in tasks or not tasks[task_id].available:
        yield f"task {task_id}: this installation has no such task.{did_you_mean(task_id, tasks)}"
        return
    try:
        rebuilt = freeze_task(tasks[task_id])
    except ScbenchError as error:
        yield f"task {task_id}: cannot be built again: {error}"
        return
    frozen.append(rebuilt)
    if not (release.root / name).is_file() or name not in release.manifest.files:
        return
    try:
        yield from _check_columns(release.root / name, name, INSTANCE_SCHEMA)
        stored = _unchecked(release, name).instances([task_id])
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError) as error:
        yield f"{name}: cannot be read: {_first_line(error)}"
        return
    except Exception as error:  # noqa: BLE001  (polars' own errors share no public base)
        yield f"{name}: cannot be read: {_first_line(error)}"
        return
    yield from _compare_rows(name, stored, rebuilt)


def _check_columns(path: Path, name: str, schema: pa.Schema) -> Iterator[str]:
    if not read_schema(path).equals(schema, check_metadata=True):
        yield f"{name}: columns, types or their metadata differ from the release format"


def _compare_rows(name: str, stored: dict[str, Instance], rebuilt: FrozenTask) -> Iterator[str]:
    expected = {instance.id: instance for instance in rebuilt.instances}
    for row_id in expected.keys() - stored.keys():
        yield f"{name}: row {row_id} is missing"
    for row_id, row in stored.items():
        if row_id not in expected:
            yield f"{name}: row {row_id} is not one the builder makes"
            continue
        want = expected[row_id]
        fields = [key for key in Instance.model_fields if getattr(row, key) != getattr(want, key)]
        if fields:
            yield f"{name}: row {row_id} differs from the builder's in {', '.join(fields)}"
    if list(stored) != list(expected) and stored.keys() == expected.keys():
        yield f"{name}: the rows are not in the order of their subtasks"


def _check_references(release: Release, frozen: list[FrozenTask]) -> Iterator[str]:
    if not (release.root / REFERENCES).is_file() or REFERENCES not in release.manifest.files:
        return
    try:
        yield from _check_columns(release.root / REFERENCES, REFERENCES, REFERENCE_SCHEMA)
        stored = _unchecked(release, REFERENCES).references()
    except Exception as error:  # noqa: BLE001  (as above)
        yield f"{REFERENCES}: cannot be read: {_first_line(error)}"
        return
    built = {part.task.id for part in frozen}
    expected = {(ref.id, ref.name): ref for part in frozen for ref in part.references}
    found = {(ref.id, ref.name): ref for ref in stored if ref.id.split("/")[0] in built}
    for key in sorted(expected.keys() - found.keys()):
        yield f"{REFERENCES}: {key[1]} of {key[0]} is missing"
    for key in sorted(found.keys() - expected.keys()):
        yield f"{REFERENCES}: {key[1]} of {key[0]} is not one the builder makes"
    for key in sorted(expected.keys() & found.keys()):
        fields = [
            name
            for name in Reference.__slots__
            if getattr(expected[key], name) != getattr(found[key], name)
        ]
        if fields:
            yield f"{REFERENCES}: {key[1]} of {key[0]} differs in {', '.join(fields)}"
    if references_hash(stored) != release.manifest.references.rows_hash:
        yield f"{MANIFEST}: references.rows_hash is not that of the rows in {REFERENCES}"


def _check_whole(root: Path, manifest: Manifest, frozen: list[FrozenTask]) -> Iterator[str]:
    rebuilt = make_manifest(manifest.version, frozen, root)
    # File records were compared above; library versions may differ where rows do not.
    free = {"files", "libraries", "package_version"}
    for key in sorted(Manifest.model_fields.keys() - free):
        if getattr(manifest, key) != getattr(rebuilt, key):
            yield f"{MANIFEST}: {key} differs from what is computed anew"
    texts: dict[str, Callable[[], str]] = {CARD: partial(render_card, manifest)}
    for name, text in release_schemas([part.task for part in frozen]).items():
        texts[name] = partial(str, text)
    for name, make in texts.items():
        path = root / name
        if path.is_file() and path.read_bytes() != make().encode():
            yield f"{name}: differs from what is written anew"
        elif name not in manifest.files:
            yield f"{name}: a release must have this file"


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
