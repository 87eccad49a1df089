"""Scores for training loops: no file, no pool, the same verdicts as ``scbench-grade``.

::

    import scbench

    scbench.score("two_segments/07", completion)        # a model's text
    scbench.score("two_segments/07", {"segments": []})  # or the answer itself
    scbench.scores(ids, completions)                    # one for each

An instance is given as an `Instance`, such as one that was drawn a moment ago, or named by its id:
in the newest installed release, or in the one given as ``release``.

What grades here grades in this process, but answers to heavy tasks where workers are asked for. So
a sandbox, a time limit or a limit on memory stands only where a grader itself puts one, or around
those workers. Graders bound their work by counting.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, JsonValue, ValidationError

from scbench.base.errors import PredictionsError, did_you_mean, faults_of
from scbench.base.model import Instance, Prediction, task_of
from scbench.catalog import Task, get_task
from scbench.formats.imports.entries import content_text, objects
from scbench.loop.environment import grade_line
from scbench.machine.processes import processors
from scbench.scoring.outcomes import Outcome

if TYPE_CHECKING:
    from concurrent.futures import Future

    from scbench.grading.rows.wire import WireOutcome
    from scbench.release.load import Release


@lru_cache(maxsize=8)
def cached_release(release: str | None) -> "Release":
    """Return the release of a name, which is looked up once; see `load_release`."""
    from scbench.release.load import find_release  # noqa: PLC0415  (not needed for own instances)

    return find_release(release)


@lru_cache(maxsize=256)
def _release_instances(
    release: "Release", config: str, task_id: str
) -> Mapping[str, Instance]:
    part, _ = release.choose([config] if config else None)
    return part.instances([task_id])


def instance_of(instance_id: str, release: "Release | str | None" = None) -> Instance:
    """Return an instance of a release by its id; a task's are looked up once.

    Raises:
        PredictionsError: no such instance.
        ReleaseError: no such release.
    """
    source = (
        cached_release(release)
        if release is None or isinstance(release, str)
        else release
    )
    from scbench.release.load import config_of  # noqa: PLC0415  (not needed for own instances)

    instance = _release_instances(
        source, config_of(instance_id), task_of(instance_id)
    ).get(instance_id)
    if instance is None:
        where = (
            "the newest installed release"
            if release is None
            else f"release {source.version}"
        )
        hint = did_you_mean(instance_id, source.ids(source.manifest.tasks))
        if ":" in instance_id and release is None:
            hint = " It was generated: give the instance itself, or release=FOLDER."
        task, _, number = instance_id.partition("/")
        if number.isdecimal() and len(number) == 1:
            hint = f" Did you mean '{task}/0{number}'?"
        raise PredictionsError(f"no item {instance_id!r} in {where}.{hint}")
    return instance


@lru_cache(maxsize=16_384)
def _ready_instance(task_id: str, params: str) -> tuple[Task, BaseModel]:
    task = get_task(task_id)
    try:
        return task, task.params_model.model_validate_json(params)
    except ValidationError as error:
        raise PredictionsError(
            f"an instance of {task_id} does not hold what its grader needs: "
            f"{faults_of(error, 1)[0]}. Rows of a data set hold nothing that no prompt prints; "
            "give the id, or an instance of `load_release().instances()`."
        ) from error


def outcome(
    instance: Instance | str,
    answer: "JsonValue | Prediction",
    release: "Release | str | None" = None,
) -> Outcome:
    """Grade one answer and return all there is to say of it.

    Args:
        instance: an id of the release, or an instance.
        answer: text is taken for a model's reply, and the answer is looked for in it; a
            `Prediction` also says how the call ended, or holds a trial in a loop; anything else is
            the answer itself, as JSON would hold it.
        release: which one ids are of, or its name as `load_release` takes it: a version, a folder;
            None for the newest that is installed. What a name means is looked up once.

    Returns:
        Its status, and one verdict for each score of the task; none if the status is unscored.

    Raises:
        PredictionsError: no such instance, or it is not complete; or the answer is chat messages,
            or no JSON.
        ReleaseError: no such release.
        CatalogError: this installation does not know its task.
    """
    if isinstance(instance, str):
        instance = instance_of(instance, release)
    ready = _ready_instance(instance.task, instance.all_params)
    if isinstance(answer, Prediction):
        prediction = answer
    elif isinstance(answer, str):
        prediction = Prediction.model_construct(id="", response=answer)
    else:
        prediction = Prediction.model_construct(id="", answer=_checked_answer(answer))
    return grade_line(prediction, *ready)


def _checked_answer(answer: JsonValue) -> JsonValue:
    first = answer[0] if isinstance(answer, list) and answer else answer
    if isinstance(first, dict) and "role" in first and "content" in first:
        raise PredictionsError(
            "the answer is chat messages; give the text of the model's last one, such as "
            'messages[-1]["content"]'
        )
    if not isinstance(answer, dict | list | int | float | None):
        raise PredictionsError(
            f"an answer is text or JSON, not {type(answer).__name__}"
        )
    return answer


def score(
    instance: Instance | str, answer: JsonValue, release: "Release | str | None" = None
) -> float | None:
    """Return the score of one answer, in [0, 1]; it takes what `outcome` takes.

    Safe to call from several threads.

    Returns:
        The score; the mean of them where one answer gets several; None if this installation cannot
        grade the answer or a grader failed: neither is the model's doing, so it is no zero.

    Raises:
        PredictionsError: no such instance.
        CatalogError: this installation does not know its task.
    """
    return outcome(instance, answer, release).score


def scores(
    instances: Iterable[Instance | str],
    answers: Iterable[JsonValue],
    release: "Release | str | None" = None,
    *,
    workers: int | None = None,
    seconds: float | None = None,
) -> list[float | None]:
    """Return the scores of a batch, one for each pair of instance and answer, in order.

    Args:
        instances: as `outcome` takes them.
        answers: the same.
        release: the same.
        workers: so many processes grade answers to heavy tasks, each once more if it fails, while
            this one grades the others; None to grade all here. They stay for the next batch.
        seconds: that one answer may take there; None for each task's own limit.

    Raises:
        ValueError: there are not as many instances as answers.
        PredictionsError: one of the instances is unknown.
    """
    if isinstance(instances, str):
        raise PredictionsError("scores() takes a list of ids; for one there is score()")
    ids, replies = list(instances), list(answers)
    if len(ids) != len(replies):
        raise ValueError(
            f"there are {len(ids)} ids and {len(replies)} answers; give one for each"
        )
    if workers is None:
        return [score(*pair, release) for pair in zip(ids, replies, strict=True)]
    rows = [
        instance_of(name, release) if isinstance(name, str) else name for name in ids
    ]
    return _spread_scores(rows, replies, workers, seconds)


def _spread_scores(
    rows: Sequence[Instance],
    answers: Sequence[JsonValue],
    workers: int,
    seconds: float | None,
) -> list[float | None]:
    """Return scores, those of heavy tasks from processes."""
    waiting: dict[int, Future[WireOutcome]] = {}
    for place, (row, answer) in enumerate(zip(rows, answers, strict=True)):
        if get_task(row.task).heavy:
            from scbench.grading.workers.live import line_of, live_grader  # noqa: PLC0415  (heavy)

            is_text = isinstance(answer, str)
            fields = (
                {"response": answer} if is_text else {"answer": _checked_answer(answer)}
            )
            line = line_of(row.id, **fields)
            waiting[place] = live_grader(workers, seconds).submit(row, line)
    pairs = enumerate(zip(rows, answers, strict=True))
    light = {place: score(*pair) for place, pair in pairs if place not in waiting}
    return [
        waiting[place].result().score if place in waiting else light[place]
        for place in range(len(rows))
    ]


def packed(instance: Instance) -> str:
    """Return an instance as text that travels in one column of a data set, without its pictures."""
    return instance.model_dump_json(exclude={"images"})


def unpacked(text: str) -> Instance:
    """Return the instance that `packed` wrote.

    Raises:
        PredictionsError: the text is none.
    """
    try:
        return Instance.model_validate({"images": (), **json.loads(text)})
    except (ValueError, TypeError) as error:
        raise PredictionsError(
            "this is no instance as scbench.reward.packed writes it"
        ) from error


def for_trl(
    prompts: Sequence[object],  # noqa: ARG001  (trainers hand them over)
    completions: Sequence[object],
    *,
    id: Sequence[str] | None = None,  # noqa: A002  (the name of the column)
    instance: Sequence[str | None] | None = None,
    release: Sequence[str | None] | None = None,
    log_metric: Callable[[str, float], object] | None = None,
    **columns: object,  # noqa: ARG001  (as above)
) -> list[float | None]:
    """Score completions: a reward function of TRL's trainers.

    ::

        GRPOTrainer(model, reward_funcs=scbench.reward.for_trl, train_dataset=data, ...)

    They call it with the columns of the data set by their names (trl 1.16 ``GRPOTrainer``
    ``_calculate_rewards``), as many values each as there are completions.

    Args:
        prompts: are not looked at.
        completions: texts, or lists of messages.
        id: which instance each is about.
        instance: in place of ids, or of some, instances as `packed` writes them: fresh ones.
        release: which one ids are of; the newest that is installed if there is no such column.
        log_metric: is told the share of completions that have a score.
        columns: everything else is not looked at.

    Returns:
        The scores, in [0, 1]; None for what cannot be graded, which the trainer leaves out of its
        means.

    Raises:
        PredictionsError: the data set has neither column, or names an instance that is not there.
    """
    if id is None and instance is None:
        raise PredictionsError(
            "the data set has no column 'id' with ids of instances, and no column 'instance' with "
            "instances as scbench.reward.packed writes them"
        )
    none = [None] * len(completions)
    rows = [
        unpacked(packed_instance)
        if packed_instance
        else instance_of(str(name), version)
        for name, packed_instance, version in zip(
            id or none, instance or none, release or none, strict=True
        )
    ]
    results = _spread_scores(
        rows, [*map(_spoken_text, completions)], processors(), None
    )
    if log_metric is not None and results:
        log_metric(
            "scbench_scored", sum(value is not None for value in results) / len(results)
        )
    return results


def _spoken_text(completion: object) -> str:
    """Return the text of a completion; of messages, that of the model's last one."""
    if isinstance(completion, str):
        return completion
    spoken = [
        message for message in objects(completion) if message.get("role") == "assistant"
    ]
    return (content_text(spoken[-1].get("content")) or "") if spoken else ""
