"""``scbench export-results``: results in the schemas of others."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scbench.cli.console import reported_errors, say
from scbench.cli.options import Quiet, ReleaseName
from scbench.formats.exports import Schema

if TYPE_CHECKING:
    from scbench.formats.exports.runs import Run


def export_results(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="results.parquet files, or the folders that scbench-grade wrote.",
            show_default=False,
        ),
    ],
    schema: Annotated[Schema, typer.Option("--format", help="Whose schema.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the files.", show_default=False)],
    date: Annotated[
        str | None,
        typer.Option(
            metavar="YYYY-MM-DD",
            help="Of the answers, for runs that do not say it.",
            show_default=False,
        ),
    ] = None,
    release: ReleaseName = None,
    organization: Annotated[
        str, typer.Option(help="Who evaluated, for every-eval-ever.")
    ] = "unnamed",
    partial: Annotated[bool, typer.Option("--partial", help="Whole tasks may be missing.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write results as other tools do.

    As every-eval-ever, Inspect or lm-evaluation-harness.
    """
    with reported_errors():
        from functools import partial as partial_of

        from scbench.analysis.exported_runs import COLUMNS, runs_in
        from scbench.analysis.results import read_results
        from scbench.base.errors import ResultsError
        from scbench.formats.exports import every_eval_ever, inspect_log, lm_eval

        writers: dict[Schema, Callable[[Run], Iterator[tuple[str, str]]]] = {
            Schema.EVERY_EVAL_EVER: partial_of(every_eval_ever.files, organization=organization),
            Schema.INSPECT: inspect_log.files,
            Schema.LM_EVAL: lm_eval.files,
        }
        for run in runs_in(read_results(results, COLUMNS, partial=partial), date, release):
            for name, text in writers[schema](run):
                path = out / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if path.exists() and path.read_text("utf-8") != text:
                    raise ResultsError(f"{path} is there already, and differs; name another --out")
                path.write_text(text, "utf-8")
                if not quiet:
                    say(str(path))
