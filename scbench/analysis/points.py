"""Drawn instances by the parameters of their points: the lines of tables over manifolds."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scbench.base.errors import ResultsError, did_you_mean
from scbench.builders.shared.parameters import KINDS, kinds_of
from scbench.catalog import get_task
from scbench.release.load import Release

LEVELS = ("lowest", "between", "highest", "unordered")
"""Where a parameter's value stands among those that the release has of it."""


@dataclass(frozen=True, slots=True)
class Group:
    """Instances that make one line of a table."""

    labels: Mapping[str, str]
    ids: frozenset[str]


class Cases:
    """The drawn instances of a release that results are about.

    Args:
        release: what was graded against.
        tasks: ids of the tasks; None for all that have drawn instances.

    Raises:
        ResultsError: a task is not in the release, or nothing in it was drawn.
    """

    def __init__(self, release: Release, tasks: Collection[str] | None = None) -> None:
        records = release.manifest.tasks
        for name in tasks or ():
            if name not in records:
                raise ResultsError(
                    f"task {name!r} is not in release {release.version}.{did_you_mean(name, records)}"
                )
        rows = [row for row in release.instances(tasks).values() if row.point is not None]
        if not rows:
            raise ResultsError(
                f"release {release.version} holds no drawn instances"
                f"{' of these tasks' * bool(tasks)}, so there are no parameters to look along"
            )
        self.points = {row.id: row.whole_point for row in rows}
        self.hashes = {row.id: row.content_hash for row in rows}
        self.floors = release.floors()
        self.by_task: dict[str, list[str]] = {}
        for row in rows:
            self.by_task.setdefault(row.task, []).append(row.id)

    def values(self, task: str, name: str) -> dict[str, list[str]]:
        """Return a task's instances at each value of a parameter or fact, in the values' order."""
        ids: dict[str, list[str]] = {}
        originals: dict[str, Any] = {}
        for row_id in self.by_task[task]:
            if name in self.points[row_id]:
                value = self.points[row_id][name]
                text = value if isinstance(value, str) else json.dumps(value)
                originals.setdefault(text, value)
                ids.setdefault(text, []).append(row_id)
        if self.is_ordered(task, name):
            return {text: ids[text] for text in sorted(ids, key=lambda text: originals[text])}
        return ids

    def is_ordered(self, task: str, name: str) -> bool:
        """Whether the values of a parameter or fact are numbers or truth values."""
        points = (self.points[row_id] for row_id in self.by_task[task])
        return all(isinstance(point.get(name, 0), int | float) for point in points)

    def varied(self, task: str) -> list[str]:
        """Return the parameters that have more than one value among a task's instances."""
        space = get_task(task).builder.space
        parameters = (name for name in space.model_fields if name != "count")
        return [name for name in parameters if len(self.values(task, name)) > 1]

    def with_name(self, name: str) -> list[str]:
        """Return the tasks that have a parameter or fact.

        Raises:
            ResultsError: there is none.
        """
        tasks = [task for task in self.by_task if self.values(task, name)]
        if not tasks:
            names = {key: None for point in self.points.values() for key in point}
            raise ResultsError(
                f"no drawn instance has a parameter or fact {name!r}."
                f"{did_you_mean(name, names) or ' There are ' + ', '.join(names) + '.'}"
            )
        return tasks


def groups_of(cases: Cases, by: str, parameter: str | None = None) -> Iterator[Group]:
    """Yield the lines of a table.

    Args:
        cases: of the release.
        by: ``task``, ``parameter`` (each value of each parameter that varies), ``dimension`` (what
        the
            catalogue says that tasks stress) or ``kind`` (of parameter, with the place of the value
            among those the release has).
        parameter: only this parameter or fact.
    """
    if parameter is not None:
        for task in cases.with_name(parameter):
            yield from _by_value(cases, task, parameter)
    elif by == "task":
        for task, ids in cases.by_task.items():
            yield Group({"task": task}, frozenset(ids))
        if len(cases.by_task) > 1:
            yield Group({}, frozenset(cases.points))
    elif by == "parameter":
        for task in cases.by_task:
            for name in cases.varied(task):
                yield from _by_value(cases, task, name)
    elif by == "dimension":
        tags: dict[str, list[str]] = {}
        for task, ids in cases.by_task.items():
            for tag in get_task(task).dimensions:
                tags.setdefault(tag, []).extend(ids)
        yield from (Group({"dimension": tag}, frozenset(tags[tag])) for tag in sorted(tags))
    else:
        yield from _by_kind(cases)


def _by_value(cases: Cases, task: str, name: str) -> Iterator[Group]:
    kind = kinds_of(get_task(task).builder.space).get(name)
    labels = {"task": task, "parameter": name} | ({"kind": kind} if kind else {})
    for value, ids in cases.values(task, name).items():
        yield Group(labels | {"value": value}, frozenset(ids))


def _by_kind(cases: Cases) -> Iterator[Group]:
    groups: dict[tuple[str, str], set[str]] = {}
    for task in cases.by_task:
        kinds = kinds_of(get_task(task).builder.space)
        for name in cases.varied(task):
            if name not in kinds:
                continue
            values = cases.values(task, name)
            ordered = cases.is_ordered(task, name)
            for place, ids in enumerate(values.values()):
                level = LEVELS[0] if not place else LEVELS[2 if place == len(values) - 1 else 1]
                key = (kinds[name], level if ordered else LEVELS[3])
                groups.setdefault(key, set()).update(ids)
    for kind in KINDS:
        for level in LEVELS:
            if (kind, level) in groups:
                yield Group({"kind": kind, "value": level}, frozenset(groups[kind, level]))
