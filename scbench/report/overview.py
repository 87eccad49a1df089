"""The tables at the top of a report, as its template wants them."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

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
    mean_beside,
    rounded,
)
from scbench.analysis.usage import budget_sheet, budget_sweep
from scbench.base.model import Status
from scbench.catalog import MANIFOLDS, all_tasks
from scbench.grading.score_tables import OVERALL
from scbench.report.charts import budget_chart, draw, failure_chart, ladder_chart
from scbench.report.items import run_labels

# Columns between the scores 0 and 1.
_STEPS = 10
_WIDTH, _HEIGHT = 8.0, 24.0


_STATUSES = sorted(Status, key=lambda status: not status.scored)
# Runs that get columns in the table of tasks.
_MOST_COLUMNS = 40
# So many of them are shown before others are chosen.
_SHOWN_COLUMNS = 12
# Lowest and highest mean without tools of the three models in the paper's Table 1, in
# points.
PAPER = {
    OVERALL: (34.9, 57.6),
    "axiomatic": (49.3, 81.3),
    "constructive": (30.2, 51.9),
    "planning": (27.5, 50.0),
}


def interval_strip(score: float | None, low: float | None, high: float | None) -> str:
    """Return a line from 0 to 1 with an interval, and a dot for the score."""
    x_low, x_high, x_score = (
        "" if value is None else f"{4 + min(max(value, 0.0), 1.0) * 110:.1f}"
        for value in (low, high, score)
    )
    line = 'class="s-answer" stroke-width="4" stroke-opacity=".45"'
    parts = ['<path d="M4 6H114" class="s-faint" stroke-width="2"/>']
    parts += [f'<path d="M{x_low} 6H{x_high}" {line}/>'] if x_low and x_high else []
    parts += (
        [f'<circle cx="{x_score}" cy="6" r="3.6" class="f-answer"/>'] if x_score else []
    )
    return (
        '<svg class="sb meter" width="118" height="12" viewBox="0 0 118 12" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )


def spread(scores: Sequence[float | None]) -> tuple[list[int], int]:
    """Return how many scores are 0, in each of ten steps between, and 1, and how many are missing.

    A step holds its upper end: the last holds what is above 0.9 and below 1.
    """
    columns = [0] * (_STEPS + 2)
    ends = [i / _STEPS for i in range(_STEPS)]
    present = [score for score in scores if score is not None]
    for score in present:
        columns[_STEPS + 1 if score >= 1 else bisect_left(ends, score)] += 1
    return columns, len(scores) - len(present)


def spread_words(scores: Sequence[float | None]) -> str:
    """Return the spread of scores in words."""
    columns, absent = spread(scores)
    zero, between, full = columns[0], sum(columns[1:-1]), columns[-1]
    parts = [f"score 1: {full}"]
    parts += [f"between: {between}"] if between else []
    parts += [f"score 0: {zero}"]
    parts += [f"no score: {absent}"] if absent else []
    return ", ".join(parts)


def score_strip(scores: Sequence[float | None]) -> str:
    """Return columns for the score 0, ten steps between, the score 1, and for no score.

    A column as high as the chart is all of the scores.
    """
    columns, absent = spread(scores)
    total = max(len(scores), 1)
    roles = ("wrong", *["note"] * _STEPS, "right")
    end = len(columns) * _WIDTH
    places = [i * _WIDTH + 1 for i in range(len(columns))]
    bars = zip(places, columns, roles, strict=True)
    parts = []
    for x, count, role in (*bars, (end + _WIDTH, absent, "given")):
        if count:
            high = max(count / total * _HEIGHT, 1.5)
            parts.append(
                f'<rect x="{x:g}" y="{_HEIGHT - high:.1f}" width="{_WIDTH - 1.5:g}" '
                f'height="{high:.1f}" class="f-{role}"/>'
            )
    parts.append(
        f'<path d="M0 {_HEIGHT + 1:g}H{end:g}" class="s-faint" stroke-width="1.5"/>'
    )
    width = end + 2 * _WIDTH
    return (
        f'<svg class="sb spread" role="img" width="{width:g}" height="{_HEIGHT + 3:g}" '
        f'viewBox="0 0 {width:g} {_HEIGHT + 3:g}"><title>{escape(spread_words(scores))}</title>'
        f"{''.join(parts)}</svg>"
    )


Values = dict[str, Any]


RunKey = tuple[str, str | None, int | None]


def overview(results: pl.DataFrame) -> Values:
    """Return what the tables show of results with the columns of budgets and failure modes."""
    table = paper_table(results, "task").to_dicts()
    keys = sorted(
        {(row["model"], row["setting"], row["budget"]) for row in table},
        key=lambda run: (run[0], run[1] or "", run[2] or 0),
    )
    names = run_labels([(*key, 0) for key in keys])
    cells = {
        (row["bucket"], row["task"], (row["model"], row["setting"], row["budget"])): row
        for row in table
    }
    wholes = {key: _overall_row(cells, key) for key in keys}
    keys.sort(
        key=lambda key: [-(wholes[key][name] or 0.0) for name in ("normalized", "mean")]
    )
    labels = {key: names[(*key, 0)] for key in keys}
    return {
        "gaps": any(row["coverage"] < 1 for row in table),
        "lead": _lead(labels, wholes),
        **_buckets(cells, labels, beside_paper=not is_ladder(results)),
        **_statuses(results, labels),
        **_tasks(cells, dict(list(labels.items())[:_MOST_COLUMNS]), _scores(results)),
        "shown_columns": _SHOWN_COLUMNS,
        "note": NOTE,
        "runs_table": _runs_table(results),
        "failures": _failures(results),
        "budget": _budget(results),
        "ladder": _ladder(results),
        "modality": _modality(results),
    }


def _table_values(sheet: Sheet) -> Values:
    values = {"heads": sheet.heads, "rows": sheet.rows, "words": sheet.words}
    return values | {"notes": " ".join(sheet.notes)}


def _runs_table(results: pl.DataFrame) -> Values | None:
    """Return how the runs were made; nothing where no prediction says so."""
    if results["run_metadata"].is_null().all():
        return None
    return _table_values(runs_sheet(run_table(results)))


def _failures(results: pl.DataFrame) -> Values | None:
    """Return why answers scored low, by the rules; nothing where none did."""
    low_scorers = candidates(results)
    if low_scorers.is_empty():
        return None
    labels = labelled(low_scorers, judge_by_rules(low_scorers), JUDGE, VERSION)
    shares = label_shares(states(results, labels))
    chart = draw(failure_chart(shares), "svg").decode()
    return {"chart": chart, **_table_values(shares_sheet(shares))}


Scores = Mapping[tuple[str, RunKey], Sequence[float | None]]
Cells = Mapping[tuple[str, str | None, RunKey], Values]


def _overall_row(cells: Cells, run: RunKey) -> Values:
    """Return the row that is over most of what a run answered."""
    rows = [row for (_, task, of), row in cells.items() if task is None and of == run]
    return next((row for row in rows if row["bucket"] == OVERALL), rows[0])


def _lead(
    labels: Mapping[RunKey, str], wholes: Mapping[RunKey, Values]
) -> Values | None:
    """Return what the best run came to; nothing where no run has a score."""
    best = next(iter(labels))
    row = wholes[best]
    if row["mean"] is None:
        return None
    return {"run": labels[best], "runs": len(labels), "of": row["bucket"]} | _cell(
        row, ""
    )


def _buckets(
    cells: Cells, labels: Mapping[RunKey, str], *, beside_paper: bool
) -> Values:
    buckets = list(dict.fromkeys(bucket for bucket, task, _ in cells if task is None))
    # Text tasks alone have no overall mean.
    buckets.sort(key=lambda name: name != OVERALL)
    widest = {
        name: max(
            (
                row
                for (bucket, task, _), row in cells.items()
                if (bucket, task) == (name, None)
            ),
            key=lambda row: row["n"],
        )
        for name in buckets
    }
    rows = []
    ends = ("normalized", "normalized_low", "normalized_high")
    for run, label in labels.items():
        run_rows = [cells.get((bucket, None, run)) for bucket in buckets]
        widest_row = next(row for row in run_rows if row is not None)
        rows.append(
            {
                "run": label,
                "cells": [
                    row and _cell(row, interval_strip(*map(row.get, ends)))
                    for row in run_rows
                ],
                "coverage": f"{widest_row['scored']}/{widest_row['n'] * widest_row['samples']}",
                "covered": widest_row["coverage"],
            }
        )
    heads = [
        (f"{name} ({row['over']})" if row["over"] else name, row["n"])
        for name, row in widest.items()
    ]
    ranges = [
        PAPER[name] if name in PAPER and not row["over"] and beside_paper else None
        for name, row in widest.items()
    ]
    return {
        "bucket_heads": heads,
        "bucket_rows": rows,
        "paper": [end and f"{end[0]} to {end[1]}" for end in ranges]
        if any(ranges)
        else [],
    }


def _cell(row: Values, strip: str) -> Values:
    beside = mean_beside(row)
    if row["output_tokens"] is not None:
        beside.append(f"{rounded(row['output_tokens'], 0):,} tokens")
    if row["cost"] is not None:
        beside.append(f"{rounded(row['cost'], 4)} US$")
    return {
        "value": "" if row["normalized"] is None else f"{row['normalized']:.9f}",
        "score": marked_normalized(row),
        # An interval stays on its line.
        "between": ""
        if row["normalized"] is None
        else interval(row, "normalized_").replace(" ", "\u00a0"),
        "beside": ", ".join(beside),
        "strip": strip,
    }


def _statuses(results: pl.DataFrame, labels: Mapping[RunKey, str]) -> Values:
    counts: dict[RunKey, dict[str, int]] = {run: {} for run in labels}
    grouped = results.group_by("model", "setting", "budget", "status").len()
    for model, setting, budget, status, count in grouped.iter_rows():
        counts[model, setting, budget][status] = count
    present = [
        s.value
        for s in _STATUSES
        if any(s.value in of_run for of_run in counts.values())
    ]
    return {
        "statuses": present,
        "status_rows": [
            {"run": label, "counts": [counts[run].get(status, 0) for status in present]}
            for run, label in labels.items()
        ],
    }


def _scores(results: pl.DataFrame) -> Scores:
    grouped = results.group_by("task", "model", "setting", "budget").agg("score")
    return {
        (task, (model, setting, budget)): scores
        for task, model, setting, budget, scores in grouped.iter_rows()
    }


def _tasks(cells: Cells, labels: Mapping[RunKey, str], scores: Scores) -> Values:
    titles = {task.id: task.title for task in all_tasks().values()}
    groups: list[list[Values]] = [[]]
    widest = sorted(cells.values(), key=lambda row: row["n"])
    over = {(row["bucket"], row["task"]): row["over"] for row in widest}
    for bucket, task in dict.fromkeys((bucket, task) for bucket, task, _ in cells):
        line = []
        for run in labels:
            row = cells.get((bucket, task, run))
            cell_scores = (
                scores.get((task, run), ())
                if task
                else _bucket_scores(cells, scores, bucket, run)
            )
            line.append(row and _cell(row, score_strip(cell_scores)))
        groups[-1].append(
            {
                "task": task,
                "title": "all"
                if bucket == OVERALL and over[bucket, task] is None
                else line_name(bucket, task, over[bucket, task], titles, every=True),
                "total": task is None,
                "n": max(
                    row["n"] for key, row in cells.items() if key[:2] == (bucket, task)
                ),
                "cells": line,
            }
        )
        if task is None:
            groups.append([])
    return {
        "runs": list(labels.values()),
        "task_groups": [group for group in groups if group],
    }


def _bucket_scores(
    cells: Cells, scores: Scores, bucket: str, run: RunKey
) -> list[float | None]:
    tasks = dict.fromkeys(
        task
        for b, task, _ in cells
        if task is not None and (b == bucket or (bucket == OVERALL and b != MANIFOLDS))
    )
    return [score for task in tasks for score in scores.get((task, run), ())]


def _budget(results: pl.DataFrame) -> Values | None:
    if results["budget"].is_null().all():
        return None
    sweep = budget_sweep(results)
    chart = draw(budget_chart(sweep), "svg").decode()
    return {"chart": chart, **_table_values(budget_sheet(sweep))}


def _modality(results: pl.DataFrame) -> list[tuple[str, Values]]:
    """Return what runs on text and on pictures of the same items differ by; empty without both."""
    lines = gap_lines(results)
    sheets = modality_sheets(pl.DataFrame(lines, schema=SCHEMA)) if lines else []
    return [(sheet.title, _table_values(sheet)) for sheet in sheets]


def _ladder(results: pl.DataFrame) -> Values | None:
    """Return the levels of runs on a ladder; nothing for results of other instances."""
    if not is_ladder(results):
        return None
    climbs = climbs_of(results)
    table, rungs = ladder_table(climbs), rung_table(climbs)
    sheets = ladder_sheets(table)
    chart = draw(ladder_chart(table, rungs), "svg").decode()
    return {
        "chart": chart,
        "runs": [(sheet.title, _table_values(sheet)) for sheet in sheets],
    }
