"""Options and arguments that several commands share, as types for their parameters."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from scbench.base import __version__
from scbench.cli.console import checked_chart_path

# Forms of the scores of a run.
ScoreForm = Literal["table", "json", "csv", "markdown"]
# Forms of an analysis: three for people, three for programs.
TableForm = Literal["table", "markdown", "latex", "csv", "json", "parquet"]
# Forms of a list of tasks, and of the scores of a submission.
ListForm = Literal["table", "markdown", "json"]
# Experiment trackers that can get results, too.
Tracker = Literal["wandb", "mlflow"]
# Settings in files of other programs, and of the answers that `scbench show` takes.
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
        # Checked before missing arguments are complained about.
        is_eager=True,
        help="Show the version and exit.",
    ),
]

# Which items.
ReleaseOption = Annotated[
    str | None,
    typer.Option(
        "--release",
        help=(
            "Installed version, folder, .zip, or ORG/NAME@REVISION on the Hub. "
            "[default: newest]"
        ),
    ),
]
TasksOption = Annotated[
    str | None,
    typer.Option(
        "--tasks",
        help=(
            "Only these tasks or buckets, separated by commas; ladder, terse "
            "and manifolds stand for these configs."
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
            "Only these items: a file with an id on each line, as `scbench "
            "ladder --next` prints them; - for standard input."
        ),
    ),
]

# How a model is asked.
SamplesOption = Annotated[
    int, typer.Option("--samples", min=1, help="How often each is asked.")
]
BudgetsOption = Annotated[
    list[int] | None,
    typer.Option(
        "--budget",
        min=1,
        show_default=False,
        help=(
            "Limit of output tokens, which the results then tell runs apart by. "
            "Several times for a sweep."
        ),
    ),
]

# How files of other programs are read.
ColumnMapOption = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="id=COLUMN,response=COLUMN",
        show_default=False,
        help=(
            "Which columns of a table (CSV, Parquet, JSON Lines) hold the "
            "fields of a prediction."
        ),
    ),
]
ReplyModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        show_default=False,
        help="Name of the model, in place of what files of other programs say.",
    ),
]
ReplySettingOption = Annotated[
    ToolSetting | None,
    typer.Option(
        "--setting",
        show_default=False,
        help="Whether the model had tools, in files of other programs.",
    ),
]

# How work is done.
WorkersOption = Annotated[
    int,
    typer.Option(min=0, help="Worker processes; 0 takes one per usable processor."),
]
AllowCodeOption = Annotated[
    bool,
    typer.Option(
        "--allow-code", help="Run Python programs among the answers in a sandbox."
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
            "A Python 3.11 that has PyBullet, for terrain_levelling, if this "
            "one has not."
        ),
    ),
]
FromScratchOption = Annotated[
    bool,
    typer.Option(
        "--from-scratch",
        help=(
            "Forget what was done on this machine before: generate, solve and "
            "judge everything, and remember that."
        ),
    ),
]

# Results, and how tables of them are printed.
ResultsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="results.parquet files, or the folders that scbench-grade wrote."
    ),
]
ScoreFormOption = Annotated[
    ScoreForm,
    typer.Option("--format", help="How results are printed to standard output."),
]
TableFormOption = Annotated[
    TableForm, typer.Option("--format", help="How the table is written.")
]
TableOutOption = Annotated[
    Path | None,
    typer.Option("--out", help="File to write, instead of standard output."),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        callback=checked_chart_path,
        help=(
            "Also plot it: FILE.svg, FILE.png, or FILE.html; FILE-dark.png for "
            "a dark page."
        ),
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress and no messages but errors."),
]
