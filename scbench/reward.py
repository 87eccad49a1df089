"""Scores for training loops, without files or workers, equal to those of ``scbench-grade``.

::

    import scbench

    scbench.score("two_segments/07", completion)        # a model's text
    scbench.score("two_segments/07", {"segments": []})  # or the answer itself
    scbench.scores(ids, completions)                    # one for each

Pass an instance as an `Instance` (for example, one that was just drawn) or as an id. Ids refer to
the newest installed release, or to the one given as ``release``.

Grading runs in this process, except for answers to heavy tasks if you ask for workers. So
sandboxes, time limits and memory limits apply only in these workers and where a grader sets its
own. Graders limit their work by counting steps.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, JsonValue, ValidationError

from scbench.base.errors import PredictionsError, did_you_mean, faults_of
from scbench.base.model import Instance, Prediction, task_of
from scbench.base.wording import counted
from scbench.catalog import Task, get_task
from scbench.formats.imports.entries import chat_outcome, objects
from scbench.machine.limits import processors
from scbench.scoring.outcomes import Outcome, grade_prediction, simulator_lock

if TYPE_CHECKING:
    from concurrent.futures import Future

    from scbench.grading.rows.wire import WireOutcome
    from scbench.release.load import Release


def score(
    instance: Instance | str, answer: JsonValue, release: "Release | str | None" = None
) -> float | None:
    """Return the score of one answer, in [0, 1]; the arguments are those of `outcome`.

    Safe to call from several threads.

    Returns:
        The score, or the mean if one answer gets several. None, not 0, if this installation cannot
        grade the answer or a grader failed, because neither is the model's fault.

    Raises:
        PredictionsError: no such instance.
        CatalogError: this installation does not know its task.
    """
    return outcome(instance, answer, release).score


def outcome(
    instance: Instance | str,
    answer: "JsonValue | Prediction",
    release: "Release | str | None" = None,
) -> Outcome:
    """Grade one answer, and return its score with everything that led to it.

    Args:
        instance: an id of the release, or an instance.
        answer: text is a model's reply, from which the answer is extracted; a `Prediction` also
            says how the call ended, or contains a trial in a loop; anything else is the answer
            itself, as a JSON value.
        release: release of the ids, or its name, as for `load_release`; None for the newest
            installed release. Each name is looked up once.

    Returns:
        Its status, and one verdict for each score of the task; no verdicts if the status is
        unscored.

    Raises:
        PredictionsError: no such instance, or it is not complete; or the answer is a list of chat
            messages, or not JSON.
        ReleaseError: no such release.
        CatalogError: this installation does not know its task.
    """
    instance = complete_instance(instance, release)
    task, params = task_and_params(instance.task, instance.all_params)
    if isinstance(answer, Prediction):
        prediction = answer
    else:
        prediction = Prediction.model_construct(id="", **fields_of(answer))
    if prediction.turns is not None and prediction.loop is not None:
        from scbench.loop.replaying import grade_trial  # noqa: PLC0415  (only for trials)

        return grade_trial(prediction, prediction.loop, task, params)
    with simulator_lock(task):
        return grade_prediction(prediction, task, params)


@lru_cache(maxsize=16_384)
def task_and_params(task_id: str, params: str) -> tuple[Task, BaseModel]:
    """Return a task, and the parsed parameters of one of its instances.

    Raises:
        PredictionsError: the parameters are not complete.
        CatalogError: this installation does not know the task.
    """
    task = get_task(task_id)
    try:
        return task, task.params_model.model_validate_json(params)
    except ValidationError as error:
        raise PredictionsError(
            f"this item of {task_id} does not contain what its grader needs: "
            f"{faults_of(error, 1)[0]}. Rows of a dataset do not contain parameters that "
            "no prompt states; pass the id, or an instance from "
            "`load_release().instances()`"
        ) from error


def fields_of(answer: JsonValue) -> dict[str, Any]:
    """Return the prediction field for an answer: ``response`` for text, otherwise ``answer``.

    Raises:
        PredictionsError: the answer is a list of chat messages, or not JSON.
    """
    if isinstance(answer, str):
        return {"response": answer}
    first = answer[0] if isinstance(answer, list) and answer else answer
    if isinstance(first, dict) and "role" in first and "content" in first:
        raise PredictionsError(
            "the answer is a list of chat messages; pass the text of the model's last "
            'one, such as messages[-1]["content"]'
        )
    if not isinstance(answer, dict | list | int | float | None):
        raise PredictionsError(
            f"an answer must be text or JSON, not {type(answer).__name__}"
        )
    return {"answer": answer}


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
        instances: as for `outcome`.
        answers: as for `outcome`.
        release: as for `outcome`.
        workers: number of processes that grade answers to heavy tasks while this process grades the
            rest. They retry a failed answer once, and stay alive for the next batch. None grades
            all answers in this process.
        seconds: time limit for one answer in a worker; None for each task's own limit.

    Raises:
        ValueError: the numbers of instances and answers differ.
        PredictionsError: an instance is unknown.
    """
    if isinstance(instances, str):
        raise PredictionsError("scores() takes a list of ids; for one id, use score()")
    rows = list(instances)
    replies = list(answers)
    if len(rows) != len(replies):
        raise ValueError(
            f"got {counted(len(rows), 'id')} and {counted(len(replies), 'answer')}; pass "
            "one answer for each id"
        )
    if workers is None:
        return list(map(score, rows, replies, repeat(release)))
    complete_rows = [complete_instance(row, release) for row in rows]
    return scores_by_workers(complete_rows, replies, workers, seconds)


