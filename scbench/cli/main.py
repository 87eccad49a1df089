"""``scbench``: all commands. A command's module is imported when the command is run."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from scbench.cli.console import USAGE, misused, reported_errors, say
from scbench.cli.options import VersionOption
from scbench.cli.start import start


class LazyCommand(NamedTuple):
    """A command that is known without its module."""

    module: str
    """Module in `scbench.cli`, whose ``app`` has the command or is the group of commands."""
    summary: str
    """First line of its help, which `scbench --help` lists."""


# Commands by name, under the headings of `scbench --help`.
SECTIONS = {
    "Run a model": {
        "run": LazyCommand(
            "running", "Ask a model, grade its answers, and print the scores."
        ),
        "prompts": LazyCommand(
            "exchange", "Write prompts, or a provider's batch files."
        ),
        "import": LazyCommand(
            "exchange", "Turn files of other programs into predictions."
        ),
        "export": LazyCommand(
            "exchange", "Copy a release to a folder, for other programs."
        ),
        "example": LazyCommand("exchange", "Print predictions to try the grader on."),
    },
    "Grade answers": {
        "grade": LazyCommand("grade", "Grade a predictions file."),
        "merge": LazyCommand("merging", "Join the results of all shards of a file."),
        "submission": LazyCommand(
            "submission", "Prepare, check and grade an entry for the leaderboard."
        ),
    },
    "Analyse results": {
        "tables": LazyCommand(
            "analysis", "Print the scores of models, with intervals."
        ),
        "compare": LazyCommand("analysis", "Compare runs, and say which is better."),
        "report": LazyCommand("looking", "Write an HTML report."),
        "show": LazyCommand("looking", "Show one item, and what an answer did to it."),
        "failure-modes": LazyCommand("failure_modes", "Diagnose low scores."),
        "items": LazyCommand("analysis", "Show single items over all runs."),
        "samples": LazyCommand(
            "analysis", "Show what several answers to an item are worth."
        ),
        "cost": LazyCommand("analysis", "Show tokens, seconds and money."),
        "manifolds": LazyCommand(
            "manifolds", "Show where accuracy on text tasks falls off."
        ),
        "export-results": LazyCommand("exchange", "Write results as other tools do."),
    },
    "Climb the ladder": {
        "ladder": LazyCommand("ladder", "Show how far models get on the ladder."),
        "generate": LazyCommand(
            "generating", "Generate new items of a task, or a whole experiment."
        ),
        "tasks": LazyCommand("task_lists", "List tasks, or one task's parameters."),
    },
    "Maintain a release or a board": {
        "doctor": LazyCommand(
            "doctor", "Say what this machine can grade, and what it lacks."
        ),
        "release": LazyCommand(
            "releases", "Build, verify, publish and compare releases."
        ),
        "leaderboard": LazyCommand(
            "leaderboard", "Build the board of a folder of submissions."
        ),
        "gallery": LazyCommand("looking", "Draw one item of every task."),
    },
}
COMMANDS = {
    name: command
    for commands in SECTIONS.values()
    for name, command in commands.items()
}
# Commands of earlier versions, and the command lines that replace them.
RENAMED = {
    "budget": "cost --by budget",
    "turns": "samples",
    "runs": "tables --by run",
    "next": "ladder --next N",
    "gap": "ladder PUBLIC --private PRIVATE",
    "path": "export",
}


class LazyCommands(TyperGroup):
    """The commands of ``scbench``: listed without importing them, imported to be run."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(**settings)
        # Stand-ins, so that click knows the names for its suggestions.
        for name, command in COMMANDS.items():
            self.commands[name] = TyperCommand(
                name, help=command.summary, rich_markup_mode=None
            )

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002
        """Import and return a command; None if there is none of that name."""
        if cmd_name in RENAMED:
            misused(f"scbench {cmd_name} is now scbench {RENAMED[cmd_name]}")
        if cmd_name not in COMMANDS:
            return None
        with reported_errors():
            module = import_module(f"scbench.cli.{COMMANDS[cmd_name].module}")
        group = typer.main.get_group(module.app)
        # Without a command of that name, the module is a group of its own: scbench release build.
        return group.commands.get(cmd_name, group)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """List the commands under their headings."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, command.summary) for name, command in commands.items()]
                )


app = typer.Typer(
    cls=LazyCommands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="The Spatial Competence Benchmark. scbench-grade is short for scbench grade.",
)


@app.callback()
def main(version: VersionOption = False) -> None:
    """Take the options of ``scbench`` itself."""


def run() -> None:
    """Entry point of ``scbench``."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    # No command has a dot or a slash in its name.
    looks_like_path = "." in first or os.sep in first
    if looks_like_path and Path(first).is_file():
        say(f"error: {first} is a file; to grade it: scbench grade {first}")
        sys.exit(USAGE)
    start(app, "scbench")
