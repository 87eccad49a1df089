"""The manifest of a release, and the names of its files and versions."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, ValidationError

from scbench.base.canonical import sha256
from scbench.base.errors import (
    CatalogError,
    ReleaseError,
    did_you_mean,
    faults_of,
    printable,
)
from scbench.base.model import (
    LADDER,
    PICTURES,
    STYLES,
    TERSE,
    Frozen,
    picture_id,
    rung_of,
    terse_id,
)
from scbench.base.wording import pattern_for
from scbench.catalog import MANIFOLDS

_PART = r"\.?[A-Za-z0-9_][A-Za-z0-9_.-]*"
# Releases may be untrusted and are copied by these names, so no name may lead out of
# the folder.
FilePath = Annotated[
    str,
    Field(
        pattern=pattern_for(
            "that is a path inside the folder", rf"^({_PART}/)*{_PART}$"
        )
    ),
]
MANIFEST = "MANIFEST.json"
CARD = "README.md"
CROISSANT = "croissant.json"
# The differences from the paper, in releases with terse prompts, which serve for comparison.
PAPER = "paper.md"
EVAL = "eval.yaml"
REFERENCES = "references/references.parquet"
# Part of the card and of every row of the references, so that leaks can be detected.
CANARY = (
    "scbench canary 5b0f3a52-7c0e-4c8e-9d57-2f6c1d1e8b44: keep out of training data"
)

# Suffixes of a release's name that select one of its configs.
PLUS_TERSE = f"+{TERSE}"
PLUS_LADDER = f"+{LADDER}"
PLUS_PICTURES = f"+{PICTURES}"

# JSON Schemas that belong to no task.
SHARED_SCHEMAS = ("prediction", "results", "submission")

# Maximum size of a manifest that is read.
MOST_MANIFEST_BYTES = 20_000_000
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?", re.ASCII)

# Fields of the manifest, of a task and of an experiment that are not written if they are empty, so
# that older manifests keep their digests.
_OPTIONAL_PARTS = ("withdrawn", "experiment", "terse", "pictures", "ladder")
_OPTIONAL_OF_TASK = ("seeds", "fingerprint", "weight")
_OPTIONAL_OF_EXPERIMENT = ("prefix", "measures")


class FloorRecord(Frozen):
    """Summary of a task's floors, see `scbench.freezing.frozen_task`."""

    mean: float = Field(description="mean floor over the instances")
    strategies: dict[str, int] = Field(
        description=(
            "number of items for which each trivial baseline is the best, by name of the "
            "baseline; items for which all baselines score 0 are not counted"
        )
    )


class TaskRecord(Frozen):
    """Record of one task."""

    bucket: str
    instances: int
    scores: int = Field(description="number of instances times scores per answer")
    builder_version: int
    grader_version: int = Field(description="grader version that scored the references")
    rows_hash: str
    floor: FloorRecord
    fingerprint: str | None = Field(
        default=None,
        description="fingerprint of the machine that graded the references, if scores depend on it",
    )
    seeds: dict[str, int] = Field(
        default_factory=dict,
        description=(
            "seed of each drawn instance of a fixed list, by id; seeds of an experiment's "
            "instances are only in the rows"
        ),
    )
    weight: float | None = Field(
        default=None,
        ge=0,
        description="weight in the normalized score (see weight_of); absent in earlier releases",
    )


def weight_of(floors: Iterable[float]) -> float:
    """Return the weight of a task in the normalized score, from the floors of its instances.

    The weight is the inverse of the variance of the task's mean: 0.03 between tasks of a model, and
    0.2 for each of the answers that have room above their floors. docs/evidence.md has the
    simulation behind these numbers.
    """
    answers = sum(floor < 1 for floor in floors)
    return round(1 / (0.03 + 0.2 / answers), 3) if answers else 0.0


class ReferencesRecord(Frozen):
    """Record of the reference answers."""

    references: int
    counter_references: int
    rows_hash: str


class FileRecord(Frozen):
    """Transport identity of one file."""

    sha256: str
    bytes: int


class ShortfallRecord(Frozen):
    """A point with fewer cases than the experiment asks for."""

    task: str
    point: dict[str, JsonValue] = Field(description="its parameters")
    asked: int
    got: int
    reason: str


