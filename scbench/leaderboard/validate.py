"""Validating a submission, offline and without grading: every problem, not the first.

Who may submit for whom stands in a file that the maintainers keep, ``organisations.toml``::

    [[organisation]]
    name = "Example Lab"
    contacts = ["someone@example.org", "@example.org"]   # addresses, or all of a domain
    submitters = ["example-lab"]                         # accounts where submissions are sent to

A submission in the name of an organisation that stands there must have one of its contacts, and
must come from one of its accounts, where that is told. What a submission says of itself proves
nothing, so maintainers add an organisation when they know who sends for it; one that they do not
know yet is a warning.

Two names look alike if their skeletons are the same: signs that are drawn alike are one sign then,
by the confusables of Unicode (Technical Standard 39, section 4), as are forms that are compatible,
cases and blanks.
"""

import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from scbench.base.canonical import sha256
from scbench.base.errors import (
    CatalogError,
    ReleaseError,
    ScbenchError,
    did_you_mean,
    faults_of,
    printable,
)
from scbench.base.model import LADDER, Frozen
from scbench.grading.score_tables import OVERALL
from scbench.leaderboard.answer_overlap import (
    Answers,
    answers_of,
    copied,
    copy_warning,
    overlaps,
    read_answers,
    stored_answers,
    telling_answers,
)
from scbench.leaderboard.findings import Finding, as_record, finding, in_order, problems
from scbench.leaderboard.folder import ABOUT, ARCHIVES, CLAIMED, Opened, open_submission
from scbench.leaderboard.predictions import CheckedPredictions, check_predictions
from scbench.leaderboard.submission import (
    OneLine,
    Submission,
    is_hidden,
    read_claims,
    read_submission,
)
from scbench.release.load import Release, installed_releases, open_release

# Finds a release by its version.
Releases = Callable[[str], Release]


@dataclass(slots=True)
class Validated:
    """What a validation found."""

    opened: Opened  #: the submission.
    findings: list[Finding] = field(
        default_factory=list
    )  #: what is wrong, or may be, in order.
    about: Submission | None = (
        None  #: what the submission says of itself, if that can be read.
    )
    about_hash: str = ""  #: SHA-256 of the bytes that say it.
    release: Release | None = None  #: what it answers, if that can be found.
    #: claimed means in points of 100, by bucket or task.
    claims: Mapping[str, float] = field(default_factory=dict)
    #: its predictions; their answers are there if there are no problems.
    checked: CheckedPredictions = field(default_factory=CheckedPredictions)

    @property
    def problems(self) -> list[Finding]:
        """What makes the submission invalid; empty if it can be graded."""
        return problems(self.findings)

    def record(self) -> dict[str, Any]:
        """Return what was found, for programs."""
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
    """Return a function that finds releases by version: those given, then the installed ones.

    A submission can name nothing else, no folder and no page.
    """
    by_version = {release.version: release for release in extra}
    opened: dict[str, Release] = {}

    def find(version: str) -> Release:
        if version not in opened:
            installed = installed_releases()
            if version in by_version:
                opened[version] = by_version[version]
            elif version in installed:
                opened[version] = open_release(installed[version])
            else:
                names = [*by_version, *installed]
                raise ReleaseError(
                    f"release {version} is not installed here, but {', '.join(names) or 'none'}."
                    f"{did_you_mean(version, names)}"
                )
        return opened[version]

    return find


def validate(
    opened: Opened, releases: Releases, version: str | None = None
) -> Validated:
    """Return everything that is wrong with a submission; with a version, only that is taken."""
    done = Validated(opened, list(opened.findings))
    read_about(done, releases, version)
    predictions = opened.predictions
    if done.about is not None and done.release is not None:
        if CLAIMED in opened.files:
            tasks = done.release.manifest.board_records(done.about.tasks)
            buckets = dict.fromkeys(record.bucket for record in tasks.values())
            data = opened.files[CLAIMED].read_bytes()
            done.claims, findings = read_claims(
                data, [OVERALL, *buckets, *tasks], CLAIMED
            )
            done.findings += findings
        if predictions is not None:
            done.checked = check_predictions(*predictions, done.about, done.release)
            done.findings += done.checked.findings
            if done.problems:
                done.checked.answers.clear()
            else:
                copies = copied(done.checked.answers, telling_answers(done.release))
                done.findings += copy_warning(copies, predictions[0])
    done.findings = in_order(done.findings)
    return done


