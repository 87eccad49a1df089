"""What a release holds of each task: its instances, and answers that prove its grader.

Builders make the answers, graders judge them as read back from what is stored. With several worker
processes, tasks are made beside each other, and the answers of heavy tasks are judged instance by
instance.

The best score of answers without insight (`Builder.baselines`) is the instance's floor; a text task
tells what guessing earns (`Builder.blind_floor`).
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pebble import ProcessExpired
from pydantic import BaseModel, JsonValue

from scbench.base.canonical import canonical_json
from scbench.base.errors import ReleaseError, ScbenchError
from scbench.base.model import Instance, part, rung_of
from scbench.base.progress import no_progress
from scbench.builders.shared.builder import PaperItem
from scbench.catalog import Task
from scbench.freezing.ladder import oversized
from scbench.freezing.proofs import made_before, proven_scores
from scbench.machine.processes import WorkerProcesses, open_pool
from scbench.release.load import Reference
from scbench.release.manifest import FloorRecord
from scbench.schemas.shapes import provider_schema
from scbench.scoring.judge import judge

# Name of the strategy behind `Builder.blind_floor`.
BLIND = "blind guess"


class Floor(NamedTuple):
    """Floor of an instance, in [0, 1] (a mean over several scores), and the answer that earns it.

    The name is empty where nothing is earned.
    """

    score: float = 0.0
    strategy: str = ""


def floor_of(task: Task, params: BaseModel, proofs: Path | None = None) -> Floor:
    """Return what the best of an instance's answers without insight scores; of equals, the first.

    Raises:
        ReleaseError: the grader fails on one of them, or the blind guess is no score.
    """
    return max(
        floors_of(task, params, proofs), key=lambda floor: floor.score, default=Floor()
    )


def floors_of(task: Task, params: BaseModel, proofs: Path | None = None) -> list[Floor]:
    """Return what each answer without insight scores, of those that score anything.

    Raises:
        ReleaseError: see `floor_of`.
    """
    builder: Any = task.builder()
    params_text = canonical_json(params.model_dump(mode="json"))
    blind, baselines = made_before(
        proofs,
        task,
        ["without insight", params_text],
        lambda: (
            float(builder.blind_floor(params)),
            list(builder.baselines(params).items()),
        ),
    )
    if not 0 <= blind <= 1:
        raise ReleaseError(f"{task.id}: a blind guess cannot earn {blind}")
    answers: dict[str, JsonValue] = dict(baselines)
    scores = proven_scores(
        proofs,
        task,
        params_text,
        list(map(canonical_json, answers.values())),
        lambda: [
            mean_score(task, params, *answer, where=task.id)
            for answer in answers.items()
        ],
    )
    floors = [Floor(blind, BLIND), *map(Floor, scores, answers)]
    return [floor for floor in floors if floor.score > 0]


def mean_score(
    task: Task, params: BaseModel, name: str, answer: JsonValue, *, where: str
) -> float:
    """Return the score of a stored answer; of a task with several scores, their mean.

    Messages say the name of the answer, and where it belongs.

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


@dataclass(frozen=True, slots=True)
class FrozenTask:
    """Everything a release holds of one task; no terse instances where prompts have one form."""

    task: Task
    instances: tuple[Instance, ...]
    references: tuple[Reference, ...]
    terse: tuple[Instance, ...] = ()


class _Answer(NamedTuple):
    """A reference or counter-reference that is not judged yet, as canonical JSON."""

    kind: Literal["reference", "counter_reference"]
    name: str
    text: str


class _Draft(NamedTuple):
    instance: Instance
    answers: tuple[_Answer, ...]
    terse: Instance | None


