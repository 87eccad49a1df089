"""``scbench run``: run a model with Inspect, and print tables of its scores."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scbench.base.errors import PredictionsError
from scbench.base.model import Instance, LoopSetting
from scbench.base.wording import counted
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
from scbench.cli.progress import progress
from scbench.cli.quiet import Quiet
from scbench.cli.verdicts import grade_and_print, import_and_report
from scbench.formats.imports.gather import ImportOptions
from scbench.formats.prompts import requests, select, split_by_images, write_left_out
from scbench.grading.options import Options
from scbench.grading.workers.live import MEMORY
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.limits import check_memory, processors
from scbench.machine.work_folder import no_empty
from scbench.release.load import find_release

if TYPE_CHECKING:
    from scbench.integrations.inspect.play import Plan, Played, PlayOptions

# Folder of Inspect's logs, in the folder of the results.
LOGS = "logs"
# Prompts contain many numbers, which need more tokens per character than English does.
CHARACTERS_A_TOKEN = 3
EPILOG = """\
After Ctrl-C, run the same command to continue; a larger --samples or --limit only adds calls.
Exit codes are those of scbench-grade. In addition, 1 means that some calls were never answered, and
5 that the run stopped because 10 calls in a row failed in the same way.
"""

app = typer.Typer(rich_markup_mode=None)


@app.command(epilog=EPILOG)
def run(
    model: Annotated[
        str,
        typer.Argument(
            show_default=False,
            help=(
                "Model name in Inspect: openai/gpt-5, anthropic/claude-opus-4-5, or "
                "openai-api/SERVICE/MODEL for any endpoint with OpenAI's chat API (key in "
                "SERVICE_API_KEY)."
            ),
        ),
    ],
    release: ReleaseOption = None,
    tasks: TasksOption = None,
    ids: IdsOption = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Run only the first N items of the selection."),
    ] = None,
    samples: SamplesOption = 1,
    budget: BudgetsOption = None,
    effort: Annotated[
        str | None,
        typer.Option(
            show_default=False, help="Reasoning effort, in the provider's own terms."
        ),
    ] = None,
    reasoning_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, help="Limit on reasoning tokens, if the provider accepts one."
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            min=0,
            show_default=False,
            help="Sampling temperature, if the provider accepts one.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            show_default=False, help="Sampling seed, if the provider accepts one."
        ),
    ] = None,
    structured: Annotated[
        bool,
        typer.Option(
            "--structured/--plain",
            help="Require replies that fit the answer's JSON Schema, if supported.",
        ),
    ] = False,
    setting: Annotated[
        LoopSetting | None,
        typer.Option(
            "--setting",
            help="Run a loop: retry, probe or act (docs/environments.md).",
        ),
    ] = None,
    closed: Annotated[
        bool,
        typer.Option(
            "--closed",
            help=(
                "With --setting retry: also include items that a blind guess solves at least 10 % "
                "of the time."
            ),
        ),
    ] = False,
    tools: Annotated[
        bool,
        typer.Option(
            "--tools",
            help=(
                "Offer tools, as in the paper's second setting: Python in a sandbox and web "
                "search, run by Inspect."
            ),
        ),
    ] = False,
    sandbox: Annotated[
        str,
        typer.Option(
            help=(
                "Inspect sandbox in which --tools runs Python; docker:FILE names its "
                "configuration."
            )
        ),
    ] = "docker",
    search: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            help="Web search provider, by its name in Inspect. [default: the model's own]",
        ),
    ] = None,
    images: Annotated[
        bool,
        typer.Option(
            "--images/--no-images",
            help="Include items that need vision, or skip them with the status not_run.",
        ),
    ] = True,
    base_url: Annotated[
        str | None, typer.Option(show_default=False, help="URL of the endpoint.")
    ] = None,
    model_arg: Annotated[
        list[str] | None,
        typer.Option(
            "--model-arg",
            "-M",
            metavar="NAME=VALUE",
            show_default=False,
            help="Extra argument for the provider, as in `inspect eval -M`. Repeat for more.",
        ),
    ] = None,
    max_connections: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Maximum number of concurrent calls. [default: adjusted by Inspect]",
        ),
    ] = None,
    max_retries: Annotated[
        int,
        typer.Option(
            min=0,
            help=(
                "Maximum number of retries of a call after status 429 or 500 or a lost connection. "
                "The wait doubles each time, starting at 3 s."
            ),
        ),
    ] = 7,
    timeout: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default=False,
            help="Time limit in seconds for a call with its retries.",
        ),
    ] = None,
    attempt_timeout: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Time limit in seconds for one attempt. [default: --timeout, or the provider's]",
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
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help=(
                "Continue the run in --out even if it was started on another machine or by someone "
                "else. Its answers count."
            ),
        ),
    ] = False,
    workers: WorkersOption = 0,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Call no model; print the number of prompts, characters and tokens of the run.",
        ),
    ] = False,
    price: Annotated[
        str | None,
        typer.Option(
            metavar="SENT,RECEIVED",
            show_default=False,
            help=(
                "For --dry-run: prices in US dollars per million input and output tokens, such as "
                "1.25,10."
            ),
        ),
    ] = None,
    style: ScoreFormOption = "table",
    quiet: QuietOption = False,
) -> None:
    """Run a model, grade its answers, and print the scores.

    Inspect makes the calls and keeps the logs; `inspect view --log-dir OUT/logs` shows every
    message. Grading is the same as with `scbench-grade`. A short test call comes first, so that a
    wrong model name or key fails immediately.
    """
    with reported_errors("inspect"):
        if not dry_run:
            require("inspect_ai")
        check_memory()
        only_ids = None if ids is None else sorted(ids_in(ids))
        if only_ids is not None and limit is not None:
            raise PredictionsError("--ids already selects the items; leave out --limit")
        is_closed_elsewhere = closed and setting != "retry"
        is_loop_with_more = setting is not None and (tools or structured)
        if is_closed_elsewhere or is_loop_with_more:
            raise PredictionsError(
                "--setting does not work with --tools or --structured, and --closed needs "
                "--setting retry"
            )
        source, covered, instances = select(
            find_release(release), tasks=names_in(tasks), ids=only_ids
        )
        budgets = sorted(set(budget or ()))
        if dry_run:
            sent = instances if images else split_by_images(instances).without_images
            print_size(sent[:limit], samples * max(len(budget or ()), 1), price)
            return
        from scbench.integrations.inspect.play import Plan, PlayOptions

        parameters: dict[str, Any] = {
            "tasks": covered,
            "variant": source.manifest.config or "default",
            "release": release,
            "effort": effort,
            "reasoning_tokens": reasoning_tokens,
            "images": images,
        }
        # The hash of the parameters ties a folder to one plan, so unused options must not change
        # it.
        if setting is not None:
            parameters |= {"setting": setting, "closed": closed}
        if structured:
            parameters["schema"] = True
        if tools:
            parameters |= {"tools": True, "sandbox": sandbox, "search": search}
        sampling = {"temperature": temperature, "seed": seed}
        arguments = dict(map(model_argument, model_arg or ()))
        plan = Plan(model, source.version, parameters, sampling, budgets, arguments)
        play_options = PlayOptions(
            samples,
            limit,
            only_ids,
            base_url,
            max_connections,
            max_retries,
            timeout,
            attempt_timeout,
            resume,
            warn=warn,
        )
        folder = out or Path("scbench-results", model.replace("/", "-"))
        played = play_shown(plan, play_options, folder, quiet=quiet)
        complete, files, exhausted = played
        if exhausted:
            say(f"stopped, because 10 calls in a row failed: {exhausted}")
        if not complete:
            say("some calls were never answered; run the same command to retry them")
        if not images:
            left_out = folder / LOGS / "left-out.jsonl"
            left_out.unlink(missing_ok=True)
            pictured = split_by_images(instances).with_images
            write_left_out(requests(pictured, samples, budgets), left_out)
            files.append(str(left_out))
        # The logs of a loop state its setting.
        tool_setting = None
        if setting is None:
            tool_setting = "tools" if tools else "no_tools"
        read = ImportOptions(setting=tool_setting)
        path, imported = import_and_report(
            files, folder, quiet=quiet, read=read, restart=True
        )
        options = Options(
            predictions=path,
            release=source,
            out=folder,
            limits=WorkerLimits(workers or processors(), None, MEMORY),
            tasks=covered,
            # Few tasks support every setting of a loop.
            partial=limit is not None or only_ids is not None or setting is not None,
            restart=True,
            imported=imported,
            has_resume=False,
        )
        exit_code = 0 if complete else PROBLEMS
        if exhausted:
            exit_code = EXHAUSTED
        grade_and_print(options, style, report=False, quiet=quiet, least=exit_code)


def print_size(instances: Sequence[Instance], times: int, price: str | None) -> None:
    """Print the number of prompts, characters and tokens (estimated) of a run, and its cost.

    Args:
        instances: instances to run.
        times: number of calls per instance, over all samples and budgets.
        price: --price.

    Raises:
        PredictionsError: the price is not two numbers.
    """
    prompts = len(instances) * times
    pictured = len(split_by_images(instances).with_images) * times
    characters = sum(len(instance.prompt) for instance in instances) * times
    tokens_sent = round(characters / CHARACTERS_A_TOKEN)
    # The length of answers is unknown, so the estimate assumes 1,000 tokens per answer.
    tokens_received = prompts * 1000
    money_sent = ""
    money_received = ""
    if price is not None:
        try:
            sent, received = (float(part) / 1e6 for part in price.split(","))
        except ValueError:
            raise PredictionsError(
                "--price must be two numbers separated by a comma, in US dollars per million "
                "tokens sent and received, such as 1.25,10"
            ) from None
        money_sent = f": {tokens_sent * sent:,.2f} USD"
        money_received = f": {tokens_received * received:,.2f} USD"
    print(  # noqa: T201
        f"{counted(prompts, 'prompt')}, {pictured:,} with an image\n"
        f"{characters:,} characters, about {tokens_sent:,} tokens sent "
        f"({CHARACTERS_A_TOKEN} characters per token, without images){money_sent}\n"
        "every 1,000 output tokens per answer (including reasoning) add "
        f"{tokens_received:,} tokens received{money_received}"
    )


def play_shown(
    plan: "Plan", play_options: "PlayOptions", folder: Path, *, quiet: bool
) -> "Played":
    """Ask the model, and show progress."""
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
                play_options = replace(
                    play_options,
                    say=say,
                    on_reply=partial(show_replies, bar),
                    on_error=bar.failing,
                )
            return play(plan, play_options, logs)
    except KeyboardInterrupt:
        state = "no prompt was sent and nothing was saved"
        if logs.is_dir():
            state = f"answers so far are in {logs}; run the same command to continue"
        say(f"interrupted; {state}")
        raise typer.Exit(INTERRUPTED) from None


def show_replies(bar: Quiet, replies: int, total: int, cost: str) -> None:
    """Show the replies so far, their total, and their cost in words."""
    bar.done(replies, replies, total, cost)


def warn(message: str) -> None:
    """Print a warning, also with --quiet."""
    say(f"warning: {message}")


def model_argument(text: str) -> tuple[str, object]:
    """Return the name and value of --model-arg: a JSON value if possible, else text.

    Raises:
        PredictionsError: there is no value.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise PredictionsError(f"--model-arg must be NAME=VALUE, not {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
