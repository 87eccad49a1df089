"""``scbench merge``: put the shards of a run together."""

from pathlib import Path
from typing import Annotated

import typer

from scbench.cli.options import Style
from scbench.cli.telling import Format


def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(help="Output folders of all shards, in any order.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for results.parquet and summary.json.", show_default=False)
    ],
    release: Annotated[
        str | None,
        typer.Option(
            help="What was graded against, if it is not installed: folder, .zip, or "
            "ORG/NAME@REVISION on the Hub. [default: the installed version of that name]"
        ),
    ] = None,
    style: Style = Format.TABLE,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages but errors.")] = False,
) -> None:
    """Join the results of all shards of a file.

    They are those of one run.

    Shards are made by `scbench-grade FILE --shard I/N --out DIR`, for I from 1 to N, on any
    machines. Results, tables, problems and exit code are those of a run without --shard. Shards
    that lack, or are there twice, or are of different files, releases, versions or options, are
    refused.
    """
    from scbench.cli.console import reported_errors

    with reported_errors():
        from scbench.grading.merge import merge as merge_runs
        from scbench.grading.merge import read_shards
        from scbench.release.load import find_release

        runs = read_shards(shards)
        version = runs[0].summary["release"]["version"]
        found = find_release(release or version).fitting(version)
        report = merge_runs(runs, found, out)
        from scbench.cli.telling import tell_report

        tell_report(report, out, style, quiet=quiet)
    raise typer.Exit(report.exit_code)
