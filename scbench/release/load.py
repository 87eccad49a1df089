"""Finding a release and reading its rows.

Each file is hashed before it is used, so a release that was changed after it was frozen is refused.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from scbench.base.canonical import sha256
from scbench.base.errors import ReleaseError, did_you_mean, reading_parquet
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


# More in one file are refused: a few bytes of Parquet can claim any number of equal
# rows.
MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Reference:
    """A stored answer with its score: a reference (1.0) or a counter-reference (below 1.0).

    Both hold the floor, see `scbench.freezing.frozen_task`. A reference also holds what the
    instance's row may not, see `scbench.base.model`, and of an instance on a ladder, how hard
    that is, see `Builder.measure`.
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


@dataclass(
    frozen=True, slots=True, eq=False
)  # one is as good as its folder, and can be a key
class Release:
    """A release on disk.

    Attributes:
        root: its folder, or zip archive.
        manifest: what it says about itself.
        source: gives the bytes of its files.
    """

    root: Path
    manifest: Manifest
    source: Source

    @property
    def version(self) -> str:
        """Its version, such as 2.0.0."""
        return self.manifest.version

    def terse(self) -> "Release":
        """Return its config ``terse`` as a release of its own.

        Raises:
            ReleaseError: it has none.
        """
        return replace(self, manifest=self.manifest.of_terse())

    def ladder(self) -> "Release":
        """Return its config ``ladder`` as a release of its own; itself if it is a drawn ladder.

        Raises:
            ReleaseError: it has none.
        """
        return (
            self
            if self.manifest.is_ladder
            else replace(self, manifest=self.manifest.of_ladder())
        )

    def pictures(self) -> "Release":
        """Return its config ``pictures`` as a release of its own.

        Raises:
            ReleaseError: it has none.
        """
        return replace(self, manifest=self.manifest.of_pictures())

    def choose(self, names: Sequence[str] | None) -> "tuple[Release, list[str] | None]":
        """Return what names of tasks, buckets and configs are about, and the others of them.

        Raises:
            ReleaseError: a config is named that the release has not; or several are.
        """
        beside = {*(names or ())} & {*CONFIGS}
        if names is None or not beside:
            return self, None if names is None else [*names]
        if len(beside) > 1:
            several = " and ".join(name for name in CONFIGS if name in beside)
            raise ReleaseError(f"{several} are graded apart: name one of them")
        names_left = [name for name in names if name not in beside]
        return self._beside(beside.pop()), names_left or None

    def fitting(self, name: str) -> "Release":
        """Return its config that a name is of, if one is: of an instance, or of a release."""
        config = config_of(name)
        return self._beside(config) if config else self

    def _beside(self, config: str) -> "Release":
        if self.manifest.config == config:
            return self
        makers = {TERSE: self.terse, LADDER: self.ladder, PICTURES: self.pictures}
        return makers[config]()

    def read(self, name: str) -> bytes:
        """Return the bytes of one of its files, after comparing them with the manifest.

        Raises:
            ReleaseError: the file is missing or is not what the manifest says.
        """
        record = self.manifest.files.get(name)
        if record is None:
            raise ReleaseError(f"{self.root / MANIFEST} lists no file {name}")
        try:
            data = self.source.read(name, record.bytes)
        except OSError as error:
            raise ReleaseError(
                f"release {self.version}: {self.root / name}: {error.strerror}"
            ) from None
        if sha256(data) != record.sha256:
            raise ReleaseError(
                f"release {self.version}: {self.root / name} was changed after it was frozen; "
                f"`scbench release verify {self.root}` says more"
            )
        return data

    def instances(self, tasks: Collection[str] | None = None) -> dict[str, Instance]:
        """Return the instances by id, of all tasks or of those named, with all that grades them.

        Raises:
            ReleaseError: a file is missing, is not what the manifest says, or holds no instances.
        """
        selection = [
            task for task in self.manifest.tasks if tasks is None or task in tasks
        ]
        instances: dict[str, Instance] = {}
        unprinted = self._unprinted() if selection else {}
        for task in selection:
            name = self.manifest.rows_file(task)
            for instance in self._rows(name, lambda row: _instance_row(row, unprinted)):
                if instance.id in instances:
                    raise ReleaseError(
                        f"release {self.version}: {name}: {instance.id} is there twice"
                    )
                instances[instance.id] = instance
        return instances

    def ids(self, tasks: Collection[str]) -> list[str]:
        """Return the ids of the instances of some tasks, in order, as the references name them.

        Raises:
            ReleaseError: as `floors`.
        """
        return [row_id for row_id in self.floors() if task_of(row_id) in tasks]

    def references(self) -> list[Reference]:
        """Return reference and counter-reference answers.

        Raises:
            ReleaseError: as `instances`.
        """
        rows = self._rows(REFERENCES, _reference_row)
        tasks = self.manifest.tasks
        return [
            replace(row, id=name)
            for row in rows
            if task_of(row.id) in tasks
            for name in _ids_here(self, row.id)
        ]

    def floors(self) -> dict[str, float]:
        """Return by id what the best answer without insight scores, in the references' order.

        Raises:
            ReleaseError: as `instances`; or a floor is not one score.
        """
        floors: dict[str, float] = {}
        for row_id, floor, _ in _beside_rows(self):
            if not 0 <= floor <= 1 or floors.setdefault(row_id, floor) != floor:
                raise ReleaseError(
                    f"release {self.version}: {self.root / REFERENCES}: the floor of {row_id} is "
                    "not one number from 0 to 1"
                )
        return floors

    def weights(self) -> dict[str, float]:
        """Return the weight of each task in the normalized score, see `weight_of`.

        Raises:
            ReleaseError: as `floors`, which tell the weights where the manifest does not.
        """
        records = self.manifest.tasks
        if all(record.weight is not None for record in records.values()):
            return {task: record.weight or 0.0 for task, record in records.items()}
        floors: dict[str, list[float]] = {task: [] for task in records}
        for row_id, floor in self.floors().items():
            floors.get(task_of(row_id), []).append(floor)
        return {task: weight_of(of_task) for task, of_task in floors.items()}

    def _unprinted(self) -> dict[str, str]:
        return {
            row_id: text for row_id, _, text in _beside_rows(self) if text is not None
        }

    def _rows(self, name: str, make: Callable[[dict[str, Any]], T]) -> list[T]:
        rows, what = _read_frame(self, name)
        try:
            return [make(row) for row in rows.to_dicts()]
        except (KeyError, TypeError, ValueError) as error:
            raise ReleaseError(
                f"{what} does not hold what it should: {type(error).__name__}: {error}"
            ) from error


