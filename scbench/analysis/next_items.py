"""Adaptive testing: the most informative ladder items for a model.

An item's information about its task's level is its Fisher information, averaged over
the likely curves given the scores so far. Without scores it is greatest in the middle
of the ladder. Items are picked one by one, each where it reduces the uncertainty of a
task most, so that they spread over tasks and concentrate on uncertain levels.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.climbs import ceilings_of, climb_of
from scbench.analysis.columns import counts, figures, texts
from scbench.analysis.curves import Answers
from scbench.analysis.levels import Fit, fit
from scbench.analysis.matrix import score_matrix
from scbench.base.model import Status, rung_of, task_of

# Columns of `next_items`.
SCHEMA: Mapping[str, Any] = (
    texts("id task") | counts("rung") | figures("information error")
)

# Statuses of items that may still get an answer. A blocked item would be blocked again.
_WAITING = (Status.MISSING.value, Status.API_ERROR.value, Status.NOT_RUN.value)
# Minimum answers on the top rung for it to count as passed.
_PASSED = 3


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """The current knowledge about a model, and the items that can still be run.

    Attributes:
        fits: the curve of each task.
        waiting: ids without an answer, by task and rung, in their order.
        passed: tasks by top rung, for tasks whose top rung the model passed (its mean
            is more than halfway from the floor to 1).
    """

    fits: Mapping[str, Fit]
    waiting: Mapping[str, Mapping[int, list[str]]]
    passed: Mapping[int, list[str]] = field(default_factory=dict)


def nothing_asked(ids: Iterable[str]) -> ModelProgress:
    """Return the progress of a model without answers.

    Args:
        ids: ids of a ladder's instances; others are left out.
    """
    waiting = ids_by_rung(ids)
    none = np.empty(0)
    fits = {}
    for task, rungs in waiting.items():
        fits[task] = fit(Answers(none, none, none, max(rungs)), 0)
    return ModelProgress(fits, waiting)


def asked_of(rows: pl.DataFrame) -> ModelProgress:
    """Return the progress of a model after these results.

    Args:
        rows: rows of one run, as returned by `scbench.analysis.ladder.on_ladder`.
    """
    matrix = score_matrix(rows)
    climbs = {task: climb_of(block, 0) for task, block in matrix.blocks.items()}
    ceilings = ceilings_of(climbs)
    fits = {}
    passed: dict[int, list[str]] = {}
    for task, climb in climbs.items():
        answers = climb.answers
        fits[task] = fit(answers, 0, ceiling=ceilings[task].value)
        if is_passed(answers):
            passed.setdefault(answers.top, []).append(task)
    may_wait = pl.col("status").is_in(_WAITING).any()
    waits = pl.col("score").is_null().all() & may_wait
    ids = rows.group_by("id").agg(waits=waits).filter("waits")["id"].sort()
    return ModelProgress(fits, ids_by_rung(ids), passed)


def is_passed(answers: Answers) -> bool:
    """Whether more than half of the top rung is solved, after correcting for the floor."""
    on_top = answers.rungs == answers.top
    if on_top.sum() < _PASSED:
        return False
    floor = float(answers.floors[on_top].mean())
    return floor < 1 and float(answers.scores[on_top].mean()) > (1 + floor) / 2


def ids_by_rung(ids: Iterable[str]) -> dict[str, dict[int, list[str]]]:
    """Return the ids of a ladder's instances by task and rung."""
    by_task: dict[str, dict[int, list[str]]] = {}
    for name in ids:
        rung = rung_of(name)
        if rung is not None:
            rungs = by_task.setdefault(task_of(name), {})
            rungs.setdefault(rung, []).append(name)
    return by_task


def next_items(standing: ModelProgress, limit: int) -> pl.DataFrame:
    """Return the most informative items, best first.

    Args:
        standing: the current knowledge, and the items that can still be run.
        limit: number of items.

    Returns:
        Columns `SCHEMA`: information (Fisher's, per squared rung) and error (the standard error of
        the task's level that is expected after this item and those before it). There
        are fewer rows if fewer items remain.
    """
    information = {}
    precision = {}
    waiting = {}
    for task, rungs in standing.waiting.items():
        curve = standing.fits[task]
        information[task] = curve.information()
        precision[task] = 1 / max(curve.variance(), 1e-6)
        waiting[task] = {rung: list(ids) for rung, ids in rungs.items()}
    rows: list[dict[str, Any]] = []
    while waiting and len(rows) < limit:
        task, rung = best_rung(waiting, information, precision)
        item_information = float(information[task][rung - 1])
        precision[task] += item_information
        rows.append(
            {
                "id": waiting[task][rung].pop(0),
                "task": task,
                "rung": rung,
                "information": item_information,
                "error": precision[task] ** -0.5,
            }
        )
        if not waiting[task][rung]:
            del waiting[task][rung]
        if not waiting[task]:
            del waiting[task]
    return pl.DataFrame(rows, schema=SCHEMA)


def best_rung(
    waiting: Mapping[str, Mapping[int, list[str]]],
    information: Mapping[str, Any],
    precision: Mapping[str, float],
) -> tuple[str, int]:
    """Return the task and rung whose next item reduces the variance of a level most."""
    candidates = []
    gains = []
    for task, rungs in waiting.items():
        task_information = information[task]
        rung = max(rungs, key=lambda rung: task_information[rung - 1])
        candidates.append((task, rung))
        before = precision[task]
        gains.append(1 / before - 1 / (before + task_information[rung - 1]))
    return candidates[gains.index(max(gains))]
