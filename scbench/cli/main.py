"""``scbench``: all commands. The module of a command is imported when the command runs."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from scbench.cli.console import USAGE, misused, reported_errors, say
from scbench.cli.lazy_command import LazyCommand
from scbench.cli.options import HELP_OPTIONS, VersionOption
from scbench.cli.start import start
from scbench.machine.limits import check_limits

# Commands by name, under the headings of `scbench --help`.
SECTIONS = {
    "Run a model": {
        "run": LazyCommand(
            "running", "Run a model, grade its answers, and print the scores."
        ),
        "prompts": LazyCommand(
            "exchange", "Write prompts, or batch files for a provider."
        ),
        "import": LazyCommand(
            "exchange", "Convert files from other programs to predictions."
        ),
        "export": LazyCommand(
            "exchange", "Copy a release to a folder that other programs can load."
        ),
        "example": LazyCommand(
            "exchange", "Print sample predictions to try the grader on."
        ),
    },
    "Grade answers": {
        "grade": LazyCommand("grade", "Grade a predictions file."),
        "merge": LazyCommand("merging", "Merge the results of all shards of a file."),
        "submission": LazyCommand(
            "submission", "Prepare, check and grade a leaderboard submission."
        ),
    },
    "Analyse results": {
        "tables": LazyCommand(
            "analysis", "Print the scores of models, with intervals."
        ),
        "compare": LazyCommand("analysis", "Compare runs and say which is better."),
        "report": LazyCommand("looking", "Write an HTML report."),
        "show": LazyCommand("looking", "Show one item, with an answer and its checks."),
        "failure-modes": LazyCommand(
            "failure_modes", "Label the causes of low scores."
        ),
        "items": LazyCommand(
            "analysis", "Show each item's scores, and why answers fell short."
        ),
        "samples": LazyCommand(
            "analysis", "Show how scores change with several answers per item."
        ),
        "cost": LazyCommand("analysis", "Show tokens, time and cost."),
        "manifolds": LazyCommand(
            "manifolds", "Show how accuracy on text tasks depends on their parameters."
        ),
        "export-results": LazyCommand(
            "exchange", "Write results in the formats of other tools."
        ),
    },
    "Generate items and use the ladder": {
        "ladder": LazyCommand("ladder", "Show how far models get on the ladder."),
        "generate": LazyCommand(
            "generating", "Generate new items of a task, an experiment or the ladder."
        ),
        "play": LazyCommand("playing", "Do the tasks by hand, in a browser."),
        "tasks": LazyCommand(
            "task_lists", "List the tasks, or the parameters of one task."
        ),
    },
    "Maintain releases and leaderboards": {
        "doctor": LazyCommand(
            "doctor", "Show what this machine can grade, and what is missing."
        ),
        "release": LazyCommand(
            "releases", "Build, verify, publish and compare releases."
        ),
        "leaderboard": LazyCommand(
            "leaderboard", "Build the leaderboard from a folder of submissions."
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
    """The commands of ``scbench``, which are imported only when they run."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(**settings)
        self._completes_names = False
        # Placeholders, so that click knows the names for its suggestions.
        for name, command in COMMANDS.items():
            self.commands[name] = TyperCommand(
                name, help=command.summary, rich_markup_mode=None
            )

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002
        """Import and return a command; None if no command has that name."""
        if self._completes_names:
            return self.commands.get(cmd_name)
        if cmd_name in RENAMED:
            misused(
                f"`scbench {cmd_name}` has been renamed: use `scbench {RENAMED[cmd_name]}`"
            )
        if cmd_name not in COMMANDS:
            return None
        with reported_errors():
            # Before the import: its libraries start threads.
            check_limits()
            module = import_module(f"scbench.cli.{COMMANDS[cmd_name].module}")
        group = typer.main.get_group(module.app)
        # A module without a command of that name is a group, such as `scbench release`.
        return group.commands.get(cmd_name, group)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:  # noqa: ANN401
        """Return the completions of a word. Completing a command's name does not import it."""
        self._completes_names = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._completes_names = False

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """List the commands under their headings."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, command.summary) for name, command in commands.items()]
                )


app = typer.Typer(
    cls=LazyCommands,
    context_settings=HELP_OPTIONS,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help=(
        "The Spatial Competence Benchmark. `scbench-grade` is short for `scbench "
        "grade`."
    ),
)


@app.callback()
def main(version: VersionOption = False) -> None:
    """Accept the options of ``scbench`` itself."""


def run() -> None:
    """Entry point of ``scbench``."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    # No command has a dot or a slash in its name.
    looks_like_path = "." in first or os.sep in first
    if looks_like_path and Path(first).is_file():
        say(f"error: {first} is a file; to grade it: scbench grade {first}")
        sys.exit(USAGE)
    start(app, "scbench")
