"""From a folder of submissions to graded entries: receipts that still match are used again."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl

from scbench.analysis.usage import was_answered
from scbench.base.canonical import sha256
from scbench.base.errors import ResultsError, ScbenchError, printable
from scbench.base.progress import no_progress
from scbench.grading.means import AMOUNTS, usage
from scbench.grading.output import RESULTS
from scbench.grading.rows.columns import column_types
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.answer_overlap import (
    Answers,
    Copied,
    answers_of,
    copied,
    copy_warning,
    overlaps,
    sharing,
    stored_answers,
    telling_answers,
)
from scbench.leaderboard.findings import Finding, finding, problems
from scbench.leaderboard.folder import ARCHIVES, Opened, open_submission
from scbench.leaderboard.grade import (
    RECEIPT,
    REPORT,
    Receipt,
    grade_submission,
    installed_graders,
    mismatch,
    read_receipt,
    results_hash,
    write_report_of,
)
from scbench.leaderboard.submission import Submission
from scbench.leaderboard.validate import (
    Organisation,
    Releases,
    Validated,
    alike,
    check_organisation,
    read_about,
    submissions_in,
    validate,
)
from scbench.machine.children import checked_parquet
from scbench.release.load import Release

# Folder, inside the board's, for each submission's results.
GRADED = "graded"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", re.ASCII)
_NEEDED = (
    *("id", "task", "bucket", "subtask", "model", "setting", "budget", "sample"),
    *("status", "score", "floor", "release", "release_hash", "grader_version"),
)


def spent(results: pl.DataFrame) -> dict[str, Any]:
    """Return mean output tokens and mean cost in US dollars of an answer.

    Returns:
        Each of `AMOUNTS` over the answers that report it (None if none does), and
        ``AMOUNT_reported``, their number.
    """
    answers = results.filter(was_answered()).unique(
        ["id", "sample"], maintain_order=True
    )
    amounts = answers.select(usage(name) for name in AMOUNTS)
    return {name: amounts[name].mean() for name in AMOUNTS} | {
        f"{name}_reported": int(amounts[name].count()) for name in AMOUNTS
    }


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A graded submission."""

    name: str  #: of its folder or archive, without suffix.
    about: Submission  #: what it says of itself.
    release: Release  #: that it answers.
    receipt: Receipt  #: of its grading.
    results: pl.DataFrame  #: what tables need of each row.
    answers: Answers  #: those that are not stored with the release, for comparison with others'.
    copied: Copied  #: how many telling answers are those of the release.
    spent: Mapping[str, Any]  #: tokens and cost of an answer, see `spent`.
    files: tuple[
        str, ...
    ]  #: of its ``graded`` folder, those that the board can point at.
    reused: bool  #: whether its receipt is of an earlier grading.

    @property
    def ranked(self) -> bool:
        """Whether every score is there, and the answers are its own."""
        return self.receipt.complete and not self.copied.marked


