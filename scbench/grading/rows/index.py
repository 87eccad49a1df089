"""What workers must know of a release: its instances without prompts and pictures, and the tasks.

It is small (a few hundred kilobytes), goes to every worker once, and decides from an id alone what
becomes of a line.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from scbench.canonical import content_hash
from scbench.catalog import Task, all_tasks
from scbench.version import __version__

if TYPE_CHECKING:
    from scbench.release.load import Release

InstanceKey = tuple[str, str]
"""Task id and parameters (canonical JSON) of an instance: all a grader needs."""


class Kind(IntEnum):
    """What a line is whose id is not to be graded."""

    LEFT_OUT = -1
    """Its instance is excluded."""
    LEFT_ALONE = -2
    """Its task was not chosen."""
    OUTSIDE = -3
    """Its task is one that the release does not hold."""
    UNKNOWN = -4
    """No release can mean it."""


def is_number(text: str) -> bool:
    """Return whether a text is made of decimal digits."""
    return text.isascii() and text.isdecimal()


@dataclass(frozen=True, slots=True)
class Known:
    """Which ids a release holds, and which of them are wanted.

    Attributes:
        positions: position in the release by instance id, without the excluded ones.
        tasks: ids of the tasks the release holds.
        chosen: ids of the tasks that are to be graded.
        excluded: ids of instances that are not to be graded.
    """

    positions: Mapping[str, int]
    tasks: Collection[str]
    chosen: Collection[str]
    excluded: Collection[str] = ()

    def place(self, row_id: str) -> int:
        """Return the position of an instance that is to be graded, or the `Kind` of line."""
        if row_id in self.excluded:
            return Kind.LEFT_OUT
        task_id, _, subtask = row_id.partition("/")
        position = self.positions.get(row_id)
        if position is not None:
            return position if task_id in self.chosen else Kind.LEFT_ALONE
        if task_id in all_tasks() and task_id not in self.tasks and is_number(subtask):
            return Kind.OUTSIDE
        return Kind.UNKNOWN


class Entry(NamedTuple):
    """An instance, without what is only for models."""

    id: str
    task: str
    bucket: str
    subtask: int
    scores: int
    params: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class Contents:
    """What a run grades against.

    Attributes:
        release: version of the release.
        release_hash: identity of its rows.
        entries: its instances in order, without the excluded ones.
        known: which ids they have.
        versions: grader version by chosen task.
        heavy: seconds that an item may take, by chosen task whose items are graded singly.
    """

    release: str
    release_hash: str
    entries: Sequence[Entry]
    known: Known
    versions: Mapping[str, int]
    heavy: Mapping[str, float] = field(default_factory=dict)

    def keys(self) -> dict[str, InstanceKey]:
        """Return task and parameters by instance id."""
        return {entry.id: (entry.task, entry.params) for entry in self.entries}

    def identity(self, *more: object) -> str:
        """Return a hash of all that rows depend on besides the line itself.

        Args:
            more: what else they depend on, as JSON values.
        """
        known = self.known
        return content_hash(
            [
                __version__,
                self.release_hash,
                dict(self.versions),
                sorted(known.chosen),
                sorted(known.excluded),
                sorted(self.heavy),
                *more,
            ]
        )


def contents_of(
    release: "Release", tasks: Sequence[Task], *, exclude_withdrawn: bool = False
) -> Contents:
    """Return what is needed of a release to grade tasks of it.

    Raises:
        ReleaseError: it cannot be read.
    """
    excluded = release.manifest.withdrawn if exclude_withdrawn else {}
    entries = [
        Entry(row.id, row.task, row.bucket, row.subtask, row.scores, row.params, row.content_hash)
        for row in release.instances().values()
        if row.id not in excluded
    ]
    known = Known(
        {entry.id: i for i, entry in enumerate(entries)},
        tuple(release.manifest.tasks),
        frozenset(task.id for task in tasks),
        frozenset(excluded),
    )
    return Contents(
        release.version,
        release.manifest.rows_hash,
        entries,
        known,
        {task.id: task.grader_version for task in tasks},
        {task.id: task.seconds for task in tasks if task.heavy},
    )
