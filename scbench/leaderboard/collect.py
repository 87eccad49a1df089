"""From a folder of submissions to graded entries: receipts that still match are used again."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from scbench.base.canonical import sha256
from scbench.base.errors import ResultsError, ScbenchError, printable, reading_parquet
from scbench.base.progress import no_progress
from scbench.grading.output import RESULTS
from scbench.grading.rows.columns import column_types
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.answer_overlap import (
    Answers,
    answers_of,
    overlaps,
    sharing,
    stored_answers,
)
from scbench.leaderboard.copied import Copied, copied, told_by, warn_of
from scbench.leaderboard.findings import Finding, problems
from scbench.leaderboard.folder import ARCHIVES, Opened, open_submission
from scbench.leaderboard.grade import REPORT, grade_submission, installed_graders, write_report_of
from scbench.leaderboard.organisations import Organisation, alike, check_organisation
from scbench.leaderboard.receipt import RECEIPT, Receipt, mismatch, read_receipt, results_hash
from scbench.leaderboard.spent import spent
from scbench.leaderboard.validate import Releases, Validated, read_about, submissions_in, validate

if TYPE_CHECKING:
    from scbench.leaderboard.submission import Submission
    from scbench.release.load import Release

GRADED = "graded"
"""Folder, inside the board's, for each submission's results."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", re.ASCII)
_NEEDED = (
    *("id", "task", "bucket", "subtask", "model", "setting", "budget", "sample"),
    *("status", "score", "floor", "release", "release_hash", "grader_version"),
)


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A graded submission.

    Attributes:
        name: of its folder or archive, without suffix.
        about: what it says of itself.
        release: that it answers.
        receipt: of its grading.
        results: what tables need of each row.
        answers: those that are not stored with the release, for comparison with others'.
        copied: how many telling answers are those of the release.
        spent: tokens and cost of an answer, see `scbench.leaderboard.spent`.
        files: of its ``graded`` folder, those that the board can point at.
        reused: whether its receipt is of an earlier grading.
    """

    name: str
    about: "Submission"
    release: "Release"
    receipt: Receipt
    results: pl.DataFrame
    answers: Answers
    copied: Copied
    spent: Mapping[str, Any]
    files: tuple[str, ...]
    reused: bool

    @property
    def ranked(self) -> bool:
        """Whether every score is there, and the answers are its own."""
        return self.receipt.complete and not self.copied.marked


@dataclass(slots=True)
class Collected:
    """What came of a folder of submissions.

    Attributes:
        entries: those that can be shown.
        refused: by name, what is wrong with the others.
    warnings: by name, what maintainers should look at.
    """

    entries: list[BoardEntry] = field(default_factory=list)
    refused: dict[str, list[Finding]] = field(default_factory=dict)
    warnings: dict[str, list[Finding]] = field(default_factory=dict)


def collect(
    submissions: Path,
    out: Path,
    releases: Releases,
    limits: WorkerLimits,
    *,
    regrade: bool = False,
    reports: bool = True,
    organisations: Sequence[Organisation] | None = None,
    on_step: Callable[[str], object] = no_progress,
) -> Collected:
    """Read or grade every submission in a folder.

    Args:
        submissions: the folder; each folder or archive in it is a submission.
        out: the board's folder; results and receipts lie in ``graded/NAME`` below it.
        releases: where to find releases.
        limits: of grading.
        regrade: use no receipt again.
        reports: also write the report of each submission that has none.
        organisations: those of which it is known who submits for them; None to ask nobody.
        on_step: called with a sentence for each submission that is graded or refused.

    Raises:
        ScbenchError: the folder cannot be read, or the output cannot be written.
    """
    done = Collected()
    places: dict[str, str] = {}
    for path in submissions_in(submissions):
        name = _name_of(path)
        wrong = _misnamed(path, name, done)
        if wrong:
            done.refused[path.name] = [wrong]
        else:
            with open_submission(path) as opened:
                folder = out / GRADED / name
                job = _Job(name, folder, releases, limits, on_step, regrade, reports)
                entry = _entry(opened, job)
            if isinstance(entry, BoardEntry):
                done.entries.append(entry)
                places[name] = path.name
            else:
                done.refused[path.name] = entry
    _compare(done, places, organisations)
    for place, found in done.refused.items():
        on_step(f"{printable(place)}: refused, {len(found)} problem{'s' * (len(found) != 1)}")
    return done


def _compare(
    done: Collected, places: Mapping[str, str], organisations: Sequence[Organisation] | None
) -> None:
    """Compare the names and answers of all entries, whoever they say they are.

    Of submissions with the same names all are refused: which one is meant is not for us to say.
    """
    found: dict[str, list[Finding]] = {entry.name: [] for entry in done.entries}
    for entry, peer in permutations(done.entries, 2):
        found[entry.name] += alike(entry.about, peer.about, places[peer.name])
    for entry in done.entries:
        found[entry.name] += (
            check_organisation(entry.about, organisations) if organisations is not None else ()
        )
        found[entry.name] += warn_of(entry.copied)
    for entries in _by_release(done.entries):
        answers = {entry.name: entry.answers for entry in entries}
        for pair in sharing(answers):
            for name, other in permutations(pair):
                others = {places[other]: answers[other]}
                found[name] += overlaps(answers[name], others, "")
    for name, findings in found.items():
        if wrong := problems(findings):
            done.refused[places[name]] = wrong
        elif findings:
            done.warnings[places[name]] = findings
    done.entries = [entry for entry in done.entries if places[entry.name] not in done.refused]


def _by_release(entries: Sequence[BoardEntry]) -> Iterable[list[BoardEntry]]:
    found: dict[tuple[str, str], list[BoardEntry]] = {}
    for entry in entries:
        found.setdefault((entry.about.release, entry.about.tasks), []).append(entry)
    return found.values()


def _name_of(path: Path) -> str:
    suffix = next((end for end in sorted(ARCHIVES, key=len)[::-1] if path.name.endswith(end)), "")
    return path.name if path.is_dir() else path.name.removesuffix(suffix)


def _misnamed(path: Path, name: str, done: Collected) -> Finding | None:
    if path.is_symlink():
        return Finding("not_a_file", "the submission is a symbolic link", "put the folder itself")
    if not _NAME.fullmatch(name):
        message = f"the name {printable(name)!r} cannot stand in a link"
        return Finding("bad_name", message, "use letters, digits, '.', '_', '+' and '-'")
    if name in {entry.name for entry in done.entries}:
        message = f"there is a folder and an archive {name}"
        return Finding("duplicate_entry", message, "keep one of the two")
    return None


@dataclass(frozen=True, slots=True)
class _Job:
    """How one submission becomes an entry."""

    name: str
    folder: Path
    releases: Releases
    limits: WorkerLimits
    on_step: Callable[[str], object]
    regrade: bool
    reports: bool


def _entry(opened: Opened, job: _Job) -> BoardEntry | list[Finding]:
    known = Validated(opened, list(opened.findings))
    read_about(known, job.releases)
    if known.problems or known.about is None or known.release is None:
        return validate(opened, job.releases).problems
    found: tuple[Receipt, pl.DataFrame] | list[Finding] | str
    found = "it is asked for" if job.regrade else _reusable(known, job.folder)
    reused = not isinstance(found, str)
    if isinstance(found, str):
        job.on_step(f"{job.name}: graded, because {found}")
        found = _graded(opened, job)
    if isinstance(found, list):
        return found
    receipt, results = found
    if job.reports and not (job.folder / REPORT).is_file():
        write_report_of(known, job.folder, job.limits.workers)
    files = tuple(file for file in (REPORT, RECEIPT, RESULTS) if (job.folder / file).is_file())
    graded = results.filter(pl.col("instance_hash").is_not_null())
    release = known.release
    given = graded.filter(pl.col("answer").is_not_null())
    found_answers = given.select("id", "sample", "answer").unique(maintain_order=True)
    pairs = list(found_answers.select("id", "answer").iter_rows())
    answers = answers_of(pairs, _stored(release))
    copies = copied(pairs, _told(release))
    return BoardEntry(
        job.name,
        known.about,
        release,
        receipt,
        graded.select(_NEEDED),
        answers,
        copies,
        spent(graded),
        files,
        reused,
    )


_stored = lru_cache(maxsize=4)(stored_answers)
_told = lru_cache(maxsize=4)(told_by)


def _graded(opened: Opened, job: _Job) -> tuple[Receipt, pl.DataFrame] | list[Finding]:
    done = validate(opened, job.releases)
    if done.problems:
        return done.problems
    graded = grade_submission(done, job.folder, job.limits)
    if graded.receipt is not None:
        return graded.receipt, graded.report.results
    failed = graded.report.grader_errors
    if failed:
        todo = "tell the maintainers of scbench: it is no fault of the submission"
        return [Finding("grader_error", f"{failed} rows could not be graded", todo)]
    return graded.findings


def _reusable(known: Validated, folder: Path) -> tuple[Receipt, pl.DataFrame] | str:
    """Return receipt and results of an earlier grading, or why they are of no use."""
    about, release, predictions = known.about, known.release, known.opened.predictions
    if about is None or release is None or predictions is None:
        return "it cannot be read"
    if not (folder / RECEIPT).is_file():
        return "it has no receipt yet"
    try:
        receipt = read_receipt(folder / RECEIPT)
        sent = sha256(predictions[1].read_bytes())
        graders = installed_graders(release, about.tasks)
        why = mismatch(receipt, release.manifest, graders, sent, known.about_hash)
        return why or (receipt, _results(folder / RESULTS, receipt))
    except ScbenchError as error:
        return str(error)


def _results(path: Path, receipt: Receipt) -> pl.DataFrame:
    with reading_parquet(path, ResultsError):
        frame = pl.read_parquet(path)
    if dict(frame.schema) != column_types():
        raise ResultsError(f"{path} has other columns than results")
    if results_hash(frame) != receipt.results_sha256:
        raise ResultsError(f"{path} was changed after it was written")
    return frame
