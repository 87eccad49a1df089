"""Regenerating drawn rows, each from its own point and seed: for releases with a private seed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pebble import ProcessExpired

from scbench.base.canonical import canonical_json
from scbench.base.model import whole_point
from scbench.base.wording import counted
from scbench.catalog import Task
from scbench.freezing.draw import cases_per_job, key_of
from scbench.freezing.experiment import Planned
from scbench.freezing.fresh import join_parts, paper_item
from scbench.freezing.frozen_task import FrozenTask, freeze_task
from scbench.machine.processes import PendingResult, open_executor
from scbench.release.manifest import MANIFEST, ExperimentRecord, Manifest

# Rows by task, as stored in the files.
Rows = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(slots=True)
class Redrawn:
    """The results of drawing an experiment again.

    Attributes:
        record: the record of the experiment that the manifest must have.
        frozen: tasks that could be drawn.
        problems: the problems, as sentences.
    """

    record: ExperimentRecord
    frozen: list[FrozenTask] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class _Origin(NamedTuple):
    """Point and seed of a row."""

    planned: Planned
    seed: int
    case_index: int = 0
    """Index of the row among the rows of its point."""


class _TaskJobs(NamedTuple):
    """Calls that regenerate the rows of a task."""

    task: Task
    calls: list[PendingResult]


def remake_rows(
    redrawn: Redrawn,
    manifest: Manifest,
    planned: Sequence[Planned],
    rows: Rows,
    workers: int,
    proofs: Path | None,
) -> None:
    """Regenerate each row from its own point and seed, and count the rows at each point.

    Args:
        redrawn: receives tasks and problems.
        manifest: manifest of the release, or of a config.
        planned: the points of the experiment.
        rows: id, point, seed and unprinted values of each row.
        workers: number of processes; with 1, this process does the work.
        proofs: see `scbench.freezing.proofs`.
    """
    tasks = {p.task.id: p.task for p in planned}
    points = {(p.task.id, canonical_json(p.parameters)): p for p in planned}
    # Rows at each point, by its index.
    counts: Counter[int] = Counter()
    prefix = redrawn.record.prefix
    task_jobs = []
    with open_executor(workers) as executor:
        for task_id, stored in rows.items():
            task = tasks[task_id]
            file = manifest.rows_file(task_id)
            origins = origins_of(redrawn, file, task, stored, points)
            # Without an origin for each row, the numbers of instances would shift.
            if len(origins) < len(stored):
                continue
            counts.update(origin.planned.index for origin in origins)
            numbered = with_indices(origins)
            size = cases_per_job(task)
            calls = []
            for start in range(0, len(numbered), size):
                batch = numbered[start : start + size]
                calls.append(
                    executor.submit(remake, task, batch, start, prefix, proofs)
                )
            task_jobs.append(_TaskJobs(task, calls))
        for jobs in task_jobs:
            try:
                parts = [call.result() for call in jobs.calls]
            except (BrokenProcessPool, ProcessExpired):
                raise  # a fault of this machine, not of the release
            except Exception as error:  # noqa: BLE001  (whatever is wrong with a task)
                file = manifest.rows_file(jobs.task.id)
                redrawn.problems.append(f"{file}: cannot be drawn again: {error}")
                continue
            redrawn.frozen.append(join_parts(jobs.task, parts))
    check_counts(redrawn, manifest, planned, rows, counts)
    check_repeats(redrawn)


def origins_of(
    redrawn: Redrawn,
    file: str,
    task: Task,
    stored: Sequence[Mapping[str, Any]],
    points: Mapping[tuple[str, str], Planned],
) -> list[_Origin]:
    """Return the origins of the rows of a file; report rows without one, and a wrong order."""
    origins = []
    for number, row in enumerate(stored):
        origin = origin_of(task, row, points)
        if origin is not None:
            origins.append(origin)
            continue
        redrawn.problems.append(
            f"{file}: row {number} has no seed, or a point that is not in the experiment"
        )
    order = [origin.planned.index for origin in origins]
    # Points are drawn one after the other.
    if order != sorted(order):
        redrawn.problems.append(
            f"{file}: the points are not in the order of the experiment"
        )
    return origins


def origin_of(
    task: Task, row: Mapping[str, Any], points: Mapping[tuple[str, str], Planned]
) -> _Origin | None:
    """Return the origin of a row; None if there is no seed or no point of the experiment."""
    try:
        values = whole_point(row["point"], row["unprinted"])
        # The rest of the values are facts of the case.
        names = task.builder.space.model_fields.keys() - {"count"}
        parameters = {name: value for name, value in values.items() if name in names}
    except (KeyError, TypeError, ValueError):
        return None
    planned = points.get((task.id, canonical_json(parameters)))
    seed = row.get("seed")
    if planned is None or not isinstance(seed, int):
        return None
    return _Origin(planned, seed)


def with_indices(origins: Sequence[_Origin]) -> list[_Origin]:
    """Return origins with their indices, counted from the first row of each point."""
    starts: dict[int, int] = {}
    numbered = []
    for place, origin in enumerate(origins):
        start = starts.setdefault(origin.planned.index, place)
        numbered.append(origin._replace(case_index=place - start))
    return numbered


def remake(
    task: Task,
    origins: Sequence[_Origin],
    first: int,
    prefix: str,
    proofs: Path | None,
) -> FrozenTask:
    """Recreate instances of a task, numbered from `first`, and test its grader on them."""
    builder = task.builder()
    items = []
    for planned, seed, index in origins:
        make_case = builder.rows_at(planned.point)
        items.append(paper_item(planned, index, make_case(seed)))
    return freeze_task(task, items, first, prefix, proofs)


def check_counts(
    redrawn: Redrawn,
    manifest: Manifest,
    planned: Sequence[Planned],
    rows: Rows,
    counts: Counter[int],
) -> None:
    """Compare the number of rows at each point with the experiment and its shortfalls."""
    checked = {part.task.id for part in redrawn.frozen}
    # Tasks without rows are counted, too; tasks that could not be made are already
    # reported.
    checked |= {p.task.id for p in planned} - rows.keys()
    shortfalls = redrawn.record.shortfalls
    unused = {(s.task, canonical_json(s.point)): s for s in shortfalls}
    if len(unused) < len(shortfalls):
        redrawn.problems.append(
            f"{MANIFEST}: experiment.shortfalls names a point twice"
        )
    for p in planned:
        point_text = canonical_json(p.parameters)
        # The shortfalls that remain do not belong to a point of the experiment.
        shortfall = unused.pop((p.task.id, point_text), None)
        requested = p.point.count
        expected = requested if shortfall is None else shortfall.got
        if p.task.id in checked and counts[p.index] != expected:
            redrawn.problems.append(
                f"{manifest.rows_file(p.task.id)}: {counted(counts[p.index], 'row')} at "
                f"point {point_text} instead of {expected}"
            )
        if shortfall is None:
            continue
        if shortfall.asked != requested or shortfall.got >= requested:
            redrawn.problems.append(
                f"{MANIFEST}: experiment.shortfalls: {p.task.id} has {shortfall.got} of "
                f"{shortfall.asked} items at a point where {requested} were requested"
            )
    for task_id, _ in unused:
        redrawn.problems.append(
            f"{MANIFEST}: experiment.shortfalls names a point of {task_id} that is not in "
            "the experiment"
        )


def check_repeats(redrawn: Redrawn) -> None:
    """Report instances that look the same to a model."""
    ids_by_key: dict[str, str] = {}
    for part in redrawn.frozen:
        for row in part.instances:
            key = key_of(row.task, row.prompt, row.all_params)
            if key in ids_by_key:
                redrawn.problems.append(f"{row.id} repeats {ids_by_key[key]}")
            ids_by_key[key] = row.id
