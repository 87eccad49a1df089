"""The config ``pictures``: instances whose data a picture can show, with those pictures."""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from scbench.base.model import STYLES, Instance, plain_id, rung_of
from scbench.catalog import Task, get_task
from scbench.freezing.frozen_task import FrozenTask
from scbench.freezing.proofs import builder_memo
from scbench.machine.processes import PendingResult, open_executor
from scbench.release.load import Reference


class PicturePrompt(NamedTuple):
    """Prompt and pictures of an instance in one style, as JSON values."""

    style: str
    prompt: str
    images: list[str]
    """PNG files, in Base64."""


class _TaskJobs(NamedTuple):
    """Pending pictures of a task."""

    task: Task
    answers: list[Reference]
    calls: list[PendingResult]


def picture_parts(
    frozen: Sequence[FrozenTask],
    rungs: Sequence[FrozenTask] = (),
    workers: int = 1,
    proofs: Path | None = None,
) -> list[FrozenTask]:
    """Return the contents of the config ``pictures``, for tasks and for some of their rungs."""
    with open_executor(workers) as executor:
        task_jobs = []
        for part in frozen:
            if not part.task.builder.styles():
                continue
            # Instances that an experiment draws get no pictures.
            rows = [row for row in part.instances if row.point is None]
            answers = list(part.references)
            rung_numbers = part.task.builder.picture_rungs()
            for rung_part in rungs:
                if rung_part.task.id != part.task.id or not rung_numbers:
                    continue
                answers += rung_part.references
                rows += (
                    row
                    for row in rung_part.instances
                    if rung_of(row.id) in rung_numbers
                )
            calls = [executor.submit(with_pictures, row, proofs) for row in rows]
            task_jobs.append(_TaskJobs(part.task, answers, calls))
        parts = [collect_pictures(jobs) for jobs in task_jobs]
    return [part for part in parts if part.instances]


def collect_pictures(jobs: _TaskJobs) -> FrozenTask:
    """Wait for the pictures of a task; give each instance its reference."""
    # Pictures repeat an instance, so they repeat its reference under another id.
    right = {ref.id: ref for ref in jobs.answers if ref.kind == "reference"}
    rows: list[Instance] = []
    references = []
    for call in jobs.calls:
        rows += call.result()
    for row in rows:
        reference = right.get(plain_id(row.id))
        if reference is not None:
            references.append(replace(reference, id=row.id))
    return FrozenTask(jobs.task, tuple(rows), tuple(references))


def with_pictures(
    instance: Instance, proofs: Path | None = None
) -> tuple[Instance, ...]:
    """Return an instance in each style in which pictures can show its data."""
    task = get_task(instance.task)
    memo = builder_memo(proofs, task, ["pictures", instance.all_params])
    prompts = memo.read()
    if prompts is None:
        prompts = picture_prompts(task, instance.all_params)
        memo.write(prompts)
    rows = []
    for style, prompt, images in prompts:
        files = tuple(b64decode(image) for image in images)
        rows.append(instance.with_pictures(prompt, files, style))
    return tuple(rows)


def picture_prompts(task: Task, params_text: str) -> list[PicturePrompt]:
    """Return an instance's prompt and pictures in every style that its builder supports.

    Args:
        task: task of the instance.
        params_text: parameters of the instance, as JSON.
    """
    params = task.params_model.model_validate_json(params_text)
    prompts = []
    for style in STYLES:
        pictured = task.builder().pictured(params, style)
        if pictured:
            prompt, images = pictured
            encoded = [b64encode(image).decode() for image in images]
            prompts.append(PicturePrompt(style, prompt, encoded))
    return prompts
