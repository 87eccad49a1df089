"""``scbench tables``, ``compare``, ``samples``, ``cost`` and ``items``: tables of results."""

from collections.abc import Sequence
from functools import partial as bound
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
import typer

from scbench.analysis.compare import compare_runs, comparison_sheets
from scbench.analysis.human import human_sheet, human_table, read_people
from scbench.analysis.items import (
    item_sheets,
    item_table,
    label_table,
    unscored_items,
)
from scbench.analysis.ladder import climbs_of, compare_levels, is_ladder, overall_levels
from scbench.analysis.ladder_sheets import level_pairs_sheets
from scbench.analysis.modality import modality_sheets, modality_table
from scbench.analysis.paper import paper_sheet, paper_table, run_lines_sheet
from scbench.analysis.results import (
    comparable_rows,
    machine_warnings,
    read_results,
    release_weights,
)
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
from scbench.cli.console import is_whole_number, reported_errors, say
from scbench.cli.options import (
    HumanOption,
    PlotOption,
    ReleaseOption,
    ResultsArgument,
    TableForm,
    TableFormOption,
    TableOutOption,
)
from scbench.cli.printing import Result, write_result
from scbench.grading.means import RUN
from scbench.grading.score_tables import score_table
from scbench.release.load import Release, release_in_results
from scbench.report.charts import (
    budget_chart,
    cost_chart,
    difference_chart,
    item_chart,
    sample_chart,
    score_chart,
    turn_chart,
)

# What each line of a table describes.
By = Literal["bucket", "task"]
# The same for tables of scores; lines of runs include their metadata.
ScoreLines = Literal["model", "bucket", "task", "run", "modality"]
# The same for tables of costs.
CostLines = Literal["model", "budget"]

ByOption = Annotated[
    By,
    typer.Option(help="Show one line per bucket, or one per bucket and one per task."),
]
BucketOption = Annotated[str | None, typer.Option(help="Only this bucket.")]

app = typer.Typer(rich_markup_mode=None)


@app.command()
def tables(
    results: ResultsArgument,
    by: Annotated[
        ScoreLines,
        typer.Option(
            help=(
                "Show one line per model, bucket, task, run (with its metadata) or "
                "modality."
            )
        ),
    ] = "model",
    human: HumanOption = None,
    plot: PlotOption = None,
    style: TableFormOption = "table",
    out: TableOutOption = None,
) -> None:
    """Print the scores of models, with intervals.

    By default, each model has one line. --by bucket and --by task print the paper's tables and how
    much tools add. --by modality compares text with pictures of the same items; it needs results of
    both. Every score has the same weight. Results of different releases or grader versions are
    refused.
    """
    with reported_errors():
        result = with_people(scores_by(results, by, style), human)
        write_result(result, style, out, plot)


def with_people(result: Result, folders: Sequence[Path] | None) -> Result:
    """Add the table of people's scores to a result, if there are results of people."""
    if not folders:
        return result
    sheet = human_sheet(human_table(read_people(folders)))
    return result._replace(sheets=[*result.sheets, sheet])


def scores_by(results: list[Path], by: ScoreLines, style: TableForm) -> Result:
    """Return the table of scores for `tables`; for LaTeX, in the paper's layout."""
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
        lay_out = paper_sheet if style == "latex" else run_lines_sheet
        return Result(table, [lay_out(title, table)], chart)
    # A table of a single run has room for its coverage and its statuses.
    scores = score_table(rows, by, release_weights(rows))
    return Result(table, [score_sheet(title, scores)], chart)


@app.command()
def compare(
    results: ResultsArgument,
    by: ByOption = "bucket",
    levels: Annotated[
        bool,
        typer.Option(
            "--levels",
            help="For the ladder: show only the differences in level, in rungs.",
        ),
    ] = False,
    plot: PlotOption = None,
    style: TableFormOption = "table",
    out: TableOutOption = None,
) -> None:
    """Compare runs and say which is better.

    Prints intervals and a paired test.

    The verdict comes from the test alone, corrected for all tasks, even those not shown. Runs with
    the same name in two files are treated as two runs.

    If the results cover full and terse prompts, or text and pictures, each model is compared with
    itself, to show the effect of the prompt. For ladder results, it also prints the differences in
    level.
    """
    with reported_errors():
        write_result(comparison(results, by, levels=levels), style, out, plot)


def comparison(results: list[Path], by: By, *, levels: bool) -> Result:
    """Return the table of `compare`: scores, or levels on the ladder if ``levels`` is set."""
    rows = read_results(results, ("metrics",), add_file_names=True, both_prompts=True)
    for remark in machine_warnings(rows):
        say(remark)
    level_sheets = []
    if levels or is_ladder(rows):
        level_pairs = compare_levels(climbs_of(rows))
        level_sheets = level_pairs_sheets(lines_by(level_pairs, by))
        if levels:
            return Result(level_pairs, level_sheets)
    table = compare_runs(rows)
    lines = lines_by(table, by)
    sheets = comparison_sheets(lines) + level_sheets
    return Result(table, sheets, bound(difference_chart, lines))


def lines_by(table: pl.DataFrame, by: By) -> pl.DataFrame:
    """Return the lines of a table that people see: no tasks, if there are other lines."""
    if by == "task":
        return table
    sums = table.filter(pl.col("task").is_null())
    return table if sums.is_empty() else sums


