"""Tables that commands compute: printed or saved in six formats, with a chart if requested."""

import sys
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import polars as pl

from scbench.analysis.layout import Sheet, latex, markdown
from scbench.analysis.terminal_tables import terminal
from scbench.base.errors import ResultsError
from scbench.cli.console import safe_json, say, terminal_csv, without_commands
from scbench.cli.options import TableForm
from scbench.machine.files import write_whole
from scbench.machine.tables import csv_bytes
from scbench.report.charts import Spec, draw

# Formats for people, which can contain several tables, with the functions that write them.
PEOPLE = {"table": terminal, "markdown": markdown, "latex": latex}
# Width of a table in a file, which need not fit a terminal.
UNLIMITED_WIDTH = 10**6


class Result(NamedTuple):
    """A table that a command computed, with everything that its formats need."""

    table: pl.DataFrame
    """The table for programs: CSV, JSON and Parquet."""
    sheets: Sequence[Sheet]
    """The same figures for people, as one or more tables."""
    chart: Callable[[], Spec] | None = None
    """Function that makes the chart of --plot; None if the table has no chart."""
    lines: Sequence[str] | None = None
    """Lines of text for people, instead of sheets."""


def write_result(
    result: Result, style: TableForm, out: Path | None, plot: Path | None = None
) -> None:
    """Draw the chart of a result, if requested; then print its table or write it to a file.

    Args:
        result: result of a command.
        style: format of the table.
        out: file of the table; None for standard output.
        plot: file of the chart; None for no chart.

    Raises:
        ResultsError: there is no chart of this table, or a file cannot be written.
    """
    if plot is not None:
        if result.chart is None:
            raise ResultsError("this table has no chart; leave out --plot")
        draw_chart(plot, result.chart())
    if style in PEOPLE:
        text = text_for_people(result, style, in_file=out is not None)
        data = (text if out is not None else without_commands(text)).encode()
    else:
        data = bytes_for_programs(result.table, style)
    if out is not None:
        write_file(out, data)
        return
    if style == "csv":
        data = terminal_csv(data.decode()).encode()
    # Flush, because text printed so far must come first.
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def draw_chart(path: Path, spec: Spec) -> None:
    """Draw a chart into a file, in the format of its suffix, dark if its name ends in -dark."""
    dark = path.stem.endswith("-dark")
    write_file(path, draw(spec, path.suffix.lower().removeprefix("."), dark=dark))


def text_for_people(result: Result, style: TableForm, *, in_file: bool) -> str:
    """Return the lines or sheets of a result; sheets in a file are as wide as necessary."""
    if result.lines is not None:
        return "".join(f"{line}\n" for line in result.lines)
    texts = []
    for sheet in result.sheets:
        if in_file and style == "table":
            text = terminal(sheet, width=UNLIMITED_WIDTH)
        else:
            text = PEOPLE[style](sheet)
        texts.append(text.rstrip("\n"))
    return "\n\n".join(texts) + "\n"


def bytes_for_programs(table: pl.DataFrame, style: TableForm) -> bytes:
    """Return a table as CSV, JSON or Parquet."""
    if style == "csv":
        return csv_bytes(table)
    if style == "json":
        return f"{safe_json(table.write_json())}\n".encode()
    data = BytesIO()
    table.write_parquet(data)
    return data.getvalue()


def write_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all, and say so.

    Raises:
        ResultsError: it cannot be written.
    """
    try:
        write_whole(path, lambda part: part.write_bytes(data))
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror}") from None
    say(f"wrote {path}")
