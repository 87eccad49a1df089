"""Copies of a release: a folder, in a folder of versions, at a URL, on the Hub, and proven equal.

A target of fsspec, or a folder, that releases are published to holds one folder for each version,
and ``index.json``::

    {"name": "scbench", "releases": {"2.0.0": {"path": "2.0.0", "digest": ..., "rows_hash": ...}}}

On the Hub it is one commit and one version tag, which is never moved. What was interrupted is taken
up: files that arrived are not sent again, a commit without its tag is tagged, a tag
without its proof is proven.
"""

import json
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scbench.base.canonical import sha256
from scbench.base.errors import HubError, ReleaseError
from scbench.base.progress import no_progress
from scbench.freezing.compare import error_line, one_line
from scbench.machine.files import scratch_beside, write_whole
from scbench.release.load import Release
from scbench.release.manifest import (
    CARD,
    MANIFEST,
    MOST_MANIFEST_BYTES,
    Manifest,
    version_key,
)
from scbench.release.sources import (
    NOT_SENT,
    OWN_FILES,
    FolderSource,
    Source,
    hub_errors,
    hub_name,
    tag_of,
)

if TYPE_CHECKING:
    from huggingface_hub import HfApi


INDEX = "index.json"

# A file system of fsspec, which ships no types.
System = Any


# What a repository may hold before its first release: made with it, or by hand on its
# page.
_STARTERS = {*OWN_FILES, CARD}


def export_release(release: Release, out: Path) -> None:
    """Copy a release to a folder, which must not exist or be empty, whole or not at all.

    Raises:
        ReleaseError: the folder holds something or cannot be made, or a file of the release is
            not what the manifest says.
    """
    try:
        _fill_folder(release, out)
    except OSError as error:
        raise ReleaseError(f"{out} cannot be made: {error}") from error


def _fill_folder(release: Release, out: Path) -> None:
    exists = out.is_symlink() or out.exists()
    if exists and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(
            f"{out} exists and is not an empty folder; name another folder"
        )
    # An empty folder is filled, not replaced: it may be a mount point, or where the user stands.
    with scratch_beside(out / "release" if exists else out) as scratch:
        copy = scratch / "release"
        copy.mkdir()
        for name in release.manifest.files:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(release.read(name))
        (copy / MANIFEST).write_bytes(
            release.source.read(MANIFEST, MOST_MANIFEST_BYTES)
        )
        if not exists:
            copy.rename(out)
            return
        # Without the manifest it is not a release, so that comes last.
        for path in sorted(copy.iterdir(), key=lambda path: path.name == MANIFEST):
            path.rename(out / path.name)


def verify_copy(
    manifest: Manifest,
    source: Source,
    ignored: Collection[str] = (),
    not_sent: Collection[str] = (),
) -> Iterator[str]:
    """Yield how a copy differs from the release that a manifest describes, byte by byte.

    For copies of what was verified already: nothing is made anew. The copy may hold what is
    ``ignored`` besides, and lack what is ``not_sent``.
    """
    present = source.names()
    for name in sorted(present - manifest.files.keys() - {MANIFEST, *ignored}):
        yield f"{one_line(name)}: is there, though the release has no such file"
    expected = {
        name: (record.bytes, record.sha256) for name, record in manifest.files.items()
    }
    text = manifest.text().encode()
    for name, (size, digest) in (
        {MANIFEST: (len(text), sha256(text))} | expected
    ).items():
        if name in not_sent and name not in present:
            continue
        try:
            data = source.read(name, size)
        except (OSError, ReleaseError) as error:
            yield f"{name}: cannot be read: {error_line(error)}"
            continue
        if sha256(data) != digest:
            yield f"{name}: is not the release's (SHA-256 differs)"


@dataclass(frozen=True, slots=True)
class Remote:
    """A release at a target of fsspec."""

    system: System
    path: str

    def read(self, name: str, limit: int) -> bytes:
        """See `scbench.release.sources.Source`."""
        data: bytes = self.system.cat_file(f"{self.path}/{name}", end=limit + 1)
        return data

    def names(self) -> set[str]:
        """See `scbench.release.sources.Source`."""
        if not self.system.exists(self.path):
            return set()
        return {
            path.split(f"{self.path}/", 1)[-1] for path in self.system.find(self.path)
        }


