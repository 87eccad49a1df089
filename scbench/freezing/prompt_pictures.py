"""The config ``pictures``: the instances whose data a picture can carry, with those pictures."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from scbench.base.model import STYLES, Instance, plain_id, rung_of
from scbench.catalog import get_task
from scbench.freezing.frozen_task import FrozenTask


@lru_cache(maxsize=2000)
def with_pictures(instance: Instance) -> tuple[Instance, ...]:
    """Return an instance in each style in which pictures can carry its data."""
    task = get_task(instance.task)
    builder = task.builder()
    if not builder.styles():
        return ()
    params = task.params_model.model_validate_json(instance.all_params)
    made = ((style, builder.pictured(params, style)) for style in STYLES)
    return tuple(instance.with_pictures(*parts, style) for style, parts in made if parts)


def picture_parts(
    frozen: Sequence[FrozenTask], rungs: Sequence[FrozenTask] = ()
) -> list[FrozenTask]:
    """Return what the config ``pictures`` holds of tasks, and of some of their rungs."""
    parts = []
    for part in frozen:
        wanted = part.task.builder.picture_rungs()
        on_rungs = [p for p in rungs if p.task.id == part.task.id and wanted]
        listed = [row for row in part.instances if row.point is None]
        higher = [row for p in on_rungs for row in p.instances if rung_of(row.id) in wanted]
        rows = tuple(row for base in (*listed, *higher) for row in with_pictures(base))
        answers = [ref for p in (part, *on_rungs) for ref in p.references]
        right = {ref.id: ref for ref in answers if ref.kind == "reference"}
        plain = ((row, right.get(plain_id(row.id))) for row in rows)
        references = tuple(replace(ref, id=row.id) for row, ref in plain if ref)
        if rows:
            parts.append(FrozenTask(part.task, rows, references))
    return parts
