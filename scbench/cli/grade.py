"""``scbench-grade``: grade a predictions file, offline."""

from functools import partial as bound
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from scbench.base.errors import PredictionsError
from scbench.cli.console import misused, names_in, reported_errors
from scbench.cli.options import Commands, ScoreForm, ToolSetting, Version
from scbench.cli.start import start
from scbench.grading.workers import IMPORTS
from scbench.machine.physics import use_python
from scbench.machine.processes import check_memory, processors, start_server

if TYPE_CHECKING:
    from scbench.grading.rows.chunks import Shard

EPILOG = """\
Exit codes: 0 graded, 1 problems in the input (the rest is graded all the same), 2 wrong usage,
3 a grader failed on some row, 4 the run failed (disk full, out of memory, a fault of scbench),
130 interrupted (129 and 143: by SIGHUP and SIGTERM). After 4 and up, continue with --resume.
"""


def grade(
    files: list[str] | None = None,
    mapped: str | None = None,
    model: str | None = None,
    setting: ToolSetting | None = None,
    release: str | None = None,
    out: Path | None = None,
    tasks: str | None = None,
    partial: bool = False,
    check: bool = False,
    self_test: bool = False,
    resume: bool = False,
    restart: bool = False,
    workers: int = 0,
    timeout: float | None = None,
    memory: float = 4.0,
    allow_code: bool = False,
    terrain_python: Path | None = None,
    exclude_withdrawn: bool = False,
    shard: str | None = None,
    cluster: str | None = None,
    run_file: Path | None = None,
    report: bool = False,
    log: Literal["wandb", "mlflow"] | None = None,
    style: ScoreForm = "table",
    quiet: bool = False,
    version: Version = False,
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
    if (not files) != self_test:
        misused("name a predictions file, or use --self-test (see --help)")
    for name, flag in (
        ("report", report),
        ("shard", shard),
        ("cluster", cluster),
        ("log", log),
    ):
        if flag and (check or self_test):
            misused(f"--{name} goes with grading, not with --check or --self-test")
    # What a report needs is said before grading, which can take long.
    with reported_errors("report" if report else log, required=True):
        check_memory()
        use_python(terrain_python)
        if not check and cluster is None:
            start_server(*IMPORTS)  # it starts while the release is read
        from scbench.cli import verdicts
        from scbench.formats.imports.gather import ImportOptions
        from scbench.grading.options import tasks_in
        from scbench.grading.run import Options, choose_tasks
        from scbench.grading.run_file import read_run_file
        from scbench.grading.workers.scheduler import WorkerLimits
        from scbench.release.load import find_release

        chosen_release, names = find_release(release).choose(names_in(tasks))
        selection = choose_tasks(chosen_release, names)
        limits = WorkerLimits(
            workers or processors(), timeout, int(memory * 2**30), allow_code
        )
        read = ImportOptions.of(mapped, model, setting)
        take_in = bound(
            verdicts.taken_in, files or [], quiet=quiet, read=read, restart=restart
        )
        if not files:
            verdicts.tell_self_test(
                chosen_release, selection, limits, style, quiet=quiet
            )
        elif check:
            with TemporaryDirectory() as temporary:
                path, imported = take_in(folder=Path(temporary))
                if names is None:
                    selection = choose_tasks(
                        chosen_release, tasks_in(path, chosen_release)
                    )
                verdicts.check_and_tell(
                    path,
                    chosen_release,
                    selection,
                    style,
                    partial=partial or bool(names),
                    exclude_withdrawn=exclude_withdrawn,
                    imported=imported,
                )
        else:
            folder = out or _folder_of(files[0], shard)
            path, imported = take_in(folder=folder)
            options = Options(
                predictions=path,
                release=chosen_release,
                out=folder,
                limits=limits,
                tasks=tasks_in(path, chosen_release) if names is None else names,
                partial=partial,
                resume=resume,
                restart=restart,
                exclude_withdrawn=exclude_withdrawn,
                shard=_shard_of(shard, imported=imported is not None),
                cluster=cluster,
                described=() if run_file is None else read_run_file(run_file),
                imported=imported,
            )
            verdicts.grade_and_tell(options, style, report=report, quiet=quiet, log=log)


def _shard_of(text: str | None, *, imported: bool) -> "Shard | None":
    from scbench.grading.rows.chunks import Shard

    if text is None:
        return None
    if imported:
        raise PredictionsError(
            "--shard needs one file of predictions: `scbench import FILE... > predictions.jsonl` "
            "makes it"
        )
    number, slash, count = text.partition("/")
    plain = slash and all(
        part.isascii() and part.isdecimal() for part in (number, count)
    )
    if plain and 1 <= int(number) <= int(count):
        return Shard(int(number), int(count))
    raise PredictionsError(
        f"--shard takes I/N with I from 1 to N, such as 2/8, not {text!r}"
    )


def _folder_of(file: str, shard: str | None) -> Path:
    from scbench.grading.options import default_folder

    folder = default_folder(file)
    return folder if shard is None else Path(f"{folder}-{shard.replace('/', '-of-')}")


app = Commands(add_completion=False, pretty_exceptions_enable=False)
app.command(epilog=EPILOG)(grade)


def run() -> None:
    """Entry point of ``scbench-grade``."""
    start(app, "scbench-grade")
