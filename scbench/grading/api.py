"""Grading files and loading releases from Python, with the defaults of the command."""

from collections.abc import Sequence
from pathlib import Path

from scbench.formats.imports.gather import ImportOptions
from scbench.grading.checkpoint import WORK
from scbench.grading.options import Options, default_folder, import_files, tasks_in
from scbench.grading.run import grade_file as _grade
from scbench.grading.summary import RunReport
from scbench.grading.workers.live import MEMORY
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.limits import processors
from scbench.machine.work_folder import interrupted
from scbench.release.load import Release, find_release


def load_release(name: str | None = None) -> Release:
    """Return a release with its ``instances()`` by id, ``references()`` and ``manifest``.

    Args:
        name: an installed version, a folder, a ``.zip`` archive, or ``ORG/NAME@REVISION`` on the
            Hub; None for the newest installed release.

    Raises:
        ReleaseError: there is no such release, or it is damaged.
        HubError: the release cannot be loaded from the Hub.
    """
    return find_release(name)


def grade_file(
    predictions: str | Path | Sequence[str | Path],
    out: str | Path | None = None,
    *,
    release: Release | str | None = None,
    tasks: Sequence[str] | None = None,
    partial: bool = False,
    workers: int | None = None,
    resume: bool = False,
    restart: bool = False,
) -> RunReport:
    """Grade a predictions file like ``scbench-grade``, and write the results to a folder.

    Args:
        predictions: path of the file: JSON Lines, plain or compressed with gzip or
            Zstandard; or paths of files of other programs that the command accepts.
            Several files are graded together.
        out: folder for ``results.parquet`` and ``summary.json``; by default a folder in
            ``scbench-results/``, named after the path of the file.
        release: release to grade against, or its name, as for `load_release`.
        tasks: ids or buckets; None for the tasks of the release's default config.
        partial: whether the file answers only some items on purpose.
        workers: worker processes; None for one per available processor.
        resume: continue an interrupted run in ``out``.
        restart: discard an interrupted run in ``out``.

    Returns:
        The report: ``tables`` by bucket and by task, ``problems``, ``results`` as a polars frame.

    Raises:
        ScbenchError: the file, the release or the folder cannot be used.
    """
    paths = [predictions] if isinstance(predictions, str | Path) else predictions
    files = [str(path) for path in paths]
    first = files[0] if files else "results"
    folder = Path(out) if out else default_folder(first)
    ours = interrupted(folder / WORK)
    path, imported = import_files(
        files, folder, ImportOptions(), ours=ours, restart=restart
    )
    named_release = release if isinstance(release, Release) else find_release(release)
    graded_release, task_names = named_release.choose(tasks)
    if task_names is None:
        task_names = tasks_in(path, graded_release)
    options = Options(
        predictions=path,
        release=graded_release,
        out=folder,
        limits=WorkerLimits(workers or processors(), None, MEMORY),
        tasks=task_names,
        partial=partial,
        resume=resume,
        restart=restart,
        imported=imported,
    )
    return _grade(options)
