"""Commands between scbench and other programs: prompts, replies, results, and examples of them."""

import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from scbench.analysis.exported_runs import COLUMNS, runs_in
from scbench.analysis.results import read_results
from scbench.base.errors import PredictionsError, ResultsError
from scbench.base.model import Instance
from scbench.cli.console import PROBLEMS, counted, names_in, reported_errors, say
from scbench.cli.options import (
    BudgetsOption,
    ColumnMapOption,
    IdsOption,
    QuietOption,
    ReleaseOption,
    ReplyModelOption,
    ReplySettingOption,
    SamplesOption,
    TasksOption,
)
from scbench.formats.exports import Schema, run_files
from scbench.formats.imports.gather import ImportOptions, gather
from scbench.formats.prompts import (
    LEFT_OUT,
    LIMITS,
    Form,
    Settings,
    check_settings,
    chosen_instances,
    ids_in_words,
    line_of,
    requests,
    told_apart,
    write_files,
    write_left_out,
)
from scbench.freezing.example import example_predictions
from scbench.release.load import Release, find_release

# Folders in `scbench.integrations` that other programs read, by the name to ask for.
PROGRAM_FOLDERS = {"lm-eval": "lm_eval", "verifiers": "verifiers_env"}

app = typer.Typer(rich_markup_mode=None)


