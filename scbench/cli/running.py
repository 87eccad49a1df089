"""``scbench run``: from a model to its tables, by Inspect."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scbench.base.errors import PredictionsError
from scbench.base.model import Instance
from scbench.cli.console import INTERRUPTED, PROBLEMS, names_in, reported_errors, require, say
from scbench.cli.exchange import Variant, ids_in
from scbench.cli.options import (
    AskedTasks,
    Budgets,
    IdsFile,
    Quiet,
    ReleaseName,
    Samples,
    Style,
    Workers,
)
from scbench.cli.verdicts import grade_and_tell, taken_in
from scbench.formats.prompts import requests, told_apart, write_left_out
from scbench.grading.api import MEMORY
from scbench.grading.run import Options
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.processes import check_memory, processors
from scbench.machine.work_folder import no_empty

app = typer.Typer(rich_markup_mode=None)


LOGS = "logs"
EPILOG = """\
Ctrl-C, and the same command later goes on where it was; so does one with more --samples or a larger
--limit. Exit codes: those of scbench-grade, and 1 if calls were never answered.
"""


@app.command(epilog=EPILOG)
def run(
    model: Annotated[
        str,
        typer.Argument(
            help="Inspect's name of it: openai/gpt-5, anthropic/claude-opus-4-5, "
            "openai-api/SERVICE/MODEL for any endpoint that speaks OpenAI's chat API (its key in "
            "SERVICE_API_KEY).",
            show_default=False,
        ),
    ],
    release: ReleaseName = None,
    tasks: AskedTasks = None,
    variant: Annotated[Variant, typer.Option(help="Config whose prompts are put.")] = "default",
    ladder: Annotated[bool, typer.Option("--ladder", help="The same as --variant ladder.")] = False,
    ids: IdsFile = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many items, the first ones.")
    ] = None,
    samples: Samples = 1,
    budget: Budgets = None,
    effort: Annotated[
        str | None,
        typer.Option(help="Reasoning effort, in the provider's words.", show_default=False),
    ] = None,
    reasoning_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Reasoning tokens, where the provider takes a number."),
    ] = None,
    tools: Annotated[
        bool,
        typer.Option(
            "--tools",
            help="The paper's second setting: Python in a sandbox, and web search, by Inspect.",
        ),
    ] = False,
    sandbox: Annotated[
        str, typer.Option(help="Where --tools runs Python, in Inspect's words.")
    ] = "docker",
    search: Annotated[
        str | None,
        typer.Option(
            help="Provider of web search, in Inspect's words. [default: the model's own]",
            show_default=False,
        ),
    ] = None,
    images: Annotated[
        bool,
        typer.Option("--images/--no-images", help="Leave out what needs vision, as not_run."),
    ] = True,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the endpoint.", show_default=False)
    ] = None,
    model_arg: Annotated[
        list[str] | None,
        typer.Option(
            "--model-arg",
            "-M",
            metavar="NAME=VALUE",
            help="What the provider takes besides, as `inspect eval -M`.",
            show_default=False,
        ),
    ] = None,
    max_connections: Annotated[
        int | None, typer.Option(min=1, help="Calls at a time. [default: Inspect finds out]")
    ] = None,
    max_retries: Annotated[
        int,
        typer.Option(
            min=0,
            help="How often a call is made again after 429, 500 or a cut connection. The waits "
            "double, from 3 s.",
        ),
    ] = 7,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for logs/, results.parquet and summary.json. [default: "
            "scbench-results/MODEL]",
            show_default=False,
        ),
    ] = None,
    workers: Workers = 0,
    style: Style = "table",
    quiet: Quiet = False,
) -> None:
    """Ask a model, grade its answers, and print the tables.

    Prompts, retries and logs are Inspect's (`inspect view --log-dir OUT/logs` shows every word),
    grading is that of `scbench-grade`. The model is first asked for a single word, so that a wrong
    name or key is told at once.
    """
    with reported_errors("inspect"):
        require("inspect_ai")
        from scbench.formats.prompts import select
        from scbench.integrations.inspect.play import Pace, Plan, play
        from scbench.release.load import find_release

        check_memory()
        config = "ladder" if ladder else variant
        only = None if ids is None else sorted(ids_in(ids))
        if only is not None and limit is not None:
            raise PredictionsError("--ids says which items are asked: leave --limit out")
        source = find_release(release)
        source, covered, instances = select(source, config, names_in(tasks), only)
        parameters = {
            "tasks": covered,
            "variant": source.manifest.config or "default",
            "release": release,
            "effort": effort,
            "reasoning_tokens": reasoning_tokens,
            "images": images,
            **({"tools": True, "sandbox": sandbox, "search": search} if tools else {}),
        }
        arguments = [argument.partition("=") for argument in model_arg or ()]
        if not all(equals for _, equals, _ in arguments):
            raise PredictionsError("--model-arg needs NAME=VALUE")
        folder = out or Path("scbench-results", model.replace("/", "-"))
        logs = folder / LOGS
        plan = Plan(
            model,
            source.version,
            parameters,
            sorted({*(budget or ())}),
            {name: _argument_value(value) for name, _, value in arguments},
        )
        pace = Pace(samples, limit, only, base_url, max_connections, max_retries, quiet)
        try:
            with no_empty(folder):
                complete, files = play(plan, pace, logs)
        except KeyboardInterrupt:
            say(f"interrupted; what was answered is in {logs}, and the same command continues")
            raise typer.Exit(INTERRUPTED) from None
        if not complete:
            say("some calls were never answered; the same command asks these again")
        if not images:
            files += _write_left_out(instances, logs / "left-out.jsonl", samples, plan.budgets)
        setting = "tools" if tools else "no_tools"
        path, imported = taken_in(files, folder, None, None, setting, quiet=quiet)
        grade_and_tell(
            Options(
                predictions=path,
                release=source,
                out=folder,
                limits=WorkerLimits(workers or processors(), None, MEMORY),
                tasks=covered,
                partial=limit is not None or only is not None,
                restart=True,
                imported=imported,
            ),
            style,
            report=False,
            quiet=quiet,
            least=0 if complete else PROBLEMS,
        )


def _argument_value(text: str) -> object:
    """Return a value as a provider wants it: a number or truth value where it is one."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _write_left_out(
    instances: list[Instance], path: Path, samples: int, budgets: Sequence[int]
) -> list[str]:
    """Write down what was not asked for want of vision."""
    path.unlink(missing_ok=True)
    write_left_out(requests(told_apart(instances)[True], samples, budgets), path)
    return [str(path)]
