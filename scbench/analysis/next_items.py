"""Which items of a ladder say most about a model now: an adaptive test.

An item tells of its task's level as much as its Fisher information, expected over the curves that
the scores so far leave likely; with no scores yet that is greatest in the middle of the ladder.
Items are taken one by one, each from the task whose uncertainty it lowers most, so that they spread
over tasks and end where a level is still unknown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.climbs import ceilings_of, climb_of
from scbench.analysis.curves import Answers
from scbench.analysis.levels import Fit, fit
from scbench.analysis.matrix import score_matrix
from scbench.analysis.results import counts, figures, texts
from scbench.base.model import Status, rung_of, task_of

# Columns of `next_items`.
SCHEMA: Mapping[str, Any] = (
    texts("id task") | counts("rung") | figures("information error")
)

# Statuses of items that may still get an answer. What was blocked would be so again.
_WAITING = (Status.MISSING.value, Status.API_ERROR.value, Status.NOT_RUN.value)
# Answers on the top rung without which it is not said to be passed.
_PASSED = 3


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a model, and what can still be asked.

    Attributes:
        fits: the curve of each task.
        waiting: ids without an answer, by task and rung, in their order.
        passed: tasks whose top rung is passed, half above the floor or more, by that rung.
    """

    fits: Mapping[str, Fit]
    waiting: Mapping[str, Mapping[int, list[str]]]
    passed: Mapping[int, list[str]] = field(default_factory=dict)


def nothing_asked(ids: Iterable[str]) -> Standing:
    """Return what can be asked of a model that has answered nothing.

    Args:
        ids: of a ladder's instances; others are left out.
    """
    waiting = _by_rung(ids)
    none = np.empty(0)
    return Standing(
        {
            task: fit(Answers(none, none, none, max(rungs)), 0)
            for task, rungs in waiting.items()
        },
        waiting,
    )


def asked_of(rows: pl.DataFrame) -> Standing:
    """Return what is known after results.

    Args:
        rows: of one run, as `scbench.analysis.ladder.on_ladder` gives them.
    """
    matrix = score_matrix(rows)
    climbs = {task: climb_of(block, 0) for task, block in matrix.blocks.items()}
    by_task = {task: climb.answers for task, climb in climbs.items()}
    unscored = pl.col("score").is_null().all() & pl.col("status").is_in(_WAITING).any()
    ids = rows.group_by("id").agg(waits=unscored).filter("waits")["id"].sort()
    passed: dict[int, list[str]] = {}
    for task, answers in by_task.items():
        if _is_passed(answers):
            passed.setdefault(answers.top, []).append(task)
    ceilings = ceilings_of(climbs)
    fits = {
        t: fit(answers, 0, ceiling=ceilings[t].value) for t, answers in by_task.items()
    }
    return Standing(fits, _by_rung(ids), passed)


def _is_passed(answers: Answers) -> bool:
    top = answers.rungs == answers.top
    if top.sum() < _PASSED:
        return False
    floor = float(answers.floors[top].mean())
    return floor < 1 and float(answers.scores[top].mean()) > (1 + floor) / 2


def _by_rung(ids: Iterable[str]) -> dict[str, dict[int, list[str]]]:
    rungs_of_tasks: dict[str, dict[int, list[str]]] = {}
    for name in ids:
        rung = rung_of(name)
        if rung is not None:
            rungs_of_tasks.setdefault(task_of(name), {}).setdefault(rung, []).append(
                name
            )
    return rungs_of_tasks


def next_items(standing: Standing, limit: int) -> pl.DataFrame:
    """Return the items that tell most, best first.

    Args:
        standing: what is known, and what can still be asked.
        limit: how many.

    Returns:
        Columns `SCHEMA`: information (Fisher's, per squared rung) and error (the standard error of
        the task's level that is expected after this item and those before it). There are fewer rows
        if fewer items are left.
    """
    by_rung = {task: standing.fits[task].information() for task in standing.waiting}
    precision = {
        task: 1 / max(standing.fits[task].variance(), 1e-6) for task in standing.waiting
    }
    waiting = {
        task: {rung: list(ids) for rung, ids in rungs.items()}
        for task, rungs in standing.waiting.items()
    }
    rows: list[dict[str, Any]] = []
    while waiting and len(rows) < limit:
        best = {
            task: max(rungs, key=lambda rung: by_rung[task][rung - 1])
            for task, rungs in waiting.items()
        }
        task = max(
            best,
            key=lambda name: _variance_gain(
                precision[name], by_rung[name][best[name] - 1]
            ),
        )
        rung = best[task]
        information = float(by_rung[task][rung - 1])
        precision[task] += information
        rows.append(
            {"id": waiting[task][rung].pop(0), "task": task, "rung": rung}
            | {"information": information, "error": precision[task] ** -0.5}
        )
        if not waiting[task][rung]:
            del waiting[task][rung]
        if not waiting[task]:
            del waiting[task]
    return pl.DataFrame(rows, schema=SCHEMA)


def _variance_gain(precision: float, information: float) -> float:
    """Return by how much an item lowers the variance of a level."""
    return 1 / precision - 1 / (precision + information)
