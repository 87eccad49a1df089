"""Making the drawn rows of a release anew, to compare them with those it holds.

With the base seed, everything follows from the experiment. Without it (a private one), each row is
made again from its own point and seed, which proves that builder, prompt, parameters and
references belong together, and the rows are counted against the experiment; only that they are the
first that the base seed gives remains unproven.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scbench.base.canonical import canonical_json
from scbench.base.errors import ScbenchError
from scbench.base.model import whole_point
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import PaperItem
from scbench.catalog import Task
from scbench.freezing.experiment import Experiment, Planned, experiment_of, plan
from scbench.freezing.fresh import REPEATS, UNRATED, at_once, gather, key_of, prefix_of, run, traits
from scbench.freezing.frozen_task import FrozenTask, freeze_task
from scbench.machine.processes import open_executor
from scbench.release.manifest import MANIFEST, ExperimentRecord, Manifest

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by task, as the files hold them."""


@dataclass(slots=True)
class Redrawn:
    """What came of drawing anew: the tasks that could be drawn, and what is wrong, in sentences.

    The manifest must say of the experiment what the record does.
    """

    record: ExperimentRecord
    rows_file: Callable[[str], str]
    frozen: list[FrozenTask] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def redraw(
    manifest: Manifest,
    rows_of: Callable[[str], Sequence[Mapping[str, Any]]],
    seed: int | None = None,
    workers: int = 1,
    proofs: Path | None = None,
) -> Redrawn:
    """Draw the experiment of a release again, from its seed, or a private one if that is known.

    Taking the stored rows of a task may raise anything if they are damaged.
    """
    record = manifest.experiment
    if record is None:
        raise ValueError("this release was drawn by no experiment")
    redrawn = Redrawn(record, manifest.rows_file)
    private = record.seed is None
    try:
        values = {"seed": record.seed, "private": private, "measures": record.measures}
        experiment = experiment_of({**values, "task": record.tasks})
        planned = plan(experiment)
    except ScbenchError as error:
        redrawn.problems = [f"{MANIFEST}: experiment: {line}" for line in str(error).splitlines()]
        return redrawn
    rows: dict[str, Sequence[Mapping[str, Any]]] = {}
    for task in (name for name in experiment.task_ids if name in manifest.tasks):
        try:
            rows[task] = rows_of(task)
        except Exception as error:  # noqa: BLE001  (damaged bytes fail in many ways)
            first = (str(error).splitlines() or [""])[0]
            redrawn.problems.append(
                f"{redrawn.rows_file(task)}: cannot be read: {type(error).__name__}: {first}"
            )
    if record.seed is not None and seed not in {None, record.seed}:
        redrawn.problems.append(f"{MANIFEST}: experiment.seed is {record.seed}, not the one given")
    if private and seed is not None and not _fits(planned, rows, seed):
        redrawn.problems.append(f"{MANIFEST}: the rows were not drawn with the seed given")
        seed = None
    base = record.seed if record.seed is not None else seed
    if base is not None:
        _from_seed(redrawn, experiment.model_copy(update={"seed": base}), manifest, workers, proofs)
    else:
        _from_rows(redrawn, planned, rows, workers, proofs)
    return redrawn


def _from_seed(
    redrawn: Redrawn,
    experiment: Experiment,
    manifest: Manifest,
    workers: int,
    proofs: Path | None,
) -> None:
    seed = experiment.seed or 0
    prefix = prefix_of(plan(experiment), seed) if manifest.is_generated else ""
    try:
        gathered = gather(run(experiment, workers=workers, prefix=prefix, proofs=proofs))
    except ScbenchError as error:
        redrawn.problems.append(f"{MANIFEST}: the experiment cannot be drawn again: {error}")
        return
    redrawn.record = experiment.record(gathered.shortfalls, prefix)
    for part in gathered.frozen:
        if part.task.id in manifest.tasks:
            redrawn.frozen.append(part)
        else:
            redrawn.problems.append(
                f"{MANIFEST}: does not list task {part.task.id}, which the experiment draws"
            )


def _fits(planned: Sequence[Planned], rows: Rows, seed: int) -> bool:
    """Whether the seeds of the first rows can come from a base seed."""
    first = next((p for p in planned if rows.get(p.task.id)), None)
    if first is None:
        return True
    stream = Stream("generate", seed, first.task.id, first.parameters)
    possible = {stream.getrandbits(63) for _ in range(first.point.count + REPEATS)}
    seeds = [row.get("seed") for row in rows[first.task.id][: first.point.count]]
    return any(value in possible for value in seeds)


