"""Freezing: from builders to a release folder.

The folder is made beside its place and moved there whole, so a failed build leaves nothing behind.
Building twice gives the same bytes.
"""

import json
import os
import platform
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from scbench.base import __version__
from scbench.base.canonical import content_hash, rows_hash, sha256
from scbench.base.errors import ReleaseError, did_you_mean
from scbench.base.model import Instance, style_of
from scbench.base.progress import no_progress
from scbench.catalog import MANIFOLDS, Task, available_tasks
from scbench.freezing.card import paper_page, render_card, render_croissant, render_eval
from scbench.freezing.experiment import Experiment
from scbench.freezing.fresh import gather, run
from scbench.freezing.frozen_task import FrozenTask, floor_record, freeze_tasks
from scbench.freezing.prompt_pictures import picture_parts
from scbench.freezing.proofs import LIBRARIES, installed
from scbench.freezing.schemas import release_schemas
from scbench.freezing.tables import instance_table, reference_table, write_table
from scbench.machine.files import scratch_beside
from scbench.release.load import Reference
from scbench.release.manifest import (
    CANARY,
    CARD,
    CROISSANT,
    EVAL,
    MANIFEST,
    PAPER,
    REFERENCES,
    ExperimentRecord,
    FileRecord,
    LadderRecord,
    Manifest,
    ReferencesRecord,
    TaskRecord,
    data_file,
    is_version,
    ladder_file,
    picture_file,
    pictures_file,
    terse_file,
    weight_of,
)
from scbench.report.gallery import cases, draw_cases
from scbench.report.picture import LOOK

_JUDGED = ("kind", "answer", "score", "floor", "floor_strategy")


class FrozenLadder(NamedTuple):
    """What the config ``ladder`` of a release holds: what it was drawn by, and its tasks."""

    record: ExperimentRecord
    parts: Sequence[FrozenTask]


def own_tasks() -> tuple[Task, ...]:
    """Return the tasks of this package that have a fixed list: what the next release freezes.

    Wherever they come from; of the text tasks, an experiment draws instances.
    """
    ours = (task for task in available_tasks() if task.package == "scbench")
    return tuple(task for task in ours if task.bucket != MANIFOLDS)


def build_release(
    version: str,
    out: Path,
    tasks: Sequence[Task] | None = None,
    *,
    experiment: Experiment | None = None,
    ladder: Experiment | None = None,
    withdrawn: Mapping[str, str] = MappingProxyType({}),
    workers: int = 1,
    on_task: Callable[[Task], object] = no_progress,
    proofs: Path | None = None,
) -> Manifest:
    """Freeze tasks into a release folder; by default every task of this package with a fixed list.

    The folder must not exist. What an experiment draws comes besides, and what a ladder of frozen
    tasks draws as the config ``ladder``. Withdrawn are instances found to be wrong after an earlier
    release, each with the reason. The bytes are the same with any number of workers. For ``proofs``
    see `scbench.freezing.proofs`; without them all is judged from scratch.

    Raises:
        ReleaseError: the version is none, the folder exists or cannot be made, a grader fails
            on a reference answer, or what is withdrawn is no instance.
        ExperimentError: the experiment asks for what cannot be drawn.
    """
    if not is_version(version):
        raise ReleaseError(
            f"{version!r} is not a version; name one such as 2.0.0 or 2.0.0rc1"
        )
    if os.path.lexists(out):
        raise ReleaseError(
            f"{out} exists, and a release is never edited; choose another version or folder"
        )
    listed_tasks = own_tasks() if tasks is None else tasks
    if not listed_tasks and experiment is None:
        raise ReleaseError("there are no tasks to freeze")
    twice = [
        task.id
        for task in listed_tasks
        if experiment and task.id in experiment.task_ids
    ]
    tasks_here = {*map(str, listed_tasks), *(experiment.task_ids if experiment else ())}
    apart = (
        [name for name in ladder.task_ids if name not in tasks_here] if ladder else []
    )
    if apart:
        raise ReleaseError(f"{apart[0]} is to be on the ladder and is not frozen")
    if twice:
        raise ReleaseError(
            f"{twice[0]} is to be frozen from its list and to be drawn; choose one"
        )
    try:
        with scratch_beside(out) as scratch:
            root = scratch / "release"
            frozen = []
            for _, part in freeze_tasks(listed_tasks, workers, on_task, proofs):
                if isinstance(part, Exception):
                    raise part
                frozen.append(part)
            record = None
            if experiment is not None:
                gathered = gather(run(experiment, workers=workers, proofs=proofs))
                record = experiment.record(gathered.shortfalls)
                for frozen_task in gathered.frozen:
                    on_task(frozen_task.task)
                frozen += gathered.frozen
            rungs = None
            if ladder is not None:
                gathered = gather(run(ladder, workers=workers, proofs=proofs))
                rungs = FrozenLadder(
                    ladder.record(gathered.shortfalls), gathered.frozen
                )
            manifest = fill_release(
                root,
                version,
                frozen,
                withdrawn=withdrawn,
                experiment=record,
                ladder=rungs,
                workers=workers,
                proofs=proofs,
            )
            root.rename(out)
    except OSError as error:
        raise ReleaseError(f"{out} cannot be made: {error}") from error
    return manifest


