"""The config ``pictures``: the instances whose data a picture can carry, with those pictures."""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from scbench.base.model import STYLES, Instance, plain_id, rung_of
from scbench.catalog import Task, get_task
from scbench.freezing.frozen_task import FrozenTask
from scbench.freezing.proofs import made_before
from scbench.machine.processes import open_executor


def with_pictures(
    instance: Instance, proofs: Path | None = None
) -> tuple[Instance, ...]:
    """Return an instance in each style in which pictures can carry its data."""
    task = get_task(instance.task)
    draw = partial(_drawn, task, instance.all_params)
    prompts = made_before(proofs, task, ["pictures", instance.all_params], draw)
    return tuple(
        instance.with_pictures(prompt, tuple(map(b64decode, images)), style)
        for style, prompt, images in prompts
    )


def _drawn(task: Task, params_text: str) -> list[tuple[str, str, list[str]]]:
    """Return style, prompt and pictures, as JSON can hold them, for each style that there is."""
    params = task.params_model.model_validate_json(params_text)
    made = ((style, task.builder().pictured(params, style)) for style in STYLES)
    return [
        (style, parts[0], [b64encode(image).decode() for image in parts[1]])
        for style, parts in made
        if parts
    ]


def picture_parts(
    frozen: Sequence[FrozenTask],
    rungs: Sequence[FrozenTask] = (),
    workers: int = 1,
    proofs: Path | None = None,
) -> list[FrozenTask]:
    """Return what the config ``pictures`` holds of tasks, and of some of their rungs."""
    parts = []
    with open_executor(workers) as executor:
        jobs = []
        for part in (part for part in frozen if part.task.builder.styles()):
            numbers = part.task.builder.picture_rungs()
            on_rungs = [p for p in rungs if p.task.id == part.task.id and numbers]
            listed = [row for row in part.instances if row.point is None]
            higher = [
                row
                for p in on_rungs
                for row in p.instances
                if rung_of(row.id) in numbers
            ]
            calls = [
                executor.submit(with_pictures, row, proofs)
                for row in (*listed, *higher)
            ]
            jobs.append((part, on_rungs, calls))
        for part, on_rungs, calls in jobs:
            rows = tuple(row for call in calls for row in call.result())
            answers = [ref for p in (part, *on_rungs) for ref in p.references]
            right = {ref.id: ref for ref in answers if ref.kind == "reference"}
            plain = ((row, right.get(plain_id(row.id))) for row in rows)
            references = tuple(replace(ref, id=row.id) for row, ref in plain if ref)
            if rows:
                parts.append(FrozenTask(part.task, rows, references))
    return parts