def read_about(
    done: Validated, releases: Releases, required: str | None = None
) -> None:
    """Fill in what ``submission.yaml`` says, and the release it names."""
    if ABOUT not in done.opened.files:
        return
    data = done.opened.files[ABOUT].read_bytes()
    done.about_hash = sha256(data)
    done.about, findings = read_submission(data, ABOUT)
    done.findings += findings
    if done.about is None:
        return
    version = done.about.release
    line = _line_of(data, "release")
    if required is not None and version != required:
        words = {"version": version, "required": required}
        done.findings.append(finding("wrong_release", ABOUT, line, **words))
    try:
        done.release = releases(version)
    except ReleaseError as error:
        reason = str(error).rstrip(".")
        done.findings.append(finding("unknown_release", ABOUT, line, reason=reason))
        return
    try:
        if done.about.tasks == LADDER:
            done.release = done.release.ladder()
        done.release.manifest.board_records(done.about.tasks)
    except (CatalogError, ReleaseError):
        tasks = "ladder" if done.about.tasks == LADDER else "text tasks"
        line = _line_of(data, "tasks")
        done.findings.append(
            finding("unknown_tasks", ABOUT, line, version=version, tasks=tasks)
        )
        done.release = None


def _line_of(data: bytes, key: str) -> int | None:
    lines = data.splitlines()
    return next(
        (i for i, line in enumerate(lines, 1) if line.startswith(key.encode())), None
    )


def submissions_in(folder: Path) -> list[Path]:
    """Return the submissions in a folder, by name: its folders, and archives; hidden ones are not.

    Raises:
        ScbenchError: it is no folder.
    """
    if not folder.is_dir():
        raise ScbenchError(f"{folder} is no folder of submissions")
    return sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith(".")
        and (path.is_dir() or path.name.endswith(ARCHIVES))
    )


def compare_with_others(done: Validated, folder: Path) -> list[Finding]:
    """Return what is wrong with a submission beside others: names and answers that are alike.

    Answers are compared with those of everyone who answers the same release, whoever they say they
    are; to correct a submission is to replace its folder, which is not compared with itself.
    """
    if done.release is None or done.about is None or done.opened.predictions is None:
        return []
    stored = stored_answers(done.release)
    peers: dict[str, Answers] = {}
    findings: list[Finding] = []
    for path in submissions_in(folder):
        if path.resolve() == done.opened.path.resolve() or path.is_symlink():
            continue
        with open_submission(path) as opened:
            peer = Validated(opened)
            read_about(peer, lambda _: done.release)  # type: ignore[arg-type, return-value]
            about, predictions = peer.about, opened.predictions
            if about is None:
                continue
            findings += alike(done.about, about, path.name)
            same = (about.release, about.tasks) == (
                done.about.release,
                done.about.tasks,
            )
            if predictions is not None and same:
                answers = read_answers(predictions[1], done.release)
                peers[path.name] = answers_of(answers, stored)
    mine = answers_of(done.checked.answers, stored)
    return [*findings, *overlaps(mine, peers, done.opened.predictions[0])]


@cache
def skeleton(text: str) -> str:
    """Return what names that look alike have in common."""
    normal = unicodedata.normalize("NFKC", text)
    bare = (sign for sign in normal if not is_hidden(sign))
    # Cases fold into each other only after signs that stand for another case did: a large I is a
    # small l to the eye.
    folded = "".join(map(_common_sign, bare)).casefold()
    return "".join("".join(map(_common_sign, folded)).split())


