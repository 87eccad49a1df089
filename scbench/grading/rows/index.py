"""What workers must know of a release: its instances without prompts and pictures, and the tasks.

It is small (a few hundred kilobytes), goes to every worker once, and decides from an id alone what
becomes of a line. With it goes what a file beside the predictions says of runs whose lines say
nothing themselves.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import TypeAdapter, ValidationError

from scbench.base import __version__
from scbench.base.canonical import canonical_json, content_hash, parse_json
from scbench.base.errors import JsonError, PredictionsError, faults_of
from scbench.base.model import (
    Count,
    Instance,
    RunMetadata,
    Setting,
    plain_id,
    rung_of,
    style_of,
)
from scbench.catalog import Task, all_tasks
from scbench.formats.predictions import Line, Problem

if TYPE_CHECKING:
    from scbench.release.load import Release

MOST_BYTES = 1_000_000

# Model, setting and budget of runs, None for any, with their metadata as canonical
# JSON.
Described = Sequence[tuple[str | None, str | None, int | None, str]]


class DescribedRun(RunMetadata):
    """Metadata, and the runs that it is of: those with this model, setting and budget."""

    model: str | None = None
    setting: Setting | None = None
    budget: Count | None = None


def read_run_file(path: Path) -> Described:
    """Read a file of metadata: a JSON object that is of all runs, or a list of such.

    Raises:
        PredictionsError: it cannot be read, or says what it cannot.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise PredictionsError(f"{path} has more than {MOST_BYTES:,} bytes")
        value = parse_json(data)
        runs = TypeAdapter(list[DescribedRun]).validate_python(
            value if isinstance(value, list) else [value]
        )
    except OSError as error:
        raise PredictionsError(f"cannot read {path}: {error.strerror}") from None
    except JsonError as error:
        raise PredictionsError(f"{path} is not JSON: {error}") from None
    except ValidationError as error:
        raise PredictionsError(
            f"{path}: {'; '.join(map(str, faults_of(error, 3)))}"
        ) from None
    keys = {"model", "setting", "budget"}
    return [
        (
            run.model,
            run.setting,
            run.budget,
            canonical_json(
                run.model_dump(mode="json", exclude_none=True, exclude=keys)
            ),
        )
        for run in runs
    ]


def metadata_of(
    model: str, setting: str | None, budget: int | None, described: Described
) -> str | None:
    """Return what a file says of a run: the last entry that is of it."""
    metadata = None
    for *pattern, text in described:
        pairs = zip(pattern, (model, setting, budget), strict=True)
        if all(entry is None or entry == value for entry, value in pairs):
            metadata = text
    return metadata


# Task id and parameters (canonical JSON) of an instance: all a grader needs.
InstanceKey = tuple[str, str]


class LineKind(IntEnum):
    """What becomes of a line."""

    GRADED = 0
    EXCLUDED = -1
    """Its instance is not to be graded; it is counted only."""
    NOT_CHOSEN = -2
    """Its task is not to be graded; it is counted only."""
    NOT_IN_RELEASE = -3
    """Its task is one that the release does not hold: a row without a score."""
    UNKNOWN = -4
    """No release can mean its id."""
    DUPLICATE = -5
    """An earlier line of the same run answers the same instance."""
    BAD = -6
    """It is no prediction."""


def is_number(text: str) -> bool:
    """Return whether a text is made of decimal digits."""
    return text.isascii() and text.isdecimal()


