"""Freezing: from builders to a release folder.

The folder is made beside its place and moved there whole, so a failed build leaves nothing behind.
Building twice gives the same bytes.
"""

import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from scbench import __version__
from scbench.canonical import canonical_json, content_hash, rows_hash, sha256
from scbench.catalog import Task, available_tasks
from scbench.errors import ReleaseError
from scbench.judge import judge
from scbench.model import Instance
from scbench.release.card import render_card
from scbench.release.load import Reference
from scbench.release.manifest import (
    CANARY,
    CARD,
    MANIFEST,
    REFERENCES,
    FileRecord,
    Manifest,
    ReferencesRecord,
    TaskRecord,
    data_file,
    is_version,
)
from scbench.release.schemas import release_schemas
from scbench.release.tables import instance_table, reference_table, write_table
from scbench.schemas.base import json_schema

_LIBRARIES = ("Jinja2", "pyarrow", "pydantic", "PyYAML")


@dataclass(frozen=True, slots=True)
class FrozenTask:
    """Everything a release holds of one task."""

    task: Task
    instances: tuple[Instance, ...]
    references: tuple[Reference, ...]


def own_tasks() -> tuple[Task, ...]:
    """Return the tasks of this package that this installation can build."""
    return tuple(task for task in available_tasks() if not task.package)


def freeze_task(task: Task) -> FrozenTask:
    """Make a task's instances and references, and prove its grader on them.

    Raises:
        ReleaseError: a reference scores below 1, a counter-reference scores 1, there is none of
            them, or the grader fails.
    """
    builder = task.builder()
    schema = canonical_json(json_schema(task.answer_model))
    instances, references = [], []
    for subtask, item in enumerate(builder.paper()):
        instance = Instance.freeze(
            task=task.id,
            bucket=task.bucket,
            subtask=subtask,
            difficulty=item.difficulty,
            prompt=builder.prompt(item.params),
            images=builder.images(item.params),
            params=canonical_json(item.params.model_dump(mode="json")),
            answer_schema=schema,
            scores=task.scores,
            seed=item.seed,
        )
        instances.append(instance)
        answer = builder.reference(item.params).model_dump(mode="json")
        counters = builder.counter_references(item.params)
        if not counters:
            raise ReleaseError(
                f"{instance.id}: the builder gives no counter-references, so nothing shows that "
                "the grader can tell a wrong answer"
            )
        references.append(_reference(task, instance, "reference", "reference", answer))
        references += [
            _reference(task, instance, "counter_reference", name, value)
            for name, value in counters.items()
        ]
    return FrozenTask(task, tuple(instances), tuple(references))


def _reference(
    task: Task,
    instance: Instance,
    kind: Literal["reference", "counter_reference"],
    name: str,
    value: JsonValue,
) -> Reference:
    """Return an answer with its score, judged as read back from what is stored."""
    answer = canonical_json(value)
    params = task.params_model.model_validate_json(instance.params)
    try:
        verdicts = judge(task, params, json.loads(answer))
    except Exception as error:
        raise ReleaseError(
            f"{instance.id}: the grader failed on {name}: {type(error).__name__}: {error}"
        ) from error
    score = sum(verdict.score for verdict in verdicts) / len(verdicts)
    if (kind == "reference") != (score == 1):
        must = "must score 1" if kind == "reference" else "must score below 1"
        raise ReleaseError(
            f"{instance.id}: {name} scores {score}, but a {kind.replace('_', '-')} {must}; "
            "builder and grader disagree"
        )
    return Reference(instance.id, kind, name, answer, score)


def build_release(
    version: str,
    out: Path,
    tasks: Sequence[Task] | None = None,
    on_task: Callable[[FrozenTask], object] = id,
) -> Manifest:
    """Freeze tasks into a release folder.

    Args:
        version: name of the release, such as 1.0.0 or 1.0.0rc1.
        out: the folder to make; it must not exist.
        tasks: what to freeze; every task of this package by default.
        on_task: called after each task, for progress.

    Raises:
        ReleaseError: the version is none, the folder exists or cannot be made, or a grader fails
            on a reference answer.
    """
    if not is_version(version):
        raise ReleaseError(f"{version!r} is not a version; name one such as 1.0.0 or 1.0.0rc1")
    if os.path.lexists(out):
        raise ReleaseError(
            f"{out} exists, and a release is never edited; choose another version or folder"
        )
    chosen = own_tasks() if tasks is None else tasks
    if not chosen:
        raise ReleaseError("there are no tasks to freeze")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
            root = Path(scratch, "release")
            manifest = _fill(root, version, chosen, on_task)
            root.rename(out)
    except OSError as error:
        raise ReleaseError(f"{out} cannot be made: {error}") from error
    return manifest


def _fill(
    root: Path, version: str, tasks: Sequence[Task], on_task: Callable[[FrozenTask], object]
) -> Manifest:
    frozen: list[FrozenTask] = []
    for task in tasks:
        part = freeze_task(task)
        frozen.append(part)
        write_table(root / data_file(task.id), instance_table(part.instances))
        on_task(part)
    references = [reference for part in frozen for reference in part.references]
    write_table(root / REFERENCES, reference_table(references))
    for name, text in release_schemas(tasks).items():
        _write_text(root / name, text)
    # The card is rendered from the manifest and is then one of the files that it lists.
    _write_text(root / CARD, render_card(make_manifest(version, frozen, {})))
    manifest = make_manifest(version, frozen, dict(_file_records(root)))
    _write_text(root / MANIFEST, manifest.text())
    return manifest


def make_manifest(
    version: str, frozen: Sequence[FrozenTask], files: Mapping[str, FileRecord]
) -> Manifest:
    """Return the manifest of frozen tasks and the files that hold them."""
    pairs = {
        part.task.id: [(instance.id, instance.content_hash) for instance in part.instances]
        for part in frozen
    }
    references = [reference for part in frozen for reference in part.references]
    right = sum(reference.kind == "reference" for reference in references)
    return Manifest(
        version=version,
        package_version=__version__,
        rows_hash=rows_hash(pair for task_pairs in pairs.values() for pair in task_pairs),
        tasks={
            part.task.id: TaskRecord(
                bucket=part.task.bucket,
                instances=len(part.instances),
                scores=sum(instance.scores for instance in part.instances),
                builder_version=part.task.builder.version,
                grader_version=part.task.grader_version,
                rows_hash=rows_hash(pairs[part.task.id]),
            )
            for part in frozen
        },
        references=ReferencesRecord(
            references=right,
            counter_references=len(references) - right,
            rows_hash=references_hash(references),
        ),
        files=dict(files),
        libraries={
            "python": ".".join(platform.python_version_tuple()[:2]),
            **{name: installed_version(name) for name in _LIBRARIES},
        },
        canary=CANARY,
    ).sealed()


def references_hash(references: Sequence[Reference]) -> str:
    """Return the identity of a set of reference answers."""
    return rows_hash(
        (f"{ref.id}:{ref.name}", content_hash([ref.kind, ref.answer, ref.score]))
        for ref in references
    )


def _file_records(root: Path) -> Iterator[tuple[str, FileRecord]]:
    for path in release_files(root):
        data = (root / path).read_bytes()
        yield path, FileRecord(sha256=sha256(data), bytes=len(data))


def release_files(root: Path) -> list[str]:
    """Return the paths of all in a release folder but folders and the manifest, in order."""
    paths = (path for path in root.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted({path.relative_to(root).as_posix() for path in paths} - {MANIFEST})


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
