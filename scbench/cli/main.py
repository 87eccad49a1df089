"""``scbench``: releases, tasks and examples. A command is imported when it is asked for."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from scbench.cli.console import USAGE, misused, reported_errors, say
from scbench.cli.options import Version, descriptions
from scbench.cli.start import start

# By group: the module of each command, and the first line of its help, which lists it.
_GROUPS: dict[str, dict[str, list[str]]] = descriptions()["commands"]
_COMMANDS = {
    name: command for group in _GROUPS.values() for name, command in group.items()
}
# What commands of earlier versions are called now.
_RENAMED: dict[str, str] = descriptions()["renamed"]


class _Commands(TyperGroup):
    """The commands, each known by its line until it is asked for: listing them loads nothing."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(**settings)
        for name, (_, line) in _COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=line, rich_markup_mode=None)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002
        """Return a command, imported; None if there is none of that name."""
        if cmd_name in _RENAMED:
            misused(f"scbench {cmd_name} is now scbench {_RENAMED[cmd_name]}")
        if cmd_name not in _COMMANDS:
            return None
        with reported_errors():
            module = import_module(f"scbench.cli.{_COMMANDS[cmd_name][0]}")
        group = typer.main.get_group(module.app)
        return group.commands.get(cmd_name, group)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """List the commands of each group by their lines."""
        for title, commands in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, line) for name, (_, line) in commands.items()]
                )


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="The Spatial Competence Benchmark. scbench-grade is short for scbench grade.",
)


@app.callback()
def _main(version: Version = False) -> None:
    pass


def run() -> None:
    """Entry point of ``scbench``."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if (
        not {".", os.sep}.isdisjoint(first) and Path(first).is_file()
    ):  # no command has these
        say(f"error: {first} is a file; to grade it: scbench grade {first}")
        sys.exit(USAGE)
    start(app, "scbench")