def scores_by_workers(
    instances: Sequence[Instance],
    answers: Sequence[JsonValue],
    workers: int,
    seconds: float | None,
) -> list[float | None]:
    """Return scores, grading heavy tasks in worker processes; see `scores` for the arguments."""
    pairs = list(zip(instances, answers, strict=True))
    # Workers begin with the heavy answers before this process grades the light ones.
    futures: dict[int, Future[WireOutcome]] = {}
    for place, (instance, answer) in enumerate(pairs):
        if get_task(instance.task).heavy:
            from scbench.grading.workers.live import line_of, live_grader  # noqa: PLC0415  (heavy)

            line = line_of(instance.id, **fields_of(answer))
            futures[place] = live_grader(workers, seconds).submit(instance, line)
    results = [
        None if place in futures else score(instance, answer)
        for place, (instance, answer) in enumerate(pairs)
    ]
    for place, future in futures.items():
        results[place] = future.result().score
    return results


def complete_instance(
    item: Instance | str, release: "Release | str | None" = None
) -> Instance:
    """Return an instance, which is looked up if only its id is given.

    Raises:
        PredictionsError: the item is neither an instance nor an id, or there is no such instance.
        ReleaseError: no such release.
    """
    if isinstance(item, str):
        return instance_of(item, release)
    if not isinstance(item, Instance):
        raise PredictionsError(
            f"an item must be an id or an Instance, not {type(item).__name__}"
        )
    return item


def instance_of(instance_id: str, release: "Release | str | None" = None) -> Instance:
    """Return an instance of a release by its id; instances are cached by task.

    Raises:
        PredictionsError: no such instance.
        ReleaseError: no such release.
    """
    from scbench.release.load import config_of  # noqa: PLC0415  (not needed for own instances)

    is_newest = release is None
    if release is None or isinstance(release, str):
        release = cached_release(release)
    instances = release_instances(release, config_of(instance_id), task_of(instance_id))
    if instance_id in instances:
        return instances[instance_id]
    place = f"release {release.version}"
    hint = did_you_mean(instance_id, release.ids(release.manifest.tasks))
    if is_newest:
        place = "the newest installed release"
        # Ids of generated instances begin with a hash of their experiment.
        if ":" in instance_id:
            hint = (
                " It is a generated item: pass the instance itself, or release=FOLDER."
            )
    task_id, _, number = instance_id.partition("/")
    if number.isdecimal() and len(number) == 1:
        hint = f" Did you mean '{task_id}/0{number}'?"
    raise PredictionsError(f"no item {instance_id!r} in {place}.{hint}")


@lru_cache(maxsize=8)
def cached_release(release: str | None) -> "Release":
    """Return the release with a given name (cached); see `load_release`."""
    from scbench.release.load import find_release  # noqa: PLC0415  (not needed for own instances)

    return find_release(release)


@lru_cache(maxsize=256)
def release_instances(
    release: "Release", config: str, task_id: str
) -> Mapping[str, Instance]:
    """Return the instances of a task in a config of a release, by id; "" is the default config."""
    part, _ = release.choose([config] if config else None)
    return part.instances([task_id])


def packed(instance: Instance) -> str:
    """Return an instance as text for one column of a dataset, without its pictures."""
    return instance.model_dump_json(exclude={"images"})


def unpacked(text: str) -> Instance:
    """Return the instance that `packed` wrote.

    Raises:
        PredictionsError: the text is not an instance.
    """
    try:
        return Instance.model_validate({"images": (), **json.loads(text)})
    except (ValueError, TypeError, RecursionError) as error:
        raise PredictionsError(
            "this is not an instance written by scbench.reward.packed"
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

    Trainers call it with the dataset's columns as keyword arguments (trl 1.16 ``GRPOTrainer``
    ``_calculate_rewards``), each with one value per completion.

    Args:
        prompts: not used.
        completions: texts, or lists of messages.
        id: id of the instance of each completion.
        instance: fresh instances, as written by `packed`, instead of all or some ids.
        release: release of the ids; without this column, the newest installed release.
        log_metric: called with the share of completions that have a score.
        columns: all other columns, not used.

    Returns:
        The scores, in [0, 1]; None for completions that cannot be graded, which the trainer leaves
        out of its means.

    Raises:
        PredictionsError: the dataset has neither the column ``id`` nor ``instance``, or names an
            unknown instance.
    """
    if id is None and instance is None:
        raise PredictionsError(
            "the dataset has neither a column 'id' with ids of items nor a column "
            "'instance' with instances written by scbench.reward.packed"
        )
    absent = [None] * len(completions)
    rows = []
    for name, packed_instance, version in zip(
        id or absent, instance or absent, release or absent, strict=True
    ):
        if packed_instance:
            rows.append(unpacked(packed_instance))
        else:
            rows.append(instance_of(str(name), version))
    texts = [reply_text(completion) for completion in completions]
    results = scores_by_workers(rows, texts, processors(), None)
    if log_metric is not None and results:
        scored = sum(value is not None for value in results)
        log_metric("scbench_scored", scored / len(results))
    return results


def reply_text(completion: object) -> str:
    """Return the text of a completion; for messages, the text of the model's last one."""
    if isinstance(completion, str):
        return completion
    for message in reversed(objects(completion)):
        if message.get("role") == "assistant":
            text, _ = chat_outcome(message, None)
            return text or ""
    return ""