def publish_to_target(
    release: Release,
    target: str,
    say: Callable[[str], object] = no_progress,
    *,
    dry_run: bool = False,
) -> None:
    """Copy a verified release to a folder or URL, prove that it arrived, and put it into an index.

    A copy that was interrupted is completed. A version that is there already is only compared.

    Raises:
        ReleaseError: the version is there with another content, the target cannot be used, or
            what comes back is not what was sent.
    """
    try:
        system, base = _resolve(target)
        _publish(release, system, base, say, dry_run=dry_run)
    except (ReleaseError, ModuleNotFoundError):
        raise
    except Exception as error:
        first = " ".join(str(error).split())[:300]
        raise ReleaseError(
            f"{target} cannot be used: {type(error).__name__}: {first}; once it can, run the same "
            "command again, and it continues where this one stopped"
        ) from error


def _resolve(target: str) -> tuple[System | None, str]:
    """Return the file system of a target, None for the plain one, and the path on it."""
    if "://" not in target:
        return None, str(Path(target).absolute())
    import fsspec  # type: ignore[import-untyped]  # noqa: PLC0415  (an extra)

    system, path = fsspec.url_to_fs(target)
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
    there = copy.names()
    if MANIFEST in there:
        problems = list(verify_copy(release.manifest, copy))
        if problems:
            raise ReleaseError(
                f"{path} holds another release (first difference: {problems[0]}); a release is "
                "never changed: give this one a new version"
            )
        say(f"{path} holds this release already")
    elif foreign := sorted(there - release.manifest.files.keys()):
        raise ReleaseError(
            f"{path} holds {foreign[0]}, which is no part of the release"
        )
    else:
        say(f"{len(release.manifest.files) + 1} files to {path}")
        if not dry_run:
            _send(release, system, path)
            problems = list(verify_copy(release.manifest, copy))
            if problems:
                raise ReleaseError(
                    f"{path}: not what was sent: {'; '.join(problems[:5])}"
                )
    say(f"{release.version} into {base}/{INDEX}")
    if not dry_run:
        _enter(release, system, base)


def _send(release: Release, system: System | None, path: str) -> None:
    if system is None:
        export_release(release, Path(path))
        return
    for name in release.manifest.files:
        parent = f"{path}/{name}".rpartition("/")[0]
        system.makedirs(parent, exist_ok=True)
        system.pipe_file(f"{path}/{name}", release.read(name))
    # Without the manifest it is not a release, so that comes last.
    system.pipe_file(
        f"{path}/{MANIFEST}", release.source.read(MANIFEST, MOST_MANIFEST_BYTES)
    )


def _enter(release: Release, system: System | None, base: str) -> None:
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
            f"{file} is no index of releases ({error}); move it away"
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
    ordered = {name: entries[name] for name in sorted(entries, key=version_key)}
    text = json.dumps({"name": manifest.name, "releases": ordered}, indent=1) + "\n"
    if system:
        system.pipe_file(file, text.encode())
        return
    write_whole(Path(file), lambda part: part.write_text(text, "utf-8"))


@dataclass(frozen=True, slots=True)
class Plan:
    """What publishing will do.

    There is no user without a token, which a dry run allows, and no head (newest commit of the main
    branch) without a repository. Deleted are files of the release before, that this one does not
    have.
    """

    repo: str
    tag: str
    user: str | None
    exists: bool
    tagged: bool
    head: str | None
    deleted: tuple[str, ...]

    def lines(self, release: Release) -> list[str]:
        """Return what will be done, in sentences."""
        if self.tagged:
            return [f"{self.repo} has {self.tag} already: compare it with the release"]
        files = _sent(release)
        size = sum((release.root / name).stat().st_size for name in files)
        user = f"as {self.user}, " if self.user else ""
        return [
            *([] if self.exists else [f"create the data set repository {self.repo}"]),
            (
                f"{user}upload {len(files)} files ({size:,} bytes) "
                f"to {self.repo} in one commit; those that are there already are not sent again"
            ),
            *(
                f"leave out {name}: the Hub refuses evaluation frameworks that are not on its list"
                for name in sorted(NOT_SENT & release.manifest.files.keys())
            ),
            *(
                []
                if self.user
                else ["ask for a token: set HF_TOKEN, or run `hf auth login`"]
            ),
            *(
                f"delete {name}, which this release does not have"
                for name in self.deleted
            ),
            f"tag the commit {self.tag}",
            f"download {self.tag} and compare every byte",
        ]


def _sent(release: Release) -> list[str]:
    return [
        name for name in (MANIFEST, *release.manifest.files) if name not in NOT_SENT
    ]


