"""The items that a page offers, by task: items of a release and its ladder, and new ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue

from scbench.base.canonical import content_hash
from scbench.base.errors import ReleaseError, did_you_mean
from scbench.base.model import Instance, rung_of, task_of
from scbench.catalog import get_task
from scbench.freezing.fresh import generate
from scbench.release.load import Release

# Word before a rung in a command-line target, as in ladder:3.
RUNG_WORD = "ladder:"
# Fresh items that one page may draw; each stays in memory until the server stops.
MOST_FRESH = 10_000


class TaskItems(NamedTuple):
    """The items of one task.

    Attributes:
        task: id of the task.
        release: ids of the fixed list, or of the text task.
        rungs: ids by rung of the ladder; empty for a task without a ladder.
    """

    task: str
    release: Sequence[str]
    rungs: Mapping[int, Sequence[str]]


@dataclass
class Items:
    """All items that a page can show.

    Attributes:
        release: release that the items come from.
        fresh: items that were drawn since the server started, by id.
    """

    release: Release
    fresh: dict[str, Instance] = field(default_factory=dict)

    @property
    def tasks(self) -> list[str]:
        """The ids of all tasks, in the order of the release."""
        return list(self.release.manifest.tasks)

    def of_task(self, task: str) -> TaskItems:
        """Return the ids of a task's items.

        Raises:
            ReleaseError: the release has no such task, or a file is missing or was changed.
        """
        self.check_task(task)
        rungs: dict[int, list[str]] = {}
        for row_id in self.ladder_instances(task):
            rung = rung_of(row_id)
            if rung is not None:
                rungs.setdefault(rung, []).append(row_id)
        return TaskItems(task, list(self.release.instances([task])), rungs)

    def instance(self, row_id: str) -> Instance:
        """Return an item by its id.

        Raises:
            ReleaseError: no item has this id, or a file is missing or was changed.
        """
        if row_id in self.fresh:
            return self.fresh[row_id]
        task = task_of(row_id)
        self.check_task(task)
        for instances in (self.release.instances([task]), self.ladder_instances(task)):
            if row_id in instances:
                return instances[row_id]
        raise ReleaseError(
            f"release {self.release.version} has no item {row_id!r}; `scbench tasks {task}` "
            "lists the items of this task"
        )

    def draw(self, task: str, rung: int | None) -> Instance:
        """Draw an item that no release contains, and keep it.

        The n-th fresh item of a task and rung is the same every time the server runs.

        Args:
            task: id of the task.
            rung: rung of the ladder; None for the default point of the task's parameters.

        Raises:
            ReleaseError: there is no such task, or too many items were drawn.
            ExperimentError: there is no such rung.
            GenerationError: no item could be drawn.
        """
        self.check_task(task)
        if len(self.fresh) >= MOST_FRESH:
            raise ReleaseError("too many fresh items: restart the server")
        seed = int(content_hash(["play", task, rung, len(self.fresh)])[:12], 16)
        (instance,) = generate(task, 1, seed, rung=rung)
        self.fresh[instance.id] = instance
        return instance

    def ladder_instances(self, task: str) -> Mapping[str, Instance]:
        """Return a task's items on the ladder; none if it has no ladder."""
        if not self.release.manifest.ladder:
            return {}
        ladder = self.release.ladder()
        if task not in ladder.manifest.tasks:
            return {}
        return ladder.instances([task])

    def check_task(self, task: str) -> None:
        """Raise ReleaseError if the release does not have the task."""
        if task not in self.release.manifest.tasks:
            raise ReleaseError(
                f"release {self.release.version} has no task {task!r}."
                f"{did_you_mean(task, self.release.manifest.tasks)}"
            )


def first_item(items: Items, target: str | None) -> str:
    """Return the id of the item that a command-line target names.

    Args:
        items: items to choose from.
        target: a task, an id, or ``ladder:RUNG``; None for the first task's easiest item.

    Raises:
        ReleaseError: there is no such item.
    """
    if target is None:
        target = items.tasks[0]
    rung = 1
    task = target
    if target.startswith(RUNG_WORD):
        digits = target.removeprefix(RUNG_WORD)
        if not (digits.isascii() and digits.isdigit()):
            raise ReleaseError(
                f"{target}: write a rung after {RUNG_WORD}, such as ladder:3"
            )
        rung = int(digits)
        task = items.tasks[0]
    elif "/" in target:
        return items.instance(target).id
    of_task = items.of_task(task)
    if not of_task.rungs:
        return of_task.release[0]
    if rung not in of_task.rungs:
        raise ReleaseError(
            f"the ladder has no rung {rung}; its rungs are 1 to {max(of_task.rungs)}"
        )
    return of_task.rungs[rung][0]


def item_json(instance: Instance) -> dict[str, JsonValue]:
    """Return the data with which a browser shows an item and edits an answer to it.

    It contains only information from the prompt, and nothing else about the solution.
    """
    task = get_task(instance.task)
    return {
        "id": instance.id,
        "task": task.id,
        "title": task.title,
        "summary": task.summary,
        "scored": task.scored,
        "bucket": instance.bucket,
        "difficulty": instance.difficulty,
        "rung": rung_of(instance.id),
        "prompt": instance.prompt,
        "params": instance.params,
        "schema": instance.answer_schema,
        "heavy": task.heavy,
        "seconds": task.seconds,
    }
