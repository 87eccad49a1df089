"""The type of entries in the list of commands."""

from typing import NamedTuple


class LazyCommand(NamedTuple):
    """A command that is listed without importing its module."""

    module: str
    """Module in `scbench.cli` whose ``app`` contains the command or is the group of commands."""
    summary: str
    """First line of its help, shown by `scbench --help`."""
