"""What a run came to, on a terminal: tables on standard output, the rest on standard error."""

import sys
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scbench.grading.run import RunReport

_MAX_SPELLED = 20
"""Problems spelled out on the terminal."""
_ALIKE = 5
"""How many of those that differ in line and id alone."""


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def tell_report(report: "RunReport", out: Path, style: Format, *, quiet: bool) -> None:
    """Print the tables of a run, and what they cannot say.

    Args:
        report: what the run came to.
        out: folder of its results.
        style: of the tables.
        quiet: say nothing that does not bear on the results.
    """
    from scbench.cli.console import hush, say

    try:
        _print_tables(report, style)
        if style in {Format.CSV, Format.JSON}:
            for remark in report.remarks:
                say(remark)
        _tell(report, out, quiet=quiet)
        sys.stdout.flush()
    except BrokenPipeError:  # the exit code still says how the run went
        hush()


def _print_tables(report: "RunReport", style: Format) -> None:
    from scbench.cli.console import as_json, render

    if style is Format.JSON:
        print(as_json(report.summary))  # noqa: T201
        return
    if not report.tally.rows:
        return
    release = report.summary["release"]["version"]
    tasks = report.summary["options"]["tasks"]
    over = f", only {', '.join(tasks)}" if tasks else ""
    tables = {
        f"Scores by {by}, release {release}{over}": table for by, table in report.tables.items()
    }
    print(render(tables, style.value, report.remarks))  # noqa: T201


def _tell(report: "RunReport", out: Path, *, quiet: bool) -> None:
    """Say on standard error what the tables cannot."""
    from scbench.cli.console import counted, say

    summary = report.summary
    _list_problems(report, out)
    for warning in report.warnings[:_MAX_SPELLED]:
        say(f"warning: {warning}")
    if summary["not_in_release"]:
        counts = ", ".join(f"{row['task']} ({row['rows']})" for row in summary["not_in_release"])
        release = summary["release"]["version"]
        say(f"not graded, because release {release} does not hold the task: {counts}")
    if report.grader_errors:
        failed = counted(report.grader_errors, "row")
        say(f"{failed} could not be graded (grader_error); this is a fault of scbench:")
        for row in report.tally.failed[:_MAX_SPELLED]:
            say(f"  line {row['line']}: {row['id']}: {row['reason']}")
    for task, reason, rows in report.tally.not_run:
        say(f"not graded, {counted(rows, 'row')} of {task}: {reason}")
    if quiet:
        return
    for incident in report.incidents[:_MAX_SPELLED]:
        say(f"note: {incident}")
    if report.left_alone:
        count = report.left_alone
        lines = (
            "line of another task or prompt was"
            if count == 1
            else "lines of other tasks or prompts were"
        )
        say(f"{count:,} {lines} not graded (--tasks)")
    if report.resumed:
        many = "line was" if report.resumed == 1 else "lines were"
        say(f"{report.resumed} {many} graded before the interruption")
    if report.tally.unscored:
        say("* means over scored rows only: coverage is below 1")
    withdrawn = summary["withdrawn"]
    if withdrawn["instances"] and not withdrawn["excluded"]:
        count = len(withdrawn["instances"])
        many = "instance is" if count == 1 else "instances are"
        say(f"{count} withdrawn {many} graded like all others; see --exclude-withdrawn")
    if summary["partial"]:
        say("partial: not for the leaderboard")
    if summary["shard"]:
        say(f"shard {summary['shard']}: join all shards by `scbench merge`")
    say(f"{summary['seconds']:.1f} s; results in {out}")


def _list_problems(report: "RunReport", out: Path) -> None:
    from scbench.cli.console import counted, say

    count, printed = report.problem_counts.total(), 0
    if count:
        say(f"{counted(count, 'problem')}:")
    alike: Counter[str] = Counter()
    for problem in report.problems:
        kind = problem.message.replace(repr(problem.id), "")
        alike[kind] += 1
        if alike[kind] <= _ALIKE and alike.total() - alike[kind] < _MAX_SPELLED:
            say(f"  {problem}")
            printed += 1
    if count > printed:
        file = "problems.jsonl" if count > len(report.problems) else "summary.json"
        alike_words = f", {alike.most_common(1)[0][1]} of one kind" if max(alike.values()) > _ALIKE else ""
        say(f"  ... and {count - printed} more{alike_words}: all are in {out}/{file}")