@dataclass(slots=True)
class Collected:
    """What came of a folder of submissions."""

    entries: list[BoardEntry] = field(default_factory=list)  #: those that can be shown.
    #: by name, what is wrong with the others.
    refused: dict[str, list[Finding]] = field(default_factory=dict)
    #: by name, what maintainers should look at.
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
    """Read or grade every submission in a folder; ``on_step`` hears a sentence of each that is.

    Results and receipts lie in ``graded/NAME`` below the board's folder, with reports if wanted.
    Receipts are used again unless ``regrade``. None for organisations asks nobody who they are.

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
                entry = _board_entry(opened, job)
            if isinstance(entry, BoardEntry):
                done.entries.append(entry)
                places[name] = path.name
            else:
                done.refused[path.name] = entry
    _compare_entries(done, places, organisations)
    for place, findings in done.refused.items():
        on_step(
            f"{printable(place)}: refused, {len(findings)} problem{'s' * (len(findings) != 1)}"
        )
    return done


def _compare_entries(
    done: Collected,
    places: Mapping[str, str],
    organisations: Sequence[Organisation] | None,
) -> None:
    """Compare names and answers of all entries; of the same names all are refused."""
    findings_of: dict[str, list[Finding]] = {entry.name: [] for entry in done.entries}
    for entry, peer in permutations(done.entries, 2):
        findings_of[entry.name] += alike(entry.about, peer.about, places[peer.name])
    for entry in done.entries:
        if organisations is not None:
            findings_of[entry.name] += check_organisation(entry.about, organisations)
        findings_of[entry.name] += copy_warning(entry.copied)
    groups: dict[tuple[str, str], list[BoardEntry]] = {}
    for entry in done.entries:
        groups.setdefault((entry.about.release, entry.about.tasks), []).append(entry)
    for entries in groups.values():
        answers = {entry.name: entry.answers for entry in entries}
        for pair in sharing(answers):
            for name, peer_name in permutations(pair):
                peers = {places[peer_name]: answers[peer_name]}
                findings_of[name] += overlaps(answers[name], peers, "")
    for name, findings in findings_of.items():
        if wrong := problems(findings):
            done.refused[places[name]] = wrong
        elif findings:
            done.warnings[places[name]] = findings
    done.entries = [
        entry for entry in done.entries if places[entry.name] not in done.refused
    ]


def _name_of(path: Path) -> str:
    suffix = next(
        (end for end in sorted(ARCHIVES, key=len)[::-1] if path.name.endswith(end)), ""
    )
    return path.name if path.is_dir() else path.name.removesuffix(suffix)


def _misnamed(path: Path, name: str, done: Collected) -> Finding | None:
    if path.is_symlink():
        return finding("linked_submission")
    if not _NAME.fullmatch(name):
        return finding("bad_name", name=printable(name))
    repeated = name in {entry.name for entry in done.entries}
    return finding("duplicate_name", name=name) if repeated else None


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


def _board_entry(opened: Opened, job: _Job) -> BoardEntry | list[Finding]:
    submission = Validated(opened, list(opened.findings))
    read_about(submission, job.releases)
    if submission.problems or submission.about is None or submission.release is None:
        return validate(opened, job.releases).problems
    grading: tuple[Receipt, pl.DataFrame] | list[Finding] | str
    grading = "it is asked for" if job.regrade else _reusable(submission, job.folder)
    reused = not isinstance(grading, str)
    if isinstance(grading, str):
        job.on_step(f"{job.name}: graded, because {grading}")
        grading = _grade_anew(opened, job)
    if isinstance(grading, list):
        return grading
    receipt, results = grading
    if job.reports and not (job.folder / REPORT).is_file():
        write_report_of(submission, job.folder, job.limits.workers)
    files = tuple(
        file for file in (REPORT, RECEIPT, RESULTS) if (job.folder / file).is_file()
    )
    graded = results.filter(pl.col("instance_hash").is_not_null())
    release = submission.release
    with_answer = graded.filter(pl.col("answer").is_not_null())
    found_answers = with_answer.select("id", "sample", "answer").unique(
        maintain_order=True
    )
    pairs = list(found_answers.select("id", "answer").iter_rows())
    answers = answers_of(pairs, stored_answers(release))
    copies = copied(pairs, telling_answers(release))
    return BoardEntry(
        job.name,
        submission.about,
        release,
        receipt,
        graded.select(_NEEDED),
        answers,
        copies,
        spent(graded),
        files,
        reused,
    )


def _grade_anew(
    opened: Opened, job: _Job
) -> tuple[Receipt, pl.DataFrame] | list[Finding]:
    done = validate(opened, job.releases)
    if done.problems:
        return done.problems
    graded = grade_submission(done, job.folder, job.limits)
    if graded.receipt is not None:
        return graded.receipt, graded.report.results
    if graded.report.grader_errors:
        return [finding("grader_error", count=graded.report.grader_errors)]
    return graded.findings


def _reusable(
    submission: Validated, folder: Path
) -> tuple[Receipt, pl.DataFrame] | str:
    """Return receipt and results of an earlier grading, or why they are of no use."""
    about, release = submission.about, submission.release
    predictions = submission.opened.predictions
    if about is None or release is None or predictions is None:
        return "it cannot be read"
    if not (folder / RECEIPT).is_file():
        return "it has no receipt yet"
    try:
        receipt = read_receipt(folder / RECEIPT)
        sent = sha256(predictions[1].read_bytes())
        graders = installed_graders(release, about.tasks)
        why = mismatch(receipt, release.manifest, graders, sent, submission.about_hash)
        return why or (receipt, _read_results(folder / RESULTS, receipt))
    except ScbenchError as error:
        return str(error)


def _read_results(path: Path, receipt: Receipt) -> pl.DataFrame:
    with checked_parquet(path, ResultsError) as rows:
        frame = rows.collect()
    if dict(frame.schema) != column_types():
        raise ResultsError(f"{path} has other columns than results")
    if results_hash(frame) != receipt.results_sha256:
        raise ResultsError(f"{path} was changed after it was written")
    return frame
