"""``scbench tables``, ``compare`` and others that make tables from results."""

import sys
from collections.abc import Sequence
from functools import partial as bound
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
import typer

from scbench.analysis.compare import compare_runs, comparison_sheets
from scbench.analysis.falloff import falloff_sheet, falloff_table
from scbench.analysis.gap import gap_sheet, gap_table
from scbench.analysis.items import item_sheets, item_table, label_table
from scbench.analysis.ladder import (
    climbs_of,
    compare_levels,
    is_ladder,
    ladder_sheets,
    ladder_table,
    level_pairs_sheets,
    one_run,
    read_ladders,
    rung_table,
)
from scbench.analysis.manifolds import COLUMNS as MANIFOLDS_COLUMNS
from scbench.analysis.manifolds import (
    METRICS,
    Cases,
    column_of,
    heat_sheets,
    heat_table,
    manifold_sheet,
    manifold_table,
)
from scbench.analysis.modality import modality_sheets, modality_table
from scbench.analysis.next_items import asked_of, nothing_asked
from scbench.analysis.next_items import next_items as items_that_tell
from scbench.analysis.paper import paper_sheet, paper_table
from scbench.analysis.results import kept_apart, machines, read_results
from scbench.analysis.runs import COLUMNS as RUN_COLUMNS
from scbench.analysis.runs import run_table, runs_sheet
from scbench.analysis.samples import COLUMNS as SAMPLE_COLUMNS
from scbench.analysis.samples import pass_at_k, samples_sheet
from scbench.analysis.turns import COLUMNS as TURN_COLUMNS
from scbench.analysis.turns import turn_sheets, turn_table
from scbench.analysis.usage import COLUMNS as COST_COLUMNS
from scbench.analysis.usage import SWEEP_COLUMNS, budget_sheet, budget_sweep, cost_sheet, cost_table
from scbench.base.errors import ReleaseError, ResultsError, did_you_mean
from scbench.cli.console import draws, names_in, reported_errors, say
from scbench.cli.options import Commands, TableForm
from scbench.cli.printing import (
    PEOPLE,
    Files,
    Out,
    Partial,
    Plot,
    Result,
    Style,
    table_command,
    write_file,
    write_tables,
)
from scbench.release.load import Release, find_release
from scbench.report.charts import (
    budget_chart,
    cost_chart,
    heat_chart,
    item_chart,
    ladder_chart,
    parameter_chart,
)

app = Commands()


By = Literal["bucket", "task", "modality"]
"""What the lines of a table are."""
Along = Literal["task", "parameter", "dimension", "kind"]
"""What the lines of the table of manifolds are."""
Metric = Literal["accuracy", "above", "truncated", "unparsed", "tokens"]
"""What a heat map shows."""


@table_command(app)
def tables(
    results: Files, by: By = "bucket", missing_as_zero: bool = False, partial: Partial = False
) -> Result:
    """Print means of models, with intervals.

    These are the paper's tables, with what tools add.

    Every score counts the same. Results of different releases or grader versions are refused. Where
    predictions say how they were made, a second table has that; `scbench runs` has it for programs.
    By modality: text against pictures of the same instances; name results of both.
    """
    if by == "modality":
        gaps = modality_table(results, partial=partial)
        return Result(gaps, modality_sheets(gaps))
    rows = read_results(results, (*RUN_COLUMNS, "usage"), partial=partial)
    table = paper_table(rows, by)
    title = f"Scores by {by}, release {rows['release'][0]}"
    sheets = [paper_sheet(title, table, missing_as_zero=missing_as_zero)]
    if rows["run_metadata"].is_not_null().any():
        sheets.append(runs_sheet(run_table(rows)))
    return Result(table, sheets)


@table_command(app)
def compare(
    results: Files,
    k: str = "1",
    partial: Partial = False,
    draws: int = 10_000,
    seed: int = 0,
    levels: bool = False,
) -> Result:
    """Compare runs, and say who is better.

    By intervals and one paired test.

    The verdict comes from the test alone, corrected over the whole table. Runs of one name in two
    files are told apart by the files. Given results on full and on terse prompts, it compares each
    model with itself: what a full specification is worth; given those on pictures, what text is
    worth. Of a ladder, differences of levels follow; with several samples per item, `scbench
    samples`.
    """
    ks = _ks_in(k)
    columns = (*SAMPLE_COLUMNS, "metrics")
    rows = read_results(results, columns, partial=partial, tell_apart=True, both_prompts=True)
    for remark in machines(rows):
        say(remark)
    on_rungs = compare_levels(climbs_of(rows)) if levels or is_ladder(rows) else None
    pairs = [] if on_rungs is None else level_pairs_sheets(on_rungs)
    if levels and on_rungs is not None:
        table, sheets = on_rungs, pairs
    else:
        table = compare_runs(rows, draws=draws, seed=seed)
        sheets = comparison_sheets(table) + pairs
    if rows["sample"].n_unique() > 1:
        sheets.append(samples_sheet(pass_at_k(rows, ks)))
    return Result(table, sheets)


