"""What a manifest holds of each part of a release: its tasks, files, and what was drawn."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

_PART = r"\.?[A-Za-z0-9_][A-Za-z0-9_.-]*"
# Releases come from outside, too, and are copied by these names: none may lead out of the folder.
FilePath = Annotated[str, Field(pattern=rf"^({_PART}/)*{_PART}$")]


class Part(BaseModel):
    """Of a manifest: frozen, with no keys but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FloorRecord(Part):
    """What the manifest holds of a task's floors, see `scbench.freezing.floors`."""

    mean: float = Field(description="over the instances")
    strategies: dict[str, int] = Field(
        description="in how many instances an answer without insight is the best, by its name; "
        "instances that such answers earn nothing in are not counted"
    )


class TaskRecord(Part):
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


class ReferencesRecord(Part):
    """What the manifest holds of the reference answers."""

    references: int
    counter_references: int
    rows_hash: str


class FileRecord(Part):
    """Transport identity of one file."""

    sha256: str
    bytes: int


class ShortfallRecord(Part):
    """A point that could not give as many cases as were asked for."""

    task: str
    point: dict[str, JsonValue] = Field(description="its parameters")
    asked: int
    got: int
    reason: str


class ExperimentRecord(Part):
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


class LadderRecord(Part):
    """What the manifest holds of the config ``ladder``."""

    experiment: ExperimentRecord
    tasks: dict[str, TaskRecord] = Field(min_length=1)
