"""Freezing: from builders to a release folder.

The folder is built next to its final place and then moved, so a failed build leaves
nothing behind. Building twice gives the same bytes.
"""

import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from scbench.base.canonical import sha256
from scbench.base.errors import ReleaseError, did_you_mean, refused
from scbench.base.progress import no_progress
from scbench.catalog import MANIFOLDS, Task, available_tasks
from scbench.freezing.card import paper_page, render_card, render_eval
from scbench.freezing.croissant import render_croissant
from scbench.freezing.experiment import Experiment
from scbench.freezing.fresh import gather, run
from scbench.freezing.frozen_manifest import (
    FrozenLadder,
    generated_name,
    make_manifest,
)
from scbench.freezing.frozen_task import FrozenTask, freeze_tasks
from scbench.freezing.prompt_pictures import picture_parts
from scbench.freezing.schemas import release_schemas
from scbench.freezing.tables import instance_table, reference_table, write_table
from scbench.machine.files import read_regular, scratch_beside
from scbench.release.manifest import (
    CARD,
    CROISSANT,
    EVAL,
    MANIFEST,
    PAPER,
    REFERENCES,
    ExperimentRecord,
    FileRecord,
    Manifest,
    data_file,
    is_version,
    ladder_file,
    picture_file,
    pictures_file,
    terse_file,
)
from scbench.report.gallery import cases, draw_cases


def own_tasks() -> tuple[Task, ...]:
    """Return the tasks of this package with a fixed list, which the next release contains.

    An experiment draws the instances of the text tasks.
    """
    ours = [task for task in available_tasks() if task.package == "scbench"]
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
    """Freeze tasks into a release folder. The bytes are the same with any number of workers.

    Args:
        version: version of the release.
        out: the folder, which must not exist.
        tasks: tasks whose fixed lists are frozen; by default `own_tasks`.
        experiment: experiment that draws instances of additional tasks.
        ladder: experiment that draws the config ``ladder``, for tasks in the release.
        withdrawn: instances that were found to be wrong after an earlier release, by id, each with
            the reason.
        workers: number of processes; with 1, this process does the work.
        on_task: called with each task when it is frozen.
        proofs: see `scbench.freezing.proofs`; without them everything is graded from
            scratch.

    Raises:
        ReleaseError: the version is invalid, the folder exists or cannot be made, a grader fails
            on a reference answer, or a withdrawn instance does not exist.
        ExperimentError: the experiment requests something that cannot be generated.
    """
    if not is_version(version):
        raise ReleaseError(
            f"{version!r} is not a version; use a form such as 2.0.0 or 2.0.0rc1"
        )
    if os.path.lexists(out):
        raise ReleaseError(
            f"{out} exists, and releases are never edited; choose another version or "
            "folder"
        )
    listed_tasks = own_tasks() if tasks is None else tasks
    check_tasks(listed_tasks, experiment, ladder)
    try:
        with scratch_beside(out) as scratch:
            root = scratch / "release"
            frozen = []
            for _, part in freeze_tasks(listed_tasks, workers, on_task, proofs):
                if isinstance(part, Exception):
                    # One task that cannot be frozen ends the build, because a release
                    # must be complete.
                    raise part
                frozen.append(part)
            record = None
            if experiment is not None:
                gathered = gather(run(experiment, workers=workers, proofs=proofs))
                record = experiment.record(gathered.shortfalls)
                # Announced together: no task is complete before all points are drawn.
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
        raise ReleaseError(
            f"{out} cannot be created: {refused(error) or error}"
        ) from error
    return manifest