def _ids_here(release: Release, row_id: str) -> Sequence[str]:
    """Return the ids, here, of an instance that the references name; most often one."""
    config = release.manifest.config
    if config == PICTURES:
        return _pictured_ids(release).get(row_id, ())
    if release.manifest.is_ladder != (rung_of(row_id) is not None):
        return ()
    return [terse_id(row_id) if config == TERSE else row_id]


@lru_cache(maxsize=4)
def _beside_rows(release: Release) -> Sequence[tuple[str, float, str | None]]:
    """Return own id, floor and what rows may not hold, each combination once; read once."""
    rows, _ = _read_frame(release, REFERENCES, ["id", "floor", "unprinted"])
    # Each instance has a row for each of its answers, and most of them hold the same.
    return [
        (name, floor, unprinted)
        for row_id, floor, unprinted in rows.unique(maintain_order=True).iter_rows()
        for name in _ids_here(release, row_id)
    ]


@lru_cache(maxsize=4)
def _pictured_ids(release: Release) -> Mapping[str, Sequence[str]]:
    """Return the ids of instances with pictures, by that of the instance without."""
    ids: dict[str, list[str]] = {}
    for task in release.manifest.tasks:
        rows, _ = _read_frame(release, release.manifest.rows_file(task), ["id"])
        for row_id in rows["id"]:
            ids.setdefault(plain_id(row_id), []).append(row_id)
    return ids


