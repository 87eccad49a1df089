"""Grading a folder of submissions; matching receipts are reused."""

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from scbench.analysis.usage import was_answered
from scbench.base.canonical import sha256
from scbench.base.errors import (
    EngineError,
    FolderInUseError,
    MachineError,
    ResultsError,
    ScbenchError,
    machine_fault,
    printable,
)
from scbench.base.progress import no_progress
from scbench.base.wording import counted
from scbench.grading.expected_work import OpenDisplay, no_display
from scbench.grading.means import AMOUNTS, usage
from scbench.grading.output import RESULTS
from scbench.grading.rows.columns import column_types
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.answer_overlap import (
    Answers,
    answers_of,
    overlap_warning,
    pairs_to_compare,
    stored_answers,
)
from scbench.leaderboard.archives import ARCHIVES
from scbench.leaderboard.copied_answers import (
    Copied,
    copy_warning,
    count_copies,
    telling_answers,
)
from scbench.leaderboard.findings import Finding, finding, limit_findings, problems
from scbench.leaderboard.folder import open_submission, submissions_in
from scbench.leaderboard.grade import (
    REPORT,
    OpenDrawing,
    grade_submission,
    no_drawing,
    write_report_of,
)
from scbench.leaderboard.names import Organisation, check_organisation, similar_names
from scbench.leaderboard.receipt import (
    RECEIPT,
    Receipt,
    installed_graders,
    mismatch,
    read_receipt,
    results_hash,
)
from scbench.leaderboard.submission import Submission
from scbench.leaderboard.submission_files import Opened
from scbench.leaderboard.validate import Releases, Validated, read_about, validate
from scbench.machine.children import checked_parquet
from scbench.release.load import Release
from scbench.scoring.outcomes import describe_error

# Folder for the results of all submissions, inside the board's folder.
GRADED = "graded"
# Names become folders, file names and links, so only plain characters are allowed.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", re.ASCII)
# Errors that are never the fault of a submission. They stop the board; otherwise it would be
# published without that submission.
_FATAL_ERRORS = (
    MachineError,
    EngineError,
    FolderInUseError,
    ModuleNotFoundError,
)
# Columns of results that the board's tables need.
_COLUMNS = (
    "id",
    "task",
    "bucket",
    "subtask",
    "model",
    "setting",
    "budget",
    "sample",
    "status",
    "score",
    "floor",
    "release",
    "release_hash",
    "grader_version",
)


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A graded submission.

    Attributes:
        name: name of its folder or archive, without suffix.
        about: the content of ``submission.yaml``.
        release: the release that it answers.
        receipt: the receipt of its grading.
        results: the columns that tables need.
        answers: answers not stored with the release, for comparison.
        copied: number of telling answers copied from the release.
        spent: tokens and cost of an answer, see `mean_amounts`.
        files: the files of its ``graded`` folder to which the board can link.
        reused: whether its receipt is from an earlier grading.
    """

    name: str
    about: Submission
    release: Release
    receipt: Receipt
    results: pl.DataFrame
    answers: Answers
    copied: Copied
    spent: Mapping[str, Any]
    files: tuple[str, ...]
    reused: bool

    @property
    def ranked(self) -> bool:
        """Whether no score is missing and the answers are not copied."""
        return self.receipt.complete and not self.copied.marked


@dataclass(slots=True)
class Collected:
    """The result of reading a folder of submissions.

    Attributes:
        entries: the submissions that can be shown.
        refused: problems of rejected submissions, by printable name of the folder or archive.
        warnings: findings for maintainers to check, by name of the folder or archive.
    """

    entries: list[BoardEntry] = field(default_factory=list)
    refused: dict[str, list[Finding]] = field(default_factory=dict)
    warnings: dict[str, list[Finding]] = field(default_factory=dict)


class Job(NamedTuple):
    """The settings for turning a submission into an entry.

    Attributes:
        name: name of the submission.
        folder: folder for its results.
        releases: finds releases by version.
        limits: the limits of grading.
        on_step: called with a message if the submission is graded.
        open_display: opens a display of the progress of grading.
        open_drawing: opens a display of the progress of a report.
        regrade: whether to ignore receipts.
        reports: whether to write a report.
    """

    name: str
    folder: Path
    releases: Releases
    limits: WorkerLimits
    on_step: Callable[[str], object]
    open_display: OpenDisplay
    open_drawing: OpenDrawing
    regrade: bool
    reports: bool


class Grading(NamedTuple):
    """The receipt and the rows of a grading."""

    receipt: Receipt
    results: pl.DataFrame


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
    open_display: OpenDisplay = no_display,
    open_drawing: OpenDrawing = no_drawing,
) -> Collected:
    """Read or grade every submission in a folder.

    Args:
        submissions: the folder of submissions.
        out: the board's folder. Results and receipts are in ``graded/NAME`` in it.
        releases: finds releases by version.
        limits: the limits of grading.
        regrade: whether to grade everything again instead of using matching receipts.
        reports: whether to write reports.
        organisations: organisations known to the maintainers; None to skip this check.
        on_step: called with a message for each graded or refused submission, and before
            slow steps.
        open_display: opens a display of the progress of grading a submission.
        open_drawing: opens a display of the progress of its report.

    Raises:
        ScbenchError: the folder cannot be read, or the output cannot be written.
    """
    # Submitters could add forged receipts to a folder among the submissions.
    if out.resolve().is_relative_to(submissions.resolve()):
        raise ScbenchError(
            f"{out} is inside the folder of submissions, where anybody could add a receipt; "
            "choose another --out"
        )
    collected = Collected()
    # File name of the folder or archive, by name of the submission.
    places: dict[str, str] = {}
    for path in submissions_in(submissions):
        name = name_of(path)
        problem = naming_problem(path, name, places)
        if problem:
            # An untrusted name may not be valid text, which the board's files require.
            collected.refused[printable(path.name)] = [problem]
            continue
        job = Job(
            name=name,
            folder=out / GRADED / name,
            releases=releases,
            limits=limits,
            on_step=on_step,
            open_display=open_display,
            open_drawing=open_drawing,
            regrade=regrade,
            reports=reports,
        )
        entry = entry_or_problems(path, job)
        if isinstance(entry, BoardEntry):
            collected.entries.append(entry)
            places[name] = path.name
        else:
            collected.refused[printable(path.name)] = limit_findings(entry)
    compare_entries(collected, places, organisations)
    for place, findings in collected.refused.items():
        problem_count = counted(len(findings), "problem")
        on_step(f"{place}: refused, {problem_count}")
    return collected


def name_of(path: Path) -> str:
    """Return the name of a submission: the name of its folder or archive, without suffix."""
    if not path.is_dir():
        for suffix in ARCHIVES:
            if path.name.endswith(suffix):
                return path.name.removesuffix(suffix)
    return path.name


def naming_problem(path: Path, name: str, places: Mapping[str, str]) -> Finding | None:
    """Return the problem with a submission's name or with a link at its path."""
    if path.is_symlink():
        return finding("linked_submission")
    if not _NAME.fullmatch(name):
        return finding("bad_name", name=printable(name))
    if name in places:
        return finding("duplicate_name", name=name)
    return None


