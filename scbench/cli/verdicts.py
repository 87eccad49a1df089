"""Grading, checks and self-tests, from files to printed results and an exit code."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from scbench.base.errors import PredictionsError, TrackerError
from scbench.base.wording import counted
from scbench.catalog import Task
from scbench.cli.console import (
    GRADER_ERRORS,
    INTERRUPTED,
    PROBLEMS,
    as_json,
    plain,
    reported_errors,
    say,
)
from scbench.cli.options import ScoreForm, Tracker
from scbench.cli.progress import progress
from scbench.cli.run_report import MAX_OF_ONE_KIND, kind_of, print_report
from scbench.formats.imports.gather import ImportOptions
from scbench.formats.imports.harbor_jobs import is_job
from scbench.grading.checkpoint import WORK
from scbench.grading.expected_work import work_to_come
from scbench.grading.options import Imported, Options, choose_tasks, import_files
from scbench.grading.output import check_report
from scbench.grading.run import grade_file
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.work_folder import interrupted
from scbench.release.load import Release

if TYPE_CHECKING:
    from scbench.formats.predictions import Problem
    from scbench.grading.summary import RunReport

# The HTML report, in the folder of the results.
REPORT = "report.html"


def import_and_report(
    files: list[str],
    folder: Path,
    *,
    quiet: bool,
    read: ImportOptions,
    restart: bool = False,
) -> tuple[str, Imported | None]:
    """Return the path of the predictions in files, and their origin; print their format.

    Args:
        files: predictions, or files from other programs.
        folder: folder of the results; converted predictions are written there.
        quiet: do not print the format.
        read: how files from other programs are read.
        restart: convert the files again.

    Raises:
        PredictionsError: one of the files is a folder, or cannot be read.
    """
    for file in files:
        # A name may be too long for Path.
        if os.path.isdir(file) and not is_job(file):  # noqa: PTH112
            raise PredictionsError(
                f"{file} is a folder; give a predictions file. To show results in the folder: "
                f"scbench tables {file}"
            )
    path, imported = import_files(
        files, folder, read, ours=interrupted(folder / WORK), restart=restart
    )
    if imported is not None and not quiet:
        say(f"recognised {imported.recognised}")
    return path, imported


def grade_and_print(
    options: Options,
    style: ScoreForm,
    *,
    report: bool,
    quiet: bool,
    least: int = 0,
    log: Tracker | None = None,
) -> NoReturn:
    """Grade, print the tables, and exit.

    Args:
        options: options of the run.
        style: style of the tables.
        report: whether to write the HTML report as well.
        quiet: whether to print only tables and errors.
        least: exit code if grading itself succeeds.
        log: experiment tracker that also receives the results.
    """
    if report:
        check_report(options.out / REPORT, options.predictions)
    if log is not None:
        check_log(log)
    try:
        tasks = choose_tasks(options.release, options.tasks)
        shards = options.shard.total if options.shard else 1
        work = work_to_come(options.predictions, tasks, shards)
        with progress(work, quiet=quiet) as bar:
            graded = grade_file(options, bar.done, bar.waiting)
    except KeyboardInterrupt:
        if options.has_resume:
            say(
                f"interrupted; results so far are in {options.out}; continue with --resume"
            )
        else:
            say("interrupted; run the same command again")
        raise typer.Exit(INTERRUPTED) from None
    print_report(graded, options.out, style, quiet=quiet)
    # The results are on disk by now, whatever fails below.
    if report:
        write_html(options, graded, quiet=quiet)
    if log is not None:
        log_run(log, options, graded, quiet=quiet)
    raise typer.Exit(graded.exit_code or least)


def write_html(options: Options, graded: "RunReport", *, quiet: bool) -> None:
    """Write the HTML report next to the results."""
    # Imported late, because this module imports all pictures.
    from scbench.cli.looking import make_report

    if graded.tables["task"].is_empty():
        say("no report was written: no row belongs to this release")
        return
    make_report(
        [options.out],
        options.out / REPORT,
        release=options.release,
        workers=options.limits.workers,
        quiet=quiet,
    )


def check_log(tracker: Tracker) -> None:
    """Exit before anything is graded if a tracker cannot receive the results."""
    from scbench.integrations.trackers import check_tracker

    with reported_errors(tracker):
        check_tracker(tracker)


def log_run(
    tracker: Tracker, options: Options, graded: "RunReport", *, quiet: bool
) -> None:
    """Send tables and files of a run to an experiment tracker."""
    from scbench.integrations.trackers import log_results

    config = {
        "release": options.release.version,
        "hash": options.release.manifest.rows_hash,
    }
    names = ("summary.json", "results.parquet", REPORT)
    files = [options.out / name for name in names]
    try:
        log_results(tracker, graded.tables, config, files)
    except TrackerError as error:
        say(
            f"not logged to {tracker}: {error}; the results in {options.out} are complete"
        )
        return
    if not quiet:
        say(f"logged to {tracker}")


def check_and_print(
    predictions: str,
    release: Release,
    tasks: Sequence[Task],
    style: ScoreForm,
    *,
    partial: bool,
    exclude_withdrawn: bool,
    imported: Imported | None,
) -> NoReturn:
    """Print all problems in a predictions file, and exit; see `check_file` for the arguments."""
    from scbench.grading.check import check_file

    checked = check_file(
        predictions,
        release,
        tasks,
        partial=partial,
        exclude_withdrawn=exclude_withdrawn,
        imported=imported,
    )
    if style == "json":
        print(as_json(checked.fields()))  # noqa: T201
    else:
        # Problems in imported files already name the file.
        default_place = f"{predictions}: " if imported is None else ""
        print_alike("problem", checked.problems, default_place)
        print_alike("warning", checked.warnings, default_place)
        print(  # noqa: T201
            f"{counted(checked.lines, 'line')}, {checked.usable:,} to grade, "
            f"{counted(len(checked.problems), 'problem')}, "
            f"{counted(len(checked.warnings), 'warning')}"
        )
    raise typer.Exit(PROBLEMS if checked.problems else 0)


def print_alike(word: str, problems: Sequence["Problem"], default_place: str) -> None:
    """Print problems or warnings: the first of each kind, and the number of further ones.

    Args:
        word: "problem" or "warning".
        problems: problems to print.
        default_place: beginning of a line about a problem that names no file.
    """
    kinds: Counter[str] = Counter()
    for problem in problems:
        kind = kind_of(problem)
        kinds[kind] += 1
        if kinds[kind] <= MAX_OF_ONE_KIND:
            place = f"{problem.file}: " if problem.file else default_place
            bare = replace(problem, file=None)
            print(plain(f"{place}{word}: {bare}"))  # noqa: T201
    omitted = kinds.total() - sum(min(n, MAX_OF_ONE_KIND) for n in kinds.values())
    if omitted:
        more = counted(omitted, f"more {word}", f"more {word}s")
        print(f"... and {more} like these; --format json lists them all")  # noqa: T201


def run_self_test(
    release: Release,
    tasks: Sequence[Task],
    limits: WorkerLimits,
    style: ScoreForm,
    *,
    quiet: bool,
) -> NoReturn:
    """Grade the references and counter-references of a release, print the outcome, and exit."""
    from scbench.grading.check import self_test
    from scbench.grading.summary import remarks

    with progress(None, quiet=quiet) as bar:
        outcome = self_test(release, tasks, limits, bar.done, bar.waiting)
    if style == "json":
        record = {
            "right": dict(outcome.right),
            "below": dict(outcome.below),
            "not_run": outcome.not_run,
            "failures": outcome.failures,
        }
        print(as_json(record))  # noqa: T201
    else:
        for task in tasks:
            references = counted(outcome.right[task.id], "reference")
            counters = counted(outcome.below[task.id], "counter-reference")
            print(  # noqa: T201
                f"{task.id}: {references} with score 1.0, {counters} with scores below 1.0"
            )
    fingerprints = {}
    for task in tasks:
        fingerprint = task.fingerprint()
        if fingerprint:
            fingerprints[task.id] = [fingerprint]
    for remark in remarks(release, tasks, fingerprints=fingerprints):
        say(remark)
    for task_id, reason in outcome.not_run.items():
        say(f"not run: {task_id}: {reason}")
    for failure in outcome.failures:
        say(f"FAILED: {failure}")
    failures = len(outcome.failures)
    if not quiet:
        total = outcome.right.total() + outcome.below.total() + failures
        result = f"FAILED: {failures:,} of {total:,} answers have wrong scores"
        if not failures:
            result = f"passed: all {total:,} answers have the right scores"
        say(f"self-test of release {release.version} {result}")
    raise typer.Exit(GRADER_ERRORS if failures else 0)