def freeze_task(
    task: Task,
    items: Sequence[PaperItem[Any]] | None = None,
    first: int = 0,
    prefix: str = "",
    proofs: Path | None = None,
) -> FrozenTask:
    """Make a task's instances, of the fixed list or of these items, and prove its grader on them.

    Raises:
        ReleaseError: there is nothing to freeze, a reference scores below 1, a counter-reference
            scores 1, there is none of them, or the grader fails.
    """
    drafts = _draft_task(task, items, first, prefix, proofs)
    return _join(task, drafts, [_proven(task, draft, proofs) for draft in drafts])


def freeze_tasks(
    tasks: Sequence[Task],
    workers: int = 1,
    on_task: Callable[[Task], object] = no_progress,
    proofs: Path | None = None,
) -> Iterator[tuple[Task, FrozenTask | Exception]]:
    """Freeze tasks; yield each, in order, with what came of it; one worker is this process."""
    if workers <= 1:
        for task in tasks:
            part: FrozenTask | Exception
            try:
                part = freeze_task(task, proofs=proofs)
            except Exception as error:  # noqa: BLE001  (a fault of a task concerns it alone)
                part = error
            on_task(task)
            yield task, part
        return
    with open_pool(workers) as pool:
        done = _freeze_in_pool(pool, tasks, on_task, proofs)
    yield from ((task, done[task.id]) for task in tasks)


def _freeze_in_pool(
    pool: WorkerProcesses,
    tasks: Sequence[Task],
    on_task: Callable[[Task], object],
    proofs: Path | None,
) -> dict[str, FrozenTask | Exception]:
    drafts: dict[str, list[_Draft]] = {}
    judged: dict[str, list[Future[Any]]] = {}
    done: dict[str, FrozenTask | Exception] = {}
    # Heavy tasks first: the longest must not be what is left over at the end.
    order = sorted(tasks, key=lambda task: -task.seconds * task.heavy)
    waiting: dict[Future[Any], Task] = {
        pool.submit(partial(_draft_task, proofs=proofs), task): task for task in order
    }
    while waiting:
        ended, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in ended:
            task = waiting.pop(future)
            if task.id in done:
                continue
            error = future.exception()
            if isinstance(error, ProcessExpired):
                raise ReleaseError(
                    f"a process died while {task.id} was made"
                ) from error
            if error is not None:
                done[task.id] = (
                    error if isinstance(error, Exception) else ReleaseError(repr(error))
                )
                on_task(task)
            elif task.id not in drafts:
                drafts[task.id] = future.result()
                jobs = [
                    pool.submit(_proven, task, draft, proofs)
                    for draft in drafts[task.id]
                ]
                judged[task.id] = jobs
                waiting |= dict.fromkeys(jobs, task)
            elif all(job.done() and not job.exception() for job in judged[task.id]):
                proven = [job.result() for job in judged[task.id]]
                done[task.id] = _join(task, drafts[task.id], proven)
                on_task(task)
    return done


def _draft_task(
    task: Task,
    items: Sequence[PaperItem[Any]] | None = None,
    first: int = 0,
    prefix: str = "",
    proofs: Path | None = None,
) -> list[_Draft]:
    builder = task.builder()
    if items is None:
        items = builder.paper()
    if not items:
        raise ReleaseError(
            f"{task.id} has no fixed list of instances; draw some (`generate_random`) to freeze"
        )
    drafts = []
    for item, instance in zip(
        items, instances_of(task, items, first, prefix), strict=True
    ):
        key: JsonValue = ["answers", item.proves, instance.all_params]
        answers = made_before(proofs, task, key, partial(_answers, task, item))
        if item.proves and len(answers) == 1:
            raise ReleaseError(
                f"{instance.id}: the builder gives no counter-references, so nothing shows that "
                "the grader can tell a wrong answer"
            )
        # What is drawn has one prompt: the other is there to compare the fixed list with the paper.
        brief = builder.terse(item.params) if item.point is None else None
        terse = None if brief is None else instance.with_terse(brief)
        drafts.append(
            _Draft(instance, tuple(_Answer(*answer) for answer in answers), terse)
        )
    return drafts


