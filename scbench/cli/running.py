"""``scbench run``: from a model to its tables, by Inspect."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from scbench.base.errors import PredictionsError
from scbench.base.model import Instance, LoopSetting
from scbench.cli.console import (
    INTERRUPTED,
    PROBLEMS,
    names_in,
    reported_errors,
    require,
    say,
)
from scbench.cli.exchange import ids_in
from scbench.cli.options import Commands, ScoreForm
from scbench.cli.progress import Quiet, progress
from scbench.cli.verdicts import grade_and_tell, taken_in
from scbench.formats.imports.gather import ImportOptions
from scbench.formats.prompts import requests, select, told_apart, write_left_out
from scbench.grading.run import Options
from scbench.grading.workers.live import MEMORY
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.processes import check_memory, processors
from scbench.machine.work_folder import no_empty
from scbench.release.load import find_release

if TYPE_CHECKING:
    from scbench.integrations.inspect.play import Pace, Plan

app = Commands()


LOGS = "logs"
EPILOG = """\
Ctrl-C, and the same command later goes on where it was; so does one with more --samples or a larger
--limit. Exit codes: those of scbench-grade, and 1 if calls were never answered.
"""


# Prompts are rich in numbers, of which a token holds fewer characters than of English.
_CHARACTERS_A_TOKEN = 3


@app.command(epilog=EPILOG)
def run(
    model: str,
    release: str | None = None,
    tasks: str | None = None,
    ids: str | None = None,
    limit: int | None = None,
    samples: int = 1,
    budget: list[int] | None = None,
    effort: str | None = None,
    reasoning_tokens: int | None = None,
    temperature: float | None = None,
    seed: int | None = None,
    structured: bool = False,
    setting: LoopSetting | None = None,
    closed: bool = False,
    tools: bool = False,
    sandbox: str = "docker",
    search: str | None = None,
    images: bool = True,
    base_url: str | None = None,
    model_arg: list[str] | None = None,
    max_connections: int | None = None,
    max_retries: int = 7,
    timeout: int | None = None,
    attempt_timeout: int | None = None,
    out: Path | None = None,
    workers: int = 0,
    dry_run: bool = False,
    price: str | None = None,
    style: ScoreForm = "table",
    quiet: bool = False,
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
        only = None if ids is None else sorted(ids_in(ids))
        if only is not None and limit is not None:
            raise PredictionsError(
                "--ids says which items are asked: leave --limit out"
            )
        if (closed and setting != "retry") or (setting and (tools or structured)):
            says = "--setting goes without --tools and --structured, --closed with --setting retry"
            raise PredictionsError(says)
        source = find_release(release)
        source, covered, instances = select(source, tasks=names_in(tasks), ids=only)
        if dry_run:
            sent = instances if images else told_apart(instances)[False]
            _tell_size(sent[:limit], samples * max(len(budget or ()), 1), price)
            return
        from scbench.integrations.inspect.play import Pace, Plan

        parameters = {
            "tasks": covered,
            "variant": source.manifest.config or "default",
            "release": release,
            "effort": effort,
            "reasoning_tokens": reasoning_tokens,
            "images": images,
            **({"setting": setting, "closed": closed} if setting else {}),
            **({"schema": True} if structured else {}),
            **({"tools": True, "sandbox": sandbox, "search": search} if tools else {}),
        }
        arguments = dict(map(_model_argument, model_arg or ()))
        sampling = {"temperature": temperature, "seed": seed}
        folder = out or Path("scbench-results", model.replace("/", "-"))
        budgets = sorted({*(budget or ())})
        plan = Plan(model, source.version, parameters, sampling, budgets, arguments)
        tries = (max_connections, max_retries, timeout, attempt_timeout)
        pace = Pace(samples, limit, only, base_url, *tries)
        complete, files = _play(plan, pace, folder, quiet=quiet)
        if not complete:
            say("some calls were never answered; the same command asks these again")
        if not images:
            files += _write_left_out(
                instances, folder / LOGS / "left-out.jsonl", samples, budgets
            )
        read = ImportOptions(
            setting=None if setting else "tools" if tools else "no_tools"
        )
        path, imported = taken_in(files, folder, quiet=quiet, read=read, restart=True)
        grade_and_tell(
            Options(
                predictions=path,
                release=source,
                out=folder,
                limits=WorkerLimits(workers or processors(), None, MEMORY),
                tasks=covered,
                # Few tasks have every setting of the loop.
                partial=limit is not None or only is not None or setting is not None,
                restart=True,
                imported=imported,
            ),
            style,
            report=False,
            quiet=quiet,
            least=0 if complete else PROBLEMS,
        )


def _tell_size(instances: Sequence[Instance], times: int, price: str | None) -> None:
    """Print what asking takes: prompts, characters, tokens by an estimate, and money."""
    prompts = len(instances) * times
    characters = sum(len(instance.prompt) for instance in instances) * times
    tokens = round(characters / _CHARACTERS_A_TOKEN)
    pictured = len(told_apart(instances)[True]) * times
    money = ["", ""]
    if price is not None:
        parts = price.split(",")
        try:
            sent, received = (float(part) / 1e6 for part in parts)
        except ValueError:
            raise PredictionsError(
                "--price takes US dollars for a million tokens sent and received: 1.25,10"
            ) from None
        money = [
            f": {tokens * sent:,.2f} US$",
            f": {prompts * 1000 * received:,.2f} US$",
        ]
    print(  # noqa: T201
        f"{prompts:,} prompts, {pictured:,} of them with an image\n"
        f"{characters:,} characters, about {tokens:,} tokens sent "
        f"(one for {_CHARACTERS_A_TOKEN} characters, images not counted){money[0]}\n"
        f"for each 1,000 tokens that an answer takes, reasoning included: "
        f"{prompts * 1000:,} tokens received{money[1]}"
    )


def _play(
    plan: "Plan", pace: "Pace", folder: Path, *, quiet: bool
) -> tuple[bool, list[str]]:
    """Ask, and show how far that is; return whether every call was answered, and the logs."""
    from scbench.integrations.inspect.play import play

    logs = folder / LOGS
    words: dict[str, Any] = {"doing": "asking", "done": "asked", "things": "prompts"}
    try:
        with (
            no_empty(folder),
            progress(None, quiet=quiet, estimate=True, **words) as bar,
        ):
            shown = (
                pace
                if quiet
                else replace(pace, say=say, on_reply=partial(_show_replies, bar))
            )
            return play(plan, shown, logs)
    except KeyboardInterrupt:
        reached = f"what was answered is in {logs}, and the same command continues"
        say(
            f"interrupted; {reached if logs.is_dir() else 'no prompt was asked, nothing is kept'}"
        )
        raise typer.Exit(INTERRUPTED) from None


def _show_replies(bar: Quiet, replies: int, total: int, cost: str) -> None:
    bar.done(replies, replies, total, cost)


def _model_argument(text: str) -> tuple[str, object]:
    """Return the name and value of --model-arg: a number or truth value where it is one."""
    name, equals, value = text.partition("=")
    if not equals:
        raise PredictionsError("--model-arg needs NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _write_left_out(
    instances: list[Instance], path: Path, samples: int, budgets: Sequence[int]
) -> list[str]:
    """Write down what was not asked for want of vision."""
    path.unlink(missing_ok=True)
    write_left_out(requests(told_apart(instances)[True], samples, budgets), path)
    return [str(path)]
