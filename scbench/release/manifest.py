"""What a release says about itself, and the names of its files and versions."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
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
from scbench.catalog import MANIFOLDS

_PART = r"\.?[A-Za-z0-9_][A-Za-z0-9_.-]*"
# Releases come from outside, too, and are copied by these names: none may lead out of the folder.
FilePath = Annotated[str, Field(pattern=rf"^({_PART}/)*{_PART}$")]
MANIFEST = "MANIFEST.json"
CARD = "README.md"
CROISSANT = "croissant.json"
# Says what differs from the paper; in releases with terse prompts, which are there for
# that.
PAPER = "paper.md"
EVAL = "eval.yaml"
REFERENCES = "references/references.parquet"

# Stands in every row of the references and on the card, so that leaks can be found.
CANARY = (
    "scbench canary 5b0f3a52-7c0e-4c8e-9d57-2f6c1d1e8b44: keep out of training data"
)

PLUS_TERSE = f"+{TERSE}"
PLUS_LADDER = f"+{LADDER}"
# What follows a release's name where one of its configs is meant alone.
PLUS_PICTURES = f"+{PICTURES}"

# JSON Schemas that belong to no task.
SHARED_SCHEMAS = ("prediction", "results", "submission")

MOST_MANIFEST_BYTES = 20_000_000
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?", re.ASCII)


_OPTIONAL = ("seeds", "fingerprint", "weight")
# Fields of records that are not written where they are empty.
_OF_DRAWN = ("prefix", "measures")


class FloorRecord(Frozen):
    """What the manifest holds of a task's floors, see `scbench.freezing.frozen_task`."""

    mean: float = Field(description="over the instances")
    strategies: dict[str, int] = Field(
        description="for how many items a trivial baseline is the best, by its name; "
        "items for which none scores anything are not counted"
    )


class TaskRecord(Frozen):
    """What the manifest holds of one task."""

    bucket: str
    instances: int
    scores: int = Field(description="instances times scores per answer")
    builder_version: int
    grader_version: int = Field(description="version the references were scored with")
    rows_hash: str
    floor: FloorRecord
    fingerprint: str | None = Field(
        default=None,
        description="of the machine that judged the references, if scores depend on it",
    )
    seeds: dict[str, int] = Field(
        default_factory=dict,
        description="seed of each instance of a fixed list that was drawn, by id; those of an "
        "experiment stand in the rows alone",
    )
    weight: float | None = Field(
        default=None,
        ge=0,
        description="in the normalized score, see weight_of; earlier releases have none",
    )


def weight_of(floors: Iterable[float]) -> float:
    """Return the weight of a task in the normalized score, from the floors of its instances.

    Its mean says as much of a model as its variance lets it: 0.03 between tasks of a model, and 0.2
    for each of the answers that have room above their floors. docs/evidence.md has the
    simulation that this was chosen by.
    """
    answers = sum(floor < 1 for floor in floors)
    return round(1 / (0.03 + 0.2 / answers), 3) if answers else 0.0


class ReferencesRecord(Frozen):
    """What the manifest holds of the reference answers."""

    references: int
    counter_references: int
    rows_hash: str


class FileRecord(Frozen):
    """Transport identity of one file."""

    sha256: str
    bytes: int


class ShortfallRecord(Frozen):
    """A point that could not give as many cases as were asked for."""

    task: str
    point: dict[str, JsonValue] = Field(description="its parameters")
    asked: int
    got: int
    reason: str


class ExperimentRecord(Frozen):
    """Where the drawn instances of a release come from (see `scbench.generate`)."""

    seed: int | None = Field(description="base seed; null if it is private")
    prefix: str = Field(
        default="",
        pattern="^([0-9a-f]{8})?$",
        description="what the ids begin with, before a colon; empty in frozen releases, whose ids "
        "are their own",
    )
    tasks: list[dict[str, JsonValue]] = Field(
        min_length=1,
        description="task, count, parameters and grid of each block of the experiment; on a "
        "ladder, its rung",
    )
    measures: dict[str, str] = Field(
        default_factory=dict,
        description="what rises from rung to rung, by task; empty if no ladder was drawn",
    )
    shortfalls: list[ShortfallRecord] = Field(default_factory=list)

    @property
    def task_ids(self) -> list[str]:
        """Ids of the tasks that were drawn, in order."""
        return list(dict.fromkeys(str(block.get("id")) for block in self.tasks))


class LadderRecord(Frozen):
    """What the manifest holds of the config ``ladder``."""

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
    """Return the path, inside a release, of a task's picture. Tasks without pictures have none."""
    return f"gallery/{task_id}.png"