def _answers(task: Task, item: PaperItem[Any]) -> list[_Answer]:
    builder = task.builder()
    answer = canonical_json(builder.reference(item.params).model_dump(mode="json"))
    counters = builder.counter_references(item.params) if item.proves else {}
    wrong = (
        _Answer("counter_reference", name, canonical_json(value))
        for name, value in counters.items()
    )
    return [_Answer("reference", "reference", answer), *wrong]


def fixed_list(task: Task) -> FrozenTask:
    """Return the instances of a task's fixed list without their answers, so without any judging."""
    builder, items = task.builder(), task.builder().paper()
    instances = tuple(instances_of(task, items))
    briefs = [builder.terse(item.params) for item in items]
    terse = (
        i.with_terse(b) for i, b in zip(instances, briefs, strict=True) if b is not None
    )
    return FrozenTask(task, instances, (), tuple(terse))


def instances_of(
    task: Task, items: Sequence[PaperItem[Any]], first: int = 0, prefix: str = ""
) -> Iterator[Instance]:
    """Yield items of a builder as instances, numbered from ``first``, ids with the prefix."""
    builder = task.builder()
    schema = canonical_json(provider_schema(task.answer_model))
    for subtask, item in enumerate(items, first):
        parted = part(
            item.params.model_dump(mode="json"),
            item.point,
            getattr(task.params_model, "unprinted", {}),
            builder.unprinted(),
        )
        yield Instance.freeze(
            task=task.id,
            bucket=task.bucket,
            subtask=subtask,
            difficulty=item.difficulty,
            prompt=builder.prompt(item.params),
            images=builder.images(item.params),
            params=parted.params,
            answer_schema=schema,
            scores=task.scores,
            seed=item.seed,
            point=parted.point,
            prefix=prefix,
            name=item.name,
            unprinted=parted.unprinted,
        )


def _proven(task: Task, draft: _Draft, proofs: Path | None) -> tuple[Reference, ...]:
    """Judge an instance's answers, those without insight included."""
    instance = draft.instance
    params = task.params_model.model_validate_json(instance.all_params)
    scores = proven_scores(
        proofs,
        task,
        instance.all_params,
        [answer.text for answer in draft.answers],
        lambda: [
            mean_score(
                task, params, answer.name, json.loads(answer.text), where=instance.id
            )
            for answer in draft.answers
        ],
    )
    floor = floor_of(task, params, proofs)
    references = []
    for answer, score in zip(draft.answers, scores, strict=True):
        _agree(instance.id, answer, score)
        if answer.kind == "counter_reference":
            references.append(Reference(instance.id, *answer, score, *floor))
            continue
        measure = None
        if rung_of(instance.id) is not None:
            too_long = oversized(instance.prompt, answer.text)
            if too_long:
                raise ReleaseError(f"{instance.id}: {too_long}")
            measure = made_before(
                proofs,
                task,
                ["measure", instance.all_params],
                lambda: float(task.builder().measure(params)),
            )
        references.append(
            Reference(instance.id, *answer, score, *floor, instance.unprinted, measure)
        )
    return tuple(references)


def _agree(instance_id: str, answer: _Answer, score: float) -> None:
    """Refuse a score that is not what an answer of its kind must have."""
    kind, name, _ = answer
    if (kind == "reference") != (score == 1):
        must = "must score 1" if kind == "reference" else "must score below 1"
        raise ReleaseError(
            f"{instance_id}: {name} scores {score}, but a {kind.replace('_', '-')} {must}; "
            "builder and grader disagree"
        )


def _join(
    task: Task, drafts: Sequence[_Draft], proven: Sequence[tuple[Reference, ...]]
) -> FrozenTask:
    instances = tuple(draft.instance for draft in drafts)
    terse = tuple(draft.terse for draft in drafts if draft.terse is not None)
    return FrozenTask(
        task, instances, tuple(ref for refs in proven for ref in refs), terse
    )