@table_command(app)
def samples(results: Files, k: str = "1", partial: Partial = False) -> Result:
    """Summarize several samples of each item.

    Mean of n, majority, pass@k, variances.
    """
    ks = _ks_in(k)
    rows = read_results(results, SAMPLE_COLUMNS, partial=partial, tell_apart=True)
    table = pass_at_k(rows, ks)
    return Result(table, [samples_sheet(table)])


def _ks_in(k: str) -> list[int]:
    parts = [part.strip() for part in k.split(",")]
    if not all(part.isascii() and part.isdecimal() and int(part[:9]) > 0 for part in parts):
        raise ResultsError(f"--k takes numbers from 1, separated by commas, not {k!r}")
    return sorted({int(part[:9]) for part in parts})


@table_command(app)
def cost(
    results: Files, bucket: str | None = None, plot: Plot = None, partial: Partial = False
) -> Result:
    """Show tokens, seconds and money.

    For predictions with "usage".
    """
    table = cost_table(_rows_of_bucket(results, COST_COLUMNS, bucket, partial=partial))
    return Result(table, [cost_sheet(table)], lambda: cost_chart(table))


@table_command(app)
def budget(
    results: Files, bucket: str | None = None, plot: Plot = None, partial: Partial = False
) -> Result:
    """Show accuracy against output tokens.

    For predictions with "budget" and "usage".
    """
    points = budget_sweep(_rows_of_bucket(results, SWEEP_COLUMNS, bucket, partial=partial))
    return Result(points, [budget_sheet(points)], lambda: budget_chart(points))


@table_command(app)
def turns(results: Files, by: By = "bucket") -> Result:
    """Show scores turn by turn.

    For predictions of setting retry, probe or act: mean, gain and share solved after each turn.
    """
    table = turn_table(read_results(results, TURN_COLUMNS, partial=True, tell_apart=True), by)
    return Result(table, turn_sheets(table))


@table_command(app)
def items(
    results: Files,
    bucket: str | None = None,
    release: str | None = None,
    labels: bool = False,
    plot: Plot = None,
    partial: Partial = False,
) -> Result:
    """Show single items over all runs.

    And whether difficulty labels fit what models score.
    """
    rows = kept_apart(_rows_of_bucket(results, (), bucket, partial=partial))
    graded = release_of(rows, release)
    table, fit = item_table(rows, graded), label_table(rows, graded)
    return Result(fit if labels else table, item_sheets(table, fit), lambda: item_chart(table))


@table_command(app)
def runs(results: Files) -> Result:
    """Show how runs were made, as predictions say.

    This is the paper's table of runs.
    """
    table = run_table(read_results(results, RUN_COLUMNS, partial=True))
    return Result(table, [runs_sheet(table)])


def _rows_of_bucket(
    results: list[Path], columns: Sequence[str], bucket: str | None, *, partial: bool
) -> pl.DataFrame:
    """Read results, all or those of a bucket."""
    rows = read_results(results, columns, partial=partial or bucket is not None)
    if bucket is None:
        return rows
    buckets = rows["bucket"].unique()
    if bucket not in buckets:
        near = did_you_mean(bucket, buckets)
        raise ResultsError(f"the results hold no bucket {bucket!r}.{near}")
    return rows.filter(pl.col("bucket") == bucket)


def release_of(rows: pl.DataFrame, name: str | None) -> Release:
    """Return the release that results belong to."""
    version, digest = rows.select("release", "release_hash").row(0)
    try:
        release = find_release(name or version)
    except ReleaseError as error:
        if name is not None:
            raise
        raise ResultsError(
            f"the results are of release {version}, which is not installed; name its folder with "
            f"--release ({error})"
        ) from None
    if release.manifest.rows_hash != digest:
        raise ResultsError(
            f"the results are of release {version} with rows {digest[:12]}, and {release.root} "
            f"holds {release.version} with rows {release.manifest.rows_hash[:12]}; name the one "
            "they were graded against with --release"
        )
    return release


