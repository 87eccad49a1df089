"""Options that several commands take, each declared once."""

from typing import Annotated, Literal

import typer

from scbench.base import __version__

ScoreForm = Literal["table", "json", "csv", "markdown"]
"""Forms of the scores of a run."""
TableForm = Literal["table", "markdown", "latex", "csv", "json", "parquet"]
"""Forms of an analysis: three for people, three for programs."""
ListForm = Literal["table", "markdown", "json"]
"""Forms of a list of tasks, and of the scores of a submission."""


def _show_version(value: bool) -> None:
    if value:
        print(f"scbench {__version__}")  # noqa: T201
        raise typer.Exit


AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Run Python programs among the answers in a sandbox.")
]
AskedTasks = Annotated[
    str | None,
    typer.Option(
        "--tasks", help="Only these tasks or buckets, separated by commas; manifolds is one."
    ),
]
Budgets = Annotated[
    list[int] | None,
    typer.Option(
        "--budget",
        min=1,
        help="Limit of output tokens, which the results then tell runs apart by. Several times "
        "for a sweep.",
        show_default=False,
    ),
]
ColumnMap = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="id=COLUMN,response=COLUMN",
        help="Which columns of a table (CSV, Parquet, JSON Lines) hold the fields of a prediction.",
        show_default=False,
    ),
]
IdsFile = Annotated[
    str | None,
    typer.Option(
        "--ids",
        metavar="FILE",
        help="Only these instances: a file with an id on each line, as `scbench next` prints "
        "them; - for standard input.",
        show_default=False,
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Name of the model, in place of what files of other programs say.",
        show_default=False,
    ),
]
Samples = Annotated[int, typer.Option("--samples", min=1, help="How often each is asked.")]
SettingName = Annotated[
    Literal["no_tools", "tools"] | None,
    typer.Option(
        "--setting",
        help="Whether the model had tools, in files of other programs.",
        show_default=False,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no messages but errors.")
]
ReleaseName = Annotated[
    str | None,
    typer.Option(
        "--release",
        help="Installed version, folder, .zip, or ORG/NAME@REVISION on the Hub. [default: newest]",
    ),
]
Style = Annotated[
    ScoreForm, typer.Option("--format", help="How results are printed to standard output.")
]
Version = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="And exit.")
]
FromScratch = Annotated[
    bool,
    typer.Option(
        "--from-scratch",
        help="Draw, solve and judge everything, whatever was done on this machine before.",
    ),
]
Workers = Annotated[
    int, typer.Option(min=0, help="Worker processes; 0 takes one per usable processor.")
]
