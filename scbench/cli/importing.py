"""``scbench import``: what other programs wrote, as predictions."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scbench.base.errors import PredictionsError
from scbench.cli.console import PROBLEMS, reported_errors, say
from scbench.cli.options import ColumnMap, ModelName, Quiet, SettingName

if TYPE_CHECKING:
    from scbench.grading.options import Imported


def import_(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="What a batch (OpenAI, Anthropic, Gemini, vLLM), Inspect, lm-evaluation-harness, "
            "lighteval or verifiers wrote; a table; predictions. - reads standard input.",
            show_default=False,
        ),
    ],
    mapped: ColumnMap = None,
    model: ModelName = None,
    setting: SettingName = None,
    quiet: Quiet = False,
) -> None:
    """Turn files of other programs into predictions.

    One line for each reply.

    Files are told by what is in them. Errors, refusals, cut-offs and usage come along. Every entry
    that cannot be placed is named with its file and line; then the exit code is 1.
    """
    with reported_errors():
        from scbench.formats.imports.gather import Wanted, gather
        from scbench.formats.imports.tables import read_mapping

        wanted = Wanted(read_mapping(mapped), model, setting)
        found = gather(files, sys.stdout.buffer, wanted)
        sys.stdout.buffer.flush()
        if not quiet:
            say(f"recognised {found.recognised}")
        for problem in found.problems:
            say(f"problem: {problem}")
        raise typer.Exit(PROBLEMS if found.problems else 0)


def taken_in(
    files: list[str],
    folder: Path,
    mapped: str | None,
    model: str | None,
    setting: str | None,
    *,
    quiet: bool,
) -> "tuple[str, Imported | None]":
    """Return the path of the predictions that the files make; what they are is said in a line."""
    from scbench.formats.imports.gather import Wanted
    from scbench.formats.imports.tables import read_mapping
    from scbench.grading.checkpoint import WORK
    from scbench.grading.options import take_in
    from scbench.machine.work_folder import interrupted

    for file in files:
        if os.path.isdir(file):  # noqa: PTH112  (a name may be too long for Path)
            raise PredictionsError(
                f"{file} is a folder; name the file of predictions. Results that a folder holds "
                f"are shown by `scbench tables {file}`"
            )
    wanted = Wanted(read_mapping(mapped), model, setting)
    path, imported = take_in(files, folder, wanted, ours=interrupted(folder / WORK))
    if imported is not None and not quiet:
        say(f"recognised {imported.recognised}")
    return path, imported