def entry_or_problems(path: Path, job: Job) -> BoardEntry | list[Finding]:
    """Return a submission as an entry, or its problems, including any errors in processing it.

    Raises:
        MachineError: this machine cannot grade any submission.
        ModuleNotFoundError: an extra is not installed.
        FolderInUseError: another process is building the same board.
        EngineError: no worker process can grade.
    """
    try:
        with open_submission(path) as opened:
            return board_entry(opened, job)
    except _FATAL_ERRORS:
        raise
    except Exception as error:  # noqa: BLE001  (one submission must not stop the others)
        # A full disk is not the fault of a submission.
        fault = machine_fault(error)
        if fault:
            raise MachineError(f"{job.name}: {fault}") from None
        is_ours = isinstance(error, ScbenchError)
        reason = str(error) if is_ours else describe_error(error)
    return [finding("not_graded", reason=printable(reason))]


def board_entry(opened: Opened, job: Job) -> BoardEntry | list[Finding]:
    """Return a submission as an entry, graded if necessary, or its problems."""
    submission = read_about(opened, job.releases)
    about = submission.about
    release = submission.release
    if submission.problems or about is None or release is None:
        # The problems of the predictions are reported, too.
        return validate(opened, job.releases).problems
    earlier = earlier_grading(submission, job)
    if isinstance(earlier, Grading):
        receipt, results = earlier
    else:
        job.on_step(f"{job.name}: grading ({earlier})")
        new = grade_anew(opened, job)
        if not isinstance(new, Grading):
            return new
        receipt, results = new
    if job.reports and not (job.folder / REPORT).is_file():
        check_writable(job.folder)
        job.on_step(f"{job.name}: writing the report")
        write_report_of(submission, job.folder, job.limits.workers, job.open_drawing)
    files = tuple(
        file for file in (REPORT, RECEIPT, RESULTS) if (job.folder / file).is_file()
    )
    # Rows without a hash come from lines that answer no instance of the release.
    graded = results.filter(pl.col("instance_hash").is_not_null())
    # An answer has one row for each of its scores.
    answered = graded.filter(pl.col("answer").is_not_null())
    columns = answered.select("id", "sample", "answer").unique(maintain_order=True)
    pairs = list(columns.select("id", "answer").iter_rows())
    return BoardEntry(
        name=job.name,
        about=about,
        release=release,
        receipt=receipt,
        results=graded.select(_COLUMNS),
        answers=answers_of(pairs, stored_answers(release)),
        copied=count_copies(pairs, telling_answers(release)),
        spent=mean_amounts(graded),
        files=files,
        reused=isinstance(earlier, Grading),
    )


