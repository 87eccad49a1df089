"""``scbench manifolds``: where accuracy falls off along the parameters of drawn instances."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scbench.cli.analysis import Files, Form, Out, Resamples, Seed, Style, write_file, write_tables
from scbench.cli.console import names_in, reported_errors

if TYPE_CHECKING:
    import polars as pl

    from scbench.release.load import Release
    from scbench.report.charts import Spec


class By(StrEnum):
    """What the lines of the table are."""

    TASK = "task"
    PARAMETER = "parameter"
    DIMENSION = "dimension"
    KIND = "kind"


class Metric(StrEnum):
    """What a heat map shows."""

    ACCURACY = "accuracy"
    CORRECTED = "corrected"
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
    plot: Annotated[
        Path | None,
        typer.Option(help="Also draw --heat or --parameter: FILE.svg, FILE.png, or FILE.html."),
    ] = None,
    style: Style = Form.TABLE,
    out: Out = None,
    resamples: Resamples = 2_000,
    seed: Seed = 0,
) -> None:
    """Show where accuracy falls off: per task, along each parameter, with blind guessing taken out.

    Results of text tasks come from `scbench-grade --tasks manifolds`, or from grading a folder that
    `scbench generate` wrote; name such a folder with --release.
    """
    with reported_errors():
        from scbench.analysis.manifold_sheets import METRICS, column_of, heat_sheets, manifold_sheet
        from scbench.analysis.manifolds import COLUMNS, heat_table, manifold_table
        from scbench.analysis.points import Cases
        from scbench.analysis.results import read_results
        from scbench.errors import ResultsError

        if heat is not None and parameter is not None:
            raise ResultsError("--heat and --parameter show different tables; give one of them")
        if plot is not None and heat is None and parameter is None:
            raise ResultsError("--plot draws --heat or --parameter; give one of them")
        pair = [part.strip() for part in (heat or "").split(",")]
        if heat is not None and (len(pair) != 2 or not all(pair)):
            raise ResultsError(f"--heat takes two names with a comma between, not {heat!r}")
        rows = read_results(results, COLUMNS, partial=True)
        held = _release_of(rows, release)
        names = names_in(tasks)
        cases = Cases(held, names)
        title = f"release {held.version}"
        if heat is not None:
            table = heat_table(rows, cases, *pair, resamples=resamples, seed=seed)
            sheets = heat_sheets(table, metric.value)
            if plot is not None:
                from scbench.report.heat import heat_chart

                _draw(plot, heat_chart(table, column_of(metric.value), METRICS[metric.value]))
        else:
            table = manifold_table(
                rows, cases, by.value, parameter=parameter, resamples=resamples, seed=seed
            )
            lines = f"values of {parameter}" if parameter else by.value
            sheets = [manifold_sheet(f"Drawn instances by {lines}, {title}", table)]
            if plot is not None and parameter is not None:
                from scbench.report.heat import parameter_chart

                _draw(plot, parameter_chart(table, parameter))
        write_tables(table, sheets, style, out)


def _release_of(rows: "pl.DataFrame", name: str | None) -> "Release":
    """Return the release that results belong to."""
    from scbench.errors import ReleaseError, ResultsError
    from scbench.release.load import find_release

    version, digest = rows.select("release", "release_hash").row(0)
    try:
        found = find_release(name or version)
    except ReleaseError as error:
        if name is not None:
            raise
        raise ResultsError(
            f"the results are of release {version}, which is not installed; name its folder with "
            f"--release ({error})"
        ) from None
    if found.manifest.rows_hash != digest:
        raise ResultsError(
            f"the results are of release {version} with rows {digest[:12]}, and {found.root} holds "
            f"{found.version} with rows {found.manifest.rows_hash[:12]}; name the one they were "
            "graded against with --release"
        )
    return found


def _draw(path: Path, spec: "Spec") -> None:
    from scbench.report.charts import draw

    write_file(path, draw(spec, path.suffix.lower().removeprefix(".")))
