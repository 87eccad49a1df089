"""Verifying a release: recompute everything and report every mismatch.

Two directions meet here. From the files: hashes, sizes, missing and foreign files, column schemas,
row hashes. From the builders: every row, prompt, schema, card and reference is made again and
compared; every reference must score 1.0 and every counter-reference less.

Nothing in the folder is trusted, the manifest included: whoever edits a row and mends every hash
is caught by the builders.

With the base seed, all that was drawn follows from the experiment. Without it (a private one), rows
are made again, each from its own point and seed; that they are the first remains unproven.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from scbench.base import __version__
from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ReleaseError, ScbenchError, did_you_mean
from scbench.base.model import task_of, whole_point
from scbench.base.progress import no_progress
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import PaperItem
from scbench.catalog import Task, all_tasks
from scbench.freezing.compare import (
    compare_records,
    compare_rows,
    compare_tables,
    error_line,
    one_line,
)
from scbench.freezing.experiment import (
    Experiment,
    Planned,
    experiment_of,
    manifolds,
    plan,
)
from scbench.freezing.freeze import (
    FrozenLadder,
    make_manifest,
    pictures,
    release_files,
    rendered_files,
)
from scbench.freezing.fresh import (
    REPEATS,
    UNRATED,
    at_once,
    gather,
    key_of,
    prefix_of,
    run,
    traits,
)
from scbench.freezing.frozen_task import (
    FrozenTask,
    fixed_list,
    freeze_task,
    freeze_tasks,
)
from scbench.freezing.ladder import ladder
from scbench.freezing.prompt_pictures import picture_parts
from scbench.freezing.proofs import installed
from scbench.freezing.schemas import file_schemas, task_schemas
from scbench.freezing.tables import instance_table, read_table, reference_table
from scbench.machine.processes import open_executor
from scbench.release.load import find_release
from scbench.release.manifest import (
    MANIFEST,
    MOST_MANIFEST_BYTES,
    REFERENCES,
    ExperimentRecord,
    LadderRecord,
    Manifest,
    data_file,
    ladder_file,
    layout,
    picture_file,
    pictures_file,
    terse_file,
)
from scbench.release.sources import (
    MOST_BYTES,
    NOT_SENT,
    OWN_FILES,
    hub_name,
    read_manifest,
    read_regular,
)
from scbench.report.draw.png import same_picture
from scbench.report.picture import LOOK


def verify_release(
    root: Path,
    on_step: Callable[[str], object] = no_progress,
    *,
    workers: int = 1,
    seed: int | None = None,
    on_hashes: Callable[[Sequence[str]], object] = no_progress,
    proofs: Path | None = None,
) -> tuple[str, ...]:
    """Return every mismatch as a sentence that names the file or row; none if the release is sound.

    A private seed is that of the drawn instances; without it, each of them is made again from its
    own. ``on_hashes`` is called within seconds with the mismatches that hashes alone show, which
    are the first of those returned; making everything again takes minutes. For ``proofs`` see
    `scbench.freezing.proofs`; without them all is judged from scratch.
    """
    try:
        manifest = read_manifest(root, check_digest=False)
    except ReleaseError as error:
        return (str(error),)
    on_step("files")
    problems = [*_check_manifest(root, manifest), *_check_files(root, manifest)]
    present = (name for name in manifest.files if (root / name).is_file())
    huge = [name for name in present if (root / name).stat().st_size > MOST_BYTES]
    problems += [f"{name}: is far too large for a release's file" for name in huge]
    on_hashes(tuple(problems))
    if huge:
        return tuple(problems)
    catalog = all_tasks()
    drawn_tasks = manifest.experiment.task_ids if manifest.experiment else []
    usable = [
        name for name in manifest.tasks if name in catalog and catalog[name].available
    ]
    tasks = [catalog[name] for name in usable if name not in drawn_tasks]
    for name in sorted(manifest.tasks.keys() - set(usable)):
        near = did_you_mean(name, catalog)
        problems.append(
            f"task {one_line(name)}: this installation has no such task.{near}"
        )
    frozen: list[FrozenTask] = []
    for task, part in freeze_tasks(
        tasks, workers, lambda task: on_step(task.id), proofs
    ):
        if isinstance(part, Exception):
            problems.append(
                f"task {task.id}: cannot be built again: {error_line(part)}"
            )
            problems += _check_listed(root, task)
            continue
        frozen.append(part)
        problems += _check_part(root, part)
    record = manifest.experiment
    if record is not None:
        on_step("drawn items")
        redrawn = redraw(
            manifest, partial(_stored, root, data_file), seed, workers, proofs
        )
        problems += [*redrawn.problems, *_check_experiment(manifest, record)]
        record = redrawn.record
        for part in redrawn.frozen:
            problems += _check_part(root, part)
        place = [*manifest.tasks].index
        frozen = sorted(
            [*frozen, *redrawn.frozen], key=lambda part: place(part.task.id)
        )
    elif seed is not None:
        problems.append(
            f"{MANIFEST}: nothing in this release was drawn, so no seed belongs to it"
        )
    rungs = None
    if manifest.ladder is not None:
        on_step("ladder")
        rungs, faults = _check_ladder(root, manifest, manifest.ladder, workers, proofs)
        problems += faults
    on_step("references")
    parts = [*frozen, *(rungs.parts if rungs else [])]
    pictured = picture_parts(frozen, rungs.parts if rungs else (), workers, proofs)
    problems += [
        it for part in pictured for it in _check_part(root, part, pictures_file)
    ]
    references = reference_table([ref for part in parts for ref in part.references])
    unbuilt = manifest.tasks.keys() - {part.task.id for part in frozen}
    if rungs:
        unbuilt |= rungs.record.measures.keys() - {part.task.id for part in rungs.parts}
    problems += _check_rows(root, REFERENCES, references, ("id", "name"), unbuilt)
    on_step("manifest, schemas and card")
    problems += _check_texts(root, manifest, frozen, record, rungs, pictured)
    on_step("pictures")
    problems += _check_pictures(root, manifest, frozen, workers)
    return tuple(problems)


def _check_listed(root: Path, task: Task) -> Iterator[str]:
    """Compare at least the rows of a task whose references cannot be made or judged here."""
    try:
        part = fixed_list(task)
    except Exception:  # noqa: BLE001  (that they cannot be made is said already)
        return
    yield from _check_part(root, part)


def _check_part(
    root: Path, part: FrozenTask, file: Callable[[str], str] = data_file
) -> Iterator[str]:
    for place, rows in ((file, part.instances), (terse_file, part.terse)):
        if rows:
            yield from _check_rows(
                root, place(part.task.id), instance_table(rows), ("id",)
            )


def _check_ladder(
    root: Path,
    manifest: Manifest,
    record: LadderRecord,
    workers: int,
    proofs: Path | None,
) -> tuple[FrozenLadder, list[str]]:
    """Draw the config ``ladder`` anew, and compare its rows."""
    redrawn = redraw(
        manifest.of_ladder(),
        partial(_stored, root, ladder_file),
        workers=workers,
        proofs=proofs,
    )
    problems = redrawn.problems
    problems += [
        it for part in redrawn.frozen for it in _check_part(root, part, ladder_file)
    ]
    if manifest.package_version == __version__ and not problems:
        experiment = record.experiment
        ours = [name for name in experiment.measures if name in ladder().tasks]
        shortfalls = experiment.shortfalls
        if not ours or ladder().experiment(tasks=ours).record(shortfalls) != experiment:
            problems.append(
                f"{MANIFEST}: ladder is not the one that this package draws"
            )
    return FrozenLadder(redrawn.record, redrawn.frozen), problems


def _stored(
    root: Path, file: Callable[[str], str], task_id: str
) -> list[dict[str, Any]]:
    """Return seeds and points of a task's rows, and what the references hold of them."""
    table = read_table((root / file(task_id)).read_bytes())
    references = read_table((root / REFERENCES).read_bytes()).select(
        ["id", "unprinted"]
    )
    unprinted = {
        row["id"]: row["unprinted"]
        for row in references.to_pylist()
        if row["unprinted"]
    }
    rows: list[dict[str, Any]] = table.select(["id", "point", "seed"]).to_pylist()
    return [row | {"unprinted": unprinted.get(row["id"])} for row in rows]