def fill_release(
    root: Path,
    version: str | None,
    frozen: Sequence[FrozenTask],
    *,
    withdrawn: Mapping[str, str] = MappingProxyType({}),
    experiment: ExperimentRecord | None = None,
    ladder: FrozenLadder | None = None,
    workers: int = 1,
    proofs: Path | None = None,
) -> Manifest:
    """Write the files of a release into a folder that is not there yet.

    Without a version it is named after its rows, as what was generated, and has no pictures.

    Raises:
        ReleaseError: what is withdrawn is no instance, a task has no text for the card, or a
            picture cannot be drawn.
        OSError: the folder cannot be written.
    """
    for part in frozen:
        write_table(root / data_file(part.task.id), instance_table(part.instances))
        if part.terse:
            write_table(root / terse_file(part.task.id), instance_table(part.terse))
    rungs = ladder.parts if ladder else []
    for part in rungs:
        write_table(root / ladder_file(part.task.id), instance_table(part.instances))
    pictured = (
        picture_parts(frozen, rungs, workers, proofs)
        if is_version(version or "")
        else []
    )
    for part in pictured:
        write_table(root / pictures_file(part.task.id), instance_table(part.instances))
    ids = [instance.id for part in (*frozen, *rungs) for instance in part.instances]
    for name in withdrawn:
        if name not in ids:
            raise ReleaseError(
                f"{name!r} cannot be withdrawn: it is no item of this release."
                f"{did_you_mean(name, ids)}"
            )
    references = [
        reference for part in (*frozen, *rungs) for reference in part.references
    ]
    write_table(root / REFERENCES, reference_table(references))
    for name, text in release_schemas([part.task for part in frozen]).items():
        _write_bytes(root / name, text.encode())
    name = version or generated_name(frozen)
    if is_version(name):
        for path, data in pictures(frozen, workers).items():
            _write_bytes(root / path, data)
    # These are rendered from the manifest and are then among the files that it lists.
    make = partial(
        make_manifest,
        name,
        frozen,
        withdrawn=withdrawn,
        experiment=experiment,
        ladder=ladder,
        pictured=pictured,
    )
    draft = make(dict(_file_records(root)))
    for path, text in rendered_files(draft).items():
        _write_bytes(root / path, text.encode())
    manifest = make(dict(_file_records(root)))
    _write_bytes(root / MANIFEST, manifest.text().encode())
    return manifest


def generated_name(frozen: Sequence[FrozenTask]) -> str:
    """Return the name of a generated release that was given none: it is that of its rows."""
    return f"generated-{_rows_hash(frozen)[:8]}"


def _rows_hash(frozen: Sequence[FrozenTask]) -> str:
    return rows_hash(
        pair for part in frozen for pair in _id_hashes(part.instances + part.terse)
    )


def _id_hashes(rows: Sequence[Instance]) -> list[tuple[str, str]]:
    return [(row.id, row.content_hash) for row in rows]


def pictures(frozen: Sequence[FrozenTask], workers: int) -> dict[str, bytes]:
    """Return the pictures of a release, one for each task that has any: path and PNG file.

    Raises:
        ReleaseError: one cannot be drawn.
        ModuleNotFoundError: the library that draws is not installed.
    """
    instances = [instance for part in frozen for instance in part.instances]
    references = [reference for part in frozen for reference in part.references]
    pictured = list(cases([part.task for part in frozen], instances, references))
    return {
        picture_file(task): data for task, data in draw_cases(pictured, workers).items()
    }


