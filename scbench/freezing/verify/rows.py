"""Verification of rows: instances with their prompts, and references with their scores."""

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from scbench.base.model import task_of
from scbench.catalog import Task
from scbench.freezing.compare import compare_rows, compare_tables, error_line
from scbench.freezing.frozen_task import FrozenTask, fixed_list
from scbench.freezing.tables import instance_table, read_table, reference_table
from scbench.release.load import Reference
from scbench.release.manifest import REFERENCES, Manifest, data_file, terse_file


def check_part(
    root: Path, part: FrozenTask, file: Callable[[str], str] = data_file
) -> Iterator[str]:
    """Compare the rows of a task with the files; ``file`` returns the path of a task's rows."""
    task_id = part.task.id
    if part.instances:
        yield from check_rows(
            root, file(task_id), instance_table(part.instances), ("id",)
        )
    if part.terse:
        yield from check_rows(
            root, terse_file(task_id), instance_table(part.terse), ("id",)
        )


def check_listed(root: Path, task: Task) -> Iterator[str]:
    """Compare only the rows of a task whose references cannot be generated or graded here."""
    try:
        part = fixed_list(task)
    except Exception:  # noqa: BLE001  (reported with the references)
        return
    yield from check_part(root, part)


def check_references(
    root: Path,
    manifest: Manifest,
    frozen: Sequence[FrozenTask],
    rung_parts: Sequence[FrozenTask],
) -> Iterator[str]:
    """Compare the references of a release with rebuilt ones.

    Args:
        root: folder of the release.
        manifest: its manifest.
        frozen: tasks of the release that could be built again.
        rung_parts: the tasks of its ladder that could be built again.
    """
    references: list[Reference] = []
    for part in (*frozen, *rung_parts):
        references += part.references
    unbuilt = manifest.tasks.keys() - {part.task.id for part in frozen}
    if manifest.ladder:
        ladder_tasks = manifest.ladder.experiment.measures.keys()
        unbuilt |= ladder_tasks - {part.task.id for part in rung_parts}
    table = reference_table(references)
    yield from check_rows(root, REFERENCES, table, ("id", "name"), unbuilt)


def check_rows(
    root: Path,
    name: str,
    expected: pa.Table,
    key: Sequence[str],
    unbuilt: Collection[str] = (),
) -> Iterator[str]:
    """Compare a file's rows with rebuilt ones.

    Args:
        root: folder of the release.
        name: path of the file in it.
        expected: the rebuilt rows.
        key: columns that identify a row.
        unbuilt: tasks that cannot be built, whose rows are not compared.
    """
    path = root / name
    if not path.is_file():
        return  # reported with the files
    try:
        stored = read_table(path.read_bytes())
        # Damaged offsets could crash the conversion.
        stored.validate(full=True)
        rows = stored.to_pylist()
    except Exception as error:  # noqa: BLE001  (damaged bytes fail in many ways)
        yield f"{name}: cannot be read: {error_line(error)}"
        return
    for problem in compare_tables(stored, expected):
        yield f"{name}: {problem}"
    # Rows with other columns cannot be compared.
    if stored.schema.equals(expected.schema):
        built_rows = [row for row in rows if task_of(row["id"]) not in unbuilt]
        for difference in compare_rows(built_rows, expected.to_pylist(), key):
            yield f"{name}: {difference}"
