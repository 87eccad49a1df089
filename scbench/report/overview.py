"""The tables at the top of a report, as values of its template."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import polars as pl

from scbench.analysis.failure_modes.label_files import labelled
from scbench.analysis.failure_modes.labels import candidates
from scbench.analysis.failure_modes.rules import JUDGE, VERSION, judge_by_rules
from scbench.analysis.failure_modes.shares import label_shares, shares_sheet, states
from scbench.analysis.ladder import climbs_of, is_ladder, ladder_table, rung_table
from scbench.analysis.ladder_sheets import ladder_sheets
from scbench.analysis.layout import Sheet
from scbench.analysis.modality import SCHEMA, gap_lines, modality_sheets
from scbench.analysis.paper import paper_table
from scbench.analysis.runs import run_table, runs_sheet
from scbench.analysis.sheets import (
    NOTE,
    interval,
    line_name,
    marked_normalized,
    mean_and_readable,
    rounded,
    task_titles,
)
from scbench.analysis.usage import budget_sheet, budget_sweep
from scbench.base.model import Status
from scbench.catalog import MANIFOLDS
from scbench.grading.score_tables import OVERALL
from scbench.report.charts import budget_chart, draw, failure_chart, ladder_chart
from scbench.report.items import run_labels
from scbench.report.strips import interval_strip, score_strip

# Statuses with a score first.
_STATUSES = sorted(Status, key=lambda status: not status.scored)
# Runs that get columns in the table of tasks.
_MOST_COLUMNS = 40
# So many of them are shown before others are chosen.
_SHOWN_COLUMNS = 12
# Lowest and highest mean without tools of the three models in the paper's Table 1, in points.
PAPER = {
    OVERALL: (34.9, 57.6),
    "axiomatic": (49.3, 81.3),
    "constructive": (30.2, 51.9),
    "planning": (27.5, 50.0),
}

Values = dict[str, Any]


class RunKey(NamedTuple):
    """A run in the table of means, over all samples."""

    model: str
    setting: str | None
    budget: int | None


class LineKey(NamedTuple):
    """A line of the table of means: a task, or a bucket if `task` is None."""

    bucket: str
    task: str | None


Labels = Mapping[RunKey, str]
Scores = Mapping[tuple[str, RunKey], Sequence[float | None]]


class Means:
    """Rows of a `scbench.analysis.paper.paper_table` by line and run.

    Attributes:
        lines: all lines, in the order of the table.
        runs: all runs, the best first.
    """

    def __init__(self, table: pl.DataFrame) -> None:
        self._rows: dict[tuple[LineKey, RunKey], Values] = {}
        for row in table.to_dicts():
            line = LineKey(row["bucket"], row["task"])
            run = RunKey(row["model"], row["setting"], row["budget"])
            self._rows[line, run] = row
        self.lines = list(dict.fromkeys(line for line, _ in self._rows))
        runs = sorted(
            {run for _, run in self._rows},
            key=lambda run: (run.model, run.setting or "", run.budget or 0),
        )
        self.runs = sorted(runs, key=self._rank)

    def row(self, line: LineKey, run: RunKey) -> Values | None:
        """Return the row of a run in a line, if there is one."""
        return self._rows.get((line, run))

    def widest(self, line: LineKey) -> Values:
        """Return the row of a line that is over most items."""
        return max(self._rows_of(line), key=lambda row: row["n"])

    def over(self, line: LineKey) -> str | None:
        """Return the items that the widest row of a line is over, the last of several."""
        by_width = sorted(self._rows_of(line), key=lambda row: row["n"])
        over: str | None = by_width[-1]["over"]
        return over

    def overall(self, run: RunKey) -> Values:
        """Return the row that is over most of a run's answers."""
        rows = []
        for (line, row_run), row in self._rows.items():
            if line.task is None and row_run == run:
                # Runs on text tasks alone have no overall mean.
                if line.bucket == OVERALL:
                    return row
                rows.append(row)
        return rows[0]

    def is_complete(self) -> bool:
        """Return whether every row covers all of its items."""
        return all(row["coverage"] >= 1 for row in self._rows.values())

    def _rows_of(self, line: LineKey) -> list[Values]:
        return [row for (row_line, _), row in self._rows.items() if row_line == line]

    def _rank(self, run: RunKey) -> list[float]:
        row = self.overall(run)
        return [-(row["normalized"] or 0.0), -(row["mean"] or 0.0)]


