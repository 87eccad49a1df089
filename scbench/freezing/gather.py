"""From points to tasks: what was drawn, as releases hold it."""

from collections.abc import Iterable
from dataclasses import dataclass

from scbench.base.errors import GenerationError
from scbench.catalog import Task
from scbench.freezing.fresh import FrozenPoint
from scbench.freezing.frozen_task import FrozenTask
from scbench.release.records import ShortfallRecord


@dataclass(frozen=True, slots=True)
class Gathered:
    """What an experiment came to.

    Attributes:
        frozen: the tasks that have cases, in the order of their first points.
        shortfalls: the points with fewer cases than asked for.
    """

    frozen: list[FrozenTask]
    shortfalls: list[ShortfallRecord]

    @property
    def cases(self) -> int:
        """Number of cases."""
        return sum(len(part.instances) for part in self.frozen)


def gather(parts: Iterable[FrozenPoint]) -> Gathered:
    """Put the points of each task together.

    Args:
        parts: of all points, in order.

    Raises:
        GenerationError: not one case could be drawn.
    """
    tasks: dict[str, tuple[Task, list[FrozenPoint]]] = {}
    shortfalls = []
    for part in parts:
        planned = part.planned
        tasks.setdefault(planned.task.id, (planned.task, []))[1].append(part)
        if part.reason:
            shortfalls.append(
                ShortfallRecord(
                    task=planned.task.id,
                    point=planned.parameters,
                    asked=planned.point.count,
                    got=len(part.instances),
                    reason=part.reason,
                )
            )
    frozen = [
        FrozenTask(
            task,
            tuple(instance for part in points for instance in part.instances),
            tuple(reference for part in points for reference in part.references),
        )
        for task, points in tasks.values()
    ]
    frozen = [part for part in frozen if part.instances]
    if not frozen:
        raise GenerationError(f"not one case could be drawn: {shortfalls[0].reason}")
    return Gathered(frozen, shortfalls)
