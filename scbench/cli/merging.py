"""``scbench merge``: merge the results of all shards of a file."""

from pathlib import Path
from typing import Annotated

import typer

from scbench.cli.console import reported_errors
from scbench.cli.options import ScoreFormOption
from scbench.cli.run_report import print_report
from scbench.grading.merge import merge as merge_runs
from scbench.grading.merge import read_shards
from scbench.release.load import release_in_results

app = typer.Typer(rich_markup_mode=None)


@app.command()
def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(
            show_default=False, help="Output folders of all shards, in any order."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            show_default=False,
            help="Folder for results.parquet and summary.json.",
        ),
    ],
    release: Annotated[
        str | None,
        typer.Option(
            help=(
                "Release that was graded, if it is not installed: a folder, a .zip file, or "
                "ORG/NAME@REVISION on the Hub. [default: the installed version that the shards "
                "name]"
            )
        ),
    ] = None,
    style: ScoreFormOption = "table",
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print errors only.")
    ] = False,
) -> None:
    """Merge the results of all shards of a file.

    The merged results, tables, problems and exit code are the same as without --shard.

    Make the shards with `scbench-grade FILE --shard I/N --out DIR` for I from 1 to N, on any
    machines. Refuses missing or duplicate shards, and shards of different files, releases, versions
    or options.
    """
    with reported_errors():
        runs = read_shards(shards)
        version = runs[0].summary["release"]["version"]
        graded_release = release_in_results(version, release)
        report = merge_runs(runs, graded_release, out)
        print_report(report, out, style, quiet=quiet)
    raise typer.Exit(report.exit_code)