def overview(results: pl.DataFrame) -> Values:
    """Return the tables of results with the columns of budgets and failure modes."""
    means = Means(paper_table(results, "task"))
    sample = 0
    names = run_labels((*run, sample) for run in means.runs)
    labels = {run: names[*run, sample] for run in means.runs}
    columns = dict(islice(labels.items(), _MOST_COLUMNS))
    return {
        "gaps": not means.is_complete(),
        "lead": lead_values(means, labels),
        **bucket_values(means, labels, with_paper=not is_ladder(results)),
        **status_values(results, labels),
        **task_values(means, columns, scores_of(results)),
        "shown_columns": _SHOWN_COLUMNS,
        "note": NOTE,
        "runs_table": runs_values(results),
        "failures": failure_values(results),
        "budget": budget_values(results),
        "ladder": ladder_values(results),
        "modality": modality_values(results),
    }


def lead_values(means: Means, labels: Labels) -> Values | None:
    """Return the result of the best run; None where no run has a score."""
    best = means.runs[0]
    row = means.overall(best)
    if row["mean"] is None:
        return None
    values = {"run": labels[best], "runs": len(labels), "of": row["bucket"]}
    return values | cell_values(row, "")


def bucket_values(means: Means, labels: Labels, *, with_paper: bool) -> Values:
    """Return the table of buckets, with the paper's means if they can be compared."""
    lines = [line for line in means.lines if line.task is None]
    # Text tasks alone have no overall mean.
    lines.sort(key=lambda line: line.bucket != OVERALL)
    heads = []
    ranges = []
    for line in lines:
        row = means.widest(line)
        name = f"{line.bucket} ({row['over']})" if row["over"] else line.bucket
        heads.append((name, row["n"]))
        low_high = ""
        if with_paper and not row["over"] and line.bucket in PAPER:
            low, high = PAPER[line.bucket]
            low_high = f"{low} to {high}"
        ranges.append(low_high or None)
    return {
        "bucket_heads": heads,
        "bucket_rows": [
            bucket_row(means, lines, run, label) for run, label in labels.items()
        ],
        "paper": ranges if any(ranges) else [],
    }


def bucket_row(
    means: Means, lines: Sequence[LineKey], run: RunKey, label: str
) -> Values:
    """Return a run's row in the table of buckets; its coverage is that of the first bucket."""
    cells: list[Values | None] = []
    rows = [means.row(line, run) for line in lines]
    for row in rows:
        if row is None:
            cells.append(None)
            continue
        strip = interval_strip(
            row["normalized"], row["normalized_low"], row["normalized_high"]
        )
        cells.append(cell_values(row, strip))
    present = [row for row in rows if row is not None]
    first = present[0]
    return {
        "run": label,
        "cells": cells,
        "coverage": f"{first['scored']}/{first['n'] * first['samples']}",
        "covered": first["coverage"],
    }


def cell_values(row: Values, strip: str) -> Values:
    """Return a cell: the score of a row, and a small drawing."""
    beside = mean_and_readable(row)
    if row["output_tokens"] is not None:
        beside.append(f"{rounded(row['output_tokens'], 0):,} tokens")
    if row["cost"] is not None:
        beside.append(f"{rounded(row['cost'], 4)} US$")
    value = between = ""
    if row["normalized"] is not None:
        value = f"{row['normalized']:.9f}"
        # An interval stays on its line.
        between = interval(row, "normalized_").replace(" ", "\u00a0")
    return {
        "value": value,
        "score": marked_normalized(row),
        "between": between,
        "beside": ", ".join(beside),
        "strip": strip,
    }


def status_values(results: pl.DataFrame, labels: Labels) -> Values:
    """Return the table of statuses: how many scores of each run have which."""
    counts: dict[tuple[RunKey, str], int] = {}
    grouped = results.group_by("model", "setting", "budget", "status").len()
    for model, setting, budget, status, count in grouped.iter_rows():
        counts[RunKey(model, setting, budget), status] = count
    present = {status for _, status in counts}
    statuses = [status.value for status in _STATUSES if status.value in present]
    rows = []
    for run, label in labels.items():
        row_counts = [counts.get((run, status), 0) for status in statuses]
        rows.append({"run": label, "counts": row_counts})
    return {"statuses": statuses, "status_rows": rows}


