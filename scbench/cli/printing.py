"""Commands that compute a table: they take its form, print or save it, and draw its chart."""

import sys
from collections.abc import Callable, Sequence
from functools import partial, wraps
from inspect import Parameter, signature
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import polars as pl
import typer

from scbench.analysis.layout import Sheet, latex, markdown
from scbench.analysis.terminal_tables import terminal
from scbench.base.errors import ResultsError
from scbench.cli.console import draws, reported_errors, say
from scbench.cli.options import TableForm, described
from scbench.machine.files import write_whole
from scbench.machine.tables import csv_bytes
from scbench.report.charts import Spec, draw

Files = Annotated[
    list[Path],
    typer.Argument(
        help="results.parquet files, or the folders that scbench-grade wrote."
    ),
]
Style = Annotated[TableForm, typer.Option("--format", help="How the table is written.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="File to write, instead of standard output."),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        callback=draws,
        help="Also plot it: FILE.svg, FILE.png, or FILE.html; FILE-dark.png for a dark page.",
    ),
]

_ENDLESS = 10**6
# Forms in which several tables may follow one another, and what prints each.
PEOPLE = {"table": terminal, "markdown": markdown, "latex": latex}


class Result(NamedTuple):
    """What a command comes to.

    Attributes:
        table: for programs: CSV, JSON and Parquet.
        sheets: the same for people, in one table or several.
        chart: what makes the chart of --plot; None where there is none.
        lines: what people get in place of sheets.
    """

    table: pl.DataFrame
    sheets: Sequence[Sheet]
    chart: Callable[[], Spec] | None = None
    lines: Sequence[str] | None = None


def table_command(
    app: typer.Typer,
) -> Callable[[Callable[..., Result]], Callable[..., None]]:
    """Return a decorator that makes a command of a function that computes a table.

    The command takes --format and --out beside the options of the function, before --threshold,
    unless the function declares them itself; it turns errors into a line, prints the
    table or saves it, and draws the chart if the function takes --plot.
    """

    def register(compute: Callable[..., Result]) -> Callable[..., None]:
        parameters = list(signature(described(compute)).parameters.values())
        names = [parameter.name for parameter in parameters]
        place = names.index("threshold") if "threshold" in names else len(names)
        added = [
            Parameter(
                name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind
            )
            for name, default, kind in (("style", "table", Style), ("out", None, Out))
            if name not in names
        ]
        parameters[place:place] = added

        @wraps(compute)
        def command(**options: Any) -> None:  # noqa: ANN401
            with reported_errors():
                result = compute(**{name: options[name] for name in names})
                if options.get("plot") is not None:
                    if result.chart is None:
                        raise ResultsError("--plot has no chart of this table")
                    draw_chart(options["plot"], result.chart())
                write_tables(result, options["style"], options["out"])

        command.__signature__ = signature(compute).replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return app.command()(command)

    return register


def draw_chart(path: Path, spec: Spec) -> None:
    """Draw a chart into a file of the kind that its suffix names, dark if its name says so."""
    dark = path.stem.endswith("-dark")
    write_file(path, draw(spec, path.suffix.lower().removeprefix("."), dark=dark))


def write_tables(result: Result, style: TableForm, out: Path | None) -> None:
    """Print a table or write it to a file, whole.

    Args:
        result: its forms.
        style: which of the forms.
        out: file to write; None for standard output.

    Raises:
        ResultsError: the file cannot be written.
    """
    data, table = BytesIO(), result.table
    if style in PEOPLE and result.lines is not None:
        data.write("".join(f"{line}\n" for line in result.lines).encode())
    elif style in PEOPLE:
        write = (
            partial(terminal, width=_ENDLESS)
            if out and style == "table"
            else PEOPLE[style]
        )
        texts = (write(sheet).rstrip("\n") for sheet in result.sheets)
        data.write("\n\n".join(texts).encode() + b"\n")
    elif style == "csv":
        data.write(csv_bytes(table))
    elif style == "json":
        table.write_json(data)
        data.write(b"\n")
    else:
        table.write_parquet(data)
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
    try:
        write_whole(path, lambda part: part.write_bytes(data))
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror}") from None
    say(f"{path} written")