def rendered_files(manifest: Manifest) -> dict[str, str]:
    """Return the files that say what the manifest says, in other words: path and text.

    Raises:
        ReleaseError: a task has no text for the card.
    """
    return {
        CARD: render_card(manifest),
        CROISSANT: render_croissant(manifest),
        EVAL: render_eval(manifest),
        **({PAPER: paper_page()} if manifest.terse else {}),
    }


def make_manifest(
    version: str,
    frozen: Sequence[FrozenTask],
    files: Mapping[str, FileRecord],
    withdrawn: Mapping[str, str] = MappingProxyType({}),
    experiment: ExperimentRecord | None = None,
    ladder: FrozenLadder | None = None,
    pictured: Sequence[FrozenTask] = (),
) -> Manifest:
    """Return the manifest of frozen tasks, their `picture_parts`, and the files that hold them."""
    parts = [*frozen, *(ladder.parts if ladder else [])]
    references = [reference for part in parts for reference in part.references]
    right = sum(reference.kind == "reference" for reference in references)
    return Manifest(
        version=version,
        package_version=__version__,
        rows_hash=_rows_hash([*parts, *pictured]),
        tasks={part.task.id: _task_record(part) for part in frozen},
        references=ReferencesRecord(
            references=right,
            counter_references=len(references) - right,
            rows_hash=references_hash(references),
        ),
        files=dict(files),
        libraries={
            "python": ".".join(platform.python_version_tuple()[:2]),
            **{name: installed(name) for name in LIBRARIES},
            "pictures": LOOK,
        },
        canary=CANARY,
        withdrawn=dict(withdrawn),
        experiment=experiment,
        terse={
            part.task.id: rows_hash(_id_hashes(part.terse))
            for part in frozen
            if part.terse
        },
        pictures={part.task.id: _task_record(part) for part in pictured},
        ladder=LadderRecord(
            experiment=ladder.record,
            tasks={part.task.id: _task_record(part) for part in ladder.parts},
        )
        if ladder
        else None,
    ).sealed()


def _task_record(part: FrozenTask) -> TaskRecord:
    return TaskRecord(
        bucket=part.task.bucket,
        instances=len(part.instances),
        scores=sum(instance.scores for instance in part.instances),
        builder_version=part.task.builder.version,
        grader_version=part.task.grader_version,
        rows_hash=rows_hash(_id_hashes(part.instances)),
        fingerprint=part.task.fingerprint(),
        floor=floor_record(part.references),
        weight=weight_of({ref.id: ref.floor for ref in part.references}.values()),
        seeds={
            instance.id: instance.seed
            for instance in part.instances
            if instance.seed is not None
            and instance.point is None
            and not style_of(instance.id)
        },
    )


def references_hash(references: Sequence[Reference]) -> str:
    """Return the identity of a set of reference answers."""
    return rows_hash(
        (
            f"{ref.id}:{ref.name}",
            content_hash(
                [getattr(ref, name) for name in _JUDGED]
                + (
                    [ref.unprinted]
                    if ref.measure is None
                    else [ref.unprinted, ref.measure]
                )
            ),
        )
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


def _write_bytes(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def read_withdrawn(path: Path) -> dict[str, str]:
    """Read which instances are withdrawn, and why.

    Args:
        path: TOML or JSON file (by its ending) of instance ids, each with a reason::

            "two_segments/07" = "its frame is drawn with one side missing"

    Raises:
        ReleaseError: the file cannot be read, or a reason is not one line of text.
    """
    try:
        text = path.read_text("utf-8")
        reasons = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise ReleaseError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise ReleaseError(f"{path} is not {kind}: {error}") from None
    if not isinstance(reasons, dict):
        raise ReleaseError(f"{path} must hold ids of items, each with a reason")
    for name, reason in reasons.items():
        if not (isinstance(reason, str) and reason.strip() and reason.isprintable()):
            raise ReleaseError(
                f"{path}: {name[:200]!r} needs a reason, as one line of text; quote ids, as in "
                '"two_segments/07" = "why"'
            )
    return {name: reason.strip() for name, reason in reasons.items()}
