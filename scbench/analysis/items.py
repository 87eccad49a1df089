"""Below the task: single items over all runs, and whether difficulty labels fit the scores."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.columns import ITEM, counts, figures, texts
from scbench.analysis.layout import Column, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import score_matrix
from scbench.analysis.sheets import changes_of, interval, number, share, task_title
from scbench.base.intervals import condense, ends
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
)

# Columns of `label_table`.
LABELS: Mapping[str, Any] = (
    texts("task difficulty")
    | counts("n")
    | figures("mean low high")
    | {"in_order": pl.Boolean}
)

ORDER = ("easy", "medium", "hard", "very-hard")
_LEAST_RUNS = 3
_RIGHT = 1 - 1e-9
_SAME = 1e-12


_ITEM_COLUMNS = (
    Column("item", "id", is_words=True),
    Column("subtask", "subtask"),
    Column("difficulty", lambda row: row["difficulty"] or "-", is_words=True),
    Column("runs", "runs"),
    Column("mean", share("mean")),
    Column("share right", share("right")),
    Column("discrimination", number("discrimination")),
)
_IN_ORDER = {None: "-", True: "yes", False: "no: easier labels score lower"}
_LABEL_COLUMNS = (
    Column(
        "task", lambda row: task_title(row) if row["task"] else "all", is_words=True
    ),
    Column("difficulty", "difficulty", is_words=True),
    Column("N", "n"),
    Column("mean", share("mean")),
    Column("95 %", interval),
    Column("as labelled", lambda row: _IN_ORDER[row["in_order"]], is_words=True),
)


def item_table(results: pl.DataFrame, release: Release | None = None) -> pl.DataFrame:
    """Return what single items come to over all runs.

    Args:
        results: as `scbench.analysis.results.read_results` gives them.
        release: that they are of, for the difficulty labels; None if it is not at hand.

    Returns:
        One row per score of the release that a run has, with columns `ITEMS`: runs (that have it),
        mean over runs of their means over samples, right (share of runs with a mean of 1), and
        discrimination: the correlation over runs of the item's score with the run's mean over all
        its other scores; null with fewer than three runs, or where one of the two does not vary.
    """
    scores = (
        results.group_by(*RUN, "task", *ITEM)
        .agg(score=pl.col("score").sort().mean())
        .filter(pl.col("score").is_not_null())
        .sort(*RUN, "task", *ITEM, nulls_last=False)
        .with_columns(total=pl.col("score").sum().over(RUN), count=pl.len().over(RUN))
        .with_columns(rest=(pl.col("total") - pl.col("score")) / (pl.col("count") - 1))
    )
    difficulty = _difficulties(release, results)
    order = {task: i for i, task in enumerate(all_tasks())}
    rows = [
        {
            "task": task,
            "id": row_id,
            "subtask": subtask,
            "difficulty": difficulty.get(row_id),
            "runs": part.height,
            "mean": part["score"].mean(),
            "right": (part["score"] >= _RIGHT).mean(),
            "discrimination": _correlation(
                part["score"].to_numpy(), part["rest"].to_numpy()
            ),
        }
        for (task, row_id, subtask), part in scores.group_by(
            "task", *ITEM, maintain_order=True
        )
    ]
    rows.sort(key=lambda row: (order[str(row["task"])], row["subtask"]))
    return pl.DataFrame(rows, schema=ITEMS)


def _difficulties(release: Release | None, results: pl.DataFrame) -> dict[str, str]:
    if release is None:
        return {}
    rows = release.instances(set(results["task"].unique())).values()
    return {row.id: row.difficulty for row in rows}


def _correlation(first: Any, second: Any) -> float | None:  # noqa: ANN401
    both = ~(np.isnan(first) | np.isnan(second))
    a, b = first[both], second[both]
    if len(a) < _LEAST_RUNS or np.ptp(a) < _SAME or np.ptp(b) < _SAME:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def label_table(results: pl.DataFrame, release: Release) -> pl.DataFrame:
    """Return means by difficulty label, of all runs together, and whether they fall as labels say.

    Args:
        results: as `scbench.analysis.results.read_results` gives them.
        release: that they are of.

    Returns:
        One row per task and label, and per label over all spatial tasks (task null), with columns
        `LABELS`: n (items), mean over items of the means over runs with its interval (which is of
        the items: the runs are taken as they are), and in_order (whether it is no higher than that
        of the next easier label; null for the easiest).
    """
    difficulty = _difficulties(release, results)
    matrix = score_matrix(results)
    cells: dict[tuple[str | None, str], list[Any]] = {}
    for name_of, block in matrix.blocks.items():
        with np.errstate(invalid="ignore", divide="ignore"):
            by_run = block.per_answer(block.sums) / block.per_answer(block.counts)
        for name, scores in zip(block.names, by_run, strict=True):
            scored = scores[~np.isnan(scores)]
            label = difficulty.get(name)
            if len(scored) and label in ORDER:
                cells.setdefault((name_of, label), []).append(scored.mean())
                cells.setdefault((None, label), []).append(scored.mean())
    rows: list[dict[str, Any]] = []
    names: list[str | None] = [*matrix.blocks, None]
    for task in names:
        easier = None
        for label in ORDER:
            means = cells.get((task, label))
            if means is None:
                continue
            low, high = (
                float(end[0]) for end in ends([condense(np.array(means)[:, None])])
            )
            mean = float(np.mean(means))
            row: dict[str, Any] = {
                "task": task,
                "difficulty": label,
                "n": len(means),
                "mean": mean,
            }
            row |= {"low": low, "high": high}
            rows.append(
                row | {"in_order": None if easier is None else mean <= easier + _SAME}
            )
            easier = mean
    return pl.DataFrame(rows, schema=LABELS)


def item_sheets(items: pl.DataFrame, labels: pl.DataFrame) -> list[Sheet]:
    """Lay out tables of `item_table` and `label_table`."""
    return [
        sheet_of(
            title,
            columns,
            frame.to_dicts(),
            notes_of(key),
            changes_of(frame["task"].to_list()),
        )
        for title, columns, frame, key in (
            ("Items, over all runs", _ITEM_COLUMNS, items, "items"),
            ("Difficulty labels against means", _LABEL_COLUMNS, labels, "labels"),
        )
    ]
