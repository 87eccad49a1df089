"""The charts and tables at the top of a report, as values of its template."""

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
from scbench.analysis.paper import paper_table, run_lines_sheet
from scbench.analysis.runs import run_table, runs_sheet
from scbench.analysis.sheets import (
    GAP_NOTE,
    NOTE,
    interval,
    line_name,
    marked_normalized,
    mean_and_readable,
    points,
    rounded,
    task_titles,
)
from scbench.analysis.usage import budget_sheet, budget_sweep
from scbench.base.model import Status
from scbench.catalog import MANIFOLDS
from scbench.grading.score_tables import OVERALL
from scbench.report.charts import (
    ScoreMark,
    budget_chart,
    draw,
    failure_chart,
    ladder_chart,
    overview_charts,
)
from scbench.report.items import run_labels
from scbench.report.strips import score_strip

# Statuses with a score first.
_STATUSES = sorted(Status, key=lambda status: not status.scored)
# Maximum number of runs in the chart and in the table of tasks.
_MOST_RUNS = 40
# Columns of runs that are shown by default.
_SHOWN_COLUMNS = 12
# Maximum number of runs for which the table of tasks shows the distribution of scores.
_MOST_STRIPS = 4
# Maximum lines of a table of all figures; `scbench tables` prints longer ones.
_MOST_LINES = 600
# Lowest and highest mean without tools of the three models in the paper's Table 1, in points.
PAPER = {
    OVERALL: (34.9, 57.6),
    "axiomatic": (49.3, 81.3),
    "constructive": (30.2, 51.9),
    "planning": (27.5, 50.0),
}

Values = dict[str, Any]


class RunKey(NamedTuple):
    """A run in the table of means, over all its samples."""

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
        """Return the row of a line that covers the most items."""
        return max(self._rows_of(line), key=lambda row: row["n"])

    def over(self, line: LineKey) -> str | None:
        """Return the column `over` of the row that covers the most items, the last in a tie."""
        by_width = sorted(self._rows_of(line), key=lambda row: row["n"])
        over: str | None = by_width[-1]["over"]
        return over

    def overall(self, run: RunKey) -> Values:
        """Return the row that covers the most answers of a run."""
        rows = []
        for (line, row_run), row in self._rows.items():
            if line.task is None and row_run == run:
                # Runs on text tasks alone have no overall mean.
                if line.bucket == OVERALL:
                    return row
                rows.append(row)
        return rows[0]

    def is_complete(self) -> bool:
        """Return whether every row has scores for all of its items."""
        return all(row["coverage"] >= 1 for row in self._rows.values())

    def _rows_of(self, line: LineKey) -> list[Values]:
        return [row for (row_line, _), row in self._rows.items() if row_line == line]

    def _rank(self, run: RunKey) -> list[float]:
        row = self.overall(run)
        return [-(row["normalized"] or 0.0), -(row["mean"] or 0.0)]


def overview(results: pl.DataFrame) -> Values:
    """Return the charts and tables of results with the columns of budgets and failure modes."""
    table = paper_table(results, "task")
    means = Means(table)
    sample = 0
    names = run_labels((*run, sample) for run in means.runs)
    labels = {run: names[*run, sample] for run in means.runs}
    shown = dict(islice(labels.items(), _MOST_RUNS))
    by_bucket = table.filter(pl.col("task").is_null())
    return {
        "gap_note": "" if means.is_complete() else GAP_NOTE,
        "lead": lead_values(means, labels),
        "chart": chart_values(means, shown),
        **bucket_values(means, labels),
        "paper": "" if is_ladder(results) else paper_note(means),
        "by_bucket": all_figures(by_bucket),
        **status_values(results, labels),
        **task_values(means, shown, scores_of(results)),
        "by_task": all_figures(table),
        "shown_columns": _SHOWN_COLUMNS,
        "note": NOTE,
        "runs_table": runs_values(results),
        "failures": failure_values(results),
        "budget": budget_values(results),
        "ladder": ladder_values(results),
        "modality": modality_values(results),
    }


def lead_values(means: Means, labels: Labels) -> Values | None:
    """Return the results of the best run and the next; None if no run has a score."""
    best = means.runs[0]
    row = means.overall(best)
    if row["mean"] is None:
        return None
    values = {"run": labels[best], "runs": len(labels), "of": row["bucket"]}
    values["next"] = None
    if len(means.runs) > 1:
        second = means.runs[1]
        second_row = means.overall(second)
        if second_row["normalized"] is not None:
            values["next"] = (labels[second], marked_normalized(second_row))
    return values | cell_values(row)


def chart_values(means: Means, labels: Labels) -> Values | None:
    """Return the chart of scores by bucket, for wide and narrow pages; None without scores."""
    marks = []
    for line in bucket_lines(means):
        for run, label in labels.items():
            row = means.row(line, run)
            if row is None or row["normalized_low"] is None:
                continue
            marks.append(
                ScoreMark(
                    line.bucket,
                    label,
                    marked_normalized(row),
                    100 * row["normalized"],
                    100 * row["normalized_low"],
                    100 * row["normalized_high"],
                )
            )
    if not marks:
        return None
    wide, narrow = overview_charts(marks)
    return {
        "wide": draw(wide, "svg").decode(),
        "narrow": [draw(spec, "svg").decode() for spec in narrow],
        "rows": len({mark.name for mark in marks}),
    }


