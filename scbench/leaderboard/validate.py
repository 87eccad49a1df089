"""Offline validation of submissions: all problems are reported, without grading."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scbench.base.canonical import sha256
from scbench.base.errors import (
    CatalogError,
    MachineError,
    ReleaseError,
    did_you_mean,
    machine_fault,
)
from scbench.base.model import LADDER
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.claims import read_claims
from scbench.leaderboard.copied_answers import (
    copy_warning,
    count_copies,
    telling_answers,
)
from scbench.leaderboard.findings import Finding, as_record, finding, in_order, problems
from scbench.leaderboard.predictions import CheckedPredictions, check_predictions
from scbench.leaderboard.submission import Submission, read_submission
from scbench.leaderboard.submission_files import ABOUT, CLAIMED, Opened
from scbench.release.load import Release, installed_releases, open_release

# Finds a release by its version.
Releases = Callable[[str], Release]


@dataclass(slots=True)
class Validated:
    """The result of a validation.

    Attributes:
        opened: the submission.
        findings: problems and warnings, in order.
        about: the content of ``submission.yaml``, if it can be read.
        about_hash: SHA-256 of the bytes of that file.
        release: the release that was answered, if it can be found.
        claims: claimed scores (0 to 100), by bucket or task.
        checked: the predictions; without answers if there are problems.
    """

    opened: Opened
    findings: list[Finding] = field(default_factory=list)
    about: Submission | None = None
    about_hash: str = ""
    release: Release | None = None
    claims: Mapping[str, float] = field(default_factory=dict)
    checked: CheckedPredictions = field(default_factory=CheckedPredictions)

    @property
    def problems(self) -> list[Finding]:
        """The findings that make the submission invalid; empty if it can be graded."""
        return problems(self.findings)

    def record(self) -> dict[str, Any]:
        """Return the result for programs."""
        return {
            "submission": self.opened.path.as_posix(),
            "valid": not self.problems,
            "release": self.about.release if self.about else None,
            "lines": self.checked.lines,
            "expected": self.checked.expected,
            "scored": self.checked.scored,
            "findings": [
                as_record(each, self.opened.where(each.file)) for each in self.findings
            ],
        }


def release_finder(extra: Sequence[Release] = ()) -> Releases:
    """Return a function that finds releases by version among extra and installed ones.

    A submission cannot name a folder or a web page instead.
    """
    opened = {release.version: release for release in extra}
    extra_names = list(opened)

    def find(version: str) -> Release:
        if version not in opened:
            installed = installed_releases()
            if version not in installed:
                names = [*extra_names, *installed]
                raise ReleaseError(
                    f"release {version} is not installed (installed: {', '.join(names) or 'none'})."
                    f"{did_you_mean(version, names)}"
                )
            # Each release is opened only once.
            opened[version] = open_release(installed[version])
        return opened[version]

    return find


def validate(
    opened: Opened, releases: Releases, version: str | None = None
) -> Validated:
    """Return all findings about a submission.

    Args:
        opened: the submission.
        releases: finds the release that it names.
        version: the only release that is accepted; None for any.
    """
    validated = read_about(opened, releases, version)
    about = validated.about
    release = validated.release
    if about is not None and release is not None:
        # Which scores can be claimed depends on the release.
        if CLAIMED in opened.files:
            tasks = release.manifest.board_records(about.tasks)
            buckets = dict.fromkeys(record.bucket for record in tasks.values())
            data = opened.files[CLAIMED].read_bytes()
            names = [OVERALL, *buckets, *tasks]
            validated.claims, findings = read_claims(data, names, CLAIMED)
            validated.findings += findings
        if opened.predictions is not None:
            name, path = opened.predictions
            validated.checked = check_predictions(name, path, about, release)
            validated.findings += validated.checked.findings
            # Answers of a file with problems are not compared.
            if validated.problems:
                validated.checked.answers.clear()
            else:
                copies = count_copies(
                    validated.checked.answers, telling_answers(release)
                )
                validated.findings += copy_warning(copies, name)
    validated.findings = in_order(validated.findings)
    return validated


def read_about(
    opened: Opened, releases: Releases, required: str | None = None
) -> Validated:
    """Read only the ``submission.yaml`` of a submission, and find its release.

    Raises:
        MachineError: the machine cannot read the release.
    """
    validated = Validated(opened, list(opened.findings))
    if ABOUT not in opened.files:
        return validated
    data = opened.files[ABOUT].read_bytes()
    validated.about_hash = sha256(data)
    validated.about, findings = read_submission(data, ABOUT)
    validated.findings += findings
    if validated.about is None:
        return validated
    version = validated.about.release
    line = line_of_key(data, "release")
    if required is not None and version != required:
        validated.findings.append(
            finding("wrong_release", ABOUT, line, version=version, required=required)
        )
    try:
        release = releases(version)
    except ReleaseError as error:
        fault = machine_fault(error)
        if fault:
            raise MachineError(fault) from None
        reason = str(error).rstrip(".")
        validated.findings.append(
            finding("unknown_release", ABOUT, line, reason=reason)
        )
        return validated
    is_ladder = validated.about.tasks == LADDER
    try:
        if is_ladder:
            release = release.ladder()
        # Raises if the release has none of these tasks.
        release.manifest.board_records(validated.about.tasks)
        validated.release = release
    except (CatalogError, ReleaseError):
        tasks = "ladder" if is_ladder else "text tasks"
        line = line_of_key(data, "tasks")
        validated.findings.append(
            finding("unknown_tasks", ABOUT, line, version=version, tasks=tasks)
        )
    return validated


def line_of_key(data: bytes, key: str) -> int | None:
    """Return the number, from 1, of the first line that begins with a key; None without one."""
    for number, line in enumerate(data.splitlines(), 1):
        if line.startswith(key.encode()):
            return number
    return None