class ExperimentRecord(Frozen):
    """Origin of the drawn instances of a release (see `scbench.generate`)."""

    seed: int | None = Field(description="base seed; null if it is private")
    prefix: str = Field(
        default="",
        pattern=pattern_for(
            "of 8 characters 0-9 and a-f, or empty", "^([0-9a-f]{8})?$"
        ),
        description="prefix of the ids, before a colon; empty in frozen releases",
    )
    tasks: list[dict[str, JsonValue]] = Field(
        min_length=1,
        description=(
            "task, count, parameters and grid of each block of the experiment; for a "
            "ladder, also its rung"
        ),
    )
    measures: dict[str, str] = Field(
        default_factory=dict,
        description="the measure that rises from rung to rung, by task; empty without a ladder",
    )
    shortfalls: list[ShortfallRecord] = Field(default_factory=list)

    @property
    def task_ids(self) -> list[str]:
        """Ids of the tasks that were drawn, in order."""
        return list(dict.fromkeys(str(block.get("id")) for block in self.tasks))


class LadderRecord(Frozen):
    """Record of the config ``ladder``."""

    experiment: ExperimentRecord
    tasks: dict[str, TaskRecord] = Field(min_length=1)


def data_file(task_id: str) -> str:
    """Return the path, inside a release, of a task's instances."""
    return f"data/{task_id}.parquet"


def terse_file(task_id: str) -> str:
    """Return the path, inside a release, of a task's instances with terse prompts."""
    return f"{TERSE}/{task_id}.parquet"


def ladder_file(task_id: str) -> str:
    """Return the path, inside a release, of a task's instances on the ladder."""
    return f"{LADDER}/{task_id}.parquet"


def pictures_file(task_id: str) -> str:
    """Return the path, inside a release, of a task's instances with pictures."""
    return f"{PICTURES}/{task_id}.parquet"


def schema_file(name: str) -> str:
    """Return the path, inside a release, of a JSON Schema."""
    return f"schemas/{name}.json"


def picture_file(task_id: str) -> str:
    """Return the path, inside a release, of a task's picture. Some tasks have no picture."""
    return f"gallery/{task_id}.png"


def layout(
    task_ids: Iterable[str],
    terse: Iterable[str] = (),
    ladder: Iterable[str] = (),
    pictures: Iterable[str] = (),
) -> set[str]:
    """Return the paths of all files of a release, by the tasks in it and in each config.

    A release also has the manifest, and may have pictures, see `picture_file`.
    """
    paths = {CARD, CROISSANT, EVAL, REFERENCES}
    paths |= {schema_file(name) for name in SHARED_SCHEMAS}
    for task_id in task_ids:
        paths.add(data_file(task_id))
        paths.add(schema_file(f"{task_id}.params"))
        paths.add(schema_file(f"{task_id}.answer"))
    terse_paths = {terse_file(task_id) for task_id in terse}
    if terse_paths:
        paths |= terse_paths
        paths.add(PAPER)
    paths |= {ladder_file(task_id) for task_id in ladder}
    paths |= {pictures_file(task_id) for task_id in pictures}
    return paths


def is_version(name: str) -> bool:
    """Whether a name is a valid release version: 2.0.0, or 2.0.0rc1 (a, b, rc)."""
    return _VERSION.fullmatch(name) is not None


def version_key(name: str) -> tuple[Any, ...]:
    """Return the sort key of a version, oldest first; other names come before all versions."""
    match = _VERSION.fullmatch(name)
    if match is None:
        return ((), "", 0, name)
    *numbers, stage, stage_number = match.groups()
    # Alphabetically, "release" also comes after "a", "b" and "rc".
    return (
        tuple(map(int, numbers)),
        stage or "release",
        int(stage_number or 0),
        name,
    )


def own_name(version: str) -> str:
    """Return a release's name without the suffix of its config."""
    return version.partition("+")[0]