def _check_experiment(manifest: Manifest, record: ExperimentRecord) -> Iterator[str]:
    """Compare the experiment of a frozen release with that of this package."""
    if manifest.is_generated or manifest.package_version != __version__:
        return
    ours = manifolds().only(record.task_ids)
    if ours is None or ours.record([]) != record.model_copy(update={"shortfalls": []}):
        yield f"{MANIFEST}: experiment is not the one that this package draws manifolds by"


def verify_anywhere(
    name: str,
    on_step: Callable[[str], object] = no_progress,
    *,
    workers: int = 1,
    seed: int | None = None,
    on_hashes: Callable[[Sequence[str]], object] = no_progress,
    proofs: Path | None = None,
) -> tuple[str, ...]:
    """Return every mismatch of a release in a zip archive or on the Hub, as `verify_release` does.

    Raises:
        HubError: it is to come from the Hub, and cannot.
    """
    try:
        release = find_release(name)
    except ReleaseError as error:
        return (str(error),)
    expected = {
        MANIFEST,
        *release.manifest.files,
        *(OWN_FILES if hub_name(name) else ()),
    }
    foreign = sorted(release.source.names() - expected)
    problems = [
        f"{one_line(path)}: the manifest does not list this file" for path in foreign
    ]
    with tempfile.TemporaryDirectory(prefix="scbench-verify-") as scratch:
        for path in (MANIFEST, *release.manifest.files):
            record = release.manifest.files.get(path)
            try:
                data = release.source.read(
                    path, record.bytes if record else MOST_MANIFEST_BYTES
                )
            except FileNotFoundError:
                continue  # said with the files
            except (OSError, ReleaseError) as error:
                problems.append(f"{path}: cannot be read: {error_line(error)}")
                continue
            copy = Path(scratch, path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
        problems += verify_release(
            Path(scratch),
            on_step,
            workers=workers,
            seed=seed,
            on_hashes=lambda faults: on_hashes((*problems, *faults)),
            proofs=proofs,
        )
    return tuple(problems)


def _check_manifest(root: Path, manifest: Manifest) -> Iterator[str]:
    path = root / MANIFEST
    if path.is_symlink():
        yield f"{MANIFEST}: is a link, not a file"
    if manifest != manifest.sealed():
        yield f"{MANIFEST}: was changed after it was frozen (its digest is of another content)"
    elif read_regular(path, MOST_MANIFEST_BYTES) != manifest.text().encode():
        yield f"{MANIFEST}: is not written as scbench writes it"
    rungs = manifest.ladder.tasks if manifest.ladder else ()
    needed = layout(manifest.tasks, manifest.terse, rungs, manifest.pictures)
    for name in sorted(needed - manifest.files.keys()):
        yield f"{MANIFEST}: does not list {name}, which a release of these tasks has"
    for name in sorted(
        manifest.files.keys() - needed - {*map(picture_file, manifest.tasks)}
    ):
        yield f"{MANIFEST}: lists {name}, which is no part of a release of these tasks"


def _check_files(root: Path, manifest: Manifest) -> Iterator[str]:
    present = set(release_files(root))
    for name in sorted(present - manifest.files.keys()):
        yield f"{one_line(name)}: the manifest does not list this file"
    for name, record in manifest.files.items():
        path = root / name
        if name not in present and name in NOT_SENT:
            continue
        if name not in present:
            yield f"{name}: missing"
        elif path.is_symlink():
            yield f"{name}: is a link, not a file"
        elif not path.is_file():
            yield f"{name}: is not a regular file"
        else:
            yield from _check_bytes(path, name, record.bytes, record.sha256)


def _check_bytes(path: Path, name: str, size: int, digest: str) -> Iterator[str]:
    try:
        length = path.stat().st_size
        data = read_regular(path, size)
    except OSError as error:
        yield f"{name}: cannot be read: {error.strerror}"
        return
    if length != size:
        yield f"{name}: {length} bytes, the manifest says {size}"
    elif sha256(data) != digest:
        yield f"{name}: the content was changed (SHA-256 differs from the manifest)"


def _check_rows(
    root: Path,
    name: str,
    expected: pa.Table,
    key: Sequence[str],
    unbuilt: Collection[str] = (),
) -> Iterator[str]:
    """Compare a file's rows with those made anew, but for tasks that cannot be built."""
    path = root / name
    if not path.is_file():
        return  # said with the files
    try:
        stored = read_table(path.read_bytes())
        stored.validate(full=True)
        rows = stored.to_pylist()
    except Exception as error:  # noqa: BLE001  (damaged bytes fail in many ways)
        yield f"{name}: cannot be read: {error_line(error)}"
        return
    yield from (f"{name}: {problem}" for problem in compare_tables(stored, expected))
    if stored.schema.equals(expected.schema):
        rows = [row for row in rows if task_of(row["id"]) not in unbuilt]
        differences = compare_rows(rows, expected.to_pylist(), key)
        yield from (f"{name}: {difference}" for difference in differences)


def _check_texts(
    root: Path,
    manifest: Manifest,
    frozen: list[FrozenTask],
    record: ExperimentRecord | None,
    rungs: FrozenLadder | None,
    pictured: Sequence[FrozenTask],
) -> Iterator[str]:
    if not frozen or (rungs and not rungs.parts):
        return  # nothing could be made anew, which is said already
    rebuilt = make_manifest(
        manifest.version,
        frozen,
        manifest.files,
        manifest.withdrawn,
        record,
        rungs,
        pictured,
    )
    for task_id, task_record in rebuilt.tasks.items():
        yield from compare_records(
            manifest.tasks[task_id], task_record, f"tasks.{task_id}."
        )
    texts = task_schemas([part.task for part in frozen])
    # Another version of the package words its texts otherwise; hashes still hold for them.
    ours = manifest.package_version == __version__
    if ours:
        texts |= file_schemas()
    complete = rungs is None or len(rungs.parts) == len(rungs.record.measures)
    if complete and len(frozen) == len(manifest.tasks):
        yield from compare_records(manifest, rebuilt)
        parts = [*frozen, *(rungs.parts if rungs else [])]
        ids = {instance.id for part in parts for instance in part.instances}
        for name in sorted(manifest.withdrawn.keys() - ids):
            yield f"{MANIFEST}: withdraws {one_line(name)}, which is no item of this release"
        if ours:
            try:
                texts |= rendered_files(manifest)
            except ReleaseError as error:
                yield str(error)
    for name, text in texts.items():
        try:
            same = (
                not (root / name).is_file()
                or (root / name).read_bytes() == text.encode()
            )
        except OSError:
            continue  # said with the files
        if not same:
            yield f"{name}: differs from what is written anew"


def _check_pictures(
    root: Path, manifest: Manifest, frozen: list[FrozenTask], workers: int
) -> Iterator[str]:
    """Draw pictures anew where the same package and library would; hashes hold for others."""
    library = "vl-convert-python"
    same = (
        manifest.package_version == __version__
        and manifest.libraries.get(library) == installed(library)
        and manifest.libraries.get("pictures") == LOOK
        and any(picture_file(name) in manifest.files for name in manifest.tasks)
    )
    if not same:
        return
    try:
        images = pictures(frozen, workers)
    except (ReleaseError, ModuleNotFoundError) as error:
        yield f"gallery: cannot be drawn again: {error_line(error)}"
        return
    for name, data in images.items():
        path = root / name
        if name not in manifest.files:
            yield f"{MANIFEST}: does not list {name}, though it lists other pictures"
        elif path.is_file() and not same_picture(path.read_bytes(), data):
            yield f"{name}: differs from what is drawn anew"


# Rows by task, as the files hold them.
Rows = Mapping[str, Sequence[Mapping[str, Any]]]


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

    Without the seed, the rows are needed; taking them may raise anything if they are damaged.
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
        redrawn.problems = [
            f"{MANIFEST}: experiment: {line}" for line in str(error).splitlines()
        ]
        return redrawn
    rows: dict[str, Sequence[Mapping[str, Any]]] = {}
    for task in (
        name for name in experiment.task_ids if private and name in manifest.tasks
    ):
        try:
            rows[task] = rows_of(task)
        except Exception as error:  # noqa: BLE001  (damaged bytes fail in many ways)
            first = (str(error).splitlines() or [""])[0]
            fault = f"{type(error).__name__}: {first}"
            redrawn.problems.append(
                f"{redrawn.rows_file(task)}: cannot be read: {fault}"
            )
    if record.seed is not None and seed not in {None, record.seed}:
        redrawn.problems.append(
            f"{MANIFEST}: experiment.seed is {record.seed}, not the one given"
        )
    if private and seed is not None and not _fits(planned, rows, seed):
        redrawn.problems.append(
            f"{MANIFEST}: the rows were not drawn with the seed given"
        )
        seed = None
    base = record.seed if record.seed is not None else seed
    if base is not None:
        _from_seed(
            redrawn,
            experiment.model_copy(update={"seed": base}),
            manifest,
            workers,
            proofs,
        )
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
        gathered = gather(
            run(experiment, workers=workers, prefix=prefix, proofs=proofs)
        )
    except ScbenchError as error:
        redrawn.problems.append(
            f"{MANIFEST}: the experiment cannot be drawn again: {error}"
        )
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
    """Return whether the seeds of the first rows can come from a base seed."""
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
            plain = [
                (p, seed, i - begins[p.index]) for i, (p, seed) in enumerate(origins)
            ]
            size = at_once(task)
            starts = range(0, len(plain), size)
            calls = ((plain[at : at + size], at, prefix, proofs) for at in starts)
            jobs.append(
                (task, [executor.submit(_remake, task, *call) for call in calls])
            )
        for task, parts in jobs:
            try:
                pieces = [part.result() for part in parts]
            except Exception as error:  # noqa: BLE001  (whatever is wrong with a task)
                redrawn.problems.append(
                    f"{redrawn.rows_file(task.id)}: cannot be drawn again: {error}"
                )
                continue
            instances = tuple(
                instance for part in pieces for instance in part.instances
            )
            references = tuple(
                reference for part in pieces for reference in part.references
            )
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


def _count(
    redrawn: Redrawn, planned: Sequence[Planned], rows: Rows, counts: Counter[int]
) -> None:
    """Compare the number of rows at each point with what was asked for, and with the shortfalls."""
    built = {part.task.id for part in redrawn.frozen}
    absent = {p.task.id for p in planned} - rows.keys()
    short = {(s.task, canonical_json(s.point)): s for s in redrawn.record.shortfalls}
    if len(short) < len(redrawn.record.shortfalls):
        redrawn.problems.append(
            f"{MANIFEST}: experiment.shortfalls names a point twice"
        )
    for p in planned:
        shortfall = short.pop((p.task.id, canonical_json(p.parameters)), None)
        requested = p.point.count
        expected = requested if shortfall is None else shortfall.got
        if p.task.id in built | absent and counts[p.index] != expected:
            place = f"{redrawn.rows_file(p.task.id)}: {counts[p.index]} rows at point"
            redrawn.problems.append(
                f"{place} {canonical_json(p.parameters)}, must be {expected}"
            )
        if shortfall is not None and (
            shortfall.asked != requested or shortfall.got >= requested
        ):
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