@app.command()
def samples(
    results: ResultsArgument,
    by: ByOption = "bucket",
    k: Annotated[
        str,
        typer.Option(
            help=(
                "For several samples per item: show pass@k for these values of k, "
                "separated by commas."
            )
        ),
    ] = "1",
    plot: PlotOption = None,
    style: TableFormOption = "table",
    out: TableOutOption = None,
) -> None:
    """Show how scores change with several answers per item.

    For samples: mean, majority vote, pass@k and variances. For loops (setting retry, probe or act):
    mean, gain and share solved after each turn.
    """
    with reported_errors():
        write_result(answers_per_item(results, by, sizes_in(k)), style, out, plot)


def sizes_in(k: str) -> list[int]:
    """Return the numbers of samples in --k, in order.

    Raises:
        ResultsError: a value is not a positive number.
    """
    sizes = set()
    for part in k.split(","):
        digits = part.strip()
        # Nobody has a billion samples, and int() of very many digits fails.
        size = int(digits[:9]) if is_whole_number(digits) else 0
        if size < 1:
            raise ResultsError(
                f"--k must be positive whole numbers separated by commas, not {k!r}"
            )
        sizes.add(size)
    return sorted(sizes)


def answers_per_item(results: list[Path], by: By, sizes: list[int]) -> Result:
    """Return the table of `samples`: by turn if all answers come from loops, else by sample."""
    rows = read_results(results, (*SAMPLE_COLUMNS, *TURN_COLUMNS), add_file_names=True)
    is_loop = pl.col("setting").is_in(LOOP_SETTINGS).fill_null(value=False)
    loop_rows = rows.filter(is_loop)
    sample_rows = rows.filter(~is_loop)
    loop_sheets = []
    if not loop_rows.is_empty():
        turns = turn_table(loop_rows, by)
        loop_sheets = turn_sheets(turns)
        if sample_rows.is_empty():
            return Result(turns, loop_sheets, bound(turn_chart, turns))
    table = pass_at_k(sample_rows, sizes)
    lines = lines_by(table, by)
    sheets = [samples_sheet(lines), *loop_sheets]
    return Result(table, sheets, bound(sample_chart, lines))


@app.command()
def cost(
    results: ResultsArgument,
    by: Annotated[
        CostLines,
        typer.Option(help="Show one line per model, or per limit on output tokens."),
    ] = "model",
    bucket: BucketOption = None,
    plot: PlotOption = None,
    style: TableFormOption = "table",
    out: TableOutOption = None,
) -> None:
    """Show tokens, time and cost.

    Needs predictions with "usage". --by budget shows scores for each limit on output tokens.
    """
    with reported_errors():
        if by == "budget":
            points = budget_sweep(rows_of_bucket(results, SWEEP_COLUMNS, bucket))
            chart = bound(budget_chart, points)
            result = Result(points, [budget_sheet(points)], chart)
        else:
            table = cost_table(rows_of_bucket(results, COST_COLUMNS, bucket))
            result = Result(table, [cost_sheet(table)], bound(cost_chart, table))
        write_result(result, style, out, plot)


@app.command()
def items(
    results: ResultsArgument,
    bucket: BucketOption = None,
    release: ReleaseOption = None,
    labels: Annotated[
        bool,
        typer.Option(
            "--labels",
            help="For CSV, JSON and Parquet: write the table of difficulty labels.",
        ),
    ] = False,
    plot: PlotOption = None,
    style: TableFormOption = "table",
    out: TableOutOption = None,
) -> None:
    """Show each item's scores, and why answers fell short.

    Also shows whether difficulty labels agree with the scores of models.
    """
    with reported_errors():
        rows = comparable_rows(rows_of_bucket(results, ("failed_checks",), bucket))
        graded_release = release_of(rows, release)
        table = item_table(rows, graded_release)
        difficulty = label_table(rows, graded_release)
        result = Result(
            difficulty if labels else table,
            item_sheets(table, difficulty, unscored_items(rows)),
            bound(item_chart, table),
        )
        write_result(result, style, out, plot)


def rows_of_bucket(
    results: list[Path], columns: Sequence[str], bucket: str | None
) -> pl.DataFrame:
    """Return all rows of results, or only those of one bucket.

    Raises:
        ResultsError: there is no such bucket.
    """
    rows = read_results(results, columns, partial=bucket is not None)
    if bucket is None:
        return rows
    buckets = rows["bucket"].unique()
    if bucket not in buckets:
        near = did_you_mean(bucket, buckets)
        raise ResultsError(f"the results contain no bucket {bucket!r}.{near}")
    return rows.filter(pl.col("bucket") == bucket)


def release_of(rows: pl.DataFrame, name: str | None) -> Release:
    """Return the release that results belong to.

    Args:
        rows: rows of results, all graded against one release.
        name: name or folder of that release; None for the version named in the rows.

    Raises:
        ResultsError: the release is not installed, or is not the one of the results.
        ReleaseError: there is no release of that name.
    """
    version, digest = rows.select("release", "release_hash").row(0)
    try:
        release = release_in_results(version, name)
    except ReleaseError as error:
        if name:
            raise
        raise ResultsError(f"the results cannot be read: {error}") from None
    if release.manifest.rows_hash != digest:
        raise ResultsError(
            f"the results are from release {version} with rows {digest[:12]}, but {release.root} "
            f"contains {release.version} with rows {release.manifest.rows_hash[:12]}; give the "
            "release they were graded against with --release"
        )
    return release
