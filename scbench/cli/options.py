"""Options that several commands take, each declared once."""

from typing import Annotated, Literal

import typer

from scbench.cli.telling import Format
from scbench.version import __version__


def _show_version(value: bool) -> None:
    if value:
        print(f"scbench {__version__}")  # noqa: T201
        raise typer.Exit


AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Run Python programs among the answers in a sandbox.")
]
ColumnMap = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="id=COLUMN,response=COLUMN",
        help="Where a table (CSV, Parquet, JSON Lines) has what a prediction wants.",
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
    Format, typer.Option("--format", help="How results are printed to standard output.")
]
Version = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="And exit.")
]
FromScratch = Annotated[
    bool,
    typer.Option(
        "--from-scratch",
        help="Judge every reference, whatever was judged on this machine before.",
    ),
]
Workers = Annotated[
    int, typer.Option(min=0, help="Worker processes; 0 takes one per usable processor.")
]