def layout(
    task_ids: Iterable[str],
    terse: Iterable[str] = (),
    ladder: Iterable[str] = (),
    pictures: Iterable[str] = (),
) -> set[str]:
    """Return the paths of all files of a release: its tasks, and those that configs beside have.

    Besides, it has the manifest, and may have pictures, see `picture_file`.
    """
    names = {CARD, CROISSANT, EVAL, REFERENCES, *map(schema_file, SHARED_SCHEMAS)}
    for task_id in task_ids:
        names |= {data_file(task_id)}
        names |= {schema_file(f"{task_id}.{part}") for part in ("params", "answer")}
    beside = {terse_file(task_id) for task_id in terse}
    rungs = {*map(ladder_file, ladder), *map(pictures_file, pictures)}
    return names | beside | rungs | ({PAPER} if beside else set())


def is_version(name: str) -> bool:
    """Whether a name is a version that releases can have: 2.0.0, or 2.0.0rc1 (a, b, rc)."""
    return _VERSION.fullmatch(name) is not None


def version_key(name: str) -> tuple[Any, ...]:
    """Return what versions sort by, oldest first; names that are no versions come before all."""
    match = _VERSION.fullmatch(name)
    if match is None:
        return ((), "", 0, name)
    *numbers, stage, n = match.groups()
    # In the alphabet, too, "release" comes after "a", "b" and "rc".
    return (tuple(map(int, numbers)), stage or "release", int(n or 0), name)


def own_name(version: str) -> str:
    """Return a release's name without the config that is meant alone."""
    return version.partition("+")[0]


