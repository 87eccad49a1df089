"""Verification of the texts of a release: manifest (with its floors), schemas and card."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from scbench.base import __version__
from scbench.base.errors import ReleaseError
from scbench.freezing.compare import compare_records, one_line
from scbench.freezing.freeze import rendered_files
from scbench.freezing.frozen_manifest import FrozenLadder, make_manifest
from scbench.freezing.frozen_task import FrozenTask
from scbench.freezing.schemas import file_schemas, task_schemas
from scbench.release.manifest import MANIFEST, ExperimentRecord, Manifest


def check_texts(
    root: Path,
    manifest: Manifest,
    frozen: list[FrozenTask],
    experiment: ExperimentRecord | None,
    ladder: FrozenLadder | None,
    pictured: Sequence[FrozenTask],
) -> Iterator[str]:
    """Compare the texts of a release with rebuilt texts; for the arguments see `make_manifest`."""
    if not frozen or (ladder and not ladder.parts):
        return  # nothing could be rebuilt, which is reported already
    rebuilt = make_manifest(
        manifest.version,
        frozen,
        manifest.files,
        manifest.withdrawn,
        experiment,
        ladder,
        pictured,
    )
    # These fields need only their own task; the rest of the manifest needs all tasks.
    for task_id, task_record in rebuilt.tasks.items():
        yield from compare_records(
            manifest.tasks[task_id], task_record, f"tasks.{task_id}."
        )
    texts = task_schemas([part.task for part in frozen])
    # Other versions of the package may have other texts; their hashes still match.
    is_ours = manifest.package_version == __version__
    if is_ours:
        texts |= file_schemas()
    parts = list(frozen)
    missing = len(manifest.tasks) - len(frozen)
    if ladder:
        parts += ladder.parts
        missing += len(ladder.record.measures) - len(ladder.parts)
    if not missing:
        yield from compare_records(manifest, rebuilt)
        ids = {instance.id for part in parts for instance in part.instances}
        for name in sorted(manifest.withdrawn.keys() - ids):
            yield f"{MANIFEST}: withdraws {one_line(name)}, which is not an item of this release"
        if is_ours:
            try:
                texts |= rendered_files(manifest)
            except ReleaseError as error:
                yield str(error)
    for name, text in texts.items():
        path = root / name
        try:
            # Missing and unreadable files are reported with the files.
            if not path.is_file() or path.read_bytes() == text.encode():
                continue
        except OSError:
            continue
        yield f"{name}: differs from the newly written file"
