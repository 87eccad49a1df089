"""What to grade, and how."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scbench.base.errors import CatalogError
from scbench.catalog import Task, get_task
from scbench.grading.imported import Imported
from scbench.grading.rows.chunks import Shard
from scbench.grading.run_file import Described
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.release.load import Release


@dataclass(frozen=True, slots=True)
class Options:
    """What to grade, and how.

    Attributes:
        predictions: path of the file, or ``-`` for standard input.
        release: what to grade against.
        out: folder for the results.
        tasks: ids or buckets of the tasks to grade; None for those of the default config.
        partial: whether a file that does not answer every item is meant to be so.
        limits: workers, seconds and memory.
        resume: go on with an interrupted run.
        restart: throw an interrupted run away.
        exclude_withdrawn: leave instances out that the release withdraws.
        shard: grade only one of several equal parts of the lines; None for all.
        cluster: address of a dask scheduler whose workers do the work; None for this machine's.
        described: metadata of runs whose lines have none, see `scbench.grading.run_file`.
        imported: what the predictions were made of, if other files were taken in.
    """

    predictions: str
    release: Release
    out: Path
    limits: WorkerLimits
    tasks: Sequence[str] | None = None
    partial: bool = False
    resume: bool = False
    restart: bool = False
    exclude_withdrawn: bool = False
    shard: Shard | None = None
    cluster: str | None = None
    described: Described = ()
    imported: Imported | None = None


def choose_tasks(release: Release, tasks: Sequence[str] | None) -> list[Task]:
    """Return the tasks to grade, in the release's order.

    Args:
        release: what is graded against.
        tasks: ids of tasks, and buckets that stand for all of theirs; None for those of the
            release's default config, which has no text tasks beside spatial ones.

    Raises:
        CatalogError: a name is not a task or bucket of the release, or this installation cannot
            grade it.
    """
    graded = [get_task(name) for name in release.manifest.named_tasks(tasks)]
    for task in graded:
        if not task.available:
            raise CatalogError(f"this installation has no grader for {task.id}")
    return graded