def scores_of(results: pl.DataFrame) -> Scores:
    """Return the scores of each task and run."""
    grouped = results.group_by("task", "model", "setting", "budget").agg("score")
    scores = {}
    for task, model, setting, budget, task_scores in grouped.iter_rows():
        scores[task, RunKey(model, setting, budget)] = task_scores
    return scores


def task_values(means: Means, labels: Labels, scores: Scores) -> Values:
    """Return the table of tasks, in groups that each end with the line of a bucket."""
    titles = task_titles()
    groups: list[list[Values]] = [[]]
    # The line of a bucket follows those of its tasks.
    for line in means.lines:
        over = means.over(line)
        title = "all"
        if line.bucket != OVERALL or over is not None:
            title = line_name(line.bucket, line.task, over, titles, every=True)
        cells: list[Values | None] = []
        for run in labels:
            row = means.row(line, run)
            if row is None:
                cells.append(None)
            else:
                strip = score_strip(line_scores(means, scores, line, run))
                cells.append(cell_values(row, strip))
        groups[-1].append(
            {
                "task": line.task,
                "title": title,
                "total": line.task is None,
                "n": means.widest(line)["n"],
                "cells": cells,
            }
        )
        if line.task is None:
            groups.append([])
    return {
        "runs": list(labels.values()),
        "task_groups": [group for group in groups if group],
    }


def line_scores(
    means: Means, scores: Scores, line: LineKey, run: RunKey
) -> list[float | None]:
    """Return a run's scores in a line; the overall mean is over all tasks but text tasks."""
    if line.task is not None:
        return list(scores.get((line.task, run), ()))
    line_scores: list[float | None] = []
    # Text tasks count in their own bucket alone.
    for bucket, task in means.lines:
        is_overall = line.bucket == OVERALL and bucket != MANIFOLDS
        if task is not None and (bucket == line.bucket or is_overall):
            line_scores += scores.get((task, run), ())
    return line_scores


def table_values(sheet: Sheet) -> Values:
    """Return a table as values of the template."""
    return {
        "heads": sheet.heads,
        "rows": sheet.rows,
        "words": sheet.words,
        "notes": " ".join(sheet.notes),
    }


def runs_values(results: pl.DataFrame) -> Values | None:
    """Return how the runs were made; None where no prediction says so."""
    if results["run_metadata"].is_null().all():
        return None
    return table_values(runs_sheet(run_table(results)))


def failure_values(results: pl.DataFrame) -> Values | None:
    """Return why answers scored low, by the rules; None where none did."""
    low_scorers = candidates(results)
    if low_scorers.is_empty():
        return None
    judged = judge_by_rules(low_scorers)
    labels = labelled(low_scorers, judged, JUDGE, VERSION)
    shares = label_shares(states(results, labels))
    chart = draw(failure_chart(shares), "svg").decode()
    return {"chart": chart, **table_values(shares_sheet(shares))}


def budget_values(results: pl.DataFrame) -> Values | None:
    """Return the sweep over budgets; None for results without budgets."""
    if results["budget"].is_null().all():
        return None
    sweep = budget_sweep(results)
    chart = draw(budget_chart(sweep), "svg").decode()
    return {"chart": chart, **table_values(budget_sheet(sweep))}


def modality_values(results: pl.DataFrame) -> list[tuple[str, Values]]:
    """Return how runs on text and on pictures of the same items differ; empty without both."""
    lines = gap_lines(results)
    if not lines:
        return []
    sheets = modality_sheets(pl.DataFrame(lines, schema=SCHEMA))
    return [(sheet.title, table_values(sheet)) for sheet in sheets]


def ladder_values(results: pl.DataFrame) -> Values | None:
    """Return the levels of runs on a ladder; None for results of other instances."""
    if not is_ladder(results):
        return None
    climbs = climbs_of(results)
    table = ladder_table(climbs)
    chart = draw(ladder_chart(table, rung_table(climbs)), "svg").decode()
    runs = [(sheet.title, table_values(sheet)) for sheet in ladder_sheets(table)]
    return {"chart": chart, "runs": runs}
