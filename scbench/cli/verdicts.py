"""What a run takes in and comes to: tables go to standard output, the rest to standard error."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

import typer

from scbench.base.errors import PredictionsError
from scbench.catalog import Task
from scbench.cli.console import (
    GRADER_ERRORS,
    INTERRUPTED,
    PROBLEMS,
    as_json,
    counted,
    hush,
    plain,
    reported_errors,
    say,
)
from scbench.cli.options import Commands, ScoreForm
from scbench.cli.progress import progress
from scbench.formats.imports.gather import ImportOptions
from scbench.formats.imports.harbor_jobs import is_job
from scbench.grading.checkpoint import WORK
from scbench.grading.options import Imported, take_in
from scbench.grading.output import check_report
from scbench.grading.run import Options, grade_file
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.tables import csv_bytes
from scbench.machine.work_folder import interrupted
from scbench.release.load import Release, find_release

if TYPE_CHECKING:
    from scbench.analysis.layout import Sheet
    from scbench.grading.summary import RunReport

app = Commands()


# Problems spelled out on the terminal.
_MAX_SPELLED = 20
# How many of those that differ in line and id alone.
_ALIKE = 5


REPORT = "report.html"


def taken_in(
    files: list[str],
    folder: Path,
    *,
    quiet: bool,
    read: ImportOptions,
    restart: bool = False,
) -> tuple[str, Imported | None]:
    """Return the path of the predictions that the files make; what they are is said in a line."""
    for file in files:
        if os.path.isdir(file) and not is_job(file):  # noqa: PTH112  (a name may be too long for Path)
            raise PredictionsError(
                f"{file} is a folder; name the file of predictions. Results that a folder holds "
                f"are shown by `scbench tables {file}`"
            )
    path, imported = take_in(
        files, folder, read, ours=interrupted(folder / WORK), restart=restart
    )
    if imported is not None and not quiet:
        say(f"recognised {imported.recognised}")
    return path, imported


def render(
    sheets: "Iterable[Sheet]", style: ScoreForm, remarks: Sequence[str] = ()
) -> str:
    """Return score tables for a terminal or in Markdown, with sentences below each."""
    from scbench.analysis.layout import markdown
    from scbench.analysis.terminal_tables import terminal

    write = markdown if style == "markdown" else terminal
    texts = (write(replace(sheet, notes=[*sheet.notes, *remarks])) for sheet in sheets)
    return "\n\n".join(texts)


def tell_report(
    report: "RunReport", out: Path, style: ScoreForm, *, quiet: bool
) -> None:
    """Print the tables of a run, and what they cannot say.

    Args:
        report: what the run came to.
        out: folder of its results.
        style: of the tables.
        quiet: say nothing that does not bear on the results.
    """
    try:
        _print_tables(report, style)
        if style in {"csv", "json"}:
            for remark in report.remarks:
                say(remark)
        _tell_remarks(report, out, quiet=quiet)
        sys.stdout.flush()
    except BrokenPipeError:  # the exit code still says how the run went
        hush()


def _print_tables(report: "RunReport", style: ScoreForm) -> None:
    if style == "json":
        print(as_json(report.summary))  # noqa: T201
        return
    if not report.tally.rows:
        return
    release = report.summary["release"]["version"]
    tasks = report.summary["options"]["tasks"]
    over = f", only {', '.join(tasks)}" if tasks else ""
    if style == "csv":
        import polars as pl

        print(csv_bytes(pl.concat(report.tables.values(), how="diagonal")).decode())  # noqa: T201
        return
    from scbench.analysis.score_sheets import overview_sheets

    sheets = overview_sheets(
        f"Scores, release {release}{over}", report.tables["bucket"]
    )
    print(render(sheets, style, report.remarks))  # noqa: T201


def _tell_remarks(report: "RunReport", out: Path, *, quiet: bool) -> None:
    """Say on standard error what the tables cannot."""
    summary = report.summary
    _list_problems(report, out)
    for warning in report.warnings[:_MAX_SPELLED]:
        say(f"warning: {warning}")
    if summary["not_in_release"]:
        counts = ", ".join(
            f"{row['task']} ({row['rows']})" for row in summary["not_in_release"]
        )
        release = summary["release"]["version"]
        say(f"not graded, because release {release} does not hold the task: {counts}")
    for status, reason, calls in report.tally.calls[:_MAX_SPELLED]:
        say(f"{counted(calls, 'call')}, {status}: {reason}")
    if len(report.tally.calls) > _MAX_SPELLED:
        say(f"... and {len(report.tally.calls) - _MAX_SPELLED} more errors of calls")
    if report.grader_errors:
        failed = counted(report.grader_errors, "row")
        say(f"{failed} could not be graded (grader_error), no fault of the model:")
        for row in report.tally.failed[:_MAX_SPELLED]:
            times = f" ({row['rows']:,} rows)" if row["rows"] > 1 else ""
            say(f"  line {row['line']}: {row['id']}: {row['reason']}{times}")
    for task, reason, rows in report.tally.not_run:
        say(f"not graded, {counted(rows, 'row')} of {task}: {reason}")
    if quiet:
        return
    for incident in report.incidents[:_MAX_SPELLED]:
        say(f"note: {incident}")
    if report.left_alone:
        count = report.left_alone
        lines = (
            "line of another task or prompt was"
            if count == 1
            else "lines of other tasks or prompts were"
        )
        say(f"{count:,} {lines} not graded (--tasks)")
    if report.resumed:
        many = "line was" if report.resumed == 1 else "lines were"
        say(f"{report.resumed} {many} graded before the interruption")
    withdrawn = summary["withdrawn"]
    if withdrawn["instances"] and not withdrawn["excluded"]:
        count = len(withdrawn["instances"])
        many = "item is" if count == 1 else "items are"
        say(f"{count} withdrawn {many} graded like all others; see --exclude-withdrawn")
    if summary["partial"]:
        say("partial: not for the leaderboard")
    if summary["shard"]:
        say(f"shard {summary['shard']}: join all shards by `scbench merge`")
    say(
        f"{summary['seconds']:.1f} s; results in {out}; by task: scbench tables {out} --by task"
    )


def _list_problems(report: "RunReport", out: Path) -> None:
    count, printed = report.problem_counts.total(), 0
    if count:
        say(f"{counted(count, 'problem')}:")
    alike: Counter[str] = Counter()
    for problem in report.problems:
        kind = problem.message.replace(repr(problem.id), "")
        alike[kind] += 1
        if alike[kind] <= _ALIKE and alike.total() - alike[kind] < _MAX_SPELLED:
            say(f"  {problem}")
            printed += 1
    if count > printed:
        file = "problems.jsonl" if count > len(report.problems) else "summary.json"
        alike_words = (
            f", {alike.most_common(1)[0][1]} of one kind"
            if max(alike.values()) > _ALIKE
            else ""
        )
        say(f"  ... and {count - printed} more{alike_words}: all are in {out}/{file}")


@app.command()
def merge(
    shards: list[Path],
    out: Path,
    release: str | None = None,
    style: ScoreForm = "table",
    quiet: bool = False,
) -> None:
    """Join the results of all shards of a file.

    They are those of one run.

    Shards are made by `scbench-grade FILE --shard I/N --out DIR`, for I from 1 to N, on any
    machines. Results, tables, problems and exit code are those of a run without --shard. Shards
    that lack, or are there twice, or are of different files, releases, versions or options, are
    refused.
    """
    with reported_errors():
        from scbench.grading.merge import merge as merge_runs
        from scbench.grading.merge import read_shards

        runs = read_shards(shards)
        version = runs[0].summary["release"]["version"]
        graded = find_release(release or version).fitting(version)
        report = merge_runs(runs, graded, out)
        tell_report(report, out, style, quiet=quiet)
    raise typer.Exit(report.exit_code)


def _bytes_to_come(predictions: str) -> int | None:
    """Return the bytes to come, if they are known before reading."""
    path = Path(predictions)
    if predictions == "-" or not path.is_file() or path.suffix in {".gz", ".zst"}:
        return None
    return path.stat().st_size


def grade_and_tell(
    options: Options,
    style: ScoreForm,
    *,
    report: bool,
    quiet: bool,
    least: int = 0,
    log: Literal["wandb", "mlflow"] | None = None,
) -> NoReturn:
    """Grade, print the tables, and exit.

    Args:
        options: what and how.
        style: of the tables.
        report: whether to write the HTML report as well.
        quiet: whether nothing is printed but tables and errors.
        least: exit code if grading itself finds nothing amiss.
        log: experiment tracker that gets the results, too.
    """
    if report:
        check_report(options.out / REPORT, options.predictions)
    try:
        with progress(_bytes_to_come(options.predictions), quiet=quiet) as bar:
            graded = grade_file(options, bar.done, bar.waiting)
    except KeyboardInterrupt:
        say(
            f"interrupted; what was graded is kept in {options.out}, continue with --resume"
        )
        raise typer.Exit(INTERRUPTED) from None
    tell_report(graded, options.out, style, quiet=quiet)
    if report:
        _write_html(options, graded, quiet=quiet)
    if log is not None:
        _log_results(log, options, graded, quiet=quiet)
    raise typer.Exit(graded.exit_code or least)


def _log_results(
    tracker: Literal["wandb", "mlflow"],
    options: Options,
    graded: "RunReport",
    *,
    quiet: bool,
) -> None:
    from scbench.integrations.trackers import log_results

    config = {
        "release": options.release.version,
        "hash": options.release.manifest.rows_hash,
    }
    names = ("summary.json", "results.parquet", REPORT)
    with reported_errors(tracker):
        log_results(
            tracker, graded.tables, config, [options.out / name for name in names]
        )
    if not quiet:
        say(f"logged by {tracker}")


def _write_html(options: Options, graded: "RunReport", *, quiet: bool) -> None:
    """Write the HTML report beside the results, which are safe already."""
    from scbench.cli.looking import make_report  # brings all pictures

    if graded.tables["task"].is_empty():
        say("no report: no row is of this release")
        return
    workers = options.limits.workers
    out = options.out / REPORT
    make_report(
        [options.out], out, release=options.release, workers=workers, quiet=quiet
    )


def check_and_tell(
    predictions: str,
    release: Release,
    tasks: Sequence[Task],
    style: ScoreForm,
    *,
    partial: bool,
    exclude_withdrawn: bool,
    imported: Imported | None,
) -> NoReturn:
    """Say what is wrong with a predictions file, and exit; for arguments see `check_file`."""
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
        for word, problems in (
            ("problem", checked.problems),
            ("warning", checked.warnings),
        ):
            for problem in problems:
                place = (
                    f"{problem.file}: "
                    if problem.file
                    else f"{predictions}: " * (imported is None)
                )
                bare = replace(problem, file=None)
                print(plain(f"{place}{word}: {bare}"))  # noqa: T201
        print(  # noqa: T201
            f"{counted(checked.lines, 'line')}, {checked.usable} to grade, "
            f"{counted(len(checked.problems), 'problem')}, "
            f"{counted(len(checked.warnings), 'warning')}"
        )
    raise typer.Exit(PROBLEMS if checked.problems else 0)


def tell_self_test(
    release: Release,
    tasks: Sequence[Task],
    limits: WorkerLimits,
    style: ScoreForm,
    *,
    quiet: bool,
) -> None:
    """Grade the references and counter-references of a release, say what came of it, and exit."""
    from scbench.grading.check import self_test
    from scbench.grading.summary import remarks

    with progress(None, quiet=quiet) as bar:
        outcome = self_test(release, tasks, limits, bar.done, bar.waiting)
    if style == "json":
        counts = {
            "right": dict(outcome.right),
            "below": dict(outcome.below),
            "not_run": outcome.not_run,
        }
        print(as_json({**counts, "failures": outcome.failures}))  # noqa: T201
    else:
        for task in tasks:
            print(  # noqa: T201
                f"{task.id}: {outcome.right[task.id]} references score 1.0, "
                f"{outcome.below[task.id]} counter-references score below 1.0"
            )
    machine = {task.id: [name] for task in tasks if (name := task.fingerprint())}
    for remark in remarks(release, tasks, fingerprints=machine):
        say(remark)
    for task_id, reason in outcome.not_run.items():
        say(f"not run: {task_id}: {reason}")
    for failure in outcome.failures:
        say(f"FAILED {failure}")
    if not quiet:
        total = outcome.right.total() + outcome.below.total() + len(outcome.failures)
        word = (
            f"FAILED: {len(outcome.failures)} of" if outcome.failures else "passed: all"
        )
        say(f"self-test of release {release.version} {word} {total} answers")
    raise typer.Exit(GRADER_ERRORS if outcome.failures else 0)
