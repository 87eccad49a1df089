"""``scbench play``: a local web page on which people do the tasks."""

import webbrowser
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from scbench.base.errors import PredictionsError
from scbench.base.model import MAX_ACTION, task_of
from scbench.catalog import get_task
from scbench.cli.console import (
    is_whole_number,
    misused,
    names_in,
    reported_errors,
    say,
)
from scbench.cli.options import QuietOption, ReleaseOption
from scbench.machine.files import open_regular
from scbench.release.load import find_release

# Maximum characters of the alias of a person in predictions, which is one short line.
MOST_ALIAS = 40
# Without --tasks, a measurement uses the tasks of this bucket.
MEASURED_BUCKET = "axiomatic"

app = typer.Typer(rich_markup_mode=None)


@app.command()
def play(
    target: Annotated[
        str | None,
        typer.Argument(
            show_default=False,
            help="A task, an item such as two_segments/07, or ladder:RUNG.",
        ),
    ] = None,
    reply: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help="Text file with a model's reply to the item, to see which answer is extracted.",
        ),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Record one answer per item without feedback; needs --player and --out.",
        ),
    ] = False,
    player: Annotated[
        str | None,
        typer.Option(show_default=False, help="For --measure: alias of the person."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help="Predictions file for --measure. An unfinished session is resumed.",
        ),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            help="For --measure and --export: tasks, separated by commas. [default: axiomatic]",
        ),
    ] = None,
    rungs: Annotated[
        str, typer.Option(help="For --measure and --export: rungs of the ladder.")
    ] = "1-4",
    per_rung: Annotated[
        int,
        typer.Option(
            min=1, help="For --measure and --export: items per rung of each task."
        ),
    ] = 3,
    minutes: Annotated[
        float,
        typer.Option(
            min=1,
            help="For --measure: length of the session in minutes, not counting pauses.",
        ),
    ] = 30,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="For --measure and --export: seed that selects the items."
        ),
    ] = 0,
    export: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help="Write a static site to this new folder instead of starting a server.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 means any free port.")
    ] = 0,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the page in a browser."),
    ] = True,
    release: ReleaseOption = None,
    quiet: QuietOption = False,
) -> None:
    """Do the tasks by hand, in a browser.

    Starts a server that only this machine can reach, prints its address and opens the page. Draw or
    type an answer, and check it with the grader that scores models. Ctrl-C stops the server.
    """
    with reported_errors("play", required=export is None):
        from scbench.play.items import Items, first_item
        from scbench.play.study import StudyPlan, planned_items

        items = Items(find_release(release))
        plan = StudyPlan(
            chosen_tasks(items.tasks, tasks),
            rungs_in(rungs),
            per_rung,
            minutes,
            seed,
        )
        if export is not None:
            from scbench.play.export import write_site

            count = write_site(items, planned_items(items, plan), export)
            if not quiet:
                say(f"wrote {export}: {count} items; open {export / 'index.html'}")
            return
        from scbench.grading.workers.live import LiveGrader
        from scbench.play.server import (
            HOST,
            Opening,
            ServerState,
            new_token,
            open_socket,
            serve,
        )
        from scbench.play.study import Study

        study = None
        opening = Opening("")
        if measure:
            if target is not None or reply is not None:
                misused(
                    "--measure chooses the items itself; leave out TARGET and --reply"
                )
            if player is None or out is None:
                misused("--measure needs --player ALIAS and --out FILE")
            check_alias(player)
            study = Study(planned_items(items, plan), player, minutes * 60, out)
        elif player is not None or out is not None:
            misused("--player and --out work only with --measure")
        else:
            opening = Opening(first_item(items, target), reply_text(reply))
        token = new_token()
        listener = open_socket(port)
        address = f"http://{HOST}:{listener.getsockname()[1]}/{token}/"
        say(f"play at {address} (Ctrl-C stops)")
        if browser:
            webbrowser.open(address)
        serve(ServerState(items, opening, LiveGrader(), study), token, listener)


def chosen_tasks(available: list[str], names: str | None) -> list[str]:
    """Return the tasks to use, in the order of the release."""
    selected = names_in(names)
    if selected is None:
        return [name for name in available if get_task(name).bucket == MEASURED_BUCKET]
    for name in selected:
        get_task(task_of(name))
    return [name for name in available if name in selected]


def rungs_in(text: str) -> list[int]:
    """Return the rungs in a text such as 1-4 or 1,3,5."""
    rungs: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        last = last or first
        if not (is_whole_number(first) and is_whole_number(last)):
            misused(f"--rungs {text}: write rungs such as 1-4 or 1,3,5")
        rungs += range(int(first), int(last) + 1)
    return rungs


def reply_text(path: Path | None) -> str:
    """Return the text of a reply; empty if no file was given.

    Raises:
        PredictionsError: the file cannot be read, or is too long.
    """
    if path is None:
        return ""
    try:
        with TextIOWrapper(open_regular(path), "utf-8", "replace") as stream:
            text = stream.read(MAX_ACTION + 1)
    except OSError as error:
        raise PredictionsError(f"{path}: {error.strerror}") from None
    if len(text) > MAX_ACTION:
        raise PredictionsError(f"{path}: longer than {MAX_ACTION:,} characters")
    return text


def check_alias(player: str) -> None:
    """Refuse an alias that is not one short line."""
    is_one_line = player.strip() == player and player.isprintable()
    if not player or not is_one_line or len(player) > MOST_ALIAS:
        misused(
            f"--player must be an alias of 1 to {MOST_ALIAS} characters, such as p07"
        )