def check_tasks(
    listed_tasks: Sequence[Task],
    experiment: Experiment | None,
    ladder: Experiment | None,
) -> None:
    """Refuse a release without tasks, with a task only on a ladder, or a task of two origins."""
    if not listed_tasks and experiment is None:
        raise ReleaseError("there are no tasks to freeze")
    drawn_ids = experiment.task_ids if experiment else []
    listed_ids = [task.id for task in listed_tasks]
    ladder_ids = ladder.task_ids if ladder else []
    # A task only on the ladder would have no fixed list to test its grader.
    for name in ladder_ids:
        if name not in listed_ids and name not in drawn_ids:
            raise ReleaseError(
                f"{name} is on the ladder but not among the frozen tasks"
            )
    for name in listed_ids:
        if name in drawn_ids:
            raise ReleaseError(
                f"{name} has both a fixed list and an experiment; choose one"
            )


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
    """Write the files of a release into a new folder.

    Without a version, these are generated instances: they are named after their rows, and have no
    pictures.

    Raises:
        ReleaseError: a withdrawn instance does not exist, a task has no text for the card, or a
            picture cannot be drawn.
        OSError: the folder cannot be written.
    """
    rungs = ladder.parts if ladder else []
    is_release = is_version(version or "")
    pictured: list[FrozenTask] = []
    for part in frozen:
        write_table(root / data_file(part.task.id), instance_table(part.instances))
        if part.terse:
            write_table(root / terse_file(part.task.id), instance_table(part.terse))
    for part in rungs:
        write_table(root / ladder_file(part.task.id), instance_table(part.instances))
    if is_release:
        pictured = picture_parts(frozen, rungs, workers, proofs)
    for part in pictured:
        write_table(root / pictures_file(part.task.id), instance_table(part.instances))
    parts = [*frozen, *rungs]
    check_withdrawn(withdrawn, parts)
    references = [reference for part in parts for reference in part.references]
    write_table(root / REFERENCES, reference_table(references))
    for path, text in release_schemas([part.task for part in frozen]).items():
        _write_bytes(root / path, text.encode())
    if is_release:
        for path, data in pictures(frozen, workers).items():
            _write_bytes(root / path, data)
    # The texts are rendered from the manifest, and are then among the files that it lists.
    draft = make_manifest(
        version or generated_name(frozen),
        frozen,
        file_records(root),
        withdrawn,
        experiment,
        ladder,
        pictured,
    )
    for path, text in rendered_files(draft).items():
        _write_bytes(root / path, text.encode())
    manifest = draft.model_copy(update={"files": file_records(root)}).sealed()
    _write_bytes(root / MANIFEST, manifest.text().encode())
    return manifest


def check_withdrawn(withdrawn: Mapping[str, str], parts: Sequence[FrozenTask]) -> None:
    """Refuse to withdraw instances that do not exist."""
    ids = [instance.id for part in parts for instance in part.instances]
    for name in withdrawn:
        if name not in ids:
            raise ReleaseError(
                f"{name!r} cannot be withdrawn: it is not an item of this "
                f"release.{did_you_mean(name, ids)}"
            )


def pictures(frozen: Sequence[FrozenTask], workers: int) -> dict[str, bytes]:
    """Return the gallery of a release: the path and PNG file of one picture for each task with any.

    Raises:
        ReleaseError: a picture cannot be drawn.
        ModuleNotFoundError: the library that draws is not installed.
    """
    tasks = [part.task for part in frozen]
    instances = [instance for part in frozen for instance in part.instances]
    references = [reference for part in frozen for reference in part.references]
    gallery_cases = list(cases(tasks, instances, references))
    files = {}
    for task, data in draw_cases(gallery_cases, workers).items():
        files[picture_file(task)] = data
    return files


def rendered_files(manifest: Manifest) -> dict[str, str]:
    """Return the files that are rendered from a manifest: path and text.

    Raises:
        ReleaseError: a task has no text for the card.
    """
    texts = {
        CARD: render_card(manifest),
        CROISSANT: render_croissant(manifest),
        EVAL: render_eval(manifest),
    }
    if manifest.terse:
        texts[PAPER] = paper_page()
    return texts


def file_records(root: Path) -> dict[str, FileRecord]:
    """Return a manifest's records of the files in a folder, by path."""
    records = {}
    for path in release_files(root):
        data = (root / path).read_bytes()
        records[path] = FileRecord(sha256=sha256(data), bytes=len(data))
    return records


def release_files(root: Path) -> list[str]:
    """Return the sorted paths of everything in a release folder except folders and the manifest."""
    names = set()
    for path in root.rglob("*"):
        # A link to a folder counts as a file: releases have none.
        if path.is_symlink() or not path.is_dir():
            names.add(path.relative_to(root).as_posix())
    return sorted(names - {MANIFEST})


def _write_bytes(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def read_withdrawn(path: Path) -> dict[str, str]:
    """Read the withdrawn instances and the reasons.

    Args:
        path: TOML or JSON file (by its ending) of instance ids, each with a reason::

            "two_segments/07" = "its frame is drawn with one side missing"

    Raises:
        ReleaseError: the file cannot be read, or a reason is not one line of text.
    """
    is_json = path.suffix == ".json"
    try:
        text = read_regular(path).decode()
        reasons = json.loads(text) if is_json else tomllib.loads(text)
    except OSError as error:
        raise ReleaseError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        kind = "JSON" if is_json else "TOML"
        raise ReleaseError(f"{path} is not {kind}: {error}") from None
    if not isinstance(reasons, dict):
        raise ReleaseError(f"{path} must contain item ids, each with a reason")
    for name, reason in reasons.items():
        if not (isinstance(reason, str) and reason.strip() and reason.isprintable()):
            raise ReleaseError(
                f"{path}: {name[:200]!r} needs a reason in one line of text; quote ids, as "
                'in "two_segments/07" = "why"'
            )
    return {name: reason.strip() for name, reason in reasons.items()}
