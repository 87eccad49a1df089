"""The report of a graded run: tables on standard output, everything else on standard error."""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scbench.base.wording import counted
from scbench.cli.console import (
    as_json,
    discard_output,
    say,
    terminal_csv,
    without_commands,
)
from scbench.cli.options import ScoreForm
from scbench.machine.tables import csv_bytes

if TYPE_CHECKING:
    from scbench.analysis.layout import Sheet
    from scbench.formats.predictions import Problem
    from scbench.grading.summary import RunReport

# Maximum number of problems that are printed; the results folder contains all.
MAX_PRINTED = 20
# Maximum number of printed problems that differ only in line and id.
MAX_OF_ONE_KIND = 5


def print_report(
    report: "RunReport", out: Path, style: ScoreForm, *, quiet: bool
) -> None:
    """Print the tables of a run, and the remarks on them.

    Args:
        report: report of the run.
        out: folder of its results.
        style: style of the tables.
        quiet: print only what affects the results.
    """
    from scbench.grading.checkpoint import FOREIGN_RUN

    try:
        print_tables(report, style)
        # In tables for people, remarks are notes below the table.
        if style in {"csv", "json"}:
            for remark in report.remarks:
                say(remark)
        say_problems(report, out)
        say_ungraded(report)
        if not quiet:
            say_circumstances(report, out)
        elif FOREIGN_RUN in report.incidents:
            # Its scores may be wrong.
            say(f"note: {FOREIGN_RUN}")
        sys.stdout.flush()
    except BrokenPipeError:
        # The exit code still says whether the run succeeded.
        discard_output()


def print_tables(report: "RunReport", style: ScoreForm) -> None:
    """Print the scores of a run; nothing if it has no rows, except as JSON."""
    if style == "json":
        print(as_json(report.summary))  # noqa: T201
        return
    if not report.tally.rows:
        return
    if style == "csv":
        import polars as pl

        table = pl.concat(report.tables.values(), how="diagonal")
        print(terminal_csv(csv_bytes(table).decode()))  # noqa: T201
        return
    from scbench.analysis.score_sheets import overview_sheets

    title = f"Scores, release {report.summary['release']['version']}"
    tasks = report.summary["options"]["tasks"]
    if tasks:
        title += f", only {', '.join(tasks)}"
    sheets = overview_sheets(title, report.tables["bucket"])
    print(without_commands(render(sheets, style, report.remarks)))  # noqa: T201


def render(
    sheets: "Iterable[Sheet]", style: ScoreForm, remarks: Sequence[str] = ()
) -> str:
    """Return score tables for a terminal or in Markdown, with remarks below each table."""
    from scbench.analysis.layout import markdown
    from scbench.analysis.terminal_tables import terminal

    write = markdown if style == "markdown" else terminal
    texts = []
    for sheet in sheets:
        with_remarks = replace(sheet, notes=[*sheet.notes, *remarks])
        texts.append(write(with_remarks))
    return "\n\n".join(texts)


def say_problems(report: "RunReport", out: Path) -> None:
    """List the problems in the input, a few of each kind."""
    count = report.problem_counts.total()
    if count:
        say(f"{counted(count, 'problem')}:")
    kinds: Counter[str] = Counter()
    printed = 0
    for problem in report.problems:
        kind = kind_of(problem)
        kinds[kind] += 1
        # A rare kind is printed even after many problems of a frequent kind.
        other_count = kinds.total() - kinds[kind]
        if kinds[kind] <= MAX_OF_ONE_KIND and other_count < MAX_PRINTED:
            say(f"  {problem}")
            printed += 1
    if count > printed:
        # The report and the summary contain only the first thousand problems.
        file = "problems.jsonl" if count > len(report.problems) else "summary.json"
        most_frequent = max(kinds.values())
        frequency = ""
        if most_frequent > MAX_OF_ONE_KIND:
            frequency = f" ({most_frequent:,} of one kind)"
        say(
            f"  ... and {count - printed:,} more{frequency}; {out}/{file} lists them all"
        )


def kind_of(problem: "Problem") -> str:
    """Return a problem's message without id and numbers: the same for all problems of a kind."""
    return re.sub(r"\d+", "#", problem.message.replace(str(problem.id), ""))


def say_ungraded(report: "RunReport") -> None:
    """Print which rows have no score, and the warnings about the input."""
    summary = report.summary
    for warning in report.warnings[:MAX_PRINTED]:
        say(f"warning: {warning}")
    if summary["not_in_release"]:
        counts = ", ".join(
            f"{row['task']} ({counted(row['rows'], 'row')})"
            for row in summary["not_in_release"]
        )
        release = summary["release"]["version"]
        say(f"not graded: release {release} does not contain {counts}")
    calls = report.tally.calls
    for status, reason, count in calls[:MAX_PRINTED]:
        say(f"status {status} on {counted(count, 'call')}: {reason}")
    if len(calls) > MAX_PRINTED:
        say(f"... and {counted(len(calls) - MAX_PRINTED, 'more reason')}")
    if report.grader_errors:
        failed_rows = counted(report.grader_errors, "row")
        say(
            f"grader_error on {failed_rows} (grader failures do not count against a model):"
        )
        for row in report.tally.failed[:MAX_PRINTED]:
            times = f" ({row['rows']:,} rows)" if row["rows"] > 1 else ""
            say(f"  line {row['line']}: {row['id']}: {row['reason']}{times}")
    for task, reason, rows in report.tally.not_run:
        say(f"not graded: {counted(rows, 'row')} of {task}: {reason}")


def say_circumstances(report: "RunReport", out: Path) -> None:
    """Print a summary of the run, the rows it left out, and the location of its results."""
    summary = report.summary
    for incident in report.incidents[:MAX_PRINTED]:
        say(f"note: {incident}")
    count = report.left_alone
    if count:
        say(f"{counted(count, 'line')} skipped: not selected by --tasks")
    if report.resumed:
        say(f"{counted(report.resumed, 'line')} graded before the interruption")
    withdrawn = summary["withdrawn"]
    if withdrawn["instances"] and not withdrawn["excluded"]:
        items = counted(len(withdrawn["instances"]), "withdrawn item")
        say(f"{items} graded; use --exclude-withdrawn to leave withdrawn items out")
    if summary["partial"]:
        say("partial run: leaderboards do not accept it")
    if summary["shard"]:
        say(f"shard {summary['shard']}: merge all shards with `scbench merge`")
    say(
        f"{summary['seconds']:.1f} s; results are in {out}; scores by task: scbench "
        f"tables {out} --by task"
    )
