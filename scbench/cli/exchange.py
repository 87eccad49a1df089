"""What goes to other programs and comes back: prompts, replies, results, and examples of them."""

import sys
from importlib.resources import files
from pathlib import Path

import typer

from scbench.analysis.exported_runs import COLUMNS, runs_in
from scbench.analysis.results import read_results
from scbench.base.errors import PredictionsError, ResultsError
from scbench.base.model import Instance
from scbench.cli.console import PROBLEMS, counted, names_in, reported_errors, say
from scbench.cli.options import Commands, ToolSetting
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

app = Commands()


# Folder in `scbench.integrations` by the name it is asked for.
_FOLDERS = {"lm-eval": "lm_eval", "verifiers": "verifiers_env"}


@app.command()
def prompts(
    release: str | None = None,
    tasks: str | None = None,
    ids: str | None = None,
    samples: int = 1,
    budget: list[int] | None = None,
    max_output_tokens: int | None = None,
    form: Form = Form.SCBENCH,
    model: str | None = None,
    structured: bool = False,
    images: bool = True,
    solutions: bool = False,
    out: Path | None = None,
    quiet: bool = False,
) -> None:
    """Write prompts, or a provider's batch files.

    Images stand in the lines. For harbor it is a folder for each item.

    custom_id carries item, sample and budget, so that `scbench-grade` takes the provider's
    output files as they are. vLLM's run_batch takes openai-chat.
    """
    with reported_errors():
        settings = Settings(model, structured, max_output_tokens)
        check_settings(form, settings, budgets=bool(budget))
        only = None if ids is None else ids_in(ids)
        source, names = find_release(release).choose(names_in(tasks))
        if only is not None:
            source = source.fitting(min(only))
        instances = chosen_instances(source, names, only)
        pictured = told_apart(instances)[True]
        sent = instances if images else told_apart(instances)[False]
        if pictured and not quiet:
            do = "are sent with them" if images else "are left out"
            part = f"{len(pictured)} of {len(instances)} need vision"
            say(f"{part} and {do}: {ids_in_words(pictured)}")
        budgets = budget or ()
        if form is Form.HARBOR:
            if out is None or budgets or samples > 1:
                raise PredictionsError(
                    "harbor takes --out, and tries and limits on its command"
                )
            _write_tasks(source, sent, out, solutions=solutions, quiet=quiet)
            return
        lines = (
            line_of(request, form, settings)
            for request in requests(sent, samples, budgets)
        )
        if out is None:
            if pictured and not images and not quiet:
                say(
                    f"with --out they are listed in {LEFT_OUT}, which scbench-grade counts not_run"
                )
            for line in lines:
                sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            return
        paths = write_files(lines, out, LIMITS[form])
        if pictured and not images:
            paths.append(out / LEFT_OUT)
            write_left_out(requests(pictured, samples, budgets), paths[-1])
        if not quiet:
            count = len(sent) * samples * max(len(budgets), 1)
            files = ", ".join(map(str, paths))
            say(f"{counted(count, 'prompt')} of release {source.version}: {files}")


def _write_tasks(
    source: Release,
    instances: list[Instance],
    out: Path,
    *,
    solutions: bool,
    quiet: bool,
) -> None:
    from scbench.integrations.harbor import write_tasks

    right = None
    if solutions:
        say("solution/ holds right answers: keep it from whatever is evaluated")
        right = {
            one.id: one.answer for one in source.references() if one.kind == "reference"
        }
    paths = write_tasks(instances, out, source.version, source.floors(), right)
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
    files: list[str],
    mapped: str | None = None,
    model: str | None = None,
    setting: ToolSetting | None = None,
    quiet: bool = False,
) -> None:
    """Turn files of other programs into predictions.

    One line for each reply.

    Files are told by what is in them. Errors, refusals, cut-offs and usage come along. Every entry
    that cannot be placed is named with its file and line; then the exit code is 1.
    """
    with reported_errors():
        overrides = ImportOptions.of(mapped, model, setting)
        gathered = gather(files, sys.stdout.buffer, overrides)
        sys.stdout.buffer.flush()
        if not quiet:
            say(f"recognised {gathered.recognised}")
        for problem in gathered.problems:
            say(f"problem: {problem}")
        raise typer.Exit(PROBLEMS if gathered.problems else 0)


@app.command("export-results")
def export_results(
    results: list[Path],
    schema: Schema,
    out: Path,
    date: str | None = None,
    release: str | None = None,
    organisation: str = "unnamed",
    quiet: bool = False,
) -> None:
    """Write results as other tools do.

    As every-eval-ever, Inspect or lm-evaluation-harness.
    """
    with reported_errors():
        for run in runs_in(read_results(results, COLUMNS), date, release):
            for name, text in run_files(run, schema, organisation):
                file = out / name
                file.parent.mkdir(parents=True, exist_ok=True)
                if file.exists() and file.read_text("utf-8") != text:
                    raise ResultsError(
                        f"{file} is there already, and differs; name another --out"
                    )
                file.write_text(text, "utf-8")
                if not quiet:
                    say(str(file))


@app.command()
def example(release: str | None = None, tasks: str | None = None) -> None:
    """Print predictions to try the grader on.

    Two invented models made them.
    """
    with reported_errors():
        source, names = find_release(release).choose(names_in(tasks))
        for line in example_predictions(source, names):
            sys.stdout.write(line + "\n")
        sys.stdout.flush()


@app.command()
def export(folder: Path, release: str | None = None) -> None:
    """Copy a release to a folder, for other programs.

    `load_dataset("FOLDER")` reads it from there. Other programs read a folder that is installed,
    whose path is printed:

    lm_eval --include_path "$(scbench export lm-eval)" --tasks scbench
    """
    with reported_errors():
        if str(folder) in _FOLDERS:
            print(files("scbench.integrations").joinpath(_FOLDERS[str(folder)]))  # noqa: T201
            return
        source = find_release(release)
        from scbench.freezing.copies import export_release

        export_release(source, folder)
        say(
            f'release {source.version} is in {folder}; load it with load_dataset("{folder}")'
        )
