"""Finished points of an experiment, kept beside the folder to come, so that a killed run goes on.

The work folder stands beside the folder that is made, with a dot before its name, and is marked
and locked, see `scbench.machine.work_folder`. In it is the journal, a line per finished point with
its own hash. The base seed is not in it.
"""

import base64
import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from scbench.base.canonical import canonical_json, content_hash, sha256
from scbench.base.errors import ExperimentError
from scbench.base.model import Instance
from scbench.base.version import __version__
from scbench.freezing.experiment import Experiment, Planned
from scbench.freezing.fresh import FrozenPoint
from scbench.machine.work_folder import WorkFolder
from scbench.release.load import Reference

JOURNAL = "journal.jsonl"


def work_folder(out: Path) -> Path:
    """Return the folder that a run for an output folder works in."""
    return out.with_name(f".{out.name}.work")


def identity(experiment: Experiment, planned: Sequence[Planned]) -> str:
    """Return what the cases of an experiment depend on, as a hash."""
    tasks = {planned.task.id: planned.task for planned in planned}
    versions = {name: [t.builder.version, t.grader_version] for name, t in tasks.items()}
    points = [[p.task.id, p.parameters, p.point.count, p.rung] for p in planned]
    return content_hash(["journal", __version__, experiment.seed, versions, points])


class PointCheckpoint:
    """The journal of a run, open for more.

    Attributes:
        finished: parts of the first points, from an interrupted run.
        worth_keeping: whether it holds any part.
    """

    def __init__(self, file: IO[bytes], finished: list[FrozenPoint]) -> None:
        self._file = file
        self.finished = finished
        self.worth_keeping = bool(finished)

    def add(self, part: FrozenPoint) -> None:
        """Keep a part: it is with the operating system when this returns."""
        text = canonical_json(
            {
                "point": part.planned.index,
                "instances": [_packed(instance) for instance in part.instances],
                "references": [
                    [getattr(reference, name) for name in Reference.__slots__]
                    for reference in part.references
                ],
                "reason": part.reason,
            }
        )
        self._file.write(f"{sha256(text)} {text}\n".encode())
        self._file.flush()
        self.worth_keeping = True


@contextmanager
def journal_of(
    out: Path, experiment: Experiment, planned: Sequence[Planned], *, restart: bool
) -> Iterator[PointCheckpoint]:
    """Open the journal of a run for an output folder; its work folder goes when the block ends.

    If the block is left by an exception, it stays for the next run, which goes on from there,
    unless nothing was finished yet.

    Args:
        out: the folder that is to be made.
        experiment: what is drawn.
        planned: its points.
        restart: throw away what an interrupted run left.

    Raises:
        ExperimentError: another experiment was interrupted there.
        ResultsError: another run is at work there, or it is no folder of ours.
        OSError: the folder cannot be written.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    work, mine = WorkFolder(work_folder(out)), identity(experiment, planned)
    journal = None
    try:
        _claim(work, mine, restart=restart)
        with (work.path / JOURNAL).open("a+b") as file:
            file.seek(0)
            journal = PointCheckpoint(file, _load(file, planned))
            yield journal
        work.remove()
    except BaseException:
        if journal is not None and not journal.worth_keeping:
            work.remove()
        else:
            work.close()
        raise


def _claim(work: WorkFolder, identity: str, *, restart: bool) -> None:
    if restart:
        work.clear()
    if work.previous not in {"", identity}:
        raise ExperimentError(
            f"{work.path} holds an interrupted run of another experiment, seed or version; "
            "throw it away with --restart, or choose another --out"
        )
    work.mark(identity)


def _load(file: IO[bytes], planned: Sequence[Planned]) -> list[FrozenPoint]:
    """Return the parts of a journal up to the first line that is cut off or damaged."""
    parts: list[FrozenPoint] = []
    place = file.tell()
    for line in file:
        part = None
        with contextlib.suppress(ValueError, KeyError, TypeError, IndexError):
            part = _part(line, planned)
        if part is None or part.planned.index != len(parts):
            break
        parts.append(part)
        place += len(line)
    os.truncate(file.fileno(), place)
    file.seek(place)
    return parts


def _part(line: bytes, planned: Sequence[Planned]) -> FrozenPoint | None:
    digest, _, text = line.decode().partition(" ")
    if not text.endswith("\n") or sha256(text[:-1]) != digest:
        return None
    record = json.loads(text)
    return FrozenPoint(
        planned[record["point"]],
        tuple(_unpacked(row) for row in record["instances"]),
        tuple(Reference(*row) for row in record["references"]),
        record["reason"],
    )


def _packed(instance: Instance) -> dict[str, Any]:
    images = [base64.b64encode(image).decode() for image in instance.images]
    return instance.model_dump(exclude={"images"}) | {"images": images}


def _unpacked(row: dict[str, Any]) -> Instance:
    return Instance(**{**row, "images": tuple(map(base64.b64decode, row["images"]))})