@cache
def _common_sign(sign: str) -> str:
    """Return the sign that stands for all that are drawn like it."""
    from confusable_homoglyphs.confusables import confusables_data  # noqa: PLC0415  (an extra)

    alike = [_without_formats(entry["c"]) for entry in confusables_data.get(sign, ())]
    if len(alike) != 1:
        return sign
    # The list names a sign's like, or for that one, all signs it is the like of.
    (twin,) = alike
    return min(sign, twin) if len(confusables_data.get(twin, ())) <= 1 else twin


def _without_formats(text: str) -> str:
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf")


class Organisation(Frozen):
    """An organisation that is known to the maintainers."""

    name: OneLine
    contacts: tuple[OneLine, ...] = Field(min_length=1)
    submitters: tuple[OneLine, ...] = ()

    def has_contact(self, contact: str) -> bool:
        """Whether a contact is one of the organisation's."""
        folded = contact.casefold()
        return any(
            folded.endswith(pattern) if pattern.startswith("@") else folded == pattern
            for pattern in map(str.casefold, self.contacts)
        )

    def has_submitter(self, account: str) -> bool:
        """Whether an account may submit for the organisation."""
        return account.casefold() in map(str.casefold, self.submitters)


class _File(Frozen):
    organisation: tuple[Organisation, ...] = ()


def read_organisations(path: Path) -> tuple[Organisation, ...]:
    """Read ``organisations.toml``.

    Raises:
        ScbenchError: it cannot be read, or two of its names look alike.
    """
    try:
        organisations = _File.model_validate(
            tomllib.loads(path.read_text("utf-8"))
        ).organisation
    except OSError as error:
        raise ScbenchError(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise ScbenchError(f"{path}: {faults_of(error, 1)[0]}") from None
    except ValueError as error:
        raise ScbenchError(
            f"{path} is not valid TOML: {printable(str(error))}"
        ) from None
    skeletons: dict[str, str] = {}
    for organisation in organisations:
        twin = skeletons.setdefault(skeleton(organisation.name), organisation.name)
        if twin is not organisation.name:
            raise ScbenchError(f"{path}: {organisation.name!r} and {twin!r} look alike")
    return organisations


def check_organisation(
    about: Submission,
    organisations: Sequence[Organisation],
    submitter: str | None = None,
) -> Iterator[Finding]:
    """Yield what speaks against a submission, sent by an account, being of whom it names."""
    name = about.organisation
    alike = [peer for peer in organisations if skeleton(peer.name) == skeleton(name)]
    if not alike:
        yield finding("unknown_organisation", ABOUT, name=name)
    for organisation in alike:
        if organisation.name != name:
            yield finding(
                "imitated_organisation", ABOUT, name=name, known=organisation.name
            )
        elif not organisation.has_contact(about.contact):
            yield finding("other_contact", ABOUT, name=name)
        if submitter is not None and not organisation.has_submitter(submitter):
            yield finding("other_submitter", account=submitter, name=organisation.name)


def alike(mine: Submission, peer: Submission, where: str) -> Iterator[Finding]:
    """Yield what is wrong with the names of two submissions, of which the other is at ``where``."""
    if names_of(mine) == names_of(peer):
        yield finding("duplicate_submission", ABOUT, where=printable(where))
    pairs = (
        ("organisation", mine.organisation, peer.organisation),
        ("model", mine.model.name, peer.model.name),
    )
    for what, ours, theirs in pairs:
        if ours != theirs and skeleton(ours) == skeleton(theirs):
            names = {"mine": ours, "theirs": theirs, "where": printable(where)}
            yield finding("look_alike", ABOUT, what=what, **names)


def names_of(about: Submission) -> tuple[str, ...]:
    """Return what no two submissions may have in common, as it looks."""
    words = (about.organisation, about.model.name, about.model.version)
    return (*map(skeleton, words), about.setting, about.release, about.tasks)
