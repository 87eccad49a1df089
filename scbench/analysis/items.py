"""Single items over all runs, and whether difficulty labels agree with the scores."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.columns import ITEM, counts, figures, texts
from scbench.analysis.layout import Column, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import Matrix, score_matrix
from scbench.analysis.sheets import changes_of, interval, number, share, task_cell
from scbench.base.intervals import Floats, condense, mean_interval
from scbench.base.model import Status
from scbench.base.wording import by_frequency
from scbench.catalog import all_tasks
from scbench.grading.means import RUN
from scbench.release.load import Release

# Columns of `item_table`.
ITEMS: Mapping[str, Any] = (
    texts("task id")
    | counts("subtask")
    | texts("difficulty")
    | counts("runs")
    | figures("mean right discrimination")
    | texts("why")
)

# Columns of `label_table`.
LABELS: Mapping[str, Any] = (
    texts("task difficulty")
    | counts("n")
    | figures("mean low high")
    | {"in_order": pl.Boolean}
)

# Difficulty labels, the easiest first.
ORDER = ("easy", "medium", "hard", "very-hard")
# Minimum number of runs for a correlation.
_LEAST_RUNS = 3
# Rounding tolerance of full scores and of equal means.
_RIGHT = 1 - 1e-9
_SAME = 1e-12
# Maximum number of reasons shown for an item's scores below full marks.
_MOST_REASONS = 2
# Maximum number of items without a score that a note names.
_MOST_UNSCORED = 10
_IN_ORDER = {None: "-", True: "yes", False: "no, an easier label scores lower"}


def item_table(results: pl.DataFrame, release: Release | None = None) -> pl.DataFrame:
    """Return the figures of single items over all runs.

    Args:
        results: as returned by `scbench.analysis.results.read_results`.
        release: their release, for the difficulty labels; None if unavailable.

    Returns:
        One row for each score of the release that any run has, with columns `ITEMS`:

        - runs: number of runs that have it;
        - mean: over runs, of their means over samples;
        - right: share of runs with a mean of 1;
        - discrimination: correlation over runs of the item's score with the run's mean
          over all its other scores; null with fewer than three runs, or if one of the
          two does not vary;
        - why: reasons why answers fell short of full marks, see `reasons_by_item`; null
          if none did.
    """
    reasons = reasons_by_item(results)
    score = pl.col("score")
    # Sums in sorted order do not depend on the order of rows.
    means = results.group_by(*RUN, "task", *ITEM).agg(score=score.sort().mean())
    means = means.filter(score.is_not_null())
    means = means.sort(*RUN, "task", *ITEM, nulls_last=False)
    with_totals = means.with_columns(
        total=score.sum().over(RUN), count=pl.len().over(RUN)
    )
    mean_of_others = (pl.col("total") - score) / (pl.col("count") - 1)
    scores = with_totals.with_columns(rest=mean_of_others)
    difficulty = {} if release is None else difficulty_labels(release, results)
    rows: list[dict[str, Any]] = []
    by_item = scores.group_by("task", *ITEM, maintain_order=True)
    for (task, row_id, subtask), part in by_item:
        row = {
            "task": task,
            "id": row_id,
            "subtask": subtask,
            "difficulty": difficulty.get(str(row_id)),
            "runs": part.height,
            "mean": part["score"].mean(),
            "right": (part["score"] >= _RIGHT).mean(),
            "discrimination": correlation_of(
                part["score"].to_numpy(), part["rest"].to_numpy()
            ),
            "why": reasons.get((str(row_id), int(subtask))),
        }
        rows.append(row)
    order = {task: place for place, task in enumerate(all_tasks())}
    rows.sort(key=lambda row: (order[row["task"]], row["subtask"]))
    return pl.DataFrame(rows, schema=ITEMS)


def reasons_by_item(results: pl.DataFrame) -> dict[tuple[str, int], str]:
    """Return the most frequent reasons for scores below full marks, by id and subtask.

    The reason is the first check that an answer fails. For a row without an answer, the
    reason is its status. Results without the column ``failed_checks`` have no reasons.
    """
    if "failed_checks" not in results.columns:
        return {}
    is_answered = pl.col("status") == Status.ANSWERED
    first_check = pl.col("failed_checks").list.first()
    shortfall = pl.coalesce(first_check, pl.lit("partial score"))
    reason = pl.when(is_answered).then(shortfall).otherwise("status")
    short = results.filter(pl.col("score") < _RIGHT)
    counts: dict[tuple[str, int], Counter[str]] = {}
    for row_id, subtask, name in short.select(*ITEM, reason.alias("why")).iter_rows():
        counts.setdefault((row_id, subtask), Counter())[name] += 1
    return {
        item: reasons_text(count, several=count.total() > 1)
        for item, count in counts.items()
    }


def reasons_text(counts: Counter[str], *, several: bool) -> str:
    """Return the most frequent reasons, with counts if there are several answers."""
    frequent = by_frequency(counts)[:_MOST_REASONS]
    names = [name for name, _ in frequent]
    if several:
        names = [f"{name} ({number})" for name, number in frequent]
    return ", ".join(names)


def difficulty_labels(release: Release, results: pl.DataFrame) -> dict[str, str]:
    """Return the difficulty label of each item."""
    instances = release.instances(set(results["task"].unique())).values()
    return {instance.id: instance.difficulty for instance in instances}


def correlation_of(first: Floats, second: Floats) -> float | None:
    """Return the correlation of two columns; None if undefined or with too few runs."""
    has_both = ~(np.isnan(first) | np.isnan(second))
    a = first[has_both]
    b = second[has_both]
    # Columns that do not vary have no correlation.
    if len(a) < _LEAST_RUNS or np.ptp(a) < _SAME or np.ptp(b) < _SAME:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def label_table(results: pl.DataFrame, release: Release) -> pl.DataFrame:
    """Return means by difficulty label over all runs, and whether they decrease with difficulty.

    Args:
        results: as returned by `scbench.analysis.results.read_results`.
        release: their release.

    Returns:
        One row per task and label, and per label over all spatial tasks (task null),
        with columns `LABELS`: n (items), mean (over items, of the means over runs) with
        its interval (over items; runs are treated as fixed), and in_order (whether the
        mean is no higher than that of the next easier label; null for the easiest
        label).
    """
    matrix = score_matrix(results)
    means_by_label = means_by_label_of(matrix, difficulty_labels(release, results))
    rows: list[dict[str, Any]] = []
    for task in (*matrix.blocks, None):
        easier = None
        for label in ORDER:
            means = means_by_label.get((task, label))
            if means is None:
                continue
            part = condense(np.array(means)[:, None])
            low, high = (float(end[0]) for end in mean_interval([part]))
            mean = float(np.mean(means))
            rows.append(
                {
                    "task": task,
                    "difficulty": label,
                    "n": len(means),
                    "mean": mean,
                    "low": low,
                    "high": high,
                    "in_order": None if easier is None else mean <= easier + _SAME,
                }
            )
            easier = mean
    return pl.DataFrame(rows, schema=LABELS)


def means_by_label_of(
    matrix: Matrix, difficulty: Mapping[str, str]
) -> dict[tuple[str | None, str], list[Any]]:
    """Return the mean of each item over runs, by task and label, and by label alone."""
    means: dict[tuple[str | None, str], list[Any]] = {}
    for task, block in matrix.blocks.items():
        # Runs without a score divide by 0.
        with np.errstate(invalid="ignore", divide="ignore"):
            by_run = block.per_answer(block.sums) / block.per_answer(block.counts)
        for name, scores in zip(block.names, by_run, strict=True):
            scored = scores[~np.isnan(scores)]
            label = difficulty.get(name)
            # Items without a label cannot be ordered.
            if len(scored) and label in ORDER:
                mean = scored.mean()
                means.setdefault((task, label), []).append(mean)
                means.setdefault((None, label), []).append(mean)
    return means


def unscored_items(results: pl.DataFrame) -> dict[str, str]:
    """Return the statuses of items without a score in any run, by id in the release's order."""
    order = {task: place for place, task in enumerate(all_tasks())}
    by_item = results.group_by("task", "id").agg(
        pl.col("score").count(), pl.col("status").unique().sort()
    )
    unscored = by_item.filter(pl.col("score") == 0).to_dicts()
    unscored.sort(key=lambda row: (order[row["task"]], len(row["id"]), row["id"]))
    return {row["id"]: " or ".join(row["status"]) for row in unscored}


