"""``scbench tables``, ``compare`` and others that make tables from results."""

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
    ladder_table,
    one_run,
    overall_levels,
    read_ladders,
    rung_table,
)
from scbench.analysis.ladder_sheets import ladder_sheets, level_pairs_sheets
from scbench.analysis.manifold_sheets import (
    METRICS,
    column_of,
    heat_sheets,
    manifold_sheet,
)
from scbench.analysis.manifolds import COLUMNS as MANIFOLDS_COLUMNS
from scbench.analysis.manifolds import Cases, heat_table, manifold_table
from scbench.analysis.modality import modality_sheets, modality_table
from scbench.analysis.next_items import asked_of, nothing_asked
from scbench.analysis.next_items import next_items as items_that_tell
from scbench.analysis.paper import paper_sheet, paper_table
from scbench.analysis.results import kept_apart, machines, read_results, release_weights
from scbench.analysis.runs import COLUMNS as RUN_COLUMNS
from scbench.analysis.runs import run_table, runs_sheet
from scbench.analysis.samples import COLUMNS as SAMPLE_COLUMNS
from scbench.analysis.samples import pass_at_k, samples_sheet
from scbench.analysis.score_sheets import overview_sheets, score_sheet
from scbench.analysis.turns import COLUMNS as TURN_COLUMNS
from scbench.analysis.turns import turn_sheets, turn_table
from scbench.analysis.usage import COLUMNS as COST_COLUMNS
from scbench.analysis.usage import (
    SWEEP_COLUMNS,
    budget_sheet,
    budget_sweep,
    cost_sheet,
    cost_table,
)
from scbench.base.errors import ReleaseError, ResultsError, did_you_mean
from scbench.base.model import LOOP_SETTINGS
from scbench.cli.console import draws, names_in, say
from scbench.cli.options import Commands
from scbench.cli.printing import PEOPLE, Files, Plot, Result, Style, table_command
from scbench.grading.means import RUN
from scbench.grading.score_tables import score_table
from scbench.release.load import Release, find_release
from scbench.report.charts import (
    budget_chart,
    cost_chart,
    difference_chart,
    heat_chart,
    item_chart,
    ladder_chart,
    parameter_chart,
    sample_chart,
    score_chart,
    turn_chart,
)

app = Commands()


# What the lines of a table are.
By = Literal["bucket", "task"]
# What the lines of the table of scores are; of runs, how they were made.
Lines = Literal["model", "bucket", "task", "run", "modality"]
# What the lines of the table of costs are.
Spent = Literal["model", "budget"]
# What the lines of the table of manifolds are.
Along = Literal["task", "parameter", "dimension", "kind"]
# What a heat map shows.
Metric = Literal["accuracy", "above", "truncated", "unparsed", "tokens"]


@table_command(app)
def tables(results: Files, by: Lines = "model", plot: Plot = None) -> Result:
    """Print the scores of models, with intervals.

    One line for each model; --by bucket and --by task print the paper's tables, with what tools
    add; --by modality sets text against pictures of the same items, given results of both. Every
    score counts the same. Results of different releases or grader versions are refused.
    """
    if by == "modality":
        gaps = modality_table(results)
        return Result(gaps, modality_sheets(gaps))
    rows = read_results(results, (*RUN_COLUMNS, "usage"), partial=by == "run")
    if by == "run":
        table = run_table(rows)
        return Result(table, [runs_sheet(table)])
    release = rows["release"][0]
    table = paper_table(rows, "task" if by == "task" else "bucket")
    chart = bound(score_chart, table)
    if by == "model":
        scores = score_table(rows, "bucket", release_weights(rows))
        sheets = overview_sheets(
            f"Scores, release {release}", scores, overall_levels(rows)
        )
        return Result(table, sheets, chart)
    title = f"Scores by {by}, release {release}"
    if rows.select(RUN).n_unique() > 1:
        return Result(table, [paper_sheet(title, table)], chart)
    return Result(
        table, [score_sheet(title, score_table(rows, by, release_weights(rows)))], chart
    )


@table_command(app)
def compare(
    results: Files, by: By = "bucket", levels: bool = False, plot: Plot = None
) -> Result:
    """Compare runs, and say which is better.

    By intervals and one paired test.

    The verdict comes from the test alone, corrected over all tasks, whatever is printed. Runs of
    one name in two files are told apart by the files. Given results on full and on terse prompts,
    it compares each model with itself: what a full specification is worth; given
    those on pictures, what text is worth. Of a ladder,
    differences of levels follow.
    """
    rows = read_results(results, ("metrics",), tell_apart=True, both_prompts=True)
    for remark in machines(rows):
        say(remark)
    on_rungs = compare_levels(climbs_of(rows)) if levels or is_ladder(rows) else None
    pairs = [] if on_rungs is None else level_pairs_sheets(_lines_by(on_rungs, by))
    if levels and on_rungs is not None:
        return Result(on_rungs, pairs)
    table = compare_runs(rows)
    sheets = comparison_sheets(_lines_by(table, by)) + pairs
    return Result(table, sheets, bound(difference_chart, _lines_by(table, by)))


def _lines_by(table: pl.DataFrame, by: By) -> pl.DataFrame:
    """Return the lines of a table that people are shown: without tasks, if there are others."""
    sums = table.filter(pl.col("task").is_null())
    return table if by == "task" or sums.is_empty() else sums


