"""Scores of a builder's answers, and the floors of instances.

The floor of an instance is the score of its best trivial answer: one that does not solve the
instance (`Builder.baselines`), or a blind guess (`Builder.blind_floor`).
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, JsonValue

from scbench.base.canonical import canonical_json
from scbench.base.errors import ReleaseError, ScbenchError
from scbench.base.wording import by_frequency
from scbench.catalog import Task
from scbench.freezing.proofs import builder_memo, score_memo
from scbench.release.load import Reference
from scbench.release.manifest import FloorRecord
from scbench.scoring.judge import judge

# Name of the strategy behind `Builder.blind_floor`.
BLIND = "blind guess"


class Floor(NamedTuple):
    """Floor of an instance, and the answer with this score."""

    score: float = 0.0
    """In [0, 1]; a mean if the task has several scores."""
    strategy: str = ""
    """Name of the answer; empty if no trivial answer scores above 0."""


class NamedAnswer(NamedTuple):
    """An answer from a builder."""

    name: str
    text: str
    """The answer as canonical JSON."""


def floor_of(task: Task, params: BaseModel, proofs: Path | None = None) -> Floor:
    """Return the floor of an instance: its best trivial answer, or the first of several.

    Raises:
        ReleaseError: the grader fails on a trivial answer, or the blind guess is not a
            valid score.
    """
    best = Floor()
    for floor in floors_of(task, params, proofs):
        if floor.score > best.score:
            best = floor
    return best


def floors_of(task: Task, params: BaseModel, proofs: Path | None = None) -> list[Floor]:
    """Return the scores of an instance's trivial answers that score above 0.

    Raises:
        ReleaseError: see `floor_of`.
    """
    params_text = canonical_json(params.model_dump(mode="json"))
    memo = builder_memo(proofs, task, ["without insight", params_text])
    trivial = memo.read()
    if trivial is None:
        builder: Any = task.builder()
        blind_floor = float(builder.blind_floor(params))
        trivial = [blind_floor, list(builder.baselines(params).items())]
        memo.write(trivial)
    blind_score, baselines = trivial
    if not 0 <= blind_score <= 1:
        raise ReleaseError(
            f"{task.id}: a blind guess cannot have an expected score of {blind_score}"
        )
    answers = [NamedAnswer(name, canonical_json(value)) for name, value in baselines]
    scores = proven_scores(
        task, params, params_text, answers, where=task.id, proofs=proofs
    )
    floors = [Floor(blind_score, BLIND)]
    for answer, score in zip(answers, scores, strict=True):
        floors.append(Floor(score, answer.name))
    return [floor for floor in floors if floor.score > 0]


def proven_scores(
    task: Task,
    params: BaseModel,
    params_text: str,
    answers: Sequence[NamedAnswer],
    *,
    where: str,
    proofs: Path | None,
) -> list[float]:
    """Return the scores of answers to an instance, from the cache or graded now.

    Raises:
        ReleaseError: see `mean_score`.
    """
    if not answers:
        return []
    memo = score_memo(proofs, task, params_text, [answer.text for answer in answers])
    scores: list[float] | None = memo.read()
    if scores is None:
        scores = []
        for answer in answers:
            value = json.loads(answer.text)
            scores.append(mean_score(task, params, answer.name, value, where=where))
        memo.write(scores)
    return scores


def mean_score(
    task: Task, params: BaseModel, name: str, answer: JsonValue, *, where: str
) -> float:
    """Return the score of a stored answer; if the task has several scores, their mean.

    Args:
        task: task of the instance.
        params: parameters of the instance.
        name: name of the answer, for messages.
        answer: the answer.
        where: instance or task that the answer belongs to, for messages.

    Raises:
        ReleaseError: the grader fails on the answer, or this installation cannot grade
            it.
    """
    try:
        verdicts = judge(task, params, answer)
    # Our own errors are sentences; other errors are clear only with their type.
    except ScbenchError as error:
        raise ReleaseError(f"{where}: {name} cannot be graded: {error}") from error
    except Exception as error:
        raise ReleaseError(
            f"{where}: the grader failed on {name}: {type(error).__name__}: {error}"
        ) from error
    return sum(verdict.score for verdict in verdicts) / len(verdicts)


def floor_record(references: Iterable[Reference]) -> FloorRecord:
    """Return a manifest's record of the floors of a task."""
    # Several answers to one instance repeat its floor.
    floors = {ref.id: Floor(ref.floor, ref.floor_strategy) for ref in references}
    counts = Counter(floor.strategy for floor in floors.values() if floor.strategy)
    total = fsum(floor.score for floor in floors.values())
    return FloorRecord(
        mean=total / max(len(floors), 1), strategies=dict(by_frequency(counts))
    )
