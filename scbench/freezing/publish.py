"""Publishing on the Hub: one commit, one version tag, and proof that the same bytes come back.

What was interrupted is taken up where it stopped: files that arrived are not sent again, a commit
without its tag is tagged, a tag without its proof is proven. A tag is never moved.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scbench.base.errors import HubError, ReleaseError
from scbench.base.progress import no_progress
from scbench.freezing.copies import verify_copy
from scbench.release.load import Release
from scbench.release.manifest import CARD, MANIFEST
from scbench.release.sources import NOT_SENT, OWN_FILES, FolderSource, hub_errors, hub_name, tag_of

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_STARTERS = {*OWN_FILES, CARD}
"""What a repository may hold before its first release: made with it, or by hand on its page."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What publishing will do.

    Attributes:
        repo: id of the repository.
        tag: tag of the release.
        user: name that the token belongs to; None if there is no token, which a dry run allows.
        exists: whether the repository is there.
        tagged: whether the tag is there.
        head: newest commit of its main branch; None if there is no repository.
        deleted: files of the release before, that this one does not have.
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
            *([] if self.user else ["ask for a token: set HF_TOKEN, or run `hf auth login`"]),
            *(f"delete {name}, which this release does not have" for name in self.deleted),
            f"tag the commit {self.tag}",
            f"download {self.tag} and compare every byte",
        ]


def _sent(release: Release) -> list[str]:
    return [name for name in (MANIFEST, *release.manifest.files) if name not in NOT_SENT]


def plan_upload(release: Release, repo: str, *, dry_run: bool = False) -> Plan:
    """Look at the Hub and decide what there is to do; nothing is changed.

    Args:
        release: what to publish.
        repo: ORG/NAME of the repository.
        dry_run: whether the plan is only to be read, which needs no token.

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
            return Plan(repo, tag, user, exists=False, tagged=False, head=None, deleted=())
        if any(ref.name == tag for ref in refs.tags):
            return Plan(repo, tag, user, exists=True, tagged=True, head=None, deleted=())
        head = next((ref.target_commit for ref in refs.branches if ref.name == "main"), None)
        present = (
            set(hub.list_repo_files(repo, repo_type="dataset", revision=head)) if head else set()
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
    """Carry out a plan.

    Args:
        release: what to publish, verified.
        plan: of `plan_upload`.
        say: called with each step.

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


def _upload(hub: "HfApi", release: Release, plan: Plan, say: Callable[[str], object]) -> None:
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
        return list(verify_copy(release.manifest, FolderSource(Path(folder)), OWN_FILES, NOT_SENT))
