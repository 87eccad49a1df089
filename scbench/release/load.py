"""Finding a release and reading its rows.

Each file is hashed before it is used, so a release that was changed after it was frozen is refused.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from pydantic import ValidationError

from scbench.base.canonical import sha256
from scbench.base.errors import (
    ReleaseError,
    did_you_mean,
    faults_of,
    reading_parquet,
)
from scbench.base.model import (
    CONFIGS,
    LADDER,
    PICTURES,
    TERSE,
    Instance,
    plain_id,
    rung_of,
    style_of,
    task_of,
    terse_id,
)
from scbench.machine.children import check_parquet
from scbench.release.manifest import (
    MANIFEST,
    MOST_MANIFEST_BYTES,
    PLUS_LADDER,
    PLUS_PICTURES,
    PLUS_TERSE,
    REFERENCES,
    Manifest,
    is_version,
    own_name,
    parse_manifest,
    version_key,
    weight_of,
)
from scbench.release.sources import (
    FolderSource,
    Source,
    fetch_snapshot,
    hub_name,
    open_archive,
)

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

# Maximum number of rows in one file. Without a limit, a tiny Parquet file could expand to any
# number of equal rows.
MOST_ROWS = 1_000_000
# Maximum number of errors in a row that a message contains.
_MOST_FAULTS = 3


@dataclass(frozen=True, slots=True)
class Reference:
    """A stored answer with its score: a reference (1.0) or a counter-reference (below 1.0).

    Attributes:
        id: id of the instance.
        kind: kind of the answer.
        name: name of the mistake in a counter-reference.
        answer: the answer, as canonical JSON.
        score: its score.
        floor: score of the instance's best trivial baseline, see `scbench.freezing.frozen_task`.
        floor_strategy: name of that baseline.
        unprinted: the instance's parameters that no row contains, see `scbench.base.model`; only
            with a reference.
        measure: difficulty of an instance on a ladder, see `Builder.measure`; only with a
            reference.
    """

    id: str
    kind: Literal["reference", "counter_reference"]
    name: str
    answer: str
    score: float
    floor: float = 0.0
    floor_strategy: str = ""
    unprinted: str | None = None
    measure: float | None = None


def right_answers(references: Iterable[Reference]) -> dict[str, str]:
    """Return the reference answer to each instance that has one, as JSON, by id."""
    return {ref.id: ref.answer for ref in references if ref.kind == "reference"}


class ReferenceRow(NamedTuple):
    """The part of a reference that grading needs.

    Attributes:
        id: id of the instance, in the release's config.
        floor: score of the instance's best trivial baseline.
        unprinted: the part of the instance that no row contains; None if there is none.
    """

    id: str
    floor: float
    unprinted: str | None


# Compared by identity (eq=False): it is the key of caches, and a manifest has no hash.
@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """A release on disk.

    Attributes:
        root: its folder, or zip archive.
        manifest: its manifest.
        source: returns the bytes of its files.
    """

    root: Path
    manifest: Manifest
    source: Source

    @property
    def version(self) -> str:
        """Its version, such as 2.0.0."""
        return self.manifest.version

    def terse(self) -> "Release":
        """Return its config ``terse`` as a release.

        Raises:
            ReleaseError: the release has no such config.
        """
        return replace(self, manifest=self.manifest.of_terse())

    def ladder(self) -> "Release":
        """Return its config ``ladder`` as a release; the release itself if it is a ladder.

        Raises:
            ReleaseError: the release has no such config.
        """
        if self.manifest.is_ladder:
            return self
        return replace(self, manifest=self.manifest.of_ladder())

    def pictures(self) -> "Release":
        """Return its config ``pictures`` as a release.

        Raises:
            ReleaseError: the release has no such config.
        """
        return replace(self, manifest=self.manifest.of_pictures())

    def choose(self, names: Sequence[str] | None) -> "tuple[Release, list[str] | None]":
        """Separate the config that names select from the tasks and buckets that they select.

        Args:
            names: names of tasks, buckets and configs; None for all.

        Returns:
            The config as a release, which is this one if no config is named; and the names of
            tasks and buckets, or None for all.

        Raises:
            ReleaseError: the release does not have the config, or several are named.
        """
        if names is None:
            return self, None
        configs = [config for config in CONFIGS if config in names]
        if len(configs) > 1:
            config_names = " and ".join(configs)
            raise ReleaseError(
                f"{config_names} are different configs, which are graded separately; give only "
                "one of them"
            )
        task_names = [name for name in names if name not in CONFIGS]
        if not configs:
            return self, task_names
        # Without names of tasks, a config means all its tasks.
        return self._of_config(configs[0]), task_names or None

    def fitting(self, name: str) -> "Release":
        """Return the config of an instance's id or a release's name.

        This is the release itself if the name has no config suffix.
        """
        config = config_of(name)
        return self._of_config(config) if config else self

    def _of_config(self, config: str) -> "Release":
        if self.manifest.config == config:
            return self
        if config == LADDER:
            return self.ladder()
        return replace(self, manifest=self.manifest.of_config(config))

    def read(self, name: str) -> bytes:
        """Return the bytes of a file of the release, after comparing them with the manifest.

        Raises:
            ReleaseError: the file is missing or differs from the manifest.
        """
        record = self.manifest.files.get(name)
        if record is None:
            raise ReleaseError(f"{self.root / MANIFEST} does not list the file {name}")
        try:
            data = self.source.read(name, record.bytes)
        except OSError as error:
            raise ReleaseError(
                f"release {self.version}: {self.root / name}: {error.strerror}"
            ) from None
        # Checked at every read, because a folder can change in between.
        if sha256(data) != record.sha256:
            raise ReleaseError(
                f"release {self.version}: {self.root / name} was changed after it was "
                f"frozen; for details run `scbench release verify {self.root}`"
            )
        return data

    def instances(self, tasks: Collection[str] | None = None) -> dict[str, Instance]:
        """Return the instances by id, with everything that graders need.

        Args:
            tasks: tasks to read; None for all.

        Raises:
            ReleaseError: a file is missing, differs from the manifest, or contains anything but
                instances.
        """
        selection = [
            task for task in self.manifest.tasks if tasks is None or task in tasks
        ]
        instances: dict[str, Instance] = {}
        if not selection:
            return instances
        unprinted = {}
        for reference in reference_rows(self):
            # Rows of counter-references have no such parameters, and must not replace those of the
            # reference.
            if reference.unprinted is not None:
                unprinted[reference.id] = reference.unprinted

        def instance_of(row: dict[str, Any]) -> Instance:
            images = tuple(image["bytes"] for image in row["images"])
            additions = {"images": images, "unprinted": unprinted.get(row["id"])}
            return Instance(**(row | additions))

        for task in selection:
            name = self.manifest.rows_file(task)
            rows = self._rows(name, instance_of)
            if not rows:
                raise ReleaseError(
                    f"release {self.version}: {name} contains no instances"
                )
            for instance in rows:
                if instance.id in instances:
                    raise ReleaseError(
                        f"release {self.version}: {name}: {instance.id} occurs twice"
                    )
                instances[instance.id] = instance
        return instances

    def ids(self, tasks: Collection[str]) -> list[str]:
        """Return the ids of the instances of some tasks, in the order of the references.

        Raises:
            ReleaseError: see `floors`.
        """
        # Every instance has one floor.
        return [row_id for row_id in self.floors() if task_of(row_id) in tasks]

    def references(self) -> list[Reference]:
        """Return reference and counter-reference answers.

        Raises:
            ReleaseError: a file is missing, differs from the manifest, or contains something else.
        """
        tasks = self.manifest.tasks
        references: list[Reference] = []
        for reference in self._rows(REFERENCES, _reference_of):
            # The file has the references of all configs.
            if task_of(reference.id) in tasks:
                ids = ids_in_config(self, reference.id)
                references += [replace(reference, id=row_id) for row_id in ids]
        return references

    def floors(self) -> dict[str, float]:
        """Return the floor of each instance: the score of its best trivial baseline.

        The result is by id, in the order of the references.

        Raises:
            ReleaseError: the references are missing or differ from the manifest, or a floor is
                not one score.
        """
        floors: dict[str, float] = {}
        for row in reference_rows(self):
            floor = row.floor
            # All rows of an instance must have the floor of the first.
            first_floor = floors.setdefault(row.id, floor)
            if not 0 <= floor <= 1 or first_floor != floor:
                raise ReleaseError(
                    f"release {self.version}: {self.root / REFERENCES}: the floor of "
                    f"{row.id} must be a single number from 0 to 1"
                )
        return floors

    def weights(self) -> dict[str, float]:
        """Return the weight of each task in the normalized score, see `weight_of`.

        Raises:
            ReleaseError: see `floors`, from which the weights are computed if the manifest has
                none.
        """
        records = self.manifest.tasks
        weights = {
            task: record.weight
            for task, record in records.items()
            if record.weight is not None
        }
        if len(weights) == len(records):
            return weights
        # For releases older than the weights, compute the weights from the floors, as today.
        floors_by_task: dict[str, list[float]] = {task: [] for task in records}
        for row_id, floor in self.floors().items():
            task = task_of(row_id)
            if task in floors_by_task:
                floors_by_task[task].append(floor)
        return {task: weight_of(floors) for task, floors in floors_by_task.items()}

    def _rows(self, name: str, make: Callable[[dict[str, Any]], T]) -> list[T]:
        rows, label = read_frame(self, name)
        try:
            return [make(row) for row in rows.to_dicts()]
        except ValidationError as error:
            faults = "; ".join(map(str, faults_of(error, _MOST_FAULTS)))
            raise ReleaseError(f"{label} has the wrong content: {faults}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise ReleaseError(
                f"{label} has the wrong content: {type(error).__name__}: {error}"
            ) from error


def _reference_of(row: dict[str, Any]) -> Reference:
    # Older releases do not have columns that were added later, such as the measures.
    columns = Reference.__slots__
    return Reference(**{name: row[name] for name in columns if name in row})


@lru_cache(maxsize=4)
def reference_rows(release: Release) -> Sequence[ReferenceRow]:
    """Return the distinct rows of the references with only the columns for grading; cached."""
    frame, _ = read_frame(release, REFERENCES, ["id", "floor", "unprinted"])
    rows: list[ReferenceRow] = []
    # An instance has a row for each of its answers; most of these columns are equal.
    unique = frame.unique(maintain_order=True)
    for plain_row_id, floor, unprinted in unique.iter_rows():
        ids = ids_in_config(release, plain_row_id)
        rows += [ReferenceRow(row_id, floor, unprinted) for row_id in ids]
    return rows


def ids_in_config(release: Release, row_id: str) -> Sequence[str]:
    """Return the ids that an instance in the references has in a release's config.

    The list is empty if the config does not contain the instance, and has several ids if the config
    contains it in several styles of pictures.
    """
    config = release.manifest.config
    if config == PICTURES:
        return pictured_ids(release).get(row_id, ())
    # A ladder contains exactly the instances on rungs.
    is_on_rung = rung_of(row_id) is not None
    if release.manifest.is_ladder != is_on_rung:
        return ()
    return [terse_id(row_id) if config == TERSE else row_id]


@lru_cache(maxsize=4)
def pictured_ids(release: Release) -> Mapping[str, Sequence[str]]:
    """Return the ids of instances with pictures, by their id without the style."""
    ids: dict[str, list[str]] = {}
    for task in release.manifest.tasks:
        rows, _ = read_frame(release, release.manifest.rows_file(task), ["id"])
        for row_id in rows["id"]:
            ids.setdefault(plain_id(row_id), []).append(row_id)
    return ids


def read_frame(
    release: Release, name: str, columns: list[str] | None = None
) -> "tuple[pl.DataFrame, str]":
    """Read a Parquet file of a release; return it with a label of the file for messages.

    Raises:
        ReleaseError: the file is missing, damaged, too large or differs from the manifest.
    """
    import polars as pl  # noqa: PLC0415  (heavy; most commands never read rows)

    data = BytesIO(release.read(name))
    label = f"release {release.version}: {release.root / name}"
    # Installed releases are part of the package and are trusted like its code. Any
    # other file could crash the Parquet reader, so a child process reads it first.
    is_installed = release.root.resolve().parent == _installed_folder().resolve()
    if not is_installed:
        check_parquet(data.getvalue(), label, ReleaseError)
    # Read one row more than the limit, to detect files with too many.
    with reading_parquet(label, ReleaseError):
        rows = pl.read_parquet(data, columns=columns, n_rows=MOST_ROWS + 1)
    if rows.height > MOST_ROWS:
        raise ReleaseError(f"{label} has more than {MOST_ROWS:,} rows")
    return rows, label


def config_of(name: str) -> str:
    """Return the config of an instance's id or a release's name; empty for the default."""
    # terse_id("") is the suffix that all terse ids have.
    if name.endswith((PLUS_TERSE, terse_id(""))):
        return TERSE
    if name.endswith(PLUS_PICTURES) or style_of(name):
        return PICTURES
    if name.endswith(PLUS_LADDER) or rung_of(name):
        return LADDER
    return ""


def installed_releases() -> Mapping[str, Path]:
    """Return the releases that came with this package, by version, oldest first."""
    manifests = _installed_folder().glob(f"*/{MANIFEST}")
    folders = {path.parent.name: path.parent for path in manifests}
    return {name: folders[name] for name in sorted(folders, key=version_key)}


def _installed_folder() -> Path:
    return Path(str(files("scbench.releases")))


def find_release(name: str | None = None) -> Release:
    """Find a release.

    Args:
        name: a version that came with the package, a folder, a ``.zip`` archive, or
            ``ORG/NAME@REVISION`` on the Hub (downloaded unless it is cached); None for the newest
            installed one. The path of a folder that looks like a version or a name on the Hub
            starts with ``./``. A suffix "+terse", "+ladder" or "+pictures" selects that config.

    Raises:
        ReleaseError: there is no such release, or it is damaged.
        HubError: the release cannot be downloaded.
    """
    for suffix in (PLUS_TERSE, PLUS_LADDER, PLUS_PICTURES):
        if name is not None and name.endswith(suffix):
            # A suffix alone selects the config of the newest release.
            whole_release = find_release(name.removesuffix(suffix) or None)
            return whole_release.fitting(name)
    installed = installed_releases()
    if name is None:
        if not installed:
            raise ReleaseError(
                "no release is installed; give a folder with --release, or build one with "
                "`scbench release build`"
            )
        newest = list(installed)[-1]
        return open_release(installed[newest])
    if name in installed:
        return open_release(installed[name])
    # The working folder may be from a stranger, so its files never replace a release on
    # the Hub or a version. ``./`` before the name makes it a path.
    on_hub = hub_name(name)
    if on_hub:
        return open_release(fetch_snapshot(*on_hub))
    is_path = not is_version(name)
    if is_path and os.path.exists(name):  # noqa: PTH110  (Path.exists raises if the name is too long)
        return open_release(Path(name))
    hint = ""
    if is_version(name) and os.path.exists(name):  # noqa: PTH110  (as above)
        hint = f" For the folder here, write ./{name}."
    # A Hub name without a revision.
    if hub_name(f"{name}@main") is not None:
        hint = f" For the Hub, add a revision: {name}@v2.0.0."
    raise ReleaseError(
        f"no release {name!r}: it is not an installed version "
        f"({', '.join(installed) or 'none'}), a folder, a .zip file or ORG/NAME@REVISION "
        f"on the Hub.{hint or did_you_mean(name, installed)}"
    )


def release_in_results(version: str, name: str | None = None) -> Release:
    """Return the release of results, with the config that they name.

    Args:
        version: the release that the results name. It must be installed: results may be from a
            stranger, so they cannot name a folder or a release on the Hub.
        name: another name for it, from the user (see `find_release`).

    Raises:
        ReleaseError: there is no such release, or it is damaged.
    """
    if name:
        return find_release(name).fitting(version)
    installed = installed_releases()
    if own_name(version) not in installed:
        raise ReleaseError(
            f"release {version[:200]!r} is not installed ({', '.join(installed) or 'none'}); "
            "give its folder with --release"
        )
    return open_release(installed[own_name(version)]).fitting(version)


def open_release(root: Path) -> Release:
    """Open the release in a folder or zip archive.

    Raises:
        ReleaseError: there is no release, or its manifest was changed.
    """
    source = FolderSource(root) if root.is_dir() else open_archive(root)
    try:
        data = source.read(MANIFEST, MOST_MANIFEST_BYTES)
    except OSError as error:
        raise ReleaseError(
            f"{root} is not a release folder: {MANIFEST}: {error.strerror}"
        ) from None
    return Release(root, parse_manifest(data, root), source)
