"""Verifying a release: recompute everything and report every mismatch.

Two directions meet here. From the files: hashes, sizes, missing and foreign files, column schemas,
row hashes. From the builders: every row, prompt, schema, card and reference is made again and
compared; every reference must score 1.0 and every counter-reference less.

Nothing in the folder is trusted, the manifest included: whoever edits a row and mends every hash
is caught by the builders.
"""

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from scbench.base import __version__
from scbench.base.canonical import sha256
from scbench.base.errors import ReleaseError, did_you_mean
from scbench.base.model import task_of
from scbench.base.progress import no_progress
from scbench.catalog import Task, all_tasks
from scbench.freezing.compare import (
    compare_records,
    compare_rows,
    compare_tables,
    error_line,
    one_line,
)
from scbench.freezing.experiment import manifolds
from scbench.freezing.freeze import (
    FrozenLadder,
    make_manifest,
    pictures,
    release_files,
    rendered_files,
)
from scbench.freezing.frozen_task import FrozenTask, fixed_list, freeze_tasks
from scbench.freezing.ladder import ladder
from scbench.freezing.proofs import installed
from scbench.freezing.redraw import redraw
from scbench.freezing.schemas import file_schemas, task_schemas
from scbench.freezing.tables import instance_table, read_table, reference_table
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

    Args:
        root: folder of the release.
        on_step: called with the name of each part that is looked at, for progress.
        workers: processes that make tasks anew.
        seed: base seed of the drawn instances, if it is private. Without it, each of them is made
            again from its own seed.
        on_hashes: called within seconds with the mismatches that hashes alone show, which are the
            first of those returned; making everything again takes minutes.
        proofs: scores of references, see `scbench.freezing.proofs`; None to judge from scratch.
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
    usable = [name for name in manifest.tasks if name in catalog and catalog[name].available]
    tasks = [catalog[name] for name in usable if name not in drawn_tasks]
    for name in sorted(manifest.tasks.keys() - set(usable)):
        near = did_you_mean(name, catalog)
        problems.append(f"task {one_line(name)}: this installation has no such task.{near}")
    frozen: list[FrozenTask] = []
    for task, part in freeze_tasks(tasks, workers, lambda task: on_step(task.id), proofs):
        if isinstance(part, Exception):
            problems.append(f"task {task.id}: cannot be built again: {error_line(part)}")
            problems += _check_listed(root, task)
            continue
        frozen.append(part)
        problems += _check_part(root, part)
    record = manifest.experiment
    if record is not None:
        on_step("drawn instances")
        redrawn = redraw(manifest, partial(_stored, root, data_file), seed, workers, proofs)
        problems += [*redrawn.problems, *_check_experiment(manifest, record)]
        record = redrawn.record
        for part in redrawn.frozen:
            problems += _check_part(root, part)
        order = [*manifest.tasks]
        frozen = sorted([*frozen, *redrawn.frozen], key=lambda part: order.index(part.task.id))
    elif seed is not None:
        problems.append(f"{MANIFEST}: nothing in this release was drawn, so no seed belongs to it")
    rungs = None
    if manifest.ladder is not None:
        on_step("ladder")
        rungs, faults = _check_ladder(root, manifest, manifest.ladder, workers, proofs)
        problems += faults
    on_step("references")
    parts = [*frozen, *(rungs.parts if rungs else [])]
    references = reference_table([ref for part in parts for ref in part.references])
    unbuilt = manifest.tasks.keys() - {part.task.id for part in frozen}
    if rungs:
        unbuilt |= rungs.record.measures.keys() - {part.task.id for part in rungs.parts}
    problems += _check_rows(root, REFERENCES, references, ("id", "name"), unbuilt)
    on_step("manifest, schemas and card")
    problems += _check_texts(root, manifest, frozen, record, rungs)
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


def _check_part(root: Path, part: FrozenTask) -> Iterator[str]:
    yield from _check_rows(root, data_file(part.task.id), instance_table(part.instances), ("id",))
    if part.terse:
        yield from _check_rows(root, terse_file(part.task.id), instance_table(part.terse), ("id",))


def _check_ladder(
    root: Path,
    manifest: Manifest,
    record: LadderRecord,
    workers: int,
    proofs: Path | None,
) -> tuple[FrozenLadder, list[str]]:
    """Draw the config ``ladder`` anew, and compare its rows."""
    redrawn = redraw(
        manifest.of_ladder(), partial(_stored, root, ladder_file), workers=workers, proofs=proofs
    )
    problems = redrawn.problems
    for part in redrawn.frozen:
        name, table = ladder_file(part.task.id), instance_table(part.instances)
        problems += _check_rows(root, name, table, ("id",))
    if manifest.package_version == __version__ and not problems:
        experiment = record.experiment
        ours = [name for name in experiment.measures if name in ladder().tasks]
        shortfalls = experiment.shortfalls
        if not ours or ladder().experiment(tasks=ours).record(shortfalls) != experiment:
            problems.append(f"{MANIFEST}: ladder is not the one that this package draws")
    return FrozenLadder(redrawn.record, redrawn.frozen), problems


def _stored(root: Path, file: Callable[[str], str], task_id: str) -> list[dict[str, Any]]:
    """Return seeds and points of a task's rows, and what the references hold of them."""
    table = read_table((root / file(task_id)).read_bytes())
    references = read_table((root / REFERENCES).read_bytes()).select(["id", "unprinted"])
    unprinted = {row["id"]: row["unprinted"] for row in references.to_pylist() if row["unprinted"]}
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

    Args:
        name: as `scbench.release.load.find_release` takes it.
        on_step: called with the name of each part that is looked at, for progress.
        workers: processes that make tasks anew.
        seed: as `verify_release` takes it.
        on_hashes: as `verify_release` takes it.
        proofs: as `verify_release` takes it.

    Raises:
        HubError: it is to come from the Hub, and cannot.
    """
    try:
        release = find_release(name)
    except ReleaseError as error:
        return (str(error),)
    expected = {MANIFEST, *release.manifest.files, *(OWN_FILES if hub_name(name) else ())}
    foreign = sorted(release.source.names() - expected)
    problems = [f"{one_line(path)}: the manifest does not list this file" for path in foreign]
    with tempfile.TemporaryDirectory(prefix="scbench-verify-") as scratch:
        for path in (MANIFEST, *release.manifest.files):
            record = release.manifest.files.get(path)
            try:
                data = release.source.read(path, record.bytes if record else MOST_MANIFEST_BYTES)
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
    needed = layout(manifest.tasks, manifest.terse, rungs)
    for name in sorted(needed - manifest.files.keys()):
        yield f"{MANIFEST}: does not list {name}, which a release of these tasks has"
    may = set(map(picture_file, manifest.tasks))
    for name in sorted(manifest.files.keys() - needed - may):
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
    root: Path, name: str, expected: pa.Table, key: Sequence[str], unbuilt: Collection[str] = ()
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
) -> Iterator[str]:
    if not frozen or (rungs and not rungs.parts):
        return  # nothing could be made anew, which is said already
    rebuilt = make_manifest(
        manifest.version, frozen, manifest.files, manifest.withdrawn, record, rungs
    )
    for task_id, task_record in rebuilt.tasks.items():
        yield from compare_records(manifest.tasks[task_id], task_record, f"tasks.{task_id}.")
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
            yield f"{MANIFEST}: withdraws {one_line(name)}, which is no instance of this release"
        if ours:
            try:
                texts |= rendered_files(manifest)
            except ReleaseError as error:
                yield str(error)
    for name, text in texts.items():
        try:
            same = not (root / name).is_file() or (root / name).read_bytes() == text.encode()
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