def plan_upload(release: Release, repo: str, *, dry_run: bool = False) -> Plan:
    """Look at the Hub and decide what there is to do; nothing is changed, a dry run needs no token.

    Raises:
        HubError: no or a wrong token, no connection, or the repository holds something else.
    """
    if hub_name(f"{repo}@main") is None:
        raise HubError(f"{repo!r} is no repository of the Hub; name one as ORG/NAME")
    with hub_errors(repo):
        from huggingface_hub import HfApi  # noqa: PLC0415  (an extra)
        from huggingface_hub.errors import (  # noqa: PLC0415
            LocalTokenNotFoundError,
            RepositoryNotFoundError,
        )

        hub = HfApi()
        user = None
        try:
            user = hub.whoami()["name"]
        except LocalTokenNotFoundError:
            if not dry_run:
                raise
        tag = tag_of(release.version)
        try:
            refs = hub.list_repo_refs(repo, repo_type="dataset")
        except RepositoryNotFoundError:
            return Plan(
                repo, tag, user, exists=False, tagged=False, head=None, deleted=()
            )
        if any(ref.name == tag for ref in refs.tags):
            return Plan(
                repo, tag, user, exists=True, tagged=True, head=None, deleted=()
            )
        head = next(
            (ref.target_commit for ref in refs.branches if ref.name == "main"), None
        )
        present = (
            set(hub.list_repo_files(repo, repo_type="dataset", revision=head))
            if head
            else set()
        )
    if present - _STARTERS and MANIFEST not in present:
        raise HubError(
            f"{repo} holds files that are no release, such as {min(present - _STARTERS)}; a "
            "release would replace them all, so name another repository, or empty that one"
        )
    names = {*release.manifest.files, MANIFEST, *OWN_FILES}
    return Plan(repo, tag, user, True, False, head, tuple(sorted(present - names)))


def publish_on_hub(
    release: Release, plan: Plan, say: Callable[[str], object] = no_progress
) -> None:
    """Carry out a plan for a verified release; each step is said.

    Raises:
        HubError: the Hub refuses, fails or breaks off; to be run again.
        ReleaseError: the tag holds another release, or what comes back is not what was sent.
    """
    with hub_errors(plan.repo):
        from huggingface_hub import HfApi  # noqa: PLC0415  (an extra)

        hub = HfApi()
        if not plan.tagged:
            _upload(hub, release, plan, say)
        say(f"downloading {plan.tag}")
        problems = _compare(hub, release, plan)
    if problems and plan.tagged:
        raise ReleaseError(
            f"{plan.repo} has another release under {plan.tag} (first difference: {problems[0]}); "
            "a tag is never moved: give the release a new version"
        )
    if problems:
        raise ReleaseError(
            f"{plan.tag} is on {plan.repo}, but what comes back is not what was sent: "
            f"{'; '.join(problems[:5])}"
        )


def _upload(
    hub: "HfApi", release: Release, plan: Plan, say: Callable[[str], object]
) -> None:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete  # noqa: PLC0415

    if not plan.exists:
        say(f"creating {plan.repo}")
        hub.create_repo(plan.repo, repo_type="dataset", exist_ok=True)
    say(f"uploading to {plan.repo}")
    paths = _sent(release)
    commit = hub.create_commit(
        plan.repo,
        [
            *(CommitOperationAdd(path, release.root / path) for path in paths),
            *(CommitOperationDelete(path) for path in plan.deleted),
        ],
        commit_message=f"Release {release.version}",
        commit_description=f"Rows: {release.manifest.rows_hash}",
        repo_type="dataset",
        # Whoever changed the repository since it was looked at is not overwritten.
        parent_commit=plan.head,
    )
    say(f"tagging {plan.tag}")
    hub.create_tag(
        plan.repo,
        tag=plan.tag,
        tag_message=f"Release {release.version}",
        revision=commit.oid,
        repo_type="dataset",
    )


def _compare(hub: "HfApi", release: Release, plan: Plan) -> list[str]:
    # A cache of its own: what is compared must come from the Hub, not from this machine.
    with tempfile.TemporaryDirectory(prefix="scbench-publish-") as scratch:
        folder = hub.snapshot_download(
            plan.repo, repo_type="dataset", revision=plan.tag, cache_dir=scratch
        )
        return list(
            verify_copy(
                release.manifest, FolderSource(Path(folder)), OWN_FILES, NOT_SENT
            )
        )
