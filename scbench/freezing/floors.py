"""Floors: what answers without insight score.

A builder names such answers (`Builder.baselines`), the task's grader judges them, and the best
score is the instance's floor; a text task tells what guessing earns (`Builder.blind_floor`).
"""

from collections import Counter
from collections.abc import Iterable
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, JsonValue

from scbench.base.canonical import canonical_json
from scbench.base.errors import ReleaseError, ScbenchError
from scbench.catalog import Task
from scbench.freezing.proofs import made_before, proven_scores
from scbench.release.load import Reference
from scbench.release.manifest import FloorRecord
from scbench.scoring.judge import judge

BLIND = "blind guess"
"""Name of the strategy behind `Builder.blind_floor`."""


class Floor(NamedTuple):
    """Floor of an instance.

    Attributes:
        score: in [0, 1]; of a task with several scores, their mean.
        strategy: name of the answer that earns it; empty where nothing is earned.
    """

    score: float = 0.0
    strategy: str = ""


def floor_of(task: Task, params: BaseModel, proofs: Path | None = None) -> Floor:
    """Return what the best of an instance's answers without insight scores; of equals, the first.

    Args:
        task: the task.
        params: the instance's parameters, of the task's `Task.params_model`.
        proofs: scores judged before, see `scbench.freezing.proofs`; None to judge from scratch.

    Raises:
        ReleaseError: the grader fails on one of them, or the blind guess is no score.
    """
    return max(floors_of(task, params, proofs), key=lambda floor: floor.score, default=Floor())


def floors_of(task: Task, params: BaseModel, proofs: Path | None = None) -> list[Floor]:
    """Return what each answer without insight scores, of those that score anything.

    Raises:
        ReleaseError: see `floor_of`.
    """
    builder: Any = task.builder()
    blind = float(builder.blind_floor(params))
    if not 0 <= blind <= 1:
        raise ReleaseError(f"{task.id}: a blind guess cannot earn {blind}")
    params_text = canonical_json(params.model_dump(mode="json"))
    answers: dict[str, JsonValue] = dict(
        made_before(
            proofs,
            task,
            ["baselines", params_text],
            lambda: list(builder.baselines(params).items()),
        )
    )
    scores = proven_scores(
        proofs,
        task,
        params_text,
        list(map(canonical_json, answers.values())),
        lambda: [mean_score(task, params, *answer, where=task.id) for answer in answers.items()],
    )
    floors = [Floor(blind, BLIND), *map(Floor, scores, answers)]
    return [floor for floor in floors if floor.score > 0]


def mean_score(task: Task, params: BaseModel, name: str, answer: JsonValue, *, where: str) -> float:
    """Return the score of a stored answer; of a task with several scores, their mean.

    Args:
        task: the task.
        params: the instance's parameters.
        name: of the answer, for messages.
        answer: in the form of the answer schema.
        where: what it answers, for messages.

    Raises:
        ReleaseError: the grader fails on it, or cannot judge here.
    """
    try:
        verdicts = judge(task, params, answer)
    except ScbenchError as error:
        raise ReleaseError(f"{where}: {name} cannot be judged: {error}") from error
    except Exception as error:
        raise ReleaseError(
            f"{where}: the grader failed on {name}: {type(error).__name__}: {error}"
        ) from error
    return sum(verdict.score for verdict in verdicts) / len(verdicts)


def floor_record(references: Iterable[Reference]) -> FloorRecord:
    """Return what a manifest says of the floors of a task."""
    floors = {ref.id: Floor(ref.floor, ref.floor_strategy) for ref in references}
    counts = Counter(strategy for _, strategy in floors.values() if strategy)
    return FloorRecord(
        mean=fsum(score for score, _ in floors.values()) / max(len(floors), 1),
        strategies=dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
    )
