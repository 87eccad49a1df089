"""Options and arguments that several commands share, as types for their parameters."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from scbench.base import __version__
from scbench.cli.console import checked_chart_path

# Settings that all command lines share.
HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}

# Formats of the scores of a run.
ScoreForm = Literal["table", "json", "csv", "markdown"]
# Formats of an analysis: three for people, three for programs.
TableForm = Literal["table", "markdown", "latex", "csv", "json", "parquet"]
# Formats of a list of tasks, and of the scores of a submission.
ListForm = Literal["table", "markdown", "json"]
# Experiment trackers that can receive results.
Tracker = Literal["wandb", "mlflow"]
# Settings in files from other programs, and of answers that `scbench show` can select.
ToolSetting = Literal["no_tools", "tools"]


def show_version(value: bool) -> None:
    """Print the version and exit, if --version was given."""
    if value:
        print(f"scbench {__version__}")  # noqa: T201
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option(
        "--version",
        callback=show_version,
        # Works without the arguments that the command requires.
        is_eager=True,
        help="Show the version and exit.",
    ),
]

# Choice of items.
ReleaseOption = Annotated[
    str | None,
    typer.Option(
        "--release",
        help=(
            "Release to use: an installed version, a folder, a .zip file, or "
            "ORG/NAME@REVISION on the Hub. [default: newest installed]"
        ),
    ),
]
TasksOption = Annotated[
    str | None,
    typer.Option(
        "--tasks",
        help=(
            "Only these tasks or buckets, separated by commas. The names terse, pictures, "
            "ladder and manifolds select the items of that config."
        ),
    ),
]
IdsOption = Annotated[
    str | None,
    typer.Option(
        "--ids",
        metavar="FILE",
        show_default=False,
        help=(
            "Only these items: a file with one id per line, as printed by `scbench ladder "
            "--next`; - reads standard input."
        ),
    ),
]

HumanOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--human",
        metavar="FOLDER",
        show_default=False,
        help=(
            "Results of people on the ladder (see `scbench play --measure`), shown in a "
            "separate table."
        ),
    ),
]

# Requests to a model.
SamplesOption = Annotated[
    int,
    typer.Option(
        "--samples", min=1, help="Number of answers to request for each item."
    ),
]
BudgetsOption = Annotated[
    list[int] | None,
    typer.Option(
        "--budget",
        min=1,
        show_default=False,
        help=(
            "Limit on output tokens per answer. Each limit counts as a separate run; repeat the "
            "option for a sweep."
        ),
    ),
]

# Files from other programs.
ColumnMapOption = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="id=COLUMN,response=COLUMN",
        show_default=False,
        help=(
            "For tables (CSV, Parquet, JSON Lines): the columns that contain the fields of "
            "a prediction."
        ),
    ),
]
ReplyModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        show_default=False,
        help="For files from other programs: the model's name, overriding the one in the file.",
    ),
]
ReplySettingOption = Annotated[
    ToolSetting | None,
    typer.Option(
        "--setting",
        show_default=False,
        help="For files from other programs: whether the model had access to tools.",
    ),
]

# Work on this machine.
WorkersOption = Annotated[
    int,
    typer.Option(min=0, help="Worker processes; 0 means one per available processor."),
]
AllowCodeOption = Annotated[
    bool,
    typer.Option(
        "--allow-code", help="Run answers that are Python programs, in a sandbox."
    ),
]
TerrainPythonOption = Annotated[
    Path | None,
    typer.Option(
        "--terrain-python",
        metavar="PATH",
        exists=True,
        dir_okay=False,
        show_default=False,
        help=(
            "Path of a Python 3.11 with PyBullet, for terrain_levelling, if this Python does not "
            "have PyBullet."
        ),
    ),
]
FromScratchOption = Annotated[
    bool,
    typer.Option(
        "--from-scratch",
        help=(
            "Ignore cached work on this machine: generate, solve and grade everything "
            "again, and cache the results."
        ),
    ),
]

# Results and their tables.
ResultsArgument = Annotated[
    list[Path],
    typer.Argument(help="results.parquet files, or folders that contain one."),
]
ScoreFormOption = Annotated[
    ScoreForm,
    typer.Option("--format", help="Format of the printed results."),
]
TableFormOption = Annotated[
    TableForm, typer.Option("--format", help="Format of the table.")
]
TableOutOption = Annotated[
    Path | None,
    typer.Option("--out", help="File to write to, instead of standard output."),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        callback=checked_chart_path,
        help=(
            "Also draw a chart: FILE.svg, FILE.png or FILE.html. A name ending in -dark, "
            "such as FILE-dark.png, selects dark colours."
        ),
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print errors only, without progress or messages."
    ),
]
