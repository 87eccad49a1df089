"""``scbench path``: folders of this package that other tools are pointed at."""

from importlib.resources import files
from typing import Annotated

import typer

from scbench.cli.console import reported_errors

_FOLDERS = {"lm-eval": "lm_eval", "verifiers": "verifiers_env"}
"""Folder in `scbench.integrations` by the name it is asked for."""


def path(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"{' or '.join(_FOLDERS)}: tasks for lm_eval --include_path; a package for "
            "verifiers, to be installed or pushed to the hub.",
            show_default=False,
        ),
    ],
) -> None:
    """Print the folder that another tool reads.

    lm_eval --include_path "$(scbench path lm-eval)" --tasks scbench
    """
    with reported_errors():
        from scbench.base.errors import ScbenchError

        if name not in _FOLDERS:
            raise ScbenchError(f"no folder {name!r}; there are {' and '.join(_FOLDERS)}")
        print(files("scbench.integrations").joinpath(_FOLDERS[name]))  # noqa: T201
