"""The manifest of frozen tasks."""

import platform
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue

from scbench.base import __version__
from scbench.base.canonical import content_hash, rows_hash
from scbench.base.model import Instance, style_of
from scbench.freezing.floors import floor_record
from scbench.freezing.frozen_task import FrozenTask
from scbench.freezing.proofs import LIBRARIES, installed_version
from scbench.release.load import Reference
from scbench.release.manifest import (
    CANARY,
    ExperimentRecord,
    FileRecord,
    LadderRecord,
    Manifest,
    ReferencesRecord,
    TaskRecord,
    weight_of,
)
from scbench.report.picture import LOOK

# Fields of a reference that every release has had, in the order in which they are hashed.
_HASHED_FIELDS = ("kind", "answer", "score", "floor", "floor_strategy")


class FrozenLadder(NamedTuple):
    """Contents of the config ``ladder`` of a release."""

    record: ExperimentRecord
    """The experiment that draws it."""
    parts: Sequence[FrozenTask]


def make_manifest(
    version: str,
    frozen: Sequence[FrozenTask],
    files: Mapping[str, FileRecord],
    withdrawn: Mapping[str, str] = MappingProxyType({}),
    experiment: ExperimentRecord | None = None,
    ladder: FrozenLadder | None = None,
    pictured: Sequence[FrozenTask] = (),
) -> Manifest:
    """Return the manifest of a release.

    Args:
        version: version of the release, or name of generated instances.
        frozen: tasks of the release.
        files: records of its files, by path.
        withdrawn: reasons, by id of the instance.
        experiment: record of the experiment that drew instances, if any.
        ladder: the config ``ladder``, if there is one.
        pictured: the config ``pictures``, see `picture_parts`.
    """
    parts = list(frozen)
    ladder_record = None
    if ladder is not None:
        parts += ladder.parts
        ladder_record = LadderRecord(
            experiment=ladder.record, tasks=task_records(ladder.parts)
        )
    references = [reference for part in parts for reference in part.references]
    # The rest are counter-references.
    right = sum(reference.kind == "reference" for reference in references)
    terse = {}
    for part in frozen:
        if part.terse:
            terse[part.task.id] = rows_hash(id_hashes(part.terse))
    libraries = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in LIBRARIES:
        libraries[name] = installed_version(name)
    # The bytes also depend on the version of scbench's drawing code.
    libraries["pictures"] = LOOK
    return Manifest(
        version=version,
        package_version=__version__,
        rows_hash=hash_of_rows([*parts, *pictured]),
        tasks=task_records(frozen),
        references=ReferencesRecord(
            references=right,
            counter_references=len(references) - right,
            rows_hash=references_hash(references),
        ),
        files=dict(files),
        libraries=libraries,
        canary=CANARY,
        withdrawn=dict(withdrawn),
        experiment=experiment,
        terse=terse,
        pictures=task_records(pictured),
        ladder=ladder_record,
    ).sealed()


def task_records(parts: Sequence[FrozenTask]) -> dict[str, TaskRecord]:
    """Return a manifest's records of tasks, by id."""
    return {part.task.id: task_record(part) for part in parts}


def task_record(part: FrozenTask) -> TaskRecord:
    """Return a manifest's record of a task."""
    seeds = {}
    for instance in part.instances:
        # The rows of an experiment contain their seeds; pictures repeat other instances.
        is_listed = instance.point is None and not style_of(instance.id)
        if is_listed and instance.seed is not None:
            seeds[instance.id] = instance.seed
    floors = {ref.id: ref.floor for ref in part.references}
    return TaskRecord(
        bucket=part.task.bucket,
        instances=len(part.instances),
        scores=sum(instance.scores for instance in part.instances),
        builder_version=part.task.builder.version,
        grader_version=part.task.grader_version,
        rows_hash=rows_hash(id_hashes(part.instances)),
        fingerprint=part.task.fingerprint(),
        floor=floor_record(part.references),
        weight=weight_of(floors.values()),
        seeds=seeds,
    )


def generated_name(frozen: Sequence[FrozenTask]) -> str:
    """Return the default name of generated instances: a hash of their rows."""
    return f"generated-{hash_of_rows(frozen)[:8]}"


def hash_of_rows(frozen: Sequence[FrozenTask]) -> str:
    """Return the hash that identifies the rows of tasks."""
    pairs = []
    for part in frozen:
        pairs += id_hashes(part.instances + part.terse)
    return rows_hash(pairs)


def id_hashes(rows: Sequence[Instance]) -> list[tuple[str, str]]:
    """Return id and content hash of each row."""
    return [(row.id, row.content_hash) for row in rows]


def references_hash(references: Sequence[Reference]) -> str:
    """Return the hash that identifies a set of reference answers."""
    pairs = []
    for ref in references:
        values: list[JsonValue] = [getattr(ref, name) for name in _HASHED_FIELDS]
        values.append(ref.unprinted)
        # Only instances on a ladder have a measure; the hashes of the rest stay as in
        # releases without ladders.
        if ref.measure is not None:
            values.append(ref.measure)
        pairs.append((f"{ref.id}:{ref.name}", content_hash(values)))
    return rows_hash(pairs)
