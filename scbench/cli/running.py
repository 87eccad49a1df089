"""``scbench run``: from a model to its tables, by Inspect."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scbench.base.errors import PredictionsError
from scbench.base.model import Instance, LoopSetting
from scbench.cli.console import (
    EXHAUSTED,
    INTERRUPTED,
    PROBLEMS,
    names_in,
    reported_errors,
    require,
    say,
)
from scbench.cli.exchange import ids_in
from scbench.cli.options import (
    BudgetsOption,
    IdsOption,
    QuietOption,
    ReleaseOption,
    SamplesOption,
    ScoreFormOption,
    TasksOption,
    WorkersOption,
)
from scbench.cli.progress import Quiet, progress
from scbench.cli.verdicts import grade_and_tell, taken_in
from scbench.formats.imports.gather import ImportOptions
from scbench.formats.prompts import requests, select, told_apart, write_left_out
from scbench.grading.options import Options
from scbench.grading.workers.live import MEMORY
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.memory_limits import check_memory
from scbench.machine.processes import processors
from scbench.machine.work_folder import no_empty
from scbench.release.load import find_release

if TYPE_CHECKING:
    from scbench.integrations.inspect.play import Pace, Plan, Played

# Folder of Inspect's logs, in the folder of the results.
LOGS = "logs"
# Prompts are rich in numbers, of which a token holds fewer characters than of English.
CHARACTERS_A_TOKEN = 3
EPILOG = """\
Ctrl-C, and the same command later goes on where it was; so does one with more --samples or a larger
--limit. Exit codes: those of scbench-grade, 1 if calls were never answered,
5 if the run was stopped because 10 calls in a row failed in the same way.
"""

app = typer.Typer(rich_markup_mode=None)


@app.command(epilog=EPILOG)
def run(
    model: Annotated[
        str,
        typer.Argument(
            show_default=False,
            help=(
                "Inspect's name of it: openai/gpt-5, anthropic/claude-opus-4-5, "
                "openai-api/SERVICE/MODEL for any endpoint that speaks OpenAI's "
                "chat API (its key in SERVICE_API_KEY)."
            ),
        ),
    ],
    release: ReleaseOption = None,
    tasks: TasksOption = None,
    ids: IdsOption = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many items, the first ones.")
    ] = None,
    samples: SamplesOption = 1,
    budget: BudgetsOption = None,
    effort: Annotated[
        str | None,
        typer.Option(
            show_default=False, help="Reasoning effort, in the provider's words."
        ),
    ] = None,
    reasoning_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, help="Reasoning tokens, where the provider takes a number."
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            min=0, show_default=False, help="Of sampling, where the provider takes it."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            show_default=False, help="Of sampling, where the provider takes it."
        ),
    ] = None,
    structured: Annotated[
        bool,
        typer.Option(
            "--structured/--plain",
            help="Hold replies to the answer's JSON Schema, where the provider can.",
        ),
    ] = False,
    setting: Annotated[
        LoopSetting | None,
        typer.Option(
            "--setting",
            help="Play in a loop: retry, probe or act (docs/environments.md).",
        ),
    ] = None,
    closed: Annotated[
        bool,
        typer.Option(
            "--closed",
            help=(
                "With --setting retry, also play what a blind guess solves one time "
                "in ten or more."
            ),
        ),
    ] = False,
    tools: Annotated[
        bool,
        typer.Option(
            "--tools",
            help=(
                "The paper's second setting: Python in a sandbox, and web search, "
                "by Inspect."
            ),
        ),
    ] = False,
    sandbox: Annotated[
        str, typer.Option(help="Where --tools runs Python, in Inspect's words.")
    ] = "docker",
    search: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            help=(
                "Provider of web search, in Inspect's words. [default: the model's own]"
            ),
        ),
    ] = None,
    images: Annotated[
        bool,
        typer.Option(
            "--images/--no-images", help="Leave out what needs vision, as not_run."
        ),
    ] = True,
    base_url: Annotated[
        str | None, typer.Option(show_default=False, help="Address of the endpoint.")
    ] = None,
    model_arg: Annotated[
        list[str] | None,
        typer.Option(
            "--model-arg",
            "-M",
            metavar="NAME=VALUE",
            show_default=False,
            help="What the provider takes besides, as `inspect eval -M`.",
        ),
    ] = None,
    max_connections: Annotated[
        int | None,
        typer.Option(min=1, help="Calls at a time. [default: Inspect finds out]"),
    ] = None,
    max_retries: Annotated[
        int,
        typer.Option(
            min=0,
            help=(
                "How often a call is made again after 429, 500 or a cut connection. "
                "The waits double, from 3 s."
            ),
        ),
    ] = 7,
    timeout: Annotated[
        int | None,
        typer.Option(
            min=1, show_default=False, help="Seconds for a call with its retries."
        ),
    ] = None,
    attempt_timeout: Annotated[
        int | None,
        typer.Option(
            min=1, help="Seconds for one try. [default: --timeout, or the provider's]"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help=(
                "Folder for logs/, results.parquet and summary.json. [default: "
                "scbench-results/MODEL]"
            ),
        ),
    ] = None,
    workers: WorkersOption = 0,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help=(
                "Ask nothing: say how many prompts, characters and tokens it would be."
            ),
        ),
    ] = False,
    price: Annotated[
        str | None,
        typer.Option(
            metavar="SENT,RECEIVED",
            show_default=False,
            help="US dollars for a million tokens, for --dry-run: 1.25,10.",
        ),
    ] = None,
    style: ScoreFormOption = "table",
    quiet: QuietOption = False,
) -> None:
    """Ask a model, grade its answers, and print the scores.

    Prompts, retries and logs are Inspect's (`inspect view --log-dir OUT/logs` shows every word),
    grading is that of `scbench-grade`. The model is first asked for a single word, so that a wrong
    name or key is told at once.
    """
    with reported_errors("inspect"):
        if not dry_run:
            require("inspect_ai")
        check_memory()
        only_ids = None if ids is None else sorted(ids_in(ids))
        if only_ids is not None and limit is not None:
            raise PredictionsError(
                "--ids says which items are asked: leave --limit out"
            )
        is_closed_elsewhere = closed and setting != "retry"
        is_loop_with_more = setting is not None and (tools or structured)
        if is_closed_elsewhere or is_loop_with_more:
            raise PredictionsError(
                "--setting goes without --tools and --structured, --closed with --setting retry"
            )
        source, covered, instances = select(
            find_release(release), tasks=names_in(tasks), ids=only_ids
        )
        budgets = sorted(set(budget or ()))
        if dry_run:
            sent = instances if images else told_apart(instances)[False]
            print_size(sent[:limit], samples * max(len(budget or ()), 1), price)
            return
        from scbench.integrations.inspect.play import Pace, Plan

        parameters: dict[str, Any] = {
            "tasks": covered,
            "variant": source.manifest.config or "default",
            "release": release,
            "effort": effort,
            "reasoning_tokens": reasoning_tokens,
            "images": images,
        }
        # A folder is one plan's, by a hash of these: an option that is not used must not change it.
        if setting is not None:
            parameters |= {"setting": setting, "closed": closed}
        if structured:
            parameters["schema"] = True
        if tools:
            parameters |= {"tools": True, "sandbox": sandbox, "search": search}
        sampling = {"temperature": temperature, "seed": seed}
        arguments = dict(map(model_argument, model_arg or ()))
        plan = Plan(model, source.version, parameters, sampling, budgets, arguments)
        pace = Pace(
            samples,
            limit,
            only_ids,
            base_url,
            max_connections,
            max_retries,
            timeout,
            attempt_timeout,
        )
        folder = out or Path("scbench-results", model.replace("/", "-"))
        played = play_shown(plan, pace, folder, quiet=quiet)
        complete, files, exhausted = played
        if exhausted:
            say(f"stopped, because 10 calls in a row failed: {exhausted}")
        if not complete:
            say("some calls were never answered; the same command asks these again")
        if not images:
            left_out = folder / LOGS / "left-out.jsonl"
            left_out.unlink(missing_ok=True)
            pictured = told_apart(instances)[True]
            write_left_out(requests(pictured, samples, budgets), left_out)
            files.append(str(left_out))
        # Logs of a loop name their setting themselves.
        tool_setting = None
        if setting is None:
            tool_setting = "tools" if tools else "no_tools"
        read = ImportOptions(setting=tool_setting)
        path, imported = taken_in(files, folder, quiet=quiet, read=read, restart=True)
        options = Options(
            predictions=path,
            release=source,
            out=folder,
            limits=WorkerLimits(workers or processors(), None, MEMORY),
            tasks=covered,
            # Few tasks have every setting of the loop.
            partial=limit is not None or only_ids is not None or setting is not None,
            restart=True,
            imported=imported,
        )
        exit_code = 0 if complete else PROBLEMS
        if exhausted:
            exit_code = EXHAUSTED
        grade_and_tell(options, style, report=False, quiet=quiet, least=exit_code)


def print_size(instances: Sequence[Instance], times: int, price: str | None) -> None:
    """Print prompts, characters, tokens by an estimate, and money of a run.

    Args:
        instances: that are asked.
        times: each, over samples and budgets.
        price: --price.

    Raises:
        PredictionsError: the price is not two numbers.
    """
    prompts = len(instances) * times
    pictured = len(told_apart(instances)[True]) * times
    characters = sum(len(instance.prompt) for instance in instances) * times
    tokens_sent = round(characters / CHARACTERS_A_TOKEN)
    # The unit in which answers are stated, as their length is not known.
    tokens_received = prompts * 1000
    money_sent = money_received = ""
    if price is not None:
        try:
            sent, received = (float(part) / 1e6 for part in price.split(","))
        except ValueError:
            raise PredictionsError(
                "--price takes US dollars for a million tokens sent and received: 1.25,10"
            ) from None
        money_sent = f": {tokens_sent * sent:,.2f} US$"
        money_received = f": {tokens_received * received:,.2f} US$"
    print(  # noqa: T201
        f"{prompts:,} prompts, {pictured:,} of them with an image\n"
        f"{characters:,} characters, about {tokens_sent:,} tokens sent "
        f"(one for {CHARACTERS_A_TOKEN} characters, images not counted){money_sent}\n"
        f"for each 1,000 tokens that an answer takes, reasoning included: "
        f"{tokens_received:,} tokens received{money_received}"
    )


def play_shown(plan: "Plan", pace: "Pace", folder: Path, *, quiet: bool) -> "Played":
    """Ask, with a display of progress."""
    from scbench.integrations.inspect.play import play

    logs = folder / LOGS
    try:
        with (
            no_empty(folder),
            progress(
                None,
                quiet=quiet,
                doing="asking",
                done="asked",
                things="prompts",
                estimate=True,
            ) as bar,
        ):
            if not quiet:
                pace = replace(
                    pace,
                    say=say,
                    on_reply=partial(show_replies, bar),
                    on_error=bar.failing,
                )
            return play(plan, pace, logs)
    except KeyboardInterrupt:
        state = "no prompt was asked, nothing is kept"
        if logs.is_dir():
            state = f"what was answered is in {logs}, and the same command continues"
        say(f"interrupted; {state}")
        raise typer.Exit(INTERRUPTED) from None


def show_replies(bar: Quiet, replies: int, total: int, cost: str) -> None:
    """Show replies so far, of all, and their cost in words."""
    bar.done(replies, replies, total, cost)


def model_argument(text: str) -> tuple[str, object]:
    """Return the name and value of --model-arg: JSON where it can be read so, else text.

    Raises:
        PredictionsError: there is no value.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise PredictionsError("--model-arg needs NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