@table_command(app)
def manifolds(
    results: Files,
    release: str | None = None,
    tasks: str | None = None,
    by: Along = "task",
    parameter: str | None = None,
    heat: str | None = None,
    metric: Metric = "accuracy",
    half: bool = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            callback=draws,
            help="Also draw --heat or --parameter: FILE.svg, FILE.png, or FILE.html.",
        ),
    ] = None,
    style: Style = "table",
) -> Result:
    """Show where accuracy on text tasks falls off.

    By task and along parameters, plain and above guessing.

    Results of text tasks come from `scbench-grade --tasks manifolds`, or from grading a folder that
    `scbench generate` wrote; name such a folder with --release.
    """
    if heat is not None and parameter is not None:
        raise ResultsError("--heat and --parameter show different tables; give one of them")
    if plot is not None and heat is None and parameter is None:
        raise ResultsError("--plot draws --heat or --parameter; give one of them")
    if half and (heat is not None or plot is not None):
        raise ResultsError("--half prints a table of its own; leave --heat and --plot out")
    pair = [part.strip() for part in (heat or "").split(",")]
    if heat is not None and (len(pair) != 2 or not all(pair)):
        raise ResultsError(f"--heat takes two names with a comma between, not {heat!r}")
    rows = read_results(results, MANIFOLDS_COLUMNS, partial=True)
    graded = release_of(rows, release)
    cases = Cases(graded, names_in(tasks))
    if half:
        table = falloff_table(rows, cases, parameter)
        if table.is_empty():
            raise ResultsError("no parameter with numbers has more than one value here")
        return Result(table, [falloff_sheet(table)])
    if heat is not None:
        table = heat_table(rows, cases, *pair)
        heat_map = bound(heat_chart, table, column_of(metric), METRICS[metric])
        return Result(table, heat_sheets(table, metric), heat_map)
    table = manifold_table(rows, cases, by, parameter=parameter)
    lines = f"values of {parameter}" if parameter else by
    sheets = [manifold_sheet(f"Drawn instances by {lines}, release {graded.version}", table)]
    if (parameter is not None or by == "parameter") and style in PEOPLE:
        falloff = falloff_table(rows, cases, parameter)
        sheets += [falloff_sheet(falloff)] if falloff.height else []
    chart = None if parameter is None else bound(parameter_chart, table, parameter)
    return Result(table, sheets, chart)


@table_command(app)
def ladder(
    results: Files,
    rungs: bool = False,
    plot: Plot = None,
    style: Style = "table",
    out: Out = None,
    partial: Partial = False,
) -> Result:
    """Show how far models get on the ladder.

    That is the rung at which each scores half.

    Results come from answers to the config ladder. Per task, bucket and overall, with intervals;
    what leaves the ladder is said to be "below 1" or "above 8". Results on rungs that were drawn
    above the top count together with those of the release.
    """
    climbs = climbs_of(read_ladders(results, partial=partial))
    table, by_rung = ladder_table(climbs), rung_table(climbs)
    sheets = ladder_sheets(table, by_rung, chart=style != "latex")
    chart = bound(ladder_chart, table, by_rung)
    return Result(by_rung if rungs else table, sheets, chart)


@app.command("next")
def next_items(
    results: list[Path] | None = None,
    max_items: int = 22,
    model: str | None = None,
    release: str | None = None,
    style: TableForm | None = None,
    out: Out = None,
) -> None:
    """Name the items that tell most about a model.

    Ids are printed one per line. Answer these, grade all answers so far, and ask again: an interval
    as short as that of the whole ladder costs a small part of its items.
    """
    with reported_errors():
        if results:
            standing = asked_of(one_run(read_ladders(results, partial=True), model))
        else:
            config = find_release(release).ladder()
            standing = nothing_asked(config.ids(config.manifest.tasks))
        table = items_that_tell(standing, max_items)
        for top, tasks in standing.passed.items():
            names = ",".join(tasks)
            say(
                f"the top rung is passed on {names}; `scbench generate --ladder {names} "
                f"--rung {top + 1} --out FOLDER` draws beyond it"
            )
        if table.is_empty():
            say("every item of the ladder has its answer")
        if style is not None and style not in PEOPLE:
            write_tables(table, [], style, out)
            return
        text = "".join(f"{name}\n" for name in table["id"])
        if out is None:
            sys.stdout.write(text)
        else:
            write_file(out, text.encode())


@table_command(app)
def gap(public: Path, private: Path, model: str | None = None) -> Result:
    """Compare a public and a private ladder.

    Is the public one known by heart?

    Means are paired by rung. The overall line has the verdict; others are corrected over the table.
    """
    frames = [one_run(read_ladders([path], partial=True), model) for path in (public, private)]
    table = gap_table(*frames)
    return Result(table, [gap_sheet(table)])
