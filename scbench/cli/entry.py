"""Entry points of the installed commands.

This module imports almost nothing, so that Ctrl-C is quiet while the commands are imported.
"""

from scbench.cli.interrupts import make_interrupts_quiet


def scbench() -> None:
    """Run ``scbench``."""
    make_interrupts_quiet()
    from scbench.cli.main import run

    run()


def scbench_grade() -> None:
    """Run ``scbench-grade``."""
    make_interrupts_quiet()
    from scbench.cli.grade import run

    run()