def _from_rows(
    redrawn: Redrawn,
    planned: Sequence[Planned],
    rows: Rows,
    workers: int,
    proofs: Path | None,
) -> None:
    """Make each row again from its own point and seed, and count them."""
    points = {(p.task.id, canonical_json(p.parameters)): p for p in planned}
    tasks = {p.task.id: p.task for p in planned}
    counts: Counter[int] = Counter()
    prefix = redrawn.record.prefix
    with open_executor(workers) as executor:
        jobs = []
        for task_id, stored in rows.items():
            task = tasks[task_id]
            origins: list[tuple[Planned, int]] = []
            for number, row in enumerate(stored):
                origin = _origin(task, row, points)
                if origin is None:
                    redrawn.problems.append(
                        f"{redrawn.rows_file(task_id)}: row {number} has no seed, or a point that "
                        "the experiment does not draw at"
                    )
                else:
                    origins.append(origin)
            order = [p.index for p, _ in origins]
            if order != sorted(order):
                redrawn.problems.append(
                    f"{redrawn.rows_file(task_id)}: the points are not in the order of the "
                    "experiment"
                )
            if len(origins) < len(stored):
                continue
            begins: dict[int, int] = {}
            for i, index in enumerate(order):
                begins.setdefault(index, i)
            counts.update(order)
            plain = [(p, seed, i - begins[p.index]) for i, (p, seed) in enumerate(origins)]
            size = at_once(task)
            starts = range(0, len(plain), size)
            calls = ((plain[at : at + size], at, prefix, proofs) for at in starts)
            jobs.append((task, [executor.submit(_remake, task, *call) for call in calls]))
        for task, parts in jobs:
            try:
                pieces = [part.result() for part in parts]
            except Exception as error:  # noqa: BLE001  (whatever is wrong with a task)
                redrawn.problems.append(
                    f"{redrawn.rows_file(task.id)}: cannot be drawn again: {error}"
                )
                continue
            instances = tuple(instance for part in pieces for instance in part.instances)
            references = tuple(reference for part in pieces for reference in part.references)
            redrawn.frozen.append(FrozenTask(task, instances, references))
    _count(redrawn, planned, rows, counts)
    _repeats(redrawn)


def _origin(
    task: Task, row: Mapping[str, Any], points: Mapping[tuple[str, str], Planned]
) -> tuple[Planned, int] | None:
    try:
        values = whole_point(row["point"], row["unprinted"])
        names = task.builder.space.model_fields.keys() - {"count"}
        parameters = {name: value for name, value in values.items() if name in names}
    except (KeyError, TypeError, ValueError):
        return None
    planned = points.get((task.id, canonical_json(parameters)))
    seed = row.get("seed")
    return (planned, seed) if planned is not None and isinstance(seed, int) else None


def _remake(
    task: Task,
    origins: Sequence[tuple[Planned, int, int]],
    first: int,
    prefix: str,
    proofs: Path | None,
) -> FrozenTask:
    builder = task.builder()
    items = []
    for planned, seed, index in origins:
        case = builder.case(planned.point, seed)
        params = task.params_model.model_validate(case.instance)
        point = builder.point_of(case)
        items.append(PaperItem(params, UNRATED, seed, point, *traits(planned, index)))
    return freeze_task(task, items, first, prefix, proofs)


def _count(redrawn: Redrawn, planned: Sequence[Planned], rows: Rows, counts: Counter[int]) -> None:
    """Compare the number of rows at each point with what was asked for, and with the shortfalls."""
    built = {part.task.id for part in redrawn.frozen}
    absent = {p.task.id for p in planned} - rows.keys()
    short = {(s.task, canonical_json(s.point)): s for s in redrawn.record.shortfalls}
    if len(short) < len(redrawn.record.shortfalls):
        redrawn.problems.append(f"{MANIFEST}: experiment.shortfalls names a point twice")
    for p in planned:
        shortfall = short.pop((p.task.id, canonical_json(p.parameters)), None)
        requested = p.point.count
        expected = requested if shortfall is None else shortfall.got
        if p.task.id in built | absent and counts[p.index] != expected:
            place = f"{redrawn.rows_file(p.task.id)}: {counts[p.index]} rows at point"
            redrawn.problems.append(f"{place} {canonical_json(p.parameters)}, must be {expected}")
        if shortfall is not None and (shortfall.asked != requested or shortfall.got >= requested):
            redrawn.problems.append(
                f"{MANIFEST}: experiment.shortfalls: {p.task.id} has {shortfall.got} of "
                f"{shortfall.asked} cases at a point where {requested} were asked for"
            )
    redrawn.problems += (
        f"{MANIFEST}: experiment.shortfalls names a point of {task} that is not drawn at"
        for task, _ in short
    )


def _repeats(redrawn: Redrawn) -> None:
    ids_by_key: dict[str, str] = {}
    for part in redrawn.frozen:
        for row in part.instances:
            key = key_of(row.task, row.prompt, row.all_params)
            if key in ids_by_key:
                redrawn.problems.append(f"{row.id} repeats {ids_by_key[key]}")
            ids_by_key[key] = row.id
