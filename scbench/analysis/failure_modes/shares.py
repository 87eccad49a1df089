"""The state of every score, and the frequency of each label.

Every share is shown with its count and the run's statuses. Higher accuracy means fewer
judged candidates, so a share can rise while its count falls.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from scbench.analysis.columns import RUN_TYPES, counts, figures, texts
from scbench.analysis.compare import run_name
from scbench.analysis.failure_modes.label_files import check_labels
from scbench.analysis.failure_modes.labels import (
    IDENTITY,
    KEY,
    THRESHOLD,
    candidates,
    states_without_diagnosis,
)
from scbench.analysis.failure_modes.modes import PASS, Mode, meaning_of
from scbench.analysis.layout import Column, Row, Sheet, sheet_of
from scbench.analysis.sheets import changes_of, points, statuses, task_cell
from scbench.base.errors import printable
from scbench.base.model import Status
from scbench.catalog import all_tasks
from scbench.grading.means import RUN

# Columns of `label_shares`.
SHARES: Mapping[str, Any] = (
    RUN_TYPES
    | texts("task failure_mode")
    | counts("count judged")
    | figures("share")
    | counts("rows passed", *(status.value for status in Status))
)
_SHARES_NOTE = (
    "Labels: count and percentage of the judged candidates. Prompts that were never sent, and "
    "replies that were blocked, lost, cut off or blank, are not judged; the status column counts "
    "them."
)


def states(
    results: pl.DataFrame, labels: pl.DataFrame, threshold: float = THRESHOLD
) -> pl.DataFrame:
    """Return the state of every row.

    Args:
        results: as returned by `scbench.analysis.results.read_results`, with
            `scbench.analysis.failure_modes.labels.COLUMNS`.
        labels: labels of all their candidates, columns
            `scbench.analysis.failure_modes.label_files.LABELS`.
        threshold: scores from this one on pass.

    Returns:
        Columns `scbench.analysis.failure_modes.labels.KEY`, status, and state: "pass", the
        label of a candidate, or the row's status if there is nothing to diagnose.

    Raises:
        ResultsError: the labels do not belong to the candidates.
    """
    check_labels(labels, candidates(results, threshold))
    undecided = states_without_diagnosis(results, threshold).with_columns(
        status=results["status"]
    )
    decisions = labels.select(*IDENTITY, "failure_mode")
    joined = undecided.join(
        decisions, on=IDENTITY, how="left", nulls_equal=True, maintain_order="left"
    )
    return joined.select(*KEY, "status", state=pl.coalesce("state", "failure_mode"))


def label_shares(row_states: pl.DataFrame, *, by_task: bool = False) -> pl.DataFrame:
    """Return the frequency of each label.

    Args:
        row_states: as returned by `states`.
        by_task: whether to count each task separately.

    Returns:
        One row per run (and task) and label, with columns `SHARES`: count, judged
        (labelled candidates of the run), share (count over judged; null if none were
        judged), rows and passed (all rows of the run, and those that pass), and one
        count per status over all rows. task is null unless counted by task.
    """
    state = pl.col("state")
    status = pl.col("status")
    sums = {f"label {mode}": (state == mode.value).sum() for mode in Mode}
    sums |= {name.value: (status == name.value).sum() for name in Status}
    sums["judged"] = state.is_in([mode.value for mode in Mode]).sum()
    sums["passed"] = (state == PASS).sum()
    sums["rows"] = pl.len()
    if by_task:
        order = {task: place for place, task in enumerate(all_tasks())}
        place = pl.col("task").replace_strict(order, default=len(order))
        by_line = row_states.group_by(*RUN, "task").agg(**sums)
        by_line = by_line.sort(*RUN, place, nulls_last=False)
    else:
        by_line = row_states.group_by(RUN).agg(**sums).sort(*RUN, nulls_last=False)
    rows: list[dict[str, Any]] = []
    for line in by_line.iter_rows(named=True):
        # Every label has a row that repeats the sums of its line.
        cells = {name: line.get(name) for name in SHARES}
        for mode in Mode:
            count = line[f"label {mode}"]
            share = count / line["judged"] if line["judged"] else None
            label = {"failure_mode": mode.value, "count": count, "share": share}
            rows.append(cells | label)
    return pl.DataFrame(rows, schema=SHARES)


def shares_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `label_shares`."""
    rows = []
    for line in frame.partition_by(*RUN, "task", maintain_order=True):
        row = line.row(0, named=True)
        row["labels"] = {
            label["failure_mode"]: (label["count"], label["share"])
            for label in line.to_dicts()
        }
        rows.append(row)
    columns = [Column("run", run_cell, is_words=True)]
    breaks: frozenset[int] = frozenset()
    if frame["task"].null_count() < frame.height:
        columns.append(Column("task", task_cell, is_words=True))
        breaks = changes_of([run_cell(row) for row in rows])
    columns += [
        Column("rows", "rows"),
        Column("pass", "passed"),
        Column("judged", "judged"),
    ]
    notes = [_SHARES_NOTE]
    for mode in Mode:
        meaning = meaning_of(mode)
        columns.append(Column(meaning.short, partial(label_cell, mode)))
        notes.append(f"{meaning.short}: {meaning.applies}")
    columns.append(Column("status", statuses, is_words=True, wraps=True))
    return sheet_of("Failure modes", columns, rows, notes, breaks)


def run_cell(row: Row) -> str:
    """Return the name of a row's run."""
    return printable(run_name(row["model"], row["setting"], row["budget"]))


def label_cell(mode: Mode, row: Row) -> str:
    """Return the count of a label and its share."""
    count, share = row["labels"][mode]
    return f"{count} ({points(share)})"
