"""Freezing: from builders to a release folder.

The folder is made beside its place and moved there whole, so a failed build leaves nothing behind.
Building twice gives the same bytes.
"""

import json
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from scbench import __version__
from scbench.canonical import canonical_json, content_hash, rows_hash, sha256
from scbench.catalog import Task, available_tasks
from scbench.errors import ReleaseError
from scbench.grading.judge import judge
from scbench.model import Instance, Prediction
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
)
from scbench.release.tables import write_instances, write_references
from scbench.schemas.base import json_schema


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
        ReleaseError: a reference scores below 1, or a counter-reference scores 1.
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
        answers = {"reference": answer, **builder.counter_references(item.params)}
        for name, value in answers.items():
            score = _mean_score(task, item.params, value)
            if (name == "reference") != (score == 1):
                raise ReleaseError(f"{instance.id}: {name} scores {score}; the grader is not fit")
            references.append(
                Reference(
                    id=instance.id,
                    kind="reference" if name == "reference" else "counter_reference",
                    name=name,
                    answer=canonical_json(value),
                    score=score,
                )
            )
    return FrozenTask(task, tuple(instances), tuple(references))


def _mean_score(task: Task, params: BaseModel, answer: Any) -> float:  # noqa: ANN401
    verdicts = judge(task, params, answer)
    return sum(verdict.score for verdict in verdicts) / len(verdicts)


def release_schemas(tasks: Sequence[Task]) -> dict[str, str]:
    """Return the JSON Schema files of a release: path inside it, and text."""
    models: dict[str, type[BaseModel]] = {"prediction": Prediction}
    for task in tasks:
        models[f"{task.id}.params"] = task.params_model
        models[f"{task.id}.answer"] = task.answer_model
    return {
        f"schemas/{name}.json": _pretty(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **json_schema(model)}
        )
        for name, model in models.items()
    }


def build_release(
    version: str,
    out: Path,
    tasks: Sequence[Task] | None = None,
    on_task: Callable[[FrozenTask], object] = id,
) -> Manifest:
    """Freeze tasks into a release folder.

    Args:
        version: name of the release, such as 1.0.0.
        out: the folder to make; it must not exist.
        tasks: what to freeze; every task of this package by default.
        on_task: called after each task, for progress.

    Raises:
        ReleaseError: the folder exists, or a grader fails on a reference answer.
    """
    if out.exists():
        raise ReleaseError(
            f"{out} exists, and a release is never edited; choose another version or folder"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        root = Path(scratch, "release")
        manifest = _fill(root, version, tasks or own_tasks(), on_task)
        root.chmod(0o755)
        shutil.move(root, out)
    return manifest


def _fill(
    root: Path, version: str, tasks: Sequence[Task], on_task: Callable[[FrozenTask], object]
) -> Manifest:
    frozen: list[FrozenTask] = []
    for task in tasks:
        frozen.append(freeze_task(task))
        write_instances(root / data_file(task.id), frozen[-1].instances)
        on_task(frozen[-1])
    references = [reference for part in frozen for reference in part.references]
    write_references(root / REFERENCES, references)
    for name, text in release_schemas(tasks).items():
        _write_text(root / name, text)
    manifest = make_manifest(version, frozen, root)
    _write_text(root / CARD, render_card(manifest))
    manifest = manifest.model_copy(update={"files": dict(_file_records(root))})
    # Not sorted: the manifest holds the tasks in the order of the benchmark's tables.
    text = json.dumps(manifest.model_dump(mode="json"), indent=1, ensure_ascii=False)
    _write_text(root / MANIFEST, text + "\n")
    return manifest


def make_manifest(version: str, frozen: Sequence[FrozenTask], root: Path) -> Manifest:
    """Return the manifest of frozen tasks, with the files that lie in ``root`` so far."""
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
        files=dict(_file_records(root)),
        libraries={
            "python": ".".join(platform.python_version_tuple()[:2]),
            **{name: installed_version(name) for name in ("Jinja2", "pyarrow", "pydantic")},
        },
        canary=CANARY,
    )


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
    """Return the paths of all files in a release folder but the manifest, in order."""
    paths = (path for path in root.rglob("*") if path.is_file() or path.is_symlink())
    return sorted({path.relative_to(root).as_posix() for path in paths} - {MANIFEST})


def _pretty(value: object) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
