"""``scbench tables``, ``compare`` and others that make tables from results."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scbench.cli.console import draws, reported_errors, say
from scbench.cli.options import ReleaseName

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from scbench.analysis.layout import Sheet
    from scbench.release.load import Release
    from scbench.report.charts import Spec


class Form(StrEnum):
    """How tables are written: three for people, three for programs."""

    TABLE = "table"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


class By(StrEnum):
    """What the lines of a table are."""

    BUCKET = "bucket"
    TASK = "task"


Files = Annotated[
    list[Path],
    typer.Argument(help="results.parquet files, or the folders that scbench-grade wrote."),
]
Style = Annotated[Form, typer.Option("--format", help="How the table is written.")]
Out = Annotated[
    Path | None, typer.Option("--out", help="File to write, instead of standard output.")
]
Partial = Annotated[
    bool, typer.Option("--partial", help="Accept results in which whole tasks are missing.")
]
Bucket = Annotated[str | None, typer.Option(help="Only this bucket.")]
Tries = Annotated[
    str, typer.Option(help="With several samples per item: pass@k for these k, by commas.")
]
Plot = Annotated[
    Path | None,
    typer.Option(callback=draws, help="Also draw it: FILE.svg, FILE.png, or FILE.html to explore."),
]

PEOPLE = {Form.TABLE, Form.MARKDOWN, Form.LATEX}
"""Forms in which several tables may follow one another."""


def tables(
    results: Files,
    by: Annotated[By, typer.Option(help="Buckets only, or every task.")] = By.BUCKET,
    missing_as_zero: Annotated[
        bool,
        typer.Option("--missing-as-zero", help="Also print means with missing scores as zeros."),
    ] = False,
    style: Style = Form.TABLE,
    out: Out = None,
    partial: Partial = False,
) -> None:
    """Print means of models, with intervals.

    These are the paper's tables, with what tools add.

    Every score counts the same. Results of different releases or grader versions are refused. Where
    predictions say how they were made, a second table has that; `scbench runs` has it for programs.
    """
    with reported_errors():
        from scbench.analysis.paper import paper_table
        from scbench.analysis.results import read_results
        from scbench.analysis.run_sheets import runs_sheet
        from scbench.analysis.runs import COLUMNS, run_table
        from scbench.analysis.sheets import paper_sheet

        rows = read_results(results, COLUMNS, partial=partial)
        table = paper_table(rows, by.value)
        title = f"Scores by {by.value}, release {rows['release'][0]}"
        sheets = [paper_sheet(title, table, missing_as_zero=missing_as_zero)]
        if rows["run_metadata"].is_not_null().any():
            sheets.append(runs_sheet(run_table(rows)))
        write_tables(table, sheets, style, out)


def runs(results: Files, style: Style = Form.TABLE, out: Out = None) -> None:
    """Show how runs were made, as predictions say.

    This is the paper's table of runs.
    """
    with reported_errors():
        from scbench.analysis.results import read_results
        from scbench.analysis.run_sheets import runs_sheet
        from scbench.analysis.runs import COLUMNS, run_table

        table = run_table(read_results(results, COLUMNS, partial=True))
        write_tables(table, [runs_sheet(table)], style, out)


def compare(
    results: Files,
    k: Tries = "1",
    style: Style = Form.TABLE,
    out: Out = None,
    partial: Partial = False,
    draws: Annotated[
        int, typer.Option(min=1000, max=1_000_000, help="Draws of signs for the test.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the draws; the same seed, the same p.")] = 0,
    levels: Annotated[
        bool,
        typer.Option("--levels", help="Of a ladder: only the differences of levels, in rungs."),
    ] = False,
) -> None:
    """Compare runs, and say who is better.

    By intervals and one paired test.

    The verdict comes from the test alone, corrected over the whole table. Runs of one name in two
    files are told apart by the files. Given results on full and on terse prompts, it compares each
    model with itself: what a full specification is worth. Of a ladder, differences of levels
    follow; with several samples per item, `scbench samples`.
    """
    with reported_errors():
        from scbench.analysis.compare import compare_runs
        from scbench.analysis.ladder import climbs_of, compare_levels, is_ladder
        from scbench.analysis.ladder_sheets import level_pairs_sheets
        from scbench.analysis.results import machines, read_results
        from scbench.analysis.run_sheets import comparison_sheets, samples_sheet
        from scbench.analysis.samples import COLUMNS, pass_at_k

        ks = _tries(k)
        rows = read_results(
            results, (*COLUMNS, "metrics"), partial=partial, tell_apart=True, both_prompts=True
        )
        for remark in machines(rows):
            say(remark)
        on_rungs = compare_levels(climbs_of(rows)) if levels or is_ladder(rows) else None
        if levels and on_rungs is not None:
            table, sheets = on_rungs, level_pairs_sheets(on_rungs)
        else:
            table = compare_runs(rows, draws=draws, seed=seed)
            sheets = comparison_sheets(table)
            sheets += [] if on_rungs is None else level_pairs_sheets(on_rungs)
        if rows["sample"].n_unique() > 1:
            sheets.append(samples_sheet(pass_at_k(rows, ks)))
        write_tables(table, sheets, style, out)


def samples(
    results: Files,
    k: Tries = "1",
    style: Style = Form.TABLE,
    out: Out = None,
    partial: Partial = False,
) -> None:
    """Summarize several samples of each item.

    Mean of n, majority, pass@k, variances.
    """
    with reported_errors():
        from scbench.analysis.results import read_results
        from scbench.analysis.run_sheets import samples_sheet
        from scbench.analysis.samples import COLUMNS, pass_at_k

        ks = _tries(k)
        rows = read_results(results, COLUMNS, partial=partial, tell_apart=True)
        table = pass_at_k(rows, ks)
        write_tables(table, [samples_sheet(table)], style, out)


def _tries(k: str) -> list[int]:
    from scbench.base.errors import ResultsError

    parts = [part.strip() for part in k.split(",")]
    if not all(part.isascii() and part.isdecimal() and int(part[:9]) > 0 for part in parts):
        raise ResultsError(f"--k takes numbers from 1, separated by commas, not {k!r}")
    return sorted({int(part[:9]) for part in parts})


def cost(
    results: Files,
    bucket: Bucket = None,
    plot: Plot = None,
    style: Style = Form.TABLE,
    out: Out = None,
    partial: Partial = False,
) -> None:
    """Show tokens, seconds and money.

    For predictions with "usage".
    """
    with reported_errors():
        from scbench.analysis.run_sheets import cost_sheet
        from scbench.analysis.usage import COLUMNS, cost_table

        table = cost_table(_rows(results, COLUMNS, bucket, partial=partial))
        if plot is not None:
            from scbench.report.charts import cost_chart

            draw_chart(plot, cost_chart(table))
        write_tables(table, [cost_sheet(table)], style, out)


def items(
    results: Files,
    bucket: Bucket = None,
    release: ReleaseName = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="For programs: the table of difficulty labels.")
    ] = False,
    plot: Plot = None,
    style: Style = Form.TABLE,
    out: Out = None,
    partial: Partial = False,
) -> None:
    """Show single items over all runs.

    And whether difficulty labels fit what models score.
    """
    with reported_errors():
        from scbench.analysis.items import item_table, label_table
        from scbench.analysis.results import kept_apart
        from scbench.analysis.run_sheets import item_sheets

        rows = kept_apart(_rows(results, (), bucket, partial=partial))
        held = release_of(rows, release)
        table, fit = item_table(rows, held), label_table(rows, held)
        if plot is not None:
            from scbench.report.charts import item_chart

            draw_chart(plot, item_chart(table))
        sheets = item_sheets({"items": table, "labels": fit})
        write_tables(fit if labels else table, sheets, style, out)


def budget(
    results: Files,
    bucket: Annotated[
        str | None, typer.Option(help="Only this bucket; the paper sweeps axiomatic.")
    ] = None,
    plot: Plot = None,
    style: Style = Form.TABLE,
    out: Out = None,
    partial: Partial = False,
) -> None:
    """Show accuracy against output tokens.

    For predictions with "budget" and "usage".
    """
    with reported_errors():
        from scbench.analysis.budget import COLUMNS, budget_sweep
        from scbench.analysis.run_sheets import budget_sheet

        points = budget_sweep(_rows(results, COLUMNS, bucket, partial=partial))
        if plot is not None:
            from scbench.report.charts import budget_chart

            draw_chart(plot, budget_chart(points))
        write_tables(points, [budget_sheet(points)], style, out)


def turns(
    results: Files,
    by: Annotated[By, typer.Option(help="Buckets only, or every task.")] = By.BUCKET,
    style: Style = Form.TABLE,
    out: Out = None,
) -> None:
    """Show scores turn by turn.

    For predictions of setting retry, probe or act: mean, gain and share solved after each turn.
    """
    with reported_errors():
        from scbench.analysis.results import read_results
        from scbench.analysis.run_sheets import turn_sheets
        from scbench.analysis.turns import COLUMNS, turn_table

        rows = read_results(results, COLUMNS, partial=True, tell_apart=True)
        table = turn_table(rows, by.value)
        write_tables(table, turn_sheets(table), style, out)


def _rows(
    results: list[Path], columns: "Sequence[str]", bucket: str | None, *, partial: bool
) -> "pl.DataFrame":
    """Read results, all or those of a bucket."""
    import polars as pl

    from scbench.analysis.results import read_results
    from scbench.base.errors import ResultsError, did_you_mean

    rows = read_results(results, columns, partial=partial or bucket is not None)
    if bucket is None:
        return rows
    held = rows["bucket"].unique()
    if bucket not in held:
        raise ResultsError(f"the results hold no bucket {bucket!r}.{did_you_mean(bucket, held)}")
    return rows.filter(pl.col("bucket") == bucket)


def draw_chart(path: Path, spec: "Spec") -> None:
    """Draw a chart into a file of the kind that its suffix names."""
    from scbench.report.charts import draw

    write_file(path, draw(spec, path.suffix.lower().removeprefix(".")))


def release_of(rows: "pl.DataFrame", name: str | None) -> "Release":
    """Return the release that results belong to."""
    from scbench.base.errors import ReleaseError, ResultsError
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


def write_tables(
    table: "pl.DataFrame", sheets: "Sequence[Sheet]", style: Form, out: Path | None
) -> None:
    """Print a table or write it to a file, whole.

    Args:
        table: for programs: CSV, JSON and Parquet.
        sheets: the same for people, in one table or several.
        style: which of the forms.
        out: file to write; None for standard output.

    Raises:
        ResultsError: the file cannot be written.
    """
    from io import BytesIO

    from scbench.analysis.layout import latex, markdown, terminal

    data = BytesIO()
    match style:
        case Form.PARQUET:
            table.write_parquet(data)
        case Form.CSV:
            table.write_csv(data)
        case Form.JSON:
            table.write_json(data)
            data.write(b"\n")
        case _:
            form = {Form.MARKDOWN: markdown, Form.LATEX: latex, Form.TABLE: terminal}[style]
            data.write("\n\n".join(form(sheet).rstrip("\n") for sheet in sheets).encode() + b"\n")
    if out is not None:
        write_file(out, data.getvalue())
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data.getvalue())
    sys.stdout.buffer.flush()


def write_file(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all, and say so.

    Raises:
        ResultsError: it cannot be written.
    """
    from scbench.base.errors import ResultsError
    from scbench.machine.files import write_whole

    try:
        write_whole(path, lambda part: part.write_bytes(data))
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror}") from None
    say(f"{path} written")
