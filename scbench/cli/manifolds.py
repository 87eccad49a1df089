"""``scbench manifolds``: accuracy on text tasks along their parameters."""

from functools import partial as bound
from pathlib import Path
from typing import Annotated, Literal

import typer

from scbench.analysis.falloff import falloff_sheet, falloff_table
from scbench.analysis.manifold_sheets import (
    METRICS,
    column_of,
    heat_sheets,
    manifold_sheet,
)
from scbench.analysis.manifolds import COLUMNS, Cases, heat_table, manifold_table
from scbench.analysis.results import read_results
from scbench.base.errors import ResultsError
from scbench.cli.analysis import release_of
from scbench.cli.console import checked_chart_path, names_in, reported_errors
from scbench.cli.options import ResultsArgument, TableFormOption, TableOutOption
from scbench.cli.printing import PEOPLE, Result, write_result
from scbench.report.charts import heat_chart, parameter_chart

# What each line of the table describes.
Along = Literal["task", "parameter", "dimension", "kind"]
# Values of a heat map.
Metric = Literal["accuracy", "above", "truncated", "unparsed", "tokens"]

app = typer.Typer(rich_markup_mode=None)


@app.command()
def manifolds(
    results: ResultsArgument,
    release: Annotated[
        str | None,
        typer.Option(
            help=(
                "Release that was graded: an installed version, a folder, a .zip file, or "
                "ORG/NAME@REVISION on the Hub. [default: the installed release that the results "
                "name]"
            )
        ),
    ] = None,
    tasks: Annotated[
        str | None, typer.Option(help="Show only these tasks, separated by commas.")
    ] = None,
    by: Annotated[
        Along,
        typer.Option(
            help=(
                "Show one line per task, parameter value, dimension (such as working memory) or "
                "kind of difficulty."
            )
        ),
    ] = "task",
    parameter: Annotated[
        str | None,
        typer.Option(
            help="Show only this parameter or recorded property (such as depth)."
        ),
    ] = None,
    heat: Annotated[
        str | None,
        typer.Option(
            help=(
                "Show a heat map over two parameters or recorded properties, such as "
                "length,max_depth."
            )
        ),
    ] = None,
    metric: Annotated[
        Metric, typer.Option(help="Value to show in the heat map.")
    ] = "accuracy",
    half: Annotated[
        bool,
        typer.Option(
            "--half",
            help=(
                "Show only the values at which half the accuracy is lost, for each parameter or "
                "for --parameter."
            ),
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            callback=checked_chart_path,
            help="Also write the chart of --heat or --parameter: FILE.svg, FILE.png or FILE.html.",
        ),
    ] = None,
    style: TableFormOption = "table",
    out: TableOutOption = None,
) -> None:
    """Show how accuracy on text tasks depends on their parameters.

    Shows accuracy and accuracy above guessing, by task and along parameters.

    Get results of text tasks from `scbench-grade --tasks manifolds`. Or grade answers to items that
    `scbench generate` wrote to a folder, and give this folder with --release.
    """
    with reported_errors():
        if heat is not None and parameter is not None:
            raise ResultsError(
                "--heat and --parameter show different tables; choose one"
            )
        if plot is not None and heat is None and parameter is None:
            raise ResultsError("--plot needs --heat or --parameter")
        if half and (heat is not None or plot is not None):
            raise ResultsError(
                "--half prints its own table; leave out --heat and --plot"
            )
        axes = None if heat is None else axes_in(heat)
        rows = read_results(results, COLUMNS, partial=True)
        graded_release = release_of(rows, release)
        cases = Cases(graded_release, names_in(tasks))
        if half:
            table = falloff_table(rows, cases, parameter)
            if table.is_empty():
                raise ResultsError(
                    "no numeric parameter has more than one value in these results"
                )
            result = Result(table, [falloff_sheet(table)])
        elif axes is not None:
            table = heat_table(rows, cases, *axes)
            chart = bound(heat_chart, table, column_of(metric), METRICS[metric])
            result = Result(table, heat_sheets(table, metric), chart)
        else:
            table = manifold_table(rows, cases, by, parameter=parameter)
            lines = f"values of {parameter}" if parameter else by
            title = f"Text tasks by {lines}, release {graded_release.version}"
            sheets = [manifold_sheet(title, table)]
            # Programs get only one table.
            if (parameter is not None or by == "parameter") and style in PEOPLE:
                falloff = falloff_table(rows, cases, parameter)
                if falloff.height:
                    sheets.append(falloff_sheet(falloff))
            result = Result(table, sheets)
            if parameter is not None:
                chart = bound(parameter_chart, table, parameter)
                result = result._replace(chart=chart)
        write_result(result, style, out, plot)


def axes_in(heat: str) -> tuple[str, str]:
    """Return the two names in --heat.

    Raises:
        ResultsError: there are fewer or more than two.
    """
    names = [part.strip() for part in heat.split(",")]
    if len(names) != 2 or not all(names):
        raise ResultsError(
            "--heat must be two names separated by a comma, such as length,max_depth, not "
            f"{heat!r}"
        )
    return names[0], names[1]
