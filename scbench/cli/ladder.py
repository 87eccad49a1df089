"""``scbench ladder``: levels of models on the ladder, and the items to run next."""

from functools import partial as bound
from pathlib import Path
from typing import Annotated

import typer

from scbench.analysis.gap import gap_sheet, gap_table
from scbench.analysis.ladder import (
    climbs_of,
    ladder_table,
    one_run,
    read_ladders,
    rung_table,
)
from scbench.analysis.ladder_sheets import ladder_sheets
from scbench.analysis.next_items import asked_of, nothing_asked
from scbench.analysis.next_items import next_items as choose_next_items
from scbench.base.errors import ResultsError
from scbench.cli.analysis import By, ByOption, lines_by, with_people
from scbench.cli.console import reported_errors, say
from scbench.cli.options import HumanOption, PlotOption, TableFormOption, TableOutOption
from scbench.cli.printing import Result, write_result
from scbench.release.load import find_release
from scbench.report.charts import ladder_chart

app = typer.Typer(rich_markup_mode=None)


@app.command()
def ladder(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            show_default=False,
            help="results.parquet files, or folders that contain one.",
        ),
    ] = None,
    by: ByOption = "bucket",
    rungs: Annotated[
        bool,
        typer.Option(
            "--rungs",
            help="For CSV, JSON and Parquet: write the table of means by rung.",
        ),
    ] = False,
    next_items: Annotated[
        int | None,
        typer.Option(
            "--next",
            min=1,
            show_default=False,
            help="Instead of a table, print the ids of the N items to run next.",
        ),
    ] = None,
    private: Annotated[
        list[Path] | None,
        typer.Option(
            show_default=False,
            help=(
                "Results of the same model on a private ladder; shows the gap between the two "
                "ladders."
            ),
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Model to use, if the results contain several.")
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            help=(
                "Release for --next without results: an installed version, a folder, a .zip "
                "file, or ORG/NAME@REVISION on the Hub. [default: newest installed]"
            )
        ),
    ] = None,
    human: HumanOption = None,
    plot: PlotOption = None,
    style: TableFormOption = "table",
    out: TableOutOption = None,
) -> None:
    """Show how far models get on the ladder.

    A model's level is the rung at which it scores halfway between the floor and 1, computed from
    its answers to the config ladder. A level outside the ladder is shown as "below 1" or "above 8".
    Results on rungs beyond the top are combined with those on the release's rungs.

    --next prints the ids of the items to run next, one per line. Without results, it prints the
    items to start with. Grade all answers so far and run the command again. A small part of the
    items is enough for an interval as short as the whole ladder's.

    --private compares the results with those on a private ladder, to show whether the model
    memorized the public one. Means are paired by rung; the overall line gives the verdict.
    """
    with reported_errors():
        if next_items is not None:
            result = items_to_ask(results, next_items, model, release)
        elif not results:
            raise ResultsError(
                "give at least one folder of ladder results (only --next works without "
                "one)"
            )
        elif private:
            public_run = one_run(read_ladders(results), model)
            private_run = one_run(read_ladders(private), model)
            table = gap_table(public_run, private_run)
            result = Result(table, [gap_sheet(table)])
        else:
            result = with_people(levels_of_models(results, by, rungs=rungs), human)
        write_result(result, style, out, plot)


def levels_of_models(results: list[Path], by: By, *, rungs: bool) -> Result:
    """Return the levels of models; with ``rungs``, programs get the means by rung instead."""
    climbs = climbs_of(read_ladders(results))
    table = ladder_table(climbs)
    by_rung = rung_table(climbs)
    sheets = ladder_sheets(lines_by(table, by))
    chart = bound(ladder_chart, table, by_rung)
    return Result(by_rung if rungs else table, sheets, chart)


def items_to_ask(
    results: list[Path] | None, count: int, model: str | None, release: str | None
) -> Result:
    """Return the most informative items for a model; only their ids are printed.

    Args:
        results: results of the model so far; empty for a first set of items.
        count: number of items.
        model: the model to use, if there are results of several models.
        release: release of the items, if there are no results.
    """
    if results:
        progress = asked_of(one_run(read_ladders(results, partial=True), model))
    else:
        config = find_release(release).ladder()
        progress = nothing_asked(config.ids(config.manifest.default_tasks))
    table = choose_next_items(progress, count)
    for top, tasks in progress.passed.items():
        names = ",".join(tasks)
        say(
            f"the model passed the top rung of {names}; generate higher rungs with "
            f"`scbench generate ladder,{names} --rung {top + 1} --out FOLDER`"
        )
    if table.is_empty():
        say("every item of the ladder already has an answer")
    return Result(table, [], lines=table["id"].to_list())
