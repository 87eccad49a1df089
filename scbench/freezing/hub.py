"""Publishing a release on the Hub as one commit and one permanent version tag.

An interrupted upload can be continued: uploaded files are not sent again, a commit
without a tag is tagged, and a tag that was not compared yet is compared.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scbench.base.errors import HubError, ReleaseError
from scbench.base.progress import no_progress
from scbench.base.wording import counted
from scbench.freezing.copies import verify_copy
from scbench.release.load import Release
from scbench.release.manifest import CARD, MANIFEST
from scbench.release.sources import (
    NOT_SENT,
    OWN_FILES,
    FolderSource,
    hub_errors,
    hub_name,
    tag_of,
)

if TYPE_CHECKING:
    from huggingface_hub import HfApi

# Files that a repository may have before its first release: created with it, or by hand
# on its page.
_STARTERS = {*OWN_FILES, CARD}


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps of publishing a release on the Hub."""

    repo: str
    tag: str
    user: str | None
    """Owner of the token; None without a token, which a dry run allows."""
    exists: bool = True
    """Whether the repository exists."""
    tagged: bool = False
    """Whether the repository has the tag."""
    head: str | None = None
    """Newest commit of the main branch; None without a repository."""
    deleted: tuple[str, ...] = ()
    """Files of the previous release that this one does not have."""

    def lines(self, release: Release) -> list[str]:
        """Return the steps in sentences."""
        if self.tagged:
            return [f"{self.repo} already has {self.tag}: compare it with the release"]
        lines = []
        if not self.exists:
            lines.append(f"create the dataset repository {self.repo}")
        files = files_to_send(release)
        size = sum((release.root / name).stat().st_size for name in files)
        user = f"as {self.user}, " if self.user else ""
        lines.append(
            f"{user}upload {counted(len(files), 'file')} ({size:,} bytes) to {self.repo} "
            "in one commit; files that are already there are not sent again"
        )
        lines += (
            f"leave out {name}, which the Hub checks by its own rules: upload it afterwards"
            for name in sorted(NOT_SENT & release.manifest.files.keys())
        )
        if not self.user:
            lines.append("get a token: set HF_TOKEN, or run `hf auth login`")
        lines += (
            f"delete {name}, which this release does not have" for name in self.deleted
        )
        lines.append(f"tag the commit {self.tag}")
        lines.append(f"download {self.tag} and compare every byte")
        return lines


def files_to_send(release: Release) -> list[str]:
    """Return the files of a release that the Hub accepts."""
    names = [MANIFEST, *release.manifest.files]
    return [name for name in names if name not in NOT_SENT]


def plan_upload(release: Release, repo: str, *, dry_run: bool = False) -> Plan:
    """Check the Hub and plan the upload without changing anything; a dry run needs no token.

    Raises:
        HubError: the token is missing or wrong, there is no connection, or the
            repository is not for releases.
    """
    if hub_name(f"{repo}@main") is None:
        raise HubError(
            f"{repo!r} is not a repository on the Hub; use the form ORG/NAME"
        )
    tag = tag_of(release.version)
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
        try:
            refs = hub.list_repo_refs(repo, repo_type="dataset")
        except RepositoryNotFoundError:
            return Plan(repo, tag, user, exists=False)
        if any(ref.name == tag for ref in refs.tags):
            # Published before: the tag is only compared.
            return Plan(repo, tag, user, tagged=True)
        head = None
        present = set()
        for ref in refs.branches:
            if ref.name == "main":
                head = ref.target_commit
        if head:
            present = {*hub.list_repo_files(repo, repo_type="dataset", revision=head)}
    foreign = present - _STARTERS
    if foreign and MANIFEST not in present:
        raise HubError(
            f"{repo} contains files that do not belong to a release, such as "
            f"{min(foreign)}, and publishing would replace them; choose another "
            "repository, or empty this one"
        )
    # The commit replaces the files of the previous release.
    names = {*release.manifest.files, MANIFEST, *OWN_FILES}
    return Plan(repo, tag, user, head=head, deleted=tuple(sorted(present - names)))


def publish_on_hub(
    release: Release, plan: Plan, say: Callable[[str], object] = no_progress
) -> None:
    """Carry out a plan for a verified release; announce each step.

    Raises:
        HubError: the Hub refuses, fails or disconnects; run it again.
        ReleaseError: the tag is of another release, or the download differs from the release.
    """
    with hub_errors(plan.repo):
        from huggingface_hub import HfApi  # noqa: PLC0415  (an extra)

        hub = HfApi()
        if not plan.tagged:
            upload(hub, release, plan, say)
        say(f"downloading {plan.tag}")
        problems = compare_download(hub, release, plan)
    if problems and plan.tagged:
        raise ReleaseError(
            f"{plan.repo} has a different release under {plan.tag} (first difference: "
            f"{problems[0]}); tags never move, so give the release a new version"
        )
    if problems:
        raise ReleaseError(
            f"{plan.tag} is on {plan.repo}, but the downloaded files differ from those "
            f"sent: {'; '.join(problems[:5])}"
        )


def upload(
    hub: "HfApi", release: Release, plan: Plan, say: Callable[[str], object]
) -> None:
    """Upload a release and tag it."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete  # noqa: PLC0415

    if not plan.exists:
        say(f"creating {plan.repo}")
        hub.create_repo(plan.repo, repo_type="dataset", exist_ok=True)
    say(f"uploading to {plan.repo}")
    additions = [
        CommitOperationAdd(path, release.root / path) for path in files_to_send(release)
    ]
    deletions = [CommitOperationDelete(path) for path in plan.deleted]
    commit = hub.create_commit(
        plan.repo,
        [*additions, *deletions],
        commit_message=f"Release {release.version}",
        commit_description=f"Rows: {release.manifest.rows_hash}",
        repo_type="dataset",
        # Changes made since the plan are not overwritten: the Hub refuses the commit.
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


def compare_download(hub: "HfApi", release: Release, plan: Plan) -> list[str]:
    """Download the tag; return its differences from the release."""
    # A separate cache: the files must come from the Hub, not from this machine.
    with tempfile.TemporaryDirectory(prefix="scbench-publish-") as scratch:
        folder = hub.snapshot_download(
            plan.repo, repo_type="dataset", revision=plan.tag, cache_dir=scratch
        )
        copy = FolderSource(Path(folder))
        return list(verify_copy(release.manifest, copy, OWN_FILES, NOT_SENT))
