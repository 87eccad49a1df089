"""What the commands share on a terminal: errors, messages, and tables in four formats.

Messages go to standard error, results to standard output, so that output pipes.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from scbench.errors import ScbenchError, printable

if TYPE_CHECKING:
    import polars as pl

PROBLEMS, USAGE, GRADER_ERRORS, INTERRUPTED = 1, 2, 3, 130
"""Exit codes."""


def say(message: str) -> None:
    """Print a message to standard error."""
    print(plain(message), file=sys.stderr)  # noqa: T201


def hush() -> None:
    """Send output nowhere from now on: whoever read it has seen enough and closed the pipe."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def plain(text: str) -> str:
    """Return lines that are fit for a terminal, whatever they quote."""
    return "\n".join(map(printable, text.split("\n")))


@contextmanager
def reported_errors() -> Iterator[None]:
    """Turn errors that a user can mend into one line and exit code 2; Ctrl-C into 130."""
    try:
        yield
    except ScbenchError as error:
        say(f"error: {error}")
        raise typer.Exit(USAGE) from None
    except KeyboardInterrupt:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        hush()
        raise typer.Exit(0) from None
    except OSError as error:
        say(f"error: {error}")
        raise typer.Exit(USAGE) from None


def render(tables: Mapping[str, "pl.DataFrame"], style: str) -> str:
    """Return score tables as ``table`` (for a terminal), ``markdown`` or ``csv``."""
    if style == "csv":
        import polars as pl

        return str(pl.concat(list(tables.values()), how="diagonal").write_csv())
    parts = []
    for title, frame in tables.items():
        heads, rows = _cells(frame)
        if style == "markdown":
            parts.append(_markdown(title, heads, rows))
        else:
            parts.append(_terminal(title, heads, rows))
    return "\n".join(parts)


def _cells(frame: "pl.DataFrame") -> tuple[list[str], list[list[str]]]:
    """Return headings and formatted cells; columns that say nothing are left out."""
    rows = frame.to_dicts()
    heads = ["model"]
    heads += [name for name in ("setting", "budget") if any(row[name] is not None for row in rows)]
    heads += ["task"] if "task" in frame.columns else ["bucket"]
    heads += ["N"]
    heads += ["samples"] if any(row["samples"] > 1 for row in rows) else []
    gaps = any(row["scored"] < row["n"] * row["samples"] for row in rows)
    heads += ["mean", "missing as 0"] if gaps else ["mean"]
    heads += ["coverage", "status"]
    return heads, [[_cell(row, head) for head in heads] for row in rows]


def _cell(row: Mapping[str, Any], head: str) -> str:
    match head:
        case "N":
            return str(row["n"])
        case "mean":
            mark = "*" if row["coverage"] < 1 else ""
            return "-" if row["mean"] is None else f"{100 * row['mean']:.1f}{mark}"
        case "missing as 0":
            return f"{100 * row['mean_missing_as_zero']:.1f}"
        case "coverage":
            return f"{row['scored']}/{row['n'] * row['samples']}"
        case "status":
            from scbench.model import Status

            return ", ".join(f"{row[s.value]} {s.value}" for s in Status if row[s.value])
    return "" if row[head] is None else printable(str(row[head]))


_RIGHT = {"N", "samples", "budget", "mean", "missing as 0", "coverage"}


def _markdown(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [
        f"**{title}**",
        "",
        f"| {' | '.join(heads)} |",
        f"|{'|'.join('---:' if head in _RIGHT else '---' for head in heads)}|",
        *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
        "",
    ]
    return "\n".join(lines)


def _terminal(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from io import StringIO

    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for head in heads:
        table.add_column(
            head, justify="right" if head in _RIGHT else "left", no_wrap=head != "status"
        )
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None and before[0] != row[0]:
            table.add_section()
        table.add_row(*(Text(cell) for cell in row))
    terminal = sys.stdout.isatty()
    console = Console(
        file=StringIO(),
        force_terminal=terminal,
        no_color="NO_COLOR" in os.environ,
        width=None if terminal else 200,
    )
    console.print(table)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


def as_json(value: object) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, indent=1, ensure_ascii=False)
