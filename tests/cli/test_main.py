"""Listing commands does not import them; calling one does."""

import sys

import pytest
import typer
from commands import run
from typer.testing import CliRunner

from scbench.cli.main import app

GROUP = typer.main.get_command(app)


@pytest.mark.parametrize("name", GROUP.commands)
def test_command_is_listed_by_the_first_line_of_its_help(name):
    listing, command = GROUP.commands[name], GROUP.get_command(None, name)
    assert listing.get_short_help_str(200) == command.get_short_help_str(200)


def test_help_lists_all_commands_and_imports_none():
    code = (
        "import sys; from scbench.cli.main import app\n"
        "try: app(['--help'])\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = run(sys.executable, "-c", code, code=0)
    assert [name for name in GROUP.commands if f"\n  {name} " not in done.stdout] == []
    loaded = {name for name in done.stderr.split() if name.startswith("scbench.cli.")}
    needed = ("main", "console", "interrupts", "lazy_command", "options", "start")
    assert loaded <= {f"scbench.cli.{name}" for name in needed}


@pytest.mark.parametrize("name", [None, *GROUP.commands])
def test_short_help_equals_help(name):
    words = [] if name is None else [name]
    short, long = (CliRunner().invoke(app, [*words, flag]) for flag in ("-h", "--help"))
    assert (short.exit_code, short.stdout) == (0, long.stdout)
    assert "-h, --help" in short.stdout


@pytest.mark.parametrize("program", ["scbench", "scbench-grade"])
def test_shells_get_completions(program):
    # The shell is that of the parent; with one command only, Bash would not stay the parent.
    script = run("bash", "-c", f"{program} --show-completion; true", code=0).stdout
    assert f"_{program.replace('-', '_')}_completion".upper() in script.upper()
    words = {"scbench": "scbench rel", "scbench-grade": "scbench-grade --rel"}[program]
    variables = {
        f"_{program.replace('-', '_').upper()}_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": "1",
    }
    completed = run(program, **variables).stdout.split()
    assert {"release", "--release"} & {*completed}