class Manifest(Frozen):
    """The manifest of a release."""

    format: Literal[1] = 1
    name: str = "scbench"
    version: str
    package_version: str = Field(
        description="version of scbench that built the release"
    )
    rows_hash: str = Field(
        description="identity of the rows: equal rows have equal hashes, regardless of the files"
    )
    tasks: dict[str, TaskRecord] = Field(min_length=1)
    references: ReferencesRecord
    files: dict[FilePath, FileRecord]
    libraries: dict[str, str] = Field(
        description="versions that affect the bytes of the files"
    )
    canary: str
    withdrawn: dict[str, str] = Field(
        default_factory=dict,
        description="instances found to be wrong after an earlier release, with the reasons, by id",
    )
    experiment: ExperimentRecord | None = Field(
        default=None, description="experiment that produced the instances, if any"
    )
    terse: dict[str, str] = Field(
        default_factory=dict,
        description="hash of the rows with terse prompts, for each task that has them",
    )
    pictures: dict[str, TaskRecord] = Field(
        default_factory=dict,
        description="the instances with pictures, for each task that has them",
    )
    ladder: LadderRecord | None = Field(
        default=None, description="the instances on the ladder's rungs, if any"
    )
    digest: str = Field(
        default="", description="SHA-256 of this file, computed with an empty digest"
    )

    @property
    def is_generated(self) -> bool:
        """Whether the release was written by `scbench generate` and is therefore not frozen."""
        return self.experiment is not None and not is_version(own_name(self.version))

    @property
    def config(self) -> str:
        """The config that it describes, if it describes only one; otherwise empty."""
        return self.version.partition("+")[2]

    def rows_file(self, task_id: str) -> str:
        """Return the path of a task's instances in the config, relative to the release."""
        files = {TERSE: terse_file, LADDER: ladder_file, PICTURES: pictures_file}
        return files.get(self.config, data_file)(task_id)

    @property
    def is_ladder(self) -> bool:
        """Whether all its instances are on rungs: the config ``ladder``, or a drawn ladder."""
        return self.experiment is not None and bool(self.experiment.measures)

    @property
    def is_preview(self) -> bool:
        """Whether it is a preview, which may still change: an alpha, beta or release candidate."""
        match = _VERSION.fullmatch(own_name(self.version))
        return match is not None and match[4] is not None

    def of_terse(self) -> "Manifest":
        """Return the manifest of only the config ``terse``.

        Its name ends in "+terse", so its results are never mistaken for results of the release.

        Raises:
            ReleaseError: the release has no terse prompts.
        """
        if not self.terse:
            raise ReleaseError(f"release {self.version} has no config {TERSE!r}")
        tasks = {}
        # The same instances as in the default, except for the prompts in their rows.
        for task, rows_hash in self.terse.items():
            update = {"rows_hash": rows_hash, "seeds": {}}
            tasks[task] = self.tasks[task].model_copy(update=update)
        withdrawn = {
            terse_id(name): reason
            for name, reason in self.withdrawn.items()
            if rung_of(name) is None
        }
        return self._of_config(PLUS_TERSE, tasks, withdrawn)

    def of_ladder(self) -> "Manifest":
        """Return the manifest of only the config ``ladder``; its name ends in "+ladder".

        Raises:
            ReleaseError: the release has no ladder.
        """
        if self.ladder is None:
            raise ReleaseError(f"release {self.version} has no config {LADDER!r}")
        withdrawn = {
            name: reason
            for name, reason in self.withdrawn.items()
            if rung_of(name) is not None
        }
        experiment = self.ladder.experiment
        return self._of_config(PLUS_LADDER, self.ladder.tasks, withdrawn, experiment)

    def of_pictures(self) -> "Manifest":
        """Return the manifest of only the config ``pictures``; its name ends in "+pictures".

        Raises:
            ReleaseError: the release has no pictures.
        """
        if not self.pictures:
            raise ReleaseError(f"release {self.version} has no config {PICTURES!r}")
        withdrawn = {}
        for name, reason in self.withdrawn.items():
            for style in STYLES:
                withdrawn[picture_id(name, style)] = reason
        return self._of_config(PLUS_PICTURES, self.pictures, withdrawn)

    def of_config(self, config: str) -> "Manifest":
        """Return the manifest with only one config, which is not the default.

        Raises:
            ReleaseError: the release does not have it.
        """
        makers = {
            TERSE: self.of_terse,
            LADDER: self.of_ladder,
            PICTURES: self.of_pictures,
        }
        return makers[config]()

    def _of_config(
        self,
        ending: str,
        tasks: dict[str, TaskRecord],
        withdrawn: dict[str, str],
        experiment: ExperimentRecord | None = None,
    ) -> "Manifest":
        update = {
            "version": f"{self.version}{ending}",
            "tasks": tasks,
            "withdrawn": withdrawn,
            "experiment": experiment,
            "terse": {},
            "pictures": {},
            "ladder": None,
        }
        return self.model_copy(update=update)

    @property
    def default_tasks(self) -> list[str]:
        """Tasks of the config ``default``, which are graded unless others are named.

        For a frozen release or a ladder, these are the spatial tasks, whether or not they are in
        the paper; for other generated instances, all tasks.
        """
        if self.is_generated and not self.is_ladder:
            return list(self.tasks)
        # The text tasks of a frozen release are graded only on request.
        spatial = [
            task for task, record in self.tasks.items() if record.bucket != MANIFOLDS
        ]
        return spatial or list(self.tasks)

    def named_tasks(self, names: Sequence[str] | None) -> list[str]:
        """Return the tasks that names of tasks and buckets select; `default_tasks` if None.

        Raises:
            CatalogError: a name is not a task or bucket of the release.
        """
        if names is None:
            return self.default_tasks
        buckets = dict.fromkeys(record.bucket for record in self.tasks.values())
        available = [*self.tasks, *buckets]
        for name in names:
            if name not in available:
                hint = did_you_mean(name, available)
                raise CatalogError(
                    f"task {name!r} is not in release {self.version}.{hint}"
                )
        return [
            task
            for task, record in self.tasks.items()
            if task in names or record.bucket in names
        ]

    @property
    def default_records(self) -> dict[str, TaskRecord]:
        """The records of `default_tasks`."""
        return {task: self.tasks[task] for task in self.default_tasks}

    def board_records(self, part: str) -> dict[str, TaskRecord]:
        """Return the records of the tasks of a leaderboard.

        Args:
            part: "spatial" for `default_tasks`, or "manifolds" for the text tasks.

        Raises:
            CatalogError: the release has none of these.
        """
        names = self.named_tasks([MANIFOLDS] if part == MANIFOLDS else None)
        return {task: self.tasks[task] for task in names}

    @property
    def instances(self) -> int:
        """Number of instances in the release."""
        return sum(task.instances for task in self.tasks.values())

    @property
    def scores(self) -> int:
        """Number of scores in the release."""
        return sum(task.scores for task in self.tasks.values())

    def sealed(self) -> "Manifest":
        """Return the manifest with its digest.

        Rows and files have separate hashes; the digest protects the rest, such as the versions
        of libraries.
        """
        # The digest covers everything but itself.
        blank = self.model_copy(update={"digest": ""})
        return self.model_copy(update={"digest": sha256(blank.text())})

    def text(self) -> str:
        """Return the text of the manifest's file.

        Keys are not sorted: tasks are in the order of the benchmark's tables.
        """
        record = self.model_dump(mode="json")
        drop_empty(record, _OPTIONAL_PARTS)
        ladder = record.get("ladder", {})
        pictures = record.get("pictures", {})
        for tasks in (record["tasks"], ladder.get("tasks", {}), pictures):
            for task in tasks.values():
                drop_empty(task, _OPTIONAL_OF_TASK)
        for owner in (record, ladder):
            if "experiment" in owner:
                drop_empty(owner["experiment"], _OPTIONAL_OF_EXPERIMENT)
        return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def drop_empty(record: dict[str, Any], names: Iterable[str]) -> None:
    """Delete some fields of a record if they are empty; 0 is a value."""
    for name in names:
        if not record[name] and record[name] != 0:
            del record[name]