def unscored_notes(unscored: Mapping[str, str]) -> list[str]:
    """Return the note on items that the table of items does not list; none if it lists all."""
    if not unscored:
        return []
    entries = [f"{row_id} ({status})" for row_id, status in unscored.items()]
    names = ", ".join(entries[:_MOST_UNSCORED])
    if len(entries) > _MOST_UNSCORED:
        names += f" and {len(entries) - _MOST_UNSCORED} more"
    return [f"Items without a score in any run are not listed: {names}."]


def item_sheets(
    items: pl.DataFrame, labels: pl.DataFrame, unscored: Mapping[str, str]
) -> list[Sheet]:
    """Lay out tables of `item_table` and `label_table`, with a note on `unscored_items`."""
    item_columns = (
        Column("item", "id", is_words=True),
        Column("subtask", "subtask"),
        Column("difficulty", lambda row: row["difficulty"] or "-", is_words=True),
        Column("runs", "runs"),
        Column("mean", share("mean")),
        Column("solved", share("right")),
        Column("discrimination", number("discrimination")),
        Column("short of full marks", lambda row: row["why"] or "-", is_words=True),
    )
    label_columns = (
        Column("task", task_cell, is_words=True),
        Column("difficulty", "difficulty", is_words=True),
        Column("N", "n"),
        Column("mean", share("mean")),
        Column("95 %", interval),
        Column("as labelled", lambda row: _IN_ORDER[row["in_order"]], is_words=True),
    )
    return [
        sheet_of(
            "Items",
            item_columns,
            items.to_dicts(),
            [*unscored_notes(unscored), *notes_of("items")],
            changes_of(items["task"].to_list()),
        ),
        sheet_of(
            "Means by difficulty label",
            label_columns,
            labels.to_dicts(),
            notes_of("labels"),
            changes_of(labels["task"].to_list()),
        ),
    ]
