"""``scbench-grade``: grade a predictions file, offline."""

from functools import partial as bound  # `partial` is an option of the command
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from scbench.base.errors import PredictionsError
from scbench.cli.console import is_whole_number, misused, names_in, reported_errors
from scbench.cli.options import (
    ColumnMapOption,
    QuietOption,
    ReplyModelOption,
    ReplySettingOption,
    ScoreFormOption,
    TerrainPythonOption,
    Tracker,
    VersionOption,
    WorkersOption,
)
from scbench.cli.start import start
from scbench.grading.workers import IMPORTS
from scbench.machine.memory_limits import check_memory
from scbench.machine.physics import use_python
from scbench.machine.processes import processors
from scbench.machine.start_methods import start_server

if TYPE_CHECKING:
    from scbench.grading.rows.chunks import Shard

EPILOG = """\
Exit codes: 0 graded, 1 problems in the input (the rest is graded all the same), 2 wrong usage,
3 a grader failed on some row, 4 the run failed (disk full, out of memory, a fault of scbench),
130 interrupted (129 and 143: by SIGHUP and SIGTERM). After 4 and up, continue with --resume.
"""

app = typer.Typer(
    rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False
)


@app.command(epilog=EPILOG)
def grade(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            show_default=False,
            help=(
                "Predictions (JSON Lines, plain, .gz or .zst; - reads standard "
                "input); or what a batch, vLLM, Inspect, lm-evaluation-harness, "
                "lighteval or verifiers wrote, or a table. Several make one run."
            ),
        ),
    ] = None,
    mapped: ColumnMapOption = None,
    model: ReplyModelOption = None,
    setting: ReplySettingOption = None,
    release: Annotated[
        str | None,
        typer.Option(
            help=(
                "Installed version, folder, .zip, or ORG/NAME@REVISION on the Hub. "
                "[default: newest installed]"
            )
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Folder for results.parquet and summary.json. [default: in "
                "scbench-results, by the file's path]"
            )
        ),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(
            help=(
                "Grade only these tasks or buckets, separated by commas; ladder and "
                "terse stand for answers to the prompts of that config."
            )
        ),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial",
            help="The file is not meant to answer every item (not for leaderboards).",
        ),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Only validate: print every problem, grade nothing."
        ),
    ] = False,
    self_test: Annotated[
        bool,
        typer.Option(
            "--self-test",
            help=(
                "Grade the release's references (must be 1.0) and "
                "counter-references (below 1.0)."
            ),
        ),
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the interrupted run in --out.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Throw the interrupted run in --out away.")
    ] = False,
    workers: WorkersOption = 0,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            show_default=False,
            help=(
                "Seconds an item may take before its worker is killed. [default: "
                "120; more for tasks that simulate]"
            ),
        ),
    ] = None,
    memory: Annotated[
        float,
        typer.Option(min=0, help="GiB of address space per worker; 0 for no limit."),
    ] = 4.0,
    allow_code: Annotated[
        bool,
        typer.Option(
            "--allow-code",
            help=(
                "Run Python programs among the answers in a sandbox (no network, no "
                "files). Without it such rows are not_run."
            ),
        ),
    ] = False,
    terrain_python: TerrainPythonOption = None,
    exclude_withdrawn: Annotated[
        bool,
        typer.Option(
            "--exclude-withdrawn",
            help="Leave out what the release lists as withdrawn because it is wrong.",
        ),
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            show_default=False,
            help=(
                "Grade only lines I, I+N, I+2N and so on; `scbench merge` puts all "
                "N together."
            ),
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="tcp://HOST:PORT",
            show_default=False,
            help=(
                "Let the workers of this dask scheduler grade. They need scbench in "
                "this version."
            ),
        ),
    ] = None,
    run_file: Annotated[
        Path | None,
        typer.Option(
            "--run",
            metavar="FILE",
            show_default=False,
            help='JSON file that says how the runs were made, for lines without "run".',
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help=(
                "Also write report.html into --out: every item with its picture and "
                "checks."
            ),
        ),
    ] = False,
    log: Annotated[
        Tracker | None,
        typer.Option(
            "--log",
            help=(
                "Also log tables, scores and files by this tracker, as it is "
                "configured."
            ),
        ),
    ] = None,
    style: ScoreFormOption = "table",
    quiet: QuietOption = False,
    version: VersionOption = False,
) -> None:
    """Grade a predictions file.

    No network, no model, nothing executed.

    Each line is a JSON object: "id" (such as "two_segments/07"), and "answer" (the object that the
    item's answer_schema describes) or "response" (the model's text); optional are "model",
    "setting" (no_tools, tools), "sample", "budget", "usage", "finish_reason", "status", "error",
    "run" (how it was made), "prompt_sha256" and "reasoning". Settings retry, probe and act hold
    "loop" and "turns" instead, which are played again (docs/environments.md).

    Rows without an answer are not zeros: they lower the coverage, which stands beside every mean.
    """
    # Exactly one of the two. `misused` exits.
    if bool(files) == self_test:
        misused("name a predictions file, or use --self-test (see --help)")
    if check or self_test:
        grading_options = {
            "report": report,
            "shard": shard,
            "cluster": cluster,
            "log": log,
        }
        for name, value in grading_options.items():
            if value:
                misused(f"--{name} goes with grading, not with --check or --self-test")
    # Before grading, which can take long: is a library that the report or the log needs missing?
    with reported_errors("report" if report else log, required=True):
        check_memory()
        use_python(terrain_python)
        if not check and cluster is None:
            # The server that forks workers imports their modules while this process reads the
            # release. A check and a cluster need no workers here.
            start_server(*IMPORTS)
        # Imported after the server was started, as they are slow to import.
        from scbench.cli import verdicts
        from scbench.formats.imports.gather import ImportOptions
        from scbench.grading.options import Options, choose_tasks, tasks_in
        from scbench.grading.run_file import read_run_file
        from scbench.grading.workers.scheduler import WorkerLimits
        from scbench.release.load import find_release

        graded_release, task_names = find_release(release).choose(names_in(tasks))
        # Grading chooses them again; here, unknown names are refused before any file is read.
        selection = choose_tasks(graded_release, task_names)
        limits = WorkerLimits(
            workers or processors(), timeout, int(memory * 2**30), allow_code
        )
        # Each function of `verdicts` that is called below prints its result and exits, except
        # `taken_in`.
        if not files:
            verdicts.tell_self_test(
                graded_release, selection, limits, style, quiet=quiet
            )
        # Returns the path of one predictions file, made in the folder if the files have another
        # format, and where its lines come from.
        read_inputs = bound(
            verdicts.taken_in,
            files,
            quiet=quiet,
            read=ImportOptions.of(mapped, model, setting),
            restart=restart,
        )
        if check:
            with TemporaryDirectory() as temporary:
                path, imported = read_inputs(folder=Path(temporary))
                # Without --tasks, the tasks that the file answers are checked.
                if task_names is None:
                    selection = choose_tasks(
                        graded_release, tasks_in(path, graded_release)
                    )
                verdicts.check_and_tell(
                    path,
                    graded_release,
                    selection,
                    style,
                    # With --tasks, a check does not report missing items; grading does.
                    partial=partial or bool(task_names),
                    exclude_withdrawn=exclude_withdrawn,
                    imported=imported,
                )
        folder = out or results_folder(files[0], shard)
        path, imported = read_inputs(folder=folder)
        if task_names is None:
            task_names = tasks_in(path, graded_release)
        run_descriptions = () if run_file is None else read_run_file(run_file)
        options = Options(
            predictions=path,
            release=graded_release,
            out=folder,
            limits=limits,
            tasks=task_names,
            partial=partial,
            resume=resume,
            restart=restart,
            exclude_withdrawn=exclude_withdrawn,
            shard=shard_in(shard, imported=imported is not None),
            cluster=cluster,
            described=run_descriptions,
            imported=imported,
        )
        verdicts.grade_and_tell(options, style, report=report, quiet=quiet, log=log)


def results_folder(file: str, shard: str | None) -> Path:
    """Return the folder for the results of a file, or of a shard of it, without --out."""
    from scbench.grading.options import default_folder

    ending = "" if shard is None else f"-{shard.replace('/', '-of-')}"
    return default_folder(file, ending)


def shard_in(text: str | None, *, imported: bool) -> "Shard | None":
    """Parse --shard; None without it.

    Args:
        text: I/N.
        imported: whether the predictions were converted from another format.

    Raises:
        PredictionsError: it is no shard, or the predictions were converted: shards of these are
            not supported.
    """
    from scbench.grading.rows.chunks import Shard

    if text is None:
        return None
    if imported:
        raise PredictionsError(
            "--shard needs one file of predictions: `scbench import FILE... > predictions.jsonl` "
            "makes it"
        )
    number, _, total = text.partition("/")
    shard = None
    if is_whole_number(number) and is_whole_number(total):
        shard = Shard(int(number), int(total))
    if shard is None or not 1 <= shard.number <= shard.total:
        raise PredictionsError(
            f"--shard takes I/N with I from 1 to N, such as 2/8, not {text!r}"
        )
    return shard


def run() -> None:
    """Entry point of ``scbench-grade``."""
    start(app, "scbench-grade")
