"""The index of a release: its tasks, and its instances without prompts and pictures.

It is small (a few hundred kilobytes), is sent to every worker once, and decides from the id alone
how to handle a line. It also contains metadata for runs whose lines have none.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from scbench.base import __version__
from scbench.base.canonical import content_hash
from scbench.base.model import Instance, plain_id, rung_of, style_of
from scbench.catalog import Task, all_tasks
from scbench.formats.predictions import Line, Problem
from scbench.grading.run_file import Described

if TYPE_CHECKING:
    from scbench.release.load import Release


class InstanceKey(NamedTuple):
    """The parts of an instance that a grader needs; parameters are canonical JSON."""

    task: str
    params: str


class LineKind(IntEnum):
    """The fate of a line. Positions of instances are 0 and above, so these values are negative."""

    GRADED = 0
    # Its instance is not graded; the line is only counted.
    EXCLUDED = -1
    # Its task is not graded; the line is only counted.
    NOT_CHOSEN = -2
    # The release does not contain its task: a row without a score.
    NOT_IN_RELEASE = -3
    # Its id does not fit any release.
    UNKNOWN = -4
    # An earlier line of the same run answers the same instance.
    DUPLICATE = -5
    # It is not a prediction.
    BAD = -6


def is_number(text: str) -> bool:
    """Return whether a text consists of decimal digits."""
    return text.isascii() and text.isdecimal()


def has_row(place: int) -> bool:
    """Return whether a line with this place (see `KnownIds.place`) gets a row in its run."""
    return place >= 0 or place == LineKind.NOT_IN_RELEASE


@dataclass(frozen=True)
class KnownIds:
    """The ids of a release, including those to be graded.

    Attributes:
        ids: instances to be graded, in order.
        tasks: all tasks of the release.
        graded: tasks to be graded.
        excluded: ids of instances that are left out.
        hashes: content hashes of the instances to be graded, in the order of `ids`.
        unchosen: ids of instances whose tasks are not to be graded.
    """

    ids: Sequence[str]
    tasks: Collection[str]
    graded: Collection[str]
    excluded: Collection[str] = ()
    hashes: Sequence[str] = ()
    unchosen: Collection[str] = ()

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Position by id."""
        return {instance_id: i for i, instance_id in enumerate(self.ids)}

    @cached_property
    def plain_ids(self) -> Collection[str]:
        """All ids without prefixes and styles."""
        return {plain_id(row_id) for row_id in (*self.ids, *self.unchosen)}

    def place(self, row_id: str) -> int:
        """Return the position of an instance to be graded, or else the `LineKind`."""
        if row_id in self.excluded:
            return LineKind.EXCLUDED
        position = self.positions.get(row_id)
        if position is not None:
            return position
        if row_id in self.unchosen or plain_id(row_id) in self.plain_ids:
            return LineKind.NOT_CHOSEN
        task_id, _, subtask = row_id.partition("/")
        if task_id in self.tasks and self.is_of_other_config(row_id):
            return LineKind.NOT_CHOSEN
        if task_id in all_tasks() and task_id not in self.tasks and is_number(subtask):
            return LineKind.NOT_IN_RELEASE
        return LineKind.UNKNOWN

    def is_of_other_config(self, row_id: str) -> bool:
        """Return whether an id belongs to another config: a list, a ladder or pictures."""
        plain = plain_id(row_id)
        first = next(iter(self.ids), "")
        is_listed = is_number(plain.partition("/")[2])
        is_rung = rung_of(plain) is not None
        # Styles belong to lists and rungs, not to single instances.
        if style_of(first):
            return style_of(row_id) is None and (is_listed or is_rung)
        return is_listed if rung_of(first) is not None else is_rung

    def of_another(self, line: Line) -> Problem | None:
        """Return the problem if a line answers an instance with the same id but other content."""
        prediction = line.prediction
        answered_hash = prediction.instance_hash
        position = self.positions.get(prediction.id)
        if not answered_hash or position is None:
            return None
        if self.hashes[position].startswith(answered_hash):
            return None
        return Problem(
            "other_instance",
            (
                f"{prediction.id}: its instance_hash is {answered_hash}, but this item has "
                f"{self.hashes[position][:12]}..., so another item was answered; give its "
                "release or folder with --release"
            ),
            line.number,
            prediction.id,
        )


def known_ids(instances: Mapping[str, Instance], tasks: Collection[str]) -> KnownIds:
    """Return the ids of instances, all of which are to be graded."""
    hashes = [instance.content_hash for instance in instances.values()]
    return KnownIds(list(instances), tasks, tasks, hashes=hashes)


class IndexEntry(NamedTuple):
    """An instance, without the parts that only models need."""

    id: str
    task: str
    bucket: str
    subtask: int
    scores: int
    params: str
    content_hash: str
    floor: float | None = None


@dataclass(frozen=True)
class ReleaseIndex:
    """Everything that a run grades against, as JSON values that can be sent to workers.

    Attributes:
        release: version of the release.
        release_hash: hash of its rows.
        entries: instances to be graded, in order.
        tasks: all tasks of the release.
        versions: grader version of each task to be graded.
        heavy: seconds allowed for one item, by heavy task; their items are graded
            separately.
        excluded: ids of instances that are left out.
        described: metadata of runs, see `scbench.grading.run_file`.
        unchosen: ids of instances whose tasks are not to be graded.
    """

    release: str
    release_hash: str
    entries: Sequence[IndexEntry]
    tasks: Sequence[str]
    versions: Mapping[str, int]
    heavy: Mapping[str, float] = field(default_factory=dict)
    excluded: Sequence[str] = ()
    described: Described = ()
    unchosen: Sequence[str] = ()

    @cached_property
    def known_ids(self) -> KnownIds:
        """The ids of the release's instances."""
        return KnownIds(
            [entry.id for entry in self.entries],
            self.tasks,
            frozenset(self.versions),
            frozenset(self.excluded),
            [entry.content_hash for entry in self.entries],
            frozenset(self.unchosen),
        )

    def keys(self) -> dict[str, InstanceKey]:
        """Return task and parameters by instance id."""
        return {
            entry.id: InstanceKey(entry.task, entry.params) for entry in self.entries
        }

    def identity(self, *values: object) -> str:
        """Return a hash of everything that affects rows, apart from the line itself."""
        parts: list[object] = [
            __version__,
            self.release,
            self.release_hash,
            dict(self.versions),
            sorted(self.excluded),
            sorted(self.heavy),
        ]
        if self.described:
            parts.append([list(run) for run in self.described])
        return content_hash([*parts, *values])


def index_of(
    release: "Release",
    tasks: Sequence[Task],
    *,
    exclude_withdrawn: bool = False,
    described: Described = (),
) -> ReleaseIndex:
    """Return the index for grading some tasks of a release.

    Raises:
        ReleaseError: the release cannot be read.
    """
    excluded = release.manifest.withdrawn if exclude_withdrawn else {}
    graded = frozenset(task.id for task in tasks)
    floors = release.floors()
    entries = []
    for row in release.instances(graded).values():
        if row.id in excluded:
            continue
        entry = IndexEntry(
            row.id,
            row.task,
            row.bucket,
            row.subtask,
            row.scores,
            row.all_params,
            row.content_hash,
            floors.get(row.id),
        )
        entries.append(entry)
    return ReleaseIndex(
        release.version,
        release.manifest.rows_hash,
        entries,
        list(release.manifest.tasks),
        {task.id: task.grader_version for task in tasks},
        {task.id: task.seconds for task in tasks if task.heavy},
        sorted(excluded),
        described,
        release.ids(frozenset(release.manifest.tasks) - graded),
    )