@dataclass(frozen=True)
class KnownIds:
    """Which ids a release holds, and which of them are to be graded.

    These have ids in order, with hashes of their content. Others are excluded, or of tasks that are
    not chosen.
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
    def _plain_ids(self) -> Collection[str]:
        return {plain_id(row_id) for row_id in (*self.ids, *self.unchosen)}

    def _of_other_config(self, row_id: str) -> bool:
        """Return whether an id is of a config that this is not: a list, a ladder, pictures."""
        plain, first = plain_id(row_id), next(iter(self.ids), "")
        is_listed = is_number(plain.partition("/")[2])
        if style_of(first):  # of lists and rungs, but not of every instance
            return style_of(row_id) is None and (
                is_listed or rung_of(plain) is not None
            )
        return is_listed if rung_of(first) is not None else rung_of(plain) is not None

    def place(self, row_id: str) -> int:
        """Return the position of an instance that is to be graded, else the `LineKind`."""
        if row_id in self.excluded:
            return LineKind.EXCLUDED
        position = self.positions.get(row_id)
        if position is not None:
            return position
        if row_id in self.unchosen or plain_id(row_id) in self._plain_ids:
            return LineKind.NOT_CHOSEN
        task_id, _, subtask = row_id.partition("/")
        if task_id in self.tasks and self._of_other_config(row_id):
            return LineKind.NOT_CHOSEN
        if task_id in all_tasks() and task_id not in self.tasks and is_number(subtask):
            return LineKind.NOT_IN_RELEASE
        return LineKind.UNKNOWN

    def of_another(self, line: Line) -> Problem | None:
        """Return the problem that a line answers an instance of this id with other content."""
        prediction = line.prediction
        position = (
            self.positions.get(prediction.id) if prediction.instance_hash else None
        )
        if position is None or self.hashes[position].startswith(
            prediction.instance_hash or ""
        ):
            return None
        return Problem(
            "other_instance",
            f"{prediction.id} was answered with the instance_hash {prediction.instance_hash}, "
            f"and here it is {self.hashes[position][:12]}...: another instance; name the release "
            "or folder that was answered with --release",
            line.number,
            prediction.id,
        )


def known_ids(instances: Mapping[str, Instance], tasks: Collection[str]) -> KnownIds:
    """Return what is known of instances, all of which are to be graded."""
    hashes = [instance.content_hash for instance in instances.values()]
    return KnownIds(list(instances), tasks, tasks, hashes=hashes)


def has_row(place: int) -> bool:
    """Return whether a line of this place is one of a run and gets a row, see `KnownIds.place`."""
    return place >= 0 or place == LineKind.NOT_IN_RELEASE


class IndexEntry(NamedTuple):
    """An instance, without what is only for models."""

    id: str
    task: str
    bucket: str
    subtask: int
    scores: int
    params: str
    content_hash: str
    floor: float | None = None


_fields_of = attrgetter(
    *("all_params" if f == "params" else f for f in IndexEntry._fields[:-1])
)


@dataclass(frozen=True)
class ReleaseIndex:
    """What a run grades against; JSON values only, so that it can travel.

    Entries are the instances to be graded, in order. Of chosen tasks there are grader versions, and
    of those that are graded singly the seconds that an item may take. For metadata of runs see
    `read_run_file`; instances of tasks that are not chosen are there by id.
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
        """Which ids there are."""
        ids = [entry.id for entry in self.entries]
        hashes = [entry.content_hash for entry in self.entries]
        graded, excluded = frozenset(self.versions), frozenset(self.excluded)
        return KnownIds(
            ids, self.tasks, graded, excluded, hashes, frozenset(self.unchosen)
        )

    def keys(self) -> dict[str, InstanceKey]:
        """Return task and parameters by instance id."""
        return {entry.id: (entry.task, entry.params) for entry in self.entries}

    def identity(self, *values: object) -> str:
        """Return a hash of all that rows depend on besides the line, and of these JSON values."""
        return content_hash(
            [
                __version__,
                self.release,
                self.release_hash,
                dict(self.versions),
                sorted(self.excluded),
                sorted(self.heavy),
                *([list(map(list, self.described))] if self.described else []),
                *values,
            ]
        )


def index_of(
    release: "Release",
    tasks: Sequence[Task],
    *,
    exclude_withdrawn: bool = False,
    described: Described = (),
) -> ReleaseIndex:
    """Return what is needed of a release to grade tasks of it.

    Raises:
        ReleaseError: it cannot be read.
    """
    excluded = release.manifest.withdrawn if exclude_withdrawn else {}
    graded = frozenset(task.id for task in tasks)
    instances = release.instances(graded)
    floors = release.floors()
    return ReleaseIndex(
        release.version,
        release.manifest.rows_hash,
        [
            IndexEntry(*_fields_of(row))._replace(floor=floors.get(row.id))
            for row in instances.values()
            if row.id not in excluded
        ],
        list(release.manifest.tasks),
        {task.id: task.grader_version for task in tasks},
        {task.id: task.seconds for task in tasks if task.heavy},
        sorted(excluded),
        described,
        release.ids(frozenset(release.manifest.tasks) - graded),
    )