class Manifest(Frozen):
    """The manifest of a release."""

    format: Literal[1] = 1
    name: str = "scbench"
    version: str
    package_version: str = Field(description="version of scbench that built it")
    rows_hash: str = Field(
        description="identity: equal rows, equal hash, whatever the files"
    )
    tasks: dict[str, TaskRecord] = Field(min_length=1)
    references: ReferencesRecord
    files: dict[FilePath, FileRecord]
    libraries: dict[str, str] = Field(
        description="versions that decide the bytes of the files"
    )
    canary: str
    withdrawn: dict[str, str] = Field(
        default_factory=dict,
        description="instances found to be wrong after an earlier release, by id, with the reason",
    )
    experiment: ExperimentRecord | None = Field(
        default=None, description="what instances were drawn by, if any"
    )
    terse: dict[str, str] = Field(
        default_factory=dict,
        description="hash of the rows with terse prompts, by task that has them",
    )
    pictures: dict[str, TaskRecord] = Field(
        default_factory=dict,
        description="the instances with pictures, by task that has them",
    )
    ladder: LadderRecord | None = Field(
        default=None, description="the instances on rungs of rising difficulty, if any"
    )
    digest: str = Field(
        default="", description="SHA-256 of this file with an empty digest"
    )

    @property
    def is_generated(self) -> bool:
        """Whether it is a folder that `scbench generate` wrote, and no frozen release."""
        return self.experiment is not None and not is_version(own_name(self.version))

    @property
    def config(self) -> str:
        """The config that it is about, as if the release held nothing else; empty if not one."""
        return self.version.partition("+")[2]

    def rows_file(self, task_id: str) -> str:
        """Return the path, inside the release, of the instances that it is about."""
        files = {TERSE: terse_file, LADDER: ladder_file, PICTURES: pictures_file}
        return files.get(self.config, data_file)(task_id)

    @property
    def is_ladder(self) -> bool:
        """Whether all it is about stands on rungs: the config ``ladder``, or a drawn ladder."""
        return self.experiment is not None and bool(self.experiment.measures)

    @property
    def is_preview(self) -> bool:
        """Whether it is an alpha, beta or candidate: what it holds may still change."""
        match = _VERSION.fullmatch(own_name(self.version))
        return match is not None and match[4] is not None

    def of_terse(self) -> "Manifest":
        """Return the manifest as if the release held nothing but its config ``terse``.

        Its name ends in "+terse", so that results of both are never taken for those of one release.

        Raises:
            ReleaseError: the release has no terse prompts.
        """
        if not self.terse:
            raise ReleaseError(f"release {self.version} has no config {TERSE!r}")
        tasks = {
            task: self.tasks[task].model_copy(update={"rows_hash": digest, "seeds": {}})
            for task, digest in self.terse.items()
        }
        gone = self.withdrawn.items()
        withdrawn = {terse_id(name): why for name, why in gone if rung_of(name) is None}
        return self._of_config(PLUS_TERSE, tasks, withdrawn, None)

    def of_ladder(self) -> "Manifest":
        """Return the manifest as if the release held nothing but its config ``ladder``.

        Its name ends in "+ladder", as that of `of_terse` does in its own.

        Raises:
            ReleaseError: the release has no ladder.
        """
        if self.ladder is None:
            raise ReleaseError(f"release {self.version} has no config {LADDER!r}")
        gone = {
            name: why
            for name, why in self.withdrawn.items()
            if rung_of(name) is not None
        }
        experiment = self.ladder.experiment
        return self._of_config(PLUS_LADDER, self.ladder.tasks, gone, experiment)

    def of_pictures(self) -> "Manifest":
        """Return the manifest as if the release held nothing but its config ``pictures``.

        Raises:
            ReleaseError: the release has no pictures.
        """
        if not self.pictures:
            raise ReleaseError(f"release {self.version} has no config {PICTURES!r}")
        withdrawn = {
            picture_id(name, style): why
            for name, why in self.withdrawn.items()
            for style in STYLES
        }
        return self._of_config(PLUS_PICTURES, self.pictures, withdrawn, None)

    def of_config(self, config: str) -> "Manifest":
        """Return the manifest as if the release held nothing but this config beside the default.

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
        mark: str,
        tasks: dict[str, TaskRecord],
        withdrawn: dict[str, str],
        experiment: ExperimentRecord | None,
    ) -> "Manifest":
        fields = {"tasks": tasks, "withdrawn": withdrawn, "experiment": experiment}
        version = f"{self.version}{mark}"
        beside: dict[str, object] = {"terse": {}, "pictures": {}, "ladder": None}
        return self.model_copy(update={"version": version, **fields, **beside})

    @property
    def default_tasks(self) -> list[str]:
        """Tasks of the config ``default``, which are graded unless others are named.

        Of a frozen release and of a ladder, the spatial tasks, whether or not the paper has them.
        What else was generated is all wanted.
        """
        spatial = [
            task for task, record in self.tasks.items() if record.bucket != MANIFOLDS
        ]
        is_part = bool(spatial) and (self.is_ladder or not self.is_generated)
        return spatial if is_part else list(self.tasks)

    def named_tasks(self, names: Sequence[str] | None) -> list[str]:
        """Return the ids that names of tasks and buckets stand for; `default_tasks` if None.

        Raises:
            CatalogError: a name is not a task or bucket of the release.
        """
        if names is None:
            return self.default_tasks
        available = [
            *self.tasks,
            *dict.fromkeys(record.bucket for record in self.tasks.values()),
        ]
        for name in names:
            if name not in available:
                hint = did_you_mean(name, available)
                raise CatalogError(
                    f"task {name!r} is not in release {self.version}.{hint}"
                )
        return [
            task
            for task, record in self.tasks.items()
            if {task, record.bucket} & {*names}
        ]

    @property
    def default_records(self) -> dict[str, TaskRecord]:
        """The records of `default_tasks`."""
        return {task: self.tasks[task] for task in self.default_tasks}

    def board_records(self, part: str) -> dict[str, TaskRecord]:
        """Return the records of the tasks that a leaderboard is about.

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

        What can be computed anew is told apart by that; the digest is for the rest, such as the
        versions it was built with.
        """
        blank = self.model_copy(update={"digest": ""})
        return self.model_copy(update={"digest": sha256(blank.text())})

    def text(self) -> str:
        """Return the text of the manifest's file.

        Keys are not sorted: tasks stand in the order of the benchmark's tables.
        """
        record = self.model_dump(mode="json")
        # Left out where empty, so that manifests from before them keep their digests.
        for name in ("withdrawn", "experiment", "terse", "pictures", "ladder"):
            if not record[name]:
                del record[name]
        owners = (
            record,
            record.get("ladder", {}),
            {"tasks": record.get("pictures", {})},
        )
        for owner in owners:
            for part, name in (
                *(
                    (task, name)
                    for task in owner.get("tasks", {}).values()
                    for name in _OPTIONAL
                ),
                *(
                    (owner["experiment"], name)
                    for name in _OF_DRAWN
                    if "experiment" in owner
                ),
            ):
                if not part[name] and part[name] != 0:  # a weight may be 0
                    del part[name]
        return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def parse_manifest(data: bytes, root: Path, *, check_digest: bool = True) -> Manifest:
    """Parse a manifest.

    Args:
        data: the file's bytes.
        root: folder or archive of the release, for messages.
        check_digest: refuse a manifest that was changed after it was written.

    Raises:
        ReleaseError: it is no manifest, or was changed.
    """
    path = root / MANIFEST
    if len(data) > MOST_MANIFEST_BYTES:
        raise ReleaseError(f"{path} is far too large for a manifest")
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError as error:
        first = faults_of(error, 1)[0]
        hint = "; it may need a newer scbench" if first.at == "format" else ""
        message = str(first).partition("; got")[
            0
        ]  # it may be a link to what is no one's business
        raise ReleaseError(f"{path} is not a manifest: {message}{hint}") from None
    unseen = next(
        (text for text in _texts_in(manifest.model_dump()) if not text.isprintable()),
        None,
    )
    if unseen is not None:
        raise ReleaseError(
            f"{path} holds signs that cannot be shown: {printable(unseen)[:200]!r}"
        )
    if check_digest and manifest != manifest.sealed():
        raise ReleaseError(
            f"{path} was changed after it was frozen; `scbench release verify {root}` says more"
        )
    return manifest


def _texts_in(value: object) -> Iterator[str]:
    """Yield all texts in a manifest: they are printed and shown, whoever wrote them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from (text for part in pair for text in _texts_in(part))
    elif isinstance(value, list):
        for part in value:
            yield from _texts_in(part)
