"""``scbench tables``, ``compare`` and ``budget``: tables from results."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scbench.cli.console import reported_errors, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from scbench.analysis.layout import Sheet


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
    bool, typer.Option("--partial", help="Accept results in which whole tasks lack.")
]
Resamples = Annotated[
    int, typer.Option(min=100, max=1_000_000, help="Bootstrap resamples for the intervals.")
]
Seed = Annotated[
    int, typer.Option(help="Seed of the bootstrap; the same seed, the same intervals.")
]


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
    resamples: Resamples = 10_000,
    seed: Seed = 0,
) -> None:
    """Print the paper's tables: a mean per model, and what tools add, with intervals.

    Every score counts the same. Results of different releases or grader versions are refused.
    """
    with reported_errors():
        from scbench.analysis.paper import paper_table
        from scbench.analysis.results import read_results
        from scbench.analysis.sheets import paper_sheet

        rows = read_results(results, partial=partial)
        table = paper_table(rows, by.value, resamples=resamples, seed=seed)
        title = f"Scores by {by.value}, release {rows['release'][0]}"
        sheet = paper_sheet(title, table, missing_as_zero=missing_as_zero)
        write_tables(table, [sheet], style, out)


def compare(
    results: Files,
    k: Annotated[
        str, typer.Option(help="With several samples per item: pass@k for these k, by commas.")
    ] = "1",
    style: Style = Form.TABLE,
    out: Out = None,
    partial: Partial = False,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
) -> None:
    """Compare runs score by score: paired intervals, McNemar's exact test, and who is better.

    Runs of one name in two files are told apart by the files. With several samples per item, a
    second table gives means with clustered errors, and pass@k.
    """
    with reported_errors():
        from scbench.analysis.compare import compare_runs, pass_at_k
        from scbench.analysis.results import machines, read_results
        from scbench.analysis.sheets import comparison_sheets, samples_sheet
        from scbench.errors import ResultsError

        if not all(part.strip().isdecimal() and int(part) for part in k.split(",")):
            raise ResultsError(f"--k takes numbers from 1, separated by commas, not {k!r}")
        rows = read_results(results, ("metrics",), partial=partial, tell_apart=True)
        table = compare_runs(rows, resamples=resamples, seed=seed)
        sheets = comparison_sheets(table)
        if rows["sample"].n_unique() > 1:
            sheets.append(samples_sheet(pass_at_k(rows, sorted({int(n) for n in k.split(",")}))))
        for remark in machines(rows):
            say(remark)
        write_tables(table, sheets, style, out)


def budget(
    results: Files,
    bucket: Annotated[
        str | None, typer.Option(help="Only this bucket; the paper sweeps axiomatic.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Also draw it: FILE.svg, FILE.png, or FILE.html to explore."),
    ] = None,
    style: Style = Form.TABLE,
    out: Out = None,
    partial: Partial = False,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
) -> None:
    """Show accuracy against the output tokens used, for predictions with "budget" and "usage"."""
    with reported_errors():
        import polars as pl

        from scbench.analysis.budget import COLUMNS, budget_sweep
        from scbench.analysis.results import read_results
        from scbench.analysis.sheets import budget_sheet
        from scbench.errors import ResultsError, did_you_mean

        rows = read_results(results, COLUMNS, partial=partial or bucket is not None)
        if bucket is not None:
            held = rows["bucket"].unique()
            if bucket not in held:
                raise ResultsError(
                    f"the results hold no bucket {bucket!r}.{did_you_mean(bucket, held)}"
                )
            rows = rows.filter(pl.col("bucket") == bucket)
        points = budget_sweep(rows, resamples=resamples, seed=seed)
        if plot is not None:
            from scbench.report.charts import budget_chart, draw

            form = plot.suffix.lower().removeprefix(".")
            write_file(plot, draw(budget_chart(points), form))
        write_tables(points, [budget_sheet(points)], style, out)


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
    from scbench.errors import ResultsError
    from scbench.grading.output import write_whole

    try:
        write_whole(path, lambda part: part.write_bytes(data))
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror}") from None
    say(f"{path} written")