@table_command(app)
def samples(
    results: Files, by: By = "bucket", k: str = "1", plot: Plot = None
) -> Result:
    """Show what several answers to an item are worth.

    Of samples: their mean, majority, pass@k and variances. Of a loop (setting retry, probe or act):
    mean, gain and share solved after each turn.
    """
    ks = _ks_in(k)
    rows = read_results(results, (*SAMPLE_COLUMNS, *TURN_COLUMNS), tell_apart=True)
    looped = pl.col("setting").is_in(LOOP_SETTINGS).fill_null(value=False)
    in_loop, at_once = rows.filter(looped), rows.filter(~looped)
    turns = None if in_loop.is_empty() else turn_table(in_loop, by)
    if turns is not None and at_once.is_empty():
        return Result(turns, turn_sheets(turns), bound(turn_chart, turns))
    table = pass_at_k(at_once, ks)
    sheets = [samples_sheet(_lines_by(table, by))]
    sheets += [] if turns is None else turn_sheets(turns)
    return Result(table, sheets, bound(sample_chart, _lines_by(table, by)))


def _ks_in(k: str) -> list[int]:
    parts = [part.strip() for part in k.split(",")]
    if not all(
        part.isascii() and part.isdecimal() and int(part[:9]) > 0 for part in parts
    ):
        raise ResultsError(f"--k takes numbers from 1, separated by commas, not {k!r}")
    return sorted({int(part[:9]) for part in parts})


@table_command(app)
def cost(
    results: Files, by: Spent = "model", bucket: str | None = None, plot: Plot = None
) -> Result:
    """Show tokens, seconds and money.

    For predictions with "usage". --by budget: scores against the limit of output tokens.
    """
    if by == "budget":
        points = budget_sweep(_rows_of_bucket(results, SWEEP_COLUMNS, bucket))
        return Result(points, [budget_sheet(points)], lambda: budget_chart(points))
    table = cost_table(_rows_of_bucket(results, COST_COLUMNS, bucket))
    return Result(table, [cost_sheet(table)], lambda: cost_chart(table))


@table_command(app)
def items(
    results: Files,
    bucket: str | None = None,
    release: str | None = None,
    labels: bool = False,
    plot: Plot = None,
) -> Result:
    """Show single items over all runs.

    And whether difficulty labels fit what models score.
    """
    rows = kept_apart(_rows_of_bucket(results, (), bucket))
    graded = release_of(rows, release)
    table, fit = item_table(rows, graded), label_table(rows, graded)
    return Result(
        fit if labels else table, item_sheets(table, fit), lambda: item_chart(table)
    )


def _rows_of_bucket(
    results: list[Path], columns: Sequence[str], bucket: str | None
) -> pl.DataFrame:
    """Read results, all or those of a bucket."""
    rows = read_results(results, columns, partial=bucket is not None)
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
        raise ResultsError(
            "--heat and --parameter show different tables; give one of them"
        )
    if plot is not None and heat is None and parameter is None:
        raise ResultsError("--plot draws --heat or --parameter; give one of them")
    if half and (heat is not None or plot is not None):
        raise ResultsError(
            "--half prints a table of its own; leave --heat and --plot out"
        )
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
    sheets = [manifold_sheet(f"Text tasks by {lines}, release {graded.version}", table)]
    if (parameter is not None or by == "parameter") and style in PEOPLE:
        falloff = falloff_table(rows, cases, parameter)
        sheets += [falloff_sheet(falloff)] if falloff.height else []
    chart = None if parameter is None else bound(parameter_chart, table, parameter)
    return Result(table, sheets, chart)


@table_command(app)
def ladder(
    results: list[Path] | None = None,
    by: By = "bucket",
    rungs: bool = False,
    next_items: int | None = None,
    private: list[Path] | None = None,
    model: str | None = None,
    release: str | None = None,
    plot: Plot = None,
) -> Result:
    """Show how far models get on the ladder.

    That is the rung at which each scores half, from answers to the config ladder. What lies beyond
    the ladder is "below 1" or "above 8". Results on rungs above the top count together with those
    of the release.

    --next names the items to ask a model next, one id on a line; without results, those to begin
    with. Grade all answers so far, and ask again: an interval as short as that of the whole ladder
    takes a small part of its items. --private compares with results on a private ladder: was the
    public one known by heart? Means are paired by rung, and the overall line has the verdict.
    """
    if next_items is not None:
        return _next_items(results, next_items, model, release)
    if not results:
        raise ResultsError("name results of the ladder; --next goes without")
    if private:
        frames = [one_run(read_ladders(paths), model) for paths in (results, private)]
        table = gap_table(*frames)
        return Result(table, [gap_sheet(table)])
    climbs = climbs_of(read_ladders(results))
    table, by_rung = ladder_table(climbs), rung_table(climbs)
    sheets = ladder_sheets(_lines_by(table, by))
    chart = bound(ladder_chart, table, by_rung)
    return Result(by_rung if rungs else table, sheets, chart)


def _next_items(
    results: list[Path] | None, count: int, model: str | None, release: str | None
) -> Result:
    """Return the items that say most about a model: for people, ids and nothing else."""
    if results:
        standing = asked_of(one_run(read_ladders(results, partial=True), model))
    else:
        config = find_release(release).ladder()
        standing = nothing_asked(config.ids(config.manifest.default_tasks))
    table = items_that_tell(standing, count)
    for top, tasks in standing.passed.items():
        names = ",".join(tasks)
        say(
            f"the top rung is passed on {names}; `scbench generate {names} --rung {top + 1} "
            "--out FOLDER` makes more, above it"
        )
    if table.is_empty():
        say("every item of the ladder has its answer")
    return Result(table, [], lines=table["id"].to_list())
