"""Publishing a release to a folder, or to a URL that fsspec can write to.

A target has one folder for each version, and ``index.json``::

    {"name": "scbench", "releases": {"2.0.0": {"path": "2.0.0", "digest": ..., "rows_hash": ...}}}
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scbench.base.errors import ReleaseError
from scbench.base.progress import no_progress
from scbench.freezing.copies import export_release, verify_copy
from scbench.machine.files import write_whole
from scbench.release.load import Release
from scbench.release.manifest import MANIFEST, MOST_MANIFEST_BYTES, version_key
from scbench.release.sources import FolderSource, Source

INDEX = "index.json"

# A file system of fsspec, which ships no types.
System = Any


@dataclass(frozen=True, slots=True)
class Remote:
    """A release at a target of fsspec."""

    system: System
    path: str

    def read(self, name: str, limit: int) -> bytes:
        """See `scbench.release.sources.Source`."""
        # One byte more shows that a file is too long.
        data: bytes = self.system.cat_file(f"{self.path}/{name}", end=limit + 1)
        return data

    def names(self) -> set[str]:
        """See `scbench.release.sources.Source`."""
        if not self.system.exists(self.path):
            return set()
        # Some systems put a protocol or a root before the path.
        paths = self.system.find(self.path)
        return {path.split(f"{self.path}/", 1)[-1] for path in paths}


def publish_to_target(
    release: Release,
    target: str,
    say: Callable[[str], object] = no_progress,
    *,
    dry_run: bool = False,
) -> None:
    """Copy a verified release to a folder or URL, compare the copy, and add it to the index.

    An interrupted copy is completed. An existing version is only compared.

    Raises:
        ReleaseError: the version exists with another content, the target cannot be used, or the
            copy differs from the release.
    """
    try:
        system, base = resolve_target(target)
        _publish(release, system, base, say, dry_run=dry_run)
    except (ReleaseError, ModuleNotFoundError):
        raise
    except Exception as error:
        first = " ".join(str(error).split())[:300]
        raise ReleaseError(
            f"{target} cannot be used: {type(error).__name__}: {first}; fix this and run "
            "the same command again to continue"
        ) from error


def resolve_target(target: str) -> tuple[System | None, str]:
    """Return the file system of a target (None for the local one) and the path on it."""
    if "://" not in target:
        return None, str(Path(target).absolute())
    import fsspec  # type: ignore[import-untyped]  # noqa: PLC0415  (an extra)

    system, path = fsspec.url_to_fs(target)
    # On a local disk, files appear only when they are complete, which fsspec does not promise.
    is_local = "local" in system.protocol
    return (None if is_local else system), path.rstrip("/")


def _publish(
    release: Release,
    system: System | None,
    base: str,
    say: Callable[[str], object],
    *,
    dry_run: bool,
) -> None:
    path = f"{base}/{release.version}"
    copy: Source = Remote(system, path) if system else FolderSource(Path(path))
    # An interrupted copy has files but no manifest, and is completed.
    present = copy.names()
    foreign = sorted(present - release.manifest.files.keys())
    if MANIFEST in present:
        problems = list(verify_copy(release.manifest, copy))
        if problems:
            raise ReleaseError(
                f"{path} contains a different release (first difference: {problems[0]}); "
                "releases never change, so give this one a new version"
            )
        say(f"{path} already contains this release")
    elif foreign:
        raise ReleaseError(
            f"{path} contains {foreign[0]}, which does not belong to the release"
        )
    else:
        say(f"copy {len(release.manifest.files) + 1} files to {path}")
        if not dry_run:
            send_files(release, system, path)
            problems = list(verify_copy(release.manifest, copy))
            if problems:
                raise ReleaseError(
                    f"{path}: the uploaded copy differs from the release: {'; '.join(problems[:5])}"
                )
    say(f"add {release.version} to {base}/{INDEX}")
    if not dry_run:
        add_to_index(release, system, base)


def send_files(release: Release, system: System | None, path: str) -> None:
    """Copy the files of a release to a target."""
    if system is None:
        export_release(release, Path(path))
        return
    for name in release.manifest.files:
        parent = f"{path}/{name}".rpartition("/")[0]
        system.makedirs(parent, exist_ok=True)
        system.pipe_file(f"{path}/{name}", release.read(name))
    # Without a manifest the copy is not a release, so the manifest comes last.
    manifest_data = release.source.read(MANIFEST, MOST_MANIFEST_BYTES)
    system.pipe_file(f"{path}/{MANIFEST}", manifest_data)


def add_to_index(release: Release, system: System | None, base: str) -> None:
    """Write the entry of a release into the index of a target.

    Raises:
        ReleaseError: the index file is not an index of releases.
    """
    file = f"{base}/{INDEX}"
    try:
        old = system.cat_file(file) if system else Path(file).read_bytes()
    except FileNotFoundError:
        old = b"{}"
    try:
        releases = json.loads(old).get("releases", {})
        entries = {name: dict(entry) for name, entry in releases.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise ReleaseError(
            f"{file} is not an index of releases ({error}); move it elsewhere"
        ) from None
    manifest = release.manifest
    entries[release.version] = {
        "path": release.version,
        "digest": manifest.digest,
        "rows_hash": manifest.rows_hash,
        "tasks": len(manifest.tasks),
        "instances": manifest.instances,
        "scores": manifest.scores,
        "withdrawn": len(manifest.withdrawn),
    }
    # Oldest first.
    ordered = {name: entries[name] for name in sorted(entries, key=version_key)}
    index = {"name": manifest.name, "releases": ordered}
    text = json.dumps(index, indent=1) + "\n"
    if system:
        system.pipe_file(file, text.encode())
        return
    write_whole(Path(file), lambda part: part.write_text(text, "utf-8"))
