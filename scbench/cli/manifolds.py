"""``scbench manifolds``: where accuracy falls off along the parameters of drawn instances."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scbench.cli.analysis import (
    PEOPLE,
    Files,
    Form,
    Out,
    Style,
    draw_chart,
    release_of,
    write_tables,
)
from scbench.cli.console import draws, names_in, reported_errors


class By(StrEnum):
    """What the lines of the table are."""

    TASK = "task"
    PARAMETER = "parameter"
    DIMENSION = "dimension"
    KIND = "kind"


class Metric(StrEnum):
    """What a heat map shows."""

    ACCURACY = "accuracy"
    ABOVE = "above"
    TRUNCATED = "truncated"
    UNPARSED = "unparsed"
    TOKENS = "tokens"


def manifolds(
    results: Files,
    release: Annotated[
        str | None,
        typer.Option(
            help="What was graded against: version, folder, .zip or Hub. [default: the installed "
            "release that the results name]"
        ),
    ] = None,
    tasks: Annotated[
        str | None, typer.Option(help="Only these tasks, separated by commas.")
    ] = None,
    by: Annotated[
        By,
        typer.Option(
            help="Tasks, each value of each parameter, what tasks stress, or kinds of difficulty."
        ),
    ] = By.TASK,
    parameter: Annotated[
        str | None,
        typer.Option(help="Only the values of this parameter, or of a fact such as depth."),
    ] = None,
    heat: Annotated[
        str | None, typer.Option(help="A map over two parameters or facts: length,max_depth.")
    ] = None,
    metric: Annotated[Metric, typer.Option(help="What a map shows.")] = Metric.ACCURACY,
    half: Annotated[
        bool,
        typer.Option(
            "--half", help="Only where half is lost along each parameter, or --parameter."
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            callback=draws,
            help="Also draw --heat or --parameter: FILE.svg, FILE.png, or FILE.html.",
        ),
    ] = None,
    style: Style = Form.TABLE,
    out: Out = None,
) -> None:
    """Show where accuracy on text tasks falls off.

    By task and along parameters, plain and above guessing.

    Results of text tasks come from `scbench-grade --tasks manifolds`, or from grading a folder that
    `scbench generate` wrote; name such a folder with --release.
    """
    with reported_errors():
        from scbench.analysis.falloff import falloff_table
        from scbench.analysis.manifold_sheets import METRICS, column_of, heat_sheets, manifold_sheet
        from scbench.analysis.manifolds import COLUMNS, heat_table, manifold_table
        from scbench.analysis.points import Cases
        from scbench.analysis.results import read_results
        from scbench.analysis.run_sheets import falloff_sheet
        from scbench.base.errors import ResultsError

        if heat is not None and parameter is not None:
            raise ResultsError("--heat and --parameter show different tables; give one of them")
        if plot is not None and heat is None and parameter is None:
            raise ResultsError("--plot draws --heat or --parameter; give one of them")
        if half and (heat is not None or plot is not None):
            raise ResultsError("--half prints a table of its own; leave --heat and --plot out")
        pair = [part.strip() for part in (heat or "").split(",")]
        if heat is not None and (len(pair) != 2 or not all(pair)):
            raise ResultsError(f"--heat takes two names with a comma between, not {heat!r}")
        rows = read_results(results, COLUMNS, partial=True)
        held = release_of(rows, release)
        names = names_in(tasks)
        cases = Cases(held, names)
        title = f"release {held.version}"
        if half:
            table = falloff_table(rows, cases, parameter)
            if table.is_empty():
                raise ResultsError("no parameter with numbers has more than one value here")
            sheets = [falloff_sheet(table)]
        elif heat is not None:
            table = heat_table(rows, cases, *pair)
            sheets = heat_sheets(table, metric.value)
            if plot is not None:
                from scbench.report.charts import heat_chart

                draw_chart(plot, heat_chart(table, column_of(metric.value), METRICS[metric.value]))
        else:
            table = manifold_table(rows, cases, by.value, parameter=parameter)
            lines = f"values of {parameter}" if parameter else by.value
            sheets = [manifold_sheet(f"Drawn instances by {lines}, {title}", table)]
            if (parameter is not None or by is By.PARAMETER) and style in PEOPLE:
                found = falloff_table(rows, cases, parameter)
                sheets += [falloff_sheet(found)] if found.height else []
            if plot is not None and parameter is not None:
                from scbench.report.charts import parameter_chart

                draw_chart(plot, parameter_chart(table, parameter))
        write_tables(table, sheets, style, out)
