"""Commands that exchange prompts, replies, results and examples with other programs."""

import sys
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from scbench.analysis.eval_results import run_results
from scbench.analysis.exported_runs import COLUMNS, runs_in
from scbench.analysis.results import read_results
from scbench.base.errors import PredictionsError, ResultsError
from scbench.base.model import Instance
from scbench.base.wording import counted
from scbench.cli.console import (
    PROBLEMS,
    bytes_out,
    names_in,
    reported_errors,
    require,
    safe_json,
    say,
)
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
from scbench.formats.forms import Form
from scbench.formats.imports.gather import ImportOptions, gather
from scbench.formats.prompts import (
    LEFT_OUT,
    LIMITS,
    Settings,
    check_settings,
    chosen_instances,
    ids_in_words,
    line_of,
    requests,
    split_by_images,
    write_files,
    write_left_out,
)
from scbench.freezing.example import example_predictions
from scbench.machine.files import read_given, read_regular, write_whole
from scbench.release.load import (
    Release,
    find_release,
    release_in_results,
    right_answers,
)

# Folders in `scbench.integrations` for other programs, by their names on the command line.
PROGRAM_FOLDERS = {
    "lm-eval": "lm_eval",
    "verifiers": "verifiers_env",
    "openenv": "openenv_env",
}


class ResultsFormat(StrEnum):
    """The formats of `export-results`: those of other programs, and the Hub's."""

    EVERY_EVAL_EVER = Schema.EVERY_EVAL_EVER.value
    LM_EVAL = Schema.LM_EVAL.value
    INSPECT = Schema.INSPECT.value
    EVAL_RESULTS = "eval-results"


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
        typer.Option(min=1, help="Limit on output tokens, for runs without --budget."),
    ] = None,
    form: Annotated[
        Form,
        typer.Option(
            "--format", help="Format of the lines: scbench's own, or a provider's."
        ),
    ] = Form.SCBENCH,
    model: Annotated[
        str | None,
        typer.Option(show_default=False, help="Model name, as the provider spells it."),
    ] = None,
    structured: Annotated[
        bool,
        typer.Option(
            "--structured/--plain",
            help="Require replies that fit the answer's JSON Schema, or request plain text.",
        ),
    ] = False,
    images: Annotated[
        bool,
        typer.Option(
            "--images/--no-images",
            help=(
                "Include or leave out items that need vision. With --out, items left out are "
                "listed as not_run in left-out.jsonl."
            ),
        ),
    ] = True,
    solutions: Annotated[
        bool,
        typer.Option(
            "--solutions", help="For harbor: also write the reference answers."
        ),
    ] = False,
    wheels: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help=(
                "For harbor: folder with a wheel of scbench, which the verifiers' images install "
                "instead of downloading one from the package index. If the folder also contains "
                "the wheels of all dependencies, no index is needed."
            ),
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help=(
                "Folder for files in the format the provider accepts, split at its size limits. "
                "[default: print all lines]"
            ),
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write prompts, or batch files for a provider.

    Images are embedded in the lines. With --format harbor, each item is a folder.

    custom_id encodes item, sample and budget, so `scbench-grade` accepts the provider's output
    files unchanged. For vLLM's run_batch, use --format openai-chat.
    """
    with reported_errors():
        # All checks come before anything is printed or written.
        settings = Settings(model, structured, max_output_tokens)
        check_settings(form, settings, budgets=bool(budget))
        only_ids = None if ids is None else ids_in(ids)
        source, names = find_release(release).choose(names_in(tasks))
        if only_ids is not None:
            # All ids come from one config, so one id is enough to find it.
            source = source.fitting(min(only_ids))
        instances = chosen_instances(source, names, only_ids)
        with_images, without_images = split_by_images(instances)
        sent = instances if images else without_images
        if with_images and not quiet:
            share = f"{len(with_images)} of {counted(len(instances), 'prompt')}"
            consequence = (
                "with images" if images else "left out because they have images"
            )
            say(f"{share} {consequence}: {ids_in_words(with_images)}")
        budgets = budget or ()
        if form is Form.HARBOR:
            # Harbor sets these itself.
            if out is None or budgets or samples > 1:
                raise PredictionsError(
                    "--format harbor needs --out, and does not accept --samples or --budget: "
                    "set these in Harbor's own command"
                )
            write_harbor_tasks(
                source, sent, out, wheels, solutions=solutions, quiet=quiet
            )
            return
        if wheels is not None:
            raise PredictionsError("--wheels works only with --format harbor")
        lines = (
            line_of(request, form, settings)
            for request in requests(sent, samples, budgets)
        )
        if out is None:
            if with_images and not images and not quiet:
                say(
                    f"add --out to list them in {LEFT_OUT}, so that scbench-grade counts them as "
                    "not_run"
                )
            stream = bytes_out()
            for line in lines:
                stream.write(line)
            sys.stdout.flush()
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
    wheels: Path | None,
    *,
    solutions: bool,
    quiet: bool,
) -> None:
    """Write a Harbor folder for each item, with wheels and reference answers if requested."""
    from scbench.integrations.harbor import wheels_in, write_tasks

    solved = None
    if solutions:
        say("solution/ contains the reference answers: keep it away from the model")
        solved = right_answers(source.references())
    paths = write_tasks(
        instances,
        out,
        source.version,
        source.floors(),
        solved,
        wheels_in(wheels) if wheels else (),
    )
    if not quiet:
        say(
            f"{counted(len(paths), 'task')} of release {source.version} written; run them with: "
            f"harbor run -p {out}"
        )


def ids_in(source: str) -> set[str]:
    """Read ids, one per line.

    Raises:
        PredictionsError: there are no ids, or the file cannot be read.
    """
    try:
        is_stdin = source == "-"
        text = sys.stdin.read() if is_stdin else read_given(source).decode()
    except (OSError, ValueError) as error:
        raise PredictionsError(f"cannot read ids from {source}: {error}") from None
    ids = {line.strip() for line in text.splitlines() if line.strip()}
    if not ids:
        raise PredictionsError(
            f"{source} contains no ids; write one per line, such as csg_union/12"
        )
    return ids


@app.command("import")
def import_(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help=(
                "Output of a batch API (OpenAI, Anthropic, Gemini, vLLM), Inspect, "
                "lm-evaluation-harness, lighteval or verifiers; a Harbor job folder; a table; "
                "or predictions. - reads standard input."
            ),
        ),
    ],
    mapped: ColumnMapOption = None,
    model: ReplyModelOption = None,
    setting: ReplySettingOption = None,
    quiet: QuietOption = False,
) -> None:
    """Convert files from other programs to predictions.

    Each reply becomes one line. The file format is detected from the content. Errors, refusals,
    cut-off replies and usage are kept. Every entry that matches no item is reported with its file
    and line; the exit code is then 1.
    """
    with reported_errors():
        overrides = ImportOptions.of(mapped, model, setting)
        # Predictions are printed as they are read; problems follow.
        gathered = gather(files, bytes_out(), overrides)
        sys.stdout.flush()
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
            help="results.parquet files, or folders that contain one.",
        ),
    ],
    schema: Annotated[
        ResultsFormat,
        typer.Option("--format", show_default=False, help="Format of the files."),
    ],
    out: Annotated[
        Path, typer.Option("--out", show_default=False, help="Folder for the files.")
    ],
    date: Annotated[
        str | None,
        typer.Option(
            metavar="YYYY-MM-DD",
            show_default=False,
            help="Date of the answers, for runs that do not state it.",
        ),
    ] = None,
    release: ReleaseOption = None,
    organisation: Annotated[
        str,
        typer.Option(help="Organisation that ran the evaluation, for every-eval-ever."),
    ] = "unnamed",
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="ORG/NAME",
            show_default=False,
            help="Dataset on the Hub that contains the release; eval-results needs it.",
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write results in the formats of other tools.

    The formats are every-eval-ever, Inspect, lm-evaluation-harness, and eval-results (files for
    .eval_results/ in a model's repository on the Hub).
    """
    with reported_errors():
        if schema is ResultsFormat.EVAL_RESULTS:
            require("yaml")
            if dataset is None:
                raise ResultsError(
                    "eval-results needs --dataset ORG/NAME, the dataset of the release on the Hub"
                )
        rows = read_results(results, COLUMNS)
        for run in runs_in(rows, date, release):
            if schema is ResultsFormat.EVAL_RESULTS:
                graded = release_in_results(run.release, release)
                text = run_results(run, graded, dataset or "")
                files_of_run = [(f"{run.name}.yaml", text)]
            else:
                program = Schema(schema.value)
                files_of_run = [*run_files(run, program, organisation)]
            for name, text in files_of_run:
                file = out / name
                write_new(file, text.encode())
                if not quiet:
                    say(str(file))


