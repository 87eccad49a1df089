"""Instances of a task in a release, with answers that test its grader.

Builders make the answers, and graders grade them in the form in which they are stored. With several
worker processes, tasks are made at the same time, and the answers of each instance are graded
separately. For the floors of instances see `scbench.freezing.floors`.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pebble import ProcessExpired
from pydantic import BaseModel

from scbench.base.canonical import canonical_json
from scbench.base.errors import ReleaseError
from scbench.base.model import Instance, part, rung_of
from scbench.base.progress import no_progress
from scbench.builders.shared.builder import PaperItem
from scbench.catalog import Task
from scbench.freezing.floors import NamedAnswer, floor_of, proven_scores
from scbench.freezing.ladder import oversized
from scbench.freezing.proofs import builder_memo
from scbench.machine.processes import WorkerProcesses, open_pool
from scbench.release.load import Reference
from scbench.schemas.shapes import provider_schema


@dataclass(frozen=True, slots=True)
class FrozenTask:
    """The content of a release for one task."""

    task: Task
    instances: tuple[Instance, ...]
    references: tuple[Reference, ...]
    terse: tuple[Instance, ...] = ()
    """The instances with terse prompts; empty if prompts have only one form."""


class Answer(NamedTuple):
    """A reference or counter-reference that is not graded yet."""

    kind: Literal["reference", "counter_reference"]
    name: str
    text: str
    """The answer as canonical JSON."""


class Draft(NamedTuple):
    """An instance whose answers are not graded yet."""

    instance: Instance
    answers: tuple[Answer, ...]
    terse: Instance | None


def freeze_task(
    task: Task,
    items: Sequence[PaperItem[Any]] | None = None,
    first: int = 0,
    prefix: str = "",
    proofs: Path | None = None,
) -> FrozenTask:
    """Create a task's instances, and test its grader on them.

    Args:
        task: the task.
        items: items to make instances of; by default the task's fixed list.
        first: number of the first instance.
        prefix: prefix of the ids.
        proofs: see `scbench.freezing.proofs`; without them everything is graded now.

    Raises:
        ReleaseError: there is nothing to freeze, a reference scores below 1, there is
            no counter-reference or one scores 1, or the grader fails.
    """
    drafts = draft_task(task, items, first, prefix, proofs)
    references = [prove_draft(task, draft, proofs) for draft in drafts]
    return join_drafts(task, drafts, references)


def freeze_tasks(
    tasks: Sequence[Task],
    workers: int = 1,
    on_task: Callable[[Task], object] = no_progress,
    proofs: Path | None = None,
) -> Iterator[tuple[Task, FrozenTask | Exception]]:
    """Freeze tasks; yield each in order, with its instances or its error.

    With one worker, this process does the work.
    """
    if workers > 1:
        with open_pool(workers) as pool:
            results = freeze_in_pool(pool, tasks, on_task, proofs)
        for task in tasks:
            yield task, results[task.id]
        return
    for task in tasks:
        result: FrozenTask | Exception
        try:
            result = freeze_task(task, proofs=proofs)
        except Exception as error:  # noqa: BLE001  (a fault of a task concerns it alone)
            result = error
        on_task(task)
        yield task, result


def freeze_in_pool(
    pool: WorkerProcesses,
    tasks: Sequence[Task],
    on_task: Callable[[Task], object],
    proofs: Path | None,
) -> dict[str, FrozenTask | Exception]:
    """Freeze tasks in worker processes; return instances or error of each, by task.

    Raises:
        MachineError: a process died.
    """
    drafts: dict[str, list[Draft]] = {}
    proof_jobs: dict[str, list[Future[tuple[Reference, ...]]]] = {}
    results: dict[str, FrozenTask | Exception] = {}
    # Heavy tasks first: otherwise one process would work on the longest while the rest are idle.
    order = sorted(tasks, key=_seconds_of_heavy, reverse=True)
    draft_with_proofs = partial(draft_task, proofs=proofs)
    waiting: dict[Future[Any], Task] = {}
    for task in order:
        waiting[pool.submit(draft_with_proofs, task)] = task
    while waiting:
        finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in finished:
            task = waiting.pop(future)
            if task.id in results:
                continue  # one of its jobs failed
            error = future.exception()
            if isinstance(error, (BrokenProcessPool, ProcessExpired)):
                raise error
            if error is not None:
                if isinstance(error, Exception):
                    results[task.id] = error
                else:
                    results[task.id] = ReleaseError(repr(error))
                on_task(task)
            # The first job of a task drafts it; the rest grade its answers.
            elif task.id not in drafts:
                drafts[task.id] = future.result()
                jobs = []
                for draft in drafts[task.id]:
                    job = pool.submit(prove_draft, task, draft, proofs)
                    jobs.append(job)
                    waiting[job] = task
                proof_jobs[task.id] = jobs
            # The last job of a task joins them. A failed job is reported by its own turn.
            elif all(job.done() and not job.exception() for job in proof_jobs[task.id]):
                references = [job.result() for job in proof_jobs[task.id]]
                results[task.id] = join_drafts(task, drafts[task.id], references)
                on_task(task)
    return results


def _seconds_of_heavy(task: Task) -> float:
    return task.seconds if task.heavy else 0


def draft_task(
    task: Task,
    items: Sequence[PaperItem[Any]] | None = None,
    first: int = 0,
    prefix: str = "",
    proofs: Path | None = None,
) -> list[Draft]:
    """Make a task's instances and their answers; for the arguments see `freeze_task`.

    Raises:
        ReleaseError: there is nothing to freeze, or no counter-reference.
    """
    builder = task.builder()
    if items is None:
        items = builder.paper()
    if not items:
        raise ReleaseError(
            f"{task.id} has no fixed list of instances; to freeze it, draw some "
            "(`generate_random`)"
        )
    drafts = []
    instances = instances_of(task, items, first, prefix)
    for item, instance in zip(items, instances, strict=True):
        memo = builder_memo(proofs, task, ["answers", item.proves, instance.all_params])
        answers = memo.read()
        if answers is None:
            answers = answers_of(task, item)
            memo.write(answers)
        if item.proves and len(answers) == 1:
            raise ReleaseError(
                f"{instance.id}: the builder makes no counter-references, which are needed "
                "to test the grader"
            )
        # Drawn instances have one prompt: terse ones serve to compare the fixed list with the
        # paper.
        brief = builder.terse(item.params) if item.point is None else None
        terse = None if brief is None else instance.with_terse(brief)
        drafts.append(
            Draft(instance, tuple(Answer(*answer) for answer in answers), terse)
        )
    return drafts


def answers_of(task: Task, item: PaperItem[Any]) -> list[Answer]:
    """Return the reference of an item and, if the item tests the grader, its counter-references."""
    builder = task.builder()
    text = item.reference
    if not text:
        reference = builder.reference(item.params).model_dump(mode="json")
        text = canonical_json(reference)
    answers = [Answer("reference", "reference", text)]
    if item.proves:
        for name, value in builder.counter_references(item.params).items():
            answers.append(Answer("counter_reference", name, canonical_json(value)))
    return answers


def prove_draft(task: Task, draft: Draft, proofs: Path | None) -> tuple[Reference, ...]:
    """Grade an instance's answers, including the trivial ones.

    Raises:
        ReleaseError: a score does not fit the kind of answer, the grader fails, or an
            instance or answer is too long for a ladder.
    """
    instance = draft.instance
    # As graders will see it: read from the stored text.
    params = task.params_model.model_validate_json(instance.all_params)
    scores = proven_scores(
        task,
        params,
        instance.all_params,
        [NamedAnswer(answer.name, answer.text) for answer in draft.answers],
        where=instance.id,
        proofs=proofs,
    )
    floor = floor_of(task, params, proofs)
    references = []
    for answer, score in zip(draft.answers, scores, strict=True):
        check_score(instance.id, answer, score)
        is_right = answer.kind == "reference"
        references.append(
            Reference(
                id=instance.id,
                kind=answer.kind,
                name=answer.name,
                answer=answer.text,
                score=score,
                floor=floor.score,
                floor_strategy=floor.strategy,
                unprinted=instance.unprinted if is_right else None,
                measure=measure_of(task, instance, params, answer.text, proofs)
                if is_right
                else None,
            )
        )
    return tuple(references)


def check_score(instance_id: str, answer: Answer, score: float) -> None:
    """Refuse a score that an answer of this kind must not have."""
    is_right = answer.kind == "reference"
    if is_right == (score == 1):
        return
    must = "must score 1" if is_right else "must score below 1"
    kind = answer.kind.replace("_", "-")
    raise ReleaseError(
        f"{instance_id}: {answer.name} scores {score}, but a {kind} {must}, so builder "
        "and grader disagree"
    )


def measure_of(
    task: Task, instance: Instance, params: BaseModel, answer: str, proofs: Path | None
) -> float | None:
    """Return the measure of an instance on a ladder; None outside ladders."""
    if rung_of(instance.id) is None:
        return None
    too_long = oversized(instance.prompt, answer)
    if too_long:
        raise ReleaseError(f"{instance.id}: {too_long}")
    memo = builder_memo(proofs, task, ["measure", instance.all_params])
    measure: float | None = memo.read()
    if measure is None:
        measure = float(task.builder().measure(params))
        memo.write(measure)
    return measure


def join_drafts(
    task: Task, drafts: Sequence[Draft], references: Sequence[tuple[Reference, ...]]
) -> FrozenTask:
    """Return the frozen task made from its drafts and the references of each."""
    return FrozenTask(
        task,
        instances=tuple(draft.instance for draft in drafts),
        references=tuple(ref for group in references for ref in group),
        terse=tuple(draft.terse for draft in drafts if draft.terse is not None),
    )


def fixed_list(task: Task) -> FrozenTask:
    """Return the instances of a task's fixed list without answers, so without grading."""
    builder = task.builder()
    items = builder.paper()
    instances = tuple(instances_of(task, items))
    terse = []
    for item, instance in zip(items, instances, strict=True):
        brief = builder.terse(item.params)
        if brief is not None:
            terse.append(instance.with_terse(brief))
    return FrozenTask(task, instances, (), tuple(terse))


def instances_of(
    task: Task, items: Sequence[PaperItem[Any]], first: int = 0, prefix: str = ""
) -> Iterator[Instance]:
    """Yield a builder's items as instances, numbered from ``first``, with prefixed ids."""
    builder = task.builder()
    # Providers accept only a part of JSON Schema.
    schema = canonical_json(provider_schema(task.answer_model))
    for number, item in enumerate(items, first):
        # Rows must not contain everything: some values would give answers away.
        parted = part(
            item.params.model_dump(mode="json"),
            item.point,
            getattr(task.params_model, "unprinted", {}),
            builder.unprinted(),
        )
        yield Instance.freeze(
            task=task.id,
            bucket=task.bucket,
            subtask=number,
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