@app.command()
def prompts(
    release: ReleaseOption = None,
    tasks: TasksOption = None,
    ids: IdsOption = None,
    samples: SamplesOption = 1,
    budget: BudgetsOption = None,
    max_output_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Limit of output tokens of a run without budgets."),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="Whose lines.")] = Form.SCBENCH,
    model: Annotated[
        str | None,
        typer.Option(show_default=False, help="The provider's name of the model."),
    ] = None,
    structured: Annotated[
        bool,
        typer.Option(
            "--structured/--plain",
            help="Hold replies to the answer's JSON Schema, or take them as text.",
        ),
    ] = False,
    images: Annotated[
        bool,
        typer.Option(
            "--images/--no-images",
            help=(
                "Leave out what needs vision; in --out, left-out.jsonl lists it as "
                "not_run."
            ),
        ),
    ] = True,
    solutions: Annotated[
        bool, typer.Option("--solutions", help="For harbor: also write right answers.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help=(
                "Folder for files that the provider takes, split at its limits. "
                "[default: all lines to standard output]"
            ),
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write prompts, or a provider's batch files.

    Images stand in the lines. For harbor it is a folder for each item.

    custom_id carries item, sample and budget, so that `scbench-grade` takes the provider's
    output files as they are. vLLM's run_batch takes openai-chat.
    """
    with reported_errors():
        # Whatever can be refused is, before anything is printed or written.
        settings = Settings(model, structured, max_output_tokens)
        check_settings(form, settings, budgets=bool(budget))
        only_ids = None if ids is None else ids_in(ids)
        source, names = find_release(release).choose(names_in(tasks))
        if only_ids is not None:
            # The config that holds one of them holds all.
            source = source.fitting(min(only_ids))
        instances = chosen_instances(source, names, only_ids)
        with_images = told_apart(instances)[True]
        sent = instances if images else told_apart(instances)[False]
        if with_images and not quiet:
            consequence = "are sent with them" if images else "are left out"
            share = f"{len(with_images)} of {len(instances)} need vision"
            say(f"{share} and {consequence}: {ids_in_words(with_images)}")
        budgets = budget or ()
        if form is Form.HARBOR:
            # Harbor's own command asks several times, and sets limits.
            if out is None or budgets or samples > 1:
                raise PredictionsError(
                    "harbor takes --out, and tries and limits on its command"
                )
            write_harbor_tasks(source, sent, out, solutions=solutions, quiet=quiet)
            return
        lines = (
            line_of(request, form, settings)
            for request in requests(sent, samples, budgets)
        )
        if out is None:
            if with_images and not images and not quiet:
                say(
                    f"with --out they are listed in {LEFT_OUT}, which scbench-grade counts not_run"
                )
            for line in lines:
                sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            return
        paths = write_files(lines, out, LIMITS[form])
        if with_images and not images:
            left_out = out / LEFT_OUT
            write_left_out(requests(with_images, samples, budgets), left_out)
            paths.append(left_out)
        if not quiet:
            count = len(sent) * samples * max(len(budgets), 1)
            files = ", ".join(map(str, paths))
            say(f"{counted(count, 'prompt')} of release {source.version}: {files}")


def write_harbor_tasks(
    source: Release,
    instances: list[Instance],
    out: Path,
    *,
    solutions: bool,
    quiet: bool,
) -> None:
    """Write a folder of Harbor for each item, with right answers if asked for."""
    from scbench.integrations.harbor import write_tasks

    right_answers = None
    if solutions:
        say("solution/ holds right answers: keep it from whatever is evaluated")
        right_answers = {
            reference.id: reference.answer
            for reference in source.references()
            if reference.kind == "reference"
        }
    paths = write_tasks(instances, out, source.version, source.floors(), right_answers)
    if not quiet:
        say(
            f"{counted(len(paths), 'task')} of release {source.version}: harbor run -p {out}"
        )


def ids_in(source: str) -> set[str]:
    """Read ids, one on each line.

    Raises:
        PredictionsError: there are none, or the file cannot be read.
    """
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise PredictionsError(f"cannot read ids from {source}: {error}") from None
    ids = {line.strip() for line in text.splitlines() if line.strip()}
    if not ids:
        raise PredictionsError(f"{source} holds no ids")
    return ids


@app.command("import")
def import_(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            show_default=False,
            help=(
                "What a batch (OpenAI, Anthropic, Gemini, vLLM), Inspect, "
                "lm-evaluation-harness, lighteval or verifiers wrote; a folder of a "
                "Harbor job; a table; predictions. - reads standard input."
            ),
        ),
    ],
    mapped: ColumnMapOption = None,
    model: ReplyModelOption = None,
    setting: ReplySettingOption = None,
    quiet: QuietOption = False,
) -> None:
    """Turn files of other programs into predictions.

    One line for each reply.

    Files are told by what is in them. Errors, refusals, cut-offs and usage come along. Every entry
    that cannot be placed is named with its file and line; then the exit code is 1.
    """
    with reported_errors():
        overrides = ImportOptions.of(mapped, model, setting)
        # Predictions go to standard output as they are read; problems follow.
        gathered = gather(files, sys.stdout.buffer, overrides)
        sys.stdout.buffer.flush()
        if not quiet:
            say(f"recognised {gathered.recognised}")
        for problem in gathered.problems:
            say(f"problem: {problem}")
        raise typer.Exit(PROBLEMS if gathered.problems else 0)


@app.command("export-results")
def export_results(
    results: Annotated[
        list[Path],
        typer.Argument(
            show_default=False,
            help="results.parquet files, or the folders that scbench-grade wrote.",
        ),
    ],
    schema: Annotated[
        Schema, typer.Option("--format", show_default=False, help="Whose schema.")
    ],
    out: Annotated[
        Path, typer.Option("--out", show_default=False, help="Folder for the files.")
    ],
    date: Annotated[
        str | None,
        typer.Option(
            metavar="YYYY-MM-DD",
            show_default=False,
            help="Of the answers, for runs that do not say it.",
        ),
    ] = None,
    release: ReleaseOption = None,
    organisation: Annotated[
        str, typer.Option(help="Who evaluated, for every-eval-ever.")
    ] = "unnamed",
    quiet: QuietOption = False,
) -> None:
    """Write results as other tools do.

    As every-eval-ever, Inspect or lm-evaluation-harness.
    """
    with reported_errors():
        rows = read_results(results, COLUMNS)
        for run in runs_in(rows, date, release):
            for name, text in run_files(run, schema, organisation):
                file = out / name
                file.parent.mkdir(parents=True, exist_ok=True)
                # The same command twice is no error.
                if file.exists() and file.read_text("utf-8") != text:
                    raise ResultsError(
                        f"{file} is there already, and differs; name another --out"
                    )
                file.write_text(text, "utf-8")
                if not quiet:
                    say(str(file))


@app.command()
def example(release: ReleaseOption = None, tasks: TasksOption = None) -> None:
    """Print predictions to try the grader on.

    Two invented models made them.
    """
    with reported_errors():
        source, names = find_release(release).choose(names_in(tasks))
        for line in example_predictions(source, names):
            sys.stdout.write(line + "\n")
        sys.stdout.flush()


@app.command()
def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER|lm-eval|verifiers",
            show_default=False,
            help=(
                "Folder to make; or the name of a program, to print the installed "
                "folder that it reads: tasks for lm_eval --include_path, a package "
                "for verifiers."
            ),
        ),
    ],
    release: ReleaseOption = None,
) -> None:
    """Copy a release to a folder, for other programs.

    `load_dataset("FOLDER")` reads it from there. Other programs read a folder that is installed,
    whose path is printed:

    lm_eval --include_path "$(scbench export lm-eval)" --tasks scbench
    """
    with reported_errors():
        program_folder = PROGRAM_FOLDERS.get(str(folder))
        if program_folder is not None:
            print(files("scbench.integrations").joinpath(program_folder))  # noqa: T201
            return
        source = find_release(release)
        from scbench.freezing.copies import export_release

        export_release(source, folder)
        say(
            f'release {source.version} is in {folder}; load it with load_dataset("{folder}")'
        )