def bucket_lines(means: Means) -> list[LineKey]:
    """Return the lines of buckets, the overall line first."""
    lines = [line for line in means.lines if line.task is None]
    # Text tasks alone have no overall mean.
    return sorted(lines, key=lambda line: line.bucket != OVERALL)


def bucket_values(means: Means, labels: Labels) -> Values:
    """Return the table of runs: a line for each, with a column for each bucket."""
    lines = bucket_lines(means)
    heads = []
    for line in lines:
        row = means.widest(line)
        name = f"{line.bucket} ({row['over']})" if row["over"] else line.bucket
        heads.append((name, row["n"]))
    rows = [bucket_row(means, lines, run, label) for run, label in labels.items()]
    # Columns that are empty in all lines are left out.
    extras = [
        name
        for name in ("mean", "readable", "tokens", "cost")
        if any(row["extras"][name]["text"] for row in rows)
    ]
    return {"bucket_heads": heads, "extra_heads": extras, "bucket_rows": rows}


def paper_note(means: Means) -> str:
    """Return the means of the paper's models, in words; empty for other tasks."""
    ranges = []
    for line in bucket_lines(means):
        if line.bucket in PAPER and not means.over(line):
            low, high = PAPER[line.bucket]
            ranges.append(f"{line.bucket} {low} to {high}")
    if not ranges:
        return ""
    return (
        "For orientation, the lowest and highest mean of the paper's three models without tools: "
        f"{', '.join(ranges)}. Prompts and graders differed, so these are not comparable."
    )


def bucket_row(
    means: Means, lines: Sequence[LineKey], run: RunKey, label: str
) -> Values:
    """Return a run's line in the table of runs; usage columns come from the first bucket."""
    rows = [means.row(line, run) for line in lines]
    cells = [None if row is None else cell_values(row) for row in rows]
    first = next(row for row in rows if row is not None)
    extras = {"mean": number_cell(first["mean"], points(first["mean"]))}
    extras["readable"] = number_cell(first["readable"], points(first["readable"]))
    tokens = first["output_tokens"]
    cost = first["cost"]
    extras["tokens"] = number_cell(tokens, f"{tokens or 0:,.0f}")
    extras["cost"] = number_cell(cost, f"${rounded(cost or 0, 4)}")
    return {
        "run": label,
        "cells": cells,
        "extras": extras,
        "coverage": f"{first['scored']}/{first['n'] * first['samples']}",
        "covered": first["coverage"],
    }


def number_cell(value: float | None, text: str) -> Values:
    """Return a number as a cell with its sort value; empty if it is missing."""
    if value is None:
        return {"value": "", "text": ""}
    return {"value": f"{value:.9g}", "text": text}


def cell_values(row: Values) -> Values:
    """Return the normalized score of a row as a cell, with details for its tooltip."""
    details = mean_and_readable(row)
    if row["output_tokens"] is not None:
        details.append(f"{rounded(row['output_tokens'], 0):,} tokens per answer")
    if row["cost"] is not None:
        details.append(f"${rounded(row['cost'], 4)} per answer")
    value = ""
    between = ""
    if row["normalized"] is not None:
        value = f"{row['normalized']:.9f}"
        # An interval is never broken across lines.
        between = interval(row, "normalized_").replace(" ", "\u00a0")
        details.insert(0, f"95 % interval {between}")
    return {
        "value": value,
        "score": marked_normalized(row),
        "between": between,
        "details": ", ".join(details),
    }


def all_figures(table: pl.DataFrame) -> Values | None:
    """Return all figures of a table with a line for each run; None if there are too many."""
    if table.height > _MOST_LINES:
        return None
    return table_values(run_lines_sheet("", table))


def status_values(results: pl.DataFrame, labels: Labels) -> Values:
    """Return the table of statuses: the number of scores of each run by status."""
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
    with_strips = len(labels) <= _MOST_STRIPS
    titles = task_titles()
    groups: list[list[Values]] = [[]]
    # The line of a bucket follows those of its tasks.
    for line in means.lines:
        over = means.over(line)
        title = "all"
        if line.bucket != OVERALL or over is not None:
            title = line_name(line.bucket, line.task, over, every=True, titles=titles)
        cells: list[Values | None] = []
        for run in labels:
            row = means.row(line, run)
            if row is None:
                cells.append(None)
                continue
            strip = ""
            if with_strips:
                strip = score_strip(line_scores(means, scores, line, run))
            cells.append(cell_values(row) | {"strip": strip})
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
        "strips": with_strips,
        "task_groups": [group for group in groups if group],
    }


def line_scores(
    means: Means, scores: Scores, line: LineKey, run: RunKey
) -> list[float | None]:
    """Return a run's scores in a line; the overall line leaves out text tasks."""
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
        "notes": sheet.notes,
    }


def runs_values(results: pl.DataFrame) -> Values | None:
    """Return how the runs were made; None if no prediction records it."""
    if results["run_metadata"].is_null().all():
        return None
    return table_values(runs_sheet(run_table(results)))


def failure_values(results: pl.DataFrame) -> Values | None:
    """Return the failure modes of low scores, assigned by rules; None without low scores."""
    low_scorers = candidates(results)
    if low_scorers.is_empty():
        return None
    judged = judge_by_rules(low_scorers)
    labels = labelled(low_scorers, judged, JUDGE, VERSION)
    shares = label_shares(states(results, labels))
    chart = {
        "wide": draw(failure_chart(shares), "svg").decode(),
        "narrow": draw(failure_chart(shares, narrow=True), "svg").decode(),
    }
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