def earlier_grading(submission: Validated, job: Job) -> Grading | str:
    """Return an earlier grading if it still matches, or else the reason to grade again."""
    if job.regrade:
        return "requested"
    about = submission.about
    release = submission.release
    predictions = submission.opened.predictions
    if about is None or release is None or predictions is None:
        return "files not readable"
    path = job.folder / RECEIPT
    if not path.is_file():
        return "no receipt yet"
    try:
        receipt = read_receipt(path)
        predictions_hash = sha256(predictions.path.read_bytes())
        graders = installed_graders(release, about.tasks)
        reason = mismatch(
            receipt, release.manifest, graders, predictions_hash, submission.about_hash
        )
        if reason:
            return reason
        return Grading(receipt, read_results(job.folder / RESULTS, receipt))
    except ScbenchError as error:
        return str(error)


def read_results(path: Path, receipt: Receipt) -> pl.DataFrame:
    """Read the results that belong to a receipt.

    Raises:
        ResultsError: the results cannot be read, or do not match the receipt.
    """
    with checked_parquet(path, ResultsError) as rows:
        frame = rows.collect()
    if dict(frame.schema) != column_types():
        raise ResultsError(f"{path} does not have the columns of a results file")
    if results_hash(frame) != receipt.results_sha256:
        raise ResultsError(f"{path} was changed after it was written")
    return frame


def grade_anew(opened: Opened, job: Job) -> Grading | list[Finding]:
    """Validate and grade a submission; return its problems if there are any."""
    validated = validate(opened, job.releases)
    if validated.problems:
        return validated.problems
    check_writable(job.folder)
    graded = grade_submission(validated, job.folder, job.limits, job.open_display)
    if graded.receipt is not None:
        return Grading(graded.receipt, graded.report.results)
    if graded.report.grader_errors:
        return [finding("grader_error", count=graded.report.grader_errors)]
    return graded.findings


def check_writable(folder: Path) -> None:
    """Check that results can be written to a folder, which is created if needed.

    Raises:
        MachineError: the folder is not writable, and no submission is at fault.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The file has no name, and is deleted when it is closed.
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise MachineError(f"cannot write to {folder}: {error.strerror}") from None


def mean_amounts(results: pl.DataFrame) -> dict[str, Any]:
    """Return the mean output tokens and mean cost (US dollars) per answer.

    Returns:
        For each of `AMOUNTS`, the mean over answers that report it (None if no answer does), and
        their number as ``AMOUNT_reported``.
    """
    answered = results.filter(was_answered())
    answers = answered.unique(["id", "sample"], maintain_order=True)
    amounts = answers.select(usage(name) for name in AMOUNTS)
    means = {name: amounts[name].mean() for name in AMOUNTS}
    return means | {f"{name}_reported": amounts[name].count() for name in AMOUNTS}


def compare_entries(
    collected: Collected,
    places: Mapping[str, str],
    organisations: Sequence[Organisation] | None,
) -> None:
    """Compare names and answers of all entries; refuse entries with equal names.

    Args:
        collected: changed in place: entries with problems become refused.
        places: see `collect`.
        organisations: see `collect`.
    """
    findings_of: dict[str, list[Finding]] = {
        entry.name: [] for entry in collected.entries
    }
    for entry, peer in permutations(collected.entries, 2):
        findings_of[entry.name] += similar_names(
            entry.about, peer.about, places[peer.name]
        )
    # Answers are compared within one release and board.
    boards: dict[tuple[str, str], dict[str, Answers]] = {}
    for entry in collected.entries:
        about = entry.about
        if organisations is not None:
            findings_of[entry.name] += check_organisation(about, organisations)
        findings_of[entry.name] += copy_warning(entry.copied)
        key = (about.release, about.tasks)
        boards.setdefault(key, {})[entry.name] = entry.answers
    for answers in boards.values():
        # Comparing all pairs in full takes too long on a large board.
        for pair in pairs_to_compare(answers):
            for name, peer_name in permutations(pair):
                findings_of[name] += overlap_warning(
                    answers[name], answers[peer_name], places[peer_name]
                )
    for name, findings in findings_of.items():
        entry_problems = problems(findings)
        if entry_problems:
            collected.refused[places[name]] = limit_findings(entry_problems)
        elif findings:
            collected.warnings[places[name]] = limit_findings(findings)
    collected.entries = [
        entry
        for entry in collected.entries
        if places[entry.name] not in collected.refused
    ]
