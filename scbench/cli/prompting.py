"""``scbench prompts``: what is put to a model, in the form that the provider takes."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scbench.cli.console import counted, names_in, reported_errors, say
from scbench.cli.options import AskedTasks, Budgets, IdsFile, Quiet, ReleaseName, Samples
from scbench.formats.prompts import Form


class Variant(StrEnum):
    """Configs of a release that have prompts."""

    DEFAULT = "default"
    TERSE = "terse"
    LADDER = "ladder"


def prompts(
    release: ReleaseName = None,
    tasks: AskedTasks = None,
    variant: Annotated[
        Variant, typer.Option(help="Config whose prompts are wanted.")
    ] = Variant.DEFAULT,
    ids: IdsFile = None,
    samples: Samples = 1,
    budget: Budgets = None,
    max_output_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Limit of output tokens of a run without budgets."),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="Whose lines.")] = Form.SCBENCH,
    model: Annotated[
        str | None, typer.Option(help="The provider's name of the model.", show_default=False)
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
            help="Leave out what needs vision; in --out, left-out.jsonl lists it as not_run.",
        ),
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for files that the provider takes, split at its limits. [default: all "
            "lines to standard output]",
            show_default=False,
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write prompts, or a provider's batch files.

    Images stand in the lines.

    custom_id carries instance, sample and budget, so that `scbench-grade` takes the provider's
    output files as they are. vLLM's run_batch takes openai-chat.
    """
    with reported_errors():
        from scbench.formats.prompts.files import LEFT_OUT, write_files, write_left_out
        from scbench.formats.prompts.forms import LIMITS, Settings, check_settings, line_of
        from scbench.formats.prompts.requests import chosen_instances, named, requests, told_apart
        from scbench.release.load import find_release

        settings = Settings(model, structured, max_output_tokens)
        check_settings(form, settings, budgets=bool(budget))
        only = None if ids is None else ids_in(ids)
        beside = [] if variant is Variant.DEFAULT else [variant.value]
        source, names = find_release(release).choose([*(names_in(tasks) or ()), *beside] or None)
        if only is not None and not beside:
            source = source.fitting(min(only))
        instances = chosen_instances(source, names, only)
        pictured = told_apart(instances)[True]
        sent = instances if images else told_apart(instances)[False]
        if pictured and not quiet:
            do = "are sent with them" if images else "are left out"
            say(f"{len(pictured)} of {len(instances)} need vision and {do}: {named(pictured)}")
        budgets = budget or ()
        lines = (line_of(request, form, settings) for request in requests(sent, samples, budgets))
        if out is None:
            if pictured and not images and not quiet:
                say(f"with --out they are listed in {LEFT_OUT}, which scbench-grade counts not_run")
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


def ids_in(source: str) -> set[str]:
    """Read ids, one on each line.

    Raises:
        PredictionsError: there are none, or the file cannot be read.
    """
    from scbench.base.errors import PredictionsError

    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise PredictionsError(f"cannot read ids from {source}: {error}") from None
    ids = {line.strip() for line in text.splitlines() if line.strip()}
    if not ids:
        raise PredictionsError(f"{source} holds no ids")
    return ids
