"""Commands are listed without being imported, and imported when they are asked for."""

import sys

import pytest
import typer
from commands import run

from scbench.cli.main import app

GROUP = typer.main.get_command(app)


@pytest.mark.parametrize("name", GROUP.commands)
def test_a_command_is_listed_by_the_first_line_of_its_help(name):
    listing, command = GROUP.commands[name], GROUP.get_command(None, name)
    assert listing.get_short_help_str(200) == command.get_short_help_str(200)


def test_help_lists_all_commands_and_loads_none():
    code = (
        "import sys; from scbench.cli.main import app\n"
        "try: app(['--help'])\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = run(sys.executable, "-c", code, code=0)
    assert [name for name in GROUP.commands if f"\n  {name} " not in done.stdout] == []
    loaded = {name for name in done.stderr.split() if name.startswith("scbench.cli.")}
    assert loaded <= {
        f"scbench.cli.{name}" for name in ("main", "console", "options", "start")
    }