@lru_cache(maxsize=16)
def parse_manifest(data: bytes, root: Path, *, check_digest: bool = True) -> Manifest:
    """Parse a manifest. The same bytes are parsed once, because a release is opened often.

    Args:
        data: the file's bytes.
        root: folder or archive of the release, for messages.
        check_digest: refuse a manifest that was changed after it was written.

    Raises:
        ReleaseError: it is not a manifest, or was changed.
    """
    path = root / MANIFEST
    if len(data) > MOST_MANIFEST_BYTES:
        raise ReleaseError(f"{path} is too large for a manifest")
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError as error:
        first = faults_of(error, 1)[0]
        # A release in a later format may be valid, but cannot be read here.
        hint = "; it may need a newer scbench" if first.at == "format" else ""
        # The value is left out: the file may be a link to a secret.
        message = str(first).partition("; got")[0]
        raise ReleaseError(f"{path} is not a manifest: {message}{hint}") from None
    # The texts are printed and displayed, and they are untrusted.
    for text in texts_in(manifest.model_dump()):
        if not text.isprintable():
            raise ReleaseError(
                f"{path} contains characters that cannot be displayed: "
                f"{printable(text)[:200]!r}"
            )
    if check_digest and manifest != manifest.sealed():
        raise ReleaseError(
            f"{path} was changed after it was frozen; for details run `scbench release "
            f"verify {root}`"
        )
    return manifest


def texts_in(value: object) -> Iterator[str]:
    """Yield all strings in a value of plain data, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inside in value.items():
            yield from texts_in(key)
            yield from texts_in(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from texts_in(inside)
