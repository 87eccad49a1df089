"""Writing the cases of an experiment into a folder with the layout of a release.

The run works in a hidden folder next to the result, marked and locked by
`scbench.machine.work_folder`. The hidden folder contains a store of the finished
points, from which a killed run continues. It does not contain the base seed.
"""

import base64
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from operator import attrgetter
from pathlib import Path
from typing import Any

from scbench.base import __version__
from scbench.base.canonical import canonical_json, content_hash
from scbench.base.errors import ExperimentError, refused
from scbench.base.model import Instance
from scbench.base.progress import no_progress
from scbench.freezing.experiment import Experiment, Planned, plan
from scbench.freezing.freeze import fill_release
from scbench.freezing.fresh import (
    NO_SEED,
    FrozenPoint,
    Gathered,
    gather,
    prefix_of,
    run,
)
from scbench.machine.files import private_files, scratch_beside
from scbench.machine.store import Store
from scbench.machine.work_folder import WorkFolder
from scbench.release.load import Reference
from scbench.release.manifest import Manifest, is_version

JOURNAL = "journal"
# A letter or digit, then up to 63 letters, digits, dots, dashes and underscores.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Generated:
    """A folder that was written.

    Attributes:
        manifest: its manifest.
        gathered: tasks of the folder, and the points with fewer cases than requested.
        resumed: number of points that an interrupted run had finished.
    """

    manifest: Manifest
    gathered: Gathered
    resumed: int


def generate_folder(
    experiment: Experiment,
    out: Path,
    *,
    name: str | None = None,
    workers: int = 1,
    restart: bool = False,
    resume: bool = False,
    on_cases: Callable[[int], object] = no_progress,
) -> Generated:
    """Draw the cases of an experiment into a folder, atomically.

    A killed run continues when the same experiment is drawn into the same place. The
    bytes are the same as without an interruption, and with any number of workers.

    Args:
        experiment: the experiment.
        out: the folder, which must not exist.
        name: name of the generated cases; by default ``generated-`` and a hash of the rows.
        workers: number of processes; with 1, this process does the work.
        restart: whether to discard an interrupted run.
        resume: whether to continue one that this user did not start on this machine.
        on_cases: called with the number of cases so far.

    Raises:
        ExperimentError: the experiment requests something that cannot be generated, the name is not
            allowed, or the folder exists or cannot be made.
        GenerationError: no case could be drawn.
        ReleaseError: builder and grader disagree on a case.
    """
    if name is not None and (is_version(name) or not _NAME.fullmatch(name)):
        raise ExperimentError(
            f"{name[:100]!r} is not a valid name: use up to 64 letters, digits, dots, "
            "dashes and underscores, but no version number, which only frozen releases "
            "have"
        )
    if os.path.lexists(out):
        raise ExperimentError(
            f"{out} exists; choose another --out, because generated folders are never "
            "edited"
        )
    if experiment.seed is None:
        raise ExperimentError(NO_SEED)
    planned = plan(experiment)
    prefix = prefix_of(planned, experiment.seed)
    try:
        with (
            private_files(experiment.private),
            open_journal(
                out, experiment, planned, restart=restart, resume=resume
            ) as journal,
        ):
            parts = list(finished_points(journal, planned))
            resumed = len(parts)
            points = run(
                experiment,
                workers=workers,
                prefix=prefix,
                finished=parts,
                on_cases=on_cases,
            )
            for part in points:
                # Stored before the next point begins, so that a kill costs one point at most.
                journal.add(str(part.planned.index), pack_point(part))
                parts.append(part)
            gathered = gather(parts)
            with scratch_beside(out) as scratch:
                record = experiment.record(gathered.shortfalls, prefix)
                # The folder appears with all files, or not at all.
                root = scratch / "release"
                manifest = fill_release(root, name, gathered.frozen, experiment=record)
                root.rename(out)
    except OSError as error:
        raise ExperimentError(
            f"{out} cannot be created: {refused(error) or error}"
        ) from error
    return Generated(manifest, gathered, resumed)


def work_folder(out: Path) -> Path:
    """Return the folder that a run for an output folder works in."""
    return out.with_name(f".{out.name}.work")


@contextmanager
def open_journal(
    out: Path,
    experiment: Experiment,
    planned: Sequence[Planned],
    *,
    restart: bool,
    resume: bool,
) -> Iterator[Store]:
    """Open the store of a run for an output folder; remove its work folder when the block ends.

    If an exception ends the block, the work folder stays, unless no point was finished.
    The next run then continues from there.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    work = WorkFolder(work_folder(out))
    identity = experiment_identity(experiment, planned)
    journal = None
    try:
        if restart:
            work.clear()
        _claim(work, identity, resume=resume)
        journal = Store(work.path / JOURNAL)
        yield journal
        journal.close()
        work.remove()
    except BaseException:
        if journal is None:
            work.close()
            raise
        journal.close()
        # A run without a finished point is not worth continuing.
        if len(journal):
            work.close()
        else:
            work.remove()
        raise


def _claim(work: WorkFolder, identity: str, *, resume: bool) -> None:
    """Mark a work folder for a run; refuse a folder of another run."""
    if work.previous not in {"", identity}:
        raise ExperimentError(
            f"{work.path} contains an interrupted run of another experiment, seed or "
            "version; discard it with --restart, or choose another --out"
        )
    if work.previous and not resume and not work.is_own():
        raise ExperimentError(
            f"{work.path} contains an interrupted run that you did not start on this machine; "
            "continue it with --resume if you trust it, discard it with --restart, or choose "
            "another --out"
        )
    if not work.previous:
        # No run has begun here, so a journal without one is someone else's.
        work.clear()
    work.mark(identity)


def experiment_identity(experiment: Experiment, planned: Sequence[Planned]) -> str:
    """Return a hash of everything that determines the cases."""
    versions = {}
    points = []
    for p in planned:
        # Another builder would draw other cases, and another grader might refuse them.
        versions[p.task.id] = [p.task.builder.version, p.task.grader_version]
        points.append([p.task.id, p.parameters, p.point.count, p.rung])
    return content_hash(["journal", __version__, experiment.seed, versions, points])


def finished_points(
    journal: Store, planned: Sequence[Planned]
) -> Iterator[FrozenPoint]:
    """Yield the finished first points of an interrupted run."""
    for index in count():
        data = journal.get(str(index))
        if data is None:
            return
        record = json.loads(data)
        yield FrozenPoint(
            planned[index],
            tuple(unpack_instance(row) for row in record["instances"]),
            tuple(Reference(*row) for row in record["references"]),
            record["reason"],
        )


def pack_point(part: FrozenPoint) -> bytes:
    """Return a point as JSON that `finished_points` reads."""
    fields = attrgetter(*Reference.__slots__)
    record = {
        "instances": [pack_instance(instance) for instance in part.instances],
        "references": [fields(reference) for reference in part.references],
        "reason": part.reason,
    }
    return canonical_json(record).encode()


def pack_instance(instance: Instance) -> dict[str, Any]:
    """Return an instance as JSON values."""
    images = [base64.b64encode(image).decode() for image in instance.images]
    return instance.model_dump(exclude={"images"}) | {"images": images}


def unpack_instance(row: dict[str, Any]) -> Instance:
    """Return the instance in JSON values."""
    images = tuple(base64.b64decode(image) for image in row["images"])
    return Instance(**{**row, "images": images})
