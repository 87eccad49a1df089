"""The Hub: releases fetched from it, and its many ways to fail put into words."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scbench.base.errors import HubError, ReleaseError, ScbenchError
from scbench.release.manifest import EVAL, MANIFEST, is_version
from scbench.release.sources import read_manifest

OWN_FILES = {".gitattributes"}
"""What the Hub itself puts into every repository; no part of a release."""

NOT_SENT = {EVAL}
"""Files of a release that its copy on the Hub lacks.

The Hub refuses an ``eval.yaml`` whose ``evaluation_framework`` is not on its list
(packages/tasks/src/eval.ts of huggingface.js), and scbench is not on it.
"""

_NAME = re.compile(r"(?P<repo>\w[\w.-]*/\w[\w.-]*)@(?P<revision>[\w./-]+)", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")


def tag_of(version: str) -> str:
    """Return the tag that a version of a release has on the Hub."""
    return f"v{version}"


def hub_name(name: str) -> tuple[str, str] | None:
    """Return repository and revision of ``ORG/NAME@REVISION``; None for any other name."""
    match = _NAME.fullmatch(name)
    return (match["repo"], match["revision"]) if match else None


def fetch_snapshot(repo: str, revision: str) -> Path:
    """Return a folder with the files of a data set repository, downloaded if it must be.

    What a commit or a version tag names never changes, so such a revision that is in the Hub cache
    as a whole is used without asking the Hub.

    Raises:
        HubError: it is not in the cache and cannot be downloaded.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415  (an extra)
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    if _COMMIT.fullmatch(revision) or is_version(revision.removeprefix("v")):
        try:
            cached = snapshot_download(
                repo, repo_type="dataset", revision=revision, local_files_only=True
            )
        except LocalEntryNotFoundError:
            pass
        else:
            if _has_all_files(Path(cached)):
                return Path(cached)
    with hub_errors(repo):
        return Path(snapshot_download(repo, repo_type="dataset", revision=revision))


def _has_all_files(folder: Path) -> bool:
    """Whether a cached snapshot has every file; ``datasets`` caches those it has read only."""
    try:
        manifest = read_manifest(folder)
    except ReleaseError:
        return False
    names = {MANIFEST, *manifest.files} - NOT_SENT
    return all((folder / name).is_file() for name in names)


@contextmanager
def hub_errors(repo: str) -> Iterator[None]:
    """Turn whatever fails while talking to the Hub into a `HubError` that says what to do.

    Args:
        repo: id of the repository, for messages.
    """
    try:
        yield
    except (ScbenchError, ModuleNotFoundError):
        raise
    except Exception as error:
        raise HubError(_hub_failure(error, repo)) from error


def _hub_failure(error: Exception, repo: str) -> str:
    from huggingface_hub.errors import (  # noqa: PLC0415  (an extra)
        HfHubHTTPError,
        LocalTokenNotFoundError,
        OfflineModeIsEnabled,
        RevisionNotFoundError,
    )

    chain = list(_causes(error))
    for cause in chain:
        if isinstance(cause, LocalTokenNotFoundError):
            return (
                "there is no Hugging Face token on this machine; set HF_TOKEN, or run "
                "`hf auth login`, with a token that may write"
            )
        if isinstance(cause, OfflineModeIsEnabled):
            return (
                f"{repo} is not in the Hub cache as a whole, and HF_HUB_OFFLINE forbids to fetch "
                "it; unset that once, or name a folder or a zip file"
            )
        if isinstance(cause, RevisionNotFoundError):
            return f"{repo} has no such revision on the Hub; its releases are tags such as v2.0.0"
        if isinstance(cause, HfHubHTTPError):
            status = cause.response.status_code
            message = " ".join(str(cause.server_message or "").split())[:300]
            words = _STATUS.get(status, _SERVER_FAILS if status >= 500 else _REFUSED)
            tail = f" (the Hub says: {message})" if message else ""
            return words.format(repo=repo, status=status) + tail
    last = chain[-1]
    message = f"{type(last).__name__}: {' '.join(str(last).split())[:300]}"
    if any(isinstance(cause, OSError) or _is_of_http(cause) for cause in chain):
        return (
            f"the connection to the Hub failed or broke off ({message}); once it works, run "
            "the same command again, and it continues where this one stopped"
        )
    return f"the exchange with the Hub about {repo} failed ({message})"


def _is_of_http(error: BaseException) -> bool:
    """Whether an error is of the HTTP client, which has another name in each Hub client."""
    return any(kind.__module__.startswith(("httpx", "httpcore")) for kind in type(error).__mro__)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from: clients wrap the one that says what happened."""
    cause: BaseException | None = error
    for _ in range(20):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__


_SERVER_FAILS = (
    "the Hub itself fails (HTTP {status}); nothing is lost, run the same command again later"
)
_REFUSED = "the Hub refused the request for {repo} (HTTP {status})"
_STATUS = {
    401: (
        "the Hub does not accept the token (HTTP 401), or {repo} is not there for it to see; look "
        "at HF_TOKEN, which wins over `hf auth login`, and at the name"
    ),
    403: (
        "the token may not do this to {repo} (HTTP 403); it needs the right to write there, and "
        "its owner a place in the organisation"
    ),
    404: "the Hub knows no data set {repo} that this token may see (HTTP 404); look at the name",
    409: "{repo} was changed by someone else meanwhile (HTTP 409); run the same command again",
    412: "{repo} was changed by someone else meanwhile (HTTP 412); run the same command again",
    429: "the Hub asks for fewer requests (HTTP 429); wait some minutes, then run this again",
}