def _read_frame(
    release: Release, name: str, columns: list[str] | None = None
) -> "tuple[pl.DataFrame, str]":
    import polars as pl  # noqa: PLC0415  (heavy; most commands never read rows)

    data = BytesIO(release.read(name))
    what = f"release {release.version}: {release.root / name}"
    if not _is_installed(release.root):
        check_parquet(data.getvalue(), what, ReleaseError)
    with reading_parquet(what, ReleaseError):
        rows = pl.read_parquet(data, columns=columns, n_rows=MOST_ROWS + 1)
    if rows.height > MOST_ROWS:
        raise ReleaseError(f"{what} has more than {MOST_ROWS:,} rows")
    return rows, what


def _is_installed(root: Path) -> bool:
    """Return whether a release came with this package: then it is trusted as our code is."""
    return root.resolve().parent == _home().resolve()


def config_of(name: str) -> str:
    """Return the config beside the default that an id or a version is of; else nothing."""
    if name.endswith((PLUS_TERSE, terse_id(""))):
        return TERSE
    if name.endswith(PLUS_PICTURES) or style_of(name):
        return PICTURES
    return LADDER if name.endswith(PLUS_LADDER) or rung_of(name) else ""


def _instance_row(row: dict[str, Any], unprinted: Mapping[str, str | None]) -> Instance:
    images = tuple(image["bytes"] for image in row["images"])
    return Instance(**{**row, "images": images, "unprinted": unprinted.get(row["id"])})


_OF_REFERENCES = frozenset(Reference.__slots__)


def _reference_row(row: dict[str, Any]) -> Reference:
    # Releases from before the ladder have no measures.
    return Reference(
        **{"measure": None, **{k: v for k, v in row.items() if k in _OF_REFERENCES}}
    )


def installed_releases() -> Mapping[str, Path]:
    """Return the releases that came with this package, by version, oldest first."""
    folders = [path.parent for path in _home().glob(f"*/{MANIFEST}")]
    return {
        path.name: path
        for path in sorted(folders, key=lambda path: version_key(path.name))
    }


def _home() -> Path:
    return Path(str(files("scbench.releases")))


def find_release(name: str | None = None) -> Release:
    """Find a release.

    Args:
        name: a version that came with the package, a folder, a ``.zip`` archive, or
            ``ORG/NAME@REVISION`` on the Hub (downloaded unless it is cached); None for the newest
            installed. With "+terse", "+ladder" or "+pictures" at its end, that config of it.

    Raises:
        ReleaseError: there is no such release, or it is damaged.
        HubError: it is to come from the Hub, and cannot.
    """
    for mark in (PLUS_TERSE, PLUS_LADDER, PLUS_PICTURES):
        if name is not None and name.endswith(mark):
            return find_release(name.removesuffix(mark) or None).fitting(name)
    installed = installed_releases()
    if name is None:
        if not installed:
            raise ReleaseError(
                "no release is installed; name a folder with --release, "
                "or make one with `scbench release build`"
            )
        return open_release(list(installed.values())[-1])
    if name in installed:
        return open_release(installed[name])
    if os.path.exists(name):  # noqa: PTH110  (Path.exists raises if the name is too long)
        return open_release(Path(name))
    on_hub = hub_name(name)
    if on_hub:
        return open_release(fetch_snapshot(*on_hub))
    is_repo = hub_name(f"{name}@main") is not None
    hint = f" For the Hub, name a revision too: {name}@v2.0.0." if is_repo else ""
    raise ReleaseError(
        f"no release {name!r}: it is neither a folder, a .zip file, ORG/NAME@REVISION on the Hub "
        f"nor one of the installed versions ({', '.join(installed) or 'none'})."
        f"{hint or did_you_mean(name, installed)}"
    )


def open_release(root: Path) -> Release:
    """Open the release in a folder or zip archive.

    Raises:
        ReleaseError: there is none, or its manifest was changed.
    """
    source = FolderSource(root) if root.is_dir() else open_archive(root)
    try:
        data = source.read(MANIFEST, MOST_MANIFEST_BYTES)
    except OSError as error:
        raise ReleaseError(
            f"{root} is not a release folder: {MANIFEST}: {error.strerror}"
        ) from None
    return Release(root, parse_manifest(data, root), source)
