"""``scbench ladder``, ``next`` and ``gap``: levels on a ladder, and what is made of them."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scbench.cli.analysis import (
    PEOPLE,
    Files,
    Form,
    Out,
    Partial,
    Plot,
    Style,
    draw_chart,
    write_file,
    write_tables,
)
from scbench.cli.console import reported_errors, say
from scbench.cli.options import ReleaseName

Model = Annotated[str | None, typer.Option(help="Of several runs, that of this model.")]


def ladder(
    results: Files,
    rungs: Annotated[
        bool, typer.Option("--rungs", help="For programs: the table of means by rung.")
    ] = False,
    plot: Plot = None,
    style: Style = Form.TABLE,
    out: Out = None,
    partial: Partial = False,
) -> None:
    """Show how far models get on the ladder.

    That is the rung at which each scores half.

    Results come from answers to the config ladder. Per task, bucket and overall, with intervals;
    what leaves the ladder is said to be "below 1" or "above 8". Results on rungs that were drawn
    above the top count together with those of the release.
    """
    with reported_errors():
        from scbench.analysis.ladder import climbs_of, ladder_table, read_ladders, rung_table
        from scbench.analysis.ladder_sheets import ladder_sheets

        found = climbs_of(read_ladders(results, partial=partial))
        table, by_rung = ladder_table(found), rung_table(found)
        if plot is not None:
            from scbench.report.charts import ladder_chart

            draw_chart(plot, ladder_chart(table, by_rung))
        sheets = ladder_sheets(table, by_rung, chart=style is not Form.LATEX)
        write_tables(by_rung if rungs else table, sheets, style, out)


def next_items(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Results so far: results.parquet files, or the folders that scbench-grade wrote. "
            "None to begin with.",
            show_default=False,
        ),
    ] = None,
    max_items: Annotated[int, typer.Option(min=1, help="How many items to name.")] = 22,
    model: Model = None,
    release: ReleaseName = None,
    style: Annotated[
        Form | None, typer.Option("--format", help="A table, instead of ids one per line.")
    ] = None,
    out: Out = None,
) -> None:
    """Name the items that tell most about a model.

    Ids are printed one per line. Answer these, grade all answers so far, and ask again: an interval
    as short as that of the whole ladder costs a small part of its items.
    """
    with reported_errors():
        from scbench.analysis.ladder import one_run, read_ladders
        from scbench.analysis.next_items import asked_of, next_items, nothing_asked
        from scbench.release.load import find_release

        if results:
            asked = asked_of(one_run(read_ladders(results, partial=True), model))
        else:
            found = find_release(release).ladder()
            asked = nothing_asked(found.ids(found.manifest.tasks))
        table = next_items(asked, max_items)
        for top, tasks in asked.passed.items():
            named = ",".join(tasks)
            say(
                f"the top rung is passed on {named}; `scbench generate --ladder {named} "
                f"--rung {top + 1} --out FOLDER` draws beyond it"
            )
        if table.is_empty():
            say("every item of the ladder has its answer")
        if style is None or style in PEOPLE:
            text = "".join(f"{name}\n" for name in table["id"])
            if out is None:
                sys.stdout.write(text)
            else:
                write_file(out, text.encode())
        else:
            write_tables(table, [], style, out)


def gap(
    public: Annotated[Path, typer.Argument(help="Results on the public ladder.")],
    private: Annotated[Path, typer.Argument(help="Results of the same model on a private one.")],
    model: Model = None,
    style: Style = Form.TABLE,
    out: Out = None,
) -> None:
    """Compare a public and a private ladder.

    Is the public one known by heart?

    Means are paired by rung. The overall line has the verdict; others are corrected over the table.
    """
    with reported_errors():
        from scbench.analysis.gap import gap_table
        from scbench.analysis.ladder import one_run, read_ladders
        from scbench.analysis.ladder_sheets import gap_sheet

        frames = [one_run(read_ladders([path], partial=True), model) for path in (public, private)]
        table = gap_table(*frames)
        write_tables(table, [gap_sheet(table)], style, out)