def write_new(file: Path, data: bytes) -> None:
    """Write a file completely or not at all, unless it exists with the same content.

    Raises:
        ResultsError: something else exists at its path.
        OSError: it cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        present = read_regular(file, len(data))
    except FileNotFoundError:
        write_whole(file, lambda part: part.write_bytes(data))
        return
    # Running the same command twice is not an error.
    if present != data:
        raise ResultsError(
            f"{file} exists with different content; choose another --out"
        )


@app.command()
def example(release: ReleaseOption = None, tasks: TasksOption = None) -> None:
    """Print sample predictions to try the grader on.

    The sample contains answers from two made-up models.
    """
    with reported_errors():
        source, names = find_release(release).choose(names_in(tasks))
        for line in example_predictions(source, names):
            sys.stdout.write(safe_json(line) + "\n")
        sys.stdout.flush()


@app.command()
def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER|lm-eval|verifiers|openenv",
            show_default=False,
            help=(
                "Folder to create. Give lm-eval, verifiers or openenv instead to print the path "
                "of the folder installed for that program (tasks for lm_eval --include_path, a "
                "package for verifiers, or an environment for `openenv push`)."
            ),
        ),
    ],
    release: ReleaseOption = None,
) -> None:
    """Copy a release to a folder that other programs can load.

    Load it with `load_dataset("FOLDER")`. For lm-eval, verifiers and openenv, the command prints
    the path of a folder that is already installed:

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
