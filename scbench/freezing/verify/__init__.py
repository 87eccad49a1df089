"""Verifying a release: recompute everything and report every mismatch.

There are two kinds of checks. From the files: hashes, sizes, missing and foreign files,
column schemas, row hashes. From the builders: every row, prompt, schema, card and
reference is regenerated and compared; every reference must score 1.0 and every
counter-reference less.

Nothing in the folder is trusted, including the manifest: rebuilding reveals an edited
row even if all hashes were changed to match.

With the base seed, all drawn instances can be regenerated from the experiment. Without
it (a private seed), rows are regenerated, each from its own point and seed; but
nothing proves that they are the first cases of their points.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from scbench.base.errors import ReleaseError, did_you_mean
from scbench.base.progress import no_progress
from scbench.catalog import Task, all_tasks, available_tasks
from scbench.freezing.compare import error_line, one_line
from scbench.freezing.frozen_manifest import FrozenLadder
from scbench.freezing.frozen_task import FrozenTask, freeze_tasks
from scbench.freezing.prompt_pictures import picture_parts
from scbench.freezing.verify.drawn import check_experiment, check_own_ladder
from scbench.freezing.verify.files import check_files, check_manifest, oversized_files
from scbench.freezing.verify.gallery import check_gallery
from scbench.freezing.verify.redraw import redraw
from scbench.freezing.verify.rows import check_listed, check_part, check_references
from scbench.freezing.verify.texts import check_texts
from scbench.machine.signals import watched
from scbench.release.load import find_release
from scbench.release.manifest import (
    MANIFEST,
    MOST_MANIFEST_BYTES,
    LadderRecord,
    Manifest,
    ladder_file,
    pictures_file,
)
from scbench.release.sources import OWN_FILES, hub_name, read_manifest


def verify_release(
    root: Path,
    on_step: Callable[[str], object] = no_progress,
    *,
    workers: int = 1,
    seed: int | None = None,
    on_hashes: Callable[[Sequence[str]], object] = no_progress,
    proofs: Path | None = None,
) -> tuple[str, ...]:
    """Return a message for every mismatch, naming the file or row; none if the release is valid.

    Args:
        root: folder of the release.
        on_step: called with the name of each step, and with the id of each task that is built.
        workers: number of processes; with 1, this process does the work.
        seed: private seed of the drawn instances; without it, each is regenerated from its own
            seed.
        on_hashes: called within seconds, with the problems found before anything is regenerated,
            which takes minutes. They are also the first of the returned problems.
        proofs: see `scbench.freezing.proofs`; without them everything is graded from scratch.
    """
    # Verification catches whatever a damaged row or a builder raises, which could hide Ctrl-C. So
    # an interruption is recorded, and raised again at the next step.
    with watched() as interrupts:

        def check_and_report(name: str) -> None:
            interrupts.check()
            on_step(name)

        problems = _all_problems(
            root, check_and_report, workers, seed, on_hashes, proofs
        )
        interrupts.check()
    return problems


def _all_problems(
    root: Path,
    on_step: Callable[[str], object],
    workers: int,
    seed: int | None,
    on_hashes: Callable[[Sequence[str]], object],
    proofs: Path | None,
) -> tuple[str, ...]:
    """Return the problems of a release; for the arguments see `verify_release`."""
    try:
        manifest = read_manifest(root, check_digest=False)
    except ReleaseError as error:
        return (str(error),)
    on_step("files")
    problems = [*check_manifest(root, manifest), *check_files(root, manifest)]
    oversized = oversized_files(root, manifest)
    problems += (f"{name}: is too large for a release file" for name in oversized)
    on_hashes(tuple(problems))
    if oversized:  # reading them could take all memory
        return tuple(problems)
    problems += unknown_task_problems(manifest)
    frozen, listed_problems = check_listed_tasks(
        root, manifest, on_step, workers, proofs
    )
    problems += listed_problems
    record = manifest.experiment
    if record is not None:
        on_step("drawn items")
        redrawn = redraw(root, manifest, seed, workers, proofs)
        problems += redrawn.problems
        problems += check_experiment(manifest, record)
        # From here on, the expected record.
        record = redrawn.record
        for part in redrawn.frozen:
            problems += check_part(root, part)
        frozen += redrawn.frozen
        # References list tasks in the order of the manifest.
        order = list(manifest.tasks)
        frozen.sort(key=lambda part: order.index(part.task.id))
    elif seed is not None:
        problems.append(
            f"{MANIFEST}: nothing in this release was generated, so leave out --seed"
        )
    ladder = None
    if manifest.ladder is not None:
        on_step("ladder")
        ladder, ladder_problems = check_ladder_rows(
            root, manifest, manifest.ladder, workers, proofs
        )
        problems += ladder_problems
    on_step("references")
    rung_parts = ladder.parts if ladder else []
    pictured = picture_parts(frozen, rung_parts, workers, proofs)
    for part in pictured:
        problems += check_part(root, part, pictures_file)
    problems += check_references(root, manifest, frozen, rung_parts)
    on_step("manifest, schemas and card")
    problems += check_texts(root, manifest, frozen, record, ladder, pictured)
    on_step("pictures")
    problems += check_gallery(root, manifest, frozen, workers)
    return tuple(problems)


def unknown_task_problems(manifest: Manifest) -> Iterator[str]:
    """Yield a problem for each task of a release that this installation does not have."""
    available = {task.id for task in available_tasks()}
    for name in sorted(manifest.tasks):
        if name not in available:
            hint = did_you_mean(name, all_tasks())
            yield f"task {one_line(name)}: this installation has no such task.{hint}"


def check_listed_tasks(
    root: Path,
    manifest: Manifest,
    on_step: Callable[[str], object],
    workers: int,
    proofs: Path | None,
) -> tuple[list[FrozenTask], list[str]]:
    """Build the tasks with fixed lists again; return them, and the problems of their rows."""
    available = {task.id: task for task in available_tasks()}
    record = manifest.experiment
    drawn_tasks = record.task_ids if record else []
    listed_names = [name for name in manifest.tasks if name not in drawn_tasks]
    listed_tasks = [available[name] for name in listed_names if name in available]

    def report_task(task: Task) -> None:
        on_step(task.id)

    frozen: list[FrozenTask] = []
    problems: list[str] = []
    for task, part in freeze_tasks(listed_tasks, workers, report_task, proofs):
        if isinstance(part, Exception):
            problems.append(
                f"task {task.id}: cannot be built again: {error_line(part)}"
            )
            # Rows can be checked without the references, which could not be built.
            problems += check_listed(root, task)
        else:
            frozen.append(part)
            problems += check_part(root, part)
    return frozen, problems


def check_ladder_rows(
    root: Path,
    manifest: Manifest,
    record: LadderRecord,
    workers: int,
    proofs: Path | None,
) -> tuple[FrozenLadder, list[str]]:
    """Draw the ladder of a release again; return it, and the problems of its rows."""
    redrawn = redraw(root, manifest.of_ladder(), None, workers, proofs)
    problems = redrawn.problems
    for part in redrawn.frozen:
        problems += check_part(root, part, ladder_file)
    # If rows differ, the ladder's record differs, too; that is reported once.
    if not problems:
        problems += check_own_ladder(manifest, record)
    return FrozenLadder(redrawn.record, redrawn.frozen), problems


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
        HubError: the release cannot be loaded from the Hub.
    """
    try:
        release = find_release(name)
    except ReleaseError as error:
        return (str(error),)
    manifest = release.manifest
    expected = {MANIFEST, *manifest.files}
    if hub_name(name):
        expected |= OWN_FILES
    foreign = sorted(release.source.names() - expected)
    problems = [
        f"{one_line(path)}: the manifest does not list this file" for path in foreign
    ]
    sizes = {MANIFEST: MOST_MANIFEST_BYTES}
    for path, record in manifest.files.items():
        sizes[path] = record.bytes
    with tempfile.TemporaryDirectory(prefix="scbench-verify-") as scratch:
        for path, size in sizes.items():
            try:
                data = release.source.read(path, size)
            except FileNotFoundError:
                continue  # `verify_release` reports it
            except (OSError, ReleaseError) as error:
                problems.append(f"{path}: cannot be read: {error_line(error)}")
                continue
            copy = Path(scratch, path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)

        def report_hashes(faults: Sequence[str]) -> None:
            on_hashes((*problems, *faults))

        later_problems = verify_release(
            Path(scratch),
            on_step,
            workers=workers,
            seed=seed,
            on_hashes=report_hashes,
            proofs=proofs,
        )
    return (*problems, *later_problems)
