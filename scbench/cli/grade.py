"""``scbench-grade``: grade a predictions file, offline."""

from functools import partial as bound  # `partial` is an option of the command
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from scbench.base.errors import PredictionsError
from scbench.cli.console import is_whole_number, misused, names_in, reported_errors
from scbench.cli.options import (
    HELP_OPTIONS,
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
from scbench.machine.limits import check_memory, processors
from scbench.machine.physics import use_python
from scbench.machine.start_methods import start_server

if TYPE_CHECKING:
    from scbench.grading.rows.chunks import Shard

EPILOG = """\
Exit codes: 0 graded, 1 problems in the input (all other lines were graded), 2 wrong usage,
3 a grader failed on some row, 4 the run failed (disk full, out of memory, a bug in scbench),
130 interrupted (129 by SIGHUP, 143 by SIGTERM). After exit code 4 or higher, continue with
--resume.
"""

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog=EPILOG, context_settings=HELP_OPTIONS)
def grade(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help=(
                "Predictions as JSON Lines (plain, .gz or .zst; - reads standard input); output "
                "of a batch API, vLLM, Inspect, lm-evaluation-harness, lighteval or verifiers; "
                "or a table. Several files are graded as one run."
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
                "Release to grade against: an installed version, a folder, a .zip file, or "
                "ORG/NAME@REVISION on the Hub. [default: newest installed]"
            )
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Folder for results.parquet and summary.json. [default: a folder in "
                "scbench-results, named after the file]"
            )
        ),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(
            help=(
                "Grade only these tasks or buckets, separated by commas. The names terse, "
                "pictures, ladder and manifolds select answers to the items of that config."
            )
        ),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial",
            help=(
                "Accept a file that answers only some items: do not report the others as missing. "
                "Leaderboards do not accept partial runs."
            ),
        ),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Validate only: print the problems and grade nothing."
        ),
    ] = False,
    self_test: Annotated[
        bool,
        typer.Option(
            "--self-test",
            help=(
                "Grade the release's reference answers (which must score 1.0) and "
                "counter-references (below 1.0)."
            ),
        ),
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the interrupted run in --out.")
    ] = False,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart", help="Discard the interrupted run in --out and start over."
        ),
    ] = False,
    workers: WorkersOption = 0,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            show_default=False,
            help=(
                "Time limit per item in seconds, after which its worker is killed. [default: "
                "120, more for tasks that run simulations]"
            ),
        ),
    ] = None,
    memory: Annotated[
        float,
        typer.Option(
            min=0, help="Limit on address space per worker, in GiB; 0 means no limit."
        ),
    ] = 4.0,
    allow_code: Annotated[
        bool,
        typer.Option(
            "--allow-code",
            help=(
                "Run answers that are Python programs, in a sandbox without network or file "
                "access. Without this option, such rows get the status not_run."
            ),
        ),
    ] = False,
    terrain_python: TerrainPythonOption = None,
    exclude_withdrawn: Annotated[
        bool,
        typer.Option(
            "--exclude-withdrawn",
            help="Exclude items that the release lists as withdrawn because they are wrong.",
        ),
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            show_default=False,
            help="Grade only lines I, I+N, I+2N and so on; `scbench merge` merges all N shards.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="tcp://HOST:PORT",
            show_default=False,
            help=(
                "Grade on the workers of this Dask scheduler, which need the same version of "
                "scbench."
            ),
        ),
    ] = None,
    run_file: Annotated[
        Path | None,
        typer.Option(
            "--run",
            metavar="FILE",
            show_default=False,
            help='JSON file with run metadata, for lines without "run".',
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help=(
                "Also write report.html into --out, with the picture and the checks of every "
                "item."
            ),
        ),
    ] = False,
    log: Annotated[
        Tracker | None,
        typer.Option(
            "--log",
            help=(
                "Also log tables, scores and files to this tracker, as configured on this machine."
            ),
        ),
    ] = None,
    style: ScoreFormOption = "table",
    quiet: QuietOption = False,
    version: VersionOption = False,
) -> None:
    """Grade a predictions file.

    Works offline, calls no model, and runs no code from answers (unless --allow-code).

    Each line is a JSON object with "id" (such as "two_segments/07") and either "answer" (an object
    that fits the item's answer_schema) or "response" (the model's text). Optional fields: "model",
    "setting" (no_tools or tools), "sample", "budget", "usage", "finish_reason", "status", "error",
    "run" (metadata), "prompt_sha256" and "reasoning". With the settings retry, probe and act, a
    line has "loop" and "turns" instead, and the turns are replayed (docs/environments.md).

    Rows without an answer are not scored 0; they lower coverage, which is shown next to every mean.
    """
    # Every call of `misused` exits.
    if files and self_test:
        misused("--self-test takes no predictions file; omit the file or --self-test")
    if not files and not self_test:
        misused("give a predictions file, or use --self-test (see --help)")
    if check or self_test:
        grading_options = {
            "report": report,
            "shard": shard,
            "cluster": cluster,
            "log": log,
        }
        for name, value in grading_options.items():
            if value:
                action = "--check" if check else "--self-test"
                misused(f"--{name} has no effect with {action}; leave it out")
    # Libraries of the report and the log are checked before grading, which can take long.
    with reported_errors("report" if report else log, required=True):
        check_memory()
        use_python(terrain_python)
        if not check and cluster is None:
            # The server that forks workers imports their modules while this process reads the
            # release. A check and a cluster need no workers here.
            start_server(*IMPORTS)
        # Imported after the server was started, because they import slowly.
        from scbench.cli import verdicts
        from scbench.formats.imports.gather import ImportOptions
        from scbench.grading.options import Options, choose_tasks, tasks_in
        from scbench.grading.run_file import read_run_file
        from scbench.grading.workers.scheduler import WorkerLimits
        from scbench.release.load import find_release

        graded_release, task_names = find_release(release).choose(names_in(tasks))
        # Grading selects the tasks again; this call rejects unknown names before any file is read.
        selection = choose_tasks(graded_release, task_names)
        limits = WorkerLimits(
            workers or processors(), timeout, int(memory * 2**30), allow_code
        )
        # Each function of `verdicts` called below prints its result and exits, except
        # `import_and_report`.
        if not files:
            verdicts.run_self_test(
                graded_release, selection, limits, style, quiet=quiet
            )
        # Returns the path of one predictions file, written to the folder if the files have another
        # format, and the origin of its lines.
        read_inputs = bound(
            verdicts.import_and_report,
            files,
            quiet=quiet,
            read=ImportOptions.of(mapped, model, setting),
            restart=restart,
        )
        if check:
            with TemporaryDirectory() as temporary:
                path, imported = read_inputs(folder=Path(temporary))
                # Without --tasks, the check covers the tasks that the file answers.
                if task_names is None:
                    selection = choose_tasks(
                        graded_release, tasks_in(path, graded_release)
                    )
                verdicts.check_and_print(
                    path,
                    graded_release,
                    selection,
                    style,
                    partial=partial,
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
        verdicts.grade_and_print(options, style, report=report, quiet=quiet, log=log)


def results_folder(file: str, shard: str | None) -> Path:
    """Return the default folder for the results of a file, or of a shard of it."""
    from scbench.grading.options import default_folder

    ending = "" if shard is None else f"-{shard.replace('/', '-of-')}"
    return default_folder(file, ending)


def shard_in(text: str | None, *, imported: bool) -> "Shard | None":
    """Parse --shard; None without it.

    Args:
        text: I/N.
        imported: whether the predictions were converted from another format.

    Raises:
        PredictionsError: the text is not a shard, or the predictions were converted. Converted
            predictions cannot be sharded.
    """
    from scbench.grading.rows.chunks import Shard

    if text is None:
        return None
    if imported:
        raise PredictionsError(
            "--shard needs a single predictions file; create one with `scbench import FILE... > "
            "predictions.jsonl`"
        )
    number, _, total = text.partition("/")
    shard = None
    if is_whole_number(number) and is_whole_number(total):
        shard = Shard(int(number), int(total))
    if shard is None or not 1 <= shard.number <= shard.total:
        raise PredictionsError(
            f"--shard must be I/N with I from 1 to N, such as 2/8, not {text!r}"
        )
    return shard


def run() -> None:
    """Entry point of ``scbench-grade``."""
    start(app, "scbench-grade")
